"""NJC: allocations without justified complaints (D 3)."""

from typing import Any

from fairalloc.theorems.definitions.allocation import feasible, used


def justified(need: Any, room: Any, entitlement: Any, x: Any, a: Any, *logic: Any) -> Any:
    """The user of arc a has all of its request, or its entitlement of a full resource (D (2))."""
    all_, any_, _, ge, eq = logic
    full = {j: eq(used(need, x, i, j), c) for (i, j), c in room.items()}
    return any_([eq(x[a], 1), *(all_([full[j], ge(x[a] * need[a].get(j, 0), entitlement[a[0]])]) for j in full)])


def no_complaint(need: Any, room: Any, entitlement: Any, x: Any, *logic: Any) -> Any:
    """The fractions x fit, nobody has more than its request, and nobody has a complaint (D (1)-(2))."""
    all_, _, _, ge, _ = logic
    most = [ge(1, v) for v in x.values()]
    return all_([feasible(need, room, x, *logic), *most, *(justified(need, room, entitlement, x, a, *logic) for a in need)])
