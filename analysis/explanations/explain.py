"""`explain`: why everybody gets what they get, in sentences.

1. The mechanism, and the users who are explained one by one.
2. What its kind of rule is explained by: rounds, a dual solution, prices and budgets, levels of servers, bottlenecks, groups,
   or the duals of an own model.
3. What a little more or less of each capacity does, for rules whose tasks are unique.
"""

from fairalloc.analysis.explanations.duals import explain_duals
from fairalloc.analysis.explanations.effects import explain_effects
from fairalloc.analysis.explanations.explanation import Explanation, Subject
from fairalloc.analysis.explanations.groups import explain_groups
from fairalloc.analysis.explanations.programs import explain_budgets, explain_program
from fairalloc.analysis.explanations.rounds import REFUSED, explain_rounds, refused
from fairalloc.analysis.explanations.servers import explain_complaints, explain_servers
from fairalloc.analysis.properties.checks import home_of
from fairalloc.formulations import Mechanism, mechanism_of
from fairalloc.formulations.alpha_fair import AlphaFair
from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.h_drf import HierarchicalDrf
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.formulations.nested_leximin import NestedMaxMin
from fairalloc.formulations.nested_nb import NestedNashBargaining
from fairalloc.formulations.njc import NoJustifiedComplaints
from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import checked
from fairalloc.models.errors import InstanceError
from fairalloc.models.feasibility import infeasibility
from fairalloc.solvers.method import now
from fairalloc.solvers.running.time_limits import checked_limit

KINDS = (
    (MaxMin | Utilitarian, explain_program),
    (Leximin, explain_rounds),
    (AlphaFair, explain_budgets),
    (Equilibrium, explain_servers),
    (NoJustifiedComplaints, explain_complaints),
    (NestedMaxMin | NestedNashBargaining | HierarchicalDrf, explain_groups),
    (Mechanism, explain_duals),
)
"""Classes of mechanisms and what explains them; the first that fits counts."""


@checked
def explain(
    allocation: Allocation,
    mechanism: str | Mechanism | type[Mechanism] | None = None,
    user: str | None = None,
    time_limit: float | None = None,
) -> Explanation:
    """Why users get their tasks: the resource of which server holds each one back, and at which price.

    Parameters
    ----------
    allocation : an answer of a mechanism
    mechanism : whose answer it is, with its parameters; None = that of the allocation
    user : the name of the only user to be explained; None = the first 20
    time_limit : seconds for certificates and derivatives; None = no limit

    Returns
    -------
    Explanation: sentences with the facts they state, each derived from a certificate in rationals, from prices, levels or duals
    that prove the allocation, or from derivatives; it says from which. `str` is the text, `to_dict` a JSON document

    Raises
    ------
    InstanceError : the allocation has no point, or names no mechanism
    UnknownName : there is no such user or mechanism
    NotApplicable : the allocation is not what the mechanism gives, or nothing proves that it is

    Examples
    --------
    >>> from fairalloc.models import Instance
    >>> from fairalloc.solvers import solve
    >>> wang = Instance([["1/5", 1], [1, "1/5"]], [[2, 12], [12, 2]], resources=["cpu", "memory"])
    >>> print(explain(solve(wang, "drfh"), user="u1").sentences[2].text)
    u1 runs 10 tasks, the share 5/7, and stops in round 1: wherever it may run, its tasks need something that is full.
    """
    if not allocation.has_point:
        raise InstanceError("explain needs an allocation with a point")
    item = mechanism_of(allocation, mechanism, "explain")  # 1
    subject = Subject(allocation, item, user, now() + checked_limit(time_limit))
    home_of(item, allocation.instance)
    subject.users  # noqa: B018 (an unknown name is said before anything is computed)
    if not infeasibility(allocation) <= REFUSED:
        raise refused(subject, f"it is infeasible by {infeasibility(allocation):.2g}")
    proof, sentences = next(explained for kind, explained in KINDS if isinstance(item, kind))(subject)  # 2
    effects = explain_effects(subject) if item.unique or isinstance(item, Leximin | Utilitarian) else []  # 3
    return Explanation(allocation, item.id, proof, (*sentences, *subject.rest(), *effects))
