"""Checks, one module per family."""
