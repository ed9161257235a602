"""What an instance looks like, as a person sees it."""

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from profiles import drawn
from strategies import instances
from tolerances import EXACT

import fairalloc as fa
from fairalloc.models import InstanceError
from fairalloc.models.examples import generators
from fairalloc.solvers import solve


@pytest.fixture(autouse=True)
def _wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")


def test_a_table_of_users_and_servers():
    overview = fa.show(fa.example("khamse-fig1").instance)
    facts = [overview.user(n) for n in range(4)]
    assert [f["dominant"] for f in facts] == ["network", "network", "memory", "memory"]
    assert [f["servers"] for f in facts] == [1, 1, 2, 2]
    assert [f["alone"] for f in facts] == pytest.approx([4, 12, 20, 20], rel=EXACT)
    assert [f["share"] for f in facts] == pytest.approx([20 / 75, 60 / 75, 1, 1], rel=EXACT)
    assert overview.eligibility == {"pairs": 6, "not_placed": 0, "lacking": 2, "fewest": 1, "most": 2}
    text = str(overview)
    assert "u3 and 1 alike" in text
    assert "Excluded: 0 by placement, 2 because the server lacks what a task takes." in text
    assert fa.example("khamse-fig1").instance._repr_html_() == overview._repr_html_()


def test_of_many_resources_the_first_have_columns():
    """Half a minute went into a table of 1,010 columns, of which none had room for a number."""
    instance = fa.Instance(np.ones((2, 1010)), np.full((1, 1010), 7.5))
    for shown in (fa.show(instance), fa.show(fa.Allocation(instance, [1, 2]))):
        assert "... and 990 more resources" in str(shown)
        assert "r20" in shown.grids[1].columns or "r20" in shown.grids[0].columns
        assert not {"r21"} & {*shown.grids[0].columns, *shown.grids[1].columns}
    assert len(fa.show(instance).to_dict()["users"][0]["demands"][0]) == 1010


@given(instances(scales=False))
@settings(max_examples=drawn(20))
def test_alone_is_what_the_user_runs_without_the_others(instance):
    overview = fa.show(instance)
    for n in range(instance.N):
        on = {(0, i): v for (m, i), v in instance.exact.demands_on.items() if m == n}
        own = fa.Instance(
            [instance.exact.demands[n]],
            instance.exact.capacities,
            counts=instance.counts,
            eligible=instance.placement[[n]],
            max_tasks=[instance.exact.max_tasks[n]],
            demands_on=on,
        )
        assert overview.alone(n) == pytest.approx(solve(own, "lmmf").tasks[0], rel=1e-6)


def test_equal_rows_are_one_and_the_rest_is_counted():
    instance = fa.Instance([[1, 2]] * 999 + [[2, 1]], [[4, 4]] * 30 + [[5, 5]], weights=[1] * 998 + [2, 1])
    overview = fa.show(instance)
    assert [len(same) for same in overview.users] == [998, 1, 1]
    assert [len(same) for same in overview.servers] == [30, 1]
    assert len(str(overview).splitlines()) < 15
    many = fa.show(generators.placement(1000, 40, 2), head=5)
    assert "... and 995 more in 995 more rows" in str(many)
    assert len(many.to_dict()["users"]) == 1000


def test_no_row_is_merged_with_another_one():
    """Weight, limit, placement and demands on a server tell users apart."""
    base = {"demands": [[1], [1]], "capacities": [[2], [3]]}
    assert len(fa.show(fa.Instance(**base)).users) == 1
    for more in ({"weights": [1, 2]}, {"max_tasks": [1, 2]}, {"eligible": [[1, 1], [1, 0]]}, {"demands_on": {(0, 0): [2]}}):
        assert len(fa.show(fa.Instance(**base, **more)).users) == 2
    assert len(fa.show(fa.Instance([[1]], [[2], [2]], eligible=[[1, 0]])).servers) == 2


def test_a_table_is_as_wide_as_the_terminal(monkeypatch):
    instance = generators.finite(6, 4, 5)
    for columns in (60, 100):
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = str(fa.show(instance)).splitlines()
        assert max(len(line) for line in lines if not line.startswith("Instance(")) <= columns


def test_the_document_has_everything():
    instance = fa.example("zarchy-rounds").instance
    document = json.loads(json.dumps(fa.show(instance).to_dict(), allow_nan=False))
    assert document["sizes"] == {"users": 3, "servers": 1, "resources": 4, "arcs": 4}
    assert [len(user["demands"]) for user in document["users"]] == [1, 1, 2]
    assert document["users"][2]["dominant"] is None
    np.testing.assert_allclose([user["alone"] for user in document["users"]], [2, 2, 3], rtol=EXACT)


def test_bad_heads():
    for head in (0, -1, 1.5, True, "3"):
        with pytest.raises(InstanceError, match=r"head is .*, but it must be a positive whole number"):
            fa.show(fa.Instance([[1]], [[1]]), head)
    with pytest.raises(InstanceError, match="must be an Instance or an Allocation or a Mechanism"):
        fa.show(3)


def test_an_allocation_is_shown_with_how_full_the_servers_are():
    allocation = fa.solve(fa.example("khamse-fig1").instance, "nb")
    users, servers = fa.show(allocation).grids
    assert [row[1] for row in users.rows] == ["2", "6", "8", "8"]
    assert servers.rows[1] == ["s2", *(f"{part:.1%}" for part in allocation.load[1][:2]), "-"]
    assert str(fa.show(allocation)).startswith("allocation of khamse-fig1: nb by ")
    assert "<td>u4</td>" in fa.show(allocation)._repr_html_()
    assert fa.show(allocation, 1).grids[1].notes == ["... and 1 more rows"]


def test_the_tasks_of_a_user_by_its_name():
    allocation = fa.Allocation(fa.example("khamse-fig1").instance, [1, 2, 3, 4, 5, 6])
    assert allocation["u1"] == {"s1": 1.0}
    assert allocation["u4"] == {"s1": 5.0, "s2": 6.0}
    assert sum(allocation["u3"].values()) == allocation.tasks[2]
    with pytest.raises(fa.UnknownName, match="there is no user 'u5'"):
        allocation["u5"]
    with pytest.raises(InstanceError, match="user is 3, but it must be a text"):
        allocation[3]


def test_floors_and_groups_are_shown_and_keep_users_apart():
    plain = fa.Instance([[1, 1]] * 3, [[4, 4]])
    assert len(fa.show(plain).users) == 1
    floors = fa.show(plain.replace(min_tasks=[0, 0, "1/2"]))
    assert [len(same) for same in floors.users] == [2, 1]
    assert re.search(r"u3 +1 +0\.5 +1 +1", str(floors))
    assert [user["min_tasks"] for user in floors.to_dict()["users"]] == [0, 0.5]
    groups = fa.show(plain.replace(groups={"a": {"users": [0], "groups": {"b": [1]}, "weight": 2, "guarantee": "1/4"}}))
    assert [len(same) for same in groups.users] == [1, 1, 1]
    assert [user["group"] for user in groups.to_dict()["users"]] == ["a", "b", None]
    assert [*groups.to_dict()["groups"]] == ["a"]
    text = str(groups)
    assert "Group a: weight 2, guarantee 0.25 of the system." in text
    assert "Group b in a: weight 1." in text
    many = fa.show(fa.Instance([[1]] * 30, [[4]], groups={f"g{k}": [k] for k in range(30)}), head=20)
    assert "... and 10 more groups" in str(many)


def test_servers_are_rows_and_differ_by_the_demands_on_them():
    instance = fa.Instance([[1, 1], [2, 1]], [[4, 4]] * 3, counts=[1, 1, 2], demands_on={(1, 1): [3, 1]})
    overview = fa.show(instance)
    assert overview.servers == [[0], [1], [2]]
    assert overview.users == [[0], [1]]
    assert [one["names"] for one in overview.to_dict()["servers"]] == [["s1"], ["s2"], ["s3"]]
    assert [row[:2] for row in overview.grids[0].rows] == [["s1", "1"], ["s2", "1"], ["s3", "2"]]
