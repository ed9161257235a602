"""A folder of somebody's own beside the installed wheel: each of its objects through the API and through the command line."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("stranger.py")

API = """
import json
import fairalloc as fa
import stranger
from stranger import KHAMSE, capped, claim, equal_parts, most_tasks, nobody_is_idle
from fairalloc import benchmarks

most = fa.solve(KHAMSE, most_tasks)
edited = fa.solve(KHAMSE, capped)
own = fa.solve(KHAMSE, "drfh", method=equal_parts)
found = claim.search(time_limit=20, trials=400)
one = benchmarks.Setting(repeats=1)
summary = benchmarks.run(stranger.SUITE, "records.sqlite", methods=[equal_parts, "cvxpy:highs"], setting=one, progress=False)
print(json.dumps({
    "from": fa.__file__,
    "most": most.residuals["optimality"],
    "edited": edited.tasks.round(6).tolist(),
    "checked": [fa.check(edited, capped).holds, fa.check(edited, "drfh").holds, fa.check(edited, nobody_is_idle).holds],
    "own": [own.termination, own.residual > 0.01, own.tasks.tolist() == (0 * own.tasks).tolist()],
    "claim": found.status,
    "code": str(found),
    "suite": sorted({(record.case, record.method) for record in summary.records}),
}))
"""


@pytest.fixture(scope="module")
def folder(wheel, tmp_path_factory):
    """The folder, with the wheel unpacked in `site`."""
    place = tmp_path_factory.mktemp("stranger")
    zipfile.ZipFile(wheel).extractall(place / "site")
    (place / FILE.name).write_text(FILE.read_text())
    return place


def run(folder, *command):
    env = {**os.environ, "PYTHONPATH": str(folder / "site"), "COLUMNS": "100"}
    done = subprocess.run([sys.executable, *command], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def fairalloc(folder, *arguments):
    return run(folder, "-P", "-m", "fairalloc", *arguments)


def test_the_file_is_short():
    assert len(FILE.read_text().splitlines()) <= 60


@pytest.mark.deep
def test_each_object_goes_through_the_api(folder):
    done = run(folder, "-c", API)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["from"].startswith(str(folder / "site")), "the wheel and not the tree"
    assert seen["most"] <= 1e-6
    assert seen["edited"] == [3, 3, 13, 3]
    assert seen["checked"] == [True, False, True]
    assert seen["own"][1:] == [True, False]
    assert seen["claim"] == "not decided: violated in floating point", (
        "somebody is idle where another runs more tasks with the same"
    )
    assert "Instance(" in seen["code"]
    cases = {tuple(pair) for pair in seen["suite"]}
    assert {(case, "cvxpy:highs") for case in ("own", "edited", "drfh")} <= cases
    assert any(method != "cvxpy:highs" for _, method in cases), "the own method took part"


@pytest.mark.deep
def test_solve_takes_mechanism_edit_and_method(folder):
    solved = fairalloc(folder, "solve", "khamse-fig1", "-m", "stranger.py:most_tasks", "--format", "json")
    assert json.loads(solved.stdout)["mechanism"] == "most-tasks"
    solved = fairalloc(folder, "solve", "khamse-fig1", "-m", "stranger.py:capped", "--format", "json")
    assert [round(user["tasks"], 6) for user in json.loads(solved.stdout)["users"]] == [3, 3, 13, 3]
    (folder / "allocation.json").write_text(solved.stdout)
    solved = fairalloc(folder, "solve", "khamse-fig1", "--method", "stranger.py:equal_parts")
    assert (solved.returncode, "drfh by" in solved.stdout) == (1, True), "equal parts are not its answer"


@pytest.mark.deep
def test_check_takes_a_property(folder):
    solved = fairalloc(folder, "solve", "wang-fig2", "-m", "drfh", "--format", "json")
    (folder / "wang.json").write_text(solved.stdout)
    checked = fairalloc(folder, "check", "wang-fig2", "wang.json", "--property", "stranger.py:nobody_is_idle", "--format", "json")
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout)[0]["holds"] is True


@pytest.mark.deep
def test_bench_runs_the_suite(folder):
    done = fairalloc(
        folder,
        "bench",
        "run",
        "stranger.py",
        "--records",
        "bench.sqlite",
        "--repeats",
        "1",
        "--method",
        "cvxpy:highs",
        "--method",
        "stranger.py:equal_parts",
    )
    assert done.returncode == 0, done.stderr
    assert "most-tasks" in done.stdout
    assert "equal_parts" in done.stdout


@pytest.mark.deep
def test_theorems_verify_takes_the_claim(folder):
    done = fairalloc(
        folder, "theorems", "verify", "stranger.py", "--time-limit", "20s", "--jobs", "1", "--store", "findings.sqlite"
    )
    assert done.returncode in (0, 1), done.stderr
    assert "violated in floating point" in done.stdout
