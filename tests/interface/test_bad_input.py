"""Bad input of every kind: one sentence that names the thing, its value and the rule, exactly as printed here."""

import copy
import json
import math
import sys
from decimal import Decimal

import numpy as np
import pytest

from fairalloc.analysis.certificates import certify
from fairalloc.analysis.properties import PROPERTIES, check
from fairalloc.formulations import MECHANISMS, mechanism
from fairalloc.models import Allocation, FairallocError, Instance, InstanceError
from fairalloc.models.allocation import TERMINATIONS
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import example
from fairalloc.models.files.jsonio import allocation_document, instance_document, parse_allocation, parse_instance, read_json
from fairalloc.models.shares import vds
from fairalloc.solvers import METHODS, methods_for, solve

D, C = [[1, 2], [2, 1]], [[4, 4], [6, 6]]
GONE = object()
WANG = example("wang-fig2").instance
NAMES = [*PROPERTIES, "market", *(name for item in MECHANISMS.values() for name in (item.id, *item.aliases))]
NB_METHODS = ", ".join(m.id for m in methods_for(mechanism("nb"), available=False))


def property_that_says_maybe(allocation):
    return "maybe"


def build(demands=D, capacities=C, **more):
    """An instance of two users and two servers, except for what is given."""
    return Instance(demands, capacities, **more)


def at(*path):
    """A change of a document: (key, key, .., value) sets a field, with the value GONE it takes it out."""
    *keys, last, value = path

    def change(document):
        for key in keys:
            document = document[key]
        if value is GONE:
            del document[last]
        else:
            document[last] = value

    return change


def instance_with(change):
    """W Fig. 2 read from its changed document."""
    document = copy.deepcopy(instance_document(WANG))
    change(document)
    return parse_instance(document)


def allocation_with(change):
    """The drfh allocation of W Fig. 2 read from its changed document."""
    document = copy.deepcopy(allocation_document(Allocation(WANG, [10, 0, 0, 10], "drfh")))
    change(document)
    return parse_allocation(document, WANG)


INSTANCES = [
    ("negative weight", lambda: build(weights=[1, "-1/2"]), "the weight of user 'u2' is -0.5, but it must be positive"),
    ("demands_on a list", lambda: build(demands_on=[1]), "demands_on is [1], but it must map pairs (user, server) to demands"),
    (
        "ragged eligible",
        lambda: build(eligible=[[True, True], [True]]),
        "eligible is [[True, True], [True]], but it must be 2 lists (users) of 2 (servers)",
    ),
    (
        "demand of wrong length",
        lambda: build([[1], [1, 2]]),
        "the demand of user 'u1' is [1] of length 1, but there must be 2 numbers: r1, r2",
    ),
    ("no users", lambda: build([]), "there are 0 users and 2 servers, but both must be at least 1"),
    (
        "infinite capacity in an array",
        lambda: build(D, np.array([[1, np.inf], [1, 1]])),
        "the capacity of server 's1' for 'r2' is inf, but it must be a finite number",
    ),
    (
        "nan demand",
        lambda: build([[math.nan, 1], [1, 1]]),
        "the demand of user 'u1' for 'r1' is nan, but it must be a finite number",
    ),
    ("demands None", lambda: build(None), "demands are None, but they must be a list of vectors"),
    ("demands str", lambda: build("ab"), "demands are 'ab', but they must be a list of vectors"),
    ("neg", lambda: build([[-1, 1], [1, 1]]), "the demand of user 'u1' for 'r1' is -1, but it must not be negative"),
    (
        "zero",
        lambda: build([[0, 0], [1, 1]]),
        "the demand of user 'u1' is zero for every resource, but a task must take something",
    ),
    (
        "tiny",
        lambda: build([["1e-400", 1], [1, 1]]),
        "the demand of user 'u1' for 'r1' is '1e-400', which is out of the range of floating point: change units",
    ),
    (
        "1/0",
        lambda: build([["1/0", 1], [1, 1]]),
        "the demand of user 'u1' for 'r1' is '1/0', which is not a finite number or a rational such as '1/5'",
    ),
    ("bool", lambda: build([[True, 1], [1, 1]]), "the demand of user 'u1' for 'r1' is True, which is not a number"),
    (
        "Decimal",
        lambda: build([[Decimal("0.1"), 1], [1, 1]]),
        "the demand of user 'u1' for 'r1' is Decimal('0.1'), which is not a finite number or a rational such as '1/5'",
    ),
    ("weight 0", lambda: build(weights=[0, 1]), "the weight of user 'u1' is 0, but it must be positive"),
    (
        "count 0",
        lambda: build(counts=[0, 1]),
        "the count of server 's1' is 0, but it must be an integer from 1 to 9007199254740992",
    ),
    (
        "count 1e30",
        lambda: build(counts=[1e30, 1]),
        "the count of server 's1' is 1e+30, but it must be an integer from 1 to 9007199254740992",
    ),
    (
        "eligible 2",
        lambda: build(eligible=[[2, 1], [1, 1]]),
        "eligible of user 'u1' on server 's1' is 2, but it must be true or false",
    ),
    (
        "eligible none row",
        lambda: build(eligible=[[False, False], [True, True]]),
        "user 'u1' has no eligible server: its placement allows no server",
    ),
    (
        "no srv",
        lambda: build([[1, 1], [1, 0]], [[0, 1], [0, 2]]),
        "user 'u1' has no eligible server: no server it may use has all it demands",
    ),
    (
        "placement+cap",
        lambda: build([[1, 1], [1, 0]], [[0, 1], [2, 2]], eligible=[[1, 0], [1, 1]]),
        "user 'u1' has no eligible server: no server it may use has all it demands",
    ),
    (
        "max_tasks 0",
        lambda: build(max_tasks=[0, 1]),
        "max_tasks of user 'u1' is 0, but it must be positive, or null for unlimited",
    ),
    ("max_tasks scalar", lambda: build(max_tasks=1), "max_tasks is 1, but it must be a list of 2 numbers, one for each user"),
    (
        "max_tasks str",
        lambda: build(max_tasks=["x", 1]),
        "max_tasks of user 'u1' is 'x', which is not a finite number or a rational such as '1/5'",
    ),
    (
        "demands_on key",
        lambda: build(demands_on={"u1": [1, 1]}),
        "demands_on has the key 'u1', but a key is a pair (user, server)",
    ),
    ("demands_on user", lambda: build(demands_on={("x", 0): [1, 1]}), "there is no user 'x': the users are u1, u2"),
    (
        "demands_on twice",
        lambda: build(demands_on={(0, 0): [1, 1], ("u1", "s1"): [1, 1]}),
        "the demand of user 'u1' on server 's1' is given twice in demands_on",
    ),
    (
        "demands_on variants",
        lambda: build(demands_on={(0, 0): [[1, 1], [1, 2]]}),
        "the demand of user 'u1' on server 's1' has 2 variants, but the user has 1",
    ),
    ("users str", lambda: build(users="ab"), "the names of users are 'ab', but they must be a list of names"),
    ("users len", lambda: build(users=["a"]), "the number of user names is 1, but the data has 2 users"),
    ("users empty", lambda: build(users=["", "b"]), "user 1 has the name '', but a name is a non-empty string"),
    (
        "scale huge",
        lambda: build([[1e308, 1], [1, 1]], [[1e-5, 1], [1e-5, 1]]),
        "a task of user 'u1' on server 's1' takes inf of a capacity, which is out of range: change units",
    ),
    (
        "scale tiny",
        lambda: build([[1e-308, 0], [1, 1]], [[1e5, 1], [1e5, 1]]),
        "a task of user 'u1' on server 's1' takes 1e-313 of a capacity, which is out of range: change units",
    ),
    (
        "pool overflow",
        lambda: build(D, [[1e308, 1e308]] * 2, counts=[1000, 1000]).pools,
        "the total capacity of 'r1' is out of the range of floating point: change units",
    ),
]

DOCUMENTS = [
    (
        "json demands flat",
        lambda: instance_with(at("users", 0, "demands", [1, 2])),
        "the demands of user 'u1' are [1, 2], but they must be a list of vectors",
    ),
    (
        "json nan",
        lambda: instance_with(at("users", 0, "demands", [[math.nan, 1]])),
        "the demand of user 'u1' for 'cpu' is nan, but it must be a finite number",
    ),
    ("json list", lambda: parse_instance([]), "the instance is [], but it must be a JSON object"),
    (
        "json schema",
        lambda: instance_with(at("schema", "x")),
        "the schema of the instance is 'x', but it must be 'fairalloc-instance/2'",
    ),
    (
        "json unknown",
        lambda: instance_with(at("wieght", 1)),
        "the instance has the unknown field 'wieght': the fields are schema, name, resources, servers, users, groups",
    ),
    ("json no users", lambda: instance_with(at("users", GONE)), "the instance has no field 'users'"),
    ("json user null", lambda: instance_with(at("users", 0, None)), "user 1 is None, but it must be a JSON object"),
    (
        "json user unknown",
        lambda: instance_with(at("users", 0, "wieght", 1)),
        "user 'u1' has the unknown field 'wieght': the fields are name, demands, weight, max_tasks, eligible, demands_on, rates, "
        "min_tasks",
    ),
    ("json user no demands", lambda: instance_with(at("users", 0, "demands", GONE)), "user 'u1' has no field 'demands'"),
    ("json user no name", lambda: instance_with(at("users", 0, "name", GONE)), "user 1 has no field 'name'"),
    ("json server no cap", lambda: instance_with(at("servers", 0, "capacity", GONE)), "server 's1' has no field 'capacity'"),
    (
        "json capacity by name",
        lambda: instance_with(at("servers", 0, "capacity", {"r1": 1, "r2": 1})),
        "the capacity of server 's1' is {'r1': 1, 'r2': 1}, but it must be a list of numbers",
    ),
    (
        "json count '2'",
        lambda: instance_with(at("servers", 0, "count", "2")),
        "the count of server 's1' is '2', but it must be a JSON integer",
    ),
    (
        "json capacity num",
        lambda: instance_with(at("servers", 0, "capacity", 3)),
        "the capacity of server 's1' is 3, but it must be a list of 2 numbers",
    ),
    (
        "json eligible unknown",
        lambda: instance_with(at("users", 0, "eligible", ["x"])),
        "there is no server 'x': the servers are s1, s2",
    ),
    (
        "json eligible str",
        lambda: instance_with(at("users", 0, "eligible", "s1")),
        "eligible of user 'u1' is 's1', but it must be a list of servers or null",
    ),
    (
        "json demands_on unknown",
        lambda: instance_with(at("users", 0, "demands_on", {"x": [[1, 1]]})),
        "there is no server 'x': the servers are s1, s2",
    ),
    (
        "json demands_on flat",
        lambda: instance_with(at("users", 0, "demands_on", {"s1": [1, 1]})),
        "demands_on of user 'u1' is {'s1': [1, 1]}, but it must give each server a list of vectors",
    ),
]

ALLOCATIONS = [
    ("allocation {}", lambda: parse_allocation({}, WANG), "the allocation has no field 'schema'"),
    ("allocation miss user", lambda: allocation_with(lambda d: d["users"].pop()), "the allocation has no entry for user 'u2'"),
    (
        "allocation twice",
        lambda: allocation_with(lambda d: d["users"].append(d["users"][0])),
        "user 'u1' stands twice in the allocation",
    ),
    ("allocation unk user", lambda: allocation_with(at("users", 0, "name", "x")), "there is no user 'x': the users are u1, u2"),
    (
        "allocation unk server",
        lambda: allocation_with(at("users", 0, "by_server", {"x": 1})),
        "there is no server 'x': the servers are s1, s2",
    ),
    (
        "allocation nan",
        lambda: allocation_with(at("users", 0, "by_server", {"s1": "x"})),
        "the number of tasks of user 'u1' on server 's1' is 'x', which is not a finite number or a rational such as '1/5'",
    ),
    (
        "allocation list by_server",
        lambda: allocation_with(at("users", 0, "by_server", [1])),
        "by_server of user 'u1' is [1], but it must be a JSON object",
    ),
    ("allocation no by_server", lambda: allocation_with(at("users", 0, "by_server", GONE)), "user 'u1' has no field 'by_server'"),
    (
        "allocation mech int",
        lambda: allocation_with(at("mechanism", 3)),
        "the mechanism of the allocation is 3, but it must be a string",
    ),
    (
        "allocation by_arc miss",
        lambda: allocation_with(at("users", 0, "by_arc", [{"server": "s1"}])),
        "arc 's1' has no field 'variant'",
    ),
    (
        "allocation by_arc var",
        lambda: allocation_with(at("users", 0, "by_arc", [{"server": "s1", "variant": 7, "tasks": 1}])),
        "a variant of user 'u1' is 7, but it must be an integer from 0 to 0",
    ),
    (
        "allocation by_arc twice",
        lambda: allocation_with(at("users", 0, "by_arc", [{"server": "s1", "variant": 0, "tasks": 1}] * 2)),
        "the allocation gives user 'u1' tasks on server 's1' twice",
    ),
    (
        "allocation by_arc unknown",
        lambda: allocation_with(at("users", 0, "by_arc", [{"server": "s1", "variant": 0, "tasks": 1, "x": 1}])),
        "arc 's1' has the unknown field 'x': the fields are server, variant, tasks, tasks_exact",
    ),
    (
        "allocation variants without by_arc",
        lambda: parse_allocation(
            {"schema": "fairalloc-allocation/1", "users": [{"name": u, "by_server": {"s1": 1}} for u in ("u1", "u2")]},
            example("zarchy-nb").instance,
        ),
        "user 'u1' has 2 variants, so its tasks must be given in the field 'by_arc'",
    ),
]

CALLS = [
    ("solve mech", lambda: solve(WANG, "x"), f"there is no mechanism 'x': the mechanisms are {', '.join(MECHANISMS)}"),
    ("solve method", lambda: solve(WANG, "nb", "x"), f"there is no method 'x': the methods are {', '.join(METHODS)}"),
    (
        "solve mm",
        lambda: solve(WANG, "nb", "highs"),
        f"method 'highs' does not compute 'nb': the methods that do are {NB_METHODS}",
    ),
    (
        "acc",
        lambda: solve(WANG, "nb", accuracy="x"),
        "accuracy is 'x', but it must be one of low, mid, high, or a residual between 0 and 1",
    ),
    ("tl", lambda: solve(WANG, "nb", time_limit=0), "time_limit is 0, but it must be a positive number or None"),
    ("param", lambda: solve(WANG, "nb", alpha=2), "mechanism 'nb' has no parameter 'alpha'"),
    (
        "drf plc",
        lambda: solve(build(eligible=[[1, 0], [1, 1]]), "drf"),
        "the servers cannot be pooled under placement constraints: user 'u1' may not use server 's2'",
    ),
    (
        "drfh var",
        lambda: solve(example("zarchy-nb").instance, "drfh"),
        "the dominant share needs one demand vector for each user, but user 'u1' has 2",
    ),
    (
        "check function",
        lambda: check(Allocation(WANG, [0] * 4), property_that_says_maybe),
        "the property 'property_that_says_maybe' returned 'maybe', but it must be a Verdict, True or False, or a number",
    ),
    (
        "certify whose",
        lambda: certify(Allocation(WANG, [0] * 4)),
        "the allocation names no mechanism, so certify needs one: certify(allocation, mechanism)",
    ),
    ("A shape", lambda: Allocation(WANG, [1, 2]), "x has shape (2,), but the instance has 4 arcs"),
    ("A prices", lambda: Allocation(WANG, [0] * 4, prices=np.ones(3)), "prices has shape (3,), but it must be 2 x 2"),
    (
        "generator google",
        lambda: generators.google_mix(3, 100, 3),
        "n_resources is 3, but the machines of W Table 1 have 2: cpu and memory",
    ),
    (
        "generator planted",
        lambda: generators.planted(3, 2, 2, mechanism="x"),
        "mechanism is 'x', but answers are planted for 'drfh' and 'nb' only",
    ),
    ("vds len", lambda: vds(WANG, np.ones(3)), "tasks has shape (3,), but there are 2 users"),
    (
        "huge weight",
        lambda: Instance([[1]], [[1]], weights=[10**5000]),
        "the weight of user 'u1' is an integer of thousands of digits, which is out of the range of floating point: change units",
    ),
    (
        "huge target",
        lambda: solve(example("wang-pool").instance, "njc", objective="closest", target=[10**400, 1]),
        f"an entry of target is 1{56 * '0'}..., which is out of the range of floating point: change units",
    ),
    (
        "certificate of drf for separate servers",
        lambda: certify(Allocation(WANG, [0] * 4), "drf"),
        "the allocation has 2 servers, 2 resources and 4 arcs, but those of 'drf' have 1, 2 and 2",
    ),
    (
        "gavel-max-min without the jobs' own times",
        lambda: check(Allocation(Instance([[1]], [[2]]), [1]), "gavel-max-min"),
        "the allocation has 1 servers, 1 resources and 1 arcs, but those of 'gavel-max-min' have 1, 2 and 1",
    ),
    (
        "gavel-max-min on kinds of accelerators",
        lambda: check(Allocation(Instance([[1]], [[2], [3]], rates=[[1, 2]]), [1, 1]), "gavel-max-min"),
        "the allocation has 2 servers, 1 resources and 2 arcs, but those of 'gavel-max-min' have 1, 3 and 2",
    ),
    (
        "drf of separate servers",
        lambda: check(Allocation(WANG, [0] * 4), "drf"),
        "the allocation has 2 servers, 2 resources and 4 arcs, but those of 'drf' have 1, 2 and 2",
    ),
    (
        "termination",
        lambda: Allocation(WANG, [0] * 4, termination="x"),
        f"there is no termination 'x': the terminations are {', '.join(TERMINATIONS)}",
    ),
    (
        "tasks are masked",
        lambda: Allocation(WANG, np.ma.masked),
        "x is masked, but nothing in it must be masked",
    ),
    (
        "tasks are no numbers",
        lambda: Allocation(WANG, ["a"] * 4),
        "x is ['a', 'a', 'a', 'a'], but it must be an array of numbers",
    ),
]


CASES = [*INSTANCES, *DOCUMENTS, *ALLOCATIONS, *CALLS]


@pytest.mark.parametrize(("call", "message"), [pytest.param(*case[1:], id=case[0]) for case in CASES])
def test_the_message(call, message):
    with pytest.raises(FairallocError) as caught:
        call()
    assert str(caught.value) == message


def test_there_are_many_and_none_twice():
    assert len({case[0] for case in CASES}) == len(CASES) >= 80


TRAILING_COMMA = (  # Python's own words
    "Illegal trailing comma before end of object in line 1"
    if sys.version_info >= (3, 13)
    else "Expecting property name enclosed in double quotes in line 2"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "{path} cannot be used: the field 'c' is given twice in one JSON object"),
        ('{"a": 1,\n }', "{path} is not JSON: " + TRAILING_COMMA),
        ("", "{path} is not JSON: Expecting value in line 1"),
        ('{"a": NaN}', "{path} cannot be used: it holds NaN, which is not a JSON number"),
        ('{"a": -Infinity}', "{path} cannot be used: it holds -Infinity, which is not a JSON number"),
        ('{"a": 1e400}', "{path} cannot be used: it holds 1e400, which is out of the range of floating point"),
        ('{"a": 1e-400}', "{path} cannot be used: it holds 1e-400, which is out of the range of floating point"),
        ("[" * 100_000, "{path} cannot be read: it nests too deeply or holds an integer of thousands of digits"),
        ("1" * 5000, "{path} cannot be read: it nests too deeply or holds an integer of thousands of digits"),
    ],
    ids=["twice", "comma", "empty", "nan", "infinity", "huge", "tiny", "deep", "digits"],
)
def test_files_that_are_not_usable_json(tmp_path, text, message):
    path = tmp_path / "file.json"
    path.write_text(text)
    with pytest.raises(FairallocError) as caught:
        read_json(path)
    assert str(caught.value) == message.format(path=path)


def test_files_that_cannot_be_read(tmp_path):
    latin = tmp_path / "latin.json"
    latin.write_bytes(b'"\xe9"')
    for path, reason in (
        (tmp_path / "no", "No such file or directory"),
        (tmp_path, "Is a directory"),
        (latin, "it is not UTF-8 text"),
    ):
        with pytest.raises(FairallocError) as caught:
            read_json(path)
        assert str(caught.value) == f"{path} cannot be read: {reason}"


def test_a_zero_written_in_any_way_is_no_underflow(tmp_path):
    path = tmp_path / "zeros.json"
    path.write_text("[0.0, -0.0, 0e5, 0.000E-999]")
    assert read_json(path) == [0, 0, 0, 0]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_messages_are_one_short_line(case):
    """Whatever was given, a message stays readable in a terminal; lists of names may be longer."""
    assert len(case[2]) <= 150 or ": the " in case[2]
    assert "\n" not in case[2]
    assert not case[2].endswith(".")


def test_long_values_are_cut():
    with pytest.raises(FairallocError) as caught:
        build([[10**400, 1], [1, 1]])
    shown = "1" + "0" * 56 + "..."
    assert (
        str(caught.value)
        == f"the demand of user 'u1' for 'r1' is {shown}, which is out of the range of floating point: change units"
    )


def test_hostile_exponents_take_no_time():
    """Fraction("1e999999999") would fill the memory."""
    with pytest.raises(InstanceError, match="is '1e999999999', which is not a finite number"):
        build([["1e999999999", 1], [1, 1]])


def test_masked_values_are_not_read_as_numbers():
    with pytest.raises(InstanceError, match="for 'r1' is masked, which is not a finite number"):
        build(np.ma.array([[1.0, 2.0], [2.0, 1.0]], mask=[[1, 0], [0, 0]]))


def test_documents_that_json_wrote_are_the_same_cases(tmp_path):
    """A bad value in a file gives the message of the bad value in memory."""
    document = instance_document(WANG)
    document["users"][1]["weight"] = 0
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(document))
    with pytest.raises(FairallocError) as caught:
        parse_instance(read_json(path))
    assert str(caught.value) == "the weight of user 'u2' is 0, but it must be positive"
