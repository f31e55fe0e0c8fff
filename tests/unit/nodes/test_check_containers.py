"""Checks of accelerators whose processes hang."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from carrel.engines.port import Engine, EngineUnavailable, Observed
from carrel.nodes.accelerator_checks import check_containers
from carrel.nodes.accelerator_checks.check_devices import Device

DEVICES: Mapping[str, Device] = {id: {"id": id, "family": "npu", "slots": {}} for id in ("sick", "sound")}

SOUND: Device = {"id": "sound", "family": "npu", "slots": {}}
HUNG: Device = {"id": "hung", "family": "npu", "slots": {}}


class Process:
    """Of a container: it lists its device, or hangs if that is the sick one."""

    def __init__(self, devices: Mapping[str, int]) -> None:
        self._devices = devices

    async def output(self) -> AsyncIterator[tuple[int, bytes]]:
        if "sick" in self._devices:
            await asyncio.Event().wait()
        yield 1, "".join(f"NPU_DEVICES={device}\n" for device in self._devices).encode()

    async def exit_code(self) -> int:
        return 0


class Containers:
    """Where the containers of the check are, and their engine."""

    def __init__(self, *, away: bool = False, hung: str = "") -> None:
        self._containers: list[Mapping[str, int]] = []
        self._away, self._hung = away, hung

    @property
    def engine(self) -> Engine:
        return cast(Engine, self)

    async def list(self) -> Sequence[Observed]:
        if self._away:
            raise EngineUnavailable("The engine is away.")
        return ()

    async def start(self, devices: Mapping[str, int]) -> str:
        if self._hung in devices:
            raise EngineUnavailable("The engine has not responded.")
        self._containers.append(devices)
        return str(len(self._containers) - 1)

    async def clear(self) -> str:
        return ""

    def left(self) -> Collection[str]:
        return ()

    async def advance(self, step: str, progress: float) -> None:
        pass

    @asynccontextmanager
    async def exec(self, container: str, command: Sequence[str], **_: Any) -> AsyncIterator[Process]:
        yield Process(self._containers[int(container)])


async def test_a_device_whose_container_hangs_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_containers, "_ANSWER_S", 0.05)
    sick, sound = await check_containers.run(Containers(), DEVICES)
    assert (sick.outcome, sound.outcome) == ("failed", "passed")
    assert "did not answer within" in sick.measures[0].text


async def test_a_device_with_which_no_container_starts_fails_alone() -> None:
    sound, hung = await check_containers.run(Containers(hung="hung"), {"sound": SOUND, "hung": HUNG})
    assert (sound.outcome, hung.outcome) == ("passed", "failed")
    assert hung.measures[0].text == "A container with it does not start: The engine has not responded."


async def test_an_engine_that_does_not_answer_is_no_failure_of_a_device() -> None:
    with pytest.raises(EngineUnavailable):
        await check_containers.run(Containers(away=True, hung="hung"), {"hung": HUNG})
