"""Allocation and usage over time: what is recorded, how it is thinned out, and who may read it."""

from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from databases import sql
from installation import Api
from people import People
from people_kit import domain_admin, project_admin, status_and_code
from session_kit import SMALL
from sqlalchemy import text
from usage_kit import SLOTS, ran, sampled

from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.tables.usage import UsageScope
from carrel.usage import history

HOUR = timedelta(hours=1)


async def recorded(database: Database, now: datetime) -> None:
    async with database.transaction() as tx:
        await history.record(tx, now)


async def test_a_minute_has_what_was_allocated_used_and_waited_for(living: Api):
    user, admin = await living.as_("user"), await living.as_("superadmin")
    session = await user.start(slots={**SMALL, "cpu": 200})
    await living.until(user, session["id"], "RUNNING")
    now = SystemClock().now()
    [container] = await sql(living.database, "SELECT id FROM containers")
    await sql(
        living.database,
        "INSERT INTO usage_samples (container_id, at, cpu_millis, mem_bytes) VALUES "
        f"('{container[0]}', '{now - timedelta(seconds=10)}', 100, 1000), "
        f"('{container[0]}', '{now - timedelta(seconds=5)}', 140, 3000)",
    )
    # The controllers may have recorded this minute before the session began.
    await sql(living.database, "DELETE FROM usage_history")
    await recorded(living.database, now)
    await recorded(living.database, now)
    for scope, ref in {
        "site": None,
        "project": living.people.project,
        "domain": "default",
        "group": "default",
    }.items():
        answer = await admin.get("/usage/history", params={"scope": scope, **({"ref": ref} if ref else {})})
        assert answer.status_code == 200, answer.text
        view = answer.json()
        means = {name: series["mean"] for name, series in view["measures"].items()}
        assert (len(view["times"]), view["step_s"]) == (1, 60)
        assert (means["cpu.allocated"], means["cpu.used"], means["mem.used"]) == ([200.0], [120.0], [2000.0])
        assert (means["sessions.live"], means["wait_s"][0] < 60) == ([1.0], True)
        assert ("cpu.capacity" in means) == (scope in ("site", "group"))
    own = (await user.get("/usage/history", params={"scope": "user"})).json()
    assert own["measures"]["cpu.used"] == {"mean": [120.0], "peak": [120.0]}


async def test_each_kind_of_accelerator_has_a_series_of_its_own(database: Database, people: People):
    now = SystemClock().now()
    for slot, amount, percent in (("cuda.device", 2, 50), ("cuda.device", 1, 20), ("rocm.device", 4, 75)):
        _, container = await ran(database, people, now - HOUR, None, slots={**SLOTS, slot: amount})
        await sampled(
            database,
            container,
            now - timedelta(seconds=20),
            now,
            cpu_millis=1,
            mem_bytes=1,
            accelerator_percent=percent,
        )
    await recorded(database, now)
    async with database.transaction() as tx:
        loaded = await history.load(tx, UsageScope.SITE, "", 60, now - HOUR)
    means = {name: series.mean[0] for name, series in loaded.measures.items()}
    assert (means["cuda.device.allocated"], means["rocm.device.allocated"]) == (3, 4)
    assert (means["cuda.device.used"], means["rocm.device.used"]) == (1.2, 3)
    assert (means["cuda.device.percent"], means["rocm.device.percent"]) == (35, 75)
    assert means["accelerator.used"] == pytest.approx(48.33, abs=0.01)


async def test_idle_sessions_are_found_among_all_that_one_may_see(living: Api):
    user, foreigner, admin = [await living.as_(name) for name in ("user", "foreigner", "superadmin")]
    now = SystemClock().now()
    cases = (
        ("small", user, 100, 1, 6),
        ("busy", user, 100, 50, 6),
        ("fresh", user, 100, 0, 5),
        ("large", foreigner, 400, 8, 6),
    )
    for name, who, cpu, used, samples in cases:
        session = await who.start(name=name, slots={**SMALL, "cpu": cpu})
        await living.until(who, session["id"], "RUNNING")
        await sql(
            living.database,
            "INSERT INTO usage_samples (container_id, at, cpu_millis, mem_bytes) "
            f"SELECT c.id, timestamptz '{now}' - i * interval '10 seconds' + interval '1 ms', {used}, 0 "
            f"FROM containers c, generate_series(1, {samples}) i WHERE c.session_id = '{session['id']}'",
        )
    seen = (await admin.get("/usage/idle")).json()
    assert [(one["name"], one["cpu_percent"]) for one in seen["items"]] == [("large", 2), ("small", 1)]
    first = (await admin.get("/usage/idle", params={"limit": 1})).json()
    assert ([one["name"] for one in first["items"]], first["total"]) == (["large"], 2)
    assert [one["name"] for one in (await user.get("/usage/idle")).json()["items"]] == ["small"]
    assert (await user.get("/usage/idle", params={"below": 1})).json() == {"items": [], "total": 0}


async def test_one_reads_the_usage_of_oneself_and_of_what_one_administers(living: Api):
    user, head, lead = await living.as_("user"), await domain_admin(living), await project_admin(living)
    admin = await living.as_("superadmin")
    queries = {
        "site": {"scope": "site"},
        "group": {"scope": "group", "ref": "default"},
        "domain": {"scope": "domain", "ref": "default"},
        "project": {"scope": "project", "ref": living.people.project},
        "user": {"scope": "user", "ref": "user@example.org"},
        "self": {"scope": "user"},
    }

    async def may(who) -> set[str]:  # type: ignore[no-untyped-def]
        answers = {name: await who.get("/usage/history", params=params) for name, params in queries.items()}
        assert {answer.status_code for answer in answers.values()} <= {200, 403, 404}
        return {name for name, answer in answers.items() if answer.status_code == 200}

    assert await may(user) == {"user", "self"}
    assert await may(lead) == {"project", "self"}
    assert await may(head) == {"domain", "project", "user", "self"}
    assert await may(admin) == set(queries)
    foreign = await living.as_("foreigner")
    assert await may(foreign) == {"self"}
    params = {"scope": "project"}
    assert status_and_code(await admin.get("/usage/history", params=params)) == (422, "invalid.request")


async def test_minutes_become_quarters_and_hours_and_old_ones_go(database: Database):
    start = datetime.fromisoformat("2026-01-05T00:00:00+00:00")
    async with database.transaction() as tx:
        for minute in range(1, 121):
            await tx.execute(
                text(
                    "INSERT INTO usage_history VALUES ('site', '', 60, :at, CAST(:site AS jsonb)),"
                    " ('user', 'u', 60, :at, CAST(:user AS jsonb))"
                    if minute % 2
                    else "INSERT INTO usage_history VALUES ('site', '', 60, :at, CAST(:site AS jsonb))"
                ),
                {
                    "at": start + timedelta(minutes=minute),
                    "site": f'{{"cpu.used": [{minute}, {minute}]}}',
                    "user": '{"cpu.used": [30, 30], "wait_s": [4, 4]}',
                },
            )
        end = start + timedelta(minutes=120, seconds=30)
        await history.record(tx, end)
        quarters = await history.load(tx, UsageScope.SITE, "", 900, start)
        hours = await history.load(tx, UsageScope.USER, "u", 3600, start)
    assert len(quarters.times) == 8
    assert {late - early for early, late in pairwise(quarters.times)} == {timedelta(minutes=15)}
    assert (quarters.measures["cpu.used"].mean[0], quarters.measures["cpu.used"].peak[0]) == (8.0, 15.0)
    # The user had no session in every other minute: those count as nothing, but not as no wait.
    assert hours.measures["cpu.used"].mean == [pytest.approx(15, rel=0.05)] * 2
    assert hours.measures["wait_s"].mean == [4.0, 4.0]
    async with database.transaction() as tx:
        await history.prune(tx, end + timedelta(days=2))
        left = await tx.execute(text("SELECT step_s, count(*) FROM usage_history GROUP BY 1"))
        assert {step for step, _ in left} == {900, 3600}
