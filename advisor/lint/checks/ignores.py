"""ignores."""
