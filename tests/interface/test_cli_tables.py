"""An instance in two tables of CSV, in Python and on the command line; errors name the option."""

import json

import pytest

import fairalloc as fa
from fairalloc.cli import main

SERVERS = "server,cpu,memory,count\nrack,12,2,3\nbox,2,12,\n"
USERS = "user,memory,cpu,weight,max_tasks,eligible\nann,1,0.2,2,,\nbob,1/5,1,,20,rack; box\nbob,1,1/2,,,\ncid,1,1,,,box\n"
SAME = fa.Instance(
    {"ann": [["1/5", 1]], "bob": [[1, "1/5"], ["1/2", 1]], "cid": [[1, 1]]},
    {"rack": [12, 2], "box": [2, 12]},
    resources=["cpu", "memory"],
    weights={"ann": 2},
    max_tasks={"bob": 20},
    counts={"rack": 3},
    eligible={"cid": ["box"]},
    name="vms",
)


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(users=USERS, servers=SERVERS):
        (tmp_path / "vms.csv").write_text(users, encoding="utf-8")
        (tmp_path / "nodes.csv").write_text(servers, encoding="utf-8")
        return ["--users", "vms.csv", "--servers", "nodes.csv"]

    return write


@pytest.mark.parametrize("mark", [",", ";", "\t", "bom", "\r\n"])
def test_tables_are_the_instance_that_they_show(tables, mark):
    users, servers = USERS.replace("rack; box", '"rack; box"'), SERVERS
    change = {"bom": lambda text: "\ufeff" + text, "\r\n": lambda text: text.replace("\n", "\r\n")}
    users, servers = (change.get(mark, lambda text: text.replace(",", mark))(text) for text in (users, servers))
    tables(users, servers)
    assert fa.read_csv("vms.csv", "nodes.csv") == SAME
    assert fa.read_csv("vms.csv", "nodes.csv", name="other") != SAME


def test_commands_take_tables_in_the_place_of_an_instance(tables, capsys):
    words = tables()
    assert main(["solve", *words, "-m", "nb", "--format", "json"]) == 0
    document = capsys.readouterr().out
    assert json.loads(document)["instance"] == "vms"
    with open("answer.json", "w", encoding="utf-8") as file:
        file.write(document)
    assert main(["check", "answer.json", *words]) == 0
    assert main(["certify", "answer.json", *words]) == 0
    assert main(["show", *words]) == 0
    assert "vms: 3 users" in capsys.readouterr().out
    words = tables(users=USERS.replace("1/5", "1/3"))
    assert main(["check", "answer.json", *words, "--property", "nb"]) == 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"users": "user,cpu,ram\na,1,1\n"}, "--users: in vms.csv there is no column 'ram'"),
        ({"users": "user,cpu\na,1\n"}, "vms.csv has no column 'memory', but it must have one for each resource"),
        ({"users": "user,cpu,memory\na,1\n"}, "line 2 of vms.csv has 2 fields, but it must have 3"),
        ({"users": "user,cpu,cpu\na,1,1\n"}, "vms.csv has 2 columns 'cpu', but it must have one"),
        ({"users": "user,cpu,memory\n"}, "vms.csv has no rows"),
        ({"users": 'user,cpu,memory\n"a,1,1\n'}, "vms.csv is not CSV: unexpected end of data in line 2"),
        (
            {"users": USERS.replace(",20,", ",2O,")},
            "--users vms.csv and --servers nodes.csv are no instance: max_tasks of user 'bob'",
        ),
        ({"users": USERS.replace(",,,\ncid", ",,30,\ncid")}, "line 4 of vms.csv gives max_tasks '30', but a user has one"),
        ({"users": USERS.replace("; box", "; bex")}, "no instance: there is no server 'bex' (did you mean 'box'?)"),
        ({"servers": SERVERS + "box,1,1,\n"}, "line 4 of nodes.csv names 'box', but a server has one row"),
        ({"servers": "server,count\na,1\n"}, "the columns of nodes.csv are ['count'], but there must be one for each resource"),
    ],
)
def test_bad_tables_are_one_sentence_that_names_file_and_line(tables, capsys, change, sentence):
    assert main(["solve", *tables(**change)]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_a_table_is_not_alone_and_not_beside_an_instance(tables, capsys):
    words = tables()
    assert main(["solve", *words[:2]]) == 2
    assert "--users is given alone, but an instance in tables has both --users and --servers" in capsys.readouterr().err
    assert main(["solve", "wang-fig2", *words]) == 2
    assert "the instance is 'wang-fig2', but --users and --servers name one too" in capsys.readouterr().err
    assert main(["show", "--users", "no.csv", "--servers", "nodes.csv"]) == 2
    assert "--users: no.csv cannot be read: No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("solve wang-fig2 --threads 0", "--threads is 0, but"),
        ("solve wang-fig2 -m fds --param alpha=x", "--param alpha is 'x', but"),
        ("solve wang-fig2 -m fds --param beta=1", "--param: mechanism 'fds' has no parameter 'beta'"),
        ("solve wang-fig2 --method nope", "--method: there is no method 'nope'"),
        ("solve wang-fig2 -m nb --method pdhg --option max_iterations=-3", "--option max_iterations is -3, but"),
        ("solve wang-fig2 --warm-start no.json", "--warm-start: no.json cannot be read"),
        ("explain wang-fig2 --user bob", "--user: there is no user 'bob'"),
        ("bench run first --repeats 0", "--repeats is 0, but"),
        ("bench run first --case zz", "--case: there is no case 'zz'"),
        ("theorems conflict pareto --size 9", "--size is '9', but"),
        ("matrix --property nope", "--property: there is no property 'nope'"),
        ("certify wang-fig2 --time-limit nan", "--time-limit is nan, but"),
    ],
)
def test_an_error_names_the_option(words, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 2
    assert capsys.readouterr().err.startswith(f"fairalloc: {sentence}")


def test_floors_are_a_column(tables):
    tables(users="user,cpu,memory,min_tasks\nann,1,1,2\nbob,1,2,\n")
    assert fa.read_csv("vms.csv", "nodes.csv").min_tasks.tolist() == [2, 0]
