"""Saved views: kept on the server for one user, renamed, replaced, deleted, and used by the command line."""

from pathlib import Path
from typing import Any

import pytest
from command_line import command_line
from databases import sql
from installation import Api, Caller
from session_kit import request

FAILED = {"state": "ended", "q": "train", "sort": "name", "columns": "state,name"}


async def save(caller: Caller, name: str, **search: str) -> Any:
    return await caller.post("/views", {"list": "sessions", "name": name, "search": search})


async def shown(caller: Caller) -> list[tuple[str, dict[str, str]]]:
    return [(one["name"], one["search"]) for one in (await caller.get("/views")).json()["items"]]


async def test_a_view_is_saved_renamed_replaced_and_deleted(api: Api):
    user = await api.as_("user")
    made = await save(user, " my jobs ", **FAILED)
    assert made.status_code == 201, made.text
    view = made.json()
    assert (view["name"], view["search"], view["list"]) == ("my jobs", FAILED, "sessions")
    await save(user, "a first one")
    assert await shown(user) == [("a first one", {}), ("my jobs", FAILED)]
    assert (await user.patch(f"/views/{view['id']}", {"name": "jobs"})).json()["search"] == FAILED
    replaced = await user.patch(f"/views/{view['id']}", {"search": {"state": "all"}})
    assert (replaced.json()["name"], replaced.json()["search"]) == ("jobs", {"state": "all"})
    assert (await user.delete(f"/views/{view['id']}")).status_code == 204
    assert await shown(user) == [("a first one", {})]


async def test_views_are_their_owners_alone(api: Api):
    user, admin = await api.as_("user"), await api.as_("superadmin")
    view = (await save(user, "mine")).json()
    assert await shown(admin) == []
    for answer in (
        await admin.patch(f"/views/{view['id']}", {"name": "theirs"}),
        await admin.delete(f"/views/{view['id']}"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "view.not_found")
    assert (await save(admin, "mine")).status_code == 201


async def test_a_name_is_used_once_and_there_is_a_limit(api: Api):
    user = await api.as_("user")
    first, second = (await save(user, "one")).json(), (await save(user, "two")).json()
    assert (await save(user, "one")).json()["code"] == "view.name_taken"
    renamed = await user.patch(f"/views/{second['id']}", {"name": "one"})
    assert (renamed.status_code, renamed.json()["code"]) == (409, "view.name_taken")
    copies = """INSERT INTO saved_views (id, user_id, list, name, search, created_at)
        SELECT 'v' || n, user_id, list, 'copy ' || n, search, created_at FROM saved_views, generate_series(1, 48) n
        WHERE id = '{}'"""
    await sql(api.database, copies.format(first["id"]))
    assert (await save(user, "fifty-first")).json()["code"] == "view.too_many"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 65}, "name"),
        ({"list": "users"}, "list"),
        ({"search": {"q": "x" * 401}}, "search"),
        ({"search": {f"k{chr(97 + n)}": "" for n in range(21)}}, "search"),
    ],
)
async def test_bad_views_are_refused(api: Api, change: dict[str, Any], field: str):
    body = {"list": "sessions", "name": "v", "search": {}, **change}
    answer = await (await api.as_("user")).post("/views", body)
    assert (answer.status_code, answer.json()["field"]) == (422, field)


async def test_the_command_lists_what_a_view_shows(living: Api, tmp_path: Path) -> None:
    command, user = await command_line(living, "user", tmp_path), await living.as_("user")
    await save(user, "my desks", q="desk", kind="interactive", columns="state,name")
    await user.start(name="desk-1")
    await user.start(name="other")
    await user.post("/sessions", request(name="desk-job", kind="batch", command=["true"]))
    listed = await command.as_json("session", "ls", "--view", "my desks")
    assert [one["name"] for one in listed["items"]] == ["desk-1"]
    assert "kind=interactive q=desk" in await command.ok("view", "ls")
    await command.ok("view", "rename", "my desks", "desks")
    await command.ok("view", "rm", "desks", "--yes")
    assert await shown(user) == []
    missing = await command.run("session", "ls", "--view", "desks")
    assert missing.code != 0
    assert "You have no view desks" in missing.stderr
