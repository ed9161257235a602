"""Files and words edited at random: the exit code is never that of a mistake of the package, and what is said is one line."""

import contextlib
import copy
import json
import random
import shutil
import signal
import sqlite3

import pytest

import fairalloc as fa
from fairalloc import benchmarks
from fairalloc.cli import INTERNAL, main
from fairalloc.models.files.jsonio import allocation_document, instance_document

SECONDS = 5.0
"""Seconds of computing after which a command has hung."""

VALUES = (None, True, -1, 0, 2.5, 1e308, 10**30, "", "x", "1/3", "\ud800", "-1e400", [], {}, [None], [[1]], {"x": 1}, "deep")
WORDS = ("", "x", "-1", "0", "nan", "inf", "1e400", "9" * 400, "0-999999999999", "\ud800", "a\0b", "None", "[]", "nb", "..")

WANG = fa.example("wang-fig2").instance
CERTIFICATE = fa.certify(fa.solve(WANG, "drfh", "exact")).document()
DOCUMENTS = {
    "instance": (instance_document(fa.example("khamse-fig1").instance), "solve {file}"),
    "allocation": (allocation_document(fa.solve(WANG, "drfh")), "check wang-fig2 {file}"),
    "certificate": (CERTIFICATE, "verify wang-fig2 {file}"),
    "start": (allocation_document(fa.solve(WANG, "nb")), "solve wang-fig2 --warm-start {file}"),
}
"""A document, and the command that reads it."""

COMMANDS = [
    "solve wang-fig2 -m WORD",
    "solve wang-fig2 --method WORD",
    "solve wang-fig2 --accuracy WORD",
    "solve wang-fig2 --time-limit WORD",
    "solve wang-fig2 --threads WORD",
    "solve wang-pool -m fds --param alpha=WORD",
    "solve wang-fig2 -m alpha-pf-vds --param alpha=WORD",
    "solve wang-fig2 -m ps-dsf --param objective=WORD",
    "solve wang-pool -m njc --param objective=closest --param target=WORD",
    "solve wang-fig2 --method highs --option time_limit=WORD",
    "solve wang-fig2 --option judge.exact_arcs=WORD",
    "solve wang-fig2 --format WORD",
    "solve WORD",
    "show WORD",
    "show wang-fig2 --head WORD",
    "explain wang-fig2 --user WORD",
    "explain wang-fig2 --time-limit WORD",
    "certify wang-fig2 -m WORD",
    "certify wang-fig2 --time-limit WORD",
    "check wang-fig2 {good} --property WORD",
    "check wang-fig2 {good} --time-limit WORD",
    "check wang-fig2 WORD",
    "verify wang-fig2 WORD",
    "export wang-fig2 --format WORD",
    "export wang-fig2 --param alpha=WORD",
    "list WORD",
    "simulate K.Fig9 --small --seeds WORD --list",
    "simulate nothing --seeds WORD",
    "simulate nothing --jobs WORD",
    "simulate WORD --workload nowhere",
    "matrix -m drf --property pareto --time-limit 1s --trials WORD",
    "matrix -m drf --property WORD --time-limit 1s --trials 1",
    "matrix -m drf --property pareto --time-limit 1s --trials 1 --seed WORD",
    "theorems show WORD",
    "theorems coverage WORD",
    "theorems coverage K --paper WORD",
    "theorems verify --id K.T1 --trials 1 --time-limit WORD --jobs 1 --paper W",
    "theorems verify --id nothing --jobs WORD",
    "bench run nothing --repeats WORD",
    "bench run smoke --case nothing --repeats WORD",
    "bench run smoke --case nothing --jobs WORD",
    "bench run smoke --case nothing --threads WORD",
    "bench run smoke --case nothing --memory WORD",
    "bench run smoke --case nothing --time-limit WORD",
    "bench report {records} --format WORD",
    "bench report {records} --suite WORD",
    "bench report WORD",
    "bench compare {records} {records} --threshold WORD",
    "bench compare {records} {records} --suite WORD",
    "bench choose WORD",
]
"""Commands in which a bad word stands for WORD; those that would take long end at another mistake."""


class Hung(BaseException):
    """A command did not end."""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """What is wrong with how a command takes its words, or ""."""
    monkeypatch.chdir(tmp_path)

    def stop(*_):
        raise Hung

    before = signal.signal(signal.SIGPROF, stop)

    def said(words):
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            code = main(words)
        except SystemExit as ended:
            code = ended.code
        except Hung:
            code = "hung"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        _, err = capsys.readouterr()
        shown = all(line.startswith("fairalloc: ") and line.isprintable() for line in err.splitlines())
        return "" if code in (0, 1, 2) and shown and "Traceback" not in err else f"{words} -> {code}: {err[:300]}"

    yield said
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Good files by name."""
    folder = tmp_path_factory.mktemp("good")
    (folder / "good.json").write_text(json.dumps(allocation_document(fa.solve(WANG, "drfh"))))
    (folder / "one.json").write_text(json.dumps(instance_document(WANG)))
    suite = benchmarks.suite_of([folder / "one.json"], ["drfh"])
    setting = benchmarks.Setting(accuracies=("mid",), repeats=1, time_limit=10)
    for _ in range(2):
        benchmarks.run(suite, folder / "records.sqlite", ["highs", "interior-point"], setting=setting, progress=False)
    return {"good": str(folder / "good.json"), "records": str(folder / "records.sqlite")}


def places(document):
    """Every place of a document: (container, key)."""
    entries = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    for key, value in list(entries):
        yield document, key
        yield from places(value)


def edited(document, rng):
    """The document with one value replaced, taken away or given another name."""
    result = copy.deepcopy(document)
    container, key = rng.choice(list(places(result)))
    value = rng.choice(VALUES)
    if value == "deep":
        del container[key]
    elif value == "x" and isinstance(container, dict):
        container["x"] = container.pop(key)
    else:
        container[key] = value
    return result


@pytest.mark.few(1)
@pytest.mark.parametrize("name", DOCUMENTS)
def test_edited_documents(name, run, tmp_path):
    document, command = DOCUMENTS[name]
    rng = random.Random(name)
    found = []
    for k in range(60):
        file = tmp_path / f"{k}.json"
        file.write_text(json.dumps(edited(document, rng)))
        found.append(run(command.format(file=file).split()))
    assert [fault for fault in found if fault] == []


@pytest.mark.few(2)
@pytest.mark.parametrize("command", COMMANDS)
def test_bad_words(command, run, files):
    words = [word.format(**files) for word in command.split()]
    found = [run([word.replace("WORD", bad) for word in words]) for bad in WORDS]
    assert [fault for fault in found if fault] == []


def changed_records(file, rng):
    """One value of one row of a records file replaced, or a part of a JSON column edited."""
    with contextlib.closing(sqlite3.connect(file)) as db:
        table = rng.choice(["record", "record", "plan"])
        db.execute("DROP TRIGGER IF EXISTS no_update")
        column = rng.choice([row[1] for row in db.execute(f"PRAGMA table_info({table})")])
        (old,) = db.execute(f"SELECT {column!r} FROM {table} LIMIT 1".replace("'", '"')).fetchone()
        value = rng.choice([None, -1, 0, 2.5, 1e308, float("inf"), "", "x", b"x", "[]", "{}", "[1]", "3", '{"x": 1}', "edit"])
        if value == "edit" and column in ("details", "keys", "trace", "quantities") and json.loads(old):
            value = json.dumps(edited(json.loads(old), rng))
        with contextlib.suppress(sqlite3.IntegrityError):  # what the table itself does not take
            db.execute(f'UPDATE OR IGNORE {table} SET "{column}" = ?', [value])
        db.commit()
    return column, value


@pytest.mark.deep
@pytest.mark.parametrize("command", ["report {file}", "report {file} --format json", "compare {file} {file}"])
def test_edited_records(command, run, files, tmp_path):
    rng = random.Random(command)
    found = []
    for k in range(60):
        file = tmp_path / f"{k}.sqlite"
        shutil.copy(files["records"], file)
        change = changed_records(file, rng)
        if fault := run(["bench", *command.format(file=file).split()]):
            found.append((change, fault))
    assert not found, "\n".join(map(str, found))
    assert INTERNAL == 70
