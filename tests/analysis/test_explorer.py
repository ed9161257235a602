"""The page on which mechanisms are compared: its numbers, its slider in a browser, and that it needs no network."""

import html
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

import fairalloc as fa
from fairalloc.cli import main

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
INSTANCE = fa.example("khamse-fig1").instance
ALPHAS = (0.5, 2.0, 20.0)


@pytest.fixture(scope="module")
def comparison():
    game = [fa.mechanism("alpha-pf-vds", alpha=alpha) for alpha in ALPHAS]
    return fa.compare(INSTANCE, ["uniform", "nb", *game], properties=["pareto", "envy-freeness"])


class Table(HTMLParser):
    """The rows of the page, (head, cells as text), and the tags and attributes that were met."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.rows, self.tags, self.cell, self.attributes = [], set(), None, []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def test_the_page_has_the_numbers_of_the_comparison(comparison):
    table = Table(fa.explorer_page(comparison))
    rows = {row[0]: row[1:] for row in table.rows if len(row) > 1}
    assert len(table.rows[0]) == 4  # a head, two mechanisms and the game
    for user, tasks in zip(INSTANCE.users, comparison["nb"].tasks, strict=True):
        assert rows[user][1].startswith(f"{round(float(tasks), 6):g} (")
    assert rows["pareto"][0].startswith("NO")
    assert comparison.verdicts["pareto"]["uniform"].sentence in rows["pareto"][0]
    assert rows["pareto"][1] == "yes"
    assert "Properties of these answers (a mechanism may allow others)" in fa.explorer_page(comparison), "PS-DSF may have others"
    assert [f"alpha = {alpha:g}" in table.rows[0][3] for alpha in ALPHAS] == [True] * 3


def test_answers_that_differ_in_two_parameters_have_no_slider():
    """With A of the second alone the slider said alpha = 2 and alpha = 3."""
    games = [fa.mechanism("alpha-pf-vds", alpha=2), fa.mechanism("alpha-pf-vds", alpha=3, A=2)]
    for asked in (games, games[::-1]):
        page = fa.explorer_page(fa.compare(INSTANCE, asked))
        assert "<input" not in page
        assert len(Table(page).rows[0]) == 3


def test_a_pool_is_not_told_as_the_first_of_several_servers():
    found = fa.compare(fa.example("wang-fig2").instance, ["drf", "drfh"])
    first, second = [row for row in Table(fa.explorer_page(found)).rows if row[0] == "s1"]
    assert [cell.startswith("all servers as one pool: ") for cell in (*first[1:], *second[1:])] == [True, False] * 2
    alone = fa.compare(fa.example("wang-pool").instance, ["drf", "drfh"])
    assert "all servers as one pool: " not in fa.explorer_page(alone)


def test_the_parts_of_a_bar_are_what_users_take(comparison):
    page = fa.explorer_page(comparison)
    told = re.findall(r"<title>(.*?): ([\d.]+) % of (.*?)</title>", page)
    answers = list(comparison.allocations.values())
    expected = [
        (INSTANCE.users[n], f"{100 * one.used[n, i, r] / INSTANCE.pools[i, r]:.1f}", INSTANCE.resources[r])
        for i in range(INSTANCE.K)
        for one in answers
        for r in np.flatnonzero(INSTANCE.pools[i])
        for n in range(INSTANCE.N)
        if one.used[n, i, r] / INSTANCE.pools[i, r] > 0.001
    ]
    assert sorted(told) == sorted(expected)


def test_nothing_is_loaded_and_names_are_text(comparison):
    named = fa.Instance({"<b>&": [1, 2], 'a"b': [2, 1]}, {"<script>": [4, 4]}, name="$x <i>")
    page = fa.explorer_page(fa.compare(named, ["nb"], properties=["pareto"]))
    for text in (page, fa.explorer_page(comparison)):
        table = Table(text)
        assert not table.tags & {"link", "img", "iframe", "object", "b", "i"}
        assert not any(name in ("src", "href") for name, _ in table.attributes)
        assert "default-src 'none'" in text
        assert text.count("<script>") == 1
    assert html.escape("<script>") in page
    assert "$x &lt;i&gt;" in page


def test_the_page_says_which_mechanisms_have_no_answer():
    """One whose answer has no point was left out without a word, and why there is no page at all was not said."""
    floors = fa.Instance([[1], [1]], [[4]], min_tasks=[3, 3])
    made = fa.compare(floors, ["drfh", "ps-dsf"])
    why = "a page shows at least one; drfh has no answer: no allocation satisfies the floors"
    with pytest.raises(fa.InstanceError, match=why):
        fa.explorer_page(made)
    answer = fa.compare(floors.replace(min_tasks=[1, 2]), ["nb"]).allocations
    page = fa.explorer_page(fa.analysis.compare.MechanismComparison(floors, {**made.allocations, **answer}, made.refused))
    for sentence in ("drfh has no answer: no allocation satisfies the floors", "ps-dsf has no answer: mechanism"):
        assert sentence in page


def test_many_users_and_servers_are_few_rows():
    instance = fa.Instance(np.ones((60, 2)), np.full((30, 2), 9.0))
    page = fa.explorer_page(fa.compare(instance, ["drfh", "drf"]))
    assert "52 other users" in page
    assert "... and 20 more users" in page
    assert "(30)" in page  # identical servers are one class
    with pytest.raises(fa.InstanceError, match="the comparison has no answer, but a page shows at least one"):
        fa.explorer_page(fa.analysis.compare.MechanismComparison(instance, {}))


def test_a_narrow_window_scrolls_over_columns_and_names_of_resources_are_whole():
    instance = fa.Instance([[1, 2], [2, 1]], [[4, 4]], resources=["cpu_cores", "memory_in_gb"])
    page = fa.explorer_page(fa.compare(instance, ["drfh", "nb"]))
    assert "table-layout: fixed; width: 100%; min-width: 28em" in page  # without a width browsers ignore table-layout
    assert page.count(">cpu_cores</text>") == page.count(">memory_in_gb</text>") == 2


def test_the_command_writes_the_page(tmp_path, capsys):
    file = tmp_path / "page.html"
    assert main(["explore", "wang-fig2", "-m", "nb", "-m", "drfh", "--property", "pareto", "-o", str(file)]) == 0
    assert capsys.readouterr().out == f"page: {file}\n"
    table = Table(file.read_text(encoding="utf-8"))
    assert [row[:1] for row in table.rows if row[0] == "u1"] == [["u1"]]
    assert {len(row) for row in table.rows} == {1, 3}
    assert main(["explore", "wang-fig2", "-m", "nope"]) == 2


@pytest.mark.deep
@pytest.mark.skipif(BROWSER is None, reason="no browser is installed")
@pytest.mark.parametrize("place", range(len(ALPHAS)))
def test_the_slider_shows_one_answer(comparison, tmp_path, place):
    """In a headless browser, which the page's policy would keep from any other file."""
    move = f"<script>const s=document.querySelector('input');s.value={place};s.dispatchEvent(new Event('input'))</script></body>"
    (tmp_path / "page.html").write_text(fa.explorer_page(comparison).replace("</body>", move), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'user'}", "--dump-dom"]
    done = subprocess.run(
        [BROWSER, *options, (tmp_path / "page.html").as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    parts = re.findall(r'<div data-column="2" data-step="(\d)"( hidden="")?>', done.stdout)
    assert {step for step, hidden in parts if not hidden} == {str(place)}
    assert {step for step, hidden in parts if hidden} == {"0", "1", "2"} - {str(place)}
