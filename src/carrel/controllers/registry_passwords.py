"""Renew passwords of registries before they expire, from keys that do not."""

from collections.abc import Sequence
from datetime import timedelta

import structlog

from carrel.controllers.active_tasks import side_by_side
from carrel.controllers.loop import Tools
from carrel.core.errors import CarrelError
from carrel.images.registries import ecr_tokens, registry_credentials
from carrel.images.registries.registry_errors import RegistryError
from carrel.tables.registries import PASSWORDS_TOPIC, ImageRegistry

log = structlog.get_logger()

AGAIN = timedelta(minutes=5)
"""Time until a renewal that failed is tried again."""


class RegistryPasswords:
    """Each is renewed when half of its time is over."""

    name = "registry_passwords"
    topics: Sequence[str] = (PASSWORDS_TOPIC,)
    tick_s = 60.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def step(self) -> None:
        """Renew those that are due."""
        async with self._tools.transaction() as tx:
            due = await registry_credentials.due(tx, self._tools.clock.now())
        await side_by_side([self._renew(one) for one in due])

    async def close(self) -> None:
        """Nothing to end."""

    async def _renew(self, registry: ImageRegistry) -> None:
        seal, clock = self._tools.seal, self._tools.clock
        try:
            secret = registry_credentials.secret_of(seal, registry)
            password = await ecr_tokens.request(registry, secret, clock.now())
        except (RegistryError, CarrelError) as error:
            now = clock.now()
            log.warning("registry.password_not_renewed", registry=registry.id, error=error.message)
            async with self._tools.transaction() as tx:
                await registry_credentials.fail(tx, registry, error.message, now + AGAIN, now)
            return
        async with self._tools.transaction() as tx:
            await registry_credentials.store(tx, seal, registry, password, clock.now())
        log.info("registry.password_renewed", registry=registry.id, until=password.until.isoformat())
