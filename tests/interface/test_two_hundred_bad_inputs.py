"""More than two hundred bad inputs: each is one sentence and an exit code, never a traceback, and none of them hangs.

Most of them run in this process; what is about file descriptors runs in a process of its own.
"""

import copy
import errno
import io
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import fairalloc
import fairalloc as fa
from fairalloc import cli_solve
from fairalloc.cli import INTERNAL, main

SECONDS = 5.0
"""Seconds of computing after which an input has hung."""

LONGEST = 120
"""Seconds by the clock after which an input waits for something; other processes may keep this one waiting."""

GONE = object()
DEEP = "[" * 50_000 + "]" * 50_000
WANG = fa.example("wang-fig2").instance
ANSWER = fa.solve(WANG, "drfh")

BASE = {
    "schema": "fairalloc-instance/1",
    "name": "base",
    "resources": ["cpu", "memory"],
    "servers": [{"name": "s1", "capacity": [2, 12]}, {"name": "s2", "capacity": [12, 2]}],
    "users": [{"name": "u1", "demands": [["1/5", 1]]}, {"name": "u2", "demands": [[1, "1/5"]]}],
}

TASKS = [{"name": "u1", "by_server": {"s1": 10, "s2": 0}}, {"name": "u2", "by_server": {"s1": 0, "s2": 10}}]

PYTHON = {
    "broken.py": "x = 1\ndef (\n",
    "fails.py": "x = 1\nx = x / 0\n",
    "binary.py": "\0",
    "things.py": """
        import fairalloc as fa

        seven = 7

        def word(allocation):
            return "yes"

        def raises(allocation):
            raise KeyError("x")

        capped = fa.mechanism("drfh").edited("capped", cvxpy=lambda p, i: p)
    """,
}

COMMANDS = [
    ([], "the following arguments are required: COMMAND"),
    (["sovle"], "argument COMMAND: invalid choice: 'sovle'"),
    (["solve"], "the following arguments are required: INSTANCE"),
    (["solve", "wang-fig2", "--nope"], "unrecognized arguments: --nope"),
    (["solve", "wang-fig2", "--format", "xml"], "argument --format: invalid choice: 'xml'"),
    (["solve", "wang-fig2", "-m"], "argument --mechanism/-m: expected one argument"),
    (["--nope"], "the following arguments are required: COMMAND"),
    (["solve", ""], "there is no file and no published example ''"),
    (["solve", "{f}"], "{f} cannot be read: Is a directory"),
    (["solve", "."], ". cannot be read: Is a directory"),
    (["solve", "/dev/null"], "/dev/null is not JSON: Expecting value in line 1"),
    (["solve", "/dev/zero"], "/dev/zero cannot be read: it is not UTF-8 text"),
    (["solve", "/dev/urandom"], "/dev/urandom cannot be read: it is not UTF-8 text"),
    (["solve", "{f}/dangling"], "there is no file and no published example '{f}/dangling'"),
    (["solve", "{f}/loop"], "there is no file and no published example '{f}/loop'"),
    (["solve", "{f}/empty.json/x"], "there is no file and no published example '{f}/empty.json/x'"),
    (["solve", "x" * 5000], "there is no file and no published example"),
    (["solve", "a\x1b[31mb"], "there is no file and no published example 'a\\x1b[31mb'"),
    (["solve", "a\udce9"], "there is no file and no published example 'a\\udce9'"),
    (["solve", "\ud800"], "there is no file and no published example '\\ud800'"),
    (["solve", "a\nb"], "there is no file and no published example 'a\\nb'"),
    (["solve", "wang-fig3"], "there is no file and no published example 'wang-fig3' (did you mean 'wang-fig2' or"),
    (["solve", "a\x00b"], "there is no file and no published example 'a\\x00b'"),
    (["solve", "-", "-"], "standard input holds one instance, but - is given twice"),
    (["solve", "wang-fig2", "-m", "nope"], "there is no mechanism 'nope'"),
    (["solve", "wang-fig2", "-m", ""], "there is no mechanism ''"),
    (["solve", "wang-fig2", "-m", "drhf"], "there is no mechanism 'drhf' (did you mean 'drf' or 'drfh'?)"),
    (["solve", "wang-fig2", "-m", "\x1b[2J"], "there is no mechanism '\\x1b[2J'"),
    (["solve", "wang-fig2", "-m", "\ud800"], "there is no mechanism '\\ud800'"),
    (["solve", "wang-fig2", "-m", "nowhere.py:x"], "there is no file 'nowhere.py'"),
    (["solve", "wang-fig2", "-m", "{f}/broken.py"], "{f}/broken.py cannot be loaded: SyntaxError: invalid syntax (line 2)"),
    (["solve", "wang-fig2", "-m", "{f}/broken.py:x"], "{f}/broken.py cannot be loaded: SyntaxError: invalid syntax (line 2)"),
    (
        ["solve", "wang-fig2", "-m", "{f}/fails.py:x"],
        "{f}/fails.py cannot be loaded: ZeroDivisionError: division by zero (line 2)",
    ),
    (["solve", "wang-fig2", "-m", "{f}/things.py:seven"], "'seven' of {f}/things.py is 7, but it must be a mechanism"),
    (
        ["solve", "wang-fig2", "-m", "{f}/things.py:nine"],
        "there is no object 'nine': {f}/things.py defines seven, word, raises, capped",
    ),
    (["solve", "wang-fig2", "-m", "{f}/folder.py:x"], "there is no file '{f}/folder.py'"),
    (
        ["solve", "wang-fig2", "-m", "{f}/binary.py:x"],
        "{f}/binary.py cannot be loaded: SyntaxError: source code string cannot contain null",
    ),
    (["solve", "wang-fig2", "--method", "nope"], "there is no method 'nope'"),
    (["solve", "wang-fig2", "--method", ""], "there is no method ''"),
    (
        ["solve", "wang-fig2", "--method", "pdhg"],
        "method 'pdhg' does not compute 'drfh': the methods that do are interior-point, highs:leximin,",
    ),
    (["solve", "wang-fig2", "--method", "nowhere.py:x"], "there is no file 'nowhere.py'"),
    (["solve", "wang-fig2", "--method", "{f}/things.py:seven"], "'seven' of {f}/things.py is 7, but it must be a method"),
    (
        ["solve", "wang-fig2", "--accuracy", "exact"],
        "argument --accuracy: accuracy is 'exact', but it must be one of low, mid, high",
    ),
    (["solve", "wang-fig2", "--time-limit", "0"], "time_limit is 0.0 seconds, but it must be positive"),
    (["solve", "wang-fig2", "--time-limit", "-1"], "time_limit is -1.0 seconds, but it must be positive"),
    (["solve", "wang-fig2", "--time-limit", "nan"], "time_limit is nan seconds, but it must be positive"),
    (["solve", "wang-fig2", "wang-pool", "--time-limit", "-1"], "time_limit is -1.0 seconds, but it must be positive"),
    (["certify", "wang-fig2", "--time-limit", "-1"], "time_limit is -1.0 seconds, but it must be positive"),
    (["check", "wang-fig2", "{f}/good.json", "--time-limit", "0"], "time_limit is 0.0 seconds, but it must be positive"),
    (["solve", "wang-fig2", "--time-limit", "soon"], "argument --time-limit: invalid float value: 'soon'"),
    (["solve", "wang-fig2", "--time-limit", ""], "argument --time-limit: invalid float value: ''"),
    (
        ["solve", "wang-fig2", "--trace", "--format", "csv"],
        "--trace is shown in the formats table, json and jsonl, but the format is 'csv'",
    ),
    (
        ["solve", "wang-fig2", "--trace", "--format", "latex"],
        "--trace is shown in the formats table, json and jsonl, but the format is 'latex'",
    ),
    (["solve", "wang-fig2", "--param", "alpha"], "--param is 'alpha', but it must be name=value"),
    (["solve", "wang-fig2", "--param", "=3"], "--param is '=3', but it must be name=value"),
    (["solve", "wang-fig2", "--param", "1a=3"], "--param is '1a=3', but it must be name=value"),
    (["solve", "wang-fig2", "--param", ""], "--param is '', but it must be name=value"),
    (["solve", "wang-fig2", "--param", "alpha=2"], "mechanism 'drfh' has no parameter 'alpha': it has none"),
    (["solve", "wang-fig2", "--param", "method=highs"], "mechanism 'drfh' has no parameter 'method': it has none"),
    (["solve", "wang-fig2", "--param", "instance=3"], "mechanism 'drfh' has no parameter 'instance': it has none"),
    (["solve", "wang-fig2", "--param", "mechanism=nb"], "mechanism 'drfh' has no parameter 'mechanism': it has none"),
    (["solve", "wang-fig2", "--param", "self=3"], "mechanism 'drfh' has no parameter 'self': it has none"),
    (
        ["solve", "wang-pool", "-m", "fds", "--param", "alpha=NaN"],
        "--param alpha cannot be used: it holds NaN, which is not a JSON number",
    ),
    (
        ["solve", "wang-pool", "-m", "fds", "--param", "alpha=Infinity"],
        "--param alpha cannot be used: it holds Infinity, which is not a JSON number",
    ),
    (
        ["solve", "wang-pool", "-m", "fds", "--param", "alpha=1e400"],
        "--param alpha cannot be used: it holds 1e400, which is out of the range of floating",
    ),
    (["solve", "wang-pool", "-m", "fds", "--param", "alpha=-1"], "alpha is -1, but it must be a positive number"),
    (["solve", "wang-pool", "-m", "fds", "--param", "alpha=0"], "alpha is 0, but it must be a positive number"),
    (["solve", "wang-pool", "-m", "fds", "--param", "alpha=null"], "alpha is None, but it must be a positive number"),
    (["solve", "wang-pool", "-m", "fds", "--param", "alpha=true"], "alpha is True, but it must be a positive number"),
    (["solve", "wang-pool", "-m", "fds", "--param", "alpha={}"], "alpha is {}, but it must be a positive number"),
    (["solve", "wang-pool", "-m", "fds", "--param", "alpha="], "alpha is '', but it must be a positive number"),
    (["solve", "wang-pool", "-m", "fds", "--param", "alpha=two"], "alpha is 'two', but it must be a positive number"),
    (["solve", "wang-pool", "-m", "fds", "--param", "alpha=[2]"], "alpha is [2], but it must be a positive number"),
    (
        ["solve", "wang-pool", "-m", "fds", "--param", "alpha=" + DEEP],
        "--param alpha cannot be read: it nests too deeply or holds an integer of thousands of",
    ),
    (
        ["solve", "wang-pool", "-m", "fds", "--param", "alpha=" + "7" * 5000],
        "--param alpha cannot be read: it nests too deeply or holds an integer of thousands of",
    ),
    (
        ["solve", "wang-pool", "-m", "fds", "--param", 'alpha={"a": 1, "a": 2}'],
        "--param alpha cannot be used: the field 'a' is given twice in one JSON object",
    ),
    (["solve", "wang-pool", "-m", "fds", "--param", "alpha=\ud800"], "alpha is '\\ud800', but it must be a positive number"),
    (["solve", "wang-pool", "-m", "fds", "--param", "alpha=\x1b[31m"], "alpha is '\\x1b[31m', but it must be a positive number"),
    (
        ["solve", "wang-pool", "-m", "fds", "--param", "alpha=1e-400"],
        "--param alpha cannot be used: it holds 1e-400, which is out of the range of floating",
    ),
    (["solve", "wang-pool", "-m", "fds", "--param", "alpha=[[[["], "alpha is '[[[[', but it must be a positive number"),
    (["solve", "wang-pool", "-m", "fds", "--param", "alpha=2", "--param", "alpha=3"], "--param alpha is given twice"),
    (["solve", "wang-pool", "-m", "fds", "--param", "beta=2"], "mechanism 'fds' has no parameter 'beta': it has alpha"),
    (
        ["solve", "wang-fig2", "-m", "alpha-pf-vds", "--param", "alpha=-1"],
        "alpha is -1 for server 's1', but it must be positive or inf",
    ),
    (["solve", "wang-fig2", "-m", "alpha-pf-vds", "--param", "alpha=[1]"], "alpha has 1 entries, but there are 2 servers"),
    (
        ["solve", "wang-fig2", "-m", "alpha-pf-vds", "--param", 'alpha={"s9": 1}'],
        "alpha names server 's9': it must name every server once",
    ),
    (
        ["solve", "wang-fig2", "-m", "alpha-pf-vds", "--param", "A=-1"],
        "A, B are -1, 0 for server 's1', but they must be >= 0, finite and not both 0",
    ),
    (["solve", "wang-fig2", "-m", "alpha-pf-vds", "--param", "B=nan"], "B is 'nan', but it must be a number"),
    (["solve", "wang-fig2", "-m", "alpha-pf-vds", "--param", "alpha="], "alpha is '', but it must be a number"),
    (
        ["solve", "wang-fig2", "-m", "alpha-pf-vds", "--param", "C=1"],
        "mechanism 'alpha-pf-vds' has no parameter 'C': it has alpha, A, B",
    ),
    (["solve", "wang-fig2", "-m", "alpha-pf-vds", "--param", "alpha=[[1, 2]]"], "alpha has 1 entries, but there are 2 servers"),
    (
        ["solve", "wang-fig2", "-m", "alpha-pf-vds", "--param", "alpha=" + DEEP],
        "--param alpha cannot be read: it nests too deeply or holds an integer of thousands of",
    ),
    (
        ["solve", "dolev-circle", "-m", "njc", "--param", "objective=best"],
        "objective is 'best', but it must be one of utilisation, sum, min, closest",
    ),
    (
        ["solve", "dolev-circle", "-m", "njc", "--param", "target=3"],
        "objective is None and target is 3, but 'closest' and target come together",
    ),
    (
        ["solve", "dolev-circle", "-m", "njc", "--param", "objective=closest"],
        "objective is 'closest' and target is None, but 'closest' and target come together",
    ),
    (
        ["solve", "dolev-circle", "-m", "njc", "--param", "objective=[]"],
        "objective is [], but it must be one of utilisation, sum, min, closest",
    ),
    (["solve", "zarchy-nb", "-m", "drfh"], "the dominant share needs one demand vector for each user, but user 'u1' has 2"),
    (
        ["solve", "wang-fig2", "-m", "drf", "--method", "progressive-filling", "--param", "x=1"],
        "mechanism 'drf' has no parameter 'x': it has none",
    ),
    (["check"], "the following arguments are required: INSTANCE, ALLOCATION"),
    (["check", "wang-fig2"], "the following arguments are required: ALLOCATION"),
    (["check", "wang-fig2", "nowhere.json"], "nowhere.json cannot be read: No such file or directory"),
    (["check", "wang-fig2", "{f}"], "{f} cannot be read: Is a directory"),
    (["check", "-", "-"], "standard input holds one document, but - is given twice"),
    (["check", "nope", "{f}/good.json"], "there is no file and no published example 'nope'"),
    (["check", "wang-fig2", "{f}/png.json"], "{f}/png.json cannot be read: it is not UTF-8 text"),
    (["check", "wang-fig2", "{f}/nan.json"], "{f}/nan.json cannot be used: it holds NaN, which is not a JSON number"),
    (["check", "khamse-fig1", "{f}/good.json"], "the allocation gives user 'u1' tasks on server 's2', where it is not eligible"),
    (["check", "wang-fig2", "{f}/good.json", "--property", "nope"], "there is no property 'nope'"),
    (["check", "wang-fig2", "{f}/good.json", "--property", ""], "there is no property ''"),
    (
        ["check", "wang-fig2", "{f}/good.json", "--property", "paretto"],
        "there is no property 'paretto' (did you mean 'pareto' or 'market'?)",
    ),
    (["check", "wang-fig2", "{f}/good.json", "--property", "nowhere.py:x"], "there is no file 'nowhere.py'"),
    (
        ["check", "wang-fig2", "{f}/good.json", "--property", "{f}/things.py:seven"],
        "'seven' of {f}/things.py is 7, but it must be a property",
    ),
    (
        ["check", "wang-fig2", "{f}/good.json", "--property", "{f}/things.py:word"],
        "the property 'word' returned 'yes', but it must be a Verdict, True or False, or a number",
    ),
    (
        ["check", "wang-fig2", "{f}/good.json", "--property", "{f}/things.py:raises"],
        "the property 'raises' failed: KeyError: 'x'",
    ),
    (["check", "wang-fig2", "{f}/good.json", "-m", "nope"], "there is no mechanism 'nope'"),
    (["check", "wang-fig2", "{f}/good.json", "--format", "csv"], "argument --format: invalid choice: 'csv'"),
    (["check", "wang-fig2", "{f}/good.json", "--property", "strategyproofness"], "there is no property 'strategyproofness'"),
    (["certify"], "the following arguments are required: INSTANCE"),
    (["certify", "nope"], "there is no file and no published example 'nope'"),
    (["certify", "wang-fig2", "-m", "nope"], "there is no mechanism 'nope'"),
    (["certify", "wang-fig2", "nowhere.json"], "nowhere.json cannot be read: No such file or directory"),
    (["certify", "wang-fig2", "-m", "nowhere.py:x"], "there is no file 'nowhere.py'"),
    (["verify"], "the following arguments are required: INSTANCE, CERTIFICATE"),
    (["verify", "wang-fig2"], "the following arguments are required: CERTIFICATE"),
    (["verify", "wang-fig2", "nowhere.json"], "nowhere.json cannot be read: No such file or directory"),
    (["verify", "wang-fig2", "{f}"], "{f} cannot be read: Is a directory"),
    (["verify", "-", "-"], "standard input holds one document, but - is given twice"),
    (
        ["verify", "wang-fig2", "{f}/deep.json"],
        "{f}/deep.json cannot be read: it nests too deeply or holds an integer of thousands of",
    ),
    (["list", "things"], "argument what: invalid choice: 'things'"),
    (["list", "mechanisms", "methods"], "unrecognized arguments: methods"),
    (["doctor", "now"], "unrecognized arguments: now"),
    (["bench"], "the following arguments are required: ACTION"),
    (["bench", "walk"], "argument ACTION: invalid choice: 'walk'"),
    (["bench", "run"], "the following arguments are required: SUITE"),
    (["bench", "run", "nope"], "there is no suite 'nope'"),
    (["bench", "run", ""], "there is no suite ''"),
    (["bench", "run", "{f}/none"], "there is no suite '{f}/none'"),
    (["bench", "run", "{f}/nothing"], "'{f}/nothing' holds no instances: there is no file that ends in .json"),
    (["bench", "run", "{f}/*.jsn"], "'{f}/*.jsn' holds no instances: there is no file that ends in .json"),
    (["bench", "run", "{f}/nothing.json"], "'{f}/nothing.json' holds no instances: there is no file that ends in .json"),
    (["bench", "run", "nowhere.py"], "there is no file 'nowhere.py'"),
    (["bench", "run", "{f}/things.py:seven"], "'seven' of {f}/things.py is 7, but it must be a suite"),
    (["bench", "run", "{f}/things.py"], "{f}/things.py must define one suite, but it defines none"),
    (["bench", "run", "first", "--method", "nope"], "there is no method 'nope'"),
    (["bench", "run", "first", "--repeats", "0"], "repeats is 0, but it must be positive"),
    (["bench", "run", "first", "--repeats", "many"], "argument --repeats: invalid int value: 'many'"),
    (["bench", "run", "first", "--memory", "-1"], "memory_mb is -1, but it must be positive"),
    (["bench", "run", "first", "--time-limit", "nan"], "time_limit is nan, but it must be positive"),
    (
        ["bench", "run", "first", "-m", "nb"],
        "--mechanism is for instances in files, but the suite 'first' has its own mechanisms",
    ),
    (
        ["bench", "run", "first", "--accuracy", "exact"],
        "argument --accuracy: accuracy is 'exact', but it must be one of low, mid, high",
    ),
    (["bench", "run", "first", "--records", "{f}"], "{f} cannot be used as a records file: unable to open database file"),
    (
        ["bench", "run", "first", "--records", "{f}/png.json"],
        "{f}/png.json cannot be used as a records file: file is not a database",
    ),
    (
        ["bench", "run", "first", "--records", "{f}/empty.json/x.sqlite"],
        "{f}/empty.json/x.sqlite cannot be used as a records file: [Errno 17] File exists:",
    ),
    (["bench", "run", "{f}/good-instance.json", "-m", "nope"], "there is no mechanism 'nope'"),
    (["bench", "run", "..."], "there is no suite '...'"),
    (["bench", "run", "a\x00b"], "there is no suite 'a\\x00b'"),
    (["bench", "report"], "the following arguments are required: FILE"),
    (["bench", "report", "nowhere.sqlite"], "there is no records file nowhere.sqlite: `fairalloc bench run SUITE` writes one"),
    (["bench", "report", "{f}"], "{f} cannot be used as a records file: unable to open database file"),
    (["bench", "report", "{f}/png.json"], "{f}/png.json cannot be used as a records file: file is not a database"),
    (["bench", "report", "a\x00b"], "there is no records file a\\x00b: `fairalloc bench run SUITE` writes one"),
    (["theorems", "prove"], "theorems prove needs the id of a statement; see fairalloc list statements"),
    (["theorems", "show", "--keep", "{f}"], "--keep is for theorems verify and prove, but the action is 'show'"),
    (["theorems", "export", "--size", ""], "--size is for theorems prove, but the action is 'export'"),
    (["theorems", "--core"], "--core is for theorems prove, but the action is 'verify'"),
    (["theorems", "disprove"], "argument action: invalid choice: 'disprove'"),
    (["theorems", "--id", "nope"], "there is no statement 'nope'"),
    (["theorems", "--paper", "Q"], "argument --paper: invalid choice: 'Q'"),
    (["theorems", "--id", "Z.P4", "--paper", "K"], "none of these statements fits --paper 'K'"),
    (["theorems", "--format", "csv"], "argument --format: invalid choice: 'csv'"),
    (["theorems", "--budget", "0"], "the budget is '0', but it must be a positive time such as 90s, 10m or 1h"),
    (["theorems", "--budget", "soon"], "the budget is 'soon', but it must be a positive time such as 90s, 10m or 1h"),
    (["theorems", "--budget", "1s5"], "the budget is '1s5', but it must be a positive time such as 90s, 10m or 1h"),
    (["theorems", "--budget", "1e9"], "the budget is '1e9', but it must be a positive time such as 90s, 10m or 1h"),
    (["theorems", "--budget", "10 days"], "the budget is '10 days', but it must be a positive time such as 90s, 10m or 1h"),
    (["theorems", "--budget", "9" * 400], "the budget is"),
    (["theorems", "--seed", "-1"], "the seed is -1 and the jobs are None, but a seed must not be negative, nor jobs below"),
    (["theorems", "--jobs", "0"], "the seed is 0 and the jobs are 0, but a seed must not be negative, nor jobs below 1"),
    (["theorems", "--trials", "0"], "the budget is 60 seconds and 0 trials, but both must be positive"),
    (["theorems", "--seed", "x"], "argument --seed: invalid int value: 'x'"),
    (["theorems", "--store", "{f}"], "{f} cannot be used as a file of findings: unable to open database file"),
    (["theorems", "--store", "{f}/png.json"], "{f}/png.json cannot be used as a file of findings: file is not a database"),
    (["matrix", "-m", "drf", "--budget", "0"], "the budget is '0', but it must be a positive time such as 90s, 10m or 1h"),
    (["matrix", "--format", "pdf"], "argument --format: invalid choice: 'pdf'"),
    (["matrix", "--budget", "9s"], "--budget is about cells that are searched: name them by --mechanism or --property"),
    (["matrix", "--trials", "0"], "--trials is about cells that are searched: name them by --mechanism or --property"),
    (["matrix", "--property", "drf", "--seed", "x"], "argument --seed: invalid int value: 'x'"),
    (["show", ""], "there is no file and no published example ''"),
    (["show", "wang-fig2", "--head", "0"], "--head is 0, but it must be a positive number of rows"),
    (["show", "wang-fig2", "--head", "x"], "argument --head: invalid int value: 'x'"),
    (["explain", ""], "there is no file and no published example ''"),
    (["explain", "wang-fig2", "--user", ""], "there is no user '': the users are u1, u2"),
    (["explain", "wang-fig2", "--user", "a\x1b[31m"], "there is no user 'a\\x1b[31m': the users are u1, u2"),
    (["explain", "wang-fig2", "--time-limit", "nan"], "time_limit is nan seconds, but it must be positive"),
    (["explain", "wang-fig2", "--method", "pdhg"], "method 'pdhg' does not compute 'drfh'"),
    (["explain", "wang-fig2", "--param", "alpha=3"], "mechanism 'drfh' has no parameter 'alpha': it has none"),
    (["data", ""], "argument FOLDER: it is '', but it must name a file or a folder"),
    (["data", "{f}/none"], "the data folder is '{f}/none', but it must be a folder"),
    (["data", "a\x00b"], "the data folder is 'a\\x00b', but it must be a folder"),
    (["bench", "report", ""], "argument FILE: it is '', but it must name a file or a folder"),
    (["bench", "run", "smoke", "--records", ""], "argument --records: it is '', but it must name a file or a folder"),
    (["bench", "run", "smoke", "--data", "{f}/none"], "--data is '{f}/none', but it must be a folder"),
    (["bench", "run", "smoke", "--case", "nope"], "there is no case 'nope': the suite 'smoke' has others"),
    (["bench", "run", "smoke", "--jobs", "0"], "jobs is 0, but it must be positive"),
    (["export", "wang-fig2", "--output", ""], "argument --output: it is '', but it must name a file or a folder"),
    (["export", "wang-fig2", "--output", "a\x00b"], "a file cannot be used: no name of a file holds a null character"),
    (["solve", "wang-fig2", "--option", "x"], "--option is 'x', but it must be name=value"),
    (["solve", "wang-fig2", "--option", "x=1"], "options x were given, but options are of one method, which must be named"),
    (["solve", "wang-fig2", "--method", "highs", "--option", "x=\ud800"], "HiGHS refuses the options {'x': '\\ud800'}: 'x'"),
    (
        ["solve", "wang-fig2", "--method", "cvxpy:clarabel", "--option", "max_iter=-1"],
        "CLARABEL refuses the options {'max_iter': -1}: out of range",
    ),
    (
        ["solve", "wang-fig2", "-m", "nb", "--method", "pyomo:ipopt", "--option", "tol=abc"],
        "Ipopt refuses the options {'tol': 'abc'}: type mismatch",
    ),
    (["solve", "wang-fig2", "--option", "judge.nope=1"], "there is no option of the judge 'nope'"),
    (["solve", "wang-fig2", "--log", "--format", "csv"], "--log is shown in the formats table, json and jsonl"),
    (["solve", "wang-fig2", "--warm-start", ""], "'' cannot be read: No such file or directory"),
    (["solve", "wang-fig2", "--warm-start", "{f}/nan.json"], "{f}/nan.json cannot be used: it holds NaN"),
]

TEXTS = {
    "empty": ("", "{f}/empty.json is not JSON: Expecting value in line 1"),
    "brace": ("{", "{f}/brace.json is not JSON: Expecting property name enclosed in double quotes in line"),
    "list": ("[]", "the instance is [], but it must be a JSON object"),
    "number": ("3", "the instance is 3, but it must be a JSON object"),
    "null": ("null", "the instance is None, but it must be a JSON object"),
    "string": ('"x"', "the instance is 'x', but it must be a JSON object"),
    "truth": ("true", "the instance is True, but it must be a JSON object"),
    "png": (b"\x89PNG\r\n\x1a\n\x00\x01", "{f}/png.json cannot be read: it is not UTF-8 text"),
    "nul": (b"{}\x00", "{f}/nul.json cannot be read: it is not UTF-8 text"),
    "utf16": ('{"a": 1}'.encode("utf-16"), "{f}/utf16.json cannot be read: it is not UTF-8 text"),
    "latin": (b'{"name": "\xe9"}', "{f}/latin.json cannot be read: it is not UTF-8 text"),
    "nan": ('{"a": NaN}', "{f}/nan.json cannot be used: it holds NaN, which is not a JSON number"),
    "inf": ('{"a": Infinity}', "{f}/inf.json cannot be used: it holds Infinity, which is not a JSON number"),
    "minus-inf": ('{"a": -Infinity}', "{f}/minus-inf.json cannot be used: it holds -Infinity, which is not a JSON number"),
    "twice": ('{"a": 1, "a": 2}', "{f}/twice.json cannot be used: the field 'a' is given twice in one JSON object"),
    "large": ('{"a": 1e400}', "{f}/large.json cannot be used: it holds 1e400, which is out of the range of floating"),
    "small": ('{"a": 1e-400}', "{f}/small.json cannot be used: it holds 1e-400, which is out of the range of floating"),
    "deep": ("[" * 100_000, "{f}/deep.json cannot be read: it nests too deeply or holds an integer of thousands of"),
    "deep-object": ('{"a":' * 5000, "{f}/deep-object.json cannot be read: it nests too deeply or holds an integer of"),
    "digits": ("7" * 5000, "{f}/digits.json cannot be read: it nests too deeply or holds an integer of thousands"),
    "tail": ("{} x", "{f}/tail.json is not JSON: Extra data in line 1"),
    "documents": ("{}\n{}", "{f}/documents.json is not JSON: Extra data in line 2"),
    "comment": ("// no\n{}", "{f}/comment.json is not JSON: Expecting value in line 1"),
    "quotes": ("{'a': 1}", "{f}/quotes.json is not JSON: Expecting property name enclosed in double quotes in"),
    "bom": (b"\xef\xbb\xbf[1, ", "{f}/bom.json is not JSON: Expecting value in line 1"),
    "cut": (json.dumps(BASE)[:-9], "{f}/cut.json is not JSON: Unterminated string starting at in line 1"),
    "comma": ("[1,]", "{f}/comma.json is not JSON: Expecting value in line 1"),
    "control": ('"a\x01b"', "{f}/control.json is not JSON: Invalid control character at in line 1"),
    "escape": ('"\\x"', "{f}/escape.json is not JSON: Invalid \\escape in line 1"),
}

"""Content of a file that is given as an instance."""

CHANGES = {
    "schema-gone": (("schema",), GONE, "the instance has no field 'schema'"),
    "schema-2": (
        ("schema",),
        "fairalloc-instance/2",
        "the schema is 'fairalloc-instance/2', but it must be 'fairalloc-instance/1'",
    ),
    "schema-number": (("schema",), 1, "the schema is 1, but it must be 'fairalloc-instance/1'"),
    "field": (("colour",), "red", "the instance has the unknown field 'colour': the fields are schema, name, resources,"),
    "users-gone": (("users",), GONE, "the instance has no field 'users'"),
    "users-empty": (("users",), [], "there are 0 users and 2 servers, but both must be at least 1"),
    "users-object": (("users",), {}, "the users are {}, but they must be a list"),
    "users-strings": (("users",), ["u1"], "user 1 is 'u1', but it must be a JSON object"),
    "servers-gone": (("servers",), GONE, "the instance has no field 'servers'"),
    "servers-empty": (("servers",), [], "there are 2 users and 0 servers, but both must be at least 1"),
    "servers-number": (("servers",), 2, "the servers are 2, but they must be a list"),
    "resources-gone": (("resources",), GONE, "the instance has no field 'resources'"),
    "resources-empty": (("resources",), [], "the number of resource names is 0, but the data has 2 resources"),
    "resources-string": (("resources",), "cpu", "the resources are 'cpu', but they must be a list of names"),
    "resources-twice": (("resources",), ["cpu", "cpu"], "two resources have the name 'cpu', but names must be distinct"),
    "resources-three": (("resources",), ["a", "b", "c"], "the number of resource names is 3, but the data has 2 resources"),
    "name-number": (("name",), 3, "the name of the instance is 3, but it must be a string"),
    "name-control": (("name",), "a\x1b[31m", "the name of the instance is 'a\\x1b[31m', but a name has no control characters or"),
    "name-surrogate": (("name",), "\ud800", "the name of the instance is '\\ud800', but a name has no control characters or"),
    "user-nameless": (("users", 0, "name"), GONE, "user 1 has no field 'name'"),
    "user-number": (("users", 0, "name"), 3, "user 1 has the name 3, but a name is a non-empty string"),
    "user-empty": (("users", 0, "name"), "", "user 1 has the name '', but a name is a non-empty string"),
    "user-twice": (("users", 0, "name"), "u2", "two users have the name 'u2', but names must be distinct"),
    "user-bell": (
        ("users", 0, "name"),
        "a\x07",
        "user 1 has the name 'a\\x07', but a name has no control characters or surrogates",
    ),
    "user-field": (("users", 0, "demand"), 1, "user 'u1' has the unknown field 'demand': the fields are name, demands, weight,"),
    "demands-gone": (("users", 0, "demands"), GONE, "user 'u1' has no field 'demands'"),
    "demands-flat": (("users", 0, "demands"), [1, 2], "the demands of user 'u1' are [1, 2], but they must be a list of vectors"),
    "demands-empty": (("users", 0, "demands"), [], "the demands of user 'u1' are [], but they must be a list of vectors"),
    "demands-string": (
        ("users", 0, "demands"),
        "1, 2",
        "the demands of user 'u1' are '1, 2', but they must be a list of vectors",
    ),
    "demand-negative": (
        ("users", 0, "demands"),
        [[-1, 1]],
        "the demand of user 'u1' for 'cpu' is -1, but it must not be negative",
    ),
    "demand-zero": (
        ("users", 0, "demands"),
        [[0, 0]],
        "the demand of user 'u1' is zero for every resource, but a task must take something",
    ),
    "demand-short": (
        ("users", 0, "demands"),
        [[1]],
        "the demand of user 'u1' is [1] of length 1, but there must be 2 numbers: cpu, memory",
    ),
    "demand-word": (
        ("users", 0, "demands"),
        [["one", 1]],
        "the demand of user 'u1' for 'cpu' is 'one', which is not a finite number or a",
    ),
    "demand-over-zero": (
        ("users", 0, "demands"),
        [["1/0", 1]],
        "the demand of user 'u1' for 'cpu' is '1/0', which is not a finite number or a",
    ),
    "demand-truth": (("users", 0, "demands"), [[True, 1]], "the demand of user 'u1' for 'cpu' is True, which is not a number"),
    "demand-null": (
        ("users", 0, "demands"),
        [[None, 1]],
        "the demand of user 'u1' for 'cpu' is None, which is not a finite number or a rational",
    ),
    "demand-nan": (
        ("users", 0, "demands"),
        [["nan", 1]],
        "the demand of user 'u1' for 'cpu' is 'nan', which is not a finite number or a",
    ),
    "demand-exponent": (
        ("users", 0, "demands"),
        [["1e99999", 1]],
        "the demand of user 'u1' for 'cpu' is '1e99999', which is not a finite number or a",
    ),
    "demand-list": (
        ("users", 0, "demands"),
        [[[1], 1]],
        "the demand of user 'u1' for 'cpu' is [1], which is not a finite number or a rational",
    ),
    "weight-zero": (("users", 0, "weight"), 0, "the weight of user 'u1' is 0, but it must be positive"),
    "weight-negative": (("users", 0, "weight"), -1, "the weight of user 'u1' is -1, but it must be positive"),
    "weight-null": (
        ("users", 0, "weight"),
        None,
        "the weight of user 'u1' is None, which is not a finite number or a rational such as",
    ),
    "weight-list": (
        ("users", 0, "weight"),
        [1],
        "the weight of user 'u1' is [1], which is not a finite number or a rational such as",
    ),
    "weight-word": (
        ("users", 0, "weight"),
        "heavy",
        "the weight of user 'u1' is 'heavy', which is not a finite number or a rational such",
    ),
    "limit-negative": (
        ("users", 0, "max_tasks"),
        -1,
        "max_tasks of user 'u1' is -1, but it must be positive, or null for unlimited",
    ),
    "limit-word": (
        ("users", 0, "max_tasks"),
        "many",
        "max_tasks of user 'u1' is 'many', which is not a finite number or a rational such as",
    ),
    "limit-zero": (("users", 0, "max_tasks"), 0, "max_tasks of user 'u1' is 0, but it must be positive, or null for unlimited"),
    "eligible-none": (("users", 0, "eligible"), [], "user 'u1' has no eligible server: its placement allows no server"),
    "eligible-unknown": (("users", 0, "eligible"), ["s9"], "there is no server 's9': the servers are s1, s2"),
    "eligible-word": (("users", 0, "eligible"), "s1", "eligible of user 'u1' is 's1', but it must be a list of servers or null"),
    "eligible-number": (("users", 0, "eligible"), [0], "there is no server 0: the servers are s1, s2"),
    "on-unknown": (("users", 0, "demands_on"), {"s9": [[1, 1]]}, "there is no server 's9': the servers are s1, s2"),
    "on-list": (
        ("users", 0, "demands_on"),
        [1],
        "demands_on of user 'u1' is [1], but it must give each server a list of vectors",
    ),
    "on-negative": (
        ("users", 0, "demands_on"),
        {"s1": [[-1, 1]]},
        "the demand of user 'u1' on server 's1' for 'cpu' is -1, but it must not be negative",
    ),
    "server-nameless": (("servers", 0, "name"), GONE, "server 1 has no field 'name'"),
    "server-twice": (("servers", 0, "name"), "s2", "two servers have the name 's2', but names must be distinct"),
    "server-tab": (
        ("servers", 0, "name"),
        "a\tb",
        "server 1 has the name 'a\\tb', but a name has no control characters or surrogates",
    ),
    "server-field": (
        ("servers", 0, "cores"),
        2,
        "server 's1' has the unknown field 'cores': the fields are name, capacity, count",
    ),
    "capacity-gone": (("servers", 0, "capacity"), GONE, "server 's1' has no field 'capacity'"),
    "capacity-short": (
        ("servers", 0, "capacity"),
        [2],
        "the capacity of server 's1' is [2] of length 1, but there must be 2 numbers: cpu,",
    ),
    "capacity-negative": (
        ("servers", 0, "capacity"),
        [-2, 12],
        "the capacity of server 's1' for 'cpu' is -2, but it must not be negative",
    ),
    "capacity-null": (
        ("servers", 0, "capacity"),
        None,
        "the capacity of server 's1' is None, but it must be a list of 2 numbers",
    ),
    "capacity-word": (
        ("servers", 0, "capacity"),
        ["two", 12],
        "the capacity of server 's1' for 'cpu' is 'two', which is not a finite number or a",
    ),
    "count-zero": (
        ("servers", 0, "count"),
        0,
        "the count of server 's1' is 0, but it must be an integer from 1 to 9007199254740992",
    ),
    "count-negative": (
        ("servers", 0, "count"),
        -1,
        "the count of server 's1' is -1, but it must be an integer from 1 to 9007199254740992",
    ),
    "count-half": (
        ("servers", 0, "count"),
        1.5,
        "the count of server 's1' is 1.5, but it must be an integer from 1 to 9007199254740992",
    ),
    "count-word": (("servers", 0, "count"), "2", "the count of server 's1' is '2', but it must be a JSON integer"),
    "count-huge": (
        ("servers", 0, "count"),
        10**30,
        "the count of server 's1' is 1000000000000000000000000000000, but it must be an",
    ),
}

"""Field, its value and the sentence: one change of BASE, which is given as an instance."""

ALLOCATIONS = {
    "list": ([], "the allocation is [], but it must be a JSON object"),
    "empty": ({}, "the allocation has no field 'schema'"),
    "instance": (BASE, "the schema is 'fairalloc-instance/1', but it must be 'fairalloc-allocation/1'"),
    "schema": (
        {
            "schema": "fairalloc-allocation/9",
            "users": [{"name": "u1", "by_server": {"s1": 10, "s2": 0}}, {"name": "u2", "by_server": {"s1": 0, "s2": 10}}],
        },
        "the schema is 'fairalloc-allocation/9', but it must be 'fairalloc-allocation/1'",
    ),
    "users": ({"schema": "fairalloc-allocation/1", "users": 3}, "the users are 3, but they must be a list"),
    "missing": (
        {"schema": "fairalloc-allocation/1", "users": [{"name": "u1", "by_server": {"s1": 10, "s2": 0}}]},
        "the allocation has no entry for user 'u2'",
    ),
    "unknown": (
        {
            "schema": "fairalloc-allocation/1",
            "users": [{"name": "u9", "by_server": {"s1": 10, "s2": 0}}, {"name": "u2", "by_server": {"s1": 0, "s2": 10}}],
        },
        "there is no user 'u9': the users are u1, u2",
    ),
    "twice": (
        {
            "schema": "fairalloc-allocation/1",
            "users": [
                {"name": "u1", "by_server": {"s1": 10, "s2": 0}},
                {"name": "u2", "by_server": {"s1": 0, "s2": 10}},
                {"name": "u1", "by_server": {"s1": 10, "s2": 0}},
            ],
        },
        "user 'u1' stands twice in the allocation",
    ),
    "server": (
        {
            "schema": "fairalloc-allocation/1",
            "users": [{"name": "u1", "by_server": {"s9": 1}}, {"name": "u2", "by_server": {"s1": 0, "s2": 10}}],
        },
        "there is no server 's9': the servers are s1, s2",
    ),
    "word": (
        {
            "schema": "fairalloc-allocation/1",
            "users": [{"name": "u1", "by_server": {"s1": "ten"}}, {"name": "u2", "by_server": {"s1": 0, "s2": 10}}],
        },
        "the number of tasks of user 'u1' on server 's1' is 'ten', which is not a finite",
    ),
    "by": (
        {
            "schema": "fairalloc-allocation/1",
            "users": [{"name": "u1", "by_server": [1]}, {"name": "u2", "by_server": {"s1": 0, "s2": 10}}],
        },
        "by_server of user 'u1' is [1], but it must be a JSON object",
    ),
    "nameless": (
        {
            "schema": "fairalloc-allocation/1",
            "users": [{"by_server": {"s1": 10, "s2": 0}}, {"name": "u2", "by_server": {"s1": 0, "s2": 10}}],
        },
        "user 1 has no field 'name'",
    ),
    "mechanism": (
        {
            "schema": "fairalloc-allocation/1",
            "users": [{"name": "u1", "by_server": {"s1": 10, "s2": 0}}, {"name": "u2", "by_server": {"s1": 0, "s2": 10}}],
            "mechanism": 3,
        },
        "there is no mechanism 3",
    ),
    "mechanism-list": (
        {
            "schema": "fairalloc-allocation/1",
            "users": [{"name": "u1", "by_server": {"s1": 10, "s2": 0}}, {"name": "u2", "by_server": {"s1": 0, "s2": 10}}],
            "mechanism": ["drfh"],
        },
        "there is no mechanism ['drfh']",
    ),
    "mechanism-unknown": (
        {
            "schema": "fairalloc-allocation/1",
            "users": [{"name": "u1", "by_server": {"s1": 10, "s2": 0}}, {"name": "u2", "by_server": {"s1": 0, "s2": 10}}],
            "mechanism": "capped",
        },
        "there is no mechanism 'capped'",
    ),
    "method": (
        {
            "schema": "fairalloc-allocation/1",
            "users": [{"name": "u1", "by_server": {"s1": 10, "s2": 0}}, {"name": "u2", "by_server": {"s1": 0, "s2": 10}}],
            "method": [],
        },
        "the method of the allocation is [], but it must be a string",
    ),
    "parameters": (
        {
            "schema": "fairalloc-allocation/1",
            "users": [{"name": "u1", "by_server": {"s1": 10, "s2": 0}}, {"name": "u2", "by_server": {"s1": 0, "s2": 10}}],
            "parameters": [1],
        },
        "the parameters of the allocation are [1], but they must be an object",
    ),
    "parameter": (
        {
            "schema": "fairalloc-allocation/1",
            "users": [{"name": "u1", "by_server": {"s1": 10, "s2": 0}}, {"name": "u2", "by_server": {"s1": 0, "s2": 10}}],
            "mechanism": "drfh",
            "parameters": {"alpha": 2},
        },
        "mechanism 'drfh' has no parameter 'alpha': it has none",
    ),
    "exact": (
        {
            "schema": "fairalloc-allocation/1",
            "users": [
                {"name": "u1", "by_server": {"s1": 10, "s2": 0}, "by_server_exact": {"s1": 10}},
                {"name": "u2", "by_server": {"s1": 0, "s2": 10}},
            ],
        },
        "the allocation gives user 'u1' tasks on server 's1' exactly as 10, but a rational is",
    ),
    "exact-other": (
        {
            "schema": "fairalloc-allocation/1",
            "users": [
                {"name": "u1", "by_server": {"s1": 10, "s2": 0}, "by_server_exact": {"s1": "9", "s2": "0"}},
                {"name": "u2", "by_server": {"s1": 0, "s2": 10}},
            ],
        },
        "the allocation gives user 'u1' tasks on server 's1' as 10.0, but exactly as '9'",
    ),
    "trace": (
        {
            "schema": "fairalloc-allocation/1",
            "users": [{"name": "u1", "by_server": {"s1": 10, "s2": 0}}, {"name": "u2", "by_server": {"s1": 0, "s2": 10}}],
            "trace": 3,
        },
        "the trace events are 3, but they must be a list",
    ),
}

"""What is given as an allocation of W Fig. 2."""

CERTIFICATES = {
    "list": ([], "the certificate is [], but it must be an object of schema 'fairalloc-certificate/1'"),
    "empty": ({}, "the certificate is {}, but it must be an object of schema 'fairalloc-certificate/1'"),
    "kind": (
        {"schema": "fairalloc-certificate/1", "kind": "x"},
        "the certificate is {'schema': 'fairalloc-certificate/1', 'kind': 'x'}, but it must be",
    ),
    "instance": (BASE, "the certificate is {'schema': 'fairalloc-instance/1', 'name': 'base', 'resou..., but"),
    "number": (3, "the certificate is 3, but it must be an object of schema 'fairalloc-certificate/1'"),
}

CALLS = {
    "mechanism 3": (lambda: fa.solve(WANG, 3), "mechanism is 3, but it must be"),
    "mechanism list": (lambda: fa.solve(WANG, ["drfh"]), "mechanism is ['drfh'], but it must be"),
    "method 3": (lambda: fa.solve(WANG, "drfh", 3), "there is no method 3"),
    "time as text": (lambda: fa.solve(WANG, "drfh", time_limit="5"), "time_limit is '5' seconds"),
    "check numbers": (lambda: fa.check([7.5, 3.75], "pareto"), "the first argument is [7.5, 3.75]"),
    "check nothing": (lambda: fa.check(None, "pareto"), "the first argument is None"),
    "check an instance": (lambda: fa.check(WANG, "pareto"), "the first argument is Instance(wang-fig2"),
    "property 3": (lambda: fa.check(ANSWER, 3), "the property is 3"),
    "property mistyped": (lambda: fa.check(ANSWER, "paretto"), "there is no property 'paretto' (did you mean 'pareto'"),
    "certify mistyped": (lambda: fa.certify(WANG, "drhf"), "there is no mechanism 'drhf' (did you mean 'drf'"),
    "example": (lambda: fa.example("wang"), "there is no published example 'wang'"),
    "file": (lambda: fa.read_instance("nowhere.json"), "nowhere.json cannot be read: No such file or directory"),
    "null in a name": (lambda: fa.read_instance("a\0b"), "'a\\x00b' cannot be read: no file can have this name"),
    "tasks too few": (lambda: fa.Allocation(WANG, [1, 2]), "x has shape (2,), but the instance has 4 arcs"),
    "tasks as text": (lambda: fa.Allocation(WANG, "abcd"), "x is 'abcd'"),
    "allocation of nothing": (lambda: fa.Allocation("x", [1]), "the instance of the allocation is 'x'"),
    "export format": (lambda: fa.export(WANG, "drfh", "gms"), "there is no format 'gms'"),
    "certify of nothing": (lambda: fa.certify("x", "drfh"), "the instance is 'x', but it must be an Instance"),
    "certify of a list": (
        lambda: fa.certify(fa.example("wang-fig2").instance, "drfh", [1]),
        "the allocation is [1], but it must be an Allocation",
    ),
    "aggregate of nothing": (lambda: fa.aggregate("x"), "the instance is 'x', but it must be an Instance"),
    "expand of nothing": (lambda: fa.expand("x"), "the instance is 'x', but it must be an Instance"),
    "no path": (lambda: fa.read_instance(None), "the file is None, but it must be a path"),
    "market of nothing": (
        lambda: fa.market(fa.example("wang-fig2").instance, "x"),
        "the allocation is 'x', but it must be an Allocation",
    ),
    "misreports of nothing": (
        lambda: fa.check_mechanism("x", "drfh", "strategyproofness"),
        "the instance is 'x', but it must be an Instance",
    ),
    "export of nothing": (lambda: fa.export("x", "drfh"), "the instance is 'x', but it must be an Instance"),
    "method in a list": (lambda: fa.solve(WANG, "drfh", method=["highs"]), "there is no method ['highs']"),
    "time as a truth": (lambda: fa.solve(WANG, "drfh", time_limit=True), "time_limit is True seconds"),
    "solve of nothing": (lambda: fa.solve("x", "drfh"), "the instance is 'x', but it must be an Instance"),
    "check three": (lambda: fa.check(WANG, [7.5, 3.75], "pareto"), "the first argument is Instance(wang-fig2"),
    "tolerance as text": (lambda: fa.check(ANSWER, "pareto", "x"), "tolerance is 'x', but it must be a number"),
    "tolerance nan": (lambda: fa.check(ANSWER, "pareto", float("nan")), "tolerance is nan, but it must be a number"),
    "of mechanisms": (
        lambda: fa.check(ANSWER, "strategyproofness"),
        "there is no property 'strategyproofness' of one allocation: check_mechanism checks it",
    ),
    "no trials": (
        lambda: fa.check_mechanism(WANG, "drfh", "strategyproofness", trials=0),
        "trials is 0, but it must be a positive whole number",
    ),
    "explained in no time": (lambda: fa.explain(ANSWER, time_limit=True), "time_limit is True seconds"),
    "options of 3": (lambda: fa.options(3), "there is no method 3"),
    "written nowhere": (lambda: fa.write_instance(WANG, "/nowhere/x"), "'/nowhere/x' cannot be written: No such file"),
    "written to nothing": (lambda: fa.write_allocation(ANSWER, None), "'None' cannot be written"),
    "edit without a name": (lambda: fa.mechanism("drfh").edited("", cvxpy=min), "the id of the edit is ''"),
    "edit of nothing": (lambda: fa.mechanism("drfh").edited("x"), "the edit 'x' changes nothing"),
    "edit by a number": (lambda: fa.mechanism("drfh").edited("x", cvxpy=3), "the cvxpy edit of 'x' is 3"),
    "infinite capacity": (lambda: fa.Instance([[1.0]], np.array([[np.inf]])), "the capacity of server 's1' for 'r1' is inf"),
}


class Hung(BaseException):
    """An input was not answered in time."""


@pytest.fixture(autouse=True)
def _guard():
    """End what hangs, by the seconds that it computes or waits."""

    def stop(*_):
        raise Hung

    before = signal.signal(signal.SIGPROF, stop), signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        signal.signal(signal.SIGPROF, before[0])
        signal.signal(signal.SIGALRM, before[1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the commands name."""
    place = tmp_path_factory.mktemp("bad")
    for name, text in PYTHON.items():
        (place / name).write_text(textwrap.dedent(text))
    for name, (content, _) in TEXTS.items():
        (place / f"{name}.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    good = {"schema": "fairalloc-allocation/1", "users": TASKS}
    for name, document in (("good", good), ("good-instance", BASE)):
        (place / f"{name}.json").write_text(json.dumps(document))
    for name in ("folder.py", "nothing"):
        (place / name).mkdir()
    (place / "dangling").symlink_to("nowhere")
    (place / "loop").symlink_to("loop")
    return place


@pytest.fixture
def refused(folder, monkeypatch, capsys):
    """Run a command that must end with code 2, one line on standard error and nothing on standard output."""
    monkeypatch.chdir(folder)

    def run(arguments, sentence):
        try:
            code = main([word.replace("{f}", str(folder)) for word in arguments])
        except SystemExit as stop:
            code = stop.code
        out, err = capsys.readouterr()
        assert (code, out) == (2, "")
        assert err.startswith("fairalloc: ")
        assert err.endswith("\n")
        assert err.rstrip("\n").isprintable(), "one line, with nothing in it that a terminal obeys"
        assert sentence.replace("{f}", str(folder)) in err

    return run


@pytest.mark.parametrize(("arguments", "sentence"), COMMANDS, ids=lambda value: ascii(value)[:60])
def test_a_bad_command(refused, arguments, sentence):
    refused(arguments, sentence)


@pytest.mark.parametrize("name", TEXTS)
def test_a_bad_file(refused, name):
    refused(["solve", f"{{f}}/{name}.json"], TEXTS[name][1])


@pytest.mark.parametrize("name", CHANGES)
def test_a_bad_instance(refused, tmp_path, name):
    path, value, sentence = CHANGES[name]
    document = copy.deepcopy(BASE)
    place = document
    for key in path[:-1]:
        place = place[key]
    if value is GONE:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    (tmp_path / "instance.json").write_text(json.dumps(document))
    refused(["solve", str(tmp_path / "instance.json")], sentence)


@pytest.mark.parametrize("name", ALLOCATIONS)
def test_a_bad_allocation(refused, tmp_path, name):
    document, sentence = ALLOCATIONS[name]
    (tmp_path / "allocation.json").write_text(json.dumps(document))
    refused(["check", "wang-fig2", str(tmp_path / "allocation.json")], sentence)


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_bad_certificate(refused, tmp_path, name):
    document, sentence = CERTIFICATES[name]
    (tmp_path / "certificate.json").write_text(json.dumps(document))
    refused(["verify", "wang-fig2", str(tmp_path / "certificate.json")], sentence)


@pytest.mark.parametrize("name", CALLS)
def test_a_bad_call(name):
    call, sentence = CALLS[name]
    with pytest.raises(fa.FairallocError) as error:
        call()
    assert str(error.value).startswith(sentence)
    assert "\n" not in str(error.value)


def test_there_are_two_hundred():
    assert len(COMMANDS) + sum(map(len, (TEXTS, CHANGES, ALLOCATIONS, CERTIFICATES, CALLS))) >= 200


# ---- one of several, what is made to work, and mistakes of the package -------------------------------------------------


@pytest.mark.parametrize("kind", ["table", "json", "jsonl", "csv", "latex"])
@pytest.mark.parametrize("name", ["png", "nan", "list", "empty"])
def test_one_of_several_ends_with_code_1_and_the_others_are_kept(folder, capsys, kind, name):
    path = str(folder / f"{name}.json")
    assert main(["solve", "wang-fig2", path, "wang-pool", "--format", kind]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert out.index("wang-fig2") < out.index(path) < out.index("wang-pool")
    if kind == "json":
        assert len(json.loads(out)) == 3


def test_a_mistake_of_the_package_is_one_sentence_and_one_of_several_keeps_the_others(monkeypatch, capsys):
    def fails(instance, *_, **__):
        raise KeyError("what is\nwrong")

    monkeypatch.setattr(cli_solve, "solve", fails)
    assert main(["solve", "wang-fig2"]) == INTERNAL == 70
    _, err = capsys.readouterr()
    assert err == "fairalloc: internal error: KeyError: 'what is\\nwrong' (run with --debug for the traceback)\n"
    assert main(["solve", "wang-fig2", "--debug"]) == INTERNAL
    assert "Traceback (most recent call last)" in capsys.readouterr().err
    assert main(["--debug", "solve", "wang-fig2", "wang-pool"]) == 1
    out, err = capsys.readouterr()
    assert "internal error: KeyError" in out
    assert err.count("Traceback") == 2


@pytest.mark.parametrize(
    ("error", "code", "sentence"), [(KeyboardInterrupt, 130, "interrupted"), (MemoryError, 70, "the memory of")]
)
def test_what_ends_the_program_is_one_sentence(monkeypatch, capsys, error, code, sentence):
    def ends(*_, **__):
        raise error

    monkeypatch.setattr(cli_solve, "solve", ends)
    assert main(["solve", "wang-fig2"]) == code
    assert capsys.readouterr().err.startswith(f"fairalloc: {sentence}")


def test_an_interrupted_list_is_still_json(monkeypatch, capsys):
    solve, calls = cli_solve.solve, []

    def interrupted(*arguments, **parameters):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return solve(*arguments, **parameters)

    monkeypatch.setattr(cli_solve, "solve", interrupted)
    assert main(["solve", "wang-fig2", "wang-pool", "--format", "json"]) == 130
    (kept,) = json.loads(capsys.readouterr().out)
    assert kept["instance"] == "wang-fig2"


def test_a_byte_order_mark_and_standard_input_are_read(tmp_path, monkeypatch, capsys):
    (tmp_path / "bom.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(BASE).encode())
    assert main(["solve", str(tmp_path / "bom.json")]) == 0
    first = capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(BASE).encode())))
    assert main(["solve", "-"]) == 0
    assert capsys.readouterr().out.splitlines()[1:3] == first.splitlines()[1:3]


def test_all_and_another_property_are_each_checked_once(folder, capsys):
    arguments = ["check", "wang-fig2", str(folder / "good.json"), "--format", "json"]
    assert main([*arguments, "--property", "all", "--property", "pareto"]) in (0, 1)
    names = [row["property"] for row in json.loads(capsys.readouterr().out)]
    assert len(names) == len(set(names)) > 10


def test_names_are_escaped_in_latex_and_csv(tmp_path, capsys):
    document = copy.deepcopy(BASE)
    for user, name in zip(document["users"], ("50% & _a_ #1 {x} ~ ^ \\", "[2cm]"), strict=True):
        user["name"] = name
    (tmp_path / "names.json").write_text(json.dumps(document))
    assert main(["solve", str(tmp_path / "names.json"), "--format", "latex"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[4].startswith(r"50\% \& \_a\_ \#1 \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{} & ")
    assert rows[5].startswith("{[}2cm] & ")


def test_tables_are_as_wide_as_the_terminal(monkeypatch, capsys):
    widths = []
    for columns in ("60", "160"):
        monkeypatch.setenv("COLUMNS", columns)
        main(["list", "mechanisms"])
        widths.append(max(map(len, capsys.readouterr().out.splitlines())))
    assert widths[0] <= 60 < 100 < widths[1] <= 160


# ---- streams ---------------------------------------------------------------------------------------------------------


def shell(command, **more):
    """A line of the shell, in which `fairalloc` is this package's."""
    own = [str(Path(fairalloc.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
    places = os.pathsep.join([*own, more.pop("PYTHONPATH", "")])
    code = "import sys; from fairalloc.cli import main; sys.exit(main())"
    line = f"fairalloc() {{ '{sys.executable}' -P -c '{code}' \"$@\"; }}; {command}"
    environment = os.environ | {"PYTHONPATH": places} | more
    return subprocess.run(["bash", "-c", line], env=environment, capture_output=True, timeout=LONGEST, check=False)


@pytest.mark.parametrize(
    ("command", "code", "sentence"),
    [
        ("fairalloc solve wang-fig2 > /dev/full", 2, os.strerror(errno.ENOSPC)),
        ("fairalloc --help > /dev/full", 2, os.strerror(errno.ENOSPC)),
        ("fairalloc solve wang-fig2 >&-", 2, "standard output is closed, so there is nowhere to write the answer"),
        ("fairalloc solve - <&-", 2, "standard input is closed, so nothing can be read from it"),
        ("fairalloc solve - < /dev/null", 2, "standard input is not JSON: Expecting value in line 1"),
        ("head -c 100 /dev/urandom | fairalloc solve -", 2, "standard input cannot be read: it is not UTF-8 text"),
        ("fairalloc solve nope 2> /dev/full", 2, ""),
        ("fairalloc solve nope 2>&-", 2, ""),
        ("fairalloc export wang-fig2 --output /dev/full", 2, "cannot be used: No space left on device"),
        ("fairalloc export wang-fig2 --output /nowhere/x.lp", 2, "/nowhere/x.lp cannot be used: No such file or directory"),
        ("fairalloc solve wang-fig2 wang-pool --format jsonl | head -n 1 > /dev/null; exit ${PIPESTATUS[0]}", 0, ""),
    ],
)
def test_a_stream_that_takes_nothing(command, code, sentence):
    done = shell(command)
    assert done.returncode == code
    assert sentence in done.stderr.decode()
    assert len(done.stderr.decode().splitlines()) == bool(sentence)


def test_a_broken_package_takes_nothing_else_with_it(tmp_path):
    (tmp_path / "highspy.py").write_text("raise RuntimeError('a broken\\ninstall')")
    done = shell("fairalloc solve wang-fig2", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"drfh by interior-point, optimal" in done.stdout


def test_a_terminal_that_knows_ascii_only_gets_escapes(tmp_path):
    document = copy.deepcopy(BASE)
    document["users"][0]["name"] = "Zoë"
    (tmp_path / "names.json").write_text(json.dumps(document))
    done = shell(f"fairalloc solve '{tmp_path / 'names.json'}'", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"Zo\xeb" in done.stdout
