"""Who is next in a resource group, and who has had how much of it."""

import asyncio
import threading
from datetime import datetime, timedelta

import pytest
from installation import Api
from people import eventually
from people_kit import status_and_code
from queue_kit import ALL, GIB, put, waits

from carrel.controllers import schedule
from carrel.queue import queue
from carrel.scheduling.plan import plan
from carrel.scheduling.snapshot import Plan, Snapshot


async def test_queue_is_in_order_and_names_only_what_one_may_see(living: Api):
    user, stranger, admin = (
        await living.as_("user"),
        await living.as_("stranger"),
        await living.as_("superadmin"),
    )
    first = await user.start(slots=ALL)
    await living.until(user, first["id"], "RUNNING")
    later = await user.start(slots=ALL, priority=10)
    other = await stranger.start(slots=ALL)
    await waits(living, user, later["id"])
    await waits(living, stranger, other["id"])
    seen = (await user.get("/scheduler/queue")).json()
    assert [item["session"] for item in seen["items"]] == [None, later["id"]]
    assert seen["items"][0]["owner"] is None
    assert seen["items"][0]["reason"] == ""
    everything = (await admin.get("/scheduler/queue")).json()
    assert [item["session"] for item in everything["items"]] == [other["id"], later["id"]]
    assert (everything["length"], everything["next_cursor"]) == (2, None)
    page: dict[str, object] = {"limit": 1}
    for one in everything["items"]:
        part = (await admin.get("/scheduler/queue", params=page)).json()
        assert (part["items"], part["length"]) == ([one], 2)
        page["cursor"] = part["next_cursor"]
    assert page == {"limit": 1, "cursor": None}
    await put(admin, f"/sessions/{later['id']}/priority", {"priority": 60})
    again = (await admin.get("/scheduler/queue")).json()
    assert [item["session"] for item in again["items"]] == [later["id"], other["id"]]


async def test_each_entry_of_the_queue_has_its_expected_start(living: Api):
    user, stranger = await living.as_("user"), await living.as_("stranger")
    first = await user.start(slots=ALL, time_limit_s=3600)
    await living.until(user, first["id"], "RUNNING")
    others = [await user.start(slots=ALL, time_limit_s=600), await user.start(slots=ALL)]
    others.append(await user.start(slots=ALL))
    await waits(living, user, others[-1]["id"])
    queued = (await user.get("/scheduler/queue")).json()
    starts = [one["expected_start"] for one in queued["items"]]
    whys = [(await user.get(f"/sessions/{one['id']}/why")).json()["expected_start"] for one in others]
    assert starts == whys
    assert (starts[2], queued["forecast_complete"]) == (None, True)
    due = [datetime.fromisoformat(one) for one in starts[:2]]
    assert due[1] - due[0] == timedelta(seconds=600)
    hidden = (await stranger.get("/scheduler/queue")).json()["items"]
    assert [one["expected_start"] for one in hidden] == [None] * 3


async def test_queue_is_planned_for_all_who_look_at_once(living: Api, monkeypatch: pytest.MonkeyPatch):
    user = await living.as_("user")
    await user.start(slots=ALL)
    waits_still = await user.start(slots=ALL)
    await waits(living, user, waits_still["id"])
    made: list[Snapshot] = []
    begun, go_on = threading.Event(), threading.Event()
    latest = queue.Plans.latest
    requests = 0

    async def counted(plans: queue.Plans) -> queue.PlannedQueues:
        nonlocal requests
        requests += 1
        return await latest(plans)

    def held_up(snapshot: Snapshot) -> Plan:
        made.append(snapshot)
        begun.set()
        assert go_on.wait(10)
        return plan(snapshot)

    monkeypatch.setattr(queue, "plan", held_up)
    monkeypatch.setattr(queue.Plans, "latest", counted)
    first = asyncio.create_task(user.get("/scheduler/queue"))
    await asyncio.to_thread(begun.wait, 10)
    # This one comes too late for the plan under way, and is in the next, with all the others who ask meanwhile.
    later = await user.start(slots=ALL)
    others = [asyncio.create_task(user.get("/scheduler/queue")) for _ in range(20)]
    await eventually(lambda: requests == 21)
    go_on.set()
    assert [one["session"] for one in (await first).json()["items"]] == [waits_still["id"]]
    for other in others:
        assert [one["session"] for one in (await other).json()["items"]] == [waits_still["id"], later["id"]]
    assert len(made) == 2


async def test_long_queue_is_planned_beside_the_loop(living: Api, monkeypatch: pytest.MonkeyPatch):
    threads: list[threading.Thread] = []

    def noted(snapshot: Snapshot) -> Plan:
        threads.append(threading.current_thread())
        return plan(snapshot)

    monkeypatch.setattr(schedule, "plan", noted)
    monkeypatch.setattr(schedule, "_MANY", 2)
    user = await living.as_("user")
    first = await user.start(slots=ALL)
    await living.until(user, first["id"], "RUNNING")
    assert set(threads) == {threading.main_thread()}
    threads.clear()
    second, third = await user.start(slots=ALL), await user.start(slots=ALL)
    await waits(living, user, third["id"])
    assert threading.main_thread() is not threads[-1]
    await user.delete(f"/sessions/{first['id']}")
    await living.until(user, second["id"], "RUNNING")


async def test_shares_are_a_tree_for_those_who_administer(living: Api):
    user, admin = await living.as_("user"), await living.as_("superadmin")
    session = await user.start(slots={"cpu": 4000, "mem": GIB})
    await living.until(user, session["id"], "RUNNING")
    shares = (await admin.get("/scheduler/shares")).json()
    [domain] = shares["items"]
    assert (domain["kind"], domain["children"][0]["kind"]) == ("domain", "project")
    owner = domain["children"][0]["children"][0]
    assert (owner["name"], owner["held"]["cpu"]) == ("user@example.org", 4000)
    assert owner["share"] == pytest.approx(0.5, abs=0.05)
    assert status_and_code(await user.get("/scheduler/shares"))[0] == 403
