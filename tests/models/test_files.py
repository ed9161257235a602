"""Files that are written: the old one stays until the new one is complete."""

import errno
import os
import re
import shutil
import stat
import threading
from pathlib import Path

import pytest

import fairalloc as fa
from fairalloc.benchmarks import Setting, run
from fairalloc.cli import main
from fairalloc.models.files import writing
from fairalloc.models.files.writing import check_writable, make_folder, write_file
from fairalloc.theorems.standalone import script as scripts


@pytest.fixture
def full(monkeypatch):
    """A disk that is full: half of the content is written, and then no more."""

    def fill(new, data):
        new.write_bytes(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writing, "_fill", fill)


def test_a_file_is_replaced_with_its_mode(tmp_path):
    file, link = tmp_path / "a.txt", tmp_path / "link"
    write_file(file, "old")
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~_umask()
    file.chmod(0o640)
    link.symlink_to(file.name)
    write_file(link, b"new \xc3\xa9")
    assert file.read_text("utf-8") == "new é"
    assert (link.is_symlink(), stat.S_IMODE(file.stat().st_mode)) == (True, 0o640)
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "link"]


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_what_is_no_file_is_written_where_it_is(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    check_writable(tmp_path / "pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_text()))
    reader.start()
    write_file(tmp_path / "pipe", "text")
    reader.join(10)
    assert found == ["text"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_device_that_is_full_is_one_sentence(capsys):
    assert main(["export", "wang-fig2", "--output", "/dev/full"]) == 2
    assert capsys.readouterr().err == "fairalloc: --output: '/dev/full' cannot be written: No space left on device\n"


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("old")
    for path, why in (
        (tmp_path, "Is a directory"),
        (tmp_path / "no" / "a", "No such file"),
        (1, "expected str"),
        (None, "expected"),
    ):
        for call in (check_writable, lambda path: write_file(path, "new")):
            with pytest.raises(fa.InstanceError, match=f"cannot be written: {why}"):
                call(path)
    (tmp_path / "a").chmod(0o400)
    if os.geteuid():  # root may write what it likes
        with pytest.raises(fa.InstanceError, match="cannot be written: Permission denied"):
            write_file(tmp_path / "a", "new")
    check_writable(tmp_path / "b")
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


COMMANDS = {
    "a.lp": "export wang-fig2 --output a.lp",
    "a.py": "export wang-fig2 --format py --output a.py",
    "a.svg": "solve wang-fig2 --plot a.svg",
    "a.png": "solve wang-fig2 --plot a.png",
    "a.pdf": "solve wang-fig2 --plot a.pdf",
    "r.html": "bench report r.sqlite",
    "a.md": "bench report r.sqlite --format markdown --output a.md",
    "a.tex": "bench report r.sqlite --format latex --output a.tex",
    "a.csv": "bench report r.sqlite --format csv --output a.csv",
    "a.json": "bench report r.sqlite --format json --output a.json",
    "b.svg": "bench report r.sqlite --figure profile b.svg",
    "c.png": "bench report r.sqlite --figure memory c.png",
    "verdicts.json": "simulate P.Table4 --small --records s.sqlite --keep verdicts.json",
    "P.Table4.svg": "simulate P.Table4 --small --records s.sqlite --figures .",
    "fairalloc/data-folder": "data .",
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A folder with the records of a small run and of a small experiment."""
    folder = tmp_path_factory.mktemp("measured")
    setting = Setting(repeats=1, time_limit=20)
    case = "generic-20x5x2/drfh"
    run("scaling", folder / "r.sqlite", ["highs"], [case], setting, progress=False)
    main(["simulate", "P.Table4", "--small", "--records", str(folder / "s.sqlite")])
    return folder


@pytest.mark.deep
@pytest.mark.parametrize("name", COMMANDS)
def test_on_a_full_disk_the_old_file_stays(measured, tmp_path, monkeypatch, capsys, full, name):
    shutil.copytree(measured, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("MPLCONFIGDIR", str(measured))  # who draws first writes there
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("{}")
    before = sorted(tmp_path.rglob("*"))
    assert main(COMMANDS[name].split()) == 2
    sentence = capsys.readouterr().err
    assert sentence.endswith("cannot be written: No space left on device\n")
    assert sentence.count("\n") == 1
    assert (tmp_path / name).read_text() == "{}"
    assert sorted(tmp_path.rglob("*")) == before


def test_on_a_full_disk_scripts_and_documents_stay(tmp_path, monkeypatch, full):
    wang = fa.example("wang-fig2").instance
    monkeypatch.setattr(scripts, "all_statements", lambda: ["K.E111"])
    calls = {
        "i.json": lambda: fa.write_instance(wang, tmp_path / "i.json"),
        "a.json": lambda: fa.write_allocation(fa.solve(wang, "drfh"), tmp_path / "a.json"),
        "K.E111.py": lambda: scripts.write_scripts(tmp_path),
    }
    for name, call in calls.items():
        (tmp_path / name).write_text("old")
        with pytest.raises(fa.InstanceError, match="No space left on device"):
            call()
        assert (tmp_path / name).read_text() == "old"
    assert len(os.listdir(tmp_path)) == len(calls)


def test_nothing_else_in_the_package_opens_a_file_to_write():
    root = Path(fa.__file__).parent
    writing = [file for room in (*fa.ROOMS, "cli", ".") for file in (root / room).glob("*.py" if room == "." else "**/*.py")]
    found = {file.relative_to(root).as_posix() for file in writing if WRITES.search(file.read_text("utf-8"))}
    assert found == {"models/files/writing.py", *OTHERS}


WRITES = re.compile(r"""write_text|write_bytes|\.to_csv|open\([^)]*["'](w|a|x|wb|ab|xb)["']|savefig\((?!drawn|file,)""")

OTHERS = {
    "runs/server.py": "pipes between processes",
    "solvers/backends/pyomo.py": "a model for Ipopt, in a temporary folder",
    "__init__.py": "nothing, where standard error is closed",
    "cli/output.py": "nothing, where standard output is closed",
}


def test_a_folder_is_made_or_refused_in_one_sentence(tmp_path):
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "c", "\0"):
        with pytest.raises(fa.InstanceError, match="cannot be written: "):
            make_folder(place)
