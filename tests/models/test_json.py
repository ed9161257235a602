"""JSON: exact round trips, documents that fit their schemas, and a reader that rejects what the schema rejects."""

import copy
import json
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import drawn
from strategies import allocations, instances

from fairalloc.models import Allocation, Instance, InstanceError
from fairalloc.models.allocation import TERMINATIONS
from fairalloc.models.examples.published import EXAMPLES, example
from fairalloc.models.files.jsonio import (
    allocation_document,
    fingerprint,
    instance_document,
    named_values,
    parse_allocation,
    parse_instance,
    read_instance,
    write_json,
)
from fairalloc.solvers import solve


def schema(kind):
    """The validator of a schema file in the package."""
    document = json.loads(files("fairalloc.models.files").joinpath(f"{kind}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(document)
    return jsonschema.Draft202012Validator(document)


INSTANCE, ALLOCATION = schema("instance"), schema("allocation")


def through_text(document):
    """What another program would read."""
    return json.loads(json.dumps(document, allow_nan=False))


def accepted(document):
    """Whether the reader accepts a document; anything but an InstanceError is a bug."""
    try:
        parse_instance(copy.deepcopy(document))
    except InstanceError:
        return False
    return True


# ---- instances ------------------------------------------------------------------------------------------------------


@settings(max_examples=drawn(150))
@given(instances())
def test_instances_survive_exactly(instance):
    document = through_text(instance_document(instance))
    INSTANCE.validate(document)
    again = parse_instance(document)
    assert again.exact == instance.exact
    assert fingerprint(again) == fingerprint(instance)
    assert (again.users, again.servers, again.resources, again.name) == (
        instance.users,
        instance.servers,
        instance.resources,
        instance.name,
    )
    np.testing.assert_array_equal(again.placement, instance.placement)
    np.testing.assert_array_equal(again.counts, instance.counts)
    assert instance_document(again) == document


@pytest.mark.parametrize("item", EXAMPLES, ids=lambda e: e.name)
def test_published_examples_survive_a_file(tmp_path, item):
    write_json(instance_document(item.instance), tmp_path / "instance.json")
    assert fingerprint(read_instance(tmp_path / "instance.json")) == fingerprint(item.instance)


def test_numbers_are_written_as_people_write_them():
    instance = Instance([["1/5", "1/3", 2]], [[F, 10**20, "1e-9"] for F in (0.1,)], weights=[2.0])
    document = instance_document(instance)
    assert document["users"][0]["demands"] == [[0.2, "1/3", 2]]
    assert document["servers"][0]["capacity"] == [0.1, 10**20, 1e-9]
    assert document["users"][0]["weight"] == 2


def test_a_document_needs_little():
    """Defaults: weight 1, unlimited tasks, every server, one server a row."""
    document = {
        "schema": "fairalloc-instance/2",
        "resources": ["cpu"],
        "servers": [{"name": "s", "capacity": ["1/3"]}],
        "users": [{"name": "u", "demands": [[1]]}],
    }
    INSTANCE.validate(document)
    instance = parse_instance(document)
    assert fingerprint(instance) == fingerprint(Instance([[1]], [["1/3"]], users=["u"], servers=["s"], resources=["cpu"]))


# ---- the fingerprint ------------------------------------------------------------------------------------------------

RICH = Instance(
    [[["1/5", 1], [1, 2]], [1, "1/5"]],
    [[2, 12], [12, 2]],
    weights=[1, 2],
    counts=[2, 3],
    eligible=[[True, True], [False, True]],
    max_tasks=[5, "7/2"],
    min_tasks=[0, "1/7"],
    demands_on={(0, 1): [[1, 1], [1, 3]]},
    name="rich",
    resources=["cpu", "memory"],
)


def places(value, path=()):
    """The path of every value inside a document."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def altered(document, path, value):
    """A copy of the document with the value at the path changed."""
    result = copy.deepcopy(document)
    inner = result
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return result


def at(document, path):
    """The value at a path."""
    for key in path:
        document = document[key]
    return document


def is_number(value):
    """A number of a document: a JSON number or a rational in a string."""
    return not isinstance(value, bool) and (
        isinstance(value, int | float) or (isinstance(value, str) and "/" in value and value[0].isdigit())
    )


DOCUMENT = instance_document(RICH)
PLACES = list(places(DOCUMENT))
NUMBERS = [path for path in PLACES if is_number(at(DOCUMENT, path))]


@pytest.mark.parametrize("path", NUMBERS, ids=str)
def test_the_fingerprint_sees_every_number(path):
    one = Fraction(1) if path[-1] == "count" else Fraction(1, 10**12)
    value = Fraction(str(at(DOCUMENT, path))) + one
    other = parse_instance(altered(DOCUMENT, path, int(value) if path[-1] == "count" else str(value)))
    assert fingerprint(other) != fingerprint(RICH)


def test_all_numbers_were_tried():
    assert len(NUMBERS) == 6 + 4 + 2 + 2 + 2 + 2 + 4


@pytest.mark.parametrize(
    "change",
    [
        {"name": "x"},
        {"users": ["a", "b"]},
        {"resources": ["a", "b"]},
        {"eligible": None},
        {"max_tasks": None},
        {"demands_on": None},
    ],
    ids=lambda c: next(iter(c)),
)
def test_the_fingerprint_sees_everything_else(change):
    assert fingerprint(RICH.replace(**change)) != fingerprint(RICH)


def test_the_fingerprint_is_the_same_on_every_machine():
    assert fingerprint(example("wang-fig2").instance) == "4503c48ead731bc6"


# ---- schema and reader agree ----------------------------------------------------------------------------------------

VALUES = [
    "cpu",
    "s1",
    "u1",
    None,
    True,
    False,
    0,
    1,
    -1,
    1.5,
    2.0,
    "",
    "x",
    "1/2",
    "-1/2",
    "1/0",
    "1e5",
    " 3 ",
    "1e99999",
    "1_0",
    [],
    [1],
    [[1, 1]],
    {},
    {"x": 1},
]


def only_the_reader_rejects(document):
    """What a schema cannot say: names that fit together, lengths, vectors that are all zero, zeros in strings, fit, floors."""
    users, servers = document["users"], document["servers"]
    names = [[u["name"] for u in users], [s["name"] for s in servers]]
    size = len(document["resources"])
    vectors = [s["capacity"] for s in servers]
    demands = [v for u in users for vs in (u["demands"], *u.get("demands_on", {}).values()) for v in vs]
    chosen = [s for u in users for s in [*(u.get("eligible") or []), *u.get("demands_on", {}), *(u.get("rates") or {})]]
    return (
        any(len(set(some)) < len(some) for some in names)
        or any(len(v) != size for v in [*vectors, *demands])
        or any(not any(float(Fraction(x)) for x in v) for v in demands)
        or any(s not in names[1] for s in chosen)
        or any(len(vs) != len(u["demands"]) for u in users for vs in u.get("demands_on", {}).values())
        or any(not _fits(u, servers) for u in users)
        or any(Fraction(u.get("min_tasks", 0)) > Fraction(u["max_tasks"]) for u in users if u.get("max_tasks"))
    )


def _fits(user, servers):
    allowed = user.get("eligible") or [s["name"] for s in servers]
    for server in servers:
        for demand in user.get("demands_on", {}).get(server["name"], user["demands"]):
            if server["name"] in allowed and all(
                Fraction(c) > 0 for c, d in zip(server["capacity"], demand, strict=True) if Fraction(d)
            ):
                return True
    return False


def agree(document):
    """Schema and reader say the same, except where only the reader can tell."""
    valid = INSTANCE.is_valid(document)
    if accepted(document):
        assert valid, "the reader accepts what the schema rejects"
    elif valid:
        assert only_the_reader_rejects(document), "the schema accepts what the reader rejects"
    return valid


@pytest.mark.few(8)
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_altered_documents(value):
    """Every place of a document takes every odd value."""
    outcomes = {agree(altered(DOCUMENT, path, value)) for path in PLACES}
    assert False in outcomes


def test_documents_without_a_field():
    for path in PLACES:
        document = copy.deepcopy(DOCUMENT)
        del at(document, path[:-1])[path[-1]]
        agree(document)
    for field in ("schema", "resources", "servers", "users"):
        assert not agree({key: value for key, value in DOCUMENT.items() if key != field})


def test_documents_with_one_field_more():
    for path in [(), *PLACES]:
        inner = at(DOCUMENT, path)
        if isinstance(inner, dict) and (not path or path[-1] != "demands_on"):
            assert not agree(altered(DOCUMENT, (*path, "wieght"), 1))


def test_documents_with_an_entry_twice_or_more_entries():
    for path in PLACES:
        if isinstance(inner := at(DOCUMENT, path), list):
            agree(altered(DOCUMENT, path, [*inner, inner[0]]))
            agree(altered(DOCUMENT, path, inner[:-1]))


@pytest.mark.deep
@settings(max_examples=drawn(200))
@given(instances(), st.data())
def test_random_documents_with_random_damage(instance, data):
    document = instance_document(instance)
    path = data.draw(st.sampled_from(list(places(document))))
    agree(altered(document, path, data.draw(st.sampled_from(VALUES))))


# ---- allocations ----------------------------------------------------------------------------------------------------


@given(instances().flatmap(allocations))
def test_allocations_survive_exactly(allocation):
    """With several variants too: `by_arc` tells what `by_server` and `by_variant` cannot."""
    document = through_text(allocation_document(allocation))
    assert parse_allocation(document, allocation.instance).x.tolist() == allocation.x.tolist()


@pytest.mark.parametrize(("name", "mechanism"), [("wang-fig2", "drfh"), ("zarchy-nb", "nb"), ("khamse-fig1", "drfh")])
def test_what_solve_returns_is_a_valid_document(name, mechanism):
    allocation = solve(example(name).instance, mechanism)
    document = through_text(allocation_document(allocation))
    ALLOCATION.validate(document)
    again = parse_allocation(document, allocation.instance)
    assert (again.mechanism, again.method) == (allocation.mechanism, allocation.method)
    assert again.x.tolist() == allocation.x.tolist()
    assert again.residuals == {}, "residuals in a file are claims, not facts"
    by_server = [sum(u["by_server"].values()) for u in document["users"]]
    assert [u["tasks"] for u in document["users"]] == pytest.approx(by_server, rel=ROUNDING)
    assert [u["tasks"] for u in document["users"]] == pytest.approx(
        [sum(u["by_variant"]) for u in document["users"]], rel=ROUNDING
    )


@pytest.mark.parametrize("mechanism", ["alpha-fair", "fds", "alpha-pf-vds"])
def test_an_infinite_alpha_is_a_word(mechanism):
    allocation = solve(example("wang-fig2").instance, mechanism, alpha=np.inf)
    document = through_text(allocation_document(allocation))
    assert document["parameters"]["alpha"] == "inf"
    assert parse_allocation(document, allocation.instance).parameters == allocation.parameters


ROUNDING = 1e-15
"""Sums of a few tasks in another order."""


def test_servers_and_variants_of_an_allocation_document():
    """Two users of two variants on one server, the arcs in order."""
    zarchy = example("zarchy-nb").instance
    users = allocation_document(Allocation(zarchy, [1, 2, 3, 4]))["users"]
    assert [u["by_variant"] for u in users] == [[1, 2], [3, 4]]
    assert [u["by_server"] for u in users] == [{"s1": 3}, {"s1": 7}]
    assert users[1]["by_arc"] == [{"server": "s1", "variant": 0, "tasks": 3}, {"server": "s1", "variant": 1, "tasks": 4}]


def test_no_point_is_written_as_null_and_read_as_no_point():
    wang = example("wang-fig2").instance
    residuals = {"feasibility": np.inf, "definition": np.inf}
    document = allocation_document(Allocation(wang, [np.nan] * 4, residuals=residuals))
    ALLOCATION.validate(through_text(document))
    assert document["users"][0] == {"name": "u1", "tasks": None, "by_server": {"s1": None, "s2": None}, "by_variant": [None]}
    assert document["residuals"] == {"feasibility": None, "definition": None}
    assert not parse_allocation(document, wang).has_point


def test_the_schema_knows_every_termination():
    assert ALLOCATION.schema["properties"]["termination"]["enum"] == list(TERMINATIONS)


def test_users_of_an_allocation_may_come_in_any_order_and_leave_servers_out():
    wang = example("wang-fig2").instance
    users = [{"name": "u2", "by_server": {"s2": "10"}}, {"name": "u1", "by_server": {"s2": 1, "s1": "19/2"}}]
    allocation = parse_allocation({"schema": "fairalloc-allocation/1", "users": users}, wang)
    assert allocation.by_server.tolist() == [[9.5, 1], [0, 10]]


ALLOCATION_DOCUMENT = allocation_document(solve(example("zarchy-nb").instance, "nb"))
READ = {"schema", "users", "name", "by_server", "by_arc", "server", "variant", "tasks", "mechanism", "method"}
READ |= {"prices", "round_prices"}


def read(document):
    """Whether the reader accepts an allocation document."""
    try:
        parse_allocation(document, example("zarchy-nb").instance)
    except InstanceError:
        return False
    return True


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_altered_allocation_documents(value):
    """In the fields that are read: what the schema rejects, the reader rejects or reads as a number in a string."""
    for path in places(ALLOCATION_DOCUMENT):
        keys = {key for key in path if isinstance(key, str)}
        if not keys <= READ or path[-1] == "by_server":
            continue
        document = altered(ALLOCATION_DOCUMENT, path, value)
        valid = ALLOCATION.is_valid(document) or (path[-1] == "tasks" and isinstance(value, str))
        assert valid or not read(document), path


def test_bundles_survive():
    """Whether an answer is wasteful, or somebody envied, depends on them."""
    given = Allocation(Instance([[1], [1]], [[4]]), [1, 1], bundles=[[[1]], [[3]]])
    document = through_text(allocation_document(given.noted(residuals={"feasibility": 0.0})))
    ALLOCATION.validate(document)
    again = parse_allocation(document, given.instance)
    assert again.bundles.tolist() == given.bundles.tolist()
    with pytest.raises(InstanceError, match="bundles of the allocation holds 'x', but it must hold numbers in nested lists"):
        parse_allocation(document | {"bundles": [[["x"]]]}, given.instance)


@pytest.mark.parametrize(("mechanism", "fields"), [("nb", ["prices"]), ("drfh", ["prices", "round_prices"])])
def test_prices_survive(mechanism, fields):
    """A warm start and a residual need them."""
    allocation = solve(example("wang-fig2").instance, mechanism)
    document = through_text(allocation_document(allocation))
    ALLOCATION.validate(document)
    again = parse_allocation(document, allocation.instance)
    for field in fields:
        assert getattr(again, field).tolist() == getattr(allocation, field).tolist()
    assert "prices" not in allocation_document(replace(allocation, prices=None))


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("1", "prices of the allocation holds '1', but it must hold numbers in nested lists"),
        ([[1, None], [1, 1]], "prices of the allocation holds None"),
        ([[1, 1]], "prices has shape"),
        ([[1], [1, 1]], "prices is .*, but it must be an array of numbers"),
    ],
)
def test_prices_that_do_not_fit_are_errors(value, sentence):
    wang = example("wang-fig2").instance
    document = allocation_document(solve(wang, "nb"))
    with pytest.raises(InstanceError, match=sentence):
        parse_allocation({**document, "prices": value}, wang)


# ---- rationals and traces -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "mechanism"), [("wang-prop4", "drfh"), ("zarchy-rounds", "lmmf"), ("zarchy-fig1", "lmmf")])
def test_rationals_survive(name, mechanism):
    """By server where a user has one way to run tasks, by arc where it has several."""
    allocation = solve(example(name).instance, mechanism, "exact")
    document = through_text(allocation_document(allocation))
    ALLOCATION.validate(document)
    again = parse_allocation(document, allocation.instance)
    assert again.x_exact == allocation.x_exact
    assert again.tasks_exact == allocation.tasks_exact


def test_rationals_of_thousands_of_digits_survive():
    long = "1" * 5000 + "/" + "3" * 4999 + "1"
    allocation = solve(Instance([[long], [[1], [long]]], [[2]]), "mmf", "exact")
    document = through_text(allocation_document(allocation))
    assert parse_allocation(document, allocation.instance).x_exact == allocation.x_exact


EXACTLY = allocation_document(solve(example("wang-prop4").instance, "drfh", "exact"))


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (("users", 0, "by_server_exact", "s1"), "12/7", r"gives user 'u1' tasks on server 's1' as .*, but exactly as '12/7'"),
        (("users", 0, "by_server", "s1"), 0.5, "gives user 'u1' tasks on server 's1' as 0.5, but exactly as"),
        (("users", 0, "by_server_exact", "s1"), 2, "exactly as 2, but a rational is a string such as '5/7'"),
        (("users", 0, "by_server_exact", "s1"), "1e999", "gives user 'u1' tasks on server 's1' as .*, but exactly as '1e999'"),
        (("users", 0, "by_server_exact", "s1"), "x", "what the allocation gives user 'u1' tasks on server 's1' exactly"),
        (("users", 0, "by_server_exact", "s9"), "0", "by_server_exact of user 'u1' names server 's9', but by_server does not"),
        (("users", 0, "by_server_exact"), {}, "user 'u1' has no exact tasks on server 's1', but other tasks are given exactly"),
        (("users", 0, "by_server_exact"), [], "by_server_exact of user 'u1' is .*, but it must be a JSON object"),
        (("users", 0, "tasks"), 9, "the tasks of user 'u1' are 9, but its tasks on servers add up to 2.4"),
        (("users", 0, "tasks"), True, "the tasks of user 'u1' are .*True"),
    ],
    ids=lambda v: "-".join(map(str, v)) if isinstance(v, tuple) else None,
)
def test_rationals_that_do_not_fit_are_errors(path, value, sentence):
    instance = example("wang-prop4").instance
    assert parse_allocation(EXACTLY, instance).x_exact is not None
    with pytest.raises(InstanceError, match=sentence):
        parse_allocation(altered(EXACTLY, path, value), instance)


def test_tasks_beside_rationals_may_be_rounded_to_ten_digits():
    instance, tasks = example("wang-prop4").instance, EXACTLY["users"][0]["by_server"]["s1"]
    place = ("users", 0, "by_server", "s1")
    assert parse_allocation(altered(EXACTLY, place, tasks * (1 + 1e-10)), instance).x_exact is not None
    with pytest.raises(InstanceError, match="but exactly as"):
        parse_allocation(altered(EXACTLY, place, tasks * (1 + 1e-8)), instance)


def test_a_document_without_rationals_has_none():
    assert parse_allocation(allocation_document(Allocation(RICH, np.zeros(5))), RICH).x_exact is None


@pytest.mark.parametrize(("mechanism", "method"), [("drf", "progressive-filling"), ("nb", "pdhg")])
def test_logs_survive(mechanism, method):
    allocation = solve(example("wang-pool").instance, mechanism, method, log=True)
    document = json.loads(json.dumps(allocation_document(allocation)))
    assert parse_allocation(document, allocation.instance).log == allocation.log != ()
    for wrong in ("text", [1], {"a": 1}):
        with pytest.raises(InstanceError, match=r"the log of the allocation is .* but it must be a list of lines"):
            parse_allocation(document | {"log": wrong}, allocation.instance)


@pytest.mark.parametrize(("mechanism", "method"), [("drf", "progressive-filling"), ("nb", "pdhg")])
def test_traces_survive(mechanism, method):
    allocation = solve(example("wang-pool").instance, mechanism, method, trace=True)
    document = through_text(allocation_document(allocation))
    ALLOCATION.validate(document)
    assert len(document["trace"]) == len(allocation.trace) > 0
    assert parse_allocation(document, allocation.instance).trace == allocation.trace
    assert "trace" not in allocation_document(solve(example("wang-pool").instance, mechanism, method))


def test_facts_that_are_no_numbers_are_null_and_come_back_as_nan():
    pool = example("wang-pool").instance
    residuals = {"feasibility": 0, "definition": 0}
    allocation = Allocation(pool, [1, 1], residuals=residuals, trace=({"residual": np.inf, "done": True},))
    document = through_text(allocation_document(allocation))
    ALLOCATION.validate(document)
    assert document["trace"] == [{"residual": None, "done": True}]
    (event,) = parse_allocation(document, pool).trace
    assert np.isnan(event["residual"])


@pytest.mark.parametrize("value", [{}, [1], [{"level": {}}], [{"level": [{}]}], "x", None], ids=repr)
def test_what_is_no_trace_is_an_error(value):
    pool = example("wang-pool").instance
    document = allocation_document(Allocation(pool, [1, 1], residuals={"feasibility": 0, "definition": 0})) | {"trace": value}
    assert not ALLOCATION.is_valid(document)
    with pytest.raises(InstanceError, match="trace event"):
        parse_allocation(document, pool)


@pytest.mark.parametrize(
    ("text", "value"),
    [(".5", 0.5), ("5.", 5), ("+3", 3), ("-.25e1", -2.5), ("1E3", 1000), ("1_0", "1_0"), ("inf", "inf"), (".", "."), ("٣", "٣")],
)
def test_a_value_is_json_or_a_decimal_or_a_text(text, value):
    assert named_values([f"a={text}"], "it") == {"a": value}


def test_a_decimal_out_of_range_is_refused_as_in_json():
    for text in (".1e999", "1.e999", "1e999", ".1e-999"):
        with pytest.raises(InstanceError, match=r"it .*(finite number|out of the range)"):
            named_values([f"a={text}"], "it")
