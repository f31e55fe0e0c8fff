"""Registries: whose they are, what is kept secret, and what a check finds out."""

from typing import Any
from urllib.parse import urlsplit

from databases import sql
from installation import Api, Caller
from own_registry import PASSWORD, USERNAME, OwnRegistry
from people_kit import newcomer

from carrel.permissions.actions import Role


async def add(caller: Caller, **fields: object) -> dict[str, Any]:
    body = {"name": "ours", "url": "https://registry.example.org", **fields}
    answer = await caller.post("/registries", body)
    assert answer.status_code == 201, answer.text
    return answer.json()  # type: ignore[no-any-return]


async def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


async def test_registries_belong_to_the_installation_a_domain_or_a_project(api: Api):
    admin = await api.as_("superadmin")
    people = api.people
    everywhere = await add(admin)
    of_domain = await add(admin, domain=people.domain)
    of_project = await add(admin, project=people.project)
    assert (everywhere["domain"], everywhere["project"]) == (None, None)
    assert of_domain["domain"]["id"] == people.domain
    assert of_project["project"]["id"] == people.project
    listed = (await admin.get("/registries")).json()["items"]
    assert {one["id"] for one in listed} == {everywhere["id"], of_domain["id"], of_project["id"]}
    assert await code(await admin.get("/registries/ours")) == (409, "registry.ambiguous")
    # Administrators see what is theirs; who may do more of it is in test_routes.py.
    actor = await newcomer(api, "lead", Role.DOMAIN_ADMIN, project=people.other_project)
    lead = Caller("lead", actor, await api.client(auth=await api.keypair(actor)))
    assert {one["id"] for one in (await lead.get("/registries")).json()["items"]} == {
        of_domain["id"],
        of_project["id"],
    }
    assert (await add(lead, name="b"))["domain"]["id"] == people.domain
    second = next(iter(people.foreigner.projects))
    several = await newcomer(api, "two", project=people.project, admin=True)
    rows = "INSERT INTO memberships (project_id, user_id, admin) VALUES (:project, :user, true)"
    await sql(api.database, rows, project=people.other_project, user=several.user_id)
    one = Caller("two", several, await api.client(auth=await api.keypair(several)))
    unclear = await one.post("/registries", {"name": "b", "kind": "ngc"})
    assert await code(unclear) == (422, "registry.scope_needed")
    elsewhere = await one.post("/registries", {"name": "b", "kind": "ngc", "project": second})
    assert elsewhere.status_code == 404
    taken = await lead.post("/registries", {"name": "ours", "kind": "ngc", "domain": people.domain})
    assert await code(taken) == (409, "registry.name_taken")
    both = {"name": "c", "kind": "ngc", "domain": people.domain, "project": people.project}
    assert await code(await admin.post("/registries", both)) == (422, "registry.scope")


async def test_a_secret_is_sealed_never_shown_and_stays_with_its_address(api: Api):
    admin = await api.as_("superadmin")
    made = await add(admin, username="robot", secret="correct horse")
    assert made["has_secret"]
    assert "correct horse" not in str(made)
    [(stored,)] = await sql(api.database, "SELECT secret FROM registries")
    assert b"correct horse" not in bytes(stored)
    trail = (await admin.get("/audit")).text
    assert "robot" in trail
    assert "correct horse" not in trail
    path = f"/registries/{made['id']}"
    moved = await admin.patch(path, {"url": "https://evil.example.org"})
    assert await code(moved) == (422, "registry.secret_again")
    mirrored = await admin.patch(path, {"mirror": "https://evil.example.org"})
    assert await code(mirrored) == (422, "registry.secret_again")
    moved = await admin.patch(path, {"url": "https://new.example.org", "secret": "another"})
    assert (moved.status_code, moved.json()["host"]) == (200, "new.example.org")
    assert not (await admin.patch(path, {"secret": ""})).json()["has_secret"]


async def test_kinds_have_their_usual_addresses_and_user_names(api: Api):
    admin = await api.as_("superadmin")
    hub = await add(admin, name="hub", kind="dockerhub", url=None)
    assert (hub["url"], hub["host"]) == ("https://registry-1.docker.io", "docker.io")
    own = await add(
        admin, name="own", kind="dockerhub", url="https://hub.example.org", secret="s", username="a"
    )
    assert own["host"] == "hub.example.org"
    assert (await add(admin, name="index", url="https://index.docker.io"))["host"] == "docker.io"
    assert (await add(admin, name="short", url="http://registry"))["host"] == "registry"
    ngc = await add(admin, name="ngc", kind="ngc", url=None, secret="key")
    assert (ngc["host"], ngc["username"]) == ("nvcr.io", "$oauthtoken")
    missing = await admin.post("/registries", {"name": "h", "kind": "harbor"})
    assert await code(missing) == (422, "registry.url_needed")
    nameless = await admin.post("/registries", {"name": "g", "kind": "ghcr", "secret": "token"})
    assert await code(nameless) == (422, "registry.username_needed")
    authority = await admin.post("/registries", {"name": "g", "kind": "ghcr", "ca_pem": "no certificate"})
    assert await code(authority) == (422, "registry.ca_invalid")
    path = await admin.post("/registries", {"name": "g", "url": "https://registry.example.org/v2/"})
    assert path.status_code == 422


async def test_a_check_reports_each_step_up_to_the_first_failed_one(api: Api, registry: OwnRegistry):
    registry.push("checked/python", "3.12", "3.13")
    admin = await api.as_("superadmin")
    made = await add(
        admin,
        url=registry.url,
        namespace="checked",
        username=USERNAME,
        secret=PASSWORD,
        ca_pem=registry.ca_pem,
        tags=["3.*"],
    )
    path = f"/registries/{made['id']}"

    async def check() -> list[tuple[str, bool, str]]:
        result = (await admin.post(f"{path}/check")).json()
        assert result["ok"] == result["steps"][-1]["ok"]
        return [(step["name"], step["ok"], step["sentence"]) for step in result["steps"]]

    host = registry.host
    assert await check() == [
        ("connection", True, f"{host} responds to {USERNAME}."),
        ("repositories", True, "1 repository, such as checked/python."),
        ("tags", True, "checked/python has 2 tags."),
        ("manifest", True, "checked/python:3.13 can be read."),
    ]
    await admin.patch(path, {"tags": ["4.*"]})
    assert (await check())[-1] == ("tags", False, "No tag of checked/python matches the list of tags.")
    await admin.patch(path, {"secret": "wrong"})
    [step] = await check()
    assert step == (
        "connection",
        False,
        f"{urlsplit(registry.token_url).netloc} does not permit it to this user name and secret (401).",
    )
    await admin.patch(path, {"ca_pem": ""})
    [(_, ok, sentence)] = await check()
    assert not ok
    assert "Set the certificates of its authority" in sentence


async def test_a_project_reaches_private_addresses_only_where_the_installation_has_a_registry(
    api: Api, registry: OwnRegistry
):
    registry.push("public/private/a", "1")
    admin = await api.as_("superadmin")
    fields = {
        "url": registry.url,
        "ca_pem": registry.ca_pem,
        "namespace": "public",
        "repositories": ["private/a"],
    }
    made = await add(admin, project=api.people.project, **fields)
    path = f"/registries/{made['id']}/check"
    [step] = (await admin.post(path)).json()["steps"]
    assert not step["ok"]
    assert "Only registries of the installation" in step["sentence"]
    # As Docker Hub's, another address has the same host in references.
    await add(admin, name="hub", kind="dockerhub", url=None)
    await admin.patch(f"/registries/{made['id']}", {"name": "mine"})
    assert not (await admin.post(path)).json()["ok"]
    await add(admin, url=registry.url)
    assert (await admin.post(path)).json()["ok"]
