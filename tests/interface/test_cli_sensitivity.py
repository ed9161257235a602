"""`fairalloc sensitivity`: the derivatives that `fa.sensitivity` has."""

import json

import fairalloc as fa
from fairalloc.cli import main


def test_the_command_says_what_python_says(capsys):
    expected = fa.sensitivity(fa.solve(fa.example("wang-fig2").instance, "nb"))
    assert abs(expected.up[0, 0, 0] - 5.0) < 1e-9
    assert main(["sensitivity", "wang-fig2", "-m", "nb"]) == 0
    assert capsys.readouterr().out == f"{expected}\n"
    assert main(["sensitivity", "wang-fig2", "-m", "nb", "--format", "latex"]) == 0
    assert capsys.readouterr().out == expected.grid().latex()
    assert main(["sensitivity", "wang-fig2", "-m", "nb", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == expected.to_dict()


def test_what_is_not_known_is_said_with_code_1(capsys):
    assert main(["sensitivity", "two-answers", "-m", "ps-dsf", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["reason"]
    assert main(["sensitivity", "wang-fig2", "-m", "nope"]) == 2
    assert capsys.readouterr().err.startswith("fairalloc: --mechanism: there is no mechanism 'nope'")
