"""When a controller steps."""

import asyncio
import gc
from types import SimpleNamespace
from typing import Any

import pytest
from simulation.virtual_time import simulate

from carrel.controllers import loop
from carrel.controllers.folder_tasks import FolderTasks
from carrel.controllers.storage_monitor import _Watch
from carrel.core.clock import SystemClock
from carrel.core.ids import StorageHostId
from carrel.db.listener import Listener


class Counting:
    name = "counting"
    topics = ("news",)
    tick_s = 60.0

    def __init__(self, calm_s: float) -> None:
        self.calm_s = calm_s
        self.steps: list[float] = []

    async def step(self) -> None:
        self.steps.append(asyncio.get_running_loop().time())

    async def close(self) -> None: ...


@pytest.mark.parametrize(("calm_s", "least_s", "steps"), [(0.0, 0.0, 4), (0.2, 0.2, 2)])
def test_what_nobody_waits_for_comes_later_and_once(calm_s, least_s, steps):
    async def life() -> float:
        running = asyncio.create_task(loop.run(controller, listener))
        await asyncio.sleep(0.01)
        for _ in range(3):
            hinted_at = asyncio.get_running_loop().time()
            listener.announce("news")
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.4)
        running.cancel()
        return hinted_at

    controller, listener = Counting(calm_s), Listener("postgresql://")
    hinted_at = simulate(life())
    assert len(controller.steps) == steps
    assert controller.steps[-1] - hinted_at >= least_s - 0.05


def test_a_step_that_makes_an_error_of_being_cancelled_is_the_last():
    class Deaf(Counting):
        async def step(self) -> None:
            await super().step()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                raise RuntimeError("connection lost") from None

    async def life() -> bool:
        running = asyncio.create_task(loop.run(controller, Listener("postgresql://")))
        await asyncio.sleep(0.01)
        running.cancel()
        done, _ = await asyncio.wait([running], timeout=0.5)
        return bool(done)

    controller = Deaf(0.0)
    assert simulate(life())
    assert len(controller.steps) == 1


def test_first_steps_that_wait_for_others_delay_none():
    class Waiting(Counting):
        async def step(self) -> None:
            await super().step()
            await asyncio.sleep(60)

    async def life() -> None:
        first, listener = asyncio.Semaphore(2), Listener("postgresql://")
        controllers = [Waiting(0.0), Waiting(0.0), *quick]
        running = [asyncio.create_task(loop.run(each, listener, first)) for each in controllers]
        await asyncio.sleep(3)
        for task in running:
            task.cancel()

    quick = [Counting(0.0) for _ in range(20)]
    simulate(life())
    assert all(len(each.steps) == 1 for each in quick)


async def begin_to_watch() -> Any:
    watch = _Watch(
        SimpleNamespace(clock=SystemClock()),  # type: ignore[arg-type]
        StorageHostId("host"),
        SimpleNamespace(name="disk"),  # type: ignore[arg-type]
    )
    watch.step()
    return watch


async def begin_with_a_folder() -> Any:
    async def work() -> None: ...

    folders = FolderTasks(SimpleNamespace())  # type: ignore[arg-type]
    folders._take_up("folder", work)
    return folders


@pytest.mark.parametrize("begin", [begin_to_watch, begin_with_a_folder])
def test_what_is_ended_before_it_began_leaves_nothing_unawaited(begin):
    """pytest makes an error of it; see filterwarnings."""

    async def life() -> None:
        await (await begin()).close()

    simulate(life())
    gc.collect()
