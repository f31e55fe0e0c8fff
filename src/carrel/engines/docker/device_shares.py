"""Shares of accelerators of containers: their main processes wait until the shares are enforced.

    keep (what they need outside)   create   start: waits behind the barrier   enforce, read back   open the barrier

A label of the container has the tier with which it was made, so that a start that a crash interrupted continues, and
what containers need outside of them is restored from those that there are.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import structlog

from carrel.accelerators.port import Accelerators, Attachment, Dividing, ShareError
from carrel.engines import barrier
from carrel.engines.accelerator_use import of_label
from carrel.engines.docker.api import DockerApi, filters
from carrel.engines.docker.container_config import LABEL_DEVICES, LABEL_ID, LABEL_SHARES, Names
from carrel.engines.docker.exec_streams import send_input
from carrel.engines.port import ContainerSpec, EngineError

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Shared:
    """A container with shares that are enforced. tier: with which. attachment: what it gets for them."""

    tier: str
    attachment: Attachment


class Shares:
    """Of the containers of one daemon."""

    def __init__(self, api: DockerApi, names: Names) -> None:
        self._api, self._names = api, names
        self._keeping = asyncio.Lock()
        self._starting: dict[str, Mapping[str, int]] = {}
        """What containers hold that are being created, and are not listed yet."""

    async def prepare(self, accelerators: Sequence[Accelerators], spec: ContainerSpec) -> Shared | None:
        """Set up what the container needs before it is created; None: it has no shares that are enforced.

        Also for whole devices: others may have shared them before. Raises: EngineError.
        """
        dividing = [one for one in accelerators if isinstance(one, Dividing)]
        if not dividing or not spec.devices:
            return None
        self._starting[spec.id] = spec.devices
        try:
            shared = await asyncio.to_thread(_shared, dividing, spec)
            await self.keep(dividing)
        except ShareError as error:
            raise _not_enforced(error) from error
        return shared

    def ready(self, container: str) -> None:
        """It has been created, or its start has failed."""
        self._starting.pop(container, None)

    async def enforce(
        self, accelerators: Sequence[Accelerators], spec: ContainerSpec, inspected: Mapping[str, Any]
    ) -> None:
        """Enforce the shares of a running container, and then let its main process begin. Twice: no-op.

        Raises: EngineError; its main process goes on waiting then.
        """
        made_with = inspected["Config"]["Labels"].get(LABEL_SHARES)
        if not made_with:
            return
        pid, enforced = inspected["State"]["Pid"], False
        try:
            for one in accelerators:
                if isinstance(one, Dividing) and (sharing := one.sharing()) and sharing.tier == made_with:
                    await asyncio.to_thread(one.enforce, spec.id, spec.devices, pid)
                    enforced = True
            if not enforced:
                raise ShareError(f"The machine no longer enforces shares by {made_with}.")
        except ShareError as error:
            raise _not_enforced(error) from error
        if barrier.waiting(spec.command) is None:
            await send_input(self._api, self._names.container(spec.id), barrier.OPEN)

    async def keep(self, accelerators: Sequence[Accelerators], *, without: str = "") -> None:
        """Restore what the containers need outside of them, and remove the rest. without: one that is about to end.

        Raises: ShareError.
        """
        dividing = [one for one in accelerators if isinstance(one, Dividing)]
        if not dividing:
            return
        async with self._keeping:
            chosen = filters(label=[self._names.label, LABEL_SHARES])
            rows = await self._api.call("GET", "containers/json", params={**chosen, "all": "true"})
            for one in dividing:
                sharing = await asyncio.to_thread(one.sharing)
                holders = {
                    row["Labels"][LABEL_ID]: _held(row)
                    for row in rows
                    if sharing and row["Labels"][LABEL_SHARES] == sharing.tier and row["State"] in _ALIVE
                }
                holders = {id: held for id, held in {**holders, **self._starting}.items() if id != without}
                await asyncio.to_thread(one.keep, holders)

    async def try_to_keep(self, accelerators: Sequence[Accelerators], *, without: str = "") -> None:
        """As `keep`; what fails is done the next time."""
        try:
            await self.keep(accelerators, without=without)
        except ShareError as error:
            log.warning("shares.not_kept", error=str(error))


_ALIVE = frozenset({"created", "running", "paused", "restarting"})


def behind_barrier(spec: ContainerSpec) -> ContainerSpec:
    """With a main process that waits, if it does not wait for others of its cluster anyway."""
    if barrier.waiting(spec.command) is not None:
        return spec
    return replace(spec, command=barrier.behind(spec.command), stdin=True)


def _shared(dividing: Sequence[Dividing], spec: ContainerSpec) -> Shared | None:
    for one in dividing:
        attachment = one.share(spec.id, spec.devices)
        sharing = one.sharing()
        if attachment is not None and sharing:
            return Shared(sharing.tier, attachment)
    return None


def _held(row: Mapping[str, Any]) -> Mapping[str, int]:
    return {device: one.thousandths for device, one in of_label(row["Labels"].get(LABEL_DEVICES)).items()}


def _not_enforced(error: ShareError) -> EngineError:
    """The error of a container that must not begin."""
    message = f"Its share of an accelerator cannot be enforced, so it does not start. {error}"
    return EngineError(message, retriable=error.retriable, code="share_not_enforced")
