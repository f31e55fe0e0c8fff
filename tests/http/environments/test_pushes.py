"""Environments are pushed to registries by their members, in the background, with the registry's credentials."""

from dataclasses import replace
from typing import Any

import pytest
from databases import sql
from environment_kit import made
from installation import Api, Caller
from people import eventually
from people_kit import status_and_code

from carrel.engines.optional import PUSHES
from carrel.engines.port import EngineError, PullCredentials
from carrel.engines.pushing import push_error


async def registry(admin: Caller, name: str = "ours", **fields: object) -> dict[str, Any]:
    """A registry that takes pushes below team/, unless the fields say otherwise."""
    body: dict[str, Any] = {
        "name": name,
        "url": f"https://{name}.example.org",
        "push": "members",
        "push_repositories": ["team/*"],
        **fields,
    }
    added = await admin.post("/registries", body)
    assert added.status_code == 201, added.text
    return added.json()  # type: ignore[no-any-return]


async def built(caller: Caller, name: str = "torch", **more: Any) -> None:
    await made(
        caller, "/environments/builds", name=name, files={"Dockerfile": "FROM debian:12\nRUN true"}, **more
    )


async def pushed(caller: Caller, state: str = "done", **body: Any) -> dict[str, Any]:
    """A push of torch:1 once it has that state."""
    answer = await caller.post("/environments/torch/versions/1/push", body)
    assert answer.status_code == 202, answer.text
    return await until(caller, answer.json()["id"], state)


async def until(caller: Caller, push: str, state: str) -> dict[str, Any]:
    async def reached() -> dict[str, Any] | None:
        one: dict[str, Any] = (await caller.get(f"/environments/torch/pushes/{push}")).json()
        return one if one["state"] == state else None

    return await eventually(reached)  # type: ignore[no-any-return]


async def test_a_version_is_pushed_with_the_credentials_of_the_registry(living: Api) -> None:
    admin, user = await living.as_("superadmin"), await living.as_("user")
    ours = await registry(admin, project=living.people.project, namespace="ml", username="robot", secret="s")
    await built(user)
    targets = (await user.get("/environments/torch/push-targets")).json()
    assert targets == {
        "items": [
            {
                "id": ours["id"],
                "name": "ours",
                "prefix": "ours.example.org/ml",
                "repositories": ["team/*"],
                "repository": "team/torch",
            }
        ],
        "refusal": None,
    }
    one = await pushed(user)
    reference = "ours.example.org/ml/team/torch:1"
    digest, credentials = living.engine.world.pushed[reference]
    assert credentials == PullCredentials("ours.example.org", "robot", "s")
    assert (one["reference"], one["digest"], one["progress"]) == (reference, digest, 1.0)
    assert one["pinned"] == f"ours.example.org/ml/team/torch@{digest}"
    assert (one["registry"]["name"], one["requested_by"]["email"]) == ("ours", "user@example.org")
    assert [it["id"] for it in (await user.get("/environments/torch/pushes")).json()["items"]] == [one["id"]]
    [(details,)] = await sql(living.database, "SELECT details FROM audit WHERE action = 'environment.push'")
    assert details["reference"] == reference
    private = await sql(living.database, "SELECT name, scope_id FROM private_repositories")
    assert private == [("ours.example.org/ml/team/torch", living.people.project)]
    published = (
        "SELECT data -> 'push' ->> 'state' FROM events WHERE kind = 'environment.updated' AND data ? 'push'"
    )
    states = [state for (state,) in await sql(living.database, published)]
    assert (states[0], states[-1]) == ("waiting", "done")
    ended = await user.delete(f"/environments/torch/pushes/{one['id']}")
    assert status_and_code(ended) == (409, "push.ended")


async def test_nobody_pushes_to_a_registry_that_does_not_permit_it(living: Api) -> None:
    admin, user = await living.as_("superadmin"), await living.as_("user")
    await built(user)
    path = "/environments/torch/versions/1/push"
    assert status_and_code(await user.post(path, {})) == (403, "push.no_registry")
    added = await admin.post("/registries", {"name": "off", "url": "https://off.example.org"})
    assert (added.json()["push"], added.json()["push_repositories"]) == ("nobody", [])
    assert status_and_code(await user.post(path, {"registry": "off"})) == (403, "push.not_permitted")
    open_to_all = await admin.patch("/registries/off", {"push": "members"})
    assert status_and_code(open_to_all) == (422, "registry.push_repositories_needed")
    await registry(admin, "theirs", project=living.people.other_project)
    assert status_and_code(await user.post(path, {"registry": "theirs"})) == (404, "registry.not_found")
    await registry(admin)
    body = {"registry": "ours", "repository": "library/python"}
    refused = await user.post(path, body)
    assert status_and_code(refused) == (403, "push.repository_not_permitted")
    assert "team/*" in refused.json()["hint"]
    assert (await user.post(path, {"repository": "Team/x"})).status_code == 422
    await registry(admin, "second")
    several = await user.post(path, {})
    assert status_and_code(several) == (422, "push.registry_needed")
    assert several.json()["details"]["registries"] == ["ours", "second"]
    long = {"registry": "ours", "repository": f"team/{'x' * 240}"}
    assert status_and_code(await user.post(path, long)) == (422, "push.name_too_long")
    await registry(admin, "plain", url="http://plain")
    assert status_and_code(await user.post(path, {"registry": "plain"})) == (422, "push.address")
    [limited] = await sql(
        living.database,
        f"UPDATE domains SET registries = '{{second.example.org}}' WHERE id = '{living.people.domain}' RETURNING id",
    )
    assert limited
    refused = await user.post(path, {"registry": "ours"})
    assert status_and_code(refused) == (403, "image.registry_not_allowed")
    targets = (await user.get("/environments/torch/push-targets")).json()["items"]
    assert [one["name"] for one in targets] == ["second"]
    colleague = await living.as_("colleague")
    assert status_and_code(await colleague.post(path, {})) == (404, "environment.not_found")
    assert living.engine.world.pushed == {}


async def test_what_may_pass_is_tried_again_and_what_cannot_is_said(living: Api) -> None:
    admin, user = await living.as_("superadmin"), await living.as_("user")
    await registry(admin)
    await built(user)
    busy = push_error("ours.example.org/team/torch:1", "toomanyrequests: slow down")
    living.engine.world.fail_next("push_image", busy)
    push = (await user.post("/environments/torch/versions/1/push", {})).json()["id"]

    async def postponed() -> bool:
        one = (await user.get(f"/environments/torch/pushes/{push}")).json()
        return one["code"] == "registry_busy" and one["state"] == "running"

    await eventually(postponed)
    await sql(living.database, "UPDATE environment_pushes SET due_at = now()")
    await sql(living.database, "NOTIFY carrel, 'environment_pushes'")
    one = await until(user, push, "done")
    assert (one["problem"], one["code"]) == (None, None)

    denied = push_error("ours.example.org/team/torch:1", "denied: requested access to the resource is denied")
    living.engine.world.fail_next("push_image", denied)
    failed = await pushed(user, "failed")
    assert failed["code"] == "push_denied"
    assert "rights" in failed["problem"]

    await sql(
        living.database,
        "CREATE FUNCTION worn() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN NEW.attempts := 5; RETURN NEW; END'",
    )
    await sql(
        living.database,
        "CREATE TRIGGER worn BEFORE INSERT ON environment_pushes FOR EACH ROW EXECUTE FUNCTION worn()",
    )
    living.engine.world.fail_next("push_image", EngineError("No.", retriable=True))
    assert (await pushed(user, "failed"))["problem"] == "No."


async def test_a_push_is_cancelled_and_no_second_one_of_its_reference_runs_beside_it(living: Api) -> None:
    admin, user = await living.as_("superadmin"), await living.as_("user")
    await registry(admin)
    await built(user)
    living.engine.world.push_s = 3600.0
    one = await pushed(user, "running")
    path = "/environments/torch/versions/1/push"
    assert status_and_code(await user.post(path, {})) == (409, "push.underway")
    cancelled = await user.delete(f"/environments/torch/pushes/{one['id']}")
    assert cancelled.json()["cancel"] is True
    await until(user, one["id"], "cancelled")
    # A version that is deleted is not pushed any more.
    await pushed(user, "running", tag="2")
    assert (await user.delete("/environments/torch")).status_code == 204

    async def gone() -> bool:
        return not await sql(living.database, "SELECT 1 FROM environment_pushes") and not await sql(
            living.database, "SELECT 1 FROM environments"
        )

    await eventually(gone)
    assert living.engine.world.pushed == {}


@pytest.mark.parametrize(
    "change", ["push = 'nobody'", "push_repositories = '{other/*}'", "host = 'elsewhere.example.org'"]
)
async def test_what_is_no_longer_permitted_is_not_pushed(living: Api, change: str) -> None:
    admin, user = await living.as_("superadmin"), await living.as_("user")
    await registry(admin)
    await built(user)
    living.engine.world.fail_next("push_image", EngineError("Later.", retriable=True))
    push = (await user.post("/environments/torch/versions/1/push", {})).json()["id"]

    async def postponed() -> bool:
        return bool((await user.get(f"/environments/torch/pushes/{push}")).json()["problem"])

    await eventually(postponed)
    await sql(living.database, f"UPDATE registries SET {change}")
    await sql(living.database, "UPDATE environment_pushes SET due_at = now()")
    await sql(living.database, "NOTIFY carrel, 'environment_pushes'")
    assert (await until(user, push, "failed"))["code"].startswith("push.")
    assert living.engine.world.pushed == {}


async def test_an_engine_that_cannot_push_says_so(living: Api) -> None:
    admin, user = await living.as_("superadmin"), await living.as_("user")
    await registry(admin)
    await built(user)
    world = living.engine.world
    world.nodes = [replace(one, capabilities=one.capabilities - {PUSHES}) for one in world.nodes]
    await sql(living.database, "UPDATE nodes SET capabilities = capabilities - 'pushes'")
    refused = await user.post("/environments/torch/versions/1/push", {})
    assert status_and_code(refused) == (409, "push.engine_cannot")
    assert (await user.get("/environments/torch/push-targets")).json()["refusal"] == (
        "Its engine cannot push images."
    )
