"""Definitions over HTTP: a request as a text, and a text as a request."""

import json
from typing import Any

import yaml
from installation import Api
from session_kit import request

COMPLETE: dict[str, Any] = request(
    kind="batch",
    name="sweep",
    command=["sh", "-c", "echo $CARREL_ARRAY_INDEX"],
    env={"TOKEN": "yes"},
    array={"first": 1, "last": 3, "max_parallel": 2},
    time_limit_s=7200,
    bootstrap="true\n",
    mounts=[{"folder": "data", "read_only": True}],
    priority=50,
)


async def test_a_definition_is_written_as_export_does_and_read_again(api: Api):
    user = await api.as_("user")
    answer = await user.post("/definitions", COMPLETE)
    assert answer.status_code == 200, answer.text
    written = answer.json()
    assert yaml.safe_load(written["text"]) == written["definition"]
    assert written["definition"]["array"] == "1-3%2"
    assert "priority" not in written["definition"]
    again = (await user.post("/definitions/read", {"text": written["text"]})).json()["session"]
    assert again == {field: value for field, value in COMPLETE.items() if field != "priority"}
    assert (await user.get("/sessions", params={"state": "all"})).json()["items"] == []


async def test_a_template_is_shown_as_a_text_that_is_read_with_its_references(api: Api):
    user = await api.as_("user")
    session = {
        "image": "starter",
        "slots": {"cpu": "${cores}", "mem": 4 << 30},
        "command": ["train", "${epochs}"],
        "roles": [{"name": "worker", "slots": {"cpu": 500, "mem": 1 << 30}}],
        "kind": "batch",
    }
    parameters = [{"name": "cores", "type": "integer", "default": 2}, {"name": "epochs", "default": "9"}]
    made = await user.post("/templates", {"name": "training", "session": session, "parameters": parameters})
    assert made.status_code == 201, made.text
    shown = (await user.get("/templates/training")).json()
    assert shown["text"].startswith("image: starter\ncpu: ${cores}\nmem: 4g\n")
    read = await user.post("/definitions/read", {"text": shown["text"], "template": True})
    assert read.json()["session"] == shown["session"]
    refused = await user.post("/definitions/read", {"text": shown["text"]})
    assert refused.json()["code"] == "session.bad_definition"


async def test_a_text_may_be_json_and_a_bad_one_names_its_field(api: Api):
    user = await api.as_("user")
    given = {"image": "starter", "cpu": "500m", "mem": "1g"}
    session = (await user.post("/definitions/read", {"text": json.dumps(given)})).json()["session"]
    assert session == {"image": "starter", "slots": {"cpu": 500, "mem": 1 << 30}}
    bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]"
    for text in ("- 1", "mem: many", "image: [", bomb, "[" * 50_000):
        answer = await user.post("/definitions/read", {"text": text})
        problem = answer.json()
        assert (answer.status_code, problem["code"], problem["field"]) == (
            422,
            "session.bad_definition",
            "text",
        ), text[:20]
