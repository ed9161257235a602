"""A run on two workers of dask on this machine, one of which is killed half-way, has the records of a run without a cluster."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from fairalloc.benchmarks import BenchmarkError, Setting, run
from fairalloc.benchmarks.records import BenchmarkStore
from fairalloc.models.errors import FairallocError, NotInstalled
from fairalloc.runs import cluster, machine

pytestmark = pytest.mark.skipif(bool(cluster.cluster_missing()), reason=cluster.cluster_missing())
REPEATS = 2


@pytest.fixture(scope="module")
def workers():
    import distributed

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as made:
        yield made


def measured(records, **setting):
    """A suite of two cases by two methods, one of which fails on one case."""
    options = {"repeats": REPEATS, "time_limit": 5.0, "memory_mb": 2048} | setting
    summary = run("smoke", records, ["highs:leximin", own], ["drfh"], Setting(**options), progress=False)
    return summary.records


def own(instance, mechanism, limits):
    """A method of one's own: nobody gets anything, slowly."""
    time.sleep(0.2)
    return [0.0] * len(instance.arcs)


def facts(records):
    """What does not depend on where and when a record was made."""
    return sorted((r.case, r.method, r.repeat, r.code, r.termination, r.claims, r.definition, r.quantities) for r in records)


def kill_after(rows, path, worker):
    """Kill a worker once the file has so many rows."""
    while not path.exists() or len(BenchmarkStore(path).keys()) < rows:
        time.sleep(0.05)
    os.kill(worker, signal.SIGKILL)


@pytest.mark.deep
def test_two_workers_one_killed_half_way(workers, tmp_path):
    here = measured(tmp_path / "here.sqlite")
    path = tmp_path / "there.sqlite"
    with cluster.RemotePool(workers.scheduler_address, "fairalloc.benchmarks.worker") as there:
        assert len(there.workers) == 2
        first, _ = sorted(there.told(os.getpid).values())
    killer = threading.Thread(target=kill_after, args=(2, path, first), daemon=True)
    killer.start()
    found = measured(path, scheduler=workers.scheduler_address)
    killer.join(timeout=60)
    assert not Path(f"/proc/{first}").exists(), "it was killed in the middle"
    assert facts(found) == facts(here)
    assert {record.jobs for record in found} == {2}
    assert {record.machine for record in found} == {record.machine for record in here}


class Elsewhere:
    """What another place has. A worker, to which it is sent by its name, calls its own."""

    __module__ = cluster.__name__

    def __init__(self, has):
        self.has = has

    def __call__(self):
        return self.has

    def __reduce__(self):
        return "installed"


@pytest.mark.deep
def test_a_worker_with_other_code_or_packages_is_refused(workers, tmp_path, monkeypatch):
    address = workers.scheduler_address
    there = cluster.installed()
    for name, value in (("fairalloc", "0.0"), ("source", "another"), ("numpy", "9.9")):
        monkeypatch.setattr(cluster, "installed", Elsewhere(there | {name: value}))
        said = f"is refused, because it has {name} {there[name]}, but here is {name} {value}"
        with pytest.raises(FairallocError, match=said):
            cluster.RemotePool(address, "fairalloc.simulation.experiments.runner")


@pytest.mark.deep
def test_what_is_wrong_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(cluster, "CONNECT", 0.5)
    with pytest.raises(FairallocError, match="no scheduler of dask answers at 'tcp://127"):
        measured(tmp_path / "r", scheduler="tcp://127.0.0.1:1")
    with pytest.raises(BenchmarkError, match="jobs is 2, but with a scheduler its workers say"):
        measured(tmp_path / "r", jobs=2, scheduler="tcp://127.0.0.1:1")
    monkeypatch.setattr(cluster, "cluster_missing", lambda: "a cluster needs distributed: pip install fairalloc[cluster]")
    with pytest.raises(NotInstalled, match=r"pip install fairalloc\[cluster\]"):
        measured(tmp_path / "r", scheduler="tcp://127.0.0.1:1")


@pytest.mark.deep
@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl command")
def test_the_page_on_trust_shows_how_tls_works(tmp_path, monkeypatch):
    import dask

    page = (Path(__file__).parents[2] / "docs" / "guides" / "trust.md").read_text(encoding="utf-8")
    make, code, exports = re.findall(r"^```\w+ elsewhere\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    for folder in ("theirs", "ours"):
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        subprocess.run(shlex.split(make), check=True, capture_output=True)
    monkeypatch.setattr(cluster, "CONNECT", 5.0)
    scope = {}
    exec(code, scope)
    with scope["cluster"] as made:
        address = made.scheduler_address
        assert address.startswith("tls://127.0.0.1:")
        named = re.findall(r"export DASK_(\w+)=(\S+)", exports)
        known = {name.lower().replace("__", "."): file for name, file in named}  # as dask reads the variables when it is imported
        with dask.config.set(known), cluster.RemotePool(address, "fairalloc.benchmarks.worker") as there:
            assert list(there.told(machine.describe_software).values()) == [machine.describe_software()]
        monkeypatch.chdir(tmp_path / "theirs")
        for config, name in ((known, address), ({}, address), (known, address.replace("tls", "tcp"))):
            refused = pytest.raises(FairallocError, match=f"no scheduler of dask answers at '{name}'")
            with dask.config.set(config), refused:
                cluster.RemotePool(name, "fairalloc.benchmarks.worker")


@pytest.mark.deep
def test_different_machines_are_described_side_by_side():
    one, other = ({"cpu": "A", "cores": 2, "node": node} for node in ("x", "y"))
    assert machine.joined([one, one]) == one
    assert machine.joined([other, one]) == {"cpu": "A", "cores": 2, "node": "x and y"}
