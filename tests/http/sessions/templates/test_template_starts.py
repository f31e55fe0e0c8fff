"""Sessions from templates: values, overrides, admission, and templates from sessions."""

from typing import Any

import pytest
from databases import sql
from folder_kit import folder
from installation import Api
from limit_kit import limit, set_ceilings
from people import eventually
from people_kit import status_and_code
from session_kit import SMALL
from template_kit import TRAINING, saved, started

PLAIN = {"image": "debian:12", "slots": SMALL}


async def test_a_member_starts_a_shared_template_with_their_values(api: Api):
    made = await saved(await api.as_("user"), shared=True)
    colleague = await api.as_("colleague")
    session = await started(colleague, "training", parameters={"epochs": "7", "tag": "blue"})
    assert session["owner"]["email"] == "colleague@example.org"
    assert session["command"] == ["train", "--epochs", "7", "$HOME"]
    assert session["env"] == {"TOKEN": "secret", "TAG": "blue"}
    assert session["name"].startswith("training-")
    assert session["project"] == made["project"]
    assert session["template"] == {"id": made["id"], "name": "training", "revision": 1}


async def test_a_session_keeps_the_revision_that_it_was_started_from(api: Api):
    user = await api.as_("user")
    made = await saved(user)
    first = await started(user, "training", parameters={"epochs": 1})
    await user.patch("/templates/training", {"name": "drills"})
    second = await started(user, "drills", parameters={"epochs": 1})
    await user.delete("/templates/drills")
    for session, name, revision in ((first, "training", 1), (second, "drills", 2)):
        shown = (await user.get(f"/sessions/{session['id']}")).json()
        assert shown["template"] == {"id": made["id"], "name": name, "revision": revision}
        assert (await user.post(f"/sessions/{session['id']}/again")).json()["template"] == shown["template"]
    assert (await user.start())["template"] is None


async def test_a_session_of_an_adjusted_request_records_the_template_and_the_revision(api: Api):
    user = await api.as_("user")
    made = await saved(user)
    shown = (await user.post("/templates/training/preview", {"parameters": {"epochs": 2}})).json()
    await user.patch("/templates/training", {"description": "changed meanwhile"})
    adjusted = {**shown["session"], "retries": 2}
    recorded = {"template": made["id"], "template_revision": shown["revision"]}
    session = (await user.post("/sessions", adjusted, params=recorded)).json()
    assert session["template"] == {"id": made["id"], "name": "training", "revision": 1}
    latest = (await user.post("/sessions", adjusted, params={"template": "training"})).json()
    assert latest["template"]["revision"] == 2
    other = await api.as_("stranger")
    hidden = await other.post("/sessions", {**PLAIN}, params={"template": made["id"]})
    assert status_and_code(hidden) == (404, "template.not_found")


async def test_every_parameter_at_fault_has_a_code_and_a_hint(api: Api):
    user = await api.as_("user")
    await saved(user)
    answer = await user.post("/templates/training/start", {"parameters": {"tag": "green", "speed": 1}})
    assert status_and_code(answer) == (422, "template.parameter_missing")
    assert (answer.json()["field"], answer.json()["hint"]) == ("parameters.epochs", "Passes over the data.")
    faults = answer.json()["details"]["parameters"]
    assert {name: one["code"] for name, one in faults.items()} == {
        "epochs": "template.parameter_missing",
        "tag": "template.parameter_invalid",
        "speed": "template.unknown_parameter",
    }
    assert faults["tag"]["detail"] == "tag is one of red, blue."
    assert (await user.get("/sessions")).json()["items"] == []


async def test_overrides_replace_the_definition_literally(api: Api):
    user = await api.as_("user")
    await saved(user)
    session = await started(
        user,
        "training",
        parameters={"epochs": 1},
        name="special",
        slots={"cpu": 200, "mem": 128 << 20},
        priority=10,
        time_limit_s=600,
        start_at="2099-01-01T00:00:00Z",
    )
    assert (session["name"], session["priority"], session["time_limit_s"]) == ("special", 10, 600)
    assert session["slots"] == {"cpu": 200, "mem": 128 << 20}
    assert session["start_at"] == "2099-01-01T00:00:00+00:00"


async def test_a_start_is_admitted_as_any_session(api: Api):
    user, stranger = await api.as_("user"), await api.as_("stranger")
    await saved(user)
    body: dict[str, Any] = {"parameters": {"epochs": 1}}
    elsewhere = await user.post("/templates/training/start", {**body, "project": api.people.other_project})
    assert (status_and_code(elsewhere), elsewhere.json()["field"]) == ((404, "project.not_found"), "project")
    await set_ceilings(api.database, api.people.project, cpu=1000)
    large = await user.post("/templates/training/start", {**body, "slots": {"cpu": 10**9, "mem": 64 << 20}})
    assert (status_and_code(large), large.json()["field"]) == ((409, "session.over_ceiling"), "slots.cpu")
    await limit(api.database, "keypair", pending_sessions=0)
    full = await user.post("/templates/training/start", body)
    assert status_and_code(full) == (409, "session.too_many_waiting")
    await sql(api.database, "UPDATE projects SET archived_at = now()")
    archived = await user.post("/templates/training/start", body)
    assert status_and_code(archived) == (409, "project.archived")
    assert status_and_code(await stranger.post("/templates/training/start", body)) == (
        404,
        "template.not_found",
    )


@pytest.mark.parametrize(
    ("field", "type_", "value", "code"),
    [
        ({"image": "${p}"}, "image", "not an image", "invalid.image"),
        ({"slots": {"cpu": "${p}", "mem": "64m"}}, "integer", 10**6, "session.over_ceiling"),
        ({"mounts": [{"folder": "${p}"}]}, "folder", "nonesuch", "template.parameter_invalid"),
        ({"name": "${p}"}, "text", "a b", "template.parameter_invalid"),
        ({"group": "${p}"}, "text", "nonesuch", "group.not_found"),
    ],
)
async def test_errors_of_a_value_name_its_parameter(
    api: Api, field: dict[str, Any], type_: str, value: object, code: str
):
    user = await api.as_("user")
    await saved(user, parameters=[{"name": "p", "type": type_}], session={**PLAIN, **field})
    await set_ceilings(api.database, api.people.project, cpu=1000)
    answer = await user.post("/templates/training/start", {"parameters": {"p": value}})
    assert (answer.json()["code"], answer.json()["field"]) == (code, "parameters.p"), answer.text


async def test_a_folder_is_that_of_who_starts(api: Api):
    user, colleague = await api.as_("user"), await api.as_("colleague")
    parameters = [{"name": "data", "type": "folder", "default": "data"}]
    mounts = [{"folder": "${data}", "path": "/data"}]
    await saved(user, shared=True, parameters=parameters, session={**PLAIN, "mounts": mounts})
    assert status_and_code(await colleague.post("/templates/training/start", {})) == (
        422,
        "template.parameter_invalid",
    )
    theirs = await folder(colleague)
    session = await started(colleague, "training")
    assert [(one["folder_id"], one["path"]) for one in session["mounts"]] == [(theirs["id"], "/data")]


async def test_a_repeat_with_the_same_key_gives_the_first_session(api: Api):
    user = await api.as_("user")
    await saved(user)
    body, headers = {"parameters": {"epochs": 1}}, {"Idempotency-Key": "k"}
    first = await user.post("/templates/training/start", body, headers=headers)
    again = await user.post("/templates/training/start", body, headers=headers)
    assert first.json()["id"] == again.json()["id"]


async def test_a_preview_shows_the_request_and_creates_nothing(api: Api):
    user = await api.as_("user")
    made = await saved(user)
    answer = await user.post("/templates/training/preview", {"parameters": {"epochs": 2}, "priority": 9})
    assert answer.json()["session"] == {
        **TRAINING,
        "command": ["train", "--epochs", "2", "$HOME"],
        "env": {"TOKEN": "secret", "TAG": "red"},
        "project": made["project"]["name"],
        "priority": 9,
    }
    assert (await user.get("/sessions")).json()["items"] == []
    named = await user.post("/templates/training/preview", {"parameters": {"epochs": 2}, "name": "mine_1"})
    assert named.json()["session"]["name"] == "mine_1"


async def test_a_session_is_saved_as_a_template_with_its_texts_as_they_are(living: Api):
    user = await living.as_("user")
    options = {
        "env": {"TOKEN": "secret", "PATHS": "${HOME}/bin"},
        "bootstrap": "echo ${USER} $${x}",
        "workdir": "src",
        "description": "night",
        "grace_s": 3,
    }
    session = await user.start(name="desk", **options)
    await living.until(user, session["id"], "RUNNING")
    made = await user.post("/templates", {"name": "my-desk", "from_session": "desk"})
    assert made.status_code == 201, made.text
    definition = made.json()["session"]
    assert definition["env"]["PATHS"] == "$${HOME}/bin"
    assert {"name", "priority", "node", "group"} & set(definition) == set()
    other = await started(user, "my-desk")
    assert {name: other[name] for name in options} == options
    assert (other["slots"], other["image"]) == (session["slots"], session["image"])

    async def runs() -> bool:
        return bool((await user.get(f"/sessions/{other['id']}")).json()["state"] == "RUNNING")

    await eventually(runs)


async def test_an_array_and_its_roles_are_saved_as_a_template(api: Api):
    user = await api.as_("user")
    array = {"first": 1, "last": 3, "max_parallel": 2}
    role = {"name": "worker", "count": 2, "env": {"K": "v"}}
    session = await user.start(kind="batch", command=["x"], array=array, roles=[role], name="sweep")
    await user.post("/templates", {"name": "my-sweep", "from_session": session["id"]})
    again = await started(user, "my-sweep")
    assert (again["array"]["first"], again["array"]["last"], again["cluster_size"]) == (1, 3, 3)
    assert again["roles"][0]["env"] == {"K": "v"}
    members = (await user.get("/sessions", params={"array": again["array"]["id"]})).json()["items"]
    assert len(members) == 3


async def test_only_ones_own_session_is_saved(api: Api):
    session = await (await api.as_("user")).start(env={"TOKEN": "secret"})
    body = {"name": "theirs", "from_session": session["id"]}
    assert (await (await api.as_("colleague")).post("/templates", body)).status_code == 404
    assert (await (await api.as_("superadmin")).post("/templates", body)).status_code == 403
