"""The catalogue of apps: whose entries a session has, and who may write them."""

from typing import Any

import pytest
from installation import Api
from people_kit import appoint

from carrel.apps import app_catalogue
from carrel.core.ids import ProjectId, UserId

DASH = {"name": "dash", "title": "Dash", "port": 8050, "command": ["dash", "--port={port}"]}


async def titles(api: Api, owner: str, project: str) -> dict[str, str]:
    async with api.database.transaction() as tx:
        known = await app_catalogue.available(tx, UserId(owner), ProjectId(project))
    return {name: one.title for name, one in known.items()}


async def added(client: Any, **changed: Any) -> dict[str, Any]:
    answer = await client.post("/app-templates", {**DASH, **changed})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


async def test_the_nearest_entry_of_a_name_is_used_and_may_hide_the_others(api: Api) -> None:
    people = api.people
    admin, user = await api.as_("superadmin"), await api.as_("user")
    assert "jupyter" in await titles(api, people.user.user_id, people.project)
    await added(admin, installation=True, title="For all")
    await added(admin, project=people.project, title="For the project")
    own = await added(user, title="Mine")
    assert (await titles(api, people.user.user_id, people.project))["dash"] == "Mine"
    assert (await titles(api, people.colleague.user_id, people.project))["dash"] == "For the project"
    assert (await titles(api, people.user.user_id, people.other_project))["dash"] == "Mine"
    assert (await titles(api, people.stranger.user_id, people.other_project))["dash"] == "For all"
    changed = await user.patch(f"/app-templates/{own['id']}", {"enabled": False})
    assert changed.status_code == 200, changed.text
    assert "dash" not in await titles(api, people.user.user_id, people.project)
    # One of the installation replaces what is built in.
    await added(admin, installation=True, name="jupyter", title="Our Jupyter")
    assert (await titles(api, people.user.user_id, people.project))["jupyter"] == "Our Jupyter"


async def test_lists_show_ones_own_those_of_ones_projects_and_the_installations(api: Api) -> None:
    people = api.people
    admin, user, stranger = await api.as_("superadmin"), await api.as_("user"), await api.as_("stranger")
    await added(admin, installation=True, name="everywhere")
    await added(admin, project=people.project, name="vision")
    await added(user, name="mine")

    async def listed(client: Any, query: str = "") -> set[str]:
        answer = await client.get(f"/app-templates?limit=200{query}")
        assert answer.status_code == 200, answer.text
        return {one["name"] for one in answer.json()["items"]}

    shown = await listed(user)
    assert {"mine", "vision", "everywhere", "tensorboard"} <= shown
    assert await listed(user, "&scope=person") == {"mine"}
    assert await listed(user, f"&project={people.project}") == {"vision"}
    assert await listed(user, "&q=tensor") == {"tensorboard"}
    assert {"mine", "vision"} & await listed(stranger) == set()
    assert "mine" not in await listed(admin), "a person's entries concern nobody else"
    assert (await admin.get("/app-templates/mine")).status_code == 404
    # Pages meet: built-in entries are sorted among the others.
    first = (await user.get("/app-templates?limit=5")).json()
    second = (await user.get(f"/app-templates?limit=200&cursor={first['next_cursor']}")).json()
    names = [one["name"] for one in first["items"] + second["items"]]
    assert names == sorted(shown)


async def test_only_its_administrators_write_for_a_project_and_superadmins_for_all(api: Api) -> None:
    project = api.people.project
    actors = await appoint(api)
    user, lead = await api.as_("user"), await api.client(auth=await api.keypair(actors["project_admin"]))
    for owner in ({"project": project}, {"installation": True}):
        answer = await user.post("/app-templates", {**DASH, **owner})
        assert (answer.status_code, answer.json()["code"]) == (403, "policy.forbidden")
    made = await lead.post("/api/v1/app-templates", json={**DASH, "project": project})
    assert made.status_code == 201, made.text
    for method in ("PATCH", "DELETE"):
        answer = await user.ask(method, f"/app-templates/{made.json()['id']}", json={"title": "x"})
        assert (answer.status_code, answer.json()["code"]) == (403, "policy.forbidden")
    admin = await api.as_("superadmin")
    built_in = await admin.ask("DELETE", "/app-templates/jupyter")
    assert (built_in.status_code, built_in.json()["code"]) == (409, "app_template.built_in")
    taken = await lead.post("/api/v1/app-templates", json={**DASH, "project": project})
    assert (taken.status_code, taken.json()["code"]) == (409, "app_template.name_taken")
    assert (await lead.delete(f"/api/v1/app-templates/{made.json()['id']}")).status_code == 204


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "Dash"},
        {"name": "-dash"},
        {"port": 0},
        {"path": "no-slash"},
        {"path": "/a?b?c"},
        {"path": "/a#b"},
        {"auth_header": "Host: a\r\nX: y"},
        {"options": [{"name": "port", "title": "Port"}]},
        {"options": [{"name": "a", "title": "A"}, {"name": "a", "title": "B"}]},
        {"options": [{"name": "a", "title": "A", "type": "integer", "default": "x"}]},
        {"protocol": "tcp", "path": "/x"},
        {"command": ["a\0b"]},
        {"env": {"NOT A NAME": "x"}},
        {"installation": True, "project": "p"},
    ],
)
async def test_what_is_no_app_is_refused(api: Api, changed: dict[str, Any]) -> None:
    answer = await (await api.as_("superadmin")).post("/app-templates", {**DASH, **changed})
    assert answer.status_code == 422, answer.text


async def test_changes_keep_what_they_omit_and_are_checked_as_a_whole(api: Api) -> None:
    user = await api.as_("user")
    own = await added(user, options=[{"name": "dir", "title": "Folder"}])
    changed = (await user.patch(f"/app-templates/{own['id']}", {"title": "Other"})).json()
    assert (changed["title"], changed["port"], changed["options"]) == ("Other", 8050, own["options"])
    refused = await user.patch("/app-templates/dash", {"protocol": "tcp", "path": "/x"})
    assert (refused.status_code, refused.json()["code"]) == (422, "app_template.bad_definition")
