"""Other amounts of CPU and memory for running sessions: over HTTP and on the command line."""

from pathlib import Path

from command_line import command_line
from databases import sql
from installation import Api
from people import eventually
from people_kit import status_and_code

MIB = 1 << 20


async def test_a_running_session_is_resized_and_it_is_audited(living: Api) -> None:
    user, colleague = await living.as_("user"), await living.as_("colleague")
    made = await user.start(slots={"cpu": 500, "mem": 256 * MIB})
    await living.until(user, made["id"], "RUNNING")
    place = f"/sessions/{made['id']}/resize"
    assert (await colleague.post(place, {"cpu": 100})).status_code == 404
    answer = await user.post(place, {"cpu": 1500})
    assert answer.status_code == 202, answer.text
    assert answer.json()["containers"][0]["resize"] in ({"cpu": 1500, "mem": 256 * MIB}, None)

    async def resized() -> bool:
        [container] = (await user.get(f"/sessions/{made['id']}")).json()["containers"]
        return container["resize"] is None

    await eventually(resized)
    shown = (await user.get(f"/sessions/{made['id']}")).json()
    assert shown["slots"] == shown["containers"][0]["slots"] == {"cpu": 1500, "mem": 256 * MIB}
    steps = (await user.get(f"/sessions/{made['id']}/history")).json()["items"]
    assert ("resized", "It has 1.5 CPU now.") in [(step["cause"], step["reason"]) for step in steps]
    [(details,)] = await sql(
        living.database,
        "SELECT details FROM audit WHERE action = 'session.update' AND details ? 'after'",
    )
    assert (details["before"], details["after"]) == ({"slots": {"cpu": 500}}, {"slots": {"cpu": 1500}})
    # A definition of it, and another one like it, have the present amounts.
    again = (await user.post(f"/sessions/{made['id']}/again")).json()
    assert again["slots"]["cpu"] == 1500


async def test_what_cannot_be_is_refused_with_the_reason(living: Api) -> None:
    user = await living.as_("user")
    made = await user.start(slots={"cpu": 500, "mem": 256 * MIB}, shm_bytes=64 * MIB)
    place = f"/sessions/{made['id']}/resize"
    await living.until(user, made["id"], "RUNNING")
    for body, expected in (
        ({"cpu": 1}, (422, "invalid.request")),
        ({"gpu": 1}, (422, "invalid.request")),
        ({"mem": 32 * MIB}, (422, "session.shm_too_large")),
        ({"cpu": 1 << 40}, (409, "session.no_room_to_grow")),
        ({"cpu": 600, "container": "sub7"}, (404, "container.not_found")),
    ):
        assert status_and_code(await user.post(place, body)) == expected
    await user.delete(f"/sessions/{made['id']}")
    await living.until(user, made["id"], "TERMINATED")
    assert status_and_code(await user.post(place, {"cpu": 600})) == (409, "session.not_running")


async def test_resizing_on_the_command_line(living: Api, tmp_path: Path) -> None:
    user = await command_line(living, "user", tmp_path)
    made = await user.as_json("session", "create", "--image", "debian:12", "--mem", "64m", "--wait")
    printed = await user.ok("session", "resize", made["id"], "--cpu", "0.5", "--mem", "128m")
    assert "has cpu 0.5, mem 128 MiB now" in printed
    assert (await user.as_json("session", "show", made["id"]))["slots"] == {"cpu": 500, "mem": 128 * MIB}
