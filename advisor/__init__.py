"""rackfit's engine: loads and links the knowledge base, sizes deployments, reasons and explains."""

__version__ = "0.1.0"
