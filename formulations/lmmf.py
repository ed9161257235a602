r"""LMMF: the lexicographically max-min fair mechanism for users with several ways to run a task (Z Def 1, III-A).

    u_n = sum over variants and servers of x,    the vector u sorted upwards is lexicographically largest        (Z Def 1)

computed by the rounds of solvers/lexicographic/rounds.py with sigma_n = 1 (and u_n / phi_n where users have weights, which Z
does not have).

**Z's saturation test as printed does not end.** Z III-A puts a user into p_t, t >= 2, when its utility cannot be increased
"without decreasing the utility of users in p_i for i < t". That forbids a decrease of users fixed in earlier rounds only. If two
users share the remaining capacity, each can be increased by decreasing the other, none is put into p_t, and the next round is
the same as this one. The test used here and in Z's round 1 is: a user is fixed when it cannot be increased without decreasing
some user who has no more. tests/solvers/test_leximin.py holds the instance on which the two differ.
"""

from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.models import rationals
from fairalloc.models.shares import count

mechanism = Leximin(
    "lmmf",
    share=count,
    exact_share=rationals.count,
    title="lexicographic max-min fair numbers of tasks, several ways to run one",
    source="Z Def 1, III-A",
)
