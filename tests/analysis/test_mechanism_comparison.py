"""`compare`: the table says of each mechanism what its own answer says, and what has no answer has a sentence."""

import numpy as np
import pytest

import fairalloc as fa
from fairalloc.cli import main
from fairalloc.models.errors import InstanceError, UnknownName

KHAMSE = fa.example("khamse-fig1").instance

ROUNDS = fa.example("zarchy-rounds").instance


def test_the_table_has_what_each_answer_says():
    made = fa.compare(KHAMSE, ["drfh", "ps-dsf", fa.mechanism("nb")], properties=["envy-freeness", "drfh"])
    assert list(made.allocations) == ["drfh", "ps-dsf", "nb"]
    for label, answers in fa.example("khamse-fig1").answers.items():
        if label in made.allocations:
            np.testing.assert_allclose(made[label].tasks, [float(value) for value in answers], rtol=1e-6)
    grid = made.grid()
    rows = {row[0]: row[1:] for row in grid.rows}
    assert grid.columns == ["user", "drfh", "ps-dsf", "nb"]
    assert [rows[user][0] for user in KHAMSE.users] == ["3", "3", "8", "8"]
    assert [rows[user][2] for user in KHAMSE.users] == ["2", "6", "8", "8"]
    assert rows["residual"] == [f"{one.residual:.1e}" for one in made.allocations.values()]
    assert rows["user error"][1] == "-", "the tasks of ps-dsf are not unique"
    assert rows["termination"] == ["optimal"] * 3
    assert rows["drfh"] == ["yes", "NO", "NO"], "the definition of one mechanism, asked of each answer"
    assert made.verdicts["drfh"]["nb"].holds is False
    assert [float(value) for value in next(iter(made.grid("shares").rows))[1:]] == pytest.approx([0.2, 2 / 15, 2 / 15], rel=1e-5)


def test_every_form_has_the_same_numbers():
    pytest.importorskip("pandas")
    made = fa.compare(KHAMSE, ["drfh", "nb"])
    frame = made.to_frame()
    assert list(frame.columns) == ["drfh", "nb"]
    np.testing.assert_allclose(frame.to_numpy().T, [one.tasks for one in made.allocations.values()])
    for text in (str(made), made.grid().markdown(), made.grid().latex(), made._repr_html_()):
        for word in ("drfh", "nb", "u1", "u4", "residual", "termination"):
            assert word in text
    assert "<comparison of drfh, nb on khamse-fig1>" in repr(made)


def test_the_chart_has_a_bar_for_each_user_and_mechanism():
    pytest.importorskip("matplotlib")
    axes = fa.compare(KHAMSE, ["drfh", "nb"]).plot()
    assert len(axes.patches) == 8


def test_what_is_not_defined_here_is_said_and_the_others_are_kept():
    made = fa.compare(ROUNDS, ["drfh", "lmmf"])
    assert list(made.allocations) == ["lmmf"]
    assert "needs one demand vector for each user" in made.refused["drfh"]
    assert made.grid().notes == [f"drfh has no answer: {made.refused['drfh']}"]
    with pytest.raises(UnknownName, match="there is no answer 'drfh': the dominant share needs one demand vector"):
        made["drfh"]
    assert fa.compare(ROUNDS, ["drfh"]).grid().rows[0] == ["u1"]


def test_an_answer_for_other_users_has_no_column():
    """A domain of one's own with other users was a ValueError of NumPy's."""
    one = fa.Leximin("one", lambda instance: [1.0], domain=lambda instance: fa.Instance([[1, 1]], [[3, 3]], users=["z"]))
    made = fa.compare(KHAMSE, ["drfh", one])
    assert list(made.allocations) == ["drfh"]
    assert made.grid().notes == ["one has no answer: its users are ['z'], not those of the instance"]


def test_one_pool_and_more_users_are_said():
    many = fa.generators.generic(25, 3, 2)
    notes = fa.compare(many, ["drf", "drfh"]).grid().notes
    assert notes[0] == "... and 5 more users"
    assert notes[1] == "On all servers as one pool, whose tasks may not fit the servers: drf."
    assert len(fa.compare(many, ["drfh"]).grid(most=25).rows) == 28
    jobs = fa.compare(fa.example("gavel-three-jobs").instance, ["gavel-max-min"])
    assert jobs.grid().notes == [], "kinds of workers are resources there, and all tasks fit"


def test_parameters_tell_two_of_the_same_mechanism_apart():
    made = fa.compare(KHAMSE, [fa.mechanism("fds", alpha=2), fa.mechanism("fds", alpha=3), "drf"])
    assert list(made.allocations) == ["fds alpha=2.0", "fds alpha=3.0", "drf"]
    with pytest.raises(
        InstanceError, match=r"the mechanisms are \['drf', 'drf'\], but there must be at least one, and each once"
    ):
        fa.compare(KHAMSE, ["drf", "drf"])
    with pytest.raises(InstanceError, match="but there must be at least one"):
        fa.compare(KHAMSE, [])
    with pytest.raises(InstanceError, match="mechanisms is 'drf', but it must be a list"):
        fa.compare(KHAMSE, "drf")
    with pytest.raises(UnknownName, match="there is no measure 'weights'"):
        made.grid("weights")


def test_no_property_takes_the_row_of_another():
    with pytest.raises(fa.InstanceError, match="two properties are called '<lambda>'"):
        fa.compare(KHAMSE, ["drfh"], properties=[lambda answer: False, lambda answer: True])


def test_properties_that_are_not_defined_there_are_said_and_wrong_names_are_refused():
    made = fa.compare(KHAMSE, ["drf", "drfh"], properties=["drf"])
    rows = {row[0]: row[1:] for row in made.grid().rows}
    assert rows["drf"] == ["yes", "?"]
    assert (
        "the allocation has 2 servers, 3 resources and 6 arcs, but those of 'drf' have 1, 3 and 4"
        in made.verdicts["drf"]["drfh"].sentence
    )
    for mechanisms in (["drfh"], ["drfh", "lmmf"]):  # drfh has no answer here
        with pytest.raises(UnknownName, match="there is no property 'parteo'"):
            fa.compare(ROUNDS, mechanisms, properties=["parteo"])
    assert fa.compare(ROUNDS, ["drfh"], properties=["drfh", "pareto"]).verdicts == {}


def test_a_property_that_refuses_one_answer_has_one_row():
    """A function that refused the answer of nb had two rows, each without a column: a KeyError."""

    def of_drfh(answer):
        if answer.mechanism != "drfh":
            raise fa.NotApplicable("it is about drfh")
        return True

    rows = {row[0]: row[1:] for row in fa.compare(KHAMSE, ["drfh", "nb"], properties=[of_drfh]).grid().rows}
    assert rows["of_drfh"] == ["yes", "?"]


def test_of_no_answer_no_property_is_said_to_fail():
    floors = fa.Instance([[1, 2], [2, 1]], [[4, 4]], min_tasks=[2, 2])
    made = fa.compare(floors, ["drfh"], properties=["pareto", "drfh"])
    rows = {row[0]: row[1:] for row in made.grid().rows}
    assert (rows["termination"], rows["pareto"], rows["drfh"]) == (["infeasible"], ["?"], ["?"])
    assert made.verdicts["pareto"]["drfh"].sentence == "not decided: there is no answer"


def test_weights_that_one_mechanism_cannot_hold_leave_the_others():
    groups = {"A": {"users": [0], "weight": 1e200}, "B": {"users": [1], "weight": 1e-200}}
    made = fa.compare(fa.Instance([[1], [1]], [[2]], groups=groups), ["h-drf", "nested-nb"])
    assert list(made.allocations) == ["h-drf"]
    assert "less than 1e-300 of everything" in made.refused["nested-nb"]
    for wrong in ({"accuracy": "some"}, {"time_limit": -1}):
        with pytest.raises((InstanceError, UnknownName)):
            fa.compare(KHAMSE, ["drfh"], **wrong)


def test_a_limit_that_is_too_short_leaves_a_word():
    made = fa.compare(fa.generators.generic(300, 40, 3), ["drfh"], time_limit=1e-6)
    rows = {row[0]: row[1:] for row in made.grid().rows}
    assert rows["termination"] == ["time_limit"]
    assert rows["residual"] == ["not known"]


def test_the_command_line_prints_the_same_table(capsys):
    assert main(["solve", "khamse-fig1", "-m", "drfh", "-m", "nb"]) == 0
    assert capsys.readouterr().out == f"{fa.compare(KHAMSE, ['drfh', 'nb'])}\n\n"
    assert main(["solve", "khamse-fig1", "-m", "drfh", "-m", "nb", "--format", "latex"]) == 0
    assert capsys.readouterr().out == fa.compare(KHAMSE, ["drfh", "nb"]).grid().latex()


def test_the_command_line_reads_standard_input_once_and_keeps_errors_in_place(capsys, monkeypatch, tmp_path):
    file = tmp_path / "i.json"
    fa.write_instance(KHAMSE, file)
    with file.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert main(["solve", "-", "nope", "zarchy-rounds", "-m", "drfh", "-m", "lmmf"]) == 1
    first, second, third, *_ = capsys.readouterr().out.split("\n\n")
    assert first.startswith("khamse-fig1: tasks\n")
    assert second == "nope: there is no file and no published example 'nope': see fairalloc list examples"
    assert "drfh has no answer: the dominant share needs one demand vector" in " ".join(third.split())


def test_traces_stand_below_the_table(capsys):
    assert main(["solve", "wang-pool", "-m", "drf", "-m", "tsf", "--method", "progressive-filling", "--trace"]) == 0
    table, *traces = capsys.readouterr().out.split("trace:")
    assert table.splitlines()[-1] == "drf:"
    assert len(traces) == 2
