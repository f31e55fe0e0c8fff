"""What is held, as the ledger sums up: by whom, as far as one may see, and as gauges."""

from datetime import timedelta
from typing import Any

from databases import scalar, sql
from installation import Api, Caller
from people_kit import domain_admin, project_admin, status_and_code
from prometheus_client.parser import text_string_to_metric_families
from session_kit import SMALL, overwrite

from carrel.core.clock import SystemClock

BY = ("node", "group", "user", "keypair", "project", "domain")


async def running(api: Api, who: Caller, *, cpu: int = 100) -> dict:  # type: ignore[type-arg]
    session = await who.start(slots={**SMALL, "cpu": cpu})
    return await api.until(who, session["id"], "RUNNING")


async def held(who: Caller, by: str, **params: object) -> dict[str, tuple[int, int]]:
    """CPU and number of sessions of each holder, by its label."""
    answer = await who.get("/held", params={"by": by, **params})
    assert answer.status_code == 200, answer.text
    return {one["label"]: (one["slots"]["cpu"], one["sessions"]) for one in answer.json()["items"]}


async def five_sessions(living: Api) -> list[tuple[Caller, dict[str, Any]]]:
    """Three of the user, one without a keypair; one of the colleague; one of another domain."""
    user, colleague, foreigner = [await living.as_(name) for name in ("user", "colleague", "foreigner")]
    browser = await living.browser("user")
    return [
        (user, await running(living, user, cpu=100)),
        (user, await running(living, user, cpu=200)),
        (browser, await running(living, browser, cpu=300)),
        (colleague, await running(living, colleague, cpu=400)),
        (foreigner, await running(living, foreigner, cpu=500)),
    ]


async def test_sums_are_those_of_the_ledger_and_go_back_to_nothing(living: Api):
    admin = await living.as_("superadmin")
    sessions = await five_sessions(living)
    assert await held(admin, "user") == {
        "user@example.org": (600, 3),
        "colleague@example.org": (400, 1),
        "foreigner@example.org": (500, 1),
    }
    assert await held(admin, "keypair") == {
        "user@example.org": (300, 2),
        "user@example.org, without a keypair": (300, 1),
        "colleague@example.org": (400, 1),
        "foreigner@example.org": (500, 1),
    }
    assert await held(admin, "project") == {"default/default": (1000, 4), "abroad/default": (500, 1)}
    assert await held(admin, "domain") == {"default": (1000, 4), "abroad": (500, 1)}
    assert await held(admin, "group") == {"default": (1500, 5)}
    assert sum(cpu for cpu, _ in (await held(admin, "node")).values()) == 1500
    ledger = await scalar(
        living.database, "SELECT sum(amount) FROM allocations WHERE slot = 'cpu' AND released_at IS NULL"
    )
    assert ledger == 1500
    for who, session in sessions:
        await who.delete(f"/sessions/{session['id']}")
    for who, session in sessions:
        await living.until(who, session["id"], "TERMINATED")
    for by in BY:
        assert await held(admin, by) == {}


async def test_sums_are_filtered_sorted_and_paged(living: Api):
    admin = await living.as_("superadmin")
    await five_sessions(living)
    assert await held(admin, "user", domain="abroad") == {"foreigner@example.org": (500, 1)}
    assert await held(admin, "domain", project=living.people.project) == {"default": (1000, 4)}
    assert await held(admin, "domain", project="default", domain="abroad") == {"abroad": (500, 1)}
    assert list(await held(admin, "user", q="COLL")) == ["colleague@example.org"]
    first = (await admin.get("/held", params={"by": "user", "sort": "-sessions", "limit": 1})).json()
    assert first["items"][0]["label"] == "user@example.org"
    rest = {"by": "user", "sort": "-sessions", "cursor": first["next_cursor"]}
    assert len((await admin.get("/held", params=rest)).json()["items"]) == 2


async def test_one_sees_the_sums_of_the_sessions_that_one_may_see(living: Api):
    head, lead = await domain_admin(living), await project_admin(living)
    cpus = {"user": 100, "colleague": 200, "stranger": 400, "foreigner": 800}
    for name, cpu in cpus.items():
        await running(living, await living.as_(name), cpu=cpu)
    expected = {
        "user": (await living.as_("user"), 100),
        "lead": (lead, 300),
        "head": (head, 700),
        "superadmin": (await living.as_("superadmin"), 1500),
    }
    for name, (who, cpu) in expected.items():
        for by in BY:
            assert sum(cpu for cpu, _ in (await held(who, by)).values()) == cpu, (name, by)
    assert await held(head, "domain", domain="abroad") == {}
    nobody = await living.as_("anonymous")
    assert status_and_code(await nobody.get("/held", params={"by": "user"})) == (401, "auth.required")


async def test_lists_of_tenants_have_the_sums_of_all_sessions(living: Api):
    admin, user = await living.as_("superadmin"), await living.as_("user")
    sessions = [await running(living, user, cpu=cpu) for cpu in (100, 200)]
    project = living.people.project
    for path, key in (("/users", user.actor.user_id), ("/projects", project), ("/domains", "default")):
        listed = {one["id"]: one for one in (await admin.get(path)).json()["items"]}
        shown = (await admin.get(f"{path}/{key}")).json()
        assert listed[shown["id"]]["used"] == shown["used"]
        assert shown["used"] == {"cpu": 300, "mem": 2 * SMALL["mem"]}, path
        assert {} in [one["used"] for one in listed.values()], path
    await admin.patch("/policies/default-user", {"limits": {"slots": {"cpu": 4000, "*": "unlimited"}}})
    assert (await admin.get(f"/users/{user.actor.user_id}")).json()["slot_limits"] == {"cpu": 4000, "*": None}
    for session in sessions:
        await user.delete(f"/sessions/{session['id']}")
        await living.until(user, session["id"], "TERMINATED")
    assert (await admin.get(f"/projects/{project}")).json()["used"] == {}


async def test_gauges_say_what_is_held_offered_and_waited_for(living: Api):
    admin, user = await living.as_("superadmin"), await living.as_("user")
    session = await running(living, user, cpu=300)
    await admin.patch("/policies/default-user", {"limits": {"sessions": 1}})
    await user.start()
    answer = await admin.get("/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain")
    gauges = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }
    assert gauges["carrel_held", "cpu", "user", "user@example.org"] == 300
    assert gauges["carrel_held", "sessions", "user", "user@example.org"] == 1
    assert gauges["carrel_held", "cpu", "default/default", "project"] == 300
    assert gauges["carrel_held", "cpu", "default", "domain"] == 300
    assert gauges["carrel_sessions", "RUNNING"] == 1
    assert gauges["carrel_sessions", "PENDING"] == 1
    assert gauges["carrel_sessions", "STARTING"] == 0
    assert 0 < gauges["carrel_pending_oldest_seconds", "default"] < 60
    nodes = (await admin.get("/nodes")).json()["items"]
    assert gauges["carrel_capacity", *sorted(("cpu", "local", nodes[0]["name"]))] >= 300
    keys = [key for key in gauges if key[0] == "carrel_held" and "keypair" in key and "cpu" in key]
    assert len(keys) == 1
    assert any(label.startswith("CK") for label in keys[0]), "an access key, for names need not be unique"
    await user.delete(f"/sessions/{session['id']}")
    await living.until(user, session["id"], "TERMINATED")


async def test_the_longest_wait_counts_from_when_somebody_went_back_to_the_queue(api: Api):
    admin = await api.as_("superadmin")
    session = (await (await api.as_("user")).start())["id"]

    async def waited() -> float:
        families = text_string_to_metric_families((await admin.get("/metrics")).text)
        [gauge] = [family for family in families if family.name == "carrel_pending_oldest_seconds"]
        return {sample.labels["group"]: sample.value for sample in gauge.samples}["default"]

    await overwrite(api.database, session, created_at=SystemClock().now() - timedelta(hours=1))
    assert 3600 <= await waited() < 3660
    await sql(
        api.database,
        "INSERT INTO session_history (session_id, at, from_state, to_state, cause)"
        " VALUES (:id, now() - interval '5 minutes', 'TERMINATING', 'PENDING', 'moved')",
        id=session,
    )
    assert 300 <= await waited() < 360
