"""Checks on a knowledge base: one module per family, fixes and reporters."""
