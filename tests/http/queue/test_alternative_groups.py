"""Sessions that accept several resource groups: where they start, why they wait, and what keeps the choice."""

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from command_line import command_line
from databases import scalar, sql
from installation import Api, Caller
from node_kit import GIB, group, join, machine
from people import eventually
from people_kit import status_and_code
from queue_kit import ALL, waits
from session_kit import request, spec
from sqlalchemy import text
from template_kit import started

from carrel.core.clock import SystemClock
from carrel.queue import loading
from carrel.sessions import service

_DELETION_WAITS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%resource_groups%FOR UPDATE%'"""


async def clusters(api: Api, *names: str) -> None:
    """Groups with one node each, which has the name of its group."""
    for name in names:
        await group(api.database, name)
        api.engine.world.nodes.append(machine(name))
    await join(api.database, *api.engine.world.nodes)
    for name in names:
        await sql(
            api.database, "UPDATE nodes SET group_id = name, group_fixed = true WHERE name = :name", name=name
        )


async def held(api: Api) -> list[tuple[str, str]]:
    """What the ledger has of CPU: session and group of its node."""
    rows = await sql(
        api.database,
        "SELECT a.session_id, n.group_id FROM allocations a JOIN nodes n ON n.id = a.node_id"
        " WHERE a.released_at IS NULL AND a.slot = 'cpu'",
    )
    return [tuple(row) for row in rows]


async def shown(who: Caller, session: str) -> tuple[str, list[str]]:
    detail = (await who.get(f"/sessions/{session}")).json()
    return detail["group"]["id"], [one["id"] for one in detail["accepted_groups"]]


async def test_it_starts_in_the_first_of_its_groups_that_can_take_it(living: Api):
    user = await living.as_("user")
    await clusters(living, "a100", "cloud")
    both = {"slots": ALL, "group": "a100", "alternative_groups": ["cloud", "A100"]}
    first = await user.start(**both)
    await living.until(user, first["id"], "RUNNING")
    second = await user.start(**both)
    await living.until(user, second["id"], "RUNNING")
    assert await shown(user, first["id"]) == ("a100", ["a100", "cloud"])
    assert await shown(user, second["id"]) == ("cloud", ["a100", "cloud"])
    assert sorted(await held(living)) == sorted([(first["id"], "a100"), (second["id"], "cloud")])
    # The third waits in both queues.
    third = await user.start(**both)
    why = await waits(living, user, third["id"])
    assert (why["group"]["id"], why["position"], why["queue_length"]) == ("a100", 1, 1)
    [other] = why["alternatives"]
    assert (other["group"]["id"], other["position"], other["queue_length"]) == ("cloud", 1, 1)
    assert other["reason"] == why["reason"] == "1 node: needs 8 CPU, 0 CPU free."
    assert await shown(user, third["id"]) == ("a100", ["a100", "cloud"])
    for name in ("a100", "cloud"):
        queued = (await user.get("/scheduler/queue", params={"group": name})).json()
        assert [one["session"] for one in queued["items"]] == [third["id"]]
    await user.delete(f"/sessions/{second['id']}")
    await living.until(user, third["id"], "RUNNING")
    assert await shown(user, third["id"]) == ("cloud", ["a100", "cloud"])


async def test_one_that_is_requeued_prefers_its_first_group_again(living: Api):
    user, admin = await living.as_("user"), await living.as_("superadmin")
    await clusters(living, "a100", "cloud")
    first = await user.start(slots=ALL, group="a100")
    await living.until(user, first["id"], "RUNNING")
    moved = await user.start(slots=ALL, group="a100", alternative_groups=["cloud"])
    await living.until(user, moved["id"], "RUNNING")
    assert (await shown(user, moved["id"]))[0] == "cloud"
    drained = await admin.post("/nodes/cloud/drain", {"how": "move"})
    assert drained.status_code < 300, drained.text
    await living.until(user, moved["id"], "PENDING")
    why = await waits(living, user, moved["id"])
    assert (why["group"]["id"], why["alternatives"][0]["group"]["id"]) == ("a100", "cloud")
    assert (await shown(user, moved["id"]))[0] == "a100"
    await user.delete(f"/sessions/{first['id']}")
    await living.until(user, moved["id"], "RUNNING")
    assert (await shown(user, moved["id"]))[0] == "a100"
    assert await held(living) == [(moved["id"], "a100")]
    # What it held in the other group counts there.
    past = "UPDATE allocations SET created_at = now() - interval '9 days', released_at = now() WHERE node_id = :id"
    [(cloud,)] = await sql(living.database, "SELECT id FROM nodes WHERE name = 'cloud'")
    await sql(living.database, past, id=cloud)
    async with living.database.transaction() as tx:
        row = (await tx.execute(text("SELECT * FROM resource_groups WHERE id = 'cloud'"))).one()
        shares = await loading.fair_shares(tx, row, (), datetime.now(UTC))
    assert shares


async def test_only_groups_that_one_may_use_are_accepted(api: Api):
    user = await api.as_("user")
    await join(api.database, machine())
    await group(api.database, "gpus", public=False)
    refused = await user.try_start(alternative_groups=["gpus"])
    assert status_and_code(refused) == (404, "group.not_found")
    assert refused.json()["field"] == "alternative_groups"
    refused = await (await api.as_("superadmin")).try_start(node="n1", alternative_groups=["gpus"])
    assert status_and_code(refused) == (422, "session.node_of_one_group")


async def test_it_is_refused_only_if_none_of_its_groups_can_ever_take_it(api: Api):
    user = await api.as_("user")
    await group(api.database, "large")
    await join(api.database, machine("n1"), machine("big", cpu=16_000))
    await sql(api.database, "UPDATE nodes SET group_id = 'large', group_fixed = true WHERE name = 'big'")
    large = {"cpu": 16_000, "mem": GIB}
    assert status_and_code(await user.try_start(slots=large)) == (409, "session.too_large")
    session = await user.start(slots=large, alternative_groups=["large"])
    assert (session["group"]["id"], session["state"]) == ("default", "PENDING")
    request = {"slots": large, "alternative_groups": ["large"]}
    checked = (await user.post("/sessions/check", request)).json()
    # Behind the first session, which is not placed, because no controllers run here.
    assert checked["verdict"] == "waits"
    assert [one["group"]["id"] for one in checked["alternatives"]] == ["large"]
    await user.delete(f"/sessions/{session['id']}")
    checked = (await user.post("/sessions/check", request)).json()
    assert (checked["verdict"], checked["starts_in"]["id"], checked["alternatives"]) == (
        "starts",
        "large",
        [],
    )
    huge = {"cpu": 32_000, "mem": GIB}
    refused = await user.try_start(slots=huge, alternative_groups=["large"])
    assert (status_and_code(refused), refused.json()["detail"]) == (
        (409, "session.too_large"),
        "No node has 32 CPU; the largest has 8 CPU.",
    )


async def test_a_group_that_it_may_not_use_any_more_is_a_reason_there_only(api: Api):
    user, admin = await api.as_("user"), await api.as_("superadmin")
    await join(api.database, machine())
    await group(api.database, "gpus")
    session = await user.start(slots=ALL, group="gpus", alternative_groups=["default"])
    closed = await admin.patch("/groups/gpus", {"public": False})
    assert closed.status_code == 200, closed.text
    # It would start in the other group.
    checked = (await user.get(f"/sessions/{session['id']}/why")).json()
    assert (checked["cause"], checked["alternatives"]) == (None, [])
    inactive = await admin.patch("/groups/default", {"active": False})
    assert inactive.status_code == 200, inactive.text
    why = (await user.get(f"/sessions/{session['id']}/why")).json()
    assert (why["cause"], why["reason"]) == (
        "not_yet",
        "Its owner may no longer start sessions in its resource group.",
    )
    [other] = why["alternatives"]
    assert (other["cause"], other["reason"]) == ("group", "Its resource group is not active.")


async def test_root_is_a_question_of_each_group(api: Api):
    user, admin = await api.as_("user"), await api.as_("superadmin")
    with_root = {"image": "debian:12", "rights": "root"}
    await group(api.database, "vms")
    able = frozenset({"root-inside"})
    await join(api.database, machine(), replace(machine("vm"), capabilities=able))
    await sql(api.database, "UPDATE nodes SET group_id = 'vms', group_fixed = true WHERE name = 'vm'")
    allowed = await admin.patch("/policies/default-keypair", {"limits": {"max_rights": "root"}})
    assert allowed.status_code == 200, allowed.text
    assert status_and_code(await user.try_start(**with_root)) == (409, "session.root_impossible")
    pending = await user.start(**with_root, alternative_groups=["vms"])
    why = (await user.get(f"/sessions/{pending['id']}/why")).json()
    assert why["cause"] is None
    await admin.patch("/groups/vms", {"max_rights": "plain"})
    why = (await user.get(f"/sessions/{pending['id']}/why")).json()
    assert why["reason"] == "1 node: cannot give root in a session."
    [other] = why["alternatives"]
    assert other["reason"] == "The resource group does not allow root in a session."


async def test_the_dry_run_promises_no_start_in_a_group_that_does_not_allow_root(api: Api):
    user, admin = await api.as_("user"), await api.as_("superadmin")
    able = frozenset({"root-inside"})
    await group(api.database, "vms")
    nodes = [replace(machine(name), capabilities=able) for name in ("n1", "vm")]
    await join(api.database, *nodes)
    await sql(api.database, "UPDATE nodes SET group_id = 'vms', group_fixed = true WHERE name = 'vm'")
    allowed = await admin.patch("/policies/default-keypair", {"limits": {"max_rights": "root"}})
    assert allowed.status_code == 200, allowed.text
    await admin.patch("/groups/vms", {"max_rights": "plain"})
    # Pending before it, and placed first.
    await user.start(slots=ALL)
    with_root = {**request(slots=ALL), "rights": "root", "alternative_groups": ["vms"]}
    checked = (await user.post("/sessions/check", with_root)).json()
    assert (checked["verdict"], checked["starts_in"]) == ("waits", None)
    [other] = checked["alternatives"]
    assert other["reason"] == "The resource group does not allow root in a session."
    # The pending session has the same reason.
    session = await user.start(**with_root)
    why = (await user.get(f"/sessions/{session['id']}/why")).json()
    assert why["alternatives"] == checked["alternatives"]


async def test_a_group_that_a_session_accepts_cannot_be_deleted(api: Api):
    user, admin = await api.as_("user"), await api.as_("superadmin")
    await join(api.database, machine())
    await group(api.database, "spare")
    session = await user.start(alternative_groups=["spare"])
    assert status_and_code(await admin.delete("/groups/spare")) == (409, "group.in_use")
    assert await shown(user, session["id"]) == ("default", ["default", "spare"])


async def test_a_group_is_not_deleted_while_a_session_that_accepts_it_is_created(api: Api):
    admin = await api.as_("superadmin")
    await join(api.database, machine())
    await group(api.database, "spare")
    async with api.database.transaction() as tx:
        await service.create(tx, SystemClock(), api.people.user, spec(alternative_groups=["spare"]))
        deletion = asyncio.create_task(admin.delete("/groups/spare"))

        async def decided() -> bool:
            return deletion.done() or await scalar(api.database, _DELETION_WAITS) > 0

        await eventually(decided)
    assert status_and_code(await deletion) == (409, "group.in_use")


async def test_a_template_of_a_session_leaves_out_groups_that_do_not_exist(api: Api):
    user = await api.as_("user")
    await join(api.database, machine())
    for name in ("spare", "cloud"):
        await group(api.database, name)
    await user.start(name="first", group="spare", alternative_groups=["cloud", "default"])
    await sql(api.database, "DELETE FROM resource_groups WHERE id = 'cloud'")
    template = await user.post("/templates", {"name": "training", "from_session": "first"})
    assert template.status_code == 201, template.text
    session = template.json()["session"]
    assert (session["group"], session["alternative_groups"]) == ("spare", ["default"])


async def test_repeats_leave_out_groups_that_are_lost_unless_these_are_all(api: Api):
    user, admin = await api.as_("user"), await api.as_("superadmin")
    await join(api.database, machine())
    for name in ("spare", "cloud"):
        await group(api.database, name)
    several = {"group": "spare", "alternative_groups": ["cloud", "default"]}
    await user.start(name="first", **several)
    template = await user.post("/templates", {"name": "training", "from_session": "first"})
    assert template.status_code == 201, template.text
    job = request(kind="batch", command=["true"], **several)
    schedule = {"name": "nightly", "cron": "0 6 * * *", "timezone": "UTC", "session": job}
    assert (await user.post("/schedules", schedule)).status_code == 201

    async def accepted() -> list[list[str]]:
        again = await user.post("/sessions/first/again")
        assert again.status_code == 201, again.text
        run = (await user.post("/schedules/nightly/run")).json()
        assert run["outcome"] == "started", run
        made = [again.json()["id"], (await started(user, "training"))["id"], run["session"]]
        return [(await shown(user, one))[1] for one in made]

    await admin.patch("/groups/cloud", {"active": False})
    assert await accepted() == [["spare", "default"]] * 3
    await admin.patch("/groups/spare", {"public": False})
    assert await accepted() == [["default"]] * 3
    # One that is given at the start must be usable.
    refused = await user.post("/templates/training/start", {"alternative_groups": ["cloud"]})
    assert status_and_code(refused) == (404, "group.not_found")
    await admin.patch("/groups/default", {"active": False})
    for address in ("/sessions/first/again", "/templates/training/start"):
        assert (await user.post(address, {})).status_code in (403, 404)
    assert (await user.post("/schedules/nightly/run")).json()["outcome"] == "refused"


async def test_definitions_templates_arrays_and_repeats_keep_the_groups(api: Api, tmp_path: Path):
    user = await api.as_("user")
    await join(api.database, machine())
    for name in ("spare", "cloud"):
        await group(api.database, name)
    line = await command_line(api, "user", tmp_path)
    of_two, both = ["--group", "cloud", "--group", "spare"], ["cloud", "spare"]
    await line.ok("session", "create", "--name", "first", "--image", "debian:12", *of_two)
    assert re.search("accepts +cloud, spare", await line.ok("session", "show", "first"))
    # As a file, and started from it; options replace all groups of the file.
    definition = await line.ok("session", "export", "first")
    assert "group: cloud\nalternative_groups:\n- spare\n" in definition
    file = tmp_path / "job.yaml"
    file.write_text(definition.replace("name: first", "name: second"))
    await line.ok("session", "create", "-f", str(file))
    assert await shown(user, "second") == ("cloud", both)
    third = await line.as_json("session", "create", "-f", str(file), "--name", "third", "--group", "spare")
    assert [one["id"] for one in third["accepted_groups"]] == ["spare"]
    # Started again.
    await user.delete("/sessions/first")
    again = await user.post("/sessions/first/again")
    assert again.status_code == 201, again.text
    assert await shown(user, again.json()["id"]) == ("cloud", both)
    # As a template; a group given at the start replaces all of it.
    template = await user.post("/templates", {"name": "training", "from_session": "second"})
    assert template.status_code == 201, template.text
    assert (await shown(user, (await started(user, "training"))["id"])) == ("cloud", both)
    assert (await shown(user, (await started(user, "training", group="spare"))["id"])) == ("spare", ["spare"])
    # Each session of an array.
    await user.start(
        name="sweep", kind="batch", command=["x"], array={"first": 1, "last": 2}, group="cloud",
        alternative_groups=["spare"],
    )  # fmt: skip
    assert await shown(user, "sweep-2") == ("cloud", both)
    why = await line.ok("session", "why", "sweep-1")
    assert re.search("also accepts +spare", why)
    check = (await line.run("session", "check", *of_two)).stdout.decode()
    assert re.search("also accepts +spare", check)
