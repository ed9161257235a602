"""Why an allocation is what it is, in sentences that are derived from what proves it."""

from fairalloc.analysis.explanations.explain import explain
from fairalloc.analysis.explanations.explanation import Explanation, Sentence

__all__ = ["Explanation", "Sentence", "explain"]
