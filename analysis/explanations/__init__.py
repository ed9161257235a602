"""Why an allocation is what it is, in sentences that are derived from what proves it.

| file | what it explains |
| --- | --- |
| explanation.py | the classes `Explanation`, `Sentence`, `Subject`, and how numbers and names are said |
| costs.py | what tasks cost at prices, and on which server what holds a user back |
| rounds.py | lexicographic mechanisms, round by round |
| programs.py | linear programs (utilitarian, mmf, drfh-lp, uniform): a dual solution |
| budgets.py | nb and fds: prices and budgets |
| servers.py | the game: levels of every server |
| complaints.py | njc: bottlenecks and entitlements |
| duals.py | own and edited mechanisms: the duals of their models |
| effects.py | what a little more or less of a capacity does |
| explain.py | `explain`, which chooses among these |
"""

from fairalloc.analysis.explanations.explain import explain
from fairalloc.analysis.explanations.explanation import Explanation, Sentence

__all__ = ["Explanation", "Sentence", "explain"]
