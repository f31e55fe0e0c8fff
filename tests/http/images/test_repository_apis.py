"""Repositories of registries whose catalog is not for ordinary credentials, by servers that speak their APIs."""

import pytest
from fake_registry import FakeRegistry

from carrel.images.registries import repositories, repository_apis
from carrel.images.registries.client import RegistryConnection, connected
from carrel.images.registries.registry_errors import NotListed, RegistryError
from carrel.images.registries.repository_apis import github_api
from carrel.tables.registries import RegistryKind

TOKEN = {"username": "ada", "password": "secret"}


async def names(
    fake: FakeRegistry, kind: RegistryKind, allowed: list[str], namespace: str = "", **credentials: str
) -> list[str]:
    async def pause(seconds: float) -> None:
        """Nobody waits."""

    connection = RegistryConnection(fake.url, kind, private=True, **credentials)
    async with connected(connection, pause) as client:
        listed = await repositories.names(client, namespace, allowed)
        assert client.requests == len(fake.seen)
        return listed


async def problem(
    fake: FakeRegistry, kind: RegistryKind, allowed: list[str], **credentials: str
) -> tuple[str, str]:
    with pytest.raises(RegistryError) as raised:
        await names(fake, kind, allowed, **credentials)
    return raised.value.code, raised.value.message


async def test_docker_hub_lists_private_repositories_by_a_token(fake: FakeRegistry):
    fake.answers("/v2/auth/token", {"access_token": "t1"})
    first = "/v2/namespaces/team/repositories?page_size=100"
    fake.answers(
        first, {"results": [{"name": "a"}, {"name": "Not A Name"}], "next": f"{fake.url}/more?page=2"}
    )
    fake.answers("/more", {"results": [{"name": "pb"}], "next": None})
    assert await names(fake, RegistryKind.DOCKERHUB, ["team/*"], **TOKEN) == ["team/a", "team/pb"]
    assert [request.method for request in fake.seen] == ["POST", "GET", "GET"]
    assert fake.header("Authorization") == ["", "Bearer t1", "Bearer t1"]


async def test_docker_hub_says_that_a_token_is_refused_or_missing(fake: FakeRegistry):
    fake.answers("/v2/auth/token", status=401)
    code, message = await problem(fake, RegistryKind.DOCKERHUB, ["team/*"], **TOKEN)
    assert (code, "user name and secret (401)" in message) == ("registry.denied", True)
    code, message = await problem(fake, RegistryKind.DOCKERHUB, ["gone/*"])
    assert (code, "gone, or hides it" in message) == ("registry.missing", True)


async def test_ghcr_lists_packages_of_organizations_and_people_by_link_headers(fake: FakeRegistry):
    query = "packages?package_type=container&per_page=100"
    first, last = f"{{url}}/api/v3/orgs/team/{query}", f"{{url}}/api/v3/orgs/team/{query}&page="
    fake.answers(
        f"/api/v3/orgs/team/{query}",
        [{"name": "tools/a"}],
        headers={"Link": f'<{last}2>; rel="next", <{last}3>; rel="last"'},
    )
    fake.answers(
        f"/api/v3/orgs/team/{query}&page=2",
        [{"name": "b"}],
        headers={"Link": f'<{first}>; rel="prev", <{last}3>; rel="next", <{last}3>; rel="last"'},
    )
    fake.answers(
        f"/api/v3/orgs/team/{query}&page=3", [{"name": "c"}], headers={"Link": f'<{last}2>; rel="prev"'}
    )
    fake.answers(f"/api/v3/users/ada/{query}", [{"name": "own"}])
    allowed = ["team/*", "ada/o*", "ada/x*", "other/named"]
    assert await names(fake, RegistryKind.GHCR, allowed, **TOKEN) == [
        "ada/own",
        "other/named",
        "team/b",
        "team/c",
        "team/tools/a",
    ]
    assert set(fake.header("Authorization")) == {"Bearer secret"}
    assert len(fake.seen) == 5


async def test_ghcr_needs_a_token_and_a_namespace(fake: FakeRegistry):
    code, message = await problem(fake, RegistryKind.GHCR, ["team/*"])
    assert (code, "read:packages" in message) == ("registry.denied", True)
    with pytest.raises(NotListed, match="only the repositories of a namespace"):
        await names(fake, RegistryKind.GHCR, [], **TOKEN)
    assert fake.seen == []


async def test_rate_limits_of_github_are_waited_for_and_named(fake: FakeRegistry):
    path = "/api/v3/orgs/team/packages"
    fake.answers(path, status=403, headers={"Retry-After": "9"})
    fake.answers(path, [{"name": "a"}])
    assert await names(fake, RegistryKind.GHCR, ["team/*"], **TOKEN) == ["team/a"]
    fake.answers("/api/v3/orgs/busy/packages", status=429, headers={"Retry-After": "90"})
    fake.answers("/api/v3/orgs/empty/packages", status=403, headers={"X-RateLimit-Remaining": "0"})
    fake.answers("/api/v3/orgs/closed/packages", status=403)
    fake.answers("/api/v3/orgs/broken/packages", {"message": "no list"})
    messages = {
        name: await problem(fake, RegistryKind.GHCR, [f"{name}/*"], **TOKEN)
        for name in ("busy", "empty", "closed", "broken")
    }
    assert messages["busy"][0] == messages["empty"][0] == "registry.busy"
    assert "for 90 s" in messages["busy"][1]
    assert messages["closed"][0] == "registry.denied"
    assert messages["broken"] == (
        "registry.broken",
        f"{fake.url[7:]} sent something else than a registry does: no list of repositories.",
    )


def test_the_api_of_github_is_where_its_editions_have_it():
    assert github_api("https://ghcr.io") == "https://api.github.com"
    assert github_api("https://containers.ours.ghe.com") == "https://api.ours.ghe.com"
    assert github_api("https://containers.github.example.org") == "https://github.example.org/api/v3"


async def test_gitlab_lists_groups_and_projects_where_its_challenge_says(fake: FakeRegistry):
    async with FakeRegistry() as gitlab:
        challenge = {
            "WWW-Authenticate": f'Bearer realm="{gitlab.url}/git/jwt/auth",service="container_registry"'
        }
        fake.answers("/v2/", status=401, headers=challenge)
        fake.answers("/v2/", {})
        gitlab.answers("/git/jwt/auth", {"token": "t"})
        query = "registry/repositories?per_page=100"
        group = f"/git/api/v4/groups/lab%2Fvision/{query}"
        following = {"Link": f'<{{url}}{group}&page=2>; rel="next"'}
        gitlab.answers(group, [{"path": "lab/vision/a"}, {"path": "lab/vision/sub/b/x"}], headers=following)
        gitlab.answers(f"{group}&page=2", [{"path": "lab/vision/c"}])
        gitlab.answers(f"/git/api/v4/projects/lab%2Fone/{query}", [{"path": "lab/one/image"}])
        connection = RegistryConnection(fake.url, RegistryKind.GITLAB, private=True, **TOKEN)
        async with connected(connection) as client:
            listed = await repositories.names(client, "lab", ["vision/*", "vision/sub/b/*", "one/*"])
            assert client.requests == len(fake.seen) + len(gitlab.seen)
        assert listed == ["lab/one/image", "lab/vision/a", "lab/vision/c", "lab/vision/sub/b/x"]
        # A token for the first request; then each group once, and a project where there is no group.
        assert len(gitlab.seen) == 1 + 4
        assert gitlab.header("Authorization")[-1] == "Bearer secret"
    code, message = await problem(fake, RegistryKind.GITLAB, ["gone/*"], **TOKEN)
    assert (code, "deploy tokens cannot list" in message) == ("registry.missing", True)


async def test_harbor_lists_the_projects_that_patterns_begin_with(fake: FakeRegistry):
    fake.answers("/api/v2.0/projects", [{"name": "ml"}, {"name": "ml-old"}, {"name": "other"}])
    fake.answers("/api/v2.0/projects/ml/repositories", [{"name": "ml/a"}, {"name": "ml/b/c"}])
    fake.answers("/api/v2.0/projects/ml-old/repositories", [{"name": "ml-old/z"}])
    robot = {"username": "robot$carrel", "password": "secret"}
    assert await names(fake, RegistryKind.HARBOR, ["ml*"], **robot) == ["ml-old/z", "ml/a", "ml/b/c"]
    assert len(fake.seen) == 3
    assert all(value.startswith("Basic ") for value in fake.header("Authorization"))
    fake.answers("/api/v2.0/projects/closed/repositories", status=403)
    code, message = await problem(fake, RegistryKind.HARBOR, ["closed/*"], **robot)
    assert (code, "must be permitted to list" in message) == ("registry.denied", True)


async def test_harbor_lists_no_more_than_a_registry_has(fake: FakeRegistry, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(repository_apis, "MOST_PAGES", 3)
    page = [{"name": f"ml{number}"} for number in range(100)]
    fake.answers("/api/v2.0/projects", page)
    fake.answers("/api/v2.0/projects/ml/repositories", page)
    for pattern in ("ml*", "ml/*"):
        _, message = await problem(fake, RegistryKind.HARBOR, [pattern])
        assert "more than 3 pages" in message
    monkeypatch.setattr(repository_apis, "_MOST_PROJECTS", 50)
    _, message = await problem(fake, RegistryKind.HARBOR, ["ml*"])
    assert "more than 50 projects" in message
    assert len(fake.seen) == 7
    async with FakeRegistry() as other:
        other.answers("/api/v2.0/projects", [{"name": "m" * 256}])
        assert await names(other, RegistryKind.HARBOR, ["ml/a", "m*"]) == ["ml/a"]


async def test_quay_lists_private_repositories_by_an_oauth_token_only(fake: FakeRegistry):
    path = "/api/v1/repository?namespace=org&public=true&next_page="
    fake.answers(path, {"repositories": [{"name": "a"}], "next_page": "x/y"})
    fake.answers(f"{path}x/y", {"repositories": [{"name": "b"}]})
    oauth = {"username": "$oauthtoken", "password": "secret"}
    assert await names(fake, RegistryKind.QUAY, ["org/*"], **oauth) == ["org/a", "org/b"]
    assert fake.header("Authorization") == ["Bearer secret"] * 2
    fake.seen.clear()
    assert await names(fake, RegistryKind.QUAY, [], "org", username="org+robot", password="secret") == [
        "org/a",
        "org/b",
    ]
    assert fake.header("Authorization") == [""] * 2
    with pytest.raises(NotListed, match="namespace"):
        await names(fake, RegistryKind.QUAY, ["*"])
