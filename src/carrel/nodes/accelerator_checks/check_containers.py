"""A check of devices of one node, with real containers."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from carrel.core.slots import WHOLE
from carrel.engines.port import Engine, EngineError, EngineUnavailable, ImageUnusable
from carrel.nodes.accelerator_checks import cuda_program, inside
from carrel.nodes.accelerator_checks.check_devices import Device
from carrel.nodes.accelerator_checks.cuda_program import ProgramAnswer
from carrel.nodes.accelerator_checks.inside import Seen
from carrel.nodes.accelerator_checks.schemas import (
    CheckedAspect,
    CheckedAspectView,
    DeviceResult,
    ShareResult,
)
from carrel.nodes.engines.connections import in_time
from carrel.tables.accelerator_checks import CheckedOutcome

_SHARES = (250, 500)
"""Thousandths of a GPU that a container gets, beside another one with the rest."""
_ANSWER_S = 60.0
_BURN_S = 2.0
_FAMILY = "cuda"
_MOST_BYTES = 1 << 20
"""Of the output of a process."""


class _NoAnswerError(EngineError):
    """A process in a container hangs, as with a broken device."""

    def __init__(self, command: str) -> None:
        super().__init__(f"{command} did not answer within {_ANSWER_S:.0f} s.", retriable=True)


class CheckContainers(Protocol):
    """The containers of a check, and where they are."""

    @property
    def engine(self) -> Engine: ...

    async def start(self, devices: Mapping[str, int]) -> str:
        """The id of a new running container with these thousandths of devices. Raises: EngineError."""
        ...

    async def clear(self) -> str:
        """Remove all of them. Why some are left, as a sentence; empty if none is. Raises: EngineUnavailable."""
        ...

    def left(self) -> Collection[str]:
        """The devices of the containers that exist, as far as these were started here."""
        ...

    async def advance(self, step: str, progress: float) -> None:
        """Show what it does now. progress: 0..1."""
        ...


async def run(
    containers: CheckContainers, devices: Mapping[str, Device], *, unenforced: str = ""
) -> list[DeviceResult]:
    """The results of these devices, by id. unenforced: why their shares are not enforced, as sentences.

    Raises: EngineUnavailable, ImageUnusable, and for containers without devices EngineError; the containers of an
    interrupted check stay, and those that cannot be removed.
    """
    every = [device for device, one in devices.items() if has_shares(one)]
    shared = [] if unenforced else every
    steps = 1 + len(devices) + len(shared) * len(_SHARES)
    await containers.advance("a container without devices", 0)
    baseline = await _look(containers, await containers.start({}), "")
    seen: dict[str, Seen] = {}
    failed: dict[str, str] = {}
    for number, (device, one) in enumerate(devices.items(), 1):
        await containers.advance(device, number / steps)
        problem = "A container with it does not start"
        try:
            container = await containers.start({device: WHOLE})
            problem = "What its container sees is not known"
            seen[device] = (await _look(containers, container, one["family"])).beyond(baseline)
        except EngineError as error:
            failed[device] = f"{problem}: {await _of_device(containers, error)}"
    await containers.clear()
    measures = {**inside.judge(seen), **{device: [_not_granted(why)] for device, why in failed.items()}}
    broken = {**dict.fromkeys(containers.left(), "Its container cannot be removed."), **failed}
    shares = {device: _unmeasured(devices[device], broken.get(device, unenforced)) for device in every}
    for number, device in enumerate(shared):
        if device in broken:
            continue
        shares[device] = []
        for place, share in enumerate(_SHARES):
            done = 1 + len(devices) + number * len(_SHARES) + place
            await containers.advance(f"{share / WHOLE:g} of {device}", done / steps)
            shares[device].append(await _share(containers, devices[device], share))
    return [
        _result(one, measures[device], seen.get(device, Seen()), shares.get(device, []))
        for device, one in devices.items()
    ]


def has_shares(device: Device) -> bool:
    """True for an NVIDIA GPU of which sessions may have thousandths."""
    return device["family"] == _FAMILY and 1 in device.get("slots", {}).values()


def _unmeasured(device: Device, why: str) -> list[ShareResult]:
    missing = ProgramAnswer(why)
    return [
        cuda_program.share_result(share, device.get("mem_bytes"), missing, missing, missing)
        for share in _SHARES
    ]


def _not_granted(why: str) -> CheckedAspectView:
    return CheckedAspectView(
        name=CheckedAspect.GRANTED,
        outcome=CheckedOutcome.FAILED,
        text=why,
    )


def _result(
    device: Device, measures: Sequence[CheckedAspectView], seen: Seen, shares: list[ShareResult]
) -> DeviceResult:
    granted = next(one.outcome for one in measures if one.name is CheckedAspect.GRANTED)
    outcomes = [*(one.outcome for one in measures), *(one.outcome for one in shares)]
    return DeviceResult(
        device=device["id"],
        model=device.get("model", ""),
        family=device["family"],
        outcome=inside.outcome_of(outcomes, granted),
        measures=list(measures),
        files=sorted(seen.files),
        variables=dict(seen.variables),
        shares=shares,
    )


async def _look(containers: CheckContainers, container: str, family: str) -> Seen:
    """What the container sees. family: of its device."""
    files, _ = await _output(containers, container, *inside.FILES)
    variables, _ = await _output(containers, container, *inside.VARIABLES)
    listed, tool = await _listed(containers, container, family)
    return Seen(inside.files_of(files), inside.variables_of(variables), listed, tool)


async def _listed(containers: CheckContainers, container: str, family: str) -> tuple[int | None, str]:
    """How many devices the vendor's tool or driver lists, and its name; None if there is none."""
    family, _, instance = family.partition(".")
    if family in inside.LISTING:
        command, begins = inside.LISTING[family]
        output, code = await _output(containers, container, *command)
        if code == 0:
            return inside.listed_in(output, "  MIG " if instance else begins), command[0]
    if family == _FAMILY:
        return (await _program(containers, container, "count")).count, "libcuda"
    return None, ""


async def _share(containers: CheckContainers, device: Device, share: int) -> ShareResult:
    """Measure a container with this share beside another one with the rest."""
    hangs = False
    try:
        own = await containers.start({device["id"]: share})
        neighbour = await containers.start({device["id"]: WHOLE - share})
        memory = await _program(containers, own, "memory")
        alone = beside = ProgramAnswer(memory.missing)
        if not memory.missing:
            alone = await _program(containers, neighbour, "burn", str(_BURN_S))
            beside = await _beside(containers, own, neighbour) if not alone.missing else alone
    except _NoAnswerError as error:
        hangs, memory = True, ProgramAnswer(error.message)
        alone = beside = memory
    except EngineError as error:
        problem = await _of_device(containers, error)
        memory = alone = beside = ProgramAnswer(f"A container with the share does not start: {problem}")
    await containers.clear()
    result = cuda_program.share_result(share, device.get("mem_bytes"), memory, alone, beside)
    return result.model_copy(update={"outcome": CheckedOutcome.FAILED}) if hangs else result


async def _of_device(containers: CheckContainers, error: EngineError) -> str:
    """What is wrong with a device: an engine that answers others hangs because of it. Raises: what has other causes."""
    if isinstance(error, ImageUnusable):
        raise error
    if isinstance(error, EngineUnavailable):
        await in_time(containers.engine.list())
    return error.message


async def _beside(containers: CheckContainers, own: str, neighbour: str) -> ProgramAnswer:
    """What the neighbour computes while its fellow does. The fellow's process is asked for more time, and ends with its
    container.
    """
    longer = cuda_program.command("burn", str(4 * _BURN_S))
    async with containers.engine.exec(own, longer, env={}, terminal=None):
        return await _program(containers, neighbour, "burn", str(_BURN_S))


async def _program(containers: CheckContainers, container: str, *arguments: str) -> ProgramAnswer:
    return cuda_program.answer_of(*await _output(containers, container, *cuda_program.command(*arguments)))


async def _output(containers: CheckContainers, container: str, *command: str) -> tuple[str, int]:
    """What a process writes, without its errors, and its exit code. Raises: _NoAnswerError, EngineError."""
    try:
        async with asyncio.timeout(_ANSWER_S):
            return await _ran(containers.engine, container, command)
    except TimeoutError:
        raise _NoAnswerError(command[0]) from None


async def _ran(engine: Engine, container: str, command: Sequence[str]) -> tuple[str, int]:
    async with engine.exec(container, command, env={}, terminal=None) as process:
        output = b""
        async for stream, chunk in process.output():
            if stream == 1 and len(output) < _MOST_BYTES:
                output += chunk
        return output.decode(errors="replace"), await process.exit_code()
