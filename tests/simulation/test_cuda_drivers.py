"""Two nodes of which one has an old driver: what waits for the other, until the driver is updated."""

import asyncio
from dataclasses import replace

from node_kit import gpu_machine
from session_kit import SMALL, spec
from simulation.conftest import Play
from simulation.installation_life import Installation

from carrel.core.cuda import DRIVER_LABEL
from carrel.core.ids import SessionId
from carrel.tables.session_states import SessionState as S

_IMAGE = """
    INSERT INTO images (id, name, reference, title, description, min_slots, apps, present, requires_cuda)
    VALUES ('torch', 'torch', 'torch:12', 'torch', '', '{}', '[]', true, 'cuda>=12.4') ON CONFLICT DO NOTHING"""


async def request(installation: Installation, **slots: int) -> SessionId:
    installation.requests += 1
    return await installation.enqueue(spec(image="torch:12", slots=SMALL | slots))


def test_a_session_waits_for_a_driver_that_runs_its_image(play: Play) -> None:
    async def story(installation: Installation) -> None:
        installation.look.execute(_IMAGE)
        old, new = gpu_machine("old", "470.82.01"), gpu_machine("new", "550.54.15")
        installation.world.nodes = [old, new]
        await installation.settle()
        first = await request(installation, **{"cuda.device": 1})
        # Of two that came at the same time, either is first.
        await asyncio.sleep(1)
        second = await request(installation, **{"cuda.device": 1})
        plain = await request(installation)
        await installation.rounds(5)
        assert (installation.state(first), installation.node_of(first)) == (S.RUNNING, "new")
        assert installation.state(second) == S.PENDING
        assert installation.state(plain) == S.RUNNING
        reason = installation.look.execute("SELECT reason FROM sessions WHERE id = %s", [second]).fetchone()
        assert reason is not None
        assert "driver 470.82.01 supports CUDA 11.4, the image needs CUDA 12.4" in reason[0]
        # Its driver is updated.
        installation.world.nodes = [replace(old, labels={DRIVER_LABEL: "535.54.03"}), new]
        await installation.settle()
        assert (installation.state(second), installation.node_of(second)) == (S.RUNNING, "old")

    play(story)
