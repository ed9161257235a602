"""The record store: layout, files that are damaged or of something else, what is kept when a process is killed."""

import re
import signal
import sqlite3
import subprocess
import sys

import pytest

from fairalloc.benchmarks import BenchmarkError
from fairalloc.benchmarks.records import BenchmarkStore
from fairalloc.models.errors import InstanceError
from fairalloc.runs.store import RecordStore
from fairalloc.theorems.search.witnesses import FindingStore


class Notes(RecordStore):
    """A store of one table."""

    kind, contents, layout = "file of notes", "notes", 3
    tables = "CREATE TABLE IF NOT EXISTS note (key TEXT PRIMARY KEY, text TEXT);"


def notes(path):
    with Notes(path) as store:
        return store.select("SELECT key, text FROM note ORDER BY rowid")


def test_rows_are_kept_and_the_first_of_a_key_stays(tmp_path):
    path = tmp_path / "new folder" / "notes"
    with Notes(path) as store:
        store.insert("note", {"key": "a", "text": "first"})
        store.insert("note", {"key": "a", "text": "second"})
        store.insert("note", {"key": "b", "text": "x"})
        store.insert("note", {"key": "b", "text": "y"}, replace=True)
        assert store.select("PRAGMA journal_mode") == [("wal",)]
        assert notes(path) == [("a", "first"), ("b", "y")]
    assert [file.name for file in path.parent.iterdir()] == ["notes"]
    with Notes(path) as store:  # read without a change, so that it can be read where nothing can be written
        assert store.select("PRAGMA journal_mode") == [("delete",)]


def test_a_transaction_is_kept_as_a_whole_or_not(tmp_path):
    path = tmp_path / "notes"
    with Notes(path) as store:
        with pytest.raises(KeyboardInterrupt):
            _interrupted(store)
        with store.transaction():
            store.insert("note", {"key": "b", "text": ""})
    assert notes(path) == [("b", "")]


def _interrupted(store):
    with store.transaction():
        store.insert("note", {"key": "a", "text": ""})
        raise KeyboardInterrupt


def test_what_was_added_survives_a_kill(tmp_path):
    script = f"""
import os, signal, sys
from fairalloc.runs.store import RecordStore
class Notes(RecordStore):
    kind, contents, layout, tables = {Notes.kind!r}, {Notes.contents!r}, {Notes.layout!r}, {Notes.tables!r}
store = Notes({str(tmp_path / "notes")!r})
for k in range(50):
    store.insert("note", {{"key": str(k), "text": ""}})
store.write("BEGIN")
store.insert("note", {{"key": "not committed", "text": ""}})
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-P", "-c", script], check=False)
    assert done.returncode == -signal.SIGKILL
    assert [key for key, _ in notes(tmp_path / "notes")] == [str(k) for k in range(50)]


def test_a_file_that_is_no_database(tmp_path):
    path = tmp_path / "notes"
    path.write_text("text that is long enough to be looked at as a database" * 20)
    sentence = re.escape(f"{path} cannot be used as a file of notes: file is not a database")
    with pytest.raises(InstanceError, match=f"^{sentence}$"):
        Notes(path)
    assert path.read_text().startswith("text that"), "it is left as it was"


def test_a_database_of_something_else_is_left_alone(tmp_path):
    path = tmp_path / "other"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE mail (sender)")
    before = path.read_bytes()
    with pytest.raises(InstanceError, match="is no file of notes, but a database with the tables mail"):
        Notes(path)
    assert path.read_bytes() == before


def test_records_and_findings_are_not_taken_for_each_other(tmp_path):
    with FindingStore(tmp_path / "findings"), BenchmarkStore(tmp_path / "records"):
        pass
    with pytest.raises(BenchmarkError, match="is no records file, but a database with the tables finding, run, witness"):
        BenchmarkStore(tmp_path / "findings")
    with pytest.raises(InstanceError, match="is no file of findings, but a database with the tables plan, record"):
        FindingStore(tmp_path / "records")


def test_another_layout(tmp_path):
    with Notes(tmp_path / "notes") as store:
        store.write("PRAGMA user_version = 2")
    with pytest.raises(InstanceError, match="has notes of layout 2, but this version writes 3: choose another file"):
        Notes(tmp_path / "notes")


def test_a_damaged_file_is_one_sentence(tmp_path):
    """The pages after the first are overwritten, which only reading them shows."""
    path = tmp_path / "notes"
    with Notes(path) as store:
        for k in range(2000):
            store.insert("note", {"key": str(k), "text": "x" * 50})
        store.write("PRAGMA wal_checkpoint(TRUNCATE)")
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    with Notes(path) as store, pytest.raises(InstanceError, match="cannot be used as a file of notes: database disk image"):
        store.select("SELECT * FROM note")
    path.write_bytes(data.replace(b"CREATE TABLE note", b"CREATE TABL\xff note"))
    with pytest.raises(InstanceError, match="cannot be used as a file of notes: "):
        Notes(path)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(InstanceError, match="cannot be used as a file of notes"):
        Notes(tmp_path)


def test_a_file_that_may_not_be_written(tmp_path):
    with Notes(tmp_path / "notes") as store:
        store.write("PRAGMA query_only = 1")
        with pytest.raises(InstanceError, match="nothing can be kept in the file of notes: attempt to write a readonly"):
            store.insert("note", {"key": "a", "text": ""})
