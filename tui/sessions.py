"""Saved conversations on the screen."""
