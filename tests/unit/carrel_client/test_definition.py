"""Definitions of sessions in files: what they may hold, and that what is exported can be read again."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from carrel_client.cli.commands import COMMANDS
from carrel_client.cli.parser import arguments_of
from carrel_client.cli.session_request import session_request
from carrel_client.definition import (
    HIDDEN,
    definition_of,
    load,
    parse_array,
    request_in,
    request_of,
    text_of,
    written,
)
from carrel_client.errors import CarrelError

JOB = """
image: starter
name: sweep
cpu: 2
mem: 4g
slots: {cuda.shares: "0.5"}
kind: batch
command: [python, train.py]
time_limit_s: 2h
start_at: 2026-12-24T22:00:00Z
shm_bytes: 1g
disk_bytes: 20GiB
grace_s: 2m
array: 1-100%8
env: {SEED: "7"}
mounts: [{folder: data}]
"""


def given(*words: str) -> Any:
    parser, _ = arguments_of(COMMANDS["session create"])
    return session_request(parser.read(list(words)))


def test_amounts_are_read_as_people_write_them(tmp_path: Path) -> None:
    job = tmp_path / "job.yaml"
    job.write_text(JOB)
    assert load(str(job)) == {
        "image": "starter",
        "name": "sweep",
        "kind": "batch",
        "command": ["python", "train.py"],
        "time_limit_s": 7200,
        "start_at": "2026-12-24T22:00:00+00:00",
        "shm_bytes": 1 << 30,
        "disk_bytes": 20 << 30,
        "grace_s": 120,
        "array": {"first": 1, "last": 100, "max_parallel": 8},
        "env": {"SEED": "7"},
        "mounts": [{"folder": "data"}],
        "slots": {"cpu": 2000, "mem": 4 << 30, "cuda.shares": 500},
    }


def test_a_request_of_the_api_is_a_definition(tmp_path: Path) -> None:
    request = {"image": "starter", "slots": {"cpu": 2000, "mem": 1 << 30}, "array": {"first": 0, "last": 3}}
    job = tmp_path / "job.json"
    job.write_text(json.dumps(request))
    assert load(str(job)) == request


def test_options_override_the_definition(tmp_path: Path) -> None:
    job = tmp_path / "job.yaml"
    job.write_text(JOB)
    plain = given("-f", str(job))
    assert (plain["image"], plain["slots"]) == ("starter", {"cpu": 2000, "mem": 4 << 30, "cuda.shares": 500})
    request = given(
        "-f", str(job), "--cpu", "4", "--name", "other", "--env", "A=b", "-v", "more", "--array", "1-2"
    )
    assert request["slots"] == {"cpu": 4000, "mem": 4 << 30, "cuda.shares": 500}
    assert (request["name"], request["time_limit_s"]) == ("other", 7200)
    assert request["env"] == {"SEED": "7", "A": "b"}
    assert request["mounts"] == [{"folder": "data"}, {"folder": "more"}]
    assert request["array"] == {"first": 1, "last": 2}
    assert given()["slots"] == {"cpu": 1000, "mem": 1 << 30}
    assert given()["image"] == "starter"


@pytest.mark.parametrize("text", ["- a list", "mem: many", "array: 1-", "a: [", "slots: {cpu: x}"])
def test_a_definition_that_cannot_be_used_says_why(tmp_path: Path, text: str) -> None:
    job = tmp_path / "job.yaml"
    job.write_text(text)
    with pytest.raises(CarrelError) as error:
        load(str(job))
    assert error.value.code == "client.bad_definition"
    assert str(job) in error.value.detail


def test_arrays_are_ranges_with_a_limit() -> None:
    assert parse_array("1-100%8") == {"first": 1, "last": 100, "max_parallel": 8}
    assert parse_array("0-9") == {"first": 0, "last": 9}
    for text in ("5", "1-5%", "a-b", "1-5-9"):
        with pytest.raises(ValueError, match="FIRST-LAST"):
            parse_array(text)


SESSION: Any = {
    "name": "train-3",
    "image": "registry/starter:1",
    "image_name": "starter",
    "slots": {"cpu": 1500, "mem": 3 << 30, "cuda.shares": 500, "cuda.device": 0},
    "project": {"id": "p", "name": "vision"},
    "group": {"id": "g", "name": "default"},
    "accepted_groups": [{"id": "g", "name": "default"}, {"id": "c", "name": "cloud"}],
    "description": "",
    "kind": "batch",
    "command": ["sh", "-c", "echo $CARREL_ARRAY_INDEX"],
    "retries": 2,
    "start_at": None,
    "time_limit_s": 7200,
    "priority": 50,
    "rights": "root",
    "placement": "spread",
    "topology": None,
    "on_failure": "end",
    "env": {"A": "b", "SECRET": HIDDEN},
    "mounts": [
        {"folder_name": "data", "path": "/data", "subpath": "", "read_only": True, "automatic": False},
        {"folder_name": ".local", "path": "/x", "subpath": "", "read_only": False, "automatic": True},
    ],
    "array": {"id": "x", "name": "train", "first": 1, "last": 9, "max_parallel": 2, "counts": []},
    "roles": [],
    "cluster_size": 1,
    "bootstrap": "make\n",
    "shm_bytes": 1 << 30,
    "disk_bytes": 5 << 30,
    "workdir": None,
    "timezone": "Asia/Seoul",
    "locale": None,
    "stop_signal": "SIGTERM",
    "grace_s": 120,
}


def test_an_exported_definition_requests_the_same_session() -> None:
    definition = yaml.safe_load(yaml.safe_dump(definition_of(SESSION)))
    assert request_of(definition) == {
        "name": "train",
        "image": "starter",
        "slots": {"cpu": 1500, "mem": 3 << 30, "cuda.shares": 500},
        "project": "vision",
        "group": "default",
        "alternative_groups": ["cloud"],
        "kind": "batch",
        "command": ["sh", "-c", "echo $CARREL_ARRAY_INDEX"],
        "retries": 2,
        "time_limit_s": 7200,
        "rights": "root",
        "env": {"A": "b"},
        "mounts": [{"folder": "data", "path": "/data", "read_only": True}],
        "array": {"first": 1, "last": 9, "max_parallel": 2},
        "bootstrap": "make\n",
        "shm_bytes": 1 << 30,
        "disk_bytes": 5 << 30,
        "timezone": "Asia/Seoul",
        "grace_s": 120,
    }


def test_a_bootstrap_script_that_is_hidden_is_left_out() -> None:
    assert "bootstrap" not in definition_of({**SESSION, "bootstrap": HIDDEN})


def test_a_request_is_written_and_read_again_without_loss() -> None:
    request: dict[str, Any] = {
        "name": "sweep",
        "image": "starter",
        "slots": {"cpu": 250, "mem": (3 << 20) + 1, "cuda.device": 2},
        "kind": "batch",
        "command": ["sh", "-c", "echo '$A'\n"],
        "project": "vision",
        "group": "gpu",
        "node": "n1",
        "start_at": "2026-12-24T22:00:00+00:00",
        "on_failure": "continue",
        "placement": "together",
        "topology": "rack",
        "rights": "root",
        "bootstrap": "make\n\n",
        "env": {"A": "yes", "B": "1"},
        "mounts": [{"folder": "data", "subpath": "a b", "read_only": True}],
        "roles": [{"name": "worker", "count": 2, "slots": {"cpu": 500, "mem": 1 << 30}, "command": ["x"]}],
        "after": [{"session": "abc", "condition": "failed"}],
        "on_dependency_failure": "wait",
        "array": {"first": 1, "last": 5},
    }
    assert request_in(text_of(written(request))) == request
    assert (
        request_in(text_of(written({**request, "priority": 50, "retries": 0, "description": ""}))) == request
    )
    alike = {"image": "starter", "slots": request["slots"], "containers": 3}
    assert request_in(text_of(written(alike))) == alike


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [1]\nb: *a",
        "[" * 100,
        "image: starter\nroles: 5",
        "image: starter\nslots: [1]",
        "a: !!python/none",
    ],
)
def test_a_text_that_is_no_definition_says_so(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        request_in(text)
