"""Every route names its action, and lets in exactly those whom the one table lets in."""

import asyncio
import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

import pytest
from installation import API, SMALL, Api, Caller
from people import PASSWORD
from sqlalchemy import text

from carrel.access import streams
from carrel.images import service as images
from carrel.policy.actions import ACTIONS
from carrel.server.compose import application

NOT_MINE = 404
# operation -> (what the owner gets, what administrators of the place get, what somebody else gets)
SESSION_OPERATIONS = {
    "sessions.show": (200, 200, NOT_MINE),
    "sessions.rename": (200, 200, NOT_MINE),
    "sessions.remove": (202, 202, NOT_MINE),
    "sessions.history": (200, 200, NOT_MINE),
    "sessions.logs": (200, 200, NOT_MINE),
    "sessions.usage": (200, 200, NOT_MINE),
    "apps.list": (200, 200, NOT_MINE),
    "apps.open": (200, 403, NOT_MINE),
}
OWN_OPERATIONS = {
    "auth.me": 200,
    "auth.logout": 204,
    "keypairs.list": 200,
    "keypairs.create": 201,
    "server.show": 200,
    "images.list": 200,
    "resources.show": 200,
    "sessions.list": 200,
    "sessions.create": 201,
    "usage.recent": 200,
    "events.list": 200,
}
PUBLIC_OPERATIONS = {"auth.login": 200, "server.health": 200}
# The key belongs to somebody else, so that nobody may remove it.
OTHERS_OPERATIONS = {"keypairs.remove": 404}
BODIES = {
    "auth.login": {"email": "user@example.org", "password": PASSWORD},
    "sessions.create": {"image": "debian:12", "slots": SMALL},
    "sessions.rename": {"name": "another-name"},
}
ROLES = ("user", "colleague", "stranger", "foreigner", "project_admin", "domain_admin", "superadmin")


@cache
def operations() -> dict[str, tuple[str, str, dict]]:  # type: ignore[type-arg]
    """Operation id -> method, path below /api/v1, and what the OpenAPI document says of it."""
    return {
        operation["operationId"]: (method.upper(), path.removeprefix(API), operation)
        for path, methods in application().openapi()["paths"].items()
        for method, operation in methods.items()
    }


def test_every_route_names_an_action_of_the_one_table():
    named = {name: operation.get("x-carrel-action") for name, (_, _, operation) in operations().items()}
    assert set(named.values()) <= set(ACTIONS), named
    # WebSockets are no part of OpenAPI; they name theirs where they look the session up.
    sockets = {name for name in ACTIONS if f'"{name}"' in inspect.getsource(streams)}
    assert set(named.values()) | sockets == set(ACTIONS)


def test_the_walk_below_knows_every_operation():
    known = {*SESSION_OPERATIONS, *OWN_OPERATIONS, *PUBLIC_OPERATIONS, *OTHERS_OPERATIONS}
    assert known == set(operations())


@asynccontextmanager
async def notes_app() -> AsyncIterator[int]:
    """Something that answers HTTP on loopback, where the fake engine says that containers are."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def desk(api: Api, port: int) -> str:
    """A running session of `user`, with an app."""
    apps = [{"name": "notes", "title": "Notes", "protocol": "http", "port": port, "ready": "/"}]
    async with api.database.transaction() as tx:
        await images.register(
            tx, name="notes", reference="debian:12", title="Notes", description="", size_bytes=1,
            architecture="amd64", apps=apps, min_slots={"cpu": 10, "mem": 16 << 20},
        )  # fmt: skip
    owner = await api.as_("user")
    made = await owner.start(image="notes")
    await api.until(owner, made["id"], "RUNNING")
    return str(made["id"])


async def appoint(api: Api) -> None:
    """Make the colleague's project an administrator's, and the stranger's domain another's."""
    async with api.database.transaction() as tx:
        for name, role in (("project_admin", "user"), ("domain_admin", "domain_admin")):
            await tx.execute(
                text("""INSERT INTO users (id, domain_id, email, name, role, password_hash)
                    SELECT :id, domain_id, :email, :id, :role, password_hash FROM users WHERE id = :like"""),
                {"id": name, "email": f"{name}@example.org", "role": role, "like": api.people.user.user_id},
            )
            project = api.people.project if name == "project_admin" else api.people.other_project
            await tx.execute(
                text("INSERT INTO memberships (project_id, user_id, admin) VALUES (:p, :u, :a)"),
                {"p": project, "u": name, "a": name == "project_admin"},
            )


async def caller(api: Api, role: str) -> Caller:
    if role in ("project_admin", "domain_admin"):
        return await api.browser(role)
    return await api.as_(role)


async def ask(who: Caller, name: str, session: str, key: str) -> int:
    method, path, _ = operations()[name]
    path = path.replace("{ref}", session).replace("{app}", "notes").replace("{access_key}", key)
    query = {"usage.recent": {"sessions": session}}.get(name)
    answer = await who.ask(method, path, json=BODIES.get(name), params=query)
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
    if answer.status_code == NOT_MINE and name in SESSION_OPERATIONS:
        # Word for word what a session that does not exist gives.
        invented = session.translate(str.maketrans("abcdefghijklm", "nopqrstuvwxyz"))
        other = await who.ask(method, path.replace(session, invented), json=BODIES.get(name))
        texts = [
            {**a.json(), "request_id": "", "detail": a.json()["detail"].replace(r, "REF")}
            for a, r in ((answer, session), (other, invented))
        ]
        assert texts[0] == texts[1]
        assert texts[0]["code"] == "session.not_found"
    return answer.status_code


@pytest.mark.parametrize("role", ["anonymous", *ROLES])
async def test_each_role_gets_through_each_route_as_the_table_says(living: Api, role: str):
    await appoint(living)
    async with notes_app() as port:
        session = await desk(living, port)
        key, _ = await living.keypair(living.people.user if role != "user" else living.people.colleague)
        who = await caller(living, role)
        got, wanted = {}, {}
        for name, status in PUBLIC_OPERATIONS.items():
            passer_by = Caller(role, None, await living.client())
            got[name], wanted[name] = await ask(passer_by, name, session, key), status
        for name, status in {**OWN_OPERATIONS, **OTHERS_OPERATIONS}.items():
            if name == "auth.logout":
                continue
            got[name] = await ask(who, name, session, key)
            wanted[name] = 401 if role == "anonymous" else status
        # Removing comes last, signing out after it.
        for name, (own, admin, other) in sorted(
            SESSION_OPERATIONS.items(), key=lambda item: item[0] == "sessions.remove"
        ):
            got[name] = await ask(who, name, session, key)
            match role:
                case "anonymous":
                    wanted[name] = 401
                case "user":
                    wanted[name] = own
                case "project_admin" | "domain_admin" | "superadmin":
                    wanted[name] = admin
                case _:
                    wanted[name] = other
        got["auth.logout"] = await ask(who, "auth.logout", session, key)
        wanted["auth.logout"] = 401 if role == "anonymous" else 204
        assert got == wanted


@pytest.mark.parametrize("role", ["colleague", "stranger", "foreigner"])
async def test_lists_hold_nothing_of_others(living: Api, role: str):
    async with notes_app() as port:
        session = await desk(living, port)
    who = await living.as_(role)
    assert (await who.get("/sessions", params={"owner": "all"})).json()["items"] == []
    assert (await who.get("/events")).json()["items"] == []
    assert (await who.get("/usage", params={"sessions": session})).json()["items"] == {}
    assert session not in (await who.get("/keypairs")).text


async def test_administrators_see_their_reach(living: Api):
    await appoint(living)
    owner, foreigner = await living.as_("user"), await living.as_("foreigner")
    mine, abroad = (await owner.start())["id"], (await foreigner.start())["id"]
    seen = {}
    for role in ("project_admin", "domain_admin", "superadmin"):
        items = (await (await caller(living, role)).get("/sessions", params={"owner": "all"})).json()["items"]
        seen[role] = {item["id"] for item in items}
    assert seen == {"project_admin": {mine}, "domain_admin": {mine}, "superadmin": {mine, abroad}}


async def test_a_project_of_others_is_not_there(api: Api):
    stranger = await api.as_("stranger")
    for project in (api.people.project, "nonesuch"):
        answer = await stranger.post("/sessions", {"image": "debian:12", "slots": SMALL, "project": project})
        assert (answer.status_code, answer.json()["code"]) == (404, "project.not_found")
