"""The machine of a measurement, and what else the report says about a run: versions and methods."""

import hashlib
import importlib.metadata
import json
import os
import platform
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fairalloc.runs.objects import place_of
from fairalloc.solvers.method import Method, version_of

_NOT_MEASURED = ("cluster", "completion", "dev", "docs", "notebooks", "plots", "smt", "test", "traces")


def describe_machine() -> dict[str, Any]:
    """What times depend on here besides code and versions; the machine's name only as a hash."""
    info = Path("/proc/cpuinfo")
    cpu = re.search(r"model name\s*: (.+)", info.read_text()) if info.exists() else None
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": cpu[1] if cpu else platform.processor() or "unknown",
        "cores": os.cpu_count(),
        "node": hashlib.sha256(platform.node().encode()).hexdigest()[:12],
    }


def joined(machines: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The description of several machines: that of each where they are alike, else what differs side by side."""
    described = sorted((dict(machine) for machine in machines), key=lambda machine: json.dumps(machine, sort_keys=True))
    found = {name: list(dict.fromkeys(machine[name] for machine in described)) for name in described[0]}
    return {name: values[0] if len(values) == 1 else " and ".join(map(str, values)) for name, values in found.items()}


def machine_id(details: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(details, sort_keys=True).encode()).hexdigest()[:12]


def describe_run(methods: Iterable[Method]) -> dict[str, Any]:
    """Versions, and for each method its kind, what it lacks, its first sentence, and FILE.py:NAME where it is from a file."""
    found = {}
    for m in methods:
        about = (m.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")
        found[m.id] = {"kind": m.kind, "missing": m.missing(), "about": about, "place": place_of(m)}
    return describe_software() | {"methods": found}


def describe_software() -> dict[str, Any]:
    """The versions of this package, of Python, and of the packages that compute."""
    return {"fairalloc": installed_version("fairalloc"), "python": platform.python_version(), "packages": _packages()}


def installed_version(name: str) -> str:
    """The version of a distribution, or "not installed"."""
    return version_of(name) or "not installed"


def _packages() -> dict[str, str]:
    """Installed versions of what the distribution requires, but for the extras that measure nothing."""
    versions = {}
    for line in importlib.metadata.requires("fairalloc") or []:
        extra = re.search(r"extra == ['\"](\w+)['\"]", line)
        name = re.split(r"[^\w.-]", line, maxsplit=1)[0]
        if name != "fairalloc" and (extra is None or extra[1] not in _NOT_MEASURED):
            versions[name] = installed_version(name)
    return versions
