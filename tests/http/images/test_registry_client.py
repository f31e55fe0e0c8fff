"""The client of registries, against what no real registry does on request."""

import pytest
from fake_registry import FakeRegistry, digest_of
from own_registry import PASSWORD, USERNAME, OwnRegistry

from carrel.images.registries import client as registry_client
from carrel.images.registries import registry_checking, repositories
from carrel.images.registries.client import MAX_BYTES, RegistryClient, RegistryConnection, connected
from carrel.images.registries.manifests import ManifestReader
from carrel.images.registries.registry_errors import NotListed, RegistryError
from carrel.tables.registries import ImageRegistry, RegistryKind


def to(fake: FakeRegistry, kind: RegistryKind = RegistryKind.GENERIC, **fields: object) -> RegistryConnection:
    return RegistryConnection(**{"url": fake.url, "kind": kind, "private": True, **fields})  # type: ignore[arg-type]


async def failing(client: RegistryClient, path: str) -> RegistryError:
    with pytest.raises(RegistryError) as raised:
        await client.get(path)
    return raised.value


async def test_a_challenge_without_a_service_is_met_and_the_next_repository_needs_no_challenge(
    fake: FakeRegistry,
):
    # NGC names no service.
    challenge = {"WWW-Authenticate": 'Bearer realm="{url}/proxy_auth",scope="repository:nvidia/a:pull,push"'}
    fake.answers("/v2/nvidia/a/tags/list", status=401, headers=challenge)
    fake.answers("/v2/nvidia/a/tags/list", {"name": "nvidia/a", "tags": ["2", "1", None, "no tag"]})
    fake.answers("/v2/nvidia/b/tags/list", {"name": "nvidia/b", "tags": None})
    fake.answers("/proxy_auth", {"token": "t1", "expires_in": 60})
    async with connected(to(fake, username="$oauthtoken", password="key")) as client:
        assert await repositories.tags(client, "nvidia/a", []) == ["1", "2"]
        assert await repositories.tags(client, "nvidia/b", []) == []
    assert fake.paths == [
        "/v2/nvidia/a/tags/list?n=1000",
        "/proxy_auth?scope=repository:nvidia/a:pull",
        "/v2/nvidia/a/tags/list?n=1000",
        "/proxy_auth?scope=repository:nvidia/b:pull",
        "/v2/nvidia/b/tags/list?n=1000",
    ]
    basic = "Basic JG9hdXRodG9rZW46a2V5"
    assert fake.header("Authorization") == ["", basic, "Bearer t1", basic, "Bearer t1"]


async def test_a_busy_registry_is_asked_again_when_it_says_and_not_forever(fake: FakeRegistry):
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    fake.answers("/v2/a", status=429, headers={"Retry-After": "7"})
    fake.answers("/v2/a", status=503)
    fake.answers("/v2/a", {"ok": True})
    fake.answers("/v2/b", status=429, headers={"Retry-After": "86400"})
    async with connected(to(fake), pause) as client:
        assert (await client.get("v2/a")).json() == {"ok": True}
        assert pauses == [7, 2]
        error = await failing(client, "v2/b")
    assert (error.code, error.retriable) == ("registry.busy", True)
    assert pauses[2:] == [60] * 4


async def test_broken_and_endless_responses_are_errors(fake: FakeRegistry):
    fake.answers("/v2/_catalog", b"<html>")
    fake.answers("/v2/list/tags/list", ["not", "an", "object"])
    fake.answers("/v2/huge", b" " * (MAX_BYTES + 1))
    fake.answers("/v2/a/tags/list", {"tags": ["1"]}, headers={"Link": '<http://other.test/v2>; rel="next"'})
    fake.answers("/v2/teapot", status=418)
    async with connected(to(fake)) as client:
        with pytest.raises(RegistryError, match="not JSON"):
            (await client.get("v2/_catalog")).json()
        with pytest.raises(RegistryError, match="no list of tags"):
            await repositories.tags(client, "list", [])
        assert (await failing(client, "v2/huge")).code == "registry.broken"
        with pytest.raises(RegistryError, match="another server"):
            await repositories.tags(client, "a", [])
        assert "418" in (await failing(client, "v2/teapot")).message
        assert (await failing(client, "v2/none")).code == "registry.missing"


async def test_endless_pages_and_requests_are_errors(fake: FakeRegistry, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry_client, "MOST_PAGES", 3)
    for number in range(10):
        link = {"Link": f'</v2/a/tags/list?last={number}>; rel="next"'}
        fake.answers("/v2/a/tags/list", {"tags": ["1"]}, headers=link)
    async with connected(to(fake)) as client:
        with pytest.raises(RegistryError, match="more than 3 pages"):
            await repositories.tags(client, "a", [])
        assert client.requests == 3
        monkeypatch.setattr(registry_client, "_MOST_REQUESTS", 4)
        fake.answers("/v2/", {})
        await client.get("v2/")
        assert "more than 4 requests" in (await failing(client, "v2/")).message


async def test_a_check_ends(fake: FakeRegistry, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry_checking, "_LONGEST_S", 0.1)
    hanging = fake.block("/v2/")
    result = await registry_checking.check(to(fake), ImageRegistry(namespace="", repositories=[], tags=[]))
    hanging.set()
    [step] = result.steps
    assert (step.name, step.ok, "takes more than" in step.sentence) == ("connection", False, True)


async def test_of_labels_and_variables_only_what_is_used_is_kept(fake: FakeRegistry):
    labels = {"other": "x", "carrel.title": "t" * 30_000} | {f"carrel.{n}": "x" for n in range(300)}
    variables = ["A=1", "PYTHON_VERSION=3", f"CUDA_VERSION={'1' * 9000}", "odd"]
    variables += [f"NVIDIA_REQUIRE_{n}=cuda>=1" for n in range(200)]
    config = {"Labels": labels, "Env": variables}
    digest = fake.blob("a", {"architecture": "amd64", "config": config})
    fake.answers("/v2/a/manifests/1", {"config": {"digest": digest}, "layers": []})
    async with connected(to(fake)) as client:
        described = await ManifestReader(client, "a", []).changed("1", None)
    assert described is not None
    assert (len(described.labels), len(described.labels["carrel.title"])) == (200, 20_000)
    assert "other" not in described.labels
    assert (described.env["PYTHON_VERSION"], described.env["CUDA_VERSION"]) == ("3", "1" * 8000)
    assert len(described.env) == 100


@pytest.mark.parametrize("what", ["manifest", "configuration"])
async def test_parts_of_an_image_with_another_digest_are_refused(fake: FakeRegistry, what: str):
    config = {"architecture": "amd64", "config": {"Env": ["NVIDIA_REQUIRE_CUDA=cuda>=99"]}}
    declared = fake.blob("a", config) if what == "manifest" else "sha256:" + "a" * 64
    fake.answers(f"/v2/a/blobs/{declared}", config)
    manifest = {"config": {"digest": declared}, "layers": []}
    child = digest_of(manifest) if what == "configuration" else "sha256:" + "b" * 64
    platform = {"os": "linux", "architecture": "amd64"}
    fake.answers("/v2/a/manifests/1", {"manifests": [{"digest": child, "platform": platform}]})
    fake.answers(f"/v2/a/manifests/{child}", manifest)
    async with connected(to(fake)) as client:
        with pytest.raises(RegistryError, match=f"{what} with another digest"):
            await ManifestReader(client, "a", []).changed("1", None)


async def test_credentials_do_not_follow_a_redirect_to_another_server(fake: FakeRegistry):
    async with FakeRegistry() as other:
        fake.answers("/v2/a", status=401, headers={"WWW-Authenticate": 'Basic realm="x"'})
        fake.answers("/v2/a", status=307, headers={"Location": f"{other.url}/blob?signed=1"})
        other.answers("/blob", {"from": "elsewhere"})
        async with connected(to(fake, username="ada", password="secret")) as client:
            assert (await client.get("v2/a")).json() == {"from": "elsewhere"}
        assert fake.header("Authorization") == ["", "Basic YWRhOnNlY3JldA=="]
        assert other.header("Authorization") == [""]


async def test_a_challenge_of_another_server_is_not_met(fake: FakeRegistry):
    async with FakeRegistry() as other:
        fake.answers("/v2/a", status=307, headers={"Location": f"{other.url}/blob"})
        challenge = {"WWW-Authenticate": 'Bearer realm="{url}/token"'}
        other.answers("/blob", status=401, headers=challenge)
        other.answers("/token", {"token": "t"})
        async with connected(to(fake, username="ada", password="secret")) as client:
            assert (await failing(client, "v2/a")).code == "registry.denied"
        assert (other.paths, other.header("Authorization")) == (["/blob"], [""])


async def test_private_addresses_are_for_trusted_registries_only(fake: FakeRegistry):
    async with connected(to(fake, private=False)) as client:
        assert (await failing(client, "v2/")).code == "registry.private"
    assert fake.seen == []


async def test_a_certificate_of_an_unknown_authority_is_an_error_that_says_what_to_do(registry: OwnRegistry):
    connection = RegistryConnection(registry.url, RegistryKind.GENERIC, private=True)
    async with connected(connection) as client:
        error = await failing(client, "v2/")
    assert error.code == "registry.untrusted"
    assert "Set the certificates of its authority" in error.message


async def test_a_plain_registry_with_an_encrypted_url_is_an_error_that_says_what_to_do(fake: FakeRegistry):
    async with connected(to(fake, url=fake.url.replace("http:", "https:"))) as client:
        error = await failing(client, "v2/")
    assert "http://" in error.message


async def test_docker_hub_harbor_and_quay_list_by_their_own_apis(fake: FakeRegistry):
    hub = "/v2/namespaces/library/repositories?page_size=100"
    fake.answers(hub, {"results": [{"name": "python"}], "next": f"{fake.url}/more"})
    fake.answers("/more", {"results": [{"name": "pytorch"}, {"name": "Not A Name"}], "next": None})
    async with connected(to(fake, RegistryKind.DOCKERHUB)) as client:
        assert await repositories.names(client, "", []) == ["library/python", "library/pytorch"]
        assert await repositories.names(client, "library", ["pyth*"]) == ["library/python"]
    harbor = "/api/v2.0/projects/ml/repositories?page_size=100&page="
    fake.answers(f"{harbor}1", [{"name": f"ml/a{n}"} for n in range(100)])
    fake.answers(f"{harbor}2", [{"name": "ml/z"}])
    robot = {"username": "robot$carrel", "password": "secret"}
    async with connected(to(fake, RegistryKind.HARBOR, **robot)) as client:
        assert len(await repositories.names(client, "ml", [])) == 101
    assert fake.header("Authorization")[-1].startswith("Basic ")
    quay = "/api/v1/repository?namespace=org&public=true&next_page="
    fake.answers(quay, {"repositories": [{"name": "a"}], "next_page": "x"})
    fake.answers(f"{quay}x", {"repositories": [{"name": "b"}]})
    async with connected(to(fake, RegistryKind.QUAY)) as client:
        assert await repositories.names(client, "org", []) == ["org/a", "org/b"]


async def test_a_registry_without_a_catalog_needs_named_repositories(fake: FakeRegistry):
    fake.answers("/v2/_catalog", status=403)
    async with connected(to(fake)) as client:
        with pytest.raises(NotListed, match="Name them"):
            await repositories.names(client, "", ["team/*"])
        assert await repositories.names(client, "", ["team/*", "team/a"]) == ["team/a"]
        requests = len(fake.seen)
        assert await repositories.names(client, "team", ["b", "a"]) == ["team/a", "team/b"]
        assert len(fake.seen) == requests


async def test_a_real_registry_lists_pages_of_what_the_credentials_permit(registry: OwnRegistry):
    registry.push("public/pages/one", "1", "2")
    registry.push("pages/two", "1")
    trusted = RegistryConnection(
        registry.url, RegistryKind.GENERIC, USERNAME, PASSWORD, ca_pem=registry.ca_pem, private=True
    )
    async with connected(trusted) as client:
        assert await repositories.names(client, "", ["*pages/*"]) == ["pages/two", "public/pages/one"]
        names: list[str] = []
        async for page in client.pages("v2/_catalog?n=1", scope="registry:catalog:*"):
            names += page.json()["repositories"]
        assert {"pages/two", "public/pages/one"} <= set(names)
        assert await repositories.tags(client, "pages/two", []) == ["1"]
    everybody = RegistryConnection(registry.url, RegistryKind.GENERIC, ca_pem=registry.ca_pem, private=True)
    async with connected(everybody) as client:
        assert await repositories.tags(client, "public/pages/one", ["2*"]) == ["2"]
        with pytest.raises(RegistryError) as raised:
            await repositories.tags(client, "pages/two", [])
        assert raised.value.code == "registry.denied"
