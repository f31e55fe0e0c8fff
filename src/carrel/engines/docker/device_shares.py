"""Shares of accelerators of containers: their main processes wait until the shares are enforced.

    keep (what they need outside)   create   start: waits behind the barrier   enforce, read back   open the barrier

A label of the container has the tier with which it was made, so that a start that a crash interrupted continues, and
what containers need outside of them is restored from those that there are.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import structlog

from carrel.accelerators.port import (
    NOTHING,
    Accelerators,
    Attachment,
    Dividing,
    Holders,
    ShareError,
    ShareTier,
    states_of,
)
from carrel.core.slots import WHOLE
from carrel.engines import barrier
from carrel.engines.accelerator_use import of_label
from carrel.engines.docker.api import DockerApi, filters
from carrel.engines.docker.container_config import LABEL_DEVICES, LABEL_ID, LABEL_SHARES, Names
from carrel.engines.docker.exec_streams import send_input
from carrel.engines.port import ContainerSpec, EngineError

log = structlog.get_logger()

_PAUSE_S = 10.0
"""After a failure: a tool that hangs takes its time for each container otherwise."""
_WAIT_S = 5.0


@dataclass(frozen=True, slots=True)
class Shared:
    """A container with shares that are enforced. tier: with which. attachment: what it gets for them."""

    tier: str
    attachment: Attachment


class _Holder(NamedTuple):
    """A container with shares. held: device -> thousandths."""

    tier: str
    held: Mapping[str, int]


class Shares:
    """Of the containers of one daemon."""

    def __init__(self, api: DockerApi, names: Names) -> None:
        self._api, self._names = api, names
        self._keeping = asyncio.Lock()
        self._starting: dict[str, _Holder] = {}
        """What containers hold that are being created or started, and are not listed as alive yet."""
        self._kept: Sequence[Accelerators] = ()
        """Those of the daemon's machine, once known."""
        self._failed: Mapping[str, str] = {}
        self._failed_at = 0.0
        """What failed the last time, and when that was."""
        self._in_background: asyncio.Task[Mapping[str, str]] | None = None

    async def prepare(self, accelerators: Sequence[Accelerators], spec: ContainerSpec) -> Shared | None:
        """Set up what the container needs before it is created; None: it has no shares that are enforced.

        Also for whole devices: others may have shared them before. Raises: EngineError.
        """
        if not spec.devices:
            return None
        self._kept = accelerators
        made = (await self._listed(f"{LABEL_ID}={spec.id}")).get(spec.id)
        try:
            shared = await asyncio.to_thread(_shared, accelerators, spec, made and ShareTier(made.tier))
        except ShareError as error:
            raise _not_enforced(error) from error
        if shared:
            self._starting[spec.id] = _Holder(shared.tier, spec.devices)
        failed = await self._keep(await asyncio.to_thread(_with_any, accelerators, spec.devices))
        if made and made.tier != ShareTier.MPS3:
            # It goes on as it was made, also where others cannot be.
            return shared
        for device in spec.devices:
            if device in failed:
                raise _not_enforced(ShareError(f"{device} is not ready: {failed[device]}"))
        return shared

    @contextmanager
    def starting(self, container: str) -> Iterator[None]:
        """While this lasts, what `prepare` has set up for it is kept, although it is not alive yet."""
        try:
            yield
        finally:
            self._starting.pop(container, None)

    async def enforce(
        self, accelerators: Sequence[Accelerators], spec: ContainerSpec, inspected: Mapping[str, Any]
    ) -> None:
        """Enforce the shares of a running container, and then let its main process begin. Twice: no-op.

        Raises: EngineError; its main process goes on waiting then.
        """
        try:
            await asyncio.to_thread(_enforce, accelerators, spec, inspected)
        except ShareError as error:
            raise _not_enforced(error) from error
        if barrier.waiting(spec.command) is None:
            await send_input(self._api, self._names.container(spec.id), barrier.OPEN)

    async def keep(self, accelerators: Sequence[Accelerators]) -> Mapping[str, str]:
        """Restore what the containers need outside of them, and remove the rest; what fails is done the next time.

        It is waited for only a while: then it goes on by itself. Returns the devices for which it failed, as far as
        known, and why.
        """
        self._kept = accelerators
        keeping = self._in_background = self._in_background or asyncio.create_task(
            self._keep(accelerators, lately=True)
        )
        if (await asyncio.wait([keeping], timeout=_WAIT_S))[0]:
            if self._in_background is keeping:
                self._in_background = None
            return keeping.result()
        return self._failed

    async def leave(self, container: str) -> None:
        """Remove what a container needs that is about to be deleted."""
        if await asyncio.to_thread(_enforcing, self._kept) and await self._rows(
            f"{LABEL_SHARES}={ShareTier.MPS3}", f"{LABEL_ID}={container}"
        ):
            await self._keep(self._kept, without=container, lately=True)

    async def close(self) -> None:
        """Twice: no-op."""
        if self._in_background:
            self._in_background.cancel()
            await asyncio.wait([self._in_background])

    async def _keep(
        self, accelerators: Sequence[Accelerators], *, without: str = "", lately: bool = False
    ) -> Mapping[str, str]:
        """Returns the devices for which it failed, and why. lately: not again soon after it failed."""
        dividing = await asyncio.to_thread(_enforcing, accelerators)
        if not dividing:
            return {}
        failed: dict[str, str] = {}
        async with self._keeping:
            if lately and self._failed and time.monotonic() < self._failed_at + _PAUSE_S:
                return self._failed
            holders = await self._holders(without)
            for one in dividing:
                failed |= await asyncio.to_thread(one.keep, holders)
            if failed and failed != self._failed:
                log.warning("shares.not_kept", devices=failed)
            self._failed, self._failed_at = failed, time.monotonic()
        return failed

    async def _rows(self, *labels: str) -> Any:
        chosen = filters(label=[self._names.label, *labels])
        return await self._api.call("GET", "containers/json", params={**chosen, "all": "true"})

    async def _holders(self, without: str) -> Holders:
        """By tier; those of these containers that are listed have the tier of their label."""
        # Before the list: what begins to run meanwhile is not in it, and may no longer be among these after it.
        starting = dict(self._starting)
        there = await self._listed()
        holders: defaultdict[ShareTier, dict[str, Mapping[str, int]]] = defaultdict(dict)
        for id, one in {**starting, **self._starting, **there}.items():
            if id != without:
                holders[ShareTier(one.tier)][id] = one.held
        return holders

    async def _listed(self, *labels: str) -> Mapping[str, _Holder]:
        """Those of these containers that have shares, also ended ones: they may start again in place."""
        return {
            row["Labels"][LABEL_ID]: _Holder(row["Labels"].get(LABEL_SHARES) or ShareTier.NONE, held)
            for row in await self._rows(LABEL_DEVICES, *labels)
            if row["State"] in _THERE and (held := _held(row))
        }


_THERE = frozenset({"created", "running", "paused", "restarting", "exited"})


def behind_barrier(spec: ContainerSpec) -> ContainerSpec:
    """With a main process that waits, if it does not wait for others of its cluster anyway."""
    if barrier.waiting(spec.command) is not None:
        return spec
    return replace(spec, command=barrier.behind(spec.command), stdin=True)


def _shared(
    accelerators: Sequence[Accelerators], spec: ContainerSpec, made: ShareTier | None
) -> Shared | None:
    """made: the tier of the container, if it is there already. Raises: ShareError."""
    if made is ShareTier.NONE:
        return None
    if made:
        _enforcing_with(accelerators, made)
    if made is ShareTier.SLICE:
        return Shared(made, NOTHING)
    for one in accelerators:
        if isinstance(one, Dividing) and (attachment := one.share(spec.id, spec.devices)) is not None:
            return Shared(_tier(one), attachment)
    return None


def _enforce(accelerators: Sequence[Accelerators], spec: ContainerSpec, inspected: Mapping[str, Any]) -> None:
    tier = ShareTier(inspected["Config"]["Labels"][LABEL_SHARES])
    one = _enforcing_with(accelerators, tier)
    one.enforce(spec.id, spec.devices, tier, inspected["State"]["Pid"], inspected["Id"])


def _enforcing_with(accelerators: Sequence[Accelerators], made: ShareTier) -> Dividing:
    """Raises: ShareError."""
    for one in _enforcing(accelerators):
        if _tier(one).enforces(made):
            return one
    raise ShareError(f"The machine no longer enforces shares by {made}.")


def _with_any(accelerators: Sequence[Accelerators], devices: Iterable[str]) -> list[Accelerators]:
    """Those that have one of these devices."""
    return [
        one for one in accelerators if {state.device.id for state in states_of([one])}.intersection(devices)
    ]


def _enforcing(accelerators: Sequence[Accelerators]) -> list[Dividing]:
    return [one for one in accelerators if isinstance(one, Dividing) and _tier(one).is_enforced]


def _tier(dividing: Dividing) -> ShareTier:
    sharing = dividing.sharing()
    return sharing.tier if sharing else ShareTier.NONE


def _held(row: Mapping[str, Any]) -> Mapping[str, int]:
    """Without whole devices."""
    held = of_label(row["Labels"].get(LABEL_DEVICES))
    return {device: one.thousandths for device, one in held.items() if one.thousandths < WHOLE}


def _not_enforced(error: ShareError) -> EngineError:
    """The error of a container that must not begin."""
    message = f"Its share of an accelerator cannot be enforced, so it does not start. {error}"
    return EngineError(message, retriable=error.retriable, code="share_not_enforced")
