"""Files of templates: amounts with references stay texts, and what is exported can be saved again."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from carrel_client.definition import read_file, request_of, template_definition, template_request
from carrel_client.errors import CarrelError

FILE = """
name: training
description: Trains a model.
shared: true
parameters:
- name: cores
  type: integer
  default: 2
- name: note
  default: ""
session:
  image: starter
  cpu: ${cores}
  mem: 4g
  slots: {cuda.shares: "0.5"}
  kind: batch
  command: [train, "${note}"]
  time_limit_s: ${cores}h
  shm_bytes: 1g
  grace_s: 2m
  array: 1-${cores}%8
  roles:
  - name: worker
    count: 2
    mem: ${cores}g
    shm_bytes: 256m
"""


def test_amounts_with_references_stay_texts_and_others_are_in_base_units(tmp_path: Path) -> None:
    file = tmp_path / "training.yaml"
    file.write_text(FILE)
    fields = read_file(str(file), template_request)
    assert (fields["name"], fields["shared"], len(fields["parameters"])) == ("training", True, 2)
    assert fields["session"] == {
        "image": "starter",
        "slots": {"cpu": "${cores}", "mem": 4 << 30, "cuda.shares": 500},
        "kind": "batch",
        "command": ["train", "${note}"],
        "time_limit_s": "${cores}h",
        "shm_bytes": 1 << 30,
        "grace_s": 120,
        "array": {"first": 1, "last": "${cores}", "max_parallel": 8},
        "roles": [{"name": "worker", "count": 2, "slots": {"mem": "${cores}g"}, "shm_bytes": 1 << 28}],
    }


def test_a_definition_of_a_session_is_one_of_a_template() -> None:
    assert template_request({"image": "starter", "cpu": "2", "name": "run-${tag}"}) == {
        "session": {"image": "starter", "name": "run-${tag}", "slots": {"cpu": 2000}}
    }


def test_an_exported_template_is_saved_as_the_same() -> None:
    parsed = template_request(yaml.safe_load(FILE))
    full = {"type": "text", "default": None, "description": "", "min": None, "max": None, "choices": []}
    shown: Any = {
        **parsed,
        "revision": 3,
        "parameters": [{**full, **parameter} for parameter in parsed["parameters"]],
    }
    exported = yaml.safe_load(yaml.safe_dump(template_definition(shown)))
    assert exported["session"]["cpu"] == "${cores}"
    assert exported["session"]["array"] == "1-${cores}%8"
    again = template_request(exported)
    assert again == {
        **parsed,
        "revision": 3,
        "parameters": [
            {"name": "cores", "type": "integer", "default": 2},
            {"name": "note", "type": "text", "default": ""},
        ],
    }


def test_hidden_values_stay_in_the_file_so_that_an_edit_keeps_them() -> None:
    shown: Any = {
        "name": "t",
        "description": "",
        "shared": False,
        "revision": 1,
        "parameters": [],
        "session": {"image": "starter", "slots": {"cpu": 1000, "mem": 1 << 30}, "env": {"KEY": "********"}},
    }
    assert template_definition(shown) == {
        "name": "t",
        "revision": 1,
        "session": {"image": "starter", "cpu": 1, "mem": "1g", "env": {"KEY": "********"}},
    }


def test_references_are_only_for_templates() -> None:
    with pytest.raises(ValueError, match=r"'\$\{cores\}' is not a number of CPUs"):
        request_of({"cpu": "${cores}"})


@pytest.mark.parametrize("text", ["session: 3", "{session: {cpu: many}}", "array: 1-x"])
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, text: str) -> None:
    file = tmp_path / "t.yaml"
    file.write_text(text)
    with pytest.raises(CarrelError) as error:
        read_file(str(file), template_request)
    assert error.value.code == "client.bad_definition"
