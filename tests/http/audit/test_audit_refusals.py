"""What is refused leaves a row, and so does what somebody looked at; who hammers fills nothing."""

import asyncio

import pytest
from access_kit import World, world
from databases import sql
from installation import API, Api, Caller
from sqlalchemy import select

from carrel.audit import refusals
from carrel.audit.refusals import Refusals, Stranger
from carrel.tables.audit import AuditEntry

__all__ = ["world"]


async def _rows(caller: Caller, **filters: object) -> list[dict]:  # type: ignore[type-arg]
    return (await caller.get("/audit", params=filters)).json()["items"]  # type: ignore[no-any-return]


async def test_a_refused_change_says_who_wanted_what_and_why_not(api: Api):
    owner, stranger = await api.as_("user"), await api.as_("stranger")
    session = (await owner.start())["id"]
    answer = await stranger.delete(f"/sessions/{session}")
    assert answer.status_code == 404
    (row,) = await _rows(stranger, outcome="refused")
    assert (row["action"], row["object"]["id"], row["actor"]["email"]) == (
        "session.remove",
        session,
        "stranger@example.org",
    )
    assert row["reason"] == f"session.not_found: There is no session {session}."
    assert row["credential"].startswith("keypair:")
    assert row["address"] == "127.0.0.1"
    assert row["request_id"] == answer.headers["x-request-id"] == answer.json()["request_id"]
    assert await _rows(owner, outcome="refused") == []


async def test_rules_and_rights_that_say_no_are_noted_alike(api: Api):
    user, colleague = await api.as_("user"), await api.as_("colleague")
    made = await user.start(name="first")
    refused = [
        await user.try_start(name="first"),
        await user.try_start(image="UPPER CASE"),
        await user.try_start(project="nonesuch"),
    ]
    await colleague.patch(f"/sessions/{made['id']}", {"name": "mine-now"})
    codes = [row["reason"].split(":")[0] for row in reversed(await _rows(user, outcome="refused"))]
    assert codes == [answer.json()["code"] for answer in refused]
    assert codes == ["session.name_taken", "invalid.image", "project.not_found"]


async def test_what_only_reads_and_what_makes_no_sense_leaves_no_row(api: Api):
    user = await api.as_("user")
    await user.get("/sessions/nonesuch")
    await user.get("/audit/verify")
    await user.post("/sessions", {"image": 7})
    await (await api.as_("anonymous")).try_start()
    assert await _rows(user, outcome="refused") == []


async def test_a_page_of_somebody_else_that_uses_the_cookie_is_noted(api: Api):
    browser = await api.browser("user")
    browser.http.headers["X-Carrel-CSRF"] = "guessed"
    assert (await browser.post("/keypairs", {"name": "mine"})).status_code == 403
    rows = await _rows(await api.as_("user"), outcome="refused")
    assert [(row["action"], row["reason"].split(":")[0], row["credential"]) for row in rows] == [
        ("keypair.create", "auth.csrf", "cookie")
    ]


async def test_a_flood_of_refusals_is_a_few_rows_and_a_count(api: Api, monkeypatch):
    monkeypatch.setattr(refusals, "MOST", 3)
    user, colleague = await api.as_("user"), await api.as_("colleague")
    for number in range(8):
        await user.delete(f"/sessions/none{number}")
    for _ in range(4):
        await colleague.delete("/sessions/same")
    mine, theirs = await _rows(user, outcome="refused"), await _rows(colleague, outcome="refused")
    assert [row["object"]["id"] for row in mine] == ["none2", "none1", "none0"]
    assert [row["object"]["id"] for row in theirs] == ["same"]
    noted: Refusals = api.services.refusals
    await noted.close_window()
    summary = (await _rows(user, outcome="refused"))[0]
    assert (summary["action"], summary["reason"]) == (
        "session.remove",
        "audit.many: 5 more refusals within 5 minutes.",
    )
    assert [each["object"] for each in summary["details"]["refusals"]] == [f"none{n}" for n in range(3, 8)]
    assert (await _rows(colleague, outcome="refused"))[0]["details"]["refusals"][0]["times"] == 3
    await user.delete("/sessions/none0")
    assert len(await _rows(user, outcome="refused")) == 5
    await noted.close_window()
    assert len(await _rows(user, outcome="refused")) == 5


async def test_keypairs_and_tokens_that_are_not_good_are_in_the_access_log_and_fill_nothing(
    api: Api, monkeypatch
):
    monkeypatch.setattr(refusals, "MOST_STRANGERS", 4)
    noted: Refusals = api.services.refusals
    user, superadmin = await api.as_("user"), await api.as_("superadmin")
    assert user.actor
    access_key, _ = await api.keypair(user.actor)
    token = (await user.post("/tokens", {"name": "late", "scopes": ["*"], "expires_in_days": 1})).json()[
        "token"
    ]
    await sql(api.database, "UPDATE tokens SET expires_at = now()")

    async def ask(**proof: object) -> None:
        client = await api.client(**proof)
        assert (await client.get(f"{API}/sessions")).status_code == 401

    for number in range(3):
        await ask(auth=(access_key, f"guess {number}"))
        await ask(auth=(f"CKNOBODY{number}", "guess"))
        await ask(auth=("user@example.org", "the user's password"))
        await ask(headers={"Authorization": f"Bearer {token}"})
        await ask(headers={"Authorization": f"Bearer guess {number}"})
    reported = [
        (row["credential"].split(":")[0], row["reason"])
        for row in await _rows(superadmin, action="auth.login")
    ]
    firsts = {
        ("keypair", "wrong secret"),
        ("keypair", "there is no such keypair"),
        ("token", "the token has expired"),
        ("token", "there is no such token"),
    }
    assert (set(reported), len(reported)) == (firsts, 4)
    # Whose it is sees it too, with what was guessed at nowhere.
    mine = await _rows(user, action="auth.login")
    assert {row["credential"] for row in mine} >= {f"keypair:{access_key}"}
    assert len(mine) == 2
    await noted.note_stranger(Stranger("token", "there is no such token", "192.0.2.1"))
    await noted.note_stranger(Stranger("token", "there is no such token", "192.0.2.2"))
    await noted.close_window()
    rows = await _rows(superadmin, action="auth.login")
    assert len(rows) == 4 + 5
    assert {row["reason"].split("; ")[1] for row in rows if "more within" in row["reason"]} == {
        "2 more within 5 minutes",
        "5 more within 5 minutes",
    }
    assert not [
        row for row in rows if "guess" in str(row) or "CKNOBODY" in str(row) or "password" in str(row)
    ]


async def test_what_was_only_counted_is_written_when_the_server_stops(api: Api, monkeypatch):
    monkeypatch.setattr(refusals, "MOST", 1)
    user = await api.as_("user")
    noted: Refusals = api.services.refusals
    task = asyncio.create_task(noted.run())
    await user.delete("/sessions/none1")
    await user.delete("/sessions/none2")
    task.cancel()
    await asyncio.wait([task])
    assert "1 more" in (await _rows(user, outcome="refused"))[0]["reason"]


async def test_a_path_that_no_text_can_hold_still_gets_its_answer(api: Api):
    user = await api.as_("user")
    assert (await user.delete("/keypairs/a%00b")).status_code in (404, 422)
    assert (await user.delete("/sessions/" + "x" * 5000)).status_code in (404, 422)


async def test_a_change_says_what_was_and_what_is(api: Api):
    user = await api.as_("user")
    made = await user.start(name="before")
    answer = await user.patch(f"/sessions/{made['id']}", {"name": "after-it"})
    row = (await _rows(user, object_id=made["id"], action="session.update"))[0]
    assert row["details"] == {"before": {"name": "before"}, "after": {"name": "after-it"}}
    assert row["request_id"] == answer.headers["x-request-id"]
    assert (row["project_id"], row["domain_id"]) == (api.people.project, api.people.domain)


async def test_a_log_that_was_saved_or_belongs_to_somebody_else_is_noted(living: Api):
    owner, superadmin = await living.as_("user"), await living.as_("superadmin")
    session = (await owner.start())["id"]
    await living.until(owner, session, "RUNNING")
    await owner.get(f"/sessions/{session}/logs")
    assert await _rows(owner, action="session.read") == []
    await owner.get(f"/sessions/{session}/logs?download=true")
    await superadmin.get(f"/sessions/{session}/logs")
    rows = await _rows(owner, action="session.read", object_id=session)
    assert [(row["actor"]["email"], row["details"]) for row in rows] == [
        ("admin@example.org", {"read": "log", "download": False}),
        ("user@example.org", {"read": "log", "download": True}),
    ]


@pytest.mark.parametrize("way", ["terminal", "exec"])
async def test_entering_a_session_of_somebody_else_is_noted(world: World, way: str):
    session = await world.session()
    async with world.connect(f"{session}/{way}", actor=world.people.stranger) as socket:
        await socket.wait_closed()
    async with world.database.transaction() as tx:
        entry = (await tx.execute(select(AuditEntry).where(AuditEntry.outcome == "refused"))).scalar_one()
    assert (entry.action, entry.object_id, entry.actor_id) == (
        "session.exec",
        session,
        world.people.stranger.user_id,
    )
    assert entry.reason.startswith("session.not_found: ")
    assert len(entry.request_id) == 16


async def test_a_terminal_and_a_command_are_noted_with_whose_session_it_is(world: World):
    session = await world.session(name="desk")
    async with world.connect(f"{session}/terminal") as socket:
        await socket.recv()
    async with world.database.transaction() as tx:
        entry = (await tx.execute(select(AuditEntry).where(AuditEntry.action == "session.exec"))).scalar_one()
    assert (entry.object_id, entry.object_name, entry.owner_id) == (
        session,
        "desk",
        world.people.user.user_id,
    )
    assert (entry.project_id, entry.domain_id) == (world.people.project, world.people.domain)
    assert len(entry.request_id) == 16
