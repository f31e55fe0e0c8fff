"""The load of whole machines, in virtual time: measured between two readings, and a gap where there is none."""

import asyncio
from dataclasses import replace

import pytest
from simulation.conftest import Play
from simulation.control_planes import ControlPlane
from simulation.installation_life import Installation

from carrel.controllers.usage_history import UsageHistory
from carrel.engines.optional import HostUsage

IDLE = HostUsage("local", 0, 8 << 30, 0, 0, 0, 0, 50 << 30, 100 << 30)
MINUTE_NS = 60 * 10**9


def loads(installation: Installation) -> list[float | None]:
    """The mean millicores of each recorded minute."""
    rows = installation.look.execute(
        "SELECT measures->'host.cpu'->0 FROM usage_history WHERE scope = 'node' AND step_s = 60 ORDER BY at"
    )
    return [value for (value,) in rows]


async def minute(installation: Installation) -> None:
    async def look(plane: ControlPlane) -> None:
        [history] = [one for one in plane.controllers if isinstance(one, UsageHistory)]
        await history.step()
        await asyncio.sleep(60)

    await installation.act(look)


def test_the_load_of_a_machine_is_what_it_did_between_two_readings(play: Play) -> None:
    async def story(installation: Installation) -> None:
        installation.look.execute("DELETE FROM usage_history")
        world = installation.world
        await installation.settle()
        # Not measurable, then two cores busy for a minute, a restart, and half a core busy.
        await minute(installation)
        for cpu_ns in (5 * MINUTE_NS, 7 * MINUTE_NS, 0, MINUTE_NS // 2):
            world.hosts["local"] = replace(IDLE, cpu_ns=cpu_ns, sent_bytes=cpu_ns // MINUTE_NS * 600)
            await minute(installation)
        assert loads(installation) == [
            None,
            None,
            pytest.approx(2000, rel=0.02),
            None,
            pytest.approx(500, rel=0.02),
        ]
        # An engine that does not respond leaves a gap, and the rest of the history goes on.
        world.go_away()
        await minute(installation)
        world.come_back()
        await minute(installation)
        await minute(installation)
        assert loads(installation)[5:] == [None, None, 0]
        [(sent, mem)] = installation.look.execute(
            "SELECT measures->'host.sent'->0, measures->'host.mem'->0 FROM usage_history"
            " WHERE scope = 'node' AND step_s = 60 ORDER BY at OFFSET 2 LIMIT 1"
        ).fetchall()
        assert (sent, mem) == (pytest.approx(20, rel=0.02), 8 << 30)

    play(story)
