"""An instance as code: what is executed is the same instance, whatever it was made of."""

import inspect

import pytest
from hypothesis import given, settings
from profiles import drawn
from strategies import instances

import fairalloc as fa
from fairalloc.models.files.jsonio import instance_document, parse_instance
from fairalloc.models.files.python_code import argument_lines, instance_code, value_code

RICH = fa.Instance(
    [[["1/3", 1], [1, "1/7"]], [[2, 0]], [[1, 1]]],
    [[3, 4], [2, 5]],
    weights=[1, "1/3", 2.5],
    counts=[2, 1],
    max_tasks=[1, None, "3/2"],
    min_tasks=["1/9", 0, 0.1],
    rates=[[1, "2/3"], [3, 0], [0.7, 1]],
    demands_on={(2, 1): [[1, 2]]},
    groups={"all": {"groups": {"a": {"users": [1], "guarantee": "1/7"}}, "users": [2], "weight": 3}, "b": [0]},
    name="rich",
    users=["x", "y", "z"],
    servers=["s", "t"],
    resources=["cpu", "'"],
)
"""With every argument of `Instance`; `eligible` is said by rates of 0."""
PLACED = RICH.replace(rates=None, eligible=[[1, 1], [1, 0], [1, 1]])


def rebuilt(text: str) -> fa.Instance:
    result: fa.Instance = eval(text, {"Instance": fa.Instance, "Fraction": None})
    return result


@pytest.mark.parametrize("instance", [RICH, PLACED])
def test_all_arguments_are_written(instance):
    written = {line.split("=")[0].strip() for line in argument_lines(instance).splitlines()}
    left_out = {*inspect.signature(fa.Instance.__init__).parameters} - {"self"} - written
    assert left_out == ({"eligible"} if instance is RICH else {"rates"})
    assert rebuilt(f"Instance({argument_lines(instance)})") == instance
    assert rebuilt(instance_code(instance, True)).exact == instance.exact
    assert rebuilt(instance_code(instance)).groups == instance.groups
    assert parse_instance(instance_document(instance)) == instance
    assert instance.replace() == instance


@given(instances())
@settings(max_examples=drawn(30))
def test_drawn_instances_are_rebuilt(instance):
    assert rebuilt(f"Instance({argument_lines(instance)})") == instance
    again = rebuilt(instance_code(instance))
    assert again.exact == instance.exact
    assert (again.placement == instance.placement).all()


def test_parameters_are_code_and_their_texts_stay():
    given = {"way": "to inf and nan", "it's": ("'inf'", 'a" inf', "\\"), "alpha": (float("inf"), -float("inf"), 2)}
    assert eval(value_code(given)) == given
    assert eval(value_code(float("nan"))) != 0


def test_names_of_own_time_are_written():
    limited = fa.with_own_time(fa.Instance([[1], [1]], [[1], [1]], rates=[[4, 1], ["5/2", 1]]))
    assert rebuilt(instance_code(limited)) == limited
    assert "users=" not in instance_code(PLACED)


@pytest.mark.parametrize("changes", [{"min_tasks": [0, 1, 0]}, {"groups": {"a": [0, 1], "b": [2]}}])
def test_a_script_has_floors_and_groups(changes):
    plain = fa.Instance([[1, 2], [2, 1], [1, 1]], [[3, 3], [2, 4]])
    mechanism = "nested-leximin" if "groups" in changes else "mmf"
    text = fa.export(plain.replace(**changes), mechanism, "py")
    made: dict[str, fa.Instance] = {}
    exec(text.split("mechanism =")[0], made)
    assert made["instance"] == plain.replace(**changes)
