"""Instances and allocations go to files and come back."""

import json

import pytest

import fairalloc as fa


def test_an_instance_comes_back_equal(tmp_path):
    for item in fa.EXAMPLES[:5]:
        fa.write_instance(item.instance, tmp_path / "a.json")
        assert fa.read_instance(tmp_path / "a.json") == item.instance


def test_an_allocation_comes_back_on_the_instance_where_it_was_given(tmp_path):
    wang = fa.example("wang-fig2").instance
    for mechanism, servers in (("drfh", 2), ("drf", 1)):
        answer = fa.solve(wang, mechanism)
        fa.write_allocation(answer, tmp_path / "x.json")
        back = fa.read_allocation(tmp_path / "x.json", wang)
        assert back.instance == answer.instance
        assert servers == back.instance.K
        assert back.x.tolist() == answer.x.tolist()
        assert fa.check(back, mechanism).holds is True


def test_an_allocation_that_names_no_mechanism_needs_one(tmp_path):
    wang = fa.example("wang-fig2").instance
    fa.write_allocation(fa.solve(wang, "drf"), tmp_path / "x.json")
    document = json.loads((tmp_path / "x.json").read_text()) | {"mechanism": ""}
    (tmp_path / "x.json").write_text(json.dumps(document))
    with pytest.raises(fa.InstanceError, match="there is no server 'pool': the servers are"):
        fa.read_allocation(tmp_path / "x.json", wang)
    assert fa.read_allocation(tmp_path / "x.json", wang, "drf").instance.K == 1
    with pytest.raises(fa.UnknownName):
        fa.read_allocation(tmp_path / "x.json", wang, "dfr-")


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    wang = fa.example("wang-fig2").instance
    fa.write_instance(wang, tmp_path / "a.json")
    (tmp_path / "a.json").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "a.json").read_bytes())
    assert fa.read_instance(tmp_path / "a.json") == wang


@pytest.mark.parametrize("name", ["a\\u001b[31m", "a\\ud800", "a\\nb"])
def test_names_that_terminals_would_obey_are_refused(tmp_path, name):
    wang = fa.example("wang-fig2").instance
    fa.write_instance(wang, tmp_path / "a.json")
    text = (tmp_path / "a.json").read_text()
    for old in (wang.users[0], wang.servers[0], wang.resources[0], wang.name):
        (tmp_path / "b.json").write_text(text.replace(f'"{old}"', f'"{name}"'))
        with pytest.raises(fa.InstanceError, match="has no control characters or surrogates"):
            fa.read_instance(tmp_path / "b.json")


@pytest.mark.parametrize(
    "number", ["1" * 5000, '"1/' + "3" * 5000 + '"', '"0.' + "1" * 200_000 + '"', "1e999999", '"1e9999"', '"1e-9999"']
)
def test_numbers_beyond_reason_are_one_sentence(tmp_path, number):
    text = (
        '{"schema": "fairalloc-instance/2", "resources": ["r"], "servers": [{"name": "s", "capacity": [1]}], '
        f'"users": [{{"name": "u", "demands": [[{number}]]}}]}}'
    )
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(fa.InstanceError) as caught:
        fa.read_instance(tmp_path / "a.json")
    assert len(str(caught.value)) < 250
    assert "\n" not in str(caught.value)
