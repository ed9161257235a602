"""Packages that join by entry points, and files with errors: what can be loaded is there, and the rest is one warning line."""

import json
import os
import re
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import pytest

import fairalloc
from fairalloc.benchmarks import SUITES
from fairalloc.formulations import MECHANISMS, mechanism
from fairalloc.models.registry import Registry
from fairalloc.solvers import METHODS
from fairalloc.theorems import registry
from fairalloc.theorems.registry import all_statements

PLUGIN = """
    import cvxpy as cp
    import fairalloc as fa
    from fairalloc.benchmarks import Suite, SuiteCase
    from fairalloc.solvers.method import Method

    def cap(problem, instance):
        x = problem.var_dict["x"]
        return cp.Problem(problem.objective, [*problem.constraints, instance.arcs.owner[[0]] @ x <= 4])

    capped = fa.mechanism("drfh").edited("capped", cvxpy=cap)
    twin = fa.mechanism("drfh").edited("twin", cvxpy=cap)
    twin.id = "nb"

    class Lost(fa.Mechanism):
        id = "lost"

        def __init__(self):
            raise OSError("no data")

    class Nothing(Method):
        id, kind = "nothing", "exact"

        def computes(self, mechanism):
            return False

        def open(self, mechanism, instance, limits):
            raise NotImplementedError

    def one_pool():
        return fa.Instance([[1, 2], [2, 1]], [[3, 3]], name="one-pool")

    small = Suite("small", "one pool", (SuiteCase("one", "drfh", one_pool),), ("highs",))
    number_one = Suite("first", "takes a name of ours", small.cases)
    starving = fa.claim("DRFH wastes nothing", mechanism="drfh", property="pareto", id="starving")
    of_a_paper = fa.claim("it takes the letter of a paper", mechanism="drfh", property="pareto", id="K.mine")

    def nobody_starves(allocation):
        "Everybody runs a task."
        return bool(allocation.tasks.min() >= 1)
"""

ENTRIES = """
    [fairalloc.mechanisms]
    capped = joining_plugin:capped
    lost = joining_plugin:Lost
    twin = joining_plugin:twin
    gone = joining_plugin:gone
    number = math:pi
    [fairalloc.methods]
    nothing = joining_plugin:Nothing
    [fairalloc.properties]
    nobody_starves = joining_plugin:nobody_starves
    [fairalloc.suites]
    small = joining_plugin:small
    first = joining_plugin:number_one
    gone = joining_plugin:gone
    [fairalloc.statements]
    starving = joining_plugin:starving
    of_a_paper = joining_plugin:of_a_paper
"""


@pytest.fixture
def plugin(tmp_path):
    """A folder with a distribution that joins with things that can be loaded and things that cannot."""
    (tmp_path / "joining_plugin.py").write_text(textwrap.dedent(PLUGIN))
    info = tmp_path / "joining_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: joining-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(textwrap.dedent(ENTRIES))
    return tmp_path


def fresh(registry):
    """A registry of the same kind that has looked for nothing yet."""
    return Registry(registry.kind, registry.group, registry.own, registry.read, registry.names)


def test_what_can_be_loaded_joins_and_the_rest_is_named(plugin, monkeypatch):
    known, able = [*MECHANISMS], [*METHODS]
    monkeypatch.syspath_prepend(plugin)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert [*fresh(MECHANISMS)] == [*known, "capped"]
        assert [*fresh(METHODS)] == [*able, "nothing"]
    assert sorted(str(w.message) for w in said) == [
        "the mechanism 'gone' of joining-plugin (joining_plugin:gone) cannot be loaded and is left out: "
        "AttributeError: module 'joining_plugin' has no attribute 'gone'",
        "the mechanism 'lost' of joining-plugin (joining_plugin:Lost) cannot be loaded and is left out: "
        "InstanceError: the mechanism Lost() cannot be made: OSError: no data",
        "the mechanism 'number' of joining-plugin (math:pi) is left out: 3.141592653589793 is no mechanism",
        "the mechanism 'twin' of joining-plugin (joining_plugin:twin) is left out: there is another mechanism named 'nb'",
    ]


def test_suites_join(plugin, monkeypatch):
    known = [*SUITES]
    monkeypatch.syspath_prepend(plugin)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        joined = fresh(SUITES)
        assert [*joined] == [*known, "small"]
    assert joined["small"].case("one").build().name == "one-pool"
    assert sorted(str(w.message) for w in said) == [
        "the suite 'first' of joining-plugin (joining_plugin:number_one) is left out: there is another suite named 'first'",
        "the suite 'gone' of joining-plugin (joining_plugin:gone) cannot be loaded and is left out: "
        "AttributeError: module 'joining_plugin' has no attribute 'gone'",
    ]


def test_statements_join(plugin, monkeypatch):
    known = [*all_statements()]
    monkeypatch.syspath_prepend(plugin)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        joined = fresh(registry._STATEMENTS)
        assert [*joined] == [*known, "starving"]
    assert joined["starving"].text == "DRFH wastes nothing"
    (sentence,) = (str(w.message) for w in said)
    assert sentence.startswith("the statement 'of_a_paper' of joining-plugin (joining_plugin:of_a_paper) is left out: ")


@pytest.mark.deep
def test_the_command_line_takes_suites_and_statements_that_joined(plugin):
    run = ("bench", "run", "small", "--records", "records.sqlite", "--repeats", "1")
    done = command(*run, path=plugin)
    assert done.returncode == 0, done.stderr
    assert "small" in done.stdout
    asked = (
        "theorems",
        "verify",
        "--id",
        "starving",
        "--time-limit",
        "3s",
        "--trials",
        "25",
        "--jobs",
        "2",
        "--store",
        "f.sqlite",
    )
    done = command(*asked, path=plugin)
    assert done.returncode == 0, done.stderr
    assert re.search(r"\nown +1 ", done.stdout), "a claim that is in the record's proofs counts as proved"
    assert "the statement 'of_a_paper' of joining-plugin" in done.stderr


def test_our_own_are_found_without_asking_installed_packages(plugin, monkeypatch):
    monkeypatch.syspath_prepend(plugin)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert fresh(MECHANISMS)["drfh"] is mechanism("drfh")
    assert said == []


def command(*arguments, path):
    """The command line in a process of its own, with `path` before everything else."""
    code = "import sys; from fairalloc.cli import main; sys.exit(main())"
    places = os.pathsep.join(
        [str(path), str(Path(fairalloc.__file__).parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    return subprocess.run(
        [sys.executable, "-P", "-c", code, *arguments],
        env=os.environ | {"PYTHONPATH": places},
        cwd=path,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.deep
def test_the_command_line_takes_what_joined_and_warns_in_one_line_each(plugin):
    done = command("solve", "wang-fig2", "-m", "capped", "--format", "json", path=plugin)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["users"][0]["tasks"] == pytest.approx(4, abs=1e-6)
    lines = done.stderr.splitlines()
    assert len(lines) == 4
    assert all(line.startswith("fairalloc: warning: the mechanism ") for line in lines)
    (plugin / "allocation.json").write_text(done.stdout)
    checked = command("check", "wang-fig2", "allocation.json", "--property", "nobody_starves", path=plugin)
    assert (checked.returncode, checked.stdout.split()[4:6]) == (0, ["nobody_starves", "yes"])


@pytest.mark.deep
def test_a_mechanism_file_with_an_error_is_one_warning(tmp_path, monkeypatch):
    """As if it lay in formulations/: a folder of its own on the path of the package."""
    (tmp_path / "half_written.py").write_text("def (")
    code = textwrap.dedent(
        f"""
        import sys
        import fairalloc.formulations as formulations
        formulations.__path__.append({str(tmp_path)!r})
        from fairalloc.cli import main
        sys.exit(main(sys.argv[1:]))
        """
    )
    run = [sys.executable, "-P", "-c", code]
    places = {"PYTHONPATH": os.pathsep.join([str(Path(fairalloc.__file__).parent.parent), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([*run, "list", "mechanisms"], env=os.environ | places, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "drfh" in done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith(
        "fairalloc: warning: the file of fairalloc.formulations.half_written cannot be loaded and is left out: Sy"
    )
    helped = subprocess.run([*run, "--help"], env=os.environ | places, capture_output=True, text=True, check=False)
    assert (helped.returncode, helped.stderr) == (0, "")
