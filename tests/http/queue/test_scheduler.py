"""The scheduler over HTTP: admission, why a session waits, what would start it, free capacity."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from databases import sql
from installation import Api, Caller
from limit_kit import limit, set_ceilings
from node_kit import gpu_machine, group, join, machine
from people import eventually
from people_kit import caller, project_admin, status_and_code
from queue_kit import ALL, GIB, put, waits
from session_kit import SMALL, overwrite
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.accelerators.port import Device, ShareTier, Sharing, whole_and_shares
from carrel.engines.port import NodeInfo
from carrel.images import service as images
from carrel.queue import loading
from carrel.scheduling.snapshot import PendingSession


async def check(who: Caller, **fields: object) -> dict:  # type: ignore[type-arg]
    answer = await who.post("/sessions/check", {"slots": SMALL, **fields})
    assert answer.status_code == 200, answer.text
    return answer.json()  # type: ignore[no-any-return]


# Admission.


async def test_what_is_asked_about_is_what_would_be_made(api: Api):
    admin = await api.as_("superadmin")
    await join(api.database, machine("n1"), machine("n2"))
    await admin.patch("/nodes/n2", {"cordoned": True})
    assert [(await check(admin, node=name))["verdict"] for name in ("n1", "n2")] == ["starts", "waits"]
    for image, code in (("no image", "invalid.image"), ("debian:12", "invalid.slots")):
        body = {"image": image, "slots": {"cpu": 10, "mem": 4 << 20}}
        answer = await check(admin, **body)
        assert (answer["verdict"], answer["code"]) == ("never", code)
        assert status_and_code(await admin.try_start(**body)) == (422, code)


async def test_more_than_a_ceiling_is_refused_at_the_door(api: Api):
    user = await api.as_("user")
    await set_ceilings(api.database, api.people.project, cpu=2000)
    answer = await user.try_start(slots={"cpu": 2001, "mem": GIB})
    assert status_and_code(answer) == (409, "session.over_ceiling")
    assert answer.json()["field"] == "slots.cpu"
    assert answer.json()["details"]["ceiling"] == 2000
    await user.start(slots={"cpu": 2000, "mem": GIB})


async def test_more_than_any_node_has_is_refused_at_the_door(api: Api):
    user = await api.as_("user")
    await join(api.database, machine())
    for slots in (
        {"cpu": 8001, "mem": GIB},
        {"cpu": 100, "mem": 5 * GIB},
        {"cpu": 100, "mem": GIB, "cuda.device": 1},
    ):
        assert status_and_code(await user.try_start(slots=slots)) == (
            409,
            "session.too_large",
        )


async def test_a_policy_that_does_not_name_a_slot_gives_none_of_it(api: Api):
    user = await api.as_("user")
    await join(api.database, machine(**{"cuda.device": 4}))
    await limit(api.database, "keypair", slots={"cpu": "unlimited", "mem": "unlimited"})
    refused = await user.try_start(slots={**SMALL, "cuda.device": 1})
    assert status_and_code(refused) == (409, "session.over_ceiling")


@pytest.mark.parametrize(
    "slots",
    [
        {"cpu": 100},
        {**SMALL, "cpu.x": 1},
        {**SMALL, "disk": 1},
        {**SMALL, "cuda.device": 0},
        {**SMALL, "cuda.device": 1, "cuda.shares": 500},
    ],
)
async def test_slots_that_are_none_are_refused(api: Api, slots: dict[str, int]):
    user = await api.as_("user")
    assert status_and_code(await user.try_start(slots=slots))[0] == 422


async def test_only_so_many_may_wait_even_when_all_ask_at_once(api: Api):
    user = await api.as_("user")
    await limit(api.database, "keypair", pending_sessions=3)
    answers = await asyncio.gather(*(user.try_start() for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [201] * 3 + [409] * 5
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {
        "session.too_many_waiting"
    }
    # Another keypair of the same person has a limit of its own.
    other = await caller(api, api.people.user)
    assert (await other.try_start()).status_code == 201


async def test_only_so_much_may_wait(api: Api):
    user = await api.as_("user")
    await limit(api.database, "keypair", pending_slots={"cpu": 250, "*": "unlimited"})
    assert [(await user.try_start()).status_code for _ in range(3)] == [201, 201, 409]


async def test_time_limit_is_the_policys_unless_it_is_shorter(api: Api):
    user = await api.as_("user")
    assert (await user.start())["time_limit_s"] is None
    await limit(api.database, "keypair", lifetime_s=7200)
    assert (await user.start())["time_limit_s"] == 7200
    assert (await user.start(time_limit_s=600))["time_limit_s"] == 600
    too_long = await user.try_start(time_limit_s=7201)
    assert status_and_code(too_long) == (422, "session.lives_too_long")


async def test_priority_above_the_policys_is_for_administrators(api: Api):
    user, lead = await api.as_("user"), await project_admin(api)
    assert (await user.start())["priority"] == 50
    mine = await user.start(priority=20)
    assert status_and_code(await user.try_start(priority=51)) == (
        403,
        "session.priority_too_high",
    )
    path = f"/sessions/{mine['id']}/priority"
    assert status_and_code(await put(user, path, {"priority": 90})) == (403, "session.priority_too_high")
    assert (await put(user, path, {"priority": 50})).json()["priority"] == 50
    assert (await put(lead, path, {"priority": 90})).json()["priority"] == 90
    colleague = await api.as_("colleague")
    assert status_and_code(await put(colleague, path, {"priority": 10}))[0] in (403, 404)


async def test_node_is_chosen_by_superadmins_alone(api: Api):
    await join(api.database, machine())
    user, admin = await api.as_("user"), await api.as_("superadmin")
    assert status_and_code(await user.try_start(node="n1"))[0] == 403
    assert (await admin.try_start(node="n1")).status_code == 201
    assert status_and_code(await admin.try_start(node="n2")) == (404, "node.not_found")


async def test_group_that_one_may_not_use_is_not_there(api: Api):
    user = await api.as_("user")
    await group(api.database, "gpus", public=False)
    assert status_and_code(await user.try_start(group="gpus")) == (404, "group.not_found")
    await sql(
        api.database,
        "INSERT INTO resource_group_access VALUES ('gpus', 'project', :id)",
        id=api.people.project,
    )
    assert (await user.start(group="gpus"))["group"]["name"] == "gpus"
    stranger = await api.as_("stranger")
    assert status_and_code(await stranger.try_start(group="gpus")) == (404, "group.not_found")


# Why.


async def test_why_names_the_limit_and_the_change_that_starts_it(living: Api):
    user = await living.as_("user")
    await set_ceilings(living.database, living.people.project, cpu=3000)
    first = await user.start(slots={"cpu": 2000, "mem": GIB})
    await living.until(user, first["id"], "RUNNING")
    second = await user.start(slots={"cpu": 2000, "mem": GIB})
    why = await waits(living, user, second["id"])
    assert (why["cause"], why["position"], why["queue_length"]) == ("limit", 1, 1)
    [blocking] = why["limits"]
    assert blocking["scope"] == f"project:{living.people.project}"
    assert (blocking["slot"], blocking["ceiling"], blocking["used"], blocking["asked"]) == (
        "cpu",
        3000,
        2000,
        2000,
    )
    assert [change["kind"] for change in why["changes"]] == ["smaller", "end_own"]
    assert why["changes"][0]["slots"] == {"cpu": 1000, "mem": GIB}
    smaller = await user.start(slots=why["changes"][0]["slots"])
    await living.until(user, smaller["id"], "RUNNING")
    # What it says of the list is what it says here.
    shown = (await user.get(f"/sessions/{second['id']}")).json()
    assert shown["reason"] == why["reason"] or "3 CPU" in shown["reason"]


async def test_ending_what_why_says_starts_it(living: Api):
    user = await living.as_("user")
    first = await user.start(slots=ALL)
    await living.until(user, first["id"], "RUNNING")
    second = await user.start(slots=ALL)
    why = await waits(living, user, second["id"])
    assert why["cause"] == "nodes"
    assert why["nodes"][0]["slot"] == "cpu"
    [change] = [change for change in why["changes"] if change["kind"] == "end_own"]
    assert change["sessions"] == [first["id"]]
    assert (await user.delete(f"/sessions/{first['id']}")).status_code == 202
    await living.until(user, second["id"], "RUNNING")


async def test_why_names_every_blocker(living: Api):
    user = await living.as_("user")
    await set_ceilings(living.database, living.people.project, cpu=9000)
    first = await user.start(slots={"cpu": 5000, "mem": GIB})
    await living.until(user, first["id"], "RUNNING")
    why = await waits(living, user, (await user.start(slots={"cpu": 6000, "mem": GIB}))["id"])
    assert why["reason"].startswith("Project ")
    assert why["also"] == ["1 node: needs 6 CPU, 3 CPU free."]
    assert [limit["ceiling"] for limit in why["limits"]] == [9000]
    assert [node["slot"] for node in why["nodes"]] == ["cpu"]


async def test_why_foretells_the_start_from_time_limits(living: Api):
    user = await living.as_("user")
    first = await user.start(slots=ALL, time_limit_s=3600)
    running = await living.until(user, first["id"], "RUNNING")
    second = await user.start(slots=ALL)
    why = await waits(living, user, second["id"])
    started = datetime.fromisoformat(running["started_at"])
    assert datetime.fromisoformat(why["expected_start"]) == started + timedelta(hours=1)


async def test_why_offers_nobody_what_they_may_not_know_of_or_its_owner_may_not_use(living: Api):
    user, admin, lead = await living.as_("user"), await living.as_("superadmin"), await project_admin(living)
    owner, other = living.people.user.user_id, living.people.other_project
    joins = "INSERT INTO memberships (project_id, user_id, admin) VALUES (:project, :user, false)"
    await sql(living.database, joins, project=other, user=owner)
    user = await living.as_("user")
    hidden = await user.start(slots=ALL, project=other)
    await living.until(user, hidden["id"], "RUNNING")
    for name, whose in (("theirs", owner), ("mine", living.people.superadmin.user_id)):
        await group(living.database, name, public=False)
        await sql(
            living.database,
            "INSERT INTO resource_group_access VALUES (:name, 'user', :id)",
            name=name,
            id=whose,
        )
        living.engine.world.nodes.append(machine(name))
        await join(living.database, *living.engine.world.nodes)
        await sql(living.database, "UPDATE nodes SET group_id = name WHERE name = :name", name=name)
    waiting = await user.start(slots=ALL, project=living.people.project)

    async def offered(who: Caller) -> list[tuple[str, str | None]]:
        reasons = await waits(living, who, waiting["id"])
        return [(one["text"], one["command"]) for one in reasons["changes"]]

    elsewhere, end = ("Request it in theirs instead.", ""), f"carrel session rm {hidden['name']}"
    assert await offered(user) == [elsewhere, (f"End your session {hidden['name']}.", end)]
    assert await offered(admin) == [elsewhere, (f"End their session {hidden['name']}.", end)]
    assert await offered(lead) == []


async def test_image_that_no_node_runs_is_refused_at_the_door(api: Api):
    user = await api.as_("user")
    await join(api.database, machine())
    async with api.database.transaction() as tx:
        await images.register(
            tx,
            name="elsewhere",
            reference="elsewhere:1",
            title="",
            description="",
            size_bytes=None,
            architecture="arm64",
            apps=[],
            min_slots={},
        )
    refused = await user.try_start(image="elsewhere")
    assert status_and_code(refused) == (409, "session.wrong_architecture")
    assert refused.json()["detail"] == "The image needs aarch64; the nodes are x86_64."
    verdict = await check(user, image="elsewhere")
    assert (verdict["verdict"], verdict["code"]) == ("never", "session.wrong_architecture")


async def test_a_group_takes_sessions_only_on_nodes_with_the_capabilities_that_it_requires(api: Api):
    user, admin = await api.as_("user"), await api.as_("superadmin")
    await join(api.database, machine("n1"), machine("n2"))

    async def require(*capabilities: str) -> None:
        changed = await admin.patch("/groups/default", {"required_capabilities": capabilities})
        assert changed.status_code == 200, changed.text

    await require("network-policy")
    verdict = await check(user, image="debian:12")
    assert verdict["verdict"] == "waits"
    assert verdict["reason"] == "2 nodes: does not enforce network policies."
    assert (await admin.get("/groups/default")).json()["ready_nodes"] == 0
    await require("network-policy", "confidential")
    able = [replace(machine(name), capabilities=frozenset({"network-policy"})) for name in ("n1", "n2")]
    await join(api.database, *able)
    pending = await user.start(image="debian:12")
    why = (await user.get(f"/sessions/{pending['id']}/why")).json()
    assert why["reason"] == "2 nodes: does not have the capability confidential."
    await require("network-policy")
    assert (await check(user, image="debian:12"))["verdict"] == "starts"
    refused = await admin.patch("/groups/default", {"required_capabilities": ["No such"]})
    assert status_and_code(refused) == (422, "invalid.request")


async def test_a_group_can_require_that_shares_of_gpus_are_enforced(api: Api):
    user, admin = await api.as_("user"), await api.as_("superadmin")
    nodes = {
        name: replace(gpu_machine(name, None), sharing=sharing)
        for name, sharing in {
            "mig": Sharing(ShareTier.MIG, "All GPUs are in MIG mode."),
            "new": Sharing(ShareTier.MPS3),
            "old": None,
            "slow": Sharing(ShareTier.SLICE, "No daemon of MPS version 3 answers."),
        }.items()
    }
    await join(api.database, *[node for name, node in nodes.items() if name != "new"])

    async def require(tier: str) -> None:
        changed = await admin.patch("/groups/default", {"min_share_tier": tier})
        assert (changed.status_code, changed.json()["min_share_tier"]) == (200, tier)

    half = {"image": "debian:12", "slots": {"cpu": 1000, "mem": 1 << 30, "cuda.shares": 500}}
    assert (await check(user, **half))["verdict"] == "starts"
    await require("slice")
    assert (await check(user, **half))["verdict"] == "starts"
    await require("mps3")
    pending = await user.start(**half)
    why = (await user.get(f"/sessions/{pending['id']}/why")).json()
    assert why["reason"] == (
        "2 nodes: does not enforce shares, its resource group requires mps3; "
        "1 node: enforces shares by slice, its resource group requires mps3."
    )
    assert (await check(user, image="debian:12"))["verdict"] == "starts"
    whole_gpu = half | {"slots": {"cpu": 1000, "mem": 1 << 30, "cuda.device": 1}}
    assert (await check(user, **whole_gpu))["verdict"] == "starts"
    await join(api.database, *nodes.values())
    assert (await check(user, **half))["verdict"] == "starts"
    refused = await admin.patch("/groups/default", {"min_share_tier": "mps2"})
    assert status_and_code(refused) == (422, "invalid.request")


async def test_a_group_with_a_runtime_takes_sessions_only_on_nodes_that_have_it(api: Api):
    user, admin = await api.as_("user"), await api.as_("superadmin")

    async def change(**fields: object) -> None:
        changed = await admin.patch("/groups/default", fields)
        assert changed.status_code == 200, changed.text

    async def reason(*capabilities: str) -> str:
        await join(api.database, replace(machine(), capabilities=frozenset(capabilities)))
        return str((await check(user, image="debian:12"))["reason"])

    await change(runtime=" gvisor ")
    await join(api.database, machine())
    pending = await user.start(image="debian:12")
    why = (await user.get(f"/sessions/{pending['id']}/why")).json()
    assert why["reason"] == "1 node: does not have the runtime gvisor."
    assert (await admin.get("/groups/default")).json()["ready_nodes"] == 0
    assert await reason("runtime:runc") == "1 node: does not have the runtime gvisor."
    assert await reason("runtime:gvisor") == ""
    # What isolates a session does so with its runtime, and not with another one.
    await change(required_capabilities=["user-namespaces"])
    without = "1 node: has no user namespaces with the runtime gvisor."
    assert await reason("runtime:gvisor", "user-namespaces") == without
    assert await reason("runtime:gvisor", "user-namespaces:gvisor") == ""
    await change(runtime=None)
    assert await reason("user-namespaces") == ""
    refused = await admin.patch("/groups/default", {"runtime": "g visor"})
    assert status_and_code(refused) == (422, "invalid.request")


async def test_root_inside_needs_the_policy_and_a_node_that_can_give_it(api: Api):
    user = await api.as_("user")
    await join(api.database, machine())
    with_root = {"image": "debian:12", "rights": "root"}
    refused = await user.try_start(**with_root)
    assert status_and_code(refused) == (403, "session.root_forbidden")
    assert refused.json()["field"] == "rights"
    admin = await api.as_("superadmin")
    changed = await admin.patch("/policies/default-keypair", {"limits": {"max_rights": "root"}})
    assert changed.status_code == 200, changed.text
    assert changed.json()["limits"]["max_rights"] == "root"
    refused = await user.try_start(**with_root)
    assert status_and_code(refused) == (409, "session.root_impossible")
    verdict = await check(user, **with_root)
    assert (verdict["verdict"], verdict["code"]) == ("never", "session.root_impossible")
    assert verdict["most_rights"] == "plain"
    await join(api.database, replace(machine(), capabilities=frozenset({"root-inside"})))
    assert (await check(user, **with_root))["most_rights"] == "root"
    started = await user.start(**with_root)
    assert started["rights"] == "root"
    assert (await user.start(image="debian:12"))["rights"] == "plain"


async def test_root_inside_needs_the_project_and_the_group_as_well(api: Api):
    user, admin = await api.as_("user"), await api.as_("superadmin")
    await join(api.database, replace(machine(), capabilities=frozenset({"root-inside"})))
    with_root = {"image": "debian:12", "rights": "root"}

    async def allow(address: str, **limits: object) -> None:
        changed = await admin.patch(address, limits)
        assert changed.status_code == 200, changed.text

    await allow("/policies/default-keypair", limits={"max_rights": "root"})
    pending = await user.start(**with_root)
    scopes = {
        "keypair": ("/policies/default-keypair", "Your resource policy"),
        "project": ("/policies/default-project", "The resource policy of the project"),
        "group": ("/groups/default", "The resource group"),
    }
    for scope, (address, who) in scopes.items():
        refusing, allowing = (
            {"max_rights": rights} if scope == "group" else {"limits": {"max_rights": rights}}
            for rights in ("plain", "root")
        )
        await allow(address, **refusing)
        refused = await user.try_start(**with_root)
        assert status_and_code(refused) == (403, "session.root_forbidden")
        assert refused.json()["details"] == {"scope": scope}
        assert refused.json()["detail"] == f"{who} does not allow root in a session."
        verdict = await check(user, image="debian:12")
        assert (verdict["verdict"], verdict["most_rights"]) == ("starts", "plain")
        assert verdict["root_refused"] == refused.json()["detail"]
        # One that waits already waits on, and has no root in spite of the change.
        why = (await user.get(f"/sessions/{pending['id']}/why")).json()
        assert why["reason"] == f"{KEPT_FROM[scope]} root in a session."
        await allow(address, **allowing)
        why = (await user.get(f"/sessions/{pending['id']}/why")).json()
        assert "allow" not in why["reason"]
    verdict = await check(user, image="debian:12")
    assert (verdict["most_rights"], verdict["root_refused"]) == ("root", "")


KEPT_FROM = {
    "keypair": "The resource policy of its owner no longer allows",
    "project": "The resource policy of its project no longer allows",
    "group": "The resource group does not allow",
}


async def test_who_pauses_after_a_failed_start_has_a_place_and_a_time(api: Api):
    # Without controllers: a pass of the scheduler that had begun would replace the reason.
    await join(api.database, machine())
    user = await api.as_("user")
    session = await user.start(slots=ALL)
    reason = "The engine was busy."
    until = datetime.now(UTC) + timedelta(hours=1)
    await overwrite(api.database, session["id"], not_before=until, reason=reason)
    why = (await user.get(f"/sessions/{session['id']}/why")).json()
    assert (why["cause"], why["reason"], why["changes"]) == ("not_yet", reason, [])
    assert (why["position"], why["queue_length"]) == (1, 1)
    assert datetime.fromisoformat(why["expected_start"]) == until
    [queued] = (await user.get("/scheduler/queue")).json()["items"]
    assert (queued["session"], queued["cause"], queued["reason"]) == (
        session["id"],
        "not_yet",
        reason,
    )


async def test_why_of_one_that_does_not_wait(living: Api):
    user = await living.as_("user")
    session = await user.start()
    await living.until(user, session["id"], "RUNNING")
    why = (await user.get(f"/sessions/{session['id']}/why")).json()
    assert (why["waiting"], why["changes"], why["position"]) == (False, [], None)
    stranger = await living.as_("stranger")
    assert status_and_code(await stranger.get(f"/sessions/{session['id']}/why")) == (404, "session.not_found")


async def test_why_of_one_that_ends_while_it_is_looked_up(living: Api, monkeypatch: pytest.MonkeyPatch):
    user = await living.as_("user")
    first = await user.start(slots=ALL)
    await living.until(user, first["id"], "RUNNING")
    second = await user.start(slots=ALL)
    await waits(living, user, second["id"])
    waiting = loading.waiting

    async def late(tx: AsyncSession, now: datetime) -> list[PendingSession]:
        monkeypatch.undo()
        assert (await user.delete(f"/sessions/{second['id']}")).status_code == 202
        return await waiting(tx, now)

    monkeypatch.setattr(loading, "waiting", late)
    why = (await user.get(f"/sessions/{second['id']}/why")).json()
    assert (why["waiting"], why["position"], why["reason"]) == (
        False,
        None,
        "It is not pending: it is CANCELLED.",
    )


# What if.


async def test_check_agrees_with_what_happens_then(living: Api):
    user = await living.as_("user")
    await eventually(lambda: _has_node(user))
    assert (await check(user, slots=ALL))["verdict"] == "starts"
    first = await user.start(slots=ALL)
    await living.until(user, first["id"], "RUNNING")
    verdict = await check(user, slots=ALL)
    assert (verdict["verdict"], verdict["position"]) == ("waits", 1)
    assert verdict["slots"]["cpu"] == {"now": 0, "most": 8000, "by": "the largest node"}
    never = await check(user, slots={"cpu": 8001, "mem": GIB})
    assert (never["verdict"], never["code"], never["field"]) == ("never", "session.too_large", "slots.cpu")
    listed = (await user.get("/sessions")).json()["items"]
    assert [item["id"] for item in listed] == [first["id"]], "asking starts nothing"


async def _has_node(user: Caller) -> bool:
    return bool((await check(user))["slots"])


async def test_check_says_what_is_left_by_whose_limit(api: Api):
    user = await api.as_("user")
    await join(api.database, machine())
    await limit(api.database, "user", slots={"cpu": 3000, "*": "unlimited"})
    verdict = await check(user)
    assert verdict["slots"]["cpu"] == {"now": 3000, "most": 3000, "by": "user@example.org"}
    assert verdict["slots"]["mem"]["by"] == "the largest node"
    scopes = {scope["label"]: scope for scope in verdict["scopes"]}
    assert scopes["user@example.org"]["ceiling"] == {"cpu": 3000}
    assert len(scopes) == 4


async def test_presets_fit_wait_or_never_do(living: Api):
    user = await living.as_("user")
    await eventually(lambda: _has_node(user))
    for name, cpu in (("small", 1000), ("big", 6000), ("huge", 9000)):
        slots = f'{{"cpu": {cpu}, "mem": 1}}'
        await sql(
            living.database,
            "INSERT INTO presets (id, name, slots) VALUES (:name, :name, CAST(:slots AS jsonb))",
            name=name,
            slots=slots,
        )
    first = await user.start(slots={"cpu": 4000, "mem": GIB})
    await living.until(user, first["id"], "RUNNING")
    verdicts = {one["name"]: one["verdict"] for one in (await check(user))["presets"]}
    assert verdicts == {"big": "waits", "huge": "never", "small": "starts"}


async def test_devices_are_counted_and_shared(living: Api):
    user = await living.as_("user")
    devices = tuple(Device(f"g{n}", "fake", set=n // 2) for n in range(4))
    living.engine.world.nodes = [
        NodeInfo(
            "gpu",
            "x86_64",
            {"cpu": 8000, "mem": 32 * GIB, "fake.device": 4, "fake.shares": 4000},
            "Fake 1",
            devices=devices,
            slot_kinds=whole_and_shares("fake"),
        )
    ]
    living.engine.world.hint("gpu")
    await eventually(lambda: _offers(user, "fake.device"))
    first = await user.start(slots={**SMALL, "fake.shares": 600})
    second = await user.start(slots={**SMALL, "fake.shares": 300})
    for session in (first, second):
        await living.until(user, session["id"], "RUNNING")
    slots = (await check(user))["slots"]
    assert slots["fake.device"]["now"] == 3, "both parts are on one device"
    assert slots["fake.shares"]["now"] == 3100
    left = (await user.get("/resources")).json()["left"]
    assert (left["fake.device"], left["fake.shares"]) == (3, 3100)
    whole_devices = await user.start(slots={**SMALL, "fake.device": 3})
    await living.until(user, whole_devices["id"], "RUNNING")
    assert (await check(user, slots={**SMALL, "fake.device": 1}))["verdict"] == "waits"
    left = (await user.get("/resources")).json()["left"]
    assert (left["fake.device"], left["fake.shares"]) == (0, 100)


async def _offers(user: Caller, slot: str) -> bool:
    return slot in (await check(user))["slots"]
