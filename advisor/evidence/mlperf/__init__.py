"""Importer of MLPerf Inference results: summary files and checkouts of results repositories to evidence entries."""

from advisor.evidence.mlperf.importer import Import, import_results

__all__ = ["Import", "import_results"]
