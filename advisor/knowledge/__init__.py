"""Loading, validating and linking the knowledge base."""

from advisor.knowledge.base import KnowledgeBase, fold
from advisor.knowledge.loader import load_knowledge

__all__ = ["KnowledgeBase", "fold", "load_knowledge"]
