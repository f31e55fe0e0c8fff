"""Environments over HTTP: saved from sessions, started from, shared and deleted."""

from typing import Any

import pytest
from databases import sql
from installation import Api, Caller
from people import eventually
from people_kit import project_admin, status_and_code
from session_kit import SMALL

from carrel.engines.left_out import LeftOut
from carrel.engines.port import EngineError

SECRET = "hunter2"


async def started(living: Api, caller: Caller, **more: Any) -> dict[str, Any]:
    """A running session of the caller with a file of its own."""
    session = await caller.start(**more)
    running = await living.until(caller, session["id"], "RUNNING")
    [container] = [
        one
        for one in living.engine.world.containers.values()
        if one.spec.env["CARREL_SESSION_ID"] == session["id"]
    ]
    container.files["/home/work/model.py"] = b"model"
    container.files["/tmp/token"] = SECRET.encode()
    return running


async def settled(caller: Caller, name: str, version: str | None = None) -> dict[str, Any]:
    """The version of an environment, the latest if none is given, once it is made or not."""

    async def ended() -> dict[str, Any] | None:
        versions = (await caller.get(f"/environments/{name}")).json()["versions"]
        one = next(one for one in versions if version in (None, one["name"]))
        return one if one["state"] not in ("waiting", "running") else None

    return await eventually(ended)  # type: ignore[no-any-return]


async def saved(living: Api, caller: Caller, name: str = "torch", **more: Any) -> dict[str, Any]:
    """A session of the caller saved as that environment; the version."""
    session = await started(living, caller)
    answer = await caller.post(f"/sessions/{session['id']}/save", {"name": name, **more})
    assert answer.status_code == 202, answer.text
    version = await settled(caller, answer.json()["id"])
    assert version["state"] == "ready", version
    return version


async def test_a_running_session_is_saved_and_sessions_start_from_it(living: Api) -> None:
    user = await living.as_("user")
    session = await started(living, user, env={"TOKEN": SECRET})
    preview = (await user.get(f"/sessions/{session['id']}/save")).json()
    assert (preview["variables"], preview["refusal"], preview["base"]) == (["TOKEN"], None, "debian:12")
    assert SECRET not in str(preview)
    assert {one["kind"] for one in preview["left_out"]} == set(LeftOut)

    made = await user.post(f"/sessions/{session['id']}/save", {"name": "torch", "note": "first"})
    assert made.status_code == 202, made.text
    assert (await settled(user, "torch"))["state"] == "ready"
    await user.post(f"/sessions/{session['id']}/save", {"name": "torch", "version": "cuda12"})
    await settled(user, "torch", "cuda12")
    shown = (await user.get("/environments/torch")).json()
    assert [(one["name"], one["note"], one["default"]) for one in shown["versions"]] == [
        ("cuda12", "", True),
        ("1", "first", False),
    ]
    assert shown["versions"][1]["base"] == "debian:12"
    assert shown["versions"][1]["added_bytes"] == len("model")
    again = await user.post(f"/sessions/{session['id']}/save", {"name": "torch", "version": "1"})
    assert status_and_code(again) == (409, "environment.version_taken")

    for image, version in (("env:torch", "cuda12"), ("torch", "cuda12"), ("env:torch:1", "1")):
        checked = (await user.post("/sessions/check", {"image": image, "slots": SMALL})).json()
        assert checked["verdict"] == "starts", checked
        one = await user.start(image=image)
        running = await living.until(user, one["id"], "RUNNING")
        assert running["image_name"] == f"env:torch:{version}"
        containers = living.engine.world.containers.values()
        [container] = [it for it in containers if it.spec.env["CARREL_SESSION_ID"] == one["id"]]
        assert container.files == {"/home/work/model.py": b"model"}
    copy = (await user.post(f"/sessions/{one['id']}/again", {})).json()
    assert copy["image_name"] == "env:torch:1"
    rows = await sql(
        living.database, "SELECT action FROM audit WHERE action = 'session.save' AND outcome = 'done'"
    )
    assert [action for (action,) in rows] == ["session.save"] * 2


async def test_nothing_is_deleted_that_a_session_uses(living: Api) -> None:
    user = await living.as_("user")
    await saved(living, user)
    await saved(living, user)
    await user.patch("/environments/torch", {"default_version": "1", "description": "for training"})
    session = await user.start(image="env:torch")
    await living.until(user, session["id"], "RUNNING")
    assert (await user.get("/environments/torch")).json()["versions"][1]["used_by"] == 1
    for path in ("/environments/torch", "/environments/torch/versions/1"):
        assert status_and_code(await user.delete(path)) == (409, "environment.in_use")
    assert (await user.delete("/environments/torch/versions/2")).status_code == 204
    assert len((await user.get("/environments/torch")).json()["versions"]) == 1
    await user.delete(f"/sessions/{session['id']}")
    await living.until(user, session["id"], "TERMINATED")
    assert (await user.delete("/environments/torch")).status_code == 204
    assert status_and_code(await user.get("/environments/torch")) == (404, "environment.not_found")
    missing = await user.post("/sessions", {"image": "env:torch", "slots": SMALL})
    assert status_and_code(missing) == (404, "environment.not_found")

    async def gone() -> bool:
        left = await sql(living.database, "SELECT 1 FROM environments")
        return not left and not living.engine.world.commits

    await eventually(gone)


async def test_who_may_not_see_an_environment_learns_nothing_of_it(living: Api) -> None:
    user = await living.as_("user")
    version = await saved(living, user)
    id_ = (await user.get("/environments/torch")).json()["id"]
    for name in ("colleague", "stranger", "foreigner"):
        other = await living.as_(name)
        for ref in (id_, "torch"):
            path = f"/environments/{ref}"
            for answer in (
                await other.get(path),
                await other.patch(path, {"description": "mine"}),
                await other.delete(path),
                await other.delete(f"{path}/versions/1"),
                await other.patch(f"{path}/versions/1", {"note": "mine"}),
                await other.post(f"{path}/versions/1/cancel", {}),
                await other.get(f"{path}/shares"),
                await other.post(f"{path}/shares", {"user": f"{name}@example.org"}),
                await other.delete(f"{path}/shares/{name}"),
            ):
                assert status_and_code(answer) == (404, "environment.not_found")
        for image in (f"env:{id_}", "env:torch", version["reference"]):
            answer = await other.post("/sessions", {"image": image, "slots": SMALL})
            assert status_and_code(answer) == (404, "environment.not_found"), image
        for which in ("usable", "all"):
            assert (await other.get(f"/environments?owner={which}")).json()["items"] == []
    # An operator looks after it, but starts nothing from it.
    admin = await living.as_("superadmin")
    assert [one["id"] for one in (await admin.get("/environments?owner=all")).json()["items"]] == [id_]
    assert (await admin.get("/environments")).json()["items"] == []
    answer = await admin.post("/sessions", {"image": f"env:{id_}", "slots": SMALL})
    assert answer.status_code == 404


@pytest.mark.parametrize("recipient", [{"user": "colleague@example.org"}, {"project": "vision"}])
async def test_whom_it_is_shared_with_starts_from_it_and_changes_nothing(
    living: Api, recipient: dict[str, str]
) -> None:
    user, colleague = await living.as_("user"), await living.as_("colleague")
    await saved(living, user)
    if "project" in recipient:
        projects = await sql(
            living.database, f"SELECT name FROM projects WHERE id = '{living.people.project}'"
        )
        recipient = {"project": projects[0][0]}
    for _ in range(2):
        share = await user.post("/environments/torch/shares", recipient)
        assert share.status_code == 201, share.text
    assert len((await user.get("/environments/torch/shares")).json()["items"]) == 1
    [seen] = (await colleague.get("/environments")).json()["items"]
    assert (seen["may_start"], seen["may_change"], seen["shared_with"]) == (True, False, 1)
    assert (await colleague.start(image="torch"))["image"] == "torch"
    session = await colleague.start(image=seen["image"])
    await living.until(colleague, session["id"], "RUNNING")
    path = f"/environments/{seen['id']}"
    for answer in (
        await colleague.patch(path, {"name": "mine"}),
        await colleague.delete(path),
        await colleague.post(f"{path}/shares", {"user": "user@example.org"}),
    ):
        assert status_and_code(answer) == (403, "policy.forbidden")
    assert (await (await living.as_("foreigner")).get(path)).status_code == 404
    [who] = recipient.values()
    assert (await user.delete(f"/environments/torch/shares/{who}")).status_code == 204
    assert (await colleague.get(path)).status_code == 404
    answer = await colleague.post("/sessions", {"image": f"env:{seen['id']}", "slots": SMALL})
    assert answer.status_code == 404


async def test_an_environment_of_a_project_is_its_members_and_its_administrators_change_it(
    living: Api,
) -> None:
    user, colleague, lead = (
        await living.as_("user"),
        await living.as_("colleague"),
        await project_admin(living),
    )
    await saved(living, user, project=living.people.project)
    [seen] = (await colleague.get("/environments")).json()["items"]
    assert (seen["owner"], seen["project"]["id"], seen["may_change"]) == (None, living.people.project, False)
    session = await colleague.start(image="env:torch")
    await living.until(colleague, session["id"], "RUNNING")
    assert status_and_code(await colleague.delete("/environments/torch")) == (403, "policy.forbidden")
    for one in (user, lead):
        assert (await one.patch("/environments/torch", {"description": one.name})).status_code == 200
    assert (await (await living.as_("stranger")).get(f"/environments/{seen['id']}")).status_code == 404


async def test_a_save_is_cancelled(living: Api) -> None:
    user = await living.as_("user")
    living.engine.world.commit_s = 3600.0
    session = await started(living, user)
    await user.post(f"/sessions/{session['id']}/save", {"name": "torch"})

    async def copying() -> bool:
        [version] = (await user.get("/environments/torch")).json()["versions"]
        return bool(version["state"] == "running" and version["progress"])

    await eventually(copying)
    image = await user.post("/sessions", {"image": "env:torch", "slots": SMALL})
    assert status_and_code(image) == (404, "environment.no_version")
    image = await user.post("/sessions", {"image": "env:torch:1", "slots": SMALL})
    assert status_and_code(image) == (409, "environment.not_ready")
    for _ in range(2):
        assert (await user.post("/environments/torch/versions/1/cancel", {})).status_code == 204
    assert (await settled(user, "torch"))["state"] == "cancelled"
    assert not living.engine.world.commits


async def test_why_a_save_failed_is_shown_and_its_version_is_saved_again(living: Api) -> None:
    user = await living.as_("user")
    full = EngineError("The container engine's disk is full.", retriable=True, code="disk_full")
    living.engine.world.fail_next("commit", full)
    session = await started(living, user)
    body = {"name": "torch", "version": "a"}
    await user.post(f"/sessions/{session['id']}/save", body)
    failed = await settled(user, "torch")
    assert (failed["state"], failed["problem"]) == ("failed", full.message)
    assert not living.engine.world.commits
    assert (await user.post(f"/sessions/{session['id']}/save", body)).status_code == 202
    assert (await settled(user, "torch"))["state"] == "ready"
    await user.delete(f"/sessions/{session['id']}")
    await living.until(user, session["id"], "TERMINATED")
    ended = await user.post(f"/sessions/{session['id']}/save", body)
    assert status_and_code(ended) == (409, "session.not_running")


async def test_only_its_owner_saves_a_session_and_only_where_the_engine_can(living: Api) -> None:
    user, lead = await living.as_("user"), await project_admin(living)
    session = await started(living, user)
    path = f"/sessions/{session['id']}/save"
    assert status_and_code(await lead.post(path, {"name": "torch"})) == (403, "policy.forbidden")
    assert status_and_code(await lead.get(path)) == (403, "policy.forbidden")
    await sql(living.database, "UPDATE nodes SET capabilities = capabilities - 'commits'")
    refused = await user.post(path, {"name": "torch"})
    assert status_and_code(refused) == (409, "environment.engine_cannot")
    assert (await user.get(path)).json()["refusal"] == refused.json()["detail"]


async def test_a_session_goes_only_where_the_image_is(living: Api) -> None:
    user = await living.as_("user")
    version = await saved(living, user)
    await sql(
        living.database,
        "INSERT INTO engines (id, name, kind, state) VALUES ('west', 'west', 'fake', 'DOWN')",
    )
    body = {"image": "env:torch", "slots": SMALL}
    assert (await user.post("/sessions/check", body)).json()["groups"][0]["verdict"] == "starts"
    await sql(living.database, "UPDATE environment_versions SET engine_id = 'west'")
    # Its node has the image, wherever it was saved.
    assert (await user.post("/sessions/check", body)).json()["groups"][0]["verdict"] == "starts"
    living.engine.world.local_images.discard(version["reference"])
    await sql(living.database, "UPDATE nodes SET images = '[]'")
    checked = (await user.post("/sessions/check", body)).json()
    reason = "1 node: does not have the environment torch:1."
    assert (checked["groups"][0]["verdict"], checked["reason"]) == ("never", reason)
    waiting = await user.start(**body)

    async def refused() -> bool:
        return bool((await user.get(f"/sessions/{waiting['id']}")).json()["reason"] == reason)

    await eventually(refused)
