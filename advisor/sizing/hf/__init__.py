"""A Hugging Face config.json, read into a model record: every published spelling, nothing guessed."""
