"""Implications between the definitions of mechanisms and properties of one allocation, with proofs.

An implication says that every allocation with the premise has the conclusion, on the instances that it is about. Premises and
conclusions are names that `check` takes. Each arrow has a proof in a sentence, or a source. A violated conclusion shows that the
premise is violated, too; tests/theorems/test_implications.py tries both directions.

Notation: z_ni = x_n / (phi_n gamma_ni); bundles are what tasks use (allocations with larger bundles are not covered).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias


@dataclass(frozen=True)
class Implication:
    """If `premise` holds then so does `conclusion`; `why` is the proof or source.

    `where` has words, separated by commas, that are true of the allocations it is about: those of Hypotheses, and others.
    """

    premise: str
    conclusion: str
    why: str
    where: str = ""

    @property
    def words(self) -> set[str]:
        """Those of `where`."""
        return {*filter(None, self.where.split(", "))}


def follows(mechanism: str, name: str, words: Iterable[str] = ()) -> str:
    """Why every answer of a mechanism has a property, "" where no chain of arrows says so.

    Parameters
    ----------
    mechanism, name : its id, and the property
    words : of Hypotheses, what is known of the instances: arrows that are about more count, too
    """
    told = {word for given in words for word in (given, *ALSO.get(given, ()))}
    known = [arrow for arrow in IMPLICATIONS if arrow.words <= told]
    reached, news = {mechanism: ""}, {mechanism: ""}
    while news:
        arrows = [arrow for arrow in known if arrow.premise in news]
        news = {a.conclusion: "; ".join(filter(None, (news[a.premise], a.why))) for a in arrows if a.conclusion not in reached}
        reached |= news
    return reached.get(name, "")


# ---- where ----------------------------------------------------------------------------------------------------------


ALSO: Mapping[str, tuple[str, ...]] = {
    "one server": ("identical servers", "no idle server"),
    "everywhere": ("no idle server",),
    "one resource": ("positive", "bottleneck", "bottleneck of a server", "server bottleneck", "global bottleneck"),
    "bottleneck": ("bottleneck of a server", "server bottleneck"),
}
"""What words of Hypotheses bring with them."""

PLAIN = "one variant, same demands"
ONE_POOL, ONE_RESOURCE = f"one server, {PLAIN}", f"one resource, {PLAIN}"
GAME = "one variant, unlimited"
"""What the game of K knows."""

PLAIN_GAME = f"{GAME}, same demands"

# ---- the arrows -----------------------------------------------------------------------------------------------------

Row: TypeAlias = tuple[str, str] | tuple[str, str, str]
"""Premises "->" conclusions, each of all others, or "<->" for both ways; then why, and where."""


def _made(rows: Iterable[Row]) -> tuple[Implication, ...]:
    found = list[Implication]()
    for arrow, *rest in rows:
        left, right = (part.split() for part in arrow.replace("<", "").split("->"))
        found += [Implication(a, b, *rest) for a, b in product(left, right)]
        found += [Implication(b, a, *rest) for b, a in product(right, left) if "<" in arrow]
    return tuple(found)


_LEXIMIN_PARETO = "a Pareto improvement is lexicographically better for any positive shares"
_DRF = "with one pool all these shares are multiples of the dominant share, which has one leximin allocation of tasks"
_MAXMIN = "with one resource every share is the amount of it by weight, and max-min fair amounts are unique (P Theorem 2)"
_NO_ENVY = (
    "if n envied m, m would use n's bottleneck, and more than phi_m z_n of n's dominant resource: z_m > z_n (Ghodsi et al.)"
)
_ONE_SHARE = "n's bottleneck is full, so 1 <= sum over its users of phi_m z_m <= z_n sum phi (Ghodsi et al.)"
_FULL = "tasks take no larger part of n's bottleneck than of the dominant resource, so that is full too, by the same users"
_AMOUNTS = "with one resource for all servers z_ni is the amount by weight over c_ir"
_ENVY = (
    "if m's scaled bundle ran more than x_n, d_m >= q d_n with q phi_n x_m / phi_m > x_n; where m runs and n may, m uses n's "
    "bottleneck, so z_n >= z_m there, while gamma_m <= gamma_n / q: together x_n >= q phi_n x_m / phi_m (P Theorem 2)"
)
_SHARE = (
    "n's bottleneck at server i is full, so 1 <= sum over its users of x_mi / gamma_mi = sum of phi_m z_mi x_mi / x_m, at "
    "most z_ni sum of phi_m x_mi / x_m; times gamma_ni, over all servers: sum_i gamma_ni <= (x_n / phi_n) sum phi (P Theorem 2)"
)
_ONE_SERVER = (
    "the sum of x_n g'(z_n) / gamma_n over the users of the one server is the largest (K 16), and an improvement raises it; "
    "alpha = inf is drf there"
)
_PAID = (
    "who runs on i has g_i'(z_mi) = sum_r p_ir c_ir there, as all take the same part of every resource with a price, and nobody "
    "has a smaller z_mi (K Theorem 4; nb has g' = 1 / z, and alpha = inf is ps-dsf)"
)
IMPLICATIONS = _made(
    (
        # ---- between properties
        ("pareto -> feasibility", "only feasible allocations are compared"),
        ("strong-sharing-incentive -> weak-sharing-incentive", "equal parts of every server are an equal partition (W 4.5)"),
        ("weak-sharing-incentive -> strong-sharing-incentive", "one pool has one equal partition", "one server"),
        ("sharing-incentive <-> strong-sharing-incentive", "phi_n / sum phi is 1 / N", "equal weights"),
        ("total-envy-freeness -> envy-freeness", "a sum of minima is at most the minimum of sums", PLAIN),
        ("envy-freeness -> total-envy-freeness", "one server has all of a bundle, and everybody may use it", ONE_POOL),
        ("bottleneck-fairness server-bottleneck-fairness single-resource-fairness -> feasibility", "by definition"),
        ("single-server-reduction -> feasibility", "by definition"),
        ("single-resource-fairness <-> bottleneck-fairness", "the one resource is the bottleneck", "one resource"),
        ("single-resource-fairness <-> global-bottleneck-fairness", _MAXMIN, ONE_RESOURCE),
        ("single-server-reduction -> pareto", "the leximin allocation of DRF; " + _LEXIMIN_PARETO, ONE_POOL),
        ("single-server-reduction -> envy-freeness", _NO_ENVY, ONE_POOL),
        ("single-server-reduction -> sharing-incentive", _ONE_SHARE, ONE_POOL),
        # ---- optima
        ("utilitarian -> pareto", "a Pareto improvement raises the weighted sum"),
        ("nb -> pareto", "a Pareto improvement raises the sum of logarithms (Z Prop 5)"),
        ("drfh tsf lmmf asset drf -> pareto", _LEXIMIN_PARETO),
        ("alpha-fair fds -> pareto", "a Pareto improvement raises the sum of utilities"),
        ("lmmf -> mmf", "the first entry of the lexicographic maximum is the max-min value (Z 1)"),
        ("drfh -> drfh-lp", "the first level of the lexicographic maximum is the g of W (6)"),
        ("drf-per-server mmf drfh-lp alpha-pf-vds ps-dsf njc -> feasibility", "by definition"),
        ("uniform -> feasibility", "parts of servers add up to servers"),
        # ---- one pool, one resource
        ("drf drfh tsf <-> single-server-reduction", _DRF, ONE_POOL),
        ("ps-dsf -> single-server-reduction", "both are a bottleneck for every user of the one server (P)", ONE_POOL),
        ("drf-per-server -> single-server-reduction", "by definition", ONE_POOL),
        ("drfh tsf <-> single-resource-fairness", _MAXMIN, ONE_RESOURCE),
        ("drfh -> global-bottleneck-fairness", "shares of one resource (W Prop 8)", "global bottleneck"),
        ("alpha-pf-vds -> pareto", _ONE_SERVER, f"one server, {GAME}"),
        # ---- markets
        ("nb -> envy-freeness", "at nb's prices m's bundle costs at most phi_m, so n could buy it scaled (Z Prop 5)"),
        ("nb -> sharing-incentive", "everything costs at most sum phi, so n could buy its part of it (Z Prop 9)"),
        ("nb alpha-pf-vds -> server-bottleneck-fairness", _PAID, f"{GAME}, bottleneck of a server"),
        # ---- parts of servers
        ("uniform -> sharing-incentive", "it is the uniform allocation"),
        ("uniform -> envy-freeness", "m's scaled bundle on a server lies within n's own part of it"),
        ("drf-per-server -> sharing-incentive", "DRF has it on every server, and parts and tasks add up (W 4.5)"),
        ("drf-per-server -> envy-freeness", "DRF has it on every server, and utilities of bundles add up"),
        # ---- the game
        ("alpha-pf-vds -> nb", "(K 16) summed over servers is the optimality of nb (K Theorem 2)", f"{GAME}, alpha = 1"),
        ("nb -> alpha-pf-vds", "the optimality of nb, server by server (K Theorem 2)", f"{GAME}, alpha = 1"),
        ("alpha-pf-vds -> ps-dsf", "the definition at alpha = inf", f"{GAME}, alpha = inf"),
        ("ps-dsf -> envy-freeness", _ENVY, PLAIN_GAME),
        ("ps-dsf -> sharing-incentive", _SHARE, GAME),
        ("ps-dsf -> server-bottleneck-fairness", _FULL, f"{GAME}, bottleneck of a server"),
        ("ps-dsf -> bottleneck-fairness", "amounts compare like z_ni at each server (P Theorem 2)", f"{PLAIN_GAME}, bottleneck"),
        ("ps-dsf-tdm -> feasibility", "time sharing never needs more than a divisible server has"),
        ("ps-dsf-tdm -> sharing-incentive", "as for ps-dsf, with time as the one resource", GAME),
        ("ps-dsf-tdm -> envy-freeness", "as for ps-dsf, with time as the bottleneck", PLAIN_GAME),
        ("server-bottleneck-fairness <-> bottleneck-fairness", _AMOUNTS, f"{PLAIN}, bottleneck"),
    )
)

BETWEEN_MECHANISM_PROPERTIES = _made(
    (
        ("group-strategyproofness -> strategyproofness", "a single user who misreports is a coalition of one"),
        ("sharing-incentive -> weak-sharing-incentive", "equal parts of servers are a partition (W 4.5)", "equal weights"),
        ("bottleneck-fairness -> single-resource-fairness", "with one resource, that is the bottleneck"),
    )
)
"""The same between properties of mechanisms, each on all instances that it is about."""

_LESS = "who may misreport both, and in groups, may misreport less, and alone"
_GROUP = "group-strategyproofness-in-"
BETWEEN_MISREPORTS = _made(
    (
        (f"group-strategyproofness -> {_GROUP}demands {_GROUP}servers", _LESS),
        *(
            (f"{name}strategyproofness -> strategyproofness-in-demands strategyproofness-in-servers", _LESS)
            for name in ("group-", "")
        ),
        *(
            (f"{_GROUP}{part} -> strategyproofness-in-{part}", "a coalition may be of one")
            for part in ("demands", "servers", "tasks")
        ),
    )
)
"""The same between the rows about misreports (cells.py)."""
