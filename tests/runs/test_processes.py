"""The pool: a child that hangs, dies, eats memory or prints garbage gives an error, and the next request is answered."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tolerances import AMPLE

from fairalloc.models.errors import NotInstalled
from fairalloc.runs import processes
from fairalloc.runs.processes import NoAnswer, Pool, Task

HANDLER = "handlers"
LONG = 120.0
SAY = {"do": "echo", "say": "hello"}


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parent)


@pytest.fixture
def pool():
    with Pool(HANDLER) as made:
        yield made


def ask(pool, do, seconds=LONG, memory_mb=None, **request):
    return pool.ask(Task({"do": do, **request}, seconds, memory_mb))


def alive(process):
    """Whether it runs; a process that has ended but was not waited for does not."""
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def running(*command):
    """The ids of processes with this command line."""
    wanted = "\0".join(command).encode() + b"\0"
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if file.read_bytes() == wanted:
                found.append(int(file.parent.name))
        except OSError:
            continue
    return found


def wait_for(condition):
    deadline = time.monotonic() + AMPLE
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)


@pytest.fixture
def marker():
    """The argument of a `sleep` that only this test starts."""
    return f"600.{time.monotonic_ns()}"


def test_every_request_has_a_child_of_its_own_and_one_server(pool):
    first, second = (ask(pool, "echo", say=word) for word in ("one", "two"))
    assert (first["said"], second["said"]) == ("one", "two")
    assert first["pid"] != second["pid"]
    assert [first["parent"], second["parent"]] == pool.process_ids * 2
    assert (first["prepared"], second["prepared"]) == (1, 2), "what is prepared stays"


def test_a_child_that_hangs_is_ended_with_all_that_it_started(pool, marker):
    assert ask(pool, "hang", seconds=1.0, child=marker) == NoAnswer("time", "it took too long")
    wait_for(lambda: not running("sleep", marker))
    assert ask(pool, **SAY)["said"] == "hello"


def test_the_clock_is_set_back_once_a_child_says_so(pool):
    assert ask(pool, "echo", say="", seconds=3.0, restart=2.0)["said"] == ""
    assert ask(pool, "hang", seconds=0.5, restart=0.1).cause == "time"


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("do", "expected"),
    [
        ("abort", NoAnswer("error", "its process ended by signal SIGABRT")),
        ("exit", NoAnswer("error", "its process ended with exit code 7 and no answer")),
        ("raise", NoAnswer("error", "ValueError: a & b <c>")),
        ("eat", NoAnswer("memory", "over the memory limit of 64 MB")),
        ("eat_and_die", NoAnswer("memory", "ended by itself: terminate called after throwing an instance of 'std::bad_alloc'")),
        ("garbage", NoAnswer("error", "its process wrote what is no answer: '\\x00� no answer\\n'")),
        ("no_document", NoAnswer("error", "TypeError: Object of type set is not JSON serializable")),
    ],
)
def test_what_goes_wrong_is_said_and_the_next_is_answered(pool, do, expected):
    assert ask(pool, do, memory_mb=64) == expected
    assert ask(pool, **SAY)["said"] == "hello"


def test_memory_within_the_limit_is_granted(pool):
    assert ask(pool, "eat", memory_mb=1024) == {"length": 2**28}


def test_what_a_child_prints_is_not_its_answer(pool):
    assert ask(pool, "print") == {"said": "the truth"}


def test_what_one_child_imports_later_ones_have(pool):
    assert [ask(pool, "import")["new"] for _ in range(2)] == [True, False]


def test_preparing_can_fail_die_and_hang(pool, monkeypatch):
    assert ask(pool, "echo", prepare="raise") == NoAnswer("error", "ValueError: a & b <c>")
    assert ask(pool, "echo", prepare="exit") == NoAnswer("error", "its process ended: it said nothing")
    assert ask(pool, **SAY)["said"] == "hello", "it is started again"
    monkeypatch.setattr(processes, "START", 1.0)
    monkeypatch.setattr(processes, "PREPARATION", 1.0)
    assert ask(pool, "echo", prepare="hang", seconds=1.0) == NoAnswer("time", "preparing it took too long")
    monkeypatch.undo()
    assert pool.process_ids == []


def test_a_server_that_is_killed_is_an_error_and_its_child_ends(pool, marker):
    pool.ask(Task(SAY, LONG))
    (server,) = pool.process_ids
    killer = f"while ! pgrep -f '^sleep {marker}$' > /dev/null; do sleep 0.05; done; kill -9 {server}"
    with subprocess.Popen(["sh", "-c", killer]):
        assert ask(pool, "hang", child=marker) == NoAnswer("error", "its process ended: it said nothing")
    for orphan in running("sleep", marker):  # what the child started is not ended when the server is killed
        os.kill(orphan, signal.SIGKILL)
    assert ask(pool, **SAY)["said"] == "hello"


def test_several_are_answered_at_the_same_time_and_each_gets_its_own():
    tasks = [Task({"do": "echo", "say": str(k) * 10**5}, LONG) for k in range(7)]
    with Pool(HANDLER, 3) as pool:
        found = {task.request["say"]: answer for task, answer in pool.answers(tasks)}
        assert len(pool.process_ids) == 3
    assert {say: answer["said"] for say, answer in found.items()} == {task.request["say"]: task.request["say"] for task in tasks}
    assert len({answer["parent"] for answer in found.values()}) == 3


def test_a_task_is_taken_only_when_a_server_is_free():
    taken = []

    def tasks():
        for k in range(5):
            taken.append(k)
            yield Task(SAY, LONG)

    with Pool(HANDLER, 2) as pool:
        answers = pool.answers(tasks())
        next(answers)
        assert taken == [0, 1]
        answers.close()


def test_who_stops_early_leaves_nothing_running(marker):
    with Pool(HANDLER, 2) as pool:
        tasks = [Task(SAY, LONG), Task({"do": "hang", "child": marker}, LONG)]
        answers = pool.answers(tasks)
        next(answers)
        wait_for(lambda: running("sleep", marker))
        servers = pool.process_ids
    wait_for(lambda: not running("sleep", marker))
    assert not any(map(alive, servers))


@pytest.mark.few(1)
@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_children_end_with_the_parent(tmp_path, marker, stop):
    """Also where it is killed and closes nothing."""
    script = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from fairalloc.runs.processes import Pool, Task
with Pool({HANDLER!r}) as pool:
    pool.ask(Task({SAY!r}, 60))
    print(*pool.process_ids, flush=True)
    pool.ask(Task({{"do": "hang", "child": {marker!r}}}, 600))
"""
    start = [sys.executable, "-P", "-c", script]
    with subprocess.Popen(start, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as parent:
        assert parent.stdout is not None
        server = int(parent.stdout.readline())
        wait_for(lambda: running("sleep", marker))
        parent.send_signal(stop)
    wait_for(lambda: not running("sleep", marker))
    wait_for(lambda: not alive(server))


def test_more_seconds_than_can_be_waited_for(pool):
    assert ask(pool, **SAY, seconds=1e30)["said"] == "hello"


def test_an_operating_system_without_limits_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)
    with pytest.raises(NotInstalled, match="processes with limits need an operating system that can fork"):
        Pool(HANDLER)


def test_an_answer_is_a_document_with_an_answer():
    for line in (b"", b"1\n", b"[]\n", b"{}\n", b'{"cause": "time"}\n', b'{"answer"\n'):
        assert processes.parsed(line)["sentence"].startswith("its process wrote what is no answer")
    assert processes.parsed(json.dumps({"answer": {}}).encode()) == {"answer": {}}
