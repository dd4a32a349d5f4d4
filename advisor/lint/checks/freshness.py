"""freshness."""
