"""The repositories and tags of a registry, by its kind."""

import re
from collections.abc import AsyncIterator, Sequence
from fnmatch import fnmatchcase
from urllib.parse import quote

from carrel.images.registries.client import RegistryClient, RegistryResponse
from carrel.images.registries.registry_errors import NotListed, RegistryError, broken
from carrel.images.registries.repository_apis import LISTS

_PAGE = 100
_MOST_NAMES = 100_000
_LONGEST_NAME = 255
_GLOB = re.compile(r"[*?\[]")
_NAME = re.compile(r"[a-z0-9]+(?:[._/-]+[a-z0-9]+)*")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_REFUSALS = ("registry.denied", "registry.missing", "registry.broken")


async def names(client: RegistryClient, namespace: str, allowed: Sequence[str]) -> list[str]:
    """The full names of the permitted repositories, sorted.

    Where all are named, the registry is not asked. Raises: RegistryError; NotListed if the registry does not list them
    and none is named.
    """
    prefix = f"{namespace}/" if namespace else ""
    named = {prefix + name for name in allowed if not _GLOB.search(name)}
    if allowed and len(named) == len(allowed):
        return sorted(named)
    globs = [prefix + name for name in allowed if _GLOB.search(name)] or [f"{prefix}*"]
    try:
        listed = {name async for name in _listed(client, globs)}
    except NotListed:
        if not named:
            raise
        listed = set()
    there = {name for name in listed if name.startswith(prefix) and matches(name[len(prefix) :], allowed)}
    return sorted(there | named)


async def tags(client: RegistryClient, repository: str, allowed: Sequence[str]) -> list[str]:
    """The permitted tags of a repository, sorted. Raises: RegistryError."""
    path = f"v2/{quote(repository)}/tags/list?n={_PAGE * 10}"
    names = set[str]()
    async for page in client.pages(path, scope=pull(repository)):
        names.update(tag for tag in _strings(page, "tags") if _TAG.fullmatch(tag) and matches(tag, allowed))
        _require_few(client, len(names))
    return sorted(names)


def pull(repository: str) -> str:
    """The scope of a token that reads a repository."""
    return f"repository:{repository}:pull"


def matches(name: str, allowed: Sequence[str]) -> bool:
    """True if the name matches a glob, or if there are none."""
    return not allowed or any(fnmatchcase(name, glob) for glob in allowed)


async def _listed(client: RegistryClient, globs: Sequence[str]) -> AsyncIterator[str]:
    """The repositories, at least those that match. Raises: NotListed, RegistryError."""
    lists = LISTS.get(client.connection.kind)
    prefixes = sorted({_GLOB.split(glob, maxsplit=1)[0] for glob in globs})
    names = lists(client, prefixes) if lists else _of_catalog(client)
    count = 0
    async for name in names:
        count += 1
        _require_few(client, count)
        if len(name) <= _LONGEST_NAME and _NAME.fullmatch(name):
            yield name


async def _of_catalog(client: RegistryClient) -> AsyncIterator[str]:
    try:
        async for page in client.pages(f"v2/_catalog?n={_PAGE * 10}", scope="registry:catalog:*"):
            for name in _strings(page, "repositories"):
                yield name
    except RegistryError as error:
        # Registries without it respond in many ways.
        if error.code not in _REFUSALS:
            raise
        raise NotListed(client.host) from error


def _strings(page: RegistryResponse, key: str) -> list[str]:
    """The list of strings in a response; the reference implementation has null instead of an empty one."""
    body = page.json()
    values = body.get(key) if isinstance(body, dict) else None
    if isinstance(body, dict) and values is None and key in body:
        return []
    if not isinstance(values, list):
        raise broken(page.host, f"no list of {key}")
    return [value for value in values if isinstance(value, str)]


def _require_few(client: RegistryClient, count: int) -> None:
    if count > _MOST_NAMES:
        raise broken(client.host, f"more than {_MOST_NAMES} names")
