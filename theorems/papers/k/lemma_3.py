r"""A point at which v is not 0 and Psi does not fall along it, so that PS-MFA has no step (K Lemma 3); alpha = 2, B = 0.

In K's own units, with psi_a, psi_b the derivatives of psi_FB^2 / 2 (lemma_4.py), h = g' / gamma, f'_nj = 2 h_nj / x_n and
S_n = sum_j psi_b(n, j) f'_nj. The slope of Psi along v is -|v_x|^2 plus dPsi/dlambda v_lambda for each price that moves; and
(47) moves a price with dPsi/dlambda = 0 by beta > 0, since U(0) = 1. So Lemma 3 fails where v_x = 0 and only such prices move:

    server 1     users 1, 2 with x = 1 and f_1 > 0 > f_2; resource t is full with a price, demands 1 and d
    server 2     the mirror image, with another resource
    server 3     f = 0 for both; t is full with a price; a resource of user 1 alone is full without one

    dPsi/dlambda_t = psi_b1 + d psi_b2 = 0                          determines d
    grad_x = (psi_a1 + S, psi_a2 + S) = -s (1, d), s > 0            determines S < 0, for S_1 = S_2; so v_x = 0 there
    S = 2 (psi_b1 h_1 + psi_b2 h_2) / x_n, h = price (1, d) - f     determines x_n, so what users have at server 3

At server 3 grad_x = S (1, 1) and -S (1, 1) = s (1, d) + s' (1, 0) with s' >= 0 if d > 1, so v_x = 0 there as well, and beta > 0.
Where all x^2 + f^2 are squares, all of it is rational: f_1, f_2 and the price determine a point, if some slacks are positive.

1. psi_a and psi_b of both users, d by dPsi/dlambda_t = 0, S by grad_x = -s (1, d), h and x_n (`first_server`).
2. An interval of squared weights, and the least relative slack of all conditions, which is the margin of the trial.
3. The system: weights, gamma and capacities, then the point and its prices (`constructed`).
4. Confirmation: (45)-(48) at that point (problem_3.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import Rationals
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.papers.k import problem_3
from fairalloc.theorems.papers.k.lemma_4 import root_between, slopes

__all__ = ["FAMILY", "confirmed", "constructed", "tried"]

F = Fraction

TRIPLES = tuple(F(v) for v in ("3/4", "4/3", "5/12", "8/15", "7/24", "20/21", "9/40", "12/35", "11/60", "17/144", "15/112"))
FAMILY: Mapping[str, tuple[Fraction, ...]] = {
    "f1": TRIPLES,
    "f2": TRIPLES,
    "price": tuple(F(v) for v in ("1/2", "3/4", "1", "3/2", "2", "3", "5")),
}
"""What the numbers of a constructed point may be: f_1, -f_2 and, less f_1, the price at servers 1 and 2."""


@dataclass(frozen=True)
class Lemma3Server:
    """Server 1: demands (1, d) for t, h of both users, x_n, the least weight and the largest; the least relative slack."""

    d: Fraction
    h: Rationals
    tasks: Fraction
    squares: Rationals
    price: Fraction
    least: Fraction


def first_server(numbers: Mapping[str, Fraction]) -> Lemma3Server:
    """What the numbers of FAMILY determine; NotApplicable where d = 1.

    Squares of weights w are such that w^2 gamma_n / x_n^2 = h_n for 1 < gamma_n < what t lets user n run alone.
    """
    # 1.
    f1, f2 = numbers["f1"], -numbers["f2"]
    (a1, b1), (a2, b2) = slopes(F(1), f1), slopes(F(1), f2)
    d, price = -b1 / b2, f1 + numbers["price"]
    if d == 1:
        raise NotApplicable("both users demand the same, and nothing determines S")
    S = (a2 - d * a1) / (d - 1)
    h = (price - f1, price * d - f2)
    tasks = -2 * (b1 * f1 + b2 * f2) / S
    # 2.
    low = max(h[0] / (1 + d), h[1] * d / (1 + d)) * tasks**2
    high = min(h) * tasks**2
    slacks = (d - 1, 1 + d - d**2, -S, -(a1 + S), tasks / 2 - 1, high / low - 1)
    return Lemma3Server(d, h, tasks, (low, high), price, min(slacks))


def constructed(numbers: Mapping[str, Fraction]) -> Case:
    """The point of the module's docstring for numbers of FAMILY."""
    at = first_server(numbers)
    # 3.
    weight = root_between(*at.squares)
    if weight is None:
        raise NotApplicable("no simple weight will do")
    gamma = [own * at.tasks**2 / weight**2 for own in at.h]
    one, zero, rest, much = F(1), F(0), at.tasks - 2, 4 * (1 + at.d) ** 2 * at.tasks
    system = Instance(
        [[one, at.d, one, zero], [at.d, one, zero, one]],
        [
            [1 + at.d, much, gamma[0], gamma[1]],
            [much, 1 + at.d, gamma[1], gamma[0]],
            [(1 + at.d) * rest, much, rest, at.d * rest],
        ],
        weights=[weight, weight],
    )
    first = at.price / at.h[0]  # prices are given in units of what the first served user needs; user 2 is like user 1 at server 1
    second = at.price * at.d / at.h[1]
    return Case(system, points=((one, one, rest) * 2,), parameters={"alpha": 2, "price": (first, second, one)})


def tried(case: Case) -> Verdict:
    """Lemma 3 at the point that the parameters of a case determine, by its slacks."""
    margin = max(F(-1), first_server(case.parameters).least)
    return Verdict("descent", not margin > 0, float(margin), f"the least slack is {float(margin):.3g}", "the construction")


def confirmed(case: Case) -> Verdict:
    """The same by all of (45)-(48) with square roots of rationals, at the point as such (problem_3.py)."""
    # 4.
    point = constructed(case.parameters)
    verdict, system = problem_3.descent(point), point.instance
    sizes = f"{system.N} users, {system.K} servers and {system.R} resources"
    return replace(verdict, sentence=f"these numbers determine a point for {sizes}: {verdict.sentence}")
