"""Trying idle rules on past sessions, over HTTP."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from databases import sql
from installation import Api
from usage_kit import packed, ran, sampled

from carrel.usage.idle import dry_run

USE = {"window_s": 3600, "grace_s": 0, "below": {"cpu": 5}}
HOUR = timedelta(hours=1)


async def lived(
    api: Api, name: str, start: datetime, end: datetime | None, until: datetime, **measures: int
) -> str:
    """A session with one busy hour, and with these measures afterwards."""
    session, container = await ran(api.database, api.people, start, end, name=name, started_at=start)
    await sampled(api.database, container, start, start + HOUR, cpu_millis=1000, mem_bytes=1 << 30)
    await sampled(api.database, container, start + HOUR, until, **measures)
    return session


async def test_it_names_who_would_have_been_ended_and_when(api: Api, monkeypatch: pytest.MonkeyPatch):
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    start = now - timedelta(days=3)
    forgotten = await lived(api, "forgotten", start, start + 9 * HOUR, start + 9 * HOUR, cpu_millis=20)
    await lived(api, "busy", start, start + 9 * HOUR, start + 9 * HOUR, cpu_millis=500)
    recent = await lived(api, "recent", now - 3 * HOUR, None, now, cpu_millis=20)
    # Minutes are all that is left of the first two; the last one is packed in part.
    await packed(api.database, start + 10 * HOUR)
    await packed(api.database, now - HOUR)
    await sql(api.database, "DELETE FROM usage_samples WHERE at < :at", at=now - timedelta(days=2))
    await ran(api.database, api.people, now - timedelta(days=9), now - timedelta(days=8), name="old")
    admin = await api.as_("superadmin")

    async def pages(**body: Any) -> tuple[list[dict[str, Any]], list[tuple[int, int]]]:
        items, progress, cursor = [], [], None
        while True:
            answer = await admin.post("/policies/dry-run", {"days": 7, "cursor": cursor, **body})
            assert answer.status_code == 200, answer.text
            page = answer.json()
            items += page["items"]
            progress.append((page["checked"], page["total"]))
            cursor = page["next_cursor"]
            if cursor is None:
                return items, progress

    items, progress = await pages(idle_use=USE)
    assert progress[-1] == (3, 3)
    ended = {one["session"]: one for one in items}
    assert set(ended) == {forgotten, recent}
    one = ended[forgotten]
    assert (one["name"], one["owner"]["email"], one["rule"]) == ("forgotten", "user@example.org", "use")
    late = datetime.fromisoformat(one["ends_at"]) - (start + 2 * HOUR)
    assert timedelta(0) <= late <= timedelta(minutes=3)
    assert one["freed_s"] == round((7 * HOUR - late).total_seconds())
    assert one["measured"] == {"cpu": 1.0}
    assert one["why"] == "Idle: low utilization for 1 h (CPU 1.0 %, below 5 %)."
    assert ended[recent]["ended_at"] is None
    # 2. Pages are bounded in time: here, after each session.
    monkeypatch.setattr(dry_run, "PAGE_S", 1e-6)
    slow, progress = await pages(idle_use=USE)
    assert sorted(each["session"] for each in slow) == sorted(ended)
    assert [checked for checked, _ in progress] == [1, 2, 3, 3]
    # 3. Nothing has changed.
    assert await sql(api.database, "SELECT 1 FROM session_history WHERE cause LIKE 'idle%'") == []


async def test_the_rules_of_a_policy_and_its_sessions(api: Api):
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    session = await lived(api, "forgotten", now - 5 * HOUR, None, now, cpu_millis=20)
    admin = await api.as_("superadmin")

    async def ended(**body: Any) -> list[str]:
        page = (await admin.post("/policies/dry-run", body)).json()
        return [one["session"] for one in page["items"]]

    other = (await admin.post("/policies/default-keypair/copy", {"name": "other"})).json()["id"]
    assert await ended(policy="default-keypair", idle_use=USE) == [session]
    assert await ended(policy=other, idle_use=USE) == []
    # Without rules in the request: those of the policy.
    # Policies of other kinds have this name, too.
    refused = await admin.post("/policies/dry-run", {"policy": "default"})
    assert refused.json()["code"] == "policy.no_idle_rule"
    await admin.patch("/policies/default-keypair", {"limits": {"idle_use": USE}})
    assert await ended(policy="default-keypair") == [session]
    assert await ended(policy="default-keypair", idle_use="unlimited", idle_timeout_s=60) == [session]
    # Traffic after the proposed end is use before it, too.
    await sql(
        api.database,
        "INSERT INTO session_activity (session_id, active_at) VALUES (:id, :at)",
        id=session,
        at=now,
    )
    assert await ended(idle_timeout_s=3600) == []


async def test_it_is_for_superadmins_and_checks_the_request(api: Api):
    admin = await api.as_("superadmin")
    for who in ("user", "foreigner"):
        answer = await (await api.as_(who)).post("/policies/dry-run", {"idle_use": USE})
        assert answer.status_code == 403
    for body, code in (
        ({}, "policy.no_idle_rule"),
        ({"policy": "default-user", "idle_use": USE}, "policy.no_idle_rule"),
        ({"idle_use": USE, "cursor": "nonsense"}, "invalid.cursor"),
        ({"idle_use": USE, "days": 32}, "invalid.request"),
    ):
        answer = await admin.post("/policies/dry-run", body)
        assert (answer.status_code, answer.json()["code"]) == (422, code), answer.text
