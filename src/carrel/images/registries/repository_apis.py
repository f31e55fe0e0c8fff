"""Repositories by the APIs of registries whose catalog is not for ordinary credentials.

    registry     lists                                          for
    Docker Hub   hub.docker.com/v2/namespaces/NAME/repositories  everybody; private ones by a token of /v2/auth/token
    GHCR         api.github.com/orgs|users/NAME/packages         classic tokens with read:packages
    GitLab       /api/v4/groups|projects/PATH/registry/...       tokens with read_api; where it is, its challenge names
    Harbor       /api/v2.0/projects/NAME/repositories            robot accounts that may list repositories
    Quay         /api/v1/repository?namespace=NAME               everybody; private ones by an OAuth token

Source: https://docs.docker.com/reference/api/hub/latest/, https://docs.github.com/rest/packages/packages,
https://docs.gitlab.com/api/container_registry/, https://docs.quay.io/api/swagger/, Harbor's api/v2.0/swagger.yaml.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlsplit

from carrel.images.registries.client import MOST_PAGES, RegistryClient, RegistryResponse
from carrel.images.registries.registry_errors import NotListed, RegistryError, broken
from carrel.tables.registries import RegistryKind

_PAGE = 100
_MOST_PROJECTS, _LONGEST_NAME = 10_000, 255
_HUB = "https://hub.docker.com"
_OFFICIAL = "library"
_OAUTH = "$oauthtoken"
_CLASSIC = (
    "The secret must be a classic token with read:packages, authorized for the organization's single sign-on."
)
_READ_API = "The secret must be an access token with read_api and read_registry; deploy tokens cannot list."
_DENIED, _MISSING = "registry.denied", "registry.missing"


async def _of_hub(client: RegistryClient, prefixes: Sequence[str]) -> AsyncIterator[str]:
    own = client.host.endswith("docker.io")
    api = _HUB if own else client.connection.url
    authorization = await _hub_token(client, api)
    for namespace in _namespaces(client, prefixes, usual=_OFFICIAL):
        path = f"{api}/v2/namespaces/{quote(namespace)}/repositories?page_size={_PAGE}"
        hint = "Private repositories need the account's user name, and its password or an access token."
        with _explained(api, namespace, hint):
            async for page in client.pages(path, authorization=authorization, following=_following):
                for one in _objects(page, "results"):
                    yield f"{namespace}/{one.get('name', '')}"


async def _hub_token(client: RegistryClient, api: str) -> str:
    if not client.connection.password:
        return ""
    body = {"identifier": client.connection.username, "secret": client.connection.password}
    answer = (await client.post(f"{api}/v2/auth/token", body)).json()
    token = answer.get("access_token") if isinstance(answer, dict) else None
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise broken(urlsplit(api).netloc, "no token")
    return f"Bearer {token}"


def _following(page: RegistryResponse) -> str | None:
    """Docker Hub has the address of the next page in the page."""
    body = page.json()
    following = body.get("next") if isinstance(body, dict) else None
    return following if isinstance(following, str) and following else None


async def _of_ghcr(client: RegistryClient, prefixes: Sequence[str]) -> AsyncIterator[str]:
    api = github_api(client.connection.url)
    authorization = _bearer(client)
    for namespace in _namespaces(client, prefixes):
        if not authorization:
            raise RegistryError("denied", f"GitHub lists packages only with a token. {_CLASSIC}")
        query = f"packages?package_type=container&per_page={_PAGE}"
        owner = quote(namespace)
        with _explained(api, namespace, _CLASSIC):
            paths = f"{api}/orgs/{owner}/{query}", f"{api}/users/{owner}/{query}"
            async for page in _first_of(client, paths, authorization):
                for one in _objects(page):
                    yield f"{namespace}/{one.get('name', '')}"


def github_api(url: str) -> str:
    """The URL of the REST API that belongs to a registry of GitHub, also of GitHub Enterprise."""
    host = urlsplit(url).netloc
    if host == "ghcr.io":
        return "https://api.github.com"
    site = host.removeprefix("containers.")
    if site == host:
        return f"{url}/api/v3"
    return f"https://api.{site}" if site.endswith(".ghe.com") else f"https://{site}/api/v3"


async def _of_gitlab(client: RegistryClient, prefixes: Sequence[str]) -> AsyncIterator[str]:
    places = _paths(client, prefixes)
    api = (await client.realm()).partition("/jwt/auth")[0] or client.connection.url
    for place in places:
        ref = quote(place, safe="")
        query = f"registry/repositories?per_page={_PAGE}"
        with _explained(api, place, _READ_API):
            paths = f"{api}/api/v4/groups/{ref}/{query}", f"{api}/api/v4/projects/{ref}/{query}"
            async for page in _first_of(client, paths, _bearer(client)):
                for one in _objects(page):
                    yield str(one.get("path", ""))


async def _of_harbor(client: RegistryClient, prefixes: Sequence[str]) -> AsyncIterator[str]:
    hint = "The robot account must be permitted to list repositories."
    projects = {prefix.partition("/")[0] for prefix in prefixes if "/" in prefix}
    begun = tuple(prefix for prefix in prefixes if "/" not in prefix)
    if begun:
        with _explained(client.connection.url, "projects", hint):
            async for one in _numbered(client, "api/v2.0/projects?"):
                name = str(one.get("name", ""))
                if name.startswith(begun) and len(name) <= _LONGEST_NAME:
                    projects.add(name)
                if len(projects) > _MOST_PROJECTS:
                    raise broken(client.host, f"more than {_MOST_PROJECTS} projects")
    for project in sorted(projects):
        with _explained(client.connection.url, project, hint):
            async for one in _numbered(client, f"api/v2.0/projects/{quote(project)}/repositories?"):
                yield str(one.get("name", ""))


async def _numbered(client: RegistryClient, path: str) -> AsyncIterator[dict[str, Any]]:
    for number in range(1, MOST_PAGES + 1):
        page = await client.get(f"{path}page_size={_PAGE}&page={number}", authorization=client.basic)
        objects = _objects(page)
        for one in objects:
            yield one
        if len(objects) < _PAGE:
            return
    raise broken(client.host, f"more than {MOST_PAGES} pages")


async def _of_quay(client: RegistryClient, prefixes: Sequence[str]) -> AsyncIterator[str]:
    # Robot accounts cannot use the API.
    authorization = _bearer(client) if client.connection.username == _OAUTH else ""
    hint = f"Private repositories need the user name {_OAUTH}, and an OAuth token that may view repositories."
    for namespace in _namespaces(client, prefixes):
        start = f"api/v1/repository?namespace={quote(namespace)}&public=true&next_page="
        with _explained(client.connection.url, namespace, hint):
            async for page in client.pages(start, authorization=authorization, following=_next_of(start)):
                for one in _objects(page, "repositories"):
                    yield f"{namespace}/{one.get('name', '')}"


def _next_of(start: str) -> Callable[[RegistryResponse], str | None]:
    def following(page: RegistryResponse) -> str | None:
        token = page.json().get("next_page")
        return start + quote(token) if isinstance(token, str) and token else None

    return following


LISTS: Mapping[RegistryKind, Callable[[RegistryClient, Sequence[str]], AsyncIterator[str]]] = {
    RegistryKind.DOCKERHUB: _of_hub,
    RegistryKind.GHCR: _of_ghcr,
    RegistryKind.GITLAB: _of_gitlab,
    RegistryKind.HARBOR: _of_harbor,
    RegistryKind.QUAY: _of_quay,
}
"""The full names of at least the repositories that begin with one of the prefixes. Raises: NotListed, RegistryError."""


def _namespaces(client: RegistryClient, prefixes: Sequence[str], usual: str = "") -> list[str]:
    """Those that the prefixes name. usual: where they may name none. Raises: NotListed."""
    names = set()
    for prefix in prefixes:
        namespace, slash, _ = prefix.partition("/")
        if not slash and not (usual and usual.startswith(namespace)):
            raise NotListed(client.host, namespaced=True)
        names.add(namespace if slash else usual)
    return sorted(names)


def _paths(client: RegistryClient, prefixes: Sequence[str]) -> list[str]:
    """The groups and projects that the prefixes name, without those in others. Raises: NotListed."""
    paths = {prefix.rpartition("/")[0] for prefix in prefixes}
    if "" in paths:
        raise NotListed(client.host, namespaced=True)
    return sorted(path for path in paths if not any(path.startswith(f"{other}/") for other in paths))


async def _first_of(
    client: RegistryClient, paths: tuple[str, str], authorization: str
) -> AsyncIterator[RegistryResponse]:
    """The pages of the first one, or of the second one if there is no first one."""
    first, second = paths
    try:
        async for page in client.pages(first, authorization=authorization):
            yield page
    except RegistryError as error:
        if error.code != _MISSING:
            raise
        async for page in client.pages(second, authorization=authorization):
            yield page


def _bearer(client: RegistryClient) -> str:
    return f"Bearer {client.connection.password}" if client.connection.password else ""


@contextmanager
def _explained(api: str, what: str, hint: str) -> Iterator[None]:
    """Refusals say what to do."""
    host = urlsplit(api).netloc
    try:
        yield
    except RegistryError as error:
        if error.code == _DENIED:
            raise RegistryError(
                "denied", f"{host} does not list {what} to these credentials. {hint}"
            ) from error
        if error.code == _MISSING:
            raise RegistryError("missing", f"{host} has no {what}, or hides it. {hint}") from error
        raise


def _objects(page: RegistryResponse, key: str = "") -> list[dict[str, Any]]:
    """The list of objects in a page, which is that list or has it under the key."""
    body = page.json()
    if key:
        body = body.get(key) if isinstance(body, dict) else None
    if not isinstance(body, list) or not all(isinstance(one, dict) for one in body):
        raise broken(page.host, f"no list of {key or 'repositories'}")
    return body
