"""The past as a trace and the present as a policy: what is in them, who may have them, and that a replay reads them."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from command_line import command_line
from installation import API, Api
from limit_kit import limit, set_ceilings
from session_kit import SMALL, overwrite
from sqlalchemy import insert, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.accelerators.port import Device, whole_and_shares
from carrel.core.ids import DEFAULT_GROUP, ContainerId, GroupId, NodeId, SessionId, new_id
from carrel.engines.port import NodeInfo
from carrel.nodes import service as nodes
from carrel.queue import loading, trace_export
from carrel.queue.policy_file import SchedulerPolicy, installation
from carrel.scheduling.usage_decay import moved_on
from carrel.sessions import containers
from carrel.sessions.spec import SessionSpec
from carrel.simulator.traces import TraceEntry, read
from carrel.tables.groups import FairShareWeight, ResourceGroup
from carrel.tables.nodes import Allocation, Node
from carrel.tables.sessions import Session

GIB = 1 << 30
NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
WHEN = {"since": "2026-01-05", "until": "2026-01-06"}


def after(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


async def machines(api: Api) -> dict[str, NodeId]:
    devices = (Device("gpu0", "cuda"), Device("gpu1", "cuda"), Device("gpu2", "cuda", set=1))
    slots = {"cpu": 8000, "mem": 4 * GIB}
    async with api.database.transaction() as tx:
        observed = [
            NodeInfo("plain", "x86_64", slots, "Fake 1"),
            NodeInfo(
                "fast",
                "x86_64",
                {**slots, "cuda.device": 3, "cuda.shares": 3000},
                "Fake 1",
                devices=devices,
                slot_kinds=whole_and_shares("cuda"),
            ),
        ]
        await nodes.record(tx, observed, NOON)
        return {name: id_ for name, id_ in (await tx.execute(text("SELECT name, id FROM nodes"))).all()}


async def past(
    api: Api,
    at: datetime,
    *held: tuple[NodeId, datetime, datetime | None],
    count: int = 1,
    **changes: object,
) -> SessionId:
    """A session that was asked for then, and held its slots so. held: where, from when, until when."""
    user = await api.as_("user")
    id_ = SessionId((await user.start(name=f"past-{new_id()}"))["id"])
    await overwrite(api.database, id_, **{"created_at": at, **changes})
    async with api.database.transaction() as tx:
        own = await several(tx, id_, count)
        rows = [
            {
                "session_id": id_,
                "container_id": container,
                "node_id": node,
                "slot": slot,
                "amount": amount,
                "devices": None,
                "created_at": since,
                "released_at": until,
            }
            for node, since, until in held
            for container in own
            for slot, amount in SMALL.items()
        ]
        if rows:
            await tx.execute(insert(Allocation), rows)
    return id_


async def several(tx: AsyncSession, session: SessionId, count: int) -> list[ContainerId]:
    """The containers of a session that has one, once it has so many."""
    stored = (await tx.execute(select(Session.spec).where(Session.id == session))).scalar_one()
    spec = replace(SessionSpec.from_json(stored), containers=count)
    tx.add_all(containers.make(session, spec, {})[1:])
    await tx.flush()
    return [one.id for one in await containers.of(tx, session)]


async def exported(api: Api) -> list[TraceEntry]:
    admin = await api.as_("superadmin")
    answer = await admin.get("/scheduler/trace", params=WHEN)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    return list(read(answer.text.splitlines()))


async def test_what_ran_is_exported_with_ids_alone(api: Api):
    node = (await machines(api))["plain"]
    first = await past(api, after(0), (node, after(5), after(35)), priority=70, time_limit_s=3600)
    # Started anew after its node failed: it ran for as long as it held its slots in all.
    again = await past(api, after(1), (node, after(2), after(4)), (node, after(10), after(20)))
    await past(api, after(2))
    await past(api, after(-24 * 60), (node, after(-24 * 60), after(0)))
    people = api.people
    path = (people.domain, people.project, people.user.user_id)
    assert await exported(api) == [
        TraceEntry(
            first, after(0), timedelta(minutes=30), SMALL, path, priority=70, limit=timedelta(hours=1)
        ),
        TraceEntry(again, after(1), timedelta(minutes=12), SMALL, path),
    ]
    admin = await api.as_("superadmin")
    everything = (await admin.get("/scheduler/trace", params=WHEN)).text
    everything += (await admin.get("/scheduler/policy")).text
    assert "@" not in everything
    noted = (await admin.get("/audit", params={"action": "scheduler.export"})).json()["items"]
    assert noted[0]["details"]["since"].startswith("2026-01-05")


async def test_a_session_of_several_containers_is_one(api: Api):
    there = await machines(api)
    await past(api, after(0), (there["plain"], after(0), after(9)), count=2)
    spread = await past(api, after(1))
    async with api.database.transaction() as tx:
        for container, node in zip(await several(tx, spread, len(there)), there.values(), strict=True):
            row = {
                "session_id": spread,
                "container_id": container,
                "node_id": node,
                "slot": "cpu",
                "amount": 1,
            }
            await tx.execute(insert(Allocation), [{**row, "created_at": after(1), "released_at": after(2)}])
    assert [(one.count, one.mode) for one in await exported(api)] == [(2, "single_node"), (2, "multi_node")]


async def test_pages_of_the_trace_hold_everybody_once(api: Api, monkeypatch: pytest.MonkeyPatch):
    node = (await machines(api))["plain"]
    monkeypatch.setattr(trace_export, "_PAGE", 2)
    # Three at the same instant, and one who never ran, across the edges of pages.
    expected = [await past(api, after(at // 3), (node, after(3), after(4))) for at in range(7)]
    await past(api, after(1))
    ids = [one.id for one in await exported(api)]
    assert sorted(ids) == sorted(expected)


async def test_who_still_runs_counts_with_the_time_so_far(living: Api):
    user = await living.as_("user")
    started = await user.start()
    await living.until(user, started["id"], "RUNNING")
    admin = await living.as_("superadmin")
    (one,) = read((await admin.get("/scheduler/trace")).text.splitlines())
    assert one.id == started["id"]
    assert timedelta(0) < one.runs < timedelta(minutes=1)


async def test_the_present_is_exported_as_a_replay_reads_it(api: Api):
    there = await machines(api)
    people = api.people
    async with api.database.transaction() as tx:
        (await tx.get_one(Node, there["plain"])).cordoned = True
        group = await tx.get_one(ResourceGroup, DEFAULT_GROUP)
        group.scheduler, group.half_life_s, group.pending_timeout_s = "fair_share", 60, 5  # type: ignore[assignment]
        tx.add(FairShareWeight(group_id=DEFAULT_GROUP, kind="project", scope_id=people.project, weight=3))
    await set_ceilings(api.database, people.project, cpu=2000)
    await limit(api.database, "keypair", sessions=7)
    admin = await api.as_("superadmin")
    answer = (await admin.get("/scheduler/policy")).json()
    present = installation(SchedulerPolicy.model_validate(answer))
    plain = {"cpu": 8000, "mem": 4 * GIB}
    assert [(node.name, node.capacity, node.closed) for node in present.nodes] == [
        ("fast", {**plain, "cuda.device": 3, "cuda.shares": 3000}, ""),
        ("plain", plain, "cordoned"),
    ]
    assert [device.set for device in present.nodes[0].devices] == [0, 0, 1]
    (group_view,) = present.groups
    assert (group_view.order, group_view.half_life) == ("fair_share", timedelta(minutes=1))
    assert present.pending == {DEFAULT_GROUP: timedelta(seconds=5)}
    assert present.weight(DEFAULT_GROUP, (people.domain, people.project)) == 3
    assert answer["ceilings"]["projects"] == {people.project: {"cpu": 2000}}
    assert answer["ceilings"]["users"]["*"]["sessions"] == 7
    assert present.names[people.domain] == "default"


async def test_a_simulated_past_is_what_the_ledger_sums(api: Api):
    node = (await machines(api))["plain"]
    await past(api, after(0), (node, after(0), after(50)))
    now = after(80)
    async with api.database.transaction() as tx:
        group = await tx.get_one(ResourceGroup, GroupId(DEFAULT_GROUP))
        group.half_life_s = 3600
        shares = await loading.fair_shares(tx, group, [], now)
    hour, held = timedelta(hours=1), {slot: float(amount) for slot, amount in SMALL.items()}
    simulated = moved_on(moved_on({}, held, timedelta(minutes=50), hour), {}, timedelta(minutes=30), hour)
    assert shares[(api.people.domain,)].past == pytest.approx(simulated)


@pytest.mark.parametrize("who", ["user", "anonymous"])
@pytest.mark.parametrize("path", ["/scheduler/trace", "/scheduler/policy"])
async def test_only_superadmins_may_have_them(api: Api, who: str, path: str):
    asker = await api.as_(who)
    assert (await asker.http.get(f"{API}{path}")).status_code == (403 if who == "user" else 401)


async def test_the_command_line_replays_the_past_under_the_present_policy(api: Api, tmp_path: Path):
    node = (await machines(api))["plain"]
    for at in range(5):
        await past(api, after(at), (node, after(at), after(at + 10)))
    line = await command_line(api, "superadmin", tmp_path)
    trace = await line.ok("scheduler", "trace", "--since", "2026-01-05", "--until", "2026-01-06")
    assert len(trace.splitlines()) == 5
    assert await line.ok("scheduler", "trace", "--since", "1h") == ""
    output = await line.ok("scheduler", "simulate", "--trace", "-", stdin=trace.encode())
    assert "5: 5 ran" in output
    # On a node that holds one of them at a time each waits for those before.
    narrow = json.loads(await line.ok("scheduler", "policy"))
    narrow["nodes"] = [{"name": "small", "slots": {"cpu": SMALL["cpu"], "mem": SMALL["mem"]}}]
    (tmp_path / "narrow.json").write_text(json.dumps(narrow))
    picture = tmp_path / "narrow.svg"
    answer = await line.ok(
        "scheduler",
        "simulate",
        "--trace",
        "-",
        "--policy",
        str(tmp_path / "narrow.json"),
        "--picture",
        str(picture),
        "-o",
        "json",
        stdin=trace.encode(),
    )
    result = json.loads(answer)
    assert result["waits"]["max_s"] == pytest.approx((4 * 10 - 4) * 60)
    assert result["projects"][0]["sessions"] == 5
    assert picture.read_text().startswith("<svg")


async def test_the_command_line_says_what_it_cannot_read(api: Api, tmp_path: Path):
    line = await command_line(api, "user", tmp_path)
    no_file = await line.run("scheduler", "simulate", "--trace", "nowhere", "--policy", "campus")
    assert (no_file.code, "Bundled files: campus, flood" in no_file.stderr) == (4, True)
    broken = await line.run("scheduler", "simulate", "--trace", "-", "--policy", "campus", stdin=b'{"at": 1}')
    assert broken.code == 1
    assert "Line 1 of the trace" in broken.stderr
    refused = await line.run("scheduler", "simulate", "--trace", "campus")
    assert refused.code == 3
    unwritten = await line.run(
        "scheduler", "simulate", "--trace", "flood", "--policy", "flood", "--picture", str(tmp_path)
    )
    assert (unwritten.code, "Is a directory" in unwritten.stderr) == (1, True)
    other = await line.run(
        "scheduler", "simulate", "--trace", "flood", "--policy", "flood", "--picture", str(tmp_path / "x.PNG")
    )
    assert (other.code, "the picture is SVG" in other.stderr) == (2, True)
    assert not (tmp_path / "x.PNG").exists()


async def test_without_the_servers_package_the_command_line_says_where_it_is(tmp_path: Path, api: Api):
    line = await command_line(api, "superadmin", tmp_path)
    # A package of the same name that has none of it, as on a machine with only the client.
    (tmp_path / "carrel").mkdir()
    line.environment["PYTHONPATH"] = str(tmp_path)
    (tmp_path / "carrel" / "__init__.py").write_text("")
    done = await line.run("scheduler", "simulate", "--trace", "campus", "--policy", "campus")
    assert done.code == 1
    assert "client.no_server_code" in done.stderr
    assert "./carrel scheduler simulate" in done.stderr
