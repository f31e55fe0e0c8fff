"""What `POST /sessions/check` says is what would be: of presets as of the request itself, and why one never starts."""

import json
from pathlib import Path

import pytest
from command_line import command_line
from databases import sql
from installation import Api, Caller
from limit_kit import limit, set_ceilings
from node_kit import GIB, group, join, machine
from people_kit import status_and_code
from session_kit import SMALL

MACHINE = machine("n1", **{"fake.device": 4, "fake.shares": 4000})


async def presets(api: Api, who: Caller, *offered: dict[str, int], **fields: object) -> list[tuple[str, str]]:
    """Verdict and reason of each, beside such a request."""
    for number, slots in enumerate(offered):
        await sql(
            api.database,
            "INSERT INTO presets (id, name, slots) VALUES (:name, :name, CAST(:slots AS jsonb))",
            name=f"p{number}",
            slots=json.dumps(slots),
        )
    answer = await who.post("/sessions/check", {"slots": SMALL, **fields})
    assert answer.status_code == 200, answer.text
    return [(one["verdict"], one["reason"]) for one in answer.json()["presets"]]


async def test_a_preset_that_never_fits_says_what_it_is_too_large_for(api: Api):
    user, admin = await api.as_("user"), await api.as_("superadmin")
    await join(api.database, MACHINE)
    huge = {"cpu": 9000, "mem": GIB}
    expected = ("never", "No node has 9 CPU; the largest has 8 CPU.")
    assert await presets(api, user, huge) == [expected]
    # What is only so now is no reason why it never will.
    await admin.patch("/nodes/n1", {"cordoned": True})
    assert await presets(api, user) == [expected]
    await set_ceilings(api.database, api.people.project, cpu=2000)
    [(verdict, reason)] = await presets(api, user)
    assert verdict == "never"
    assert reason.endswith("may use 2 CPU at most.")


async def test_a_preset_waits_where_no_node_is_yet_as_the_request_does(api: Api):
    user = await api.as_("user")
    assert await presets(api, user, {"cpu": 1000, "mem": GIB}) == [
        ("waits", "No node has joined its resource group yet.")
    ]
    answer = (await user.post("/sessions/check", {"slots": {"cpu": 1000, "mem": GIB}})).json()
    assert (answer["verdict"], answer["reason"]) == ("waits", "No node has joined its resource group yet.")


async def test_a_preset_is_judged_with_what_it_leaves_as_it_was(api: Api):
    user = await api.as_("user")
    await join(api.database, MACHINE)
    part = {"fake.shares": 500}
    assert await presets(api, user, part) == [("starts", "")]
    [(verdict, _)] = await presets(api, user, slots={"cpu": 9000, "mem": GIB})
    assert verdict == "never"


async def test_a_preset_with_less_than_the_image_needs_never_starts_with_it(api: Api):
    user = await api.as_("user")
    await join(api.database, MACHINE)
    await sql(
        api.database,
        "INSERT INTO images (id, name, reference, title, description, present, min_slots, apps) "
        "VALUES ('i', 'torch', 'torch:1', 'Torch', '', true, '{\"cpu\": 2000}', '[]')",
    )
    assert await presets(api, user, {"cpu": 1000, "mem": GIB}, image="torch") == [
        ("never", "torch needs at least 2 CPU.")
    ]
    assert await presets(api, user, image="debian:12") == [("starts", "")]


@pytest.mark.parametrize("scope", ["project", "user"])
async def test_who_may_have_no_session_is_told_so_at_the_door(api: Api, scope: str):
    user = await api.as_("user")
    await join(api.database, MACHINE)
    if scope == "project":
        await set_ceilings(api.database, api.people.project, sessions=0)
    else:
        await limit(api.database, "user", sessions=0)
    refused = await user.try_start()
    assert status_and_code(refused) == (409, "session.over_ceiling")
    assert refused.json()["detail"].endswith("may use 0 sessions at most.")
    answer = (await user.post("/sessions/check", {"slots": SMALL})).json()
    assert (answer["verdict"], answer["code"]) == ("never", "session.over_ceiling")


async def test_an_e_mail_in_a_reason_is_written_as_it_is(api: Api):
    user = await api.as_("user")
    await join(api.database, MACHINE)
    await limit(api.database, "user", slots={"cpu": 50, "*": "unlimited"})
    refused = await user.try_start()
    assert refused.json()["detail"] == "user@example.org may use 0.05 CPU at most."
    # In the reason of one that waits, too.
    await limit(api.database, "user", sessions=1, slots={"*": "unlimited"})
    first = await user.start()
    await sql(
        api.database,
        "INSERT INTO allocations (session_id, container_id, node_id, slot, amount, created_at) "
        "SELECT :id, :container, id, 'cpu', 100, now() FROM nodes",
        id=first["id"],
        container=first["containers"][0]["id"],
    )
    answer = (await user.post("/sessions/check", {"slots": SMALL})).json()
    assert answer["reason"] == "user@example.org may have 1 session at once, and has 1."


async def test_a_group_is_named_in_any_case(api: Api):
    user = await api.as_("user")
    await join(api.database, MACHINE)
    assert (await user.start(group="DEFAULT"))["group"]["name"] == "default"


async def test_the_command_line_says_the_place_the_other_groups_and_what_is_only_refused_now(
    api: Api, tmp_path: Path
):
    user = await api.as_("user")
    await join(api.database, MACHINE)
    await group(api.database, "spare")
    line = await command_line(api, "user", tmp_path)
    await sql(api.database, "UPDATE nodes SET cordoned = true")
    await user.start()
    waits = (await line.run("session", "check", "--cpu", "1", "--mem", "64m")).stdout.decode()
    assert "place    2" in waits
    assert "spare    would wait  No node has joined its resource group yet." in waits
    await limit(api.database, "keypair", pending_sessions=0)
    refused = (await line.run("session", "check", "--cpu", "1", "--mem", "64m")).stdout.decode()
    assert "would be refused" in refused
    assert "could never start" not in refused


async def test_the_command_line_takes_no_two_options_that_contradict_each_other(api: Api, tmp_path: Path):
    line = await command_line(api, "superadmin", tmp_path)
    for arguments in (
        ("project", "update", "vision", "--ceiling", "cpu=1", "--no-ceilings"),
        ("node", "edit", "n1", "--reserve", "mem=1g", "--no-reserve"),
        ("group", "edit", "default", "--public", "--private"),
        ("group", "edit", "default", "--activate", "--deactivate"),
    ):
        answer = await line.run(*arguments)
        assert (answer.code, "not allowed with" in answer.stderr) == (2, True), arguments
