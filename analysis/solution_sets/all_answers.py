"""`solution_set`: all answers of a mechanism on an instance, or one sentence on why they cannot be listed."""

from typing import Any

from fairalloc.analysis.solution_sets.answers import SolutionSet
from fairalloc.analysis.solution_sets.game_answers import equilibrium_pieces
from fairalloc.analysis.solution_sets.njc_answers import njc_pieces
from fairalloc.formulations import Mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.formulations.alpha_pf_vds import AlphaPfVds
from fairalloc.formulations.njc import NoJustifiedComplaints
from fairalloc.formulations.ps_dsf import PsDsf
from fairalloc.formulations.ps_dsf_tdm import TimeShared
from fairalloc.models.arguments import Count, checked
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.solvers.exact.ps_dsf_pieces import LARGEST, ps_dsf_pieces

SEVERAL = ("alpha-pf-vds", "njc", "ps-dsf", "ps-dsf-tdm")
"""The mechanisms of the papers that may have several answers, which are listed where they can be."""

UNLISTED = ("drfh-lp", "gavel-makespan", "gavel-max-min", "mmf", "utilitarian")
"""Mechanisms whose answers are all optima of a linear program, and are not listed."""

MULTIVALUED = (*SEVERAL, *UNLISTED)
"""All that may have several answers."""


@checked
def solution_set(
    instance: Instance, mechanism: str | Mechanism, /, *, largest: Count = LARGEST, **parameters: Any
) -> SolutionSet:
    """All answers that a mechanism allows on a small instance, exactly: a union of polytopes in rationals.

    Parameters
    ----------
    instance : up to `largest` arcs for ps-dsf and ps-dsf-tdm, up to 10 users and 10 resources in one pool for njc
    mechanism : "ps-dsf", "ps-dsf-tdm", "njc", or "alpha-pf-vds" where its equilibria are rational (game_answers.py); an id,
        or the mechanism itself
    largest : arcs of a game that are allowed; a tenth of a second for 6, and about three times as long for each more
    parameters : of the mechanism, such as alpha

    Raises
    ------
    InstanceError : the instance is none, or `largest` is no positive integer
    NotApplicable : the answers of this mechanism on this instance cannot be listed; the sentence says why

    Examples
    --------
    >>> found = solution_set(Instance([[2, 1], [1, 2]], [[6, 6], [6, 6]], name="two"), "ps-dsf")
    >>> [(str(least), str(most)) for least, most in found.totals]
    [('3', '4'), ('3', '4')]
    >>> str(found.best("tasks").value)
    '8'
    >>> print(solution_set(Instance([[1, 1], [0, 1], [1, 0]], [[1, 1]], weights=[5, 3, 2], name="three"), "njc"))
    three: 1 piece(s), dimension 1
    segment with bottlenecks r1, r2: (1/2, 1/2, 1/2); (7/10, 3/10, 3/10)
    """
    item = find_mechanism(mechanism).configure(**parameters)
    item.check_groups(instance)
    item.kept(instance)  # refused where it knows no floors
    if getattr(item, "objective", None) is not None:
        why = "chooses one of its answers: ask the set without an objective for its best"
        raise NotApplicable(f"the objective of {item.id} {why}")
    if isinstance(item, NoJustifiedComplaints):
        home = item.domain(instance)
        return SolutionSet(item.id, home, home, njc_pieces(home))
    if isinstance(item, PsDsf | TimeShared):
        domain = item.domain(instance)
        return SolutionSet(item.id, item.home(instance), domain, ps_dsf_pieces(domain, largest))
    if isinstance(item, AlphaPfVds):
        return SolutionSet(item.id, instance, instance, equilibrium_pieces(item, instance, largest))
    if item.unique:
        same = f"every answer of {item.id} gives each user the same tasks"
        raise NotApplicable(f"{same}, so there is no set to choose from: solve it once")
    raise NotApplicable(f"the answers of {item.id} are not listed: solution_set is for {', '.join(SEVERAL)}")
