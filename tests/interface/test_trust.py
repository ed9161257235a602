"""Data never executes: every format that is read is opened with a trap in it, and nothing runs."""

import base64
import gzip
import json
import pickle
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import fairalloc as fa
from fairalloc.benchmarks.records import BenchmarkStore
from fairalloc.cli import main
from fairalloc.models.files.trace_files import csv_table, parquet_columns
from fairalloc.simulation.experiments.records import ExperimentStore
from fairalloc.simulation.experiments.verdicts import kept_verdicts
from fairalloc.simulation.workloads import bitbrains_files
from fairalloc.theorems.search.witnesses import FindingStore, kept_witnesses
from fairalloc.theorems.smt.record import kept_proofs

TRAP = """
from pathlib import Path
Path({ran!r}).touch()
import fairalloc as fa
from fairalloc.benchmarks import Suite, SuiteCase
mine = fa.mechanism("drfh")
SUITE = Suite("mine", "one", (SuiteCase("a", "drfh", lambda: fa.example("wang-fig2").instance),))
"""


class Bomb:
    def __init__(self, ran):
        self.ran = ran

    def __reduce__(self):
        return Path.touch, (self.ran,)


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """The file that only a trap makes, in a folder with trap.py, bomb.pkl and words that were once read as code."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    made = tmp_path / "RAN"
    (tmp_path / "trap.py").write_text(TRAP.format(ran=str(made)))
    (tmp_path / "bomb.pkl").write_bytes(pickle.dumps(Bomb(made)))
    return made


def bomb():
    return Path("bomb.pkl").read_bytes()


def words():
    """Texts that stand for code somewhere."""
    packed = base64.b64encode(bomb()).decode()
    call = "__import__('pathlib').Path('RAN').touch()"
    return ["./trap.py:mine", "trap.py", "trap", "trap:SUITE", f"pickled:{packed}", call, f"!!python/object/apply:{call}"]


def test_the_traps_work(ran):
    pickle.loads(bomb())
    assert ran.exists()
    ran.unlink()
    assert main(["solve", "wang-fig2", "-m", "./trap.py:mine"]) == 0
    assert ran.exists(), "a word that the user typed loads its file"


def one_sentence(capsys, command, ran):
    """The command ends with code 2 and one sentence, and no trap was sprung."""
    assert main(command) == 2
    out, error = capsys.readouterr()
    assert not ran.exists()
    assert error.count("\n") == 1
    assert error.startswith("fairalloc: ")
    assert "internal error" not in error
    return out, error


# ---- documents ------------------------------------------------------------------------------------------------------

READERS = {
    "instance": ["solve", "FILE"],
    "instance shown": ["show", "FILE"],
    "allocation": ["check", "wang-fig2", "FILE"],
    "allocation to certify": ["certify", "wang-fig2", "FILE"],
    "start": ["solve", "wang-fig2", "--warm-start", "FILE"],
    "certificate": ["verify", "wang-fig2", "FILE"],
    "verdicts": ["simulate", "P.Table4", "--small", "--keep", "FILE"],
    "findings kept": ["theorems", "verify", "--id", "K.E111", "--keep", "FILE"],
    "proofs kept": ["theorems", "prove", "K.E111", "--keep", "FILE"],
    "records": ["bench", "report", "FILE"],
    "records compared": ["bench", "compare", "FILE", "FILE"],
    "trials": ["simulate", "P.Table4", "--small", "--records", "FILE"],
    "findings": ["theorems", "verify", "--id", "K.E111", "--store", "FILE"],
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", ["pickle", "object", "npy"])
def test_no_file_is_unpickled(ran, capsys, name, kind):
    content = {
        "pickle": bomb(),
        "object": json.dumps({"pickle": base64.b64encode(bomb()).decode(), "py/reduce": ["os.system", "touch RAN"]}).encode(),
        "npy": b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '|O', 'fortran_order': False, 'shape': (), }".ljust(117) + b"\n" + bomb(),
    }[kind]
    Path("f.npy").write_bytes(content)
    _, error = one_sentence(capsys, ["f.npy" if word == "FILE" else word for word in READERS[name]], ran)
    assert len(error) < 400


def test_no_word_in_an_instance_is_code(ran, capsys):
    for word in words():
        user = {"name": word, "demands": [[word]]}
        document = {
            "schema": "fairalloc-instance/2",
            "resources": ["r"],
            "servers": [{"name": "s", "capacity": [1]}],
            "users": [user],
        }
        Path("i.json").write_text(json.dumps(document))
        one_sentence(capsys, ["solve", "i.json"], ran)
        Path("i.json").write_text(json.dumps(document | {"users": [user | {"demands": [[1]]}], "name": word}))
        assert main(["solve", "i.json"]) == 0
        assert main(["export", "i.json", "--format", "py", "--output", "model.py"]) == 0
        subprocess.run([sys.executable, "model.py"], check=True, capture_output=True) if word == words()[-1] else None
        capsys.readouterr()
        assert not ran.exists()


@pytest.mark.parametrize("k", range(7))
@pytest.mark.parametrize("command", ["check", "certify"])
def test_no_mechanism_of_an_allocation_is_loaded(ran, capsys, command, k):
    wang = fa.example("wang-fig2").instance
    fa.write_allocation(fa.solve(wang, "drfh"), "a.json")
    document = json.loads(Path("a.json").read_text())
    for field in ({"mechanism": words()[k]}, {"mechanism": words()[k], "parameters": {words()[k]: words()[k]}}):
        Path("a.json").write_text(json.dumps(document | field))
        _, error = one_sentence(capsys, [command, "wang-fig2", "a.json"], ran)
        assert error.endswith("one of your own is named by -m FILE.py:NAME\n")
        given = fa.read_allocation("a.json", wang)
        for call in (fa.explain, fa.sensitivity, lambda given: given.plot("rounds")):
            with pytest.raises(fa.FairallocError):
                call(given)
    assert not ran.exists()
    Path("a.json").write_text(json.dumps(document | {"method": words()[k], "parameters": {words()[k]: words()[k]}}))
    one_sentence(capsys, ["check", "wang-fig2", "a.json"], ran)


@pytest.mark.parametrize("k", range(7))
def test_no_certificate_loads_its_mechanism(ran, capsys, k):
    assert main(["certify", "wang-fig2", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    for field in ("mechanism", "kind"):
        Path("c.json").write_text(json.dumps(document | {field: words()[k]}))
        code = main(["verify", "wang-fig2", "c.json"])
        out, error = capsys.readouterr()
        assert (code, (out + error).count("\n")) in ((1, 1), (2, 1))
    assert not ran.exists()


# ---- records --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The records of one solve."""
    file = tmp_path_factory.mktemp("measured") / "r.sqlite"
    setting = fa.benchmarks.Setting(repeats=1, time_limit=20)
    fa.benchmarks.run("scaling", file, ["highs"], ["generic-20x5x2/drfh"], setting, progress=False)
    return file.read_bytes()


def changed(measured, **changes):
    """r.sqlite with other details of its run."""
    Path("r.sqlite").write_bytes(measured)
    with sqlite3.connect("r.sqlite") as database:
        ((text,),) = database.execute("SELECT details FROM plan")
        database.execute(
            "UPDATE plan SET details = ?, suite = ?", [json.dumps(json.loads(text) | changes), str(changes["place"])]
        )
    database.close()


@pytest.mark.deep
@pytest.mark.parametrize("k", range(7))
def test_a_report_looks_for_no_suite(ran, capsys, measured, k):
    word = words()[k]
    told = {"kind": "exact", "missing": "", "about": word, "place": word}
    case = {"family": word, "words": word, "printed": [1.0]}
    changed(measured, place=word, methods={"highs": told}, cases={"generic-20x5x2/drfh": case})
    for form in ("html", "markdown", "latex", "csv", "json"):
        assert main(["bench", "report", "r.sqlite", "--format", form, "--output", "page"]) == 0
    assert main(["bench", "report", "r.sqlite"]) == 0
    assert main(["bench", "compare", "r.sqlite", "r.sqlite"]) in (0, 2)
    assert not ran.exists()


def test_details_that_are_no_text_are_one_sentence(ran, capsys, measured):
    for place in ({"pickle": base64.b64encode(bomb()).decode()}, [1], None):
        changed(measured, place=place)
        one_sentence(capsys, ["bench", "report", "r.sqlite"], ran)


def test_no_column_of_records_is_unpickled(ran, capsys, measured):
    Path("r.sqlite").write_bytes(measured)
    with sqlite3.connect("r.sqlite") as database:
        database.execute("DROP TRIGGER no_update")
        database.execute("UPDATE record SET trace = ?", [bomb()])
    database.close()
    one_sentence(capsys, ["bench", "report", "r.sqlite"], ran)
    with ExperimentStore("s.sqlite") as store:
        store.insert("trial", {"key": "k", "answer": bomb()})
        with pytest.raises(fa.InstanceError, match="has a row that is no record"):
            store.measured("k")
    with FindingStore("t.sqlite") as found:
        run = found.run({})
        found.insert("finding", {"run": run, "statement": "K.E111", "document": bomb()})
        found.insert("witness", {"statement": "K.E111", "document": bomb()})
        for read in (found.findings, found.witnesses):
            with pytest.raises(fa.InstanceError, match="has a row that is no record"):
                read()
    with BenchmarkStore("r.sqlite") as store:
        store.add_run("2026", "s", {"place": "trap", "cases": []}, [])
        with pytest.raises(fa.InstanceError, match="cases is "):
            store.runs()
    assert not ran.exists()


@pytest.mark.parametrize("k", [4, 5, 6])
def test_no_word_is_unpickled(ran, capsys, k):
    word = words()[k]
    commands = [
        ["solve", "wang-fig2", "-m", word],
        ["solve", "wang-fig2", "--method", word],
        ["check", "wang-fig2", "a.json", "--property", word],
        ["bench", "run", word],
        ["bench", "run", "smoke", "--method", word],
        ["simulate", "P.Table4", "--small", "--mechanisms", word],
        ["theorems", "verify", "--id", word],
        ["matrix", "--mechanism", word],
    ]
    fa.write_allocation(fa.solve(fa.example("wang-fig2").instance, "drfh"), "a.json")
    for command in commands:
        one_sentence(capsys, command, ran)


# ---- tables and what is kept ----------------------------------------------------------------------------------------


def test_no_table_is_code(ran):
    pa = pytest.importorskip("pyarrow", reason="parquet files need pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    Path("a.csv").write_bytes(b"x\n" + bomb())
    Path("a.csv.gz").write_bytes(gzip.compress(b"x\n=cmd|'/c touch RAN'!A1\n"))
    Path("a.parquet").write_bytes(bomb())
    pandas = json.dumps({"pandas": {"index_columns": [], "columns": [{"numpy_type": "object", "metadata": "pickle"}]}})
    column = pa.array([bomb()], pa.binary())
    typed = {b"ARROW:extension:name": b"arrow.py_extension_type", b"ARROW:extension:metadata": bomb()}
    schema = pa.schema([pa.field("x", pa.binary(), metadata=typed)], metadata={"pandas": pandas})
    parquet.write_table(pa.table([column], schema=schema), "b.parquet")
    calls = [
        lambda: csv_table("a.csv", ["x"]).numbers("x"),
        lambda: csv_table("a.csv.gz", ["x"]).numbers("x"),
        lambda: bitbrains_files(["a.csv"]),
        lambda: parquet_columns(Path("a.parquet"), ["x"]),
        lambda: parquet_columns(Path("b.parquet"), ["x"]),
        lambda: kept_verdicts(Path("bomb.pkl")),
        lambda: kept_witnesses("bomb.pkl"),
        lambda: kept_proofs("bomb.pkl"),
        lambda: fa.read_instance("bomb.pkl"),
    ]
    for call in calls:
        with pytest.raises(fa.FairallocError) as caught:
            call()
        assert "\n" not in str(caught.value)
    assert not ran.exists()


def test_a_folder_of_instances_runs_no_script_in_it(ran, capsys, monkeypatch):
    Path("x.json").write_bytes(bomb())
    assert main(["bench", "run", "x.json"]) == 1
    assert "the instance cannot be built: InstanceError: " in " ".join(capsys.readouterr().out.split())
    assert not ran.exists()


# ---- what loads code ------------------------------------------------------------------------------------------------

LOADS = re.compile(
    r"\b(pickle|cloudpickle|marshal|shelve|joblib|dill|yaml)\b.*\bimport\b|^\s*import .*\b(pickle|cloudpickle|marshal|shelve)"
    r"|\bimport_module\(|spec_from_file|__import__\(|(?<![.])\b(exec|eval)\(|\brunpy\.|entry_points\(|allow_pickle|np\.load\(",
    re.MULTILINE,
)

REASONS = {
    "benchmarks/worker.py": "an instance that a child of the same run made, where no method ran",
    "cli/__init__.py": "modules of this package, by a table of its commands",
    "cli/arguments.py": "argcomplete, by its name",
    "benchmarks/suites/suite.py": "its own folder, and the module that a typed word of `bench run` names",
    "formulations/common/modelling.py": "CVXPY and Pyomo, by their names",
    "models/allocation.py": "the rule of an allocation that comes through a pipe of the same run, itself a pickle",
    "models/on_demand.py": "modules of this package, by a table",
    "models/registry.py": "its own folders, and what installed packages declare",
    "runs/data.py": "nothing: arrays are read without pickles",
    "runs/fingerprint.py": "modules that the code which was given imports",
    "runs/objects.py": "a file that a typed word names; pickles in requests through pipes of the same run",
    "runs/server.py": "a handler of this package, and modules of installed packages that a child of the same run imported",
    "simulation/experiments/registry.py": "its own folder",
    "solvers/backends/ortools.py": "what pdlp_process.py answers through a pipe",
    "solvers/backends/pdlp_process.py": "what ortools.py asks through a pipe",
    "solvers/running/time_limits.py": "what a forked child of this process answers through a pipe",
    "theorems/code.py": "no code is loaded: the witness of a claim is written so that it loads the user's file",
    "theorems/search/investigate.py": "nothing: it asks whether a finding can be pickled",
    "theorems/standalone/arguments.py": "modules of this package, by a table",
    "theorems/registry.py": "its own folder, and trials.py of the papers, by their names",
}


def test_what_loads_code_has_a_reason():
    root = Path(fa.__file__).parent
    files = [file for room in (*fa.ROOMS, "cli", ".") for file in (root / room).glob("*.py" if room == "." else "**/*.py")]
    found = {file.relative_to(root).as_posix() for file in files if LOADS.search(file.read_text("utf-8"))}
    assert found == REASONS.keys()
