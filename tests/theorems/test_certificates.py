"""Certificates: the checker alone, on what it must accept and on a hundred changes that it must refuse; and the search."""

import copy
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
import z3

from fairalloc.cli import main
from fairalloc.models.errors import InstanceError
from fairalloc.theorems.certificates import check_certificate as checker
from fairalloc.theorems.certificates.find import CertificateSearch, certified
from fairalloc.theorems.certificates.leaf import lemmas
from fairalloc.theorems.certificates.renew import differing
from fairalloc.theorems.certificates.store import checked, document, hash_of, index, stored
from fairalloc.theorems.certificates.text import text, text_of
from fairalloc.theorems.certificates.written import coq, smt_lib, symbols
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.smt.claims import questions
from fairalloc.theorems.smt.reals import Question, real
from fairalloc.theorems.smt.record import recorded

CHECKER = Path(checker.__file__)
SMALL = "Z.C3"
WEAKENED = "Z.T2"
"""It has two questions."""


def certificate(name=SMALL):
    (found,) = [stored(one["sha256"]) for one in index()[name]]
    return found


def refused(given):
    try:
        checker.check(given)
    except Exception:
        return True
    return False


def trees(tree):
    """A tree and all below it."""
    yield tree
    if tree[0] != "leaf":
        for part in tree[2]:
            yield from trees(part)


def alone(file, folder):
    return subprocess.run([sys.executable, "-I", CHECKER, file], cwd=folder, env={}, capture_output=True, text=True, check=False)


def test_the_checker_imports_four_modules_of_python_and_is_short():
    lines = CHECKER.read_text().splitlines()
    assert len(lines) <= 120
    imports = [line for line in lines if line.startswith(("import", "from"))]
    assert imports == ["import hashlib", "import json", "import sys", "from fractions import Fraction"]


def test_the_checker_alone_accepts_and_refuses(tmp_path):
    found = certificate()
    (tmp_path / "good.json").write_text(json.dumps(found))
    found["text"]["formulas"][0][1] = {"": 1}
    (tmp_path / "bad.json").write_text(json.dumps(found))
    good, bad = alone("good.json", tmp_path), alone("bad.json", tmp_path)
    assert (good.returncode, good.stdout.split(":")[0], bad.returncode) == (0, "accepted", 1)
    assert bad.stderr.startswith("refused: ")
    assert alone("none.json", tmp_path).returncode == 1


def changed_multiplier(found, chance):
    """Another multiplier in a leaf in which it matters: the product is not 0."""
    leaves = [t for _, tree in found["certificates"] for t in trees(tree) if t[0] == "leaf"]
    leaf = chance.choice([t for t in leaves if len(t[2]) > 1 and not t[1]])
    term = chance.choice([t for t in leaf[2] if not isinstance(t[0], dict)])
    term[0] = chance.choice([term[0] + 1, -term[0], 0, term[0] * 2])


def changed_sign(found, chance):
    """Another relation in a formula, with its own hash: what would refute the claim is always the case, or nothing is."""
    question = chance.choice(found["text"]["questions"])
    question[2] = []
    found["text"]["formulas"] = [["=" if f[0] == ">" else f[0], f[1]] for f in found["text"]["formulas"]]
    found["sha256"] = hash_of(found["text"])


def changed_leaf(found, chance):
    """A leaf without a term, or with a fact that is not there, or in the place of a tree."""
    number = chance.randrange(len(found["certificates"]))
    leaves = [t for t in trees(found["certificates"][number][1]) if t[0] == "leaf"]
    how = chance.randrange(3)
    if how == 0:
        chance.choice(leaves)[2][:] = []
    elif how == 1:
        chance.choice(leaves)[2][0][1].append(9999)
    else:
        found["certificates"][number][1] = ["leaf", [], [[1, []]]]


def changed_tree(found, chance):
    """A case is left out."""
    inner = [t for _, tree in found["certificates"] for t in trees(tree) if t[0] != "leaf"]
    chance.choice(inner)[2].pop()


def changed_formula(found, chance):
    """Another coefficient, and the hash as it was."""
    formula = chance.choice([f for f in found["text"]["formulas"] if f[0] not in ("and", "or")])
    name = chance.choice(list(formula[1]))
    formula[1][name] += chance.choice([1, -3, 5])


def changed_point(found, chance):
    """A point at which what is assumed does not hold."""
    point = chance.choice([point for point, _ in found["certificates"]])
    point[chance.choice([name for name in point if name.startswith("t")])] = "-1"


CHANGES = [changed_multiplier, changed_sign, changed_leaf, changed_tree, changed_formula, changed_point]


@pytest.mark.parametrize("change", CHANGES)
def test_changed_certificates_are_refused(change):
    good = certificate()
    assert not refused(good)
    for seed in range(17):
        found = copy.deepcopy(good)
        change(found, random.Random(seed))
        assert found != good
        assert refused(found), (change, seed)


def without_a_question(text):
    text["questions"].pop()


def with_another_assumption(text):
    """An unknown that the claim is about is at most 1."""
    text["formulas"].append([">=", {"": 1, "t00_0": -1}])
    text["questions"][0][1].append(len(text["formulas"]) - 1)


def with_a_weaker_claim(text):
    """What would refute the claim is asked for with a margin."""
    refuting = text["questions"][0][2]
    sign, p = text["formulas"][refuting[0]]
    text["formulas"].append([sign, p | {"": p.get("", 0) - 1}])
    refuting[0] = len(text["formulas"]) - 1


@pytest.mark.parametrize("weaken", [without_a_question, with_another_assumption, with_a_weaker_claim])
def test_a_certificate_of_a_weaker_formula_is_refused(weaken, tmp_path, capsys):
    """It is true of its own text, which has another hash; with the hash on record, its text is not what was hashed."""
    text = copy.deepcopy(certificate(WEAKENED)["text"])
    weaken(text)
    found, file = certified(text, 10.0), tmp_path / "weaker.json"
    file.write_text(json.dumps(found))
    assert alone(file, tmp_path).returncode == 0
    assert main(["theorems", "prove", WEAKENED, "--certificate", str(file)]) == 2
    assert "of another text" in capsys.readouterr().err
    file.write_text(json.dumps(found | {"sha256": index()[WEAKENED][0]["sha256"]}))
    assert "the text has another hash" in alone(file, tmp_path).stderr
    assert main(["theorems", "prove", WEAKENED, "--certificate", str(file)]) == 2
    assert "the text has another hash" in capsys.readouterr().err


def test_the_page_shows_the_hash(capsys):
    assert main(["theorems", "show", SMALL]) == 0
    assert f"text with sha256 {index()[SMALL][0]['sha256']}" in capsys.readouterr().out


def test_what_is_not_assumed_somewhere_is_refused():
    text = {"formulas": [[">", {"x": 1}], [">", {"x": -1}]], "questions": [["empty", [0, 1], []]]}
    assert refused(document(text, [[None, ["leaf", [], [[1, [0]], [1, [1]]]]]]))


def test_a_certificate_is_searched_and_checked():
    formulas = [[">", {"x": 1}], ["or", [["=", {"y": 1}], [">", {"y": 1}]]], [">", {"x y": -1}]]
    product = {"formulas": formulas, "questions": [["a", [0, 1], [2]]]}
    assert checked(certified(product, 10.0), hash_of(product), "x y >= 0").startswith("accepted: 1 questions")
    product["formulas"][2] = [">", {"x y": 1}]
    with pytest.raises(InstanceError, match="satisfiable"):
        certified(product, 10.0)


def test_a_sum_over_servers_is_refuted_by_its_parts():
    facts = {
        0: ("=", {("g0", "x0"): 1, ("g1", "x1"): 1, ("phi",): -1}),
        1: (">", {("g0",): 1}),
        2: (">", {("g1",): 1}),
        3: (">=", {("x0",): 1, ("y0",): -1}),
        4: (">=", {("x1",): 1, ("y1",): -1}),
    }
    goal = {5: (">", {("g0", "y0"): 1, ("g1", "y1"): 1, ("phi",): -1})}
    found = [(p, sorted(enough)) for p, enough in lemmas(facts | goal, goal)]
    assert found == [({("x0",): 1, ("y0",): -1}, [1, 3]), ({("x1",): 1, ("y1",): -1}, [2, 4])]


def test_a_square_is_found_by_the_signs_of_what_is_squared():
    formulas = [[">=", {"s": 1}], ["=", {"s s": 1, "x x": -1, "y y": -1}], [">", {"x": 1, "s": -1}]]
    text = {"formulas": formulas, "questions": [["a root is not smaller", [0, 1], [2]]]}
    found = certified(text, 10.0)
    assert checked(found, hash_of(text), "x <= s").startswith("accepted")
    assert {"y"} in [set(tree[1]) for tree in trees(found["certificates"][0][1]) if tree[0] == "cut"]


def test_the_command_writes_and_checks(tmp_path, capsys):
    file = tmp_path / "c.json"
    assert main(["theorems", "prove", "Z.C3", "--certificate", str(file)]) == 0
    assert alone(file, tmp_path).returncode == 0
    assert main(["theorems", "prove", "Z.C3", "--certificate", str(file)]) == 0
    assert capsys.readouterr().out.count("Z.C3 at 3x1x2: accepted") == 2
    assert main(["theorems", "prove", "Z.C3", "--certificate", str(file), "--time-limit", "1s"]) == 2
    assert "--time-limit is about a search, but the certificate in" in capsys.readouterr().err
    assert main(["theorems", "prove", "Z.L4", "--certificate", str(file)]) == 2
    assert "of another text" in capsys.readouterr().err
    file.write_text("[]")
    assert main(["theorems", "prove", "Z.C3", "--certificate", str(file)]) == 2
    assert "of another text than Z.C3 at 3x1x2: sha256 None" in capsys.readouterr().err


def test_exports_are_of_the_same_text(capsys):
    found = certificate()
    assert main(["theorems", "export", "Z.C3", "--coq"]) == 0
    assert capsys.readouterr().out == coq(found)
    assert coq(found).count("Proof. intros; nra. Qed.") == index()["Z.C3"][0]["leaves"]
    assert main(["theorems", "export", "Z.C3", "--format", "smt-lib"]) == 0
    assert capsys.readouterr().out == smt_lib(found["text"])
    assert found["sha256"] in smt_lib(found["text"])
    assert "tasks" not in symbols(found["text"])[1]


def test_every_proof_on_record_has_a_line_in_the_index():
    proved = {name: [kept["size"] for kept in items if kept["verdict"] == "proved"] for name, items in recorded().items()}
    assert {name: [one["size"] for one in entries] for name, entries in index().items()} == {k: v for k, v in proved.items() if v}
    complete = [name for name, entries in index().items() if all("sha256" in one for one in entries)]
    assert len(complete) >= 85
    assert all(("sha256" in one) != bool(one.get("reason")) for entries in index().values() for one in entries)


def of_a_lemma(lemma, step=False):
    """Of x >= 1 and y = x + 1 the violation is z > y and z < 0; the lemma is of x and y, the step of z, too."""
    x, y, z = map(real, "xyz")
    given = {"steps" if step else "lemmas": [lemma(x, y, z)]}
    return text([Question("two numbers", {"all": [x >= 1, y == x + 1]}, [z > y, z < 0], **given)])


@pytest.mark.parametrize(("lemma", "step"), [(lambda x, y, z: y >= 2, False), (lambda x, y, z: z > 2, True)])
def test_a_lemma_is_a_question_of_its_own(lemma, step):
    written = of_a_lemma(lemma, step)
    assert [name for name, *_ in written["questions"]] == ["two numbers", "two numbers, lemma 1"]
    found = certified(written, 5.0)
    assert checker.check(found).startswith("accepted: 2 questions")
    found["certificates"][1] = found["certificates"][0]
    assert refused(found)


@pytest.mark.parametrize("lemma", [lambda x, y, z: y >= 3, lambda x, y, z: z > 2])
def test_a_lemma_that_does_not_follow_has_no_certificate(lemma):
    with pytest.raises(InstanceError, match="no certificate is found of the question 'two numbers, lemma 1': satisfiable"):
        certified(of_a_lemma(lemma), 5.0)


def test_no_question_assumes_a_lemma_that_is_no_question():
    for name in ("K.T3.sharing", "K.2.2.tsf.envy", "Z.P5.EF"):
        asked = list(questions(all_statements()[name], tuple(index()[name][0]["size"]))[0])
        lemmas = sum(len(one.lemmas) + len(one.steps) for one in asked)
        assert index()[name][0]["questions"] == len(asked) + lemmas > len(asked)


def test_a_tree_is_that_of_a_question_with_more_facts():
    first, more = ["first", [0], [1]], ["more", [2, 0], [1]]
    formulas = [[">=", {"x": 1}], [">", {"x": -1}], [">=", {"y": 1}]]
    found = certified({"formulas": formulas, "questions": [first, more]}, 5.0)
    assert checker.check(found).startswith("accepted: 2 questions, 2 leaves")
    assert found["certificates"][0][1] != found["certificates"][1][1], "the facts have other places"


def test_another_reader_of_the_text_finds_the_same():
    text = smt_lib(certificate()["text"])
    assert z3.Z3_eval_smtlib2_string(z3.main_ctx().ref(), text).split() == ["sat", "unsat"]


@pytest.mark.deep
def test_all_certificates_are_accepted_and_of_the_text_of_today():
    assert list(differing()) == []


def is_false(text, question):
    """Whether z3 finds a point at which all facts of a question hold."""
    try:
        certified(text | {"questions": [question]}, 0.0)
    except InstanceError as fault:
        return str(fault).endswith(": satisfiable")
    return False


def without_z3(text, question, monkeypatch):
    """That the search finds nothing where no word of z3 ends it: until all products of three facts were tried, or in 2 s."""
    monkeypatch.setattr(CertificateSearch, "_outcome", lambda *_: "unknown")
    with pytest.raises(InstanceError, match=r"no leaf of this degree|the time was not enough"):
        certified(text | {"questions": [question]}, 2.0)
    monkeypatch.undo()


REFUTED = [name for name, items in recorded().items() if items[0]["verdict"] == "refuted"]


@pytest.mark.deep
@pytest.mark.parametrize("name", REFUTED)
def test_refuted_statements_have_no_certificate(name, monkeypatch):
    text = text_of(all_statements()[name], tuple(recorded()[name][0]["size"]))
    false = [question for question in text["questions"] if is_false(text, question)]
    assert false
    for question in false[:3]:
        without_z3(text, question, monkeypatch)


@pytest.mark.deep
def test_fifty_weakened_questions_have_no_certificate(monkeypatch):
    """Each without two thirds of what it assumes, where z3 says that it is false so."""
    chance, false = random.Random(0), 0
    texts = [stored(one["sha256"])["text"] for entries in index().values() for one in entries if "sha256" in one]
    while false < 50:
        text = chance.choice(texts)
        name, assumed, refuting = chance.choice(text["questions"])
        question = name, chance.sample(assumed, len(assumed) // 3), refuting
        if is_false(text, question):
            without_z3(text, question, monkeypatch)
            false += 1
