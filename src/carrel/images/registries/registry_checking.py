"""Checks a registry step by step, as a scan uses it."""

import asyncio
from collections.abc import Awaitable, Callable

from carrel.images.registries import ecr_tokens, repositories
from carrel.images.registries.client import RegistryClient, RegistryConnection, connected
from carrel.images.registries.manifests import ACCEPT
from carrel.images.registries.registry_errors import RegistryError
from carrel.images.registries.schemas import RegistryCheck, RegistryCheckStep
from carrel.tables.registries import ImageRegistry

_LONGEST_S = 60.0


async def check(connection: RegistryConnection, registry: ImageRegistry) -> RegistryCheck:
    """The results of the steps, up to the first failed one."""
    steps: list[RegistryCheckStep] = []
    async with connected(connection) as client:
        ends_at = asyncio.get_running_loop().time() + _LONGEST_S
        for name, step in _Steps(client, registry).all:
            try:
                async with asyncio.timeout_at(ends_at):
                    steps.append(RegistryCheckStep(name=name, ok=True, sentence=await step()))
                continue
            except RegistryError as error:
                problem = error.message
            except TimeoutError:
                problem = f"{client.host} takes more than {_LONGEST_S:.0f} s."
            steps.append(RegistryCheckStep(name=name, ok=False, sentence=problem))
            break
    return RegistryCheck(ok=all(step.ok for step in steps), steps=steps)


class _Steps:
    """Each returns what it found out."""

    def __init__(self, client: RegistryClient, registry: ImageRegistry) -> None:
        self._client = client
        self._registry = registry
        self._repositories: list[str] = []
        self._tags: list[str] = []
        self.all: tuple[tuple[str, Callable[[], Awaitable[str]]], ...] = (
            *((("password", self._password),) if ecr_tokens.is_renewed(registry) else ()),
            ("connection", self._connect),
            ("repositories", self._list),
            ("tags", self._list_tags),
            ("manifest", self._read),
        )

    async def _password(self) -> str:
        if self._registry.password is None:
            problem = self._registry.password_problem or "AWS has not been asked for a password yet."
            raise RegistryError("denied", f"{problem} It is being requested again.")
        until = self._registry.password_until
        assert until
        return f"The password is valid until {until:%Y-%m-%d %H:%M} UTC, and is renewed before."

    async def _connect(self) -> str:
        try:
            await self._client.get("v2/")
        except RegistryError as error:
            # Without credentials, many registries answer only for their public repositories.
            if error.code != "registry.denied" or self._client.connection.password:
                raise
            return f"{self._client.host} responds; some of it needs credentials."
        who = f" to {self._client.connection.username}" if self._client.connection.password else ""
        encrypted = "" if self._client.connection.url.startswith("https:") else ", without encryption"
        return f"{self._client.host} responds{who}{encrypted}."

    async def _list(self) -> str:
        own = self._registry
        self._repositories = await repositories.names(self._client, own.namespace, own.repositories)
        if not self._repositories:
            raise RegistryError("empty", "No repository matches the namespace and the list of repositories.")
        count = len(self._repositories)
        return f"{count} {'repository' if count == 1 else 'repositories'}, such as {self._repositories[0]}."

    async def _list_tags(self) -> str:
        repository = self._repositories[0]
        self._tags = await repositories.tags(self._client, repository, self._registry.tags)
        if not self._tags:
            raise RegistryError("empty", f"No tag of {repository} matches the list of tags.")
        return f"{repository} has {len(self._tags)} {'tag' if len(self._tags) == 1 else 'tags'}."

    async def _read(self) -> str:
        repository, tag = self._repositories[0], self._tags[-1]
        path = f"v2/{repository}/manifests/{tag}"
        await self._client.get(path, accept=ACCEPT, scope=repositories.pull(repository))
        return f"{repository}:{tag} can be read."
