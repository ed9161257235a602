"""Instances from what people have: dictionaries by name, tables of pandas, arrays, sparse matrices; names are taken over."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from fairalloc.models import Instance, InstanceError
from fairalloc.models.files.csv_tables import read_csv
from fairalloc.models.files.jsonio import write_allocation, write_instance

PLAIN = Instance(
    [["1/5", 1], [1, "1/5"]],
    [[2, 12], [12, 2], [4, 4]],
    weights=[1, 2],
    counts=[1, 1, 3],
    eligible=[[1, 1, 0], [1, 1, 1]],
    max_tasks=[None, 7],
    users=["ann", "bob"],
    servers=["s", "t", "u"],
    resources=["cpu", "ram"],
)
DEMANDS = {"ann": {"ram": 1, "cpu": "1/5"}, "bob": {"cpu": 1, "ram": "1/5"}}
CAPACITIES = {"s": {"cpu": 2, "ram": 12}, "t": {"cpu": 12, "ram": 2}, "u": {"ram": 4, "cpu": 4}}
MORE = {
    "weights": {"bob": 2, "ann": 1},
    "counts": {"t": 1, "u": 3, "s": 1},
    "eligible": {"bob": None, "ann": ["t", "s"]},
    "max_tasks": {"bob": 7, "ann": None},
}


def test_dictionaries_by_name_are_the_plain_instance_whatever_their_order():
    assert Instance(DEMANDS, CAPACITIES, **MORE) == PLAIN
    backwards = dict(reversed(DEMANDS.items()))
    assert Instance(backwards, CAPACITIES, users=["ann", "bob"], **MORE) == PLAIN
    assert Instance(backwards, CAPACITIES, **MORE).users == ("bob", "ann")


def test_vectors_by_name_take_the_order_of_the_resources():
    vectors = Instance({"ann": ["1/5", 1], "bob": [1, "1/5"]}, CAPACITIES, **MORE)
    assert vectors == PLAIN
    assert vectors.exact.demands[0][0] == (Fraction(1, 5), 1)


def test_variants_and_demands_on_servers_by_name():
    plain = Instance([[[1, 2], [2, 1]]], [[4, 4]], demands_on={(0, 0): [[1, 1], [2, 2]]}, users=["a"], resources=["c", "m"])
    variants = {"a": [{"m": 2, "c": 1}, {"c": 2, "m": 1}]}
    on = {("a", "s1"): [{"c": 1, "m": 1}, {"m": 2, "c": 2}]}
    assert Instance(variants, [{"c": 4, "m": 4}], demands_on=on) == plain


def test_sparse_matrices_are_dense_ones():
    demands, placement = np.array([[1.0, 0], [2, 3]]), np.array([[1, 0], [1, 1]])
    dense = Instance(demands, [[4, 4], [5, 5]], eligible=placement, rates=placement * 3.0)
    for name in [f"{form}_{kind}" for form in ("csr", "coo", "dia", "dok", "lil") for kind in ("array", "matrix")]:
        kind, capacities = getattr(sp, name), np.array([[4.0, 4], [5, 5]])
        given = {"eligible": kind(placement.astype(float)), "rates": kind(placement * 3.0)}
        assert Instance(kind(demands), kind(capacities), **given) == dense, name
        assert Instance((kind(demands), [0, 1]), capacities, **given) == dense, name


def test_as_many_pairs_by_name_as_there_are_users_are_no_rows_of_two_servers():
    pairs = [("ann", "box"), ("bob", "rack")]
    made = Instance({"ann": [1], "bob": [1]}, {"box": [1], "rack": [1]}, eligible=pairs)
    assert made.placement.tolist() == [[True, False], [False, True]]


def test_eligible_names_the_servers_that_have_no_names_by_their_default():
    assert Instance([[1]], [[1], [1]], eligible={"u1": ["s2"]}).placement.tolist() == [[False, True]]


def test_tables_are_read_with_their_names():
    pd = pytest.importorskip("pandas")
    demands = pd.DataFrame({"ram": ["1", "1/5"], "cpu": ["1/5", "1"]}, index=["ann", "bob"])
    capacities = pd.DataFrame([[2, 12], [12, 2], [4, 4]], index=["s", "t", "u"], columns=["cpu", "ram"])
    eligible = pd.DataFrame([[True, True, True], [True, False, True]], index=["bob", "ann"], columns=["s", "u", "t"])
    weights, counts = pd.Series({"bob": 2, "ann": 1}), pd.Series({"u": 3, "s": 1, "t": 1})
    more = {"weights": weights, "counts": counts, "eligible": eligible, "max_tasks": pd.Series({"ann": np.inf, "bob": 7.0})}
    assert Instance(demands, capacities, **more) == PLAIN
    numbers = demands.map(lambda text: float(Fraction(text)))
    assert Instance(numbers, capacities, **more) == PLAIN


def test_a_table_without_names_is_an_array():
    pd = pytest.importorskip("pandas")
    unnamed = Instance(pd.DataFrame([[1, 2], [2, 1]]), pd.DataFrame([[4, 4]]), weights=pd.Series([1, 2]))
    assert unnamed == Instance([[1, 2], [2, 1]], [[4, 4]], weights=[1, 2])


class Table:
    """What a table needs to be one: no package is asked."""

    def __init__(self, cells, index, columns):
        self.cells, self.index, self.columns = np.array(cells), index, columns

    def to_numpy(self):
        return self.cells


def test_tables_are_known_by_their_attributes():
    read = Instance(Table([[1, 2]], ["a"], ["ram", "cpu"]), Table([[4, 3]], ["s"], ["cpu", "ram"]))
    assert read == Instance([[2, 1]], [[4, 3]], users=["a"], servers=["s"], resources=["cpu", "ram"])


def test_pandas_is_not_needed():
    code = (
        "import sys; sys.modules['pandas'] = None; import fairalloc as fa; "
        "print(fa.solve(fa.Instance({'a': {'c': 1}}, {'s': {'c': 3}}, weights={'a': 2}), 'drfh').tasks)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[3.]\n"


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (
            lambda: Instance({"a": {"cpu": 1}}, {"s": {"cpu": 1, "ram": 1}}),
            "the demand of user 'a' leaves out ram, but it must give every resource: cpu, ram",
        ),
        (
            lambda: Instance({"a": {"cpu": 1}, "b": {"gpu": 1}}, [[1]]),
            "the demand of user 'a' leaves out gpu, but it must give every resource: cpu, gpu",
        ),
        (
            lambda: Instance(DEMANDS, CAPACITIES, weights={"ann": 1, "eve": 2}),
            "the users are ann, bob in demands, but ann, eve in weights",
        ),
        (
            lambda: Instance(DEMANDS, CAPACITIES, users=["ann", "eve"]),
            "the users are ann, eve in users, but ann, bob in demands",
        ),
        (
            lambda: Instance(DEMANDS, CAPACITIES, users=(name for name in ("ann", "eve"))),
            "the users are ann, eve in users, but ann, bob in demands",
        ),
        (
            lambda: Instance({"a": [{"cpu": 1, "ram": 1}, {"cpu": 2}]}, {"s": {"cpu": 1}, "t": {"cpu": 1, "ram": 1}}),
            "the capacity of server 's' leaves out ram, but it must give every resource: cpu, ram",
        ),
        (
            lambda: Instance([{"cpu": 1, "rma": 1}], {"s": {"cpu": 1, "ram": 1}}, users=["fay"]),
            "there is no resource 'rma' (did you mean 'ram'?): the demand of user 'fay' names it, "
            "but the resources are cpu, ram in capacities",
        ),
        (
            lambda: Instance(DEMANDS, CAPACITIES, demands_on={("ann", "s"): {"cpu": 1}}),
            "the demand on ('ann', 's') leaves out ram, but it must give every resource: cpu, ram",
        ),
        (
            lambda: Instance(DEMANDS, CAPACITIES, counts={"r": 2}),
            "the servers are s, t, u in capacities, but r in counts",
        ),
        (
            lambda: Instance(np.ones((9, 1)), [[9]], max_tasks={**{f"u{k}": 1 for k in range(1, 10)}, "eve": 2}),
            "the users are u1, u2, u3, u4, u5, u6, u7, u8, ... in the instance, but eve in max_tasks",
        ),
        (
            lambda: Instance(DEMANDS, CAPACITIES, eligible={"eve": ["s"]}),
            "the users are ann, bob in demands, but eve in eligible",
        ),
        (
            lambda: Instance(DEMANDS, CAPACITIES, eligible={"ann": {"s": True}}),
            "eligible of user 'ann' leaves out t, u, but it must give every server: s, t, u",
        ),
        (
            lambda: Instance(DEMANDS, CAPACITIES, eligible={"ann": {"s": True, "t": "yes", "u": False}}),
            "eligible of user 'ann' on server 't' is 'yes', but it must be true or false",
        ),
        (
            lambda: Instance(DEMANDS, CAPACITIES, eligible={"ann": {"s": 2, "t": True, "u": False}}),
            "eligible of user 'ann' on server 's' is 2, but it must be true or false",
        ),
        (
            lambda: Instance(DEMANDS, CAPACITIES, eligible={"ann": {"s": 1, "t": 1, "u": 1, "v": 1}}),
            "there is no server 'v': eligible of user 'ann' names it, but the servers are s, t, u in capacities",
        ),
        (
            lambda: Instance(DEMANDS, CAPACITIES, eligible={"ann": ["r"], "bob": None}),
            "there is no server 'r': the servers are s, t, u",
        ),
        (
            lambda: Instance(DEMANDS, CAPACITIES, eligible={"ann": "s", "bob": None}),
            "eligible of user 'ann' is 's', but it must be a list of servers or None",
        ),
        (lambda: Instance({3: [1]}, [[1]]), "user 1 has the name 3, but a name is a non-empty string"),
        (
            lambda: Instance([[1]], [[1]], eligible=sp.csr_array([[0.5]])),
            "eligible of user 'u1' on server 's1' is 0.5, but it must be true or false",
        ),
        (
            lambda: Instance(Table([[1], [2]], ["a", "a"], ["c"]), [[9]]),
            "two users have the name 'a', but names must be distinct",
        ),
        (
            lambda: Instance([[1]], [[1]], users=["a\x1b[2J"]),
            "user 1 has the name 'a\\x1b[2J', but a name has no control characters or surrogates",
        ),
        (
            lambda: Instance([[1]], [[1]], servers=["\ud800"]),
            "server 1 has the name '\\ud800', but a name has no control characters or surrogates",
        ),
        (
            lambda: Instance([[1]], [[1]], name="two\nlines"),
            "the name of the instance is 'two\\nlines', but a name has no control characters or surrogates",
        ),
        (
            lambda: Instance([[1]], [[1]], users=(str(1 // 0) for _ in "a")),
            "reading the names of users failed: ZeroDivisionError: integer division or modulo by zero",
        ),
        (
            lambda: Instance([[1]], [[1]], resources=sp.dia_array([[1]])),
            "reading the names of resources failed: TypeError: 'dia_array' object is not subscriptable",
        ),
    ],
)
def test_names_that_contradict_each_other_are_refused(build, says):
    with pytest.raises(InstanceError) as caught:
        build()
    assert str(caught.value) == says


def test_missing_limits_of_a_series_are_none_and_other_missing_numbers_are_errors():
    pandas = pytest.importorskip("pandas")
    limits = pandas.Series({"ann": 2, "bob": None})
    instance = Instance({"bob": [1], "ann": [1]}, [[4]], max_tasks=limits)
    assert instance.max_tasks.tolist() == [float("inf"), 2.0]
    assert instance.exact.max_tasks == (None, 2)
    with pytest.raises(InstanceError, match="the weight of user 'bob' is nan"):
        Instance({"bob": [1], "ann": [1]}, [[4]], weights=limits)
    for same in ([np.nan, 2], np.array([np.nan, 2]), {"bob": np.nan, "ann": 2}):
        assert Instance({"bob": [1], "ann": [1]}, [[4]], max_tasks=same) == instance


@pytest.mark.parametrize("kind", [bool, int, np.bool_, np.int64])
def test_eligible_by_user_and_server_means_what_it_says(kind):
    cells = {"b": {"s": kind(1), "t": kind(1)}, "a": {"t": kind(1), "s": kind(0)}}
    for given in (cells, {"a": cells["a"]}, {"a": ["t"]}):
        assert Instance({"a": [1], "b": [1]}, {"s": [2], "t": [2]}, eligible=given).eligible.tolist() == [
            [False, True],
            [True, True],
        ]


def test_eligible_of_a_table_as_dictionaries():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"s": [False, True], "t": [True, True]}, index=["a", "b"])
    for given in (table, table.T.to_dict(), table.astype(int).T.to_dict(), dict(table.iterrows())):
        assert Instance({"a": [1], "b": [1]}, {"s": [2], "t": [2]}, eligible=given).eligible.tolist() == table.to_numpy().tolist()


def test_what_dictionaries_leave_out_has_its_default():
    partial = {"weights": {"bob": 2}, "counts": {"u": 3}, "eligible": {"ann": ["t", "s"]}, "max_tasks": {"bob": 7}}
    assert Instance(DEMANDS, CAPACITIES, **partial) == PLAIN
    nothing = {name: {} for name in partial}
    assert Instance(DEMANDS, CAPACITIES, **nothing) == Instance(DEMANDS, CAPACITIES)


def test_what_a_series_leaves_out_has_its_default_and_it_names_nobody_twice():
    pd = pytest.importorskip("pandas")
    assert Instance(DEMANDS, CAPACITIES, weights=pd.Series({"bob": 2})).weights.tolist() == [1, 2]
    with pytest.raises(InstanceError, match="a Series has the name 'bob' twice"):
        Instance(DEMANDS, CAPACITIES, weights=pd.Series([1, 2], index=["bob", "bob"]))


def test_what_is_written_must_be_what_it_is_called(tmp_path):
    instance = Instance([[1]], [[4]])
    with pytest.raises(InstanceError, match="it must be an Instance"):
        write_instance(str(tmp_path / "a.json"), instance)
    with pytest.raises(InstanceError, match="it must be an Allocation"):
        write_allocation(instance, tmp_path / "a.json")


# ---- tables of CSV --------------------------------------------------------------------------------------------------

NODES = "server,cpu,memory,count\nrack,12,2,3\nbox,2,12,\n"
VMS = "user,cpu,memory,weight,max_tasks,eligible\nann,0.2,1,2,,\nbob,1,0.2,1,20,rack;box\n"


def tables(folder, users=VMS, servers=NODES):
    """The instance of two texts."""
    (folder / "vms.csv").write_text(users)
    (folder / "nodes.csv").write_text(servers)
    return read_csv(folder / "vms.csv", folder / "nodes.csv")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_tables_of_csv_are_the_instance_they_show(tmp_path, separator):
    demands, capacities = {"ann": ["0.2", 1], "bob": [1, "0.2"]}, {"rack": [12, 2], "box": [2, 12]}
    given = {"weights": [2, 1], "max_tasks": [None, 20], "counts": [3, 1], "resources": ["cpu", "memory"], "name": "vms"}
    users = VMS if separator == "," else VMS.replace("rack;box", "").replace(",", separator)
    assert tables(tmp_path, users, NODES.replace(",", separator)) == Instance(demands, capacities, **given)


def test_a_user_of_two_rows_of_csv_has_two_variants_and_says_the_rest_once(tmp_path):
    two = "user,cpu,memory,weight,eligible\nann,1,2,3,box\nann,2,1,,\nbob,1,1,,rack; box\n"
    found = tables(tmp_path, two)
    assert found.exact.demands == (((1, 2), (2, 1)), ((1, 1),))
    assert found.exact.weights == (3, 1)
    assert found.placement.tolist() == [[False, True], [True, True]]
    assert tables(tmp_path, two.replace("ann,2,1,,", "ann,2,1,3,box")) == found
    with pytest.raises(InstanceError, match=r"line 3 of .*vms.csv gives weight '4', but a user has one"):
        tables(tmp_path, two.replace("ann,2,1,,", "ann,2,1,4,"))


def test_a_resource_is_no_column_that_says_something_else_of_users(tmp_path):
    with pytest.raises(InstanceError, match="has the resource 'weight', but in the table of users this column is no resource"):
        tables(tmp_path, "user,cpu,weight\nann,1,2\n", "server,cpu,weight\nrack,12,2\n")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("weight", "wieght", "there is no column 'wieght' \\(did you mean 'weight'\\?\\)"),
        ("user,cpu,memory", "user,cpu,max_tasks", "vms.csv has 2 columns 'max_tasks', but it must have one"),
        ("memory,weight", "weight,min_tasks", "vms.csv has no column 'memory', but it must have one for each resource"),
        ("weight,", ",", "the heads of .*vms.csv are .*, but none may be empty"),
        ("ann,0.2,1,2,,", "ann,0.2,1,2,", "line 2 of .*vms.csv has 5 fields, but it must have 6"),
        ("bob", '"an\nn"', r"user 2 has the name 'an\\nn', but a name has no control characters"),
        ("ann,0.2,1,2,,\nbob,1,0.2,1,20,rack;box\n", "", "vms.csv has no rows"),
    ],
)
def test_a_wrong_table_of_csv_is_one_sentence(tmp_path, old, new, says):
    assert old in VMS
    with pytest.raises(InstanceError, match=says):
        tables(tmp_path, VMS.replace(old, new))


@pytest.mark.parametrize(
    ("chosen", "says"),
    [
        (["s", 5], "there is no server 5: the servers are s, t, u"),
        (["s", "x"], "there is no server 'x'"),
        ("s", "eligible of user 'ann' is 's', but it must be a list of servers or None"),
        (3, "eligible of user 'ann' is 3, but it must be a list of servers or None"),
        ({"s": 1, "t": 0, "u": 2}, "eligible of user 'ann' on server 'u' is 2, but it must be true or false"),
    ],
)
def test_what_is_no_server_of_a_user_is_named(chosen, says):
    with pytest.raises(InstanceError) as caught:
        Instance(DEMANDS, CAPACITIES, **{**MORE, "eligible": {"ann": chosen, "bob": None}})
    assert says in str(caught.value)
