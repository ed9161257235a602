"""Coverage by sentence: the splitter, the hashes, the committed tables and the command."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from fairalloc.cli import main
from fairalloc.models.errors import InstanceError
from fairalloc.theorems.coverage import (
    CLASSES,
    Row,
    by_sentence,
    counts,
    read_paper,
    read_table,
    sentence_hash,
    sentences,
    spans,
)
from fairalloc.theorems.registry import PAPERS, all_statements, misprints

ROOT = Path(__file__).resolve().parents[2]
TABLES = ROOT / "theorems/coverage"
COPIES = next((folder for folder in (ROOT / "shared/papers", ROOT.parent / "shared/papers") if folder.is_dir()), None)

MADE_UP = """# A made-up paper

Abstract\u2014Users share servers in propor-
tion to their weights (see Fig. 2 and Theorem 3 of [4]). Is that fair? We say

$$x_n = \\min_r \\frac{a_{n,r}}{d_{n,r}}, \\quad (1)$$

where x is the number of tasks, e.g. of jobs.

2 MODEL OF SERVERS

Definition 1. An allocation is fair if no user complains.
12
- Every user has a weight.
- Every server has a capacity.

7. REFERENCES

- [1] A. Author, "A paper about servers." In Some Journal, 2010.

APPENDIX

The proof is left to the readers.
"""


def test_a_text_is_split_into_its_sentences():
    formula = r"$$x_n = \min_r \frac{a_{n,r}}{d_{n,r}}, \quad (1)$$"
    assert sentences(MADE_UP) == [
        "Abstract\u2014Users share servers in proportion to their weights (see Fig. 2 and Theorem 3 of [4]).",
        "Is that fair?",
        f"We say {formula} where x is the number of tasks, e.g. of jobs.",
        "Definition 1. An allocation is fair if no user complains.",
        "- Every user has a weight.",
        "- Every server has a capacity.",
        "The proof is left to the readers.",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One of them\tis a row\nOf the table here.", ["One of them is a row", "Of the table here."]),
        ("It ends in the pool A. Then the next starts.", ["It ends in the pool A.", "Then the next starts."]),
        ("Is less, i.e. The least one.", ["Is less, i.e. The least one."]),
        ("A long word, heterogeneous-\nServer, stays.", ["A long word, heterogeneous- Server, stays."]),
        ("x = 1.\n\n(5)\n\nTherefore it follows.", ["Therefore it follows."]),
        ("", []),
    ],
)
def test_where_sentences_end(text, expected):
    assert sentences(text) == expected


def test_a_hash_is_of_the_letters_and_digits():
    assert sentence_hash("Users share 2 servers.") == sentence_hash("users  share\u20282\nSERVERS")
    assert sentence_hash("Users share 2 servers.") != sentence_hash("Users share 3 servers.")
    assert len(sentence_hash("")) == 10


@pytest.fixture
def known(monkeypatch):
    """A table of the made-up text instead of that of K."""
    kinds = [("statement", "K.T1"), ("no claim", "motivation"), ("definition", ""), ("", "")]
    rows = [Row("1", n, sentence_hash(text), *kinds[min(n, 4) - 1]) for n, text in enumerate(sentences(MADE_UP), 1)]
    rows.insert(1, Row("1", 1, rows[0].hash, "missing", "K.new"))
    monkeypatch.setattr("fairalloc.cli.theorems.read_table", lambda paper: rows)


def own_copy(capsys, tmp_path, text):
    (tmp_path / "copy.txt").write_text(text, encoding="utf-8")
    assert main(["theorems", "coverage", "K", "--paper", str(tmp_path / "copy.txt")]) == 0
    return capsys.readouterr().out.replace(str(tmp_path), "")


def test_a_copy_shows_its_sentences_with_their_classes(known, capsys, tmp_path):
    out = own_copy(capsys, tmp_path, MADE_UP)
    assert "1, 1: statement K.T1; missing K.new\n  Abstract" in out
    assert "1, 4: without a class\n  Definition 1." in out
    assert out.endswith("0 of 7 hashes are not in /copy.txt; 0 sentences of it are not in the table\n")


def test_a_changed_word_is_not_found(known, capsys, tmp_path):
    out = own_copy(capsys, tmp_path, MADE_UP.replace("complains", "objects"))
    assert "1, 4: without a class\n  not in this copy\n" in out
    assert out.endswith("1 of 7 hashes are not in /copy.txt; 1 sentences of it are not in the table\n")


def test_what_is_left_and_what_is_missing_is_printed(known, capsys):
    assert main(["theorems", "coverage", "K"]) == 0
    out = capsys.readouterr().out
    assert out.endswith("\nStatements that are missing:\nK.new: K 1, 1\n\nWithout a class:\nK 1, 4-7\n")


def test_the_command_counts_the_classes(capsys):
    assert main(["theorems", "coverage"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for paper in PAPERS:
        rows = read_table(paper)
        numbers = [len(by_sentence(rows)), *(counts(rows)[kind] for kind in CLASSES), 0]
        assert [paper, *map(str, numbers)] in [line.split() for line in lines]
    assert lines[-2:] == ["Without a class:", "nothing"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["Q"], "there is no paper 'Q'"),
        (["--paper", "copy.txt"], "copy of one paper, but 5 are asked for"),
        (["K", "--paper", "a\0b"], "cannot be read: no file can have this name"),
        (["K", "--paper", "nowhere.txt"], "nowhere.txt cannot be read: No such file"),
    ],
)
def test_a_mistake_is_one_sentence(words, said, capsys):
    assert main(["theorems", "coverage", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert captured.err.count("\n") == 1


def test_a_copy_of_another_paper_is_refused(capsys, tmp_path):
    """It was said of every sentence that it is not in this copy, with exit code 0."""
    (tmp_path / "copy.txt").write_text(MADE_UP, encoding="utf-8")
    assert main(["theorems", "coverage", "D", "--paper", str(tmp_path / "copy.txt")]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert captured.err.endswith("copy.txt has no sentence of D: is it another paper?\n")


def test_a_copy_that_is_no_text_is_refused(tmp_path, monkeypatch):
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.7 \xff\xfe")
    with pytest.raises(InstanceError, match="is not UTF-8 text"):
        read_paper(tmp_path / "paper.pdf")
    monkeypatch.setattr("fairalloc.models.files.jsonio.LARGEST", 4)
    with pytest.raises(InstanceError, match="more than 4 bytes"):
        read_paper(tmp_path / "paper.pdf")


def test_counts_are_of_sentences():
    rows = [Row("1", 1, "a", "statement", "K.T1"), Row("1", 1, "a", "statement", "K.T2"), Row("1", 2, "b", "", "")]
    assert counts(rows) == Counter({"statement": 1, "": 1})
    assert spans([1, 2, 3, 7, 9, 10]) == "1-3, 7, 9-10"


@pytest.mark.parametrize("paper", PAPERS)
def test_every_sentence_has_a_class_and_every_id_is_a_statement(paper):
    rows, ids = read_table(paper), {*all_statements(), *misprints()}
    assert [*by_sentence(rows)] == [*range(1, 1 + rows[-1].sentence)]
    assert len(set(rows)) == len(rows)
    for row in rows:
        named = any(name == row.detail or name.startswith(f"{row.detail}.") for name in ids)
        assert row.kind in CLASSES, row
        assert named == (row.kind == "statement"), row  # what is built is not missing
        assert (row.detail == "") == (row.kind in ("definition", "about the literature")), row
        assert row.kind != "no claim" or len(row.detail.split()) <= 3, row


@pytest.mark.parametrize("paper", PAPERS)
def test_no_table_holds_text(paper):
    with open(TABLES / f"{paper}.csv", newline="", encoding="utf-8") as file:
        lines = [*csv.reader(file)]
    assert lines[0] == ["section", "sentence", "hash", "class", "detail"]
    assert max(len(field) for line in lines for field in line) <= 40
    assert {len(line) for line in lines} == {5}
    assert {len(line[2]) for line in lines[1:]} == {10}


@pytest.mark.parametrize("paper", PAPERS)
def test_the_papers_have_these_sentences(paper):
    copies = [] if COPIES is None else [*COPIES.glob(f"{paper}-*.txt")]
    if not copies:
        pytest.skip(f"the text of paper {paper} is not here: it is in no release, for it is its authors'")
    found = [sentence_hash(text) for text in sentences(read_paper(copies[0]))]
    assert [rows[0].hash for rows in by_sentence(read_table(paper)).values()] == found
