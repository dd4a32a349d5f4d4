"""The Textual chat application: screens and widgets over the engine, with no logic of their own."""
