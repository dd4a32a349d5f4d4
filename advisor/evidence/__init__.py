"""Audited results: importers, comparable pairs, effects, noise and claims."""
