"""Standalone scripts: refutations as Python that needs no package, which fails where its witness is changed, and as LaTeX."""

import ast
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from latex_text import well_formed

from fairalloc.cli import main
from fairalloc.models import Instance
from fairalloc.models.errors import InstanceError
from fairalloc.models.examples.published import example as published
from fairalloc.theorems.cases import Case, parse_case
from fairalloc.theorems.checkers.checked import checked
from fairalloc.theorems.latex import Numbers, example, letters_in, tabular
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search.witnesses import packaged
from fairalloc.theorems.standalone import script
from fairalloc.theorems.standalone.arguments import ARGUMENTS
from fairalloc.theorems.standalone.complaints import make_of_case, two_allocations
from fairalloc.theorems.standalone.definitions import exact
from fairalloc.theorems.standalone.script import StandaloneScript
from fairalloc.theorems.statement import Status

FOLDER = Path(__file__).parents[2] / "docs" / "witnesses"
SCRIPTS = sorted(FOLDER.glob("*.py"))

BARE = """
import runpy, sys
for path in sys.argv[1:]:
    runpy.run_path(path, run_name="__main__")
"""

EXCEPTIONS = {
    "P.A1.later": "its witness is a run of an algorithm",
}
"""Statements with a witness on record and no script, and why.

What rests on experiments (K.6.*, W.S6.*) has no witness but a simulation. Cases that show that a proved statement needs one of
its hypotheses are not exported either: nothing that is printed is wrong by them.
"""

ONE_OF_A_KIND = ["K.2.2.tsf.sharing", "P.T2.pareto", "W.E6.printed", "Z.Cor1", "D.S4.strategyproof"]

CHANGED = {
    "K.2.2.tsf.sharing": ("tasks", 1),
    "K.T3.envy.letter": ("prices", 1),
    "P.T2.envy.letter": ("least", 1),
    "K.L2": ("other_prices", -1),
    "K.L3": ("factors", 1),
    "K.L4": ("tasks", 1),
    "P.T2.pareto": ("better", 1),
    "P.T2.misreports": ("after", 1),
    "P.III-A.shares": ("tasks", -1),
    "W.P8.alone": ("tasks", -1),
    "Z.Fig1": ("tasks", 1),
    "Z.P7.numbers": ("prices", -1),
    "Z.P3": ("more", 1),
    "Z.T1.GSP.strict": ("tasks_after", -1),
    "D.S4.strategyproof": ("least_after", -1),
    "D.L3.step": ("x", -1),
    "D.S5.5.weights": ("prices", 1),
    "K.3.3.fds.envy": ("bounds", 1),
    "K.2.2.tsf.bottleneck": ("better", 1),
    "Z.V.NB.SP": ("tasks", 1),
    "W.S2.infeasible": ("tasks", 1),
}
"""A part of the witness whose first number above 0 is made larger (1) or smaller (-1) by a millionth."""


def bare(paths):
    """What a Python without any package prints when it runs these scripts one after the other."""
    command = [sys.executable, "-I", "-S", "-c", BARE, *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def changed(value, sign):
    """The same lists with their first number above 0 made a little larger or smaller."""
    if isinstance(value, list):
        for k, part in enumerate(value):
            if (new := changed(part, sign)) != part:
                return [*value[:k], new, *value[k + 1 :]]
        return value
    return value * (1 + sign * Fraction(1, 10**6)) if isinstance(value, Fraction) and value > 0 else value


def test_every_script_passes_in_a_bare_python():
    ran = bare(SCRIPTS)
    assert ran.returncode == 0, ran.stderr
    assert [line.partition(": ")[0] for line in ran.stdout.splitlines()] == [path.stem for path in SCRIPTS]


def test_scripts_import_fractions_alone():
    for path in SCRIPTS:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        assert imported == ["from fractions import Fraction as F"], path.stem
        assert any(isinstance(node, ast.Assert | ast.Raise) for node in ast.walk(tree)), path.stem


def test_every_refutation_has_its_script():
    refuted = {name for name, last in packaged().searched.items() if last["status"] == Status.REFUTED}
    assert refuted <= set(ARGUMENTS)
    assert {path.stem for path in SCRIPTS} == set(ARGUMENTS)


def test_every_witness_of_a_claim_has_a_script_or_is_an_exception():
    """Cases that violate what is printed, or what the paper denies; not those that a proved statement needs a hypothesis."""
    shown = {one["statement"] for one in packaged().witnesses if not one["without"]}
    assert shown - ARGUMENTS.keys() == EXCEPTIONS.keys()
    assert len(shown) > 100


@pytest.mark.few(3)
@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_committed_scripts_are_those_of_the_record(name):
    made = StandaloneScript.of(name)
    assert made.python() == (FOLDER / f"{name}.py").read_text(encoding="utf-8"), "run: make witnesses"


def test_a_local_name_is_no_function_of_the_module():
    """`given` is a number in the argument of P.E41, and a function that its module imports."""
    assert StandaloneScript.of("P.E41").python() == (FOLDER / "P.E41.py").read_text(encoding="utf-8")
    assert "def given" not in StandaloneScript.of("P.E41").python()


def test_the_claims_and_the_arguments_of_all_scripts_are_those_of_the_package():
    """All of a script but its data, which need solvers: the claim with its hypotheses, and the source of the argument."""
    for name, made in ARGUMENTS.items():
        text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
        assert text.startswith(f'"""{script._heading(StandaloneScript(all_statements()[name], made, {}))}\n"""\n'), (
            "run: make witnesses"
        )
        assert f"\n{script.plain_source(made.function)}\n" in text, "run: make witnesses"


def executed(name):
    """What a script leaves: its names, that of its argument, and those of the data in the order of the call."""
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    scope = {}
    exec(compile(source, f"<{name}>", "exec"), scope)
    call = re.search(r"^found = (\w+)\(\s*([\w, ]+?)\s*\)$", source, re.MULTILINE)
    return scope, call[1], call[2].split(", ")


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_witness_fails(name):
    part, sign = CHANGED[name]
    scope, argument, names = executed(name)
    refutes = scope[argument]
    data = {key: scope[key] for key in names}
    assert refutes(*data.values()) == scope["found"]
    other = changed(data[part], sign)
    assert other != data[part]
    with pytest.raises(AssertionError):
        refutes(*(data | {part: other}).values())


def test_the_functions_of_the_package_return_what_their_copies_do():
    """On the data of every script, with the definitions of the package."""
    for name, made in ARGUMENTS.items():
        scope, argument, names = executed(name)
        assert made.function.__name__ == argument
        assert made.function(*(scope[key] for key in names)) == scope["found"], name


def test_a_script_whose_answer_is_changed_exits_with_1(tmp_path):
    source = (FOLDER / "P.V.cpu.py").read_text(encoding="utf-8")
    file = tmp_path / "changed.py"
    file.write_text(source.replace("\ntasks = exact([[40,", "\ntasks = exact([[39,", 1))
    ran = bare([file])
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "AssertionError" in ran.stderr


def test_the_errata_lead_to_the_script_of_every_refutation():
    text = (FOLDER.parent / "papers" / "errata.md").read_text(encoding="utf-8")
    led = set(re.findall(r"\]\(\.\./witnesses/([^)]*)\.py\)", text))
    refuted = {name for name, last in packaged().searched.items() if last["status"] == Status.REFUTED}
    assert refuted <= led <= {path.stem for path in SCRIPTS}
    assert "Printed" in text.partition("## K")[2]


def defined_in(tex):
    """The letters that the sentence at the end says what they are."""
    return letters_in(tex.rpartition("\n\nHere ")[2])


@pytest.mark.few(3)
@pytest.mark.parametrize("name", [*ONE_OF_A_KIND, "K.L3", "K.E111", "P.T2.misreports", "D.S4.utilisation-higher"])
def test_latex_is_an_example_whose_letters_are_defined(name):
    text = StandaloneScript.of(name).latex()
    assert text.split("\n")[1].startswith(r"\begin{example}[")
    assert text.endswith("\\end{example}\n")
    assert well_formed(text)
    assert letters_in(text) == defined_in(text) != set()
    assert r"\_" not in text, "a letter with an index is a formula"
    assert r"\toprule" in text
    assert not re.search(r"\d{15}", text), "long numbers are rounded, and can be broken into lines below"


def test_a_parameter_in_floating_point_is_the_decimal_that_it_prints_as():
    """B = 0.5 is 1/2 to a script, in whose numbers nothing is rounded: with weights of 1 (104) is right, and was refuted."""
    point = (Fraction(1, 21),) * 2
    case = Case(Instance([[1], [1]], [["1/10"]]), points=(point,), parameters={"alpha": 1, "A": 1, "B": 0.5})
    assert all_statements()["K.E104"].violated(case) is None
    heavier = Case(case.instance.replace(weights=[2, 1]), points=(point,), parameters=case.parameters)
    assert "a task costs 63, and 105/2 by (104)" in all_statements()["K.E104"].violated(heavier).sentence


def test_tasks_that_waste_what_a_user_holds_are_not_its_utility():
    """User 2 runs half a task where it holds enough for one by its other way: the script of Claim 2 must not count a half."""
    half = (Fraction(0), Fraction(1, 2), Fraction(0))
    case = Case(Instance([[[1]], [[2], [1]]], [[1]]), points=(half, (Fraction(1), Fraction(0), Fraction(0))))
    assert all_statements()["Z.C2"].trial(case).holds is checked("Z.C2")(case).holds is True


@pytest.mark.deep
def test_all_latex_is_well_formed_with_defined_letters():
    for path in SCRIPTS:
        text = StandaloneScript.of(path.stem).latex()
        assert well_formed(text), path.stem
        assert letters_in(text) == defined_in(text), path.stem
        assert r"\_" not in text, path.stem


@pytest.mark.parametrize(
    "broken",
    [
        "%\n\\begin{example}{\\end{example}",
        "%\n\\begin{a}\\begin{b}\\end{a}\\end{b}",
        "%\n$x",
        "%\n5% of",
        "%\n\\begin{tabular}{l*{2}{r}}\na & b \\\\\n\\end{tabular}",
    ],
)
def test_latex_that_is_not_well_formed_is_seen(broken):
    assert not well_formed(broken)


def test_a_letter_without_a_meaning_is_an_error():
    with pytest.raises(KeyError, match="no letter 'q'"):
        example("A title", "label", ["where $q$ is 1"], ("usual",))
    told = example("A title", "label", ["where $n$ is 1"], ("usual",))
    assert "Here $n$ is a user.\n" in told, "no letter that is not used"


def test_long_fractions_are_decimals_with_the_exact_number_below():
    numbers = Numbers()
    assert numbers.tex([Fraction(-2, 3), Fraction(5), Fraction(10**20, 3), None]) == (
        r"(-\tfrac{2}{3}, 5, {\approx}\,3.33333 \cdot 10^{19}, \infty)"
    )
    assert numbers.below() == (
        r"Rounded numbers, exactly: $3.33333 \cdot 10^{19}$ is 1000000000\allowbreak{}0000000000\allowbreak{}0\slash{}3."
    )
    assert Numbers().below() == ""
    assert tabular("d", "nr", [[Fraction(1, 2), Fraction(1)]], numbers) == (
        "\\begin{tabular}{l*{2}{r}}\n\\toprule\n$d_{nr}$ & $r = 1$ & $r = 2$ \\\\\n\\midrule\n"
        "$n = 1$ & $\\tfrac{1}{2}$ & $1$ \\\\\n\\bottomrule\n\\end{tabular}"
    )
    assert tabular("e", "i", [Fraction(1), Fraction(0)], numbers) == "$(e_{1}, e_{2}) = (1, 0)$"


def test_the_command_line_prints_both_forms(capsys):
    for form in ("python", "latex"):
        assert main(["theorems", "export", "W.L1.step", "--format", form]) == 0
        assert capsys.readouterr().out == getattr(StandaloneScript.of("W.L1.step"), form)()
    with pytest.raises(SystemExit, match="2"):
        main(["theorems", "export", "W.L1.step", "--format", "html"])
    assert "invalid choice: 'html' (choose from " in capsys.readouterr().err


def test_of_several_statements_those_with_a_script_are_exported(capsys):
    assert main(["theorems", "export", "K.T3"]) == 0
    shown = capsys.readouterr()
    assert shown.out == (FOLDER / "K.T3.envy.letter.py").read_text(encoding="utf-8")
    assert "3 of 4 statements are left out: there is nothing of them to export" in shown.err
    assert main(["theorems", "export", "K.T3.envy"]) == 2
    assert "the statement 'K.T3.envy' has no standalone script" in capsys.readouterr().err


def test_cases_beside_the_record_refute_their_statements():
    """Where a script has another case than the record, which satisfies more of what the paper assumes."""
    own = {name: made.case for name, made in ARGUMENTS.items() if made.case is not None}
    assert "K.3.3.below.sharing" in own
    for name, case in own.items():
        verdict = all_statements()[name].violated(case)
        assert verdict is not None
        assert verdict.holds is False


def test_the_page_and_the_script_of_a_step_of_d_have_a_case_that_fulfils_what_d_assumes():
    """The page had a user who requests less than its entitlement, whom D 5.1 removes before."""
    (kept,) = (one for one in packaged().witnesses if one["statement"] == "D.L3.step")
    known = StandaloneScript.of("D.L3.step", parse_case(kept["case"]))
    assert known.data == StandaloneScript.of("D.L3.step").data
    requests, entitlements = known.data["requests"], known.data["entitlements"]
    assert all(max(row) >= e for row, e in zip(requests, entitlements, strict=True))
    assert min(map(sum, zip(*requests, strict=True))) >= 1
    assert known.found()["gap"] == Fraction(1, 6)
    small = Case(Instance([[1], [1]], [[3]], max_tasks=[1, None]))
    with pytest.raises(AssertionError):
        StandaloneScript.of("D.L3.step", small).found()


def test_a_statement_without_an_argument_has_no_script():
    proved = next(name for name in all_statements() if name not in ARGUMENTS)
    with pytest.raises(InstanceError, match="has no standalone script"):
        StandaloneScript.of(proved)


def test_two_allocations_with_the_same_full_resources_are_no_violation():
    """Of D's segment, on which both resources are full."""
    argument = ARGUMENTS["D.S5.5.bottlenecks"]
    made = dict(make_of_case(Case(published("dolev-segment").instance)))
    ends = {"x": exact(["1/2", "1/2", "1/2"]), "other": exact(["7/10", "3/10", "3/10"])}
    assert two_allocations(made["requests"], made["entitlements"], **ends)["full"] == [1, 2]
    with pytest.raises(AssertionError):
        argument.found(made | ends)
