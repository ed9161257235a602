"""Weights, demands and capacities many powers of ten apart: no answer called "optimal" has a user off by more than 1.1e-4."""

from collections import Counter

import pytest

from tests import far_apart

EACH = 12


@pytest.mark.few(3)
@pytest.mark.parametrize("decades", [6, 12])
@pytest.mark.parametrize("name", far_apart.NAMES)
def test_no_user_is_far_from_its_tasks(name, decades):
    found = Counter(
        far_apart.tried(name, one, **parameters).outcome for _, one, parameters in far_apart.cases(7, EACH, decades, (name,))
    )
    assert not found["wrong"]
    assert not found["no reference"]
    assert found["not known"] <= (0.05 if decades == 6 else 0.3) * EACH
    assert found["optimal"] > 0


def test_a_wrong_answer_is_found(monkeypatch):
    """A solver that gives one user a thousandth more than is right, and says so with confidence."""
    solve = far_apart.fa.solve

    def liar(one, name, **parameters):
        from dataclasses import replace

        found = solve(one, name, **parameters)
        return replace(found, x=found.x * 1.001, x_exact=None, termination="optimal")

    monkeypatch.setattr(far_apart.fa, "solve", liar)
    for name, one, parameters in far_apart.cases(7, 1, 6, ("drfh", "nb", "fds")):
        assert far_apart.tried(name, one, **parameters).outcome == "wrong"
