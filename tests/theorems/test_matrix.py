"""The matrix mechanism x property: what a cell says, families of parameters, its forms, the printed tables beside it."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import product

import numpy as np
import pytest
from plain_judges import as_told
from scipy.optimize import linprog

from fairalloc.analysis.verdict import FOR_ALL, Verdict, for_the_answer_of
from fairalloc.cli import main
from fairalloc.formulations import MECHANISMS, mechanism
from fairalloc.models import Instance
from fairalloc.models.examples.published import example
from fairalloc.models.transformations.own_time import own_time
from fairalloc.theorems.cases import Case, parse_case
from fairalloc.theorems.cells import AT_TWO, JOBS, LEGEND, MISREPORTED, SAME, SCOPE, Column, row_of, scope
from fairalloc.theorems.conflict import conflict
from fairalloc.theorems.hypotheses import Hypotheses
from fairalloc.theorems.implications import BETWEEN_MECHANISM_PROPERTIES, BETWEEN_MISREPORTS, follows
from fairalloc.theorems.matrix import ASSUMED, TOGETHER, comparison, matrix, printed_tables, recorded_matrices, write_matrix
from fairalloc.theorems.ours import OF_JOBS, ids_of, ours
from fairalloc.theorems.packaged_files import packaged_toml
from fairalloc.theorems.printed import PRINTED
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search import our_cells
from fairalloc.theorems.search.our_cells import ENOUGH, known_cells
from fairalloc.theorems.search.search import Limit, Search, seeded
from fairalloc.theorems.search.witnesses import OURS, WitnessRecord, kept_witnesses, packaged, verify_witness
from fairalloc.theorems.statement import UNFINISHED, Finding, Statement, Status, verdict_document
from fairalloc.theorems.titles import title_of

STATEMENTS = all_statements()


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """A terminal that is wider than the matrix may be."""
    monkeypatch.setenv("COLUMNS", "200")


def unasked(_):
    raise AssertionError("a matrix tries no case")


def about(mechanism, name, key="Z.1", **changes):
    base = Statement(key, "planted", "nowhere", "all", unasked, unasked, Hypotheses(), mechanism=mechanism, property=name)
    return replace(base, **changes)


def found(status, trials=30, case=None, **more):
    verdict = None if case is None else Verdict("p", False, 1.0, "so", "rational arithmetic")
    return Finding("", Status(status), "a sentence", trials, {}, case, verdict, **more)


def made(*pairs, mechanisms=(), properties=()):
    return matrix({item.id: item for item, _ in pairs}, {item.id: one for item, one in pairs}, mechanisms, properties)


def only_cell(*pairs):
    result = made(*pairs)
    assert len(result.columns) == len(result.properties) == 1
    return result.cells[result.properties[0], result.columns[0]]


ANY = Case(Instance([[1]], [[1]]))
SIMPLEX = Hypotheses(simplex=True)


# ---- cells -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "quantifier", "symbol"),
    [
        ("proved", "all", "✓"),
        ("proved by machine", "all", "M"),
        ("refuted", "all", "✗"),
        ("proved", "some", "✗"),
        ("not refuted", "all", "○"),
        ("not decided", "all", "?"),
        ("not decided", "some", "?"),
        ("not decided: violated in floating point", "all", "~"),
    ],
)
def test_a_cell_is_one_symbol(status, quantifier, symbol):
    cell = only_cell((about("lmmf", "envy-freeness", quantifier=quantifier), found(status, case=ANY)))
    assert (cell.symbol, cell.statement) == (symbol, "Z.1")
    assert symbol in LEGEND
    assert cell.note == {"○": "30 trials", "?": "30 cases"}.get(symbol, "")


@pytest.mark.parametrize(
    ("trials", "searched", "note"),
    [
        (1, {"time over": True}, "1 case, then the time was over"),
        (7, {UNFINISHED: "stopped"}, "7 cases, then the time was over"),
        (0, {UNFINISHED: "not begun"}, "not begun when the time was over"),
        (40, {"source": "record"}, ""),
    ],
)
def test_an_open_cell_says_how_many_cases_were_tried(trials, searched, note):
    finding = replace(found("not decided", trials), searched=searched)
    assert only_cell((about("lmmf", "envy-freeness"), finding)).note == note


def test_cells_of_one_value_of_alpha_say_so():
    """Below 1 neither has what its column says: K.3.3.fds.envy and K.3.3.fds.sharing."""
    for name in AT_TWO:
        assert mechanism(name).parameters["alpha"] == 2
        assert ours()[f"ours.{name}.envy-freeness"].text == f"{name}, alpha = 2 has envy-freeness."
    assert "alpha-fair and fds have alpha = 2" in ASSUMED
    assert "alpha-fair and fds have alpha = 2" in conflict(["envy-freeness"], "2x1x1", trials=1).grid.title


def test_conditions_stand_behind_the_symbol():
    """Which hypotheses hold, which cannot be left out, and what holds where more is assumed than in all violations."""
    holds = (about("lmmf", "envy-freeness", hypotheses=SIMPLEX), found("proved", needed={"simplex": ANY}))
    assert only_cell(holds).note == "if simplex"
    fails = (about("lmmf", "envy-freeness", "Z.2", quantifier="some"), found("proved", case=ANY))
    cell = only_cell(holds, fails)
    assert (cell.symbol, cell.statement, cell.note, cell.others) == ("±", "Z.2", "✓ if simplex", ("Z.1",))
    tried = (about("lmmf", "envy-freeness", hypotheses=SIMPLEX), found("not refuted", 1200))
    cell = only_cell(tried, fails)
    assert (cell.symbol, cell.note) == ("✗", "○ 1,200 trials if simplex")
    some = (tried[0], replace(tried[1], answers=for_the_answer_of("m")))
    every = (fails[0], replace(fails[1], answers=FOR_ALL))
    assert only_cell(some, every).note == "○° 1,200 trials if simplex", "not of all answers, as the violation is"
    less = (about("lmmf", "envy-freeness", "Z.3"), found("refuted", case=ANY))
    more = (about("lmmf", "envy-freeness", "Z.4", hypotheses=Hypotheses(simplex=True, one_server=True)), found("proved"))
    assert only_cell(holds, less, more).note == "✓ if simplex", "the weaker condition says it all"
    undecided = (about("lmmf", "envy-freeness", "Z.5"), found("not decided", 900))
    assert only_cell(undecided, holds).symbol == "✓", "the strongest evidence"


ZERO = Case(Instance([[1, 0], [1, 1]], [[1, 1]]))


def test_a_violation_says_whether_positive_demands_are_enough():
    zero = (about("asset", "strategyproofness"), found("refuted", case=ZERO))
    assert only_cell(zero).symbol == "⊗"
    positive = (about("asset", "strategyproofness", "Z.2", hypotheses=Hypotheses(positive=True)), found("refuted", case=ANY))
    cell = only_cell(zero, positive)
    assert (cell.symbol, cell.statement) == ("✗", "Z.2")
    larger = (about("asset", "strategyproofness", "Z.3"), found("refuted", case=Case(Instance([[1], [1]], [[1]]))))
    assert only_cell(positive, larger).statement == "Z.2", "the smallest witness"


def test_one_property_implies_another():
    """Forwards where it is proved, and backwards where it is violated, on the instances that the row speaks of."""
    group = about("asset", "group-strategyproofness")
    both = {"properties": ["strategyproofness", "group-strategyproofness"]}
    cells = made((group, found("proved")), **both).cells
    assert cells["strategyproofness", Column("asset")].symbol == "✓"
    single = about("asset", "strategyproofness")
    cells = made((single, found("refuted", case=ANY)), **both).cells
    assert cells["group-strategyproofness", Column("asset")].symbol == "✗"
    cells = made((single, found("proved")), (group, found("not refuted")), **both).cells
    assert cells["group-strategyproofness", Column("asset")].symbol == "○"
    weak = about("asset", "weak-sharing-incentive")
    heavy = Case(Instance([[1], [1]], [[1]], weights=[1, 2]))
    cells = made((weak, found("refuted", case=heavy)), properties=["sharing-incentive"]).cells
    assert {cell.symbol for cell in cells.values()} == {""}, "weak sharing incentive is for equal weights"


def test_a_case_with_limits_decides_no_cell_but_of_rows_about_them():
    """The tables are about users without limits; in somebody's own claims the hypotheses say it."""
    limited = Case(Instance([[1], [1]], [[1]], max_tasks=[1, None]))
    free = about("njc", "envy-freeness", "Z.2", hypotheses=Hypotheses(unlimited=False, one_server=True))
    assert only_cell((free, found("refuted", case=limited))).symbol == ""
    larger = Case(Instance([[1, 1], [1, 1], [1, 1]], [[1, 1]]))
    beside = about("njc", "envy-freeness", "Z.3")
    assert only_cell((free, found("refuted", case=limited)), (beside, found("refuted", case=larger))).statement == "Z.3"
    assert only_cell((replace(free, id="mine"), found("refuted", case=limited))).symbol == "✗"
    tasks = about("nb", "strategyproofness", hypotheses=Hypotheses(unlimited=False, reports="tasks"))
    assert only_cell((tasks, found("refuted", case=limited))).symbol == "✗"


def test_a_family_takes_what_is_known_of_the_mechanism_that_it_is():
    game = about("alpha-pf-vds", "envy-freeness", hypotheses=Hypotheses(parameters={"alpha": (1, 2, "inf")}))
    fair, bargain = about("ps-dsf", "pareto", "Z.2"), about("nb", "population-monotonicity", "Z.3")
    cells = made((game, found("proved")), (fair, found("refuted", case=ANY)), (bargain, found("refuted", case=ANY))).cells
    at = {family: Column("alpha-pf-vds", family) for family in ("alpha = 1", "alpha > 1", "alpha = inf")}
    assert [cells["pareto", at[family]].statement for family in at] == ["", "", "Z.2"]
    assert [cells["population-monotonicity", at[family]].statement for family in at] == ["Z.3", "", ""]


# ---- families --------------------------------------------------------------------------------------------------------


def test_parameters_are_grouped_into_families():
    """K Theorem 3: Pareto optimality is claimed for alpha = 1, and the mechanism's default is 2."""
    one = about("alpha-pf-vds", "pareto", hypotheses=Hypotheses(parameters={"alpha": (1,)}))
    many = about("alpha-pf-vds", "market", "Z.2", hypotheses=Hypotheses(parameters={"alpha": (0.5, 1, 3, "inf", (1, 2))}))
    result = made((one, found("proved")), (many, found("not refuted")))
    assert [column.family for column in result.columns] == [
        "alpha < 1",
        "alpha = 1",
        "alpha > 1",
        "alpha = inf",
        "alpha by server",
    ]
    assert result.grid.rows == [["pareto", "", "✓", "", "", ""], ["market", *"○○○○○"]]
    assert "                         alpha-pf-vds\nproperty                 <1 =1 >1 inf mix\n" in result.text()
    plain = made((about("alpha-pf-vds", "pareto"), found("proved")))
    assert plain.grid.columns == ["property", "alpha-pf-vds"], "no statement says which alpha"
    both = made((about("alpha-pf-vds", "pareto"), found("proved")), (many, found("not refuted")))
    assert both.grid.rows[0] == ["pareto", "", "✓", "✓", "", ""], "the default is 2, and nb is Pareto optimal"


def test_a_paper_names_the_family_of_each_server_as_in_the_head_of_its_column():
    mixed = about("alpha-pf-vds", "market", hypotheses=Hypotheses(parameters={"alpha": (1, (1, 2))}))
    text = made((mixed, found("proved"))).latex()
    assert "property & $=1$ & $\\alpha_i$ \\\\\n" in text


def test_a_violation_counts_in_the_family_of_its_case():
    item = about("alpha-pf-vds", "uniqueness", hypotheses=Hypotheses(parameters={"alpha": (1, 5)}))
    case = replace(ANY, parameters={"alpha": 5})
    assert made((item, found("refuted", case=case))).grid.rows == [["uniqueness", "?", "✗"]]


# ---- forms -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def few():
    case = Case(example("zarchy-ex3").instance)
    broken = about("lmmf", "envy-freeness", "Z.1", quantifier="some", table="Z.Table1")
    simplex = about("lmmf", "envy-freeness", "Z.2", hypotheses=SIMPLEX, table="Z.Table2")
    wrong = about("tsf", "pareto", "K.3", table="K.Table1")
    return made((broken, found("proved", 5, case)), (simplex, found("not refuted")), (wrong, found("refuted", 9, case)))


def test_the_printed_tables_stand_beside_it(few):
    printed = comparison(PRINTED["K.Table1"], few.statements, few.findings)
    assert "✓ printed, DISAGREES: violated" in dict(zip(printed.columns, printed.rows[2], strict=True)).values()
    assert printed.rows[2][0] == "pareto"


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "html"])
def test_the_matrix_is_written_in_every_form(few, form):
    text = write_matrix([few], form, printed_tables(few))
    assert "lmmf" in text
    assert "DISAGREES" in text
    if form == "table":
        assert max(len(line) for line in text.splitlines()) <= 120
    if form == "latex":
        assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 4
        assert r"envy-freeness & \statement{Z.1}{$\times^{1}$} & " in text
        assert text.count("{") == text.count("}")
    if form == "html":
        page = Anchors()
        page.feed(text)
        assert page.links
        assert page.links <= page.anchors, "every cell leads to its statement"
        assert page.open == []
        assert "Instance([[[1]], [[&#x27;1/2&#x27;]]], [[1]])" in text
        assert "http" not in text.replace("http-equiv", "")


class Anchors(HTMLParser):
    """Links, anchors and elements that were not closed."""

    def __init__(self):
        super().__init__()
        self.links, self.anchors, self.open = set(), set(), []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag != "meta":
            self.open.append(tag)
        if "id" in attrs:
            self.anchors.add(attrs["id"])
        if tag == "a":
            self.links.add(attrs["href"].removeprefix("#"))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_long_name_is_folded_and_a_wide_table_is_cut():
    pairs = [(about(f"mechanism-number-{k}", "a-property-with-a-long-name", f"Z.{k}"), found("proved")) for k in range(20)]
    text = made(*pairs).text()
    assert max(len(line) for line in text.splitlines()) <= 120
    assert text.count("\nproperty ") == 2
    assert text.count("a-property-with-a-long-\nname") == 2, "in both parts"


# ---- from the record -------------------------------------------------------------------------------------------------


def test_the_command_draws_the_matrix_from_the_record(capsys, monkeypatch):
    """Nothing is confirmed or searched; it fits into 120 columns, notes have one line, and every cell names its statement."""
    monkeypatch.setattr(Statement, "violated", unasked)
    assert main(["matrix"]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert max(map(len, lines)) <= 120
    first, _, second = out.partition("\nOther properties\n")
    assert re.search(r"^pareto +✓\S* +[✗⊗]\S* +✓∀ +[✗⊗]", first, re.MULTILINE), "alpha-pf-vds at alpha = 1 alone"
    behind = first.partition("The statements behind the cells")[2]
    assert "W.S4.5.identical" in behind
    assert "P.II-B.cdrf.sharing" in behind
    assert not re.search(r"^(pareto|uniqueness) ", second.partition("printed")[0].partition("behind")[0], re.MULTILINE)
    assert main(["theorems", "show", "ours.asset.population-monotonicity"]) == 0
    assert "user 'u1' runs 0.75 tasks instead of 0.8" in capsys.readouterr().out


KNOWN = known_cells()


def test_every_cell_of_the_record_leads_to_its_statement():
    first, second, _ = recorded_matrices(*KNOWN)
    assert first.properties == [*SCOPE]
    assert {column.mechanism for column in first.columns} == set(MECHANISMS)
    assert not {*second.properties} & {*SCOPE}
    marks = {(name, str(column)): cell.symbol for made in (first, second) for (name, column), cell in made.cells.items()}
    for made in (first, second):
        page = made.html(lambda kind, name: f"{kind}/{name}")
        assert len(made.legend) <= 8
        for cell in made.cells.values():
            if cell.symbol and cell.symbol not in "·":
                assert cell.statement in KNOWN[0] or cell.why
                led = f"statement/{cell.statement}" if cell.statement else "implications/"
                assert f'<a href="{led}' in page
    assert marks["sharing-incentive", "drfh"] == marks["strategyproofness", "lmmf"] == "±"
    assert marks["envy-freeness", "alpha-pf-vds, alpha < 1"] == "✗"
    assert marks["envy-freeness", "alpha-pf-vds, alpha > 1"] == marks["pareto", "utilitarian"] == "✓"
    assert marks["polynomial-time", "nb"] == "○"
    families = ("alpha < 1", "alpha > 1", "alpha by server")
    assert [marks["uniqueness", f"alpha-pf-vds, {family}"] for family in families] == ["✗", "±", "✗"]
    above = first.cells["uniqueness", Column("alpha-pf-vds", "alpha > 1")].statement
    assert above == "K.3.4.ties", "with B = 0, as in all other cells; the case of K.L2 needs B > 0, which is no parameter of it"
    assert marks["envy-freeness", "njc"] == marks["uniqueness", "njc"] == "✗"
    assert KNOWN[1][first.cells["envy-freeness", Column("njc")].statement].case.instance.max_tasks.min() == np.inf


def test_violations_with_a_zero_demand_alone_are_few():
    """Of ten such cells nobody had looked for a violation with positive demands, and all but two of ps-dsf have one."""
    first, _, third = recorded_matrices(*KNOWN)
    left = {(name, str(column)) for table in (first, third) for (name, column), cell in table.cells.items() if cell.symbol == "⊗"}
    kinds = ("strategyproofness-in-demands", "group-strategyproofness-in-demands")
    assert left == set(product(kinds, ("ps-dsf", "alpha-pf-vds, alpha = inf")))
    shares = ("asset", "drf", "drfh", "h-drf", "lmmf", "nested-leximin", "tsf")
    told = {first.cells["population-monotonicity", Column(name)] for name in shares}
    assert {cell.symbol for cell in told} == {"±"}
    assert {cell.note for cell in told} == {"✓ if positive"}
    assert first.cells["pareto", Column("drfh-lp")].note == "✓ if everywhere, positive", "weights may differ"
    assert first.cells["population-monotonicity", Column("ps-dsf")].note == "✓∃ if positive", "by others somebody may lose"
    key = "ours.ps-dsf.population-monotonicity.positive"
    assert title_of(KNOWN[0][key], KNOWN[1][key].status) == "PS-DSF is population monotonic for positive demands by some answers"
    assert any("∃ for some" in line for line in third.legend), "a mark of a note alone is explained, too"


def test_a_cell_has_the_smallest_witness_of_all_tables():
    """The first table left out what is about demands alone, and searches that began with a case looked for no smaller one."""
    first, _, third = recorded_matrices(*KNOWN)
    assert all(first.cells[name, column] == third.cells[name, column] for name in TOGETHER for column in first.columns)
    pairs = (("strategyproofness", "utilitarian"), ("population-monotonicity", "fds"), ("strategyproofness", "nb"))
    cases = [KNOWN[1][first.cells[name, Column(column)].statement].case.instance for name, column in pairs]
    assert [(it.N, it.K, it.R) for it in cases] == [(2, 1, 1), (3, 1, 2), (2, 1, 2)]


def test_a_job_is_no_hint_for_users_with_positive_demands():
    """A job has time of its own and demands nobody else's, which are zeros of its demands for any other mechanism."""
    hints = list(our_cells._hints(ours()["ours.mmf.uniqueness.positive"]))
    assert hints
    assert not any((own_time(case.instance) >= 0).any() for case in hints)
    for witness in packaged(OURS).witnesses:
        item = ours()[witness["statement"]]
        if item.hypotheses.positive and item.mechanism not in JOBS:
            demands = parse_case(witness["case"]).instance.exact.demands
            assert all(v > 0 for rows in demands for row in rows for v in row), item.id


def test_at_most_fifteen_of_a_hundred_cells_are_open():
    first, *_ = recorded_matrices(*KNOWN)
    left = [(name, str(column)) for (name, column), cell in first.cells.items() if cell.symbol in ("", "·", "?")]
    assert len(left) <= 0.15 * len(first.cells), left


def test_every_cell_about_misreports_is_proved_refuted_or_tried_in_2000_cases():
    first, _, third = recorded_matrices(*KNOWN)
    assert [*third.properties] == ["strategyproofness", "group-strategyproofness", *MISREPORTED]
    assert third.columns == first.columns
    left = [(name, str(column)) for (name, column), cell in third.cells.items() if cell.symbol not in "✓✗⊗±○"]
    assert {pair[0] for pair in left if pair[1] in JOBS} == {*MISREPORTED}, "jobs report rates, and nothing else alone"
    assert [pair for pair in left if pair[1] not in JOBS] == []
    for (name, column), cell in third.cells.items():
        assert cell.symbol != "○" or KNOWN[1][cell.statement].trials >= ENOUGH, (name, column)
    marks = {(name, str(column)): cell.symbol for (name, column), cell in third.cells.items()}
    assert marks["strategyproofness-in-servers", "nb"] in "✗⊗"
    assert marks["strategyproofness-in-demands", "lmmf"] != marks["strategyproofness-in-servers", "lmmf"] == "✓"
    own = {symbol for (name, column), symbol in marks.items() if name.endswith("-in-tasks") and column not in JOBS}
    assert own == {"✓"}


def test_rows_that_speak_of_jobs_are_decided_for_the_policies_of_gavel():
    first, *_ = recorded_matrices(*KNOWN)
    for name, column in product(OF_JOBS, JOBS):
        cell = first.cells[name, Column(column)]
        assert cell.symbol == "✗", (name, column)
        assert (own_time(KNOWN[1][cell.statement].case.instance) >= 0).all()
    assert {first.cells[name, Column(column)].symbol for name in {*SCOPE} - OF_JOBS for column in JOBS} == {"·"}


@pytest.mark.parametrize("key", [key for key in ours() if key.startswith("ours.gavel") and "strategy" in key])
def test_who_lies_to_gavel_gains_by_a_program_written_out_here(key):
    """Over all optima the worst after the report beats the best before it where that is said, else some after it some before."""
    finding = KNOWN[1][key]
    truth, reported = finding.case.instance, finding.case.reported
    (T, z, _), (_, told, _) = raw(truth), raw(reported)
    for n in finding.case.misreport.users:
        worker = np.divide(T[n], z[n], out=np.zeros_like(z[n]), where=z[n] > 0)  # true tasks a second
        before, after = optima(truth, "makespan" in key, n, T[n]), optima(reported, "makespan" in key, n, told[n] * worker)
        assert after[1] > before[0] + 1e-6
        assert finding.answers != FOR_ALL or after[0] > before[1] + 1e-6


def raw(instance):
    """T (N, K) rates and z (N, K) workers of each job on each kind, 0 where it does not run, and the workers (K,) there are."""
    own = own_time(instance)
    kinds = [r for r in range(instance.R) if r not in own]
    T, z = np.zeros((2, instance.N, len(kinds)))
    for n, rows in enumerate(instance.demands):
        for row in rows:
            (k,) = np.flatnonzero(row[kinds])
            T[n, k], z[n, k] = 1 / row[own[n]], row[kinds][k] / row[own[n]]
    return T, z, instance.pools[0, kinds]


def optima(instance, makespan, n, worth):
    """The least and the most of sum_k worth_k X_nk over all optima of Gavel's program in parts X_nk of time and the level g."""
    T, z, workers = raw(instance)
    N, K = T.shape
    equal = T @ workers / workers.sum() / z.max(axis=1)
    level = T / (instance.weights if makespan else instance.weights * equal)[:, None]
    own = np.kron(np.eye(N), np.ones(K))
    blocks = np.vstack([np.hstack([row[None] * np.eye(K) for row in z]), own, -own * level.ravel()])
    A = np.hstack([blocks, np.concatenate([np.zeros(K + N), np.ones(N)])[:, None]])
    b = np.concatenate([workers, np.ones(N), np.zeros(N)])
    bounds = [(0, None if rate else 0) for rate in T.ravel()]
    best = -linprog(np.append(np.zeros(N * K), -1), A, b, bounds=[*bounds, (0, None)]).fun
    cost = np.zeros(N * K + 1)
    cost[n * K : (n + 1) * K] = worth
    ends = (linprog(sign * cost, A, b, bounds=[*bounds, (best * (1 - 1e-9), None)]).fun for sign in (1, -1))
    return next(ends), -next(ends)


def test_a_statement_about_one_kind_of_misreport_has_a_row_of_its_own():
    item = ours()["ours.nb.strategyproofness-in-servers"]
    assert (item.property, row_of(item)) == ("strategyproofness", "strategyproofness-in-servers")
    assert str(item.hypotheses).endswith("misreported servers")
    assert row_of(ours()["ours.nb.strategyproofness"]) == "strategyproofness"
    assert not ours()["ours.nb.strategyproofness-in-tasks"].hypotheses.unlimited


def test_no_cell_contradicts_an_implication():
    """A property that follows from a definition is violated by nobody, and one that implies another is violated where that is."""
    first, _, third = recorded_matrices(*KNOWN)
    for (name, column), cell in first.cells.items():
        mechanism = SAME.get((column.mechanism, column.family), column.mechanism)
        if follows(mechanism, name, {*Hypotheses().words, *scope(mechanism, name)}):
            assert cell.symbol == "✓", (name, column)
    cells = {**first.cells, **third.cells}
    for arrow in (*BETWEEN_MECHANISM_PROPERTIES, *BETWEEN_MISREPORTS):
        for column in first.columns:
            pair = cells[arrow.premise, column].symbol, cells[arrow.conclusion, column].symbol
            assert pair not in {("✓", "✗"), ("✓", "⊗"), ("✓", "±")}, (arrow.premise, column)


def test_our_claims_on_record_keep_their_cases():
    """Violations are confirmed again with their margins; what is not refuted was tried on 2,000 exact cases with a known seed."""
    record = packaged(OURS)
    assert {*record.searched} <= {*ours()}
    for key, last in record.searched.items():
        assert last["status"] in (Status.REFUTED, Status.NOT_REFUTED)
        assert last["status"] == Status.REFUTED or (last["trials"] >= ENOUGH and "seed" in last), key
    quick = [one for one in record.witnesses if not one["statement"].startswith(SLOW)]
    assert len(quick) > 50
    for witness in quick:
        verdict = verify_witness(ours()[witness["statement"]], witness)
        assert verdict, witness["statement"]
        assert as_told(verdict_document(verdict)) == as_told(witness["verdict"]), "it is told as it would be today"


SLOW = ("ours.alpha", "ours.fds", "ours.ps-dsf", "ours.nb", "ours.njc")
"""Claims whose confirmation takes longer."""


@pytest.mark.deep
def test_the_slow_claims_keep_their_cases():
    for witness in packaged(OURS).witnesses:
        if witness["statement"].startswith(SLOW):
            assert verify_witness(ours()[witness["statement"]], witness), witness["statement"]


def test_a_wrong_case_on_record_is_seen():
    record = packaged(OURS)
    witness = next(one for one in record.witnesses if one["statement"] == "ours.asset.population-monotonicity")
    fairer = {**witness, "case": Case(Instance([[1], [1]], [[1]])).document()}
    assert not verify_witness(ours()[witness["statement"]], fairer)
    assert not verify_witness(ours()["ours.utilitarian.population-monotonicity"], witness)


def test_our_proofs_serve_claims_that_no_case_violates():
    record = packaged(OURS)
    proved = {key for key, item in ours().items() if item.proof}
    assert proved
    assert not proved & {*record.searched}
    lines = [line for one in packaged_toml("ours.toml").values() for line in one["cells"]]
    assert all(key in ours() for line in lines for key in ids_of(line))


@pytest.mark.deep
@pytest.mark.parametrize("key", [key for key, item in ours().items() if item.proof and item.proof_name != "nothing to report"])
def test_no_search_refutes_what_we_prove(key):
    made = Search(ours()[key], seeded(ours()[key], 7), Limit(500, 60))
    violation = made.run()
    assert violation is None
    assert made.trials > 0


@pytest.mark.few(1)
@pytest.mark.parametrize("key", ["ours.asset.pareto", "ours.uniform.pareto"])
def test_the_search_of_our_claims_fills_a_record(key, tmp_path, monkeypatch):
    monkeypatch.setattr(our_cells, "ENOUGH", 25)
    monkeypatch.setattr(our_cells, "everything", WitnessRecord)
    (finding,) = our_cells.fill(tmp_path / "ours.json", [key], seconds=2)
    kept = kept_witnesses(tmp_path / "ours.json")
    holds = key == "ours.asset.pareto"
    assert finding.status == (Status.NOT_REFUTED if holds else Status.REFUTED)
    assert (kept.searched[key]["trials"] >= 25) or not holds
    assert len(kept.witnesses) == (not holds)


def test_limits_of_a_search_need_something_to_search(capsys):
    for option in (["--time-limit", "5s"], ["--seed", "1"], ["--trials", "3"]):
        assert main(["matrix", *option]) == 2
        assert f"{option[0]} is about cells that are searched" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("body", "error"), [("raise OSError('no\\nsuch')", "OSError: no such"), ("raise SystemExit(4)", "SystemExit: 4")]
)
def test_a_property_that_fails_is_said_to_fail(body, error, tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text(f"def mine(allocation):\n    {body}\n")
    assert main(["matrix", "-m", "uniform", "--property", f"{file}:mine", "--trials", "3", "--time-limit", "5s"]) == 0
    assert f"1  the check failed on 3: {error}\n" in capsys.readouterr().out


def test_a_mechanism_without_an_id_or_a_model_is_refused(tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text("import fairalloc as fa\nclass A(fa.Mechanism):\n    pass\nclass B(fa.Mechanism):\n    id = 'b'\n")
    for name, says in (("A", "the id of the mechanism A is '', but it must be a name"), ("B", "mechanism 'b' has no model")):
        assert main(["matrix", "-m", f"{file}:{name}", "--property", "pareto"]) == 2
        assert says in capsys.readouterr().err


def test_what_is_registered_and_not_examined_is_in_the_matrix():
    claim = STATEMENTS["K.2.2.tsf.pareto"]
    result = made((claim, found("not refuted")), mechanisms=[*MECHANISMS, "new"], properties=["new-property"])
    grid = result.grid
    assert set(grid.columns[1:]) == {*MECHANISMS, "new"}
    marks = {(row[0], column): cell for row in grid.rows for column, cell in zip(grid.columns, row, strict=True)}
    assert marks["pareto", "new"] == marks["new-property", "tsf"] == "·"
    assert marks["pareto", "drfh"] == "✓"
    assert "· not examined" in grid.notes


def test_what_follows_from_a_definition_needs_no_statement():
    """The matrix says so; conditions stop a chain."""
    assert "uniform" not in follows("nb", "pareto")
    assert follows("nb", "feasibility")
    assert follows("drf-per-server", "envy-freeness")
    assert not follows("ps-dsf", "envy-freeness"), "the arrow has a condition"
    assert follows("ps-dsf", "envy-freeness", Hypotheses().words)
    assert not follows("drfh", "single-server-reduction", Hypotheses().words)
    assert follows("drfh", "single-server-reduction", Hypotheses(one_server=True).words)
    claim = STATEMENTS["K.2.2.tsf.pareto"]
    other = replace(claim, id="W.y", mechanism="nb", property="envy-freeness")
    grid = made((claim, found("not refuted")), (other, found("not refuted"))).grid
    assert grid.columns == ["property", "nb", "tsf"]
    assert grid.rows[0][:2] == ["pareto", "✓"], "nb is Pareto optimal, whatever is asked of tsf"
    assert grid.rows[1][2] == "", "that tsf is envy-free is no matter of definition"
