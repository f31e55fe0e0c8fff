"""The audit trail through the API: who sees what, filters, files, and the proof."""

import csv
import io
import json
from datetime import datetime, timedelta
from urllib.parse import quote

import pytest
from audit_kit import intruder, seal, write
from databases import sql
from installation import Api, Caller

from carrel.audit import export, queries, service
from carrel.permissions.decide import Actor, Target


async def _domain_admin(api: Api) -> Caller:
    """The stranger, appointed over the domain."""
    await sql(
        api.database, "UPDATE users SET role = 'domain_admin' WHERE id = :id", id=api.people.stranger.user_id
    )
    return await api.as_("stranger")


async def _note(api: Api, actor: Actor, object_id: str, target: Target | None = None, name: str = "") -> None:
    async with api.database.transaction() as tx:
        service.record(tx, actor, "session.create", object_id, target=target, name=name)


async def _objects(caller: Caller, **filters: object) -> list[str]:
    """Ids of the objects of the sessions' entries, newest first, over all pages."""
    objects, cursor = [], None
    while True:
        query = {"object_kind": "session", **filters, **({"cursor": cursor} if cursor else {})}
        answer = await caller.get("/audit", params=query)
        assert answer.status_code == 200, answer.text
        objects += [item["object"]["id"] for item in answer.json()["items"]]
        cursor = answer.json()["next_cursor"]
        if not cursor:
            return objects


async def _scenery(api: Api) -> None:
    """Entries by and about everybody."""
    people = api.people
    of_user = Target(people.user.user_id, people.project, people.domain)
    await _note(api, people.user, "by-user", of_user)
    await _note(api, people.superadmin, "by-admin-of-user", of_user)
    await _note(api, people.colleague, "by-colleague")
    await _note(api, people.stranger, "by-stranger")
    await _note(api, people.foreigner, "by-foreigner")
    await _note(api, people.superadmin, "of-the-site", Target())


async def test_each_sees_what_their_role_reaches(api: Api):
    await _scenery(api)
    admin = await _domain_admin(api)
    assert await _objects(await api.as_("user")) == ["by-admin-of-user", "by-user"]
    assert await _objects(await api.as_("colleague")) == ["by-colleague"]
    assert await _objects(await api.as_("foreigner")) == ["by-foreigner"]
    assert await _objects(admin) == ["by-stranger", "by-colleague", "by-admin-of-user", "by-user"]
    assert await _objects(await api.as_("superadmin")) == [
        "of-the-site",
        "by-foreigner",
        "by-stranger",
        "by-colleague",
        "by-admin-of-user",
        "by-user",
    ]
    assert (await (await api.as_("anonymous")).get("/audit")).status_code == 401


async def test_ones_own_activity_is_what_one_did_and_what_was_done_to_ones_own(api: Api):
    await _scenery(api)
    admin = await _domain_admin(api)
    assert await _objects(admin, owner="me") == ["by-stranger"]
    assert await _objects(await api.as_("superadmin"), owner="me") == ["of-the-site", "by-admin-of-user"]
    assert await _objects(await api.as_("user"), owner="me") == ["by-admin-of-user", "by-user"]


@pytest.mark.parametrize("limit", [1, 2, 5, 100])
async def test_pages_join_without_gap_or_repeat(api: Api, limit: int):
    await _scenery(api)
    for caller in (await _domain_admin(api), await api.as_("user"), await api.as_("superadmin")):
        assert await _objects(caller, limit=limit) == await _objects(caller, limit=200)


async def test_entries_of_one_moment_are_paged_too(api: Api):
    async with api.database.transaction() as tx:
        for number in range(7):
            service.record(tx, api.people.user, "session.create", f"s{number}")
    assert await _objects(await api.as_("user"), limit=3) == [f"s{number}" for number in reversed(range(7))]


async def test_filters_narrow_the_list(api: Api):
    people = api.people
    await _scenery(api)
    await _note(api, people.user, "named", name="Thesis of_100%")
    superadmin = await api.as_("superadmin")

    async def objects_of(**filters: object) -> list[str]:
        return await _objects(superadmin, **filters)

    assert await objects_of(actor=people.user.user_id) == ["named", "by-user"]
    assert await objects_of(actor="User@Example.org") == ["named", "by-user"]
    assert await objects_of(object_id="by-user") == ["by-user"]
    [one] = (await superadmin.get("/audit", params={"object_id": "by-user"})).json()["items"]
    assert await objects_of(id=one["id"]) == ["by-user"]
    assert await objects_of(id=one["id"] + 1000) == []
    assert await objects_of(action="session.create", actor=people.foreigner.user_id) == ["by-foreigner"]
    assert await objects_of(action="session.remove") == []
    assert len(await objects_of(action="session.*")) == 7
    assert await objects_of(action="app.*") == []
    assert await objects_of(q="THESIS") == ["named"]
    assert await objects_of(q="of_100%") == ["named"]
    assert await objects_of(q="of%100") == []
    assert await objects_of(q="foreigner@") == ["by-foreigner"]
    assert await objects_of(q="eign") == ["by-foreigner"]
    assert len(await objects_of(q="@ex")) == 7
    assert await objects_of(outcome="refused") == []
    assert len(await objects_of(outcome="done")) == 7
    assert len(await objects_of(address="127.0.0.1")) == 7
    assert await objects_of(address="10.1.1.1") == []
    assert await objects_of(q="thesis", outcome="done", actor="user@example.org", action="session.*") == [
        "named"
    ]


async def test_from_is_within_and_to_is_not(api: Api):
    await _scenery(api)
    superadmin = await api.as_("superadmin")
    at = {
        item["object"]["id"]: item["at"]
        for item in (await superadmin.get("/audit", params={"object_kind": "session"})).json()["items"]
    }
    first, last = at["by-user"], at["by-stranger"]
    assert await _objects(superadmin, **{"from": first, "to": last}) == [
        "by-colleague",
        "by-admin-of-user",
        "by-user",
    ]
    tomorrow = datetime.fromisoformat(last) + timedelta(days=1)
    assert await _objects(superadmin, **{"from": f"{tomorrow:%Y-%m-%d}"}) == []
    assert len(await _objects(superadmin, to=f"{tomorrow:%Y-%m-%d}")) == 6


@pytest.mark.parametrize(
    "query", ["from=soon", "cursor=x", "limit=0", "owner=you", "outcome=bad", "format=xml", "q=ab"]
)
async def test_a_filter_that_makes_no_sense_is_refused(api: Api, query: str):
    path = "/audit/export" if "format" in query else "/audit"
    answer = await (await api.as_("user")).get(f"{path}?{query}")
    assert (answer.status_code, answer.json()["field"]) == (422, query.split("=")[0])


async def test_a_nul_is_refused(api: Api):
    answer = await (await api.as_("user")).get(f"/audit?q={quote('a' + chr(0) + 'bc')}")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid.text")


async def test_an_export_is_the_list_and_is_itself_noted(api: Api, monkeypatch):
    monkeypatch.setattr(queries, "_EXPORT_PAGE", 2)
    await _scenery(api)
    for caller in (await _domain_admin(api), await api.as_("user"), await api.as_("superadmin")):
        listed = await _objects(caller)
        for kind in ("csv", "jsonl"):
            answer = await caller.get("/audit/export", params={"format": kind, "object_kind": "session"})
            assert answer.status_code == 200
            assert f".{kind}" in answer.headers["content-disposition"]
            if kind == "csv":
                rows = [row["object_id"] for row in csv.DictReader(io.StringIO(answer.text))]
            else:
                rows = [json.loads(line)["entry"]["object_id"] for line in answer.text.splitlines()]
            assert rows == listed
            newest = (await caller.get("/audit", params={"limit": 1, "owner": "me"})).json()["items"][0]
            assert newest["action"] == "audit.export"
            assert newest["details"] == {"format": kind, "object_kind": "session"}


async def test_no_cell_of_a_table_is_a_formula(api: Api):
    for name in ("=1+1", "+1", "-1", "@cmd", "\t=1", "  =1", "harmless"):
        await _note(api, api.people.user, name, name=name)
    answer = await (await api.as_("user")).get("/audit/export?format=csv&object_kind=session")
    names = [row["object_name"] for row in csv.DictReader(io.StringIO(answer.text, newline=""))]
    assert names == ["harmless", "'  =1", "'\t=1", "'@cmd", "'-1", "'+1", "'=1+1"]


async def test_an_export_of_much_holds_little(api: Api, monkeypatch):
    monkeypatch.setattr(export, "_BLOCK", 200)
    await write(api.database, api.people.user, 30)
    for kind in ("csv", "jsonl"):
        answer = await (await api.as_("user")).get(f"/audit/export?format={kind}&object_kind=session")
        assert len(answer.text.strip().split("\n")) == 30 + (kind == "csv")


async def test_a_superadmin_proves_the_trail_in_parts(api: Api):
    await write(api.database, api.people.user, 5)
    await seal(api.database)
    superadmin = await api.as_("superadmin")
    await seal(api.database)
    complete = (await superadmin.get("/audit/verify")).json()
    assert (complete["checked"], complete["reached"], complete["done"], complete["faults"]) == (
        6,
        6,
        True,
        [],
    )
    assert (complete["start"]["position"], complete["cut_at"], complete["waiting"]) == (0, None, 0)
    rest = (await superadmin.get("/audit/verify?after=4")).json()
    assert (rest["checked"], rest["faults"]) == (2, [])
    head = f"{complete['head']['position']}:{complete['head']['hash']}"
    assert (await superadmin.get("/audit/verify", params={"expect": head})).json()["faults"] == []
    with intruder(api.database.url) as connection:
        connection.execute("UPDATE audit SET object_name = 'x' WHERE position = 2")
        connection.execute("DELETE FROM audit WHERE position = 6")
    altered = (await superadmin.get("/audit/verify", params={"expect": head})).json()
    assert [(fault["kind"], fault["position"]) for fault in altered["faults"]] == [("altered", 2), ("cut", 6)]


async def test_only_superadmins_prove_it(api: Api):
    for caller in (await _domain_admin(api), await api.as_("user")):
        assert (await caller.get("/audit/verify")).json()["code"] == "policy.forbidden"


async def test_a_sealed_entry_shows_its_place(api: Api):
    await write(api.database, api.people.user, 1)
    await seal(api.database)
    caller = await api.as_("user")
    entry = (await caller.get("/audit", params={"object_kind": "session"})).json()["items"][0]
    assert entry["position"] == 1
    assert len(entry["hash"]) == 64
    assert entry["actor"] == {"id": api.people.user.user_id, "email": "user@example.org"}
    assert entry["object"] == {"kind": "session", "id": "session0", "name": "desk-0"}
