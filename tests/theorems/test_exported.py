"""What `theorems export` writes of claims of one's own and of statements: Python that runs alone, LaTeX, entries for BibTeX."""

import re
import subprocess
import sys
from fractions import Fraction

import pytest
from latex_text import well_formed
from tolerances import AMPLE

import fairalloc as fa
from fairalloc.analysis.verdict import Verdict
from fairalloc.cli import main
from fairalloc.runs.objects import MECHANISM, load_object
from fairalloc.theorems.cases import rational_code
from fairalloc.theorems.claims import ClaimResult
from fairalloc.theorems.code import defined
from fairalloc.theorems.exported import _latex, statement_text
from fairalloc.theorems.latex import Numbers, letters_in
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search.our_cells import known_cases
from fairalloc.theorems.search.witnesses import on_record, packaged
from fairalloc.theorems.statement import Finding, Status

HELPER = """
LEAST = 1


def missing(tasks):
    return LEAST - min(tasks)
"""

MINE = '''
import cvxpy as cp

import fairalloc as fa
from beside import missing


class Most(fa.Mechanism):
    """As many tasks as possible."""

    id = "most"

    def write_cvxpy(self, instance):
        x, constraints = fa.cvxpy_tasks(instance)
        return cp.Problem(cp.Maximize(cp.sum(x)), constraints)


def idle(allocation):
    return missing(allocation.tasks)


nobody_idle = fa.claim("nobody is idle", Most(), idle, "positive, everywhere")
unnamed = fa.claim("nobody is idle, again", Most, lambda allocation: 1 - allocation.tasks.min(), "positive, everywhere")
misreports = fa.claim("LMMF is strategyproof", "lmmf", "strategyproofness", "everywhere")
true = fa.claim("DRFH is envy-free", "drfh", "envy-freeness")
choices = fa.claim("PS-DSF is strategyproof", "ps-dsf", "strategyproofness")
'''


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "beside.py").write_text(HELPER)
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    for name in ("beside", "mine", "two"):  # of another test's folder
        sys.modules.pop(name, None)
    return tmp_path


def exported(capsys, *words):
    code = main(["theorems", "export", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def alone(code, folder):
    """What the code prints in a folder of its own."""
    folder.mkdir()
    (folder / "witness.py").write_text(code)
    done = subprocess.run([sys.executable, "-P", "witness.py"], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.deep
def test_the_code_of_a_claim_runs_alone_with_its_mechanism_and_what_lies_beside_it(mine, capsys, tmp_path):
    code, out, _ = exported(capsys, "mine.py:nobody_idle", "--trials", "12", "--time-limit", "60s")
    assert code == 0
    assert "class Most(fa.Mechanism):" in out
    assert "def missing(tasks):" in out
    assert "LEAST = 1" in out
    assert str(mine) not in out
    for name in ("mine.py", "beside.py"):
        (mine / name).unlink()
    done, printed = alone(out, tmp_path / "bare")
    assert (done, "idle is violated" in printed) == (0, True), printed


def test_what_cannot_be_copied_is_said_in_a_sentence(mine, capsys):
    _, out, _ = exported(capsys, "mine.py:unnamed", "--trials", "12", "--time-limit", "60s")
    assert "# mine_lambda is the object that the claim was made with: it cannot be copied, for mine_lambda is neither" in out
    assert "class Most(fa.Mechanism):" in out
    assert defined("mine_lambda", lambda allocation: True)[1].startswith("mine_lambda is neither a number, a text, a function")
    assert defined("three", 3) == (["three = 3"], "")
    assert load_object(f"{mine / 'mine.py'}:Most", MECHANISM).id == "most"


@pytest.mark.deep
def test_the_latex_of_a_claim_has_the_instance_the_report_and_the_tasks(mine, capsys):
    code, out, _ = exported(capsys, "mine.py:misreports", "--trials", "300", "--time-limit", "60s", "--format", "latex")
    assert (code, well_formed(out)) == (0, True)
    assert "[LMMF is not strategyproof]" in out
    assert "$d'_{nr}$" in out
    assert re.search(r"An answer to the true instance: \$\(x_\{1\}, x_\{2\}\) = ", out)
    assert re.search(r"An answer to what is reported: \$\(x'_\{1\}, x'_\{2\}\) = ", out)
    assert letters_in(out) == letters_in(out.rpartition("\n\nHere ")[2])


def _found(claim, case, sentence="so it is"):
    verdict = Verdict(claim.statement.property, False, 0.1, sentence, "rational arithmetic")
    return ClaimResult(claim, Finding(claim.id, Status.REFUTED, sentence, 1, {"seed": 0}, case, verdict))


def test_a_witness_in_latex_has_all_of_its_instance():
    """Demands of one's own on servers, several vectors, floors, groups; letters of the author, which no table here has."""
    several = fa.Instance([[[1, 2], [2, 1]], [[1, 1]]], [[4, 3], [3, 5]], demands_on={(0, 1): [[3, 1], ["1/7", 2]]})
    out = _latex(_found(fa.claim("Q_k >= 1", "utilitarian", "pareto", instances=lambda _: several), fa.Case(several)))
    assert "On server 2 a task of user 1 takes $(3, 1)$ or $(\\tfrac{1}{7}, 2)$." in out
    assert "$d_{nvr}$" in out
    assert "$v$ is one of the ways" in out
    assert "$Q_{k}$ $\\ge$ 1" in out
    assert well_formed(out)
    floors = fa.Instance([[1], [2]], [[4]], min_tasks=["1/2", 0], users=["a", "b"])
    found = _found(fa.claim("a", "utilitarian", "pareto", instances=lambda _: floors), fa.Case(floors), "user 'b' runs no task")
    out = _latex(found)
    assert "User 1 has 1/2 tasks at least." in out
    assert "One of perhaps several answers: $(x_{1}, x_{2})" in out
    assert "\n\nUser $2$ runs no task" in out
    groups = fa.Instance([[1], [1], [1]], [[4]], groups={"g": {"users": [0, 2], "weight": 3}})
    out = _latex(_found(fa.claim("a", "nested-nb", "pareto", instances=lambda _: groups), fa.Case(groups)))
    assert "The groups are \\{'g': \\{'weight': '3', 'guarantee': '0', 'users': [1, 3]\\}\\}." in out


def test_hostile_words_of_a_claim_are_text():
    """The key, the label, the title and a comment ended at them, and BibTeX counts braces behind a backslash."""
    plain, name = fa.Instance([[1], [2]], [[4]]), "a, b}]%"
    text, judge = "[0, 1]\nraise { 5% \\", lambda allocation: False
    claim = fa.claim(text, "utilitarian", judge, id=name, instances=lambda _: plain)
    found = _found(claim, fa.Case(plain, parameters={"way": "a% $ }"}))
    out = _latex(found)
    assert well_formed(out)
    assert "[Refuted: [0, 1{]} raise \\{ 5\\% \\textbackslash{}]\\label{fairalloc:a--b---}\n" in out
    assert "With $way = \\text{a\\% \\$ \\}}$." in out
    entry = statement_text(claim.statement, Status.REFUTED, "bibtex")
    assert entry.startswith("@misc{fairalloc:a--b---,\n")
    assert entry.count("{") == entry.count("}")
    compile(str(_found(claim, fa.Case(plain), "one\ntwo")), "witness", "exec")


def test_the_code_of_a_witness_with_floors_has_its_allocation():
    floors = fa.Instance([[1], [2]], [[4]], min_tasks=["1/2", 0])
    claim = fa.claim("a", "utilitarian", "envy-freeness", instances=lambda _: floors)
    code = claim.search(time_limit=AMPLE, trials=1).code
    assert "allocation = fa.solve(instance, 'utilitarian', 'exact')" in code
    assert "no allocation" not in code


def test_the_latex_of_a_claim_says_who_hides_a_server():
    claim = fa.claim("PS-DSF is strategyproof", "ps-dsf", "strategyproofness", "equal weights")
    out = _latex(_found(claim, dict(known_cases("ps-dsf", "strategyproofness"))["P.T2.eligible"]))
    told = "As it is reported: Every user may use every server, but not user 1 server 2, user 3 server 2."
    assert f"Every user may use every server, but not user 3 server 2. {told}" in out
    assert "d'" not in out
    assert "Closed" not in out
    assert well_formed(out)


@pytest.mark.deep
def test_a_claim_about_ps_dsf_has_a_witness_for_all_answers(mine, capsys):
    """The search finds none in so few cases, and the record knows one."""
    code, out, _ = exported(capsys, "mine.py:choices", "--trials", "3", "--time-limit", "60s", "--format", "latex")
    assert code == 0
    assert "This is so for all answers of the mechanism." in out
    more = r"user $1$ runs $\tfrac{1}{78}$ tasks more in its worst allocation than in its best before"  # 24 / 13 - 11 / 6
    assert f"By misreporting, {more} (this one misreport, in rationals)" in out
    result = fa.claim("PS-DSF is strategyproof", "ps-dsf", "strategyproofness").search(trials=3, time_limit=60)
    assert (result.status, result.verdict.answers) == ("refuted", "for all")
    assert "on record for P.T" in result.sentence


def test_a_claim_without_a_witness_has_only_an_entry(mine, capsys):
    few = ("--trials", "3", "--time-limit", "60s")
    code, out, err = exported(capsys, "mine.py:true", *few)
    assert (code, out) == (2, "")
    assert "the claim 'drfh-is-envy-free' has no witness to export: DRFH is envy-free: " in err
    code, out, _ = exported(capsys, "mine.py:true", *few, "--format", "bibtex")
    assert code == 0
    assert out.startswith("@misc{fairalloc:drfh-is-envy-free,\n")


def test_claims_with_a_witness_are_written_where_others_have_none(mine, capsys, monkeypatch):
    """The first claim without a witness ended the command, and those after it were not written."""
    monkeypatch.syspath_prepend(mine)  # other tests' files of these names are on the path
    (mine / "two.py").write_text("from mine import choices, true\n\nboth = [true, choices]\n")
    code, out, err = exported(capsys, "two.py", "--trials", "3", "--time-limit", "60s")
    assert code == 1, err
    assert "claim('PS-DSF is strategyproof'" in out
    assert err.count("\n") == 1
    assert err.startswith("fairalloc: the claim 'drfh-is-envy-free' has no witness to export: ")


def test_a_file_without_claims_is_told(mine, capsys):
    assert exported(capsys, "beside.py")[2] == "fairalloc: beside.py defines no claim: a claim is what fa.claim returns\n"


def test_every_statement_has_an_entry_for_bibtex(capsys):
    record = packaged()
    for name, item in all_statements().items():
        entry = statement_text(item, on_record(item, record, again=False).status, "bibtex")
        assert entry.startswith(f"@misc{{fairalloc:{name},\n  author = {{{{The fairalloc developers}}}},\n  title = {{{{")
        assert entry.endswith("},\n}\n")
        assert entry.count("{") == entry.count("}"), name
        assert entry.count("$") % 2 == 0, name
    assert exported(capsys, "P.T2.misreports", "--format", "bibtex")[1] == (
        "@misc{fairalloc:P.T2.misreports,\n"
        "  author = {{The fairalloc developers}},\n"
        "  title = {{PS-DSF is not strategyproof}},\n"
        "  note = {fairalloc 0.2.0, statement P.T2.misreports: refuted (to the letter); P Table I; P Theorem 2, where P is "
        "Khamse-Ashari, Lambadaris, Kesidis, Urgaonkar, Zhao, Per-Server Dominant-Share Fairness},\n"
        "}\n"
    )
    assert exported(capsys, "K.T7", "--format", "bibtex")[0] == 0, "which has no witness"


@pytest.mark.parametrize("action", ["export", "prove"])
def test_a_misprint_leaves_nothing_to_compute(action, capsys):
    assert main(["theorems", action, "Z.E4.index"]) == 2
    told = "'Z.E4.index' is a misprint, which leaves nothing to compute: see fairalloc theorems show Z.E4.index"
    assert capsys.readouterr() == ("", f"fairalloc: {told}\n")


def test_a_statement_to_be_verified_is_named_by_an_option(capsys):
    assert main(["theorems", "verify", "Z.Fig1"]) == 2
    told = "theorems verify takes files of your own claims, and a statement as --id Z.Fig1"
    assert capsys.readouterr() == ("", f"fairalloc: {told}\n")


def test_forms_are_told_from_others(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["theorems", "export", "P.T2.misreports", "--format", "csv"])
    assert "invalid choice: 'csv'" in capsys.readouterr().err


def test_the_list_has_a_line_for_each_statement_and_is_as_wide_as_the_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "90")
    assert main(["theorems", "list", "--paper", "P", "--status", "refuted", "--reading", "to the letter"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 15
    assert all(len(line) <= 90 for line in lines)
    (line,) = (line for line in lines if line.startswith("P.T2.misreports"))
    assert line.split(maxsplit=5) == [
        *("P.T2.misreports", "refuted", "(to", "the", "letter)"),
        "ps-dsf is strategyproof, about demands and…",
    ]
    monkeypatch.delenv("COLUMNS")
    assert main(["theorems", "list", "--mechanism", "nb", "--property", "strategyproofness"]) == 0
    whole = capsys.readouterr().out
    assert "NB is not strategyproof.\n" in whole
    assert main(["theorems", "list", "--reading", "of a repaired text", "--paper", "D"]) == 2
    assert capsys.readouterr().err.startswith("fairalloc: none of these statements fits")
    with pytest.raises(SystemExit, match="2"):
        main(["theorems", "list", "--reading", "mine"])


def test_rationals_of_thousands_of_digits_are_written_and_run_again():
    """Python neither writes nor reads decimal integers of more than 4,300 digits."""
    long = Fraction(10**5000 + 1, 10**5000 + 7)
    case = fa.Case(fa.Instance([[1], [1]], [[1]]), fa.Misreport((0,), (((long,),),), (None,)), ((long, Fraction(0)),))
    again = eval(case.code(), {"Case": fa.Case, "Instance": fa.Instance, "Misreport": fa.Misreport, "Fraction": Fraction})
    assert (again.points, again.misreport) == (case.points, case.misreport)
    assert rational_code((Fraction(2), long), True).startswith("(2, Fraction(0x")
    numbers = Numbers()
    assert numbers.tex(long) == r"{\approx}\,1"
    assert len(numbers.below()) > 10_000
