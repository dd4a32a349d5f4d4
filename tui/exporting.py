"""Exports from the screen: the window, and writing what it asked for."""
