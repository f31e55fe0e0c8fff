"""What checks of a Kubernetes cluster, and engines that are not added, leave in it."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from installation import Api
from people_kit import status_and_code
from tiny_api_server import TinyApiServer, machine, status

from carrel.engines.kubernetes import KubernetesEngine


@pytest.fixture
async def server() -> AsyncIterator[TinyApiServer]:
    async with TinyApiServer() as server:
        server.objects["api/v1/nodes/a"] = machine()
        yield server


def settings(server: TinyApiServer) -> dict[str, object]:
    return {"kind": "kubernetes", "settings": {"url": server.url, "token": "t"}}


def left(server: TinyApiServer) -> set[str]:
    return set(server.objects) - {"api", "api/v1/nodes/a"}


def without_pods(request: web.Request) -> web.StreamResponse | None:
    """Refuses to list the pods of all namespaces."""
    return status(403, "Forbidden", "no list of pods") if request.path == "/api/v1/pods" else None


@pytest.mark.parametrize("refusal", [None, without_pods])
async def test_a_check_leaves_nothing_in_the_cluster(
    api: Api, server: TinyApiServer, refusal: object
) -> None:
    server.refuse = refusal or server.refuse
    admin = await api.as_("superadmin")
    checked = (await admin.post("/engines/check", settings(server))).json()
    assert (checked["ok"], bool(left(server))) == (refusal is None, False), checked


async def test_an_engine_that_is_not_added_leaves_nothing_in_the_cluster(
    api: Api, server: TinyApiServer
) -> None:
    admin = await api.as_("superadmin")
    server.refuse = without_pods
    request = {"name": "second", **settings(server)}
    assert status_and_code(await admin.post("/engines", request)) == (503, "engine.unreachable")
    assert left(server) == set()
    server.refuse = lambda request: None
    assert (await admin.post("/engines", request)).status_code == 201
    assert left(server)
    await admin.delete("/engines/second")
    # It may be in use by others since then.
    assert left(server) == {"api/v1/namespaces/carrel"}


async def test_a_namespace_that_others_have_created_is_kept(api: Api, server: TinyApiServer) -> None:
    server.objects["api/v1/namespaces/carrel"] = {"metadata": {"name": "carrel"}}
    admin = await api.as_("superadmin")
    assert (await admin.post("/engines/check", settings(server))).json()["ok"]
    assert left(server) == {"api/v1/namespaces/carrel"}


async def test_a_check_warns_of_what_is_not_protected_or_not_enforced(
    api: Api, server: TinyApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def self_test(engine: KubernetesEngine) -> str:
        await engine._isolation.record(enforced=True)
        return "It enforces network policies."

    monkeypatch.setattr(KubernetesEngine, "self_test", self_test)
    admin = await api.as_("superadmin")
    before = (await admin.post("/engines/check", settings(server))).json()
    assert [gap["code"] for gap in before["gaps"]][:2] == ["unprotected", "network_policy"]
    await admin.post("/engines", {"name": "second", **settings(server)})
    after = (await admin.post("/engines/second/check")).json()
    assert after["notes"] == ["It enforces network policies."]
    codes = [gap["code"] for gap in after["gaps"]]
    assert (codes[0], "network_policy" in codes) == ("unprotected", False)
