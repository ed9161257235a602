"""`fairalloc solve ... --plot FILE`: the figure beside the answer, which is printed whatever becomes of the figure."""

import pytest

pytest.importorskip("matplotlib", reason="pip install fairalloc[plots]")

SOLVE = ("solve", "wang-fig2", "--format", "csv")


@pytest.mark.few(1)
@pytest.mark.parametrize(("ending", "start"), [(".svg", b"<?xml"), (".PNG", b"\x89PNG"), (".pdf", b"%PDF")])
def test_the_ending_says_the_format_and_the_same_answer_is_the_same_file(run, tmp_path, ending, start):
    one, two = tmp_path / f"one{ending}", tmp_path / f"two{ending}"
    assert run(*SOLVE, "--plot", one) == run(*SOLVE) == run(*SOLVE, "--plot", two)
    assert one.read_bytes().startswith(start)
    assert one.read_bytes() == two.read_bytes()


def test_every_file_that_is_named_is_written(run, tmp_path):
    files = [tmp_path / "one.png", tmp_path / "two.svg"]
    assert run(*SOLVE, "--plot", files[0], "--plot", files[1])[0] == 0
    assert all(file.stat().st_size > 1000 for file in files)


def test_several_instances_are_panels_of_one_file(run, tmp_path):
    file = tmp_path / "both.svg"
    code, out, err = run("solve", "wang-fig2", "nowhere", "khamse-fig3", "--format", "csv", "--plot", file)
    assert code == 1
    assert "there is no file and no published example 'nowhere'" in out
    assert err == ""
    svg = file.read_text()
    assert ">wang-fig2: drfh</text>" in svg
    assert ">khamse-fig3: drfh</text>" in svg
    assert "nowhere" not in svg


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("figure.gif", "--plot is '{file}', but the name of a figure ends in .svg, .png, .pdf"),
        ("figure", "--plot is '{file}', but the name of a figure ends in .svg, .png, .pdf"),
        ("nowhere/figure.svg", "--plot: '{file}' cannot be written: No such file or directory"),
        ("folder.svg", "--plot: '{file}' cannot be written: Is a directory"),
    ],
)
def test_a_figure_that_cannot_be_written_is_refused_before_the_solve(run, tmp_path, name, sentence):
    (tmp_path / "folder.svg").mkdir()
    code, out, err = run(*SOLVE, "--plot", tmp_path / name)
    assert (code, out) == (2, "")
    assert err == f"fairalloc: {sentence.format(file=tmp_path / name)}\n"


@pytest.mark.usefixtures("without_matplotlib")
def test_without_matplotlib_the_answer_is_printed(run, tmp_path):
    code, out, err = run(*SOLVE, "--plot", tmp_path / "figure.svg")
    assert code == 2
    assert "u1,s1,10.0" in out
    assert err == "fairalloc: figures need matplotlib: pip install fairalloc[plots]\n"
    assert not (tmp_path / "figure.svg").exists()


def test_a_figure_has_room_for_a_dozen_allocations(run, tmp_path):
    code, out, err = run("solve", *["wang-fig2"] * 13, "--format", "jsonl", "--plot", tmp_path / "figure.svg")
    assert code == 2
    assert len(out.splitlines()) == 13
    assert err.endswith("figure.svg is not written: a figure shows 1 to 12 allocations, but there are 13\n")
