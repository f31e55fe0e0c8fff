"""The repositories and tags of a registry, by its kind."""

import re
from collections.abc import AsyncIterator, Sequence
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import quote, urlsplit

from carrel.images.registries.client import RegistryClient, RegistryResponse
from carrel.images.registries.registry_errors import NotListed, RegistryError, broken
from carrel.tables.registries import RegistryKind

_PAGE = 100
_MOST_NAMES = 100_000
_LONGEST_NAME = 255
_GLOB = re.compile(r"[*?\[]")
_NAME = re.compile(r"[a-z0-9]+(?:[._/-]+[a-z0-9]+)*")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_HUB = "https://hub.docker.com"
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
    try:
        listed = {name async for name in _listed(client, namespace)}
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


async def _listed(client: RegistryClient, namespace: str) -> AsyncIterator[str]:
    """The repositories, at least those in the namespace. Raises: NotListed, RegistryError."""
    match client.connection.kind:
        case RegistryKind.DOCKERHUB:
            names = _of_hub(client, namespace or "library")
        case RegistryKind.HARBOR if namespace:
            names = _of_harbor(client, namespace)
        case RegistryKind.QUAY if namespace:
            names = _of_quay(client, namespace)
        case _:
            names = _of_catalog(client)
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


async def _of_hub(client: RegistryClient, namespace: str) -> AsyncIterator[str]:
    """Docker Hub has no catalog; its own API is at another address."""
    own = urlsplit(client.connection.url).netloc.endswith("docker.io")
    url = f"{_HUB if own else client.connection.url}/v2/namespaces/{quote(namespace)}/repositories?page_size={_PAGE}"
    while url:
        page = (await client.get(url)).json()
        for one in _objects(client, page, "results"):
            yield f"{namespace}/{one.get('name', '')}"
        following = page.get("next")
        url = following if isinstance(following, str) else ""
        if url and urlsplit(url).netloc not in (client.host, urlsplit(_HUB).netloc):
            raise broken(client.host, "a link to another server")


async def _of_harbor(client: RegistryClient, namespace: str) -> AsyncIterator[str]:
    """Its catalog is for administrators; projects list their repositories also for robot accounts."""
    project = namespace.split("/")[0]
    number = 1
    while True:
        path = f"api/v2.0/projects/{quote(project)}/repositories?page_size={_PAGE}&page={number}"
        page = _objects(client, {"repositories": (await client.get(path, basic=True)).json()}, "repositories")
        for one in page:
            yield str(one.get("name", ""))
        if len(page) < _PAGE:
            return
        number += 1


async def _of_quay(client: RegistryClient, namespace: str) -> AsyncIterator[str]:
    following = ""
    while True:
        path = f"api/v1/repository?namespace={quote(namespace)}&public=true&next_page={quote(following)}"
        page = (await client.get(path)).json()
        for one in _objects(client, page, "repositories"):
            yield f"{namespace}/{one.get('name', '')}"
        following = str(page.get("next_page") or "")
        if not following:
            return


def _strings(page: RegistryResponse, key: str) -> list[str]:
    """The list of strings in a response; the reference implementation has null instead of an empty one."""
    body = page.json()
    values = body.get(key) if isinstance(body, dict) else None
    if isinstance(body, dict) and values is None and key in body:
        return []
    if not isinstance(values, list):
        raise broken(page.host, f"no list of {key}")
    return [value for value in values if isinstance(value, str)]


def _objects(client: RegistryClient, page: Any, key: str) -> list[dict[str, Any]]:
    values = page.get(key) if isinstance(page, dict) else None
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise broken(client.host, f"no list of {key}")
    return values


def _require_few(client: RegistryClient, count: int) -> None:
    if count > _MOST_NAMES:
        raise broken(client.host, f"more than {_MOST_NAMES} names")
