"""Scans of registries: what they find out, what they cost, and that they end, also after a crash."""

from typing import Any

from databases import sql
from fake_registry import FakeRegistry
from installation import Api, Caller
from layer_kit import dpkg, layer, metadata
from own_registry import PASSWORD, USERNAME, OwnRegistry
from people import eventually

LABELS = {
    "ai.backend.resource.min.cpu": "2",
    "ai.backend.resource.min.mem": "4g",
    "ai.backend.resource.min.cuda.shares": "0.5",
    "ai.backend.accelerators": "cuda",
    "ai.backend.service-ports": "jupyter:http:8080",
    "org.opencontainers.image.licenses": "BSD-3-Clause",
    "org.opencontainers.image.title": "PyTorch",
    "unrelated": "x",
}
ENV = ["PYTHON_VERSION=3.12.1", "CUDA_VERSION=12.4.1", "NVIDIA_REQUIRE_CUDA=cuda>=12.4 brand=tesla", "odd"]


async def add(caller: Caller, registry: OwnRegistry, namespace: str, **fields: object) -> dict[str, Any]:
    body = {
        "name": "ours",
        "url": registry.url,
        "ca_pem": registry.ca_pem,
        "namespace": namespace,
        "username": USERNAME,
        "secret": PASSWORD,
        **fields,
    }
    made = await caller.post("/registries", body)
    assert made.status_code == 201, made.text
    return made.json()  # type: ignore[no-any-return]


async def scanned(caller: Caller, registry: str) -> dict[str, Any]:
    """A scan, once it has ended."""
    begun = await caller.post(f"/registries/{registry}/scan")
    assert begun.status_code == 202, begun.text
    return await ended(caller, registry)


async def ended(caller: Caller, registry: str) -> dict[str, Any]:
    async def over() -> dict[str, Any] | None:
        latest = (await caller.get(f"/registries/{registry}/scans")).json()["items"][0]
        return latest if latest["ended_at"] else None

    return await eventually(over)  # type: ignore[return-value]


async def images(caller: Caller, **query: str) -> list[dict[str, Any]]:
    return (await caller.get("/images", params={"scanned": "true", **query})).json()["items"]  # type: ignore[no-any-return]


async def test_a_scan_reads_labels_environment_and_architectures(living: Api, registry: OwnRegistry):
    config = {"Labels": LABELS, "Env": ENV}
    digest = registry.push("facts/pytorch", "2.10", "2.9", architectures=("arm64", "amd64"), config=config)
    registry.push("facts/tiny", "1")
    admin = await living.as_("superadmin")
    made = await add(admin, registry, "facts")
    scan = await scanned(admin, made["id"])
    assert (scan["state"], scan["problem"]) == ("done", None)
    counts = (
        "repositories",
        "repositories_done",
        "repositories_failed",
        "tags",
        "added",
        "updated",
        "removed",
    )
    assert [scan[name] for name in counts] == [2, 2, 0, 3, 3, 0, 0]
    torch = {one["version"]: one for one in await images(admin, family="pytorch")}
    one = torch["2.10"]
    name = f"{registry.host}/facts/pytorch:2.10"
    assert (one["name"], one["reference"], one["digest"]) == (name, name, digest)
    assert (one["architecture"], one["architectures"]) == (None, ["aarch64", "x86_64"])
    assert one["min_slots"] == {"cpu": 2000, "mem": 4 << 30, "cuda.shares": 500}
    assert one["contents"] == {
        "python": "3.12.1",
        "cuda": "12.4.1",
        "cuda-driver": "12.4",
        "services": "jupyter",
    }
    assert (await admin.get(f"/images/{name}")).json()["requires_cuda"] == "cuda>=12.4 brand=tesla"
    assert (one["title"], one["licenses"], one["accelerators"]) == ("PyTorch", "BSD-3-Clause", ["cuda"])
    assert (one["size_bytes"], one["layers"], one["built_at"]) == (512, 1, "2026-01-02T03:04:05Z")
    in_order = [one["version"] for one in await images(admin, family="pytorch", sort="-version")]
    assert in_order == ["2.10", "2.9"]
    # What it needs at least counts for its reference.
    user = await living.as_("user")
    refused = await user.try_start(image=name)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid.slots")


async def test_a_second_scan_asks_only_for_digests_and_finds_what_changed(living: Api, registry: OwnRegistry):
    registry.push("again/a", "1", "same")
    registry.push("again/b", "1")
    admin = await living.as_("superadmin")
    made = await add(admin, registry, "again", repositories=["a", "b"])
    # Two challenges at most, two tokens, two lists, three manifests, two configurations.
    first = await scanned(admin, made["id"])
    assert (first["added"], first["requests"] <= 13) == (3, True)
    second = await scanned(admin, made["id"])
    assert (second["added"], second["updated"], second["removed"], second["tags"]) == (0, 0, 0, 3)
    assert second["requests"] <= 9
    new = registry.push("again/a", "1")
    await admin.patch(f"/registries/{made['id']}", {"repositories": ["a"], "tags": ["1"]})
    third = await scanned(admin, made["id"])
    assert (third["added"], third["updated"], third["removed"]) == (0, 1, 2)
    [left] = await images(admin)
    assert left["digest"] == new


async def test_what_an_earlier_version_did_not_read_is_read_by_the_next_scan(
    living: Api, registry: OwnRegistry
):
    for tag in ("1", "2"):
        registry.push("older/a", tag, config={"Env": ["CUDA_VERSION=12.4.1"]})
    admin = await living.as_("superadmin")
    made = await add(admin, registry, "older", repositories=["a"])
    await scanned(admin, made["id"])
    watched = f"{registry.host}/older/a:2"
    assert (await admin.patch(f"/images/{watched}", {"watch": "offer"})).status_code == 200
    await sql(living.database, "UPDATE images SET requires_cuda = NULL WHERE registry_id IS NOT NULL")
    again = await scanned(admin, made["id"])
    assert (again["added"], again["updated"], again["removed"]) == (0, 1, 0)
    rows = await sql(living.database, "SELECT tag, requires_cuda FROM images WHERE registry_id IS NOT NULL")
    assert {tuple(row) for row in rows} == {("1", "cuda>=12.4"), ("2", "cuda>=12.4")}
    assert (await admin.get(f"/images/{watched}")).json()["update"]["available"] is None
    last = await scanned(admin, made["id"])
    assert (last["updated"], last["requests"] < again["requests"]) == (0, True)


async def test_images_of_a_project_are_shown_to_its_members_alone(living: Api, registry: OwnRegistry):
    registry.push("scoped/a", "1")
    admin = await living.as_("superadmin")
    # The installation vouches for the address.
    await add(admin, registry, "none")
    made = await add(admin, registry, "scoped", name="theirs", project=living.people.project)
    assert (await scanned(admin, made["id"]))["state"] == "done"
    assert len(await images(await living.as_("user"))) == 1
    assert await images(await living.as_("stranger")) == []
    assert await images(await living.as_("foreigner")) == []
    await admin.delete(f"/registries/{made['id']}")
    assert await images(admin) == []


async def test_a_repository_that_cannot_be_read_does_not_stop_the_others(living: Api, fake: FakeRegistry):
    admin = await living.as_("superadmin")
    body = {"name": "fake", "url": fake.url, "repositories": ["broken", "gone", "odd"]}
    made = (await admin.post("/registries", body)).json()
    fake.answers("/v2/broken/tags/list", b"<html>")
    fake.answers("/v2/odd/tags/list", {"tags": ["1", "2"]})
    fake.answers("/v2/odd/manifests/1", {"schemaVersion": 1})
    fake.answers("/v2/odd/manifests/2", {}, headers={"Docker-Content-Digest": "sha256:" + "0" * 64})
    scan = await scanned(admin, made["id"])
    assert (scan["state"], scan["repositories_done"], scan["repositories_failed"]) == ("done", 3, 3)
    assert scan["problem"]
    assert await images(admin) == []


async def test_a_registry_that_does_not_work_fails_the_scan(living: Api, fake: FakeRegistry):
    admin = await living.as_("superadmin")
    made = (await admin.post("/registries", {"name": "fake", "url": fake.url})).json()
    fake.answers("/v2/_catalog", status=404)
    scan = await scanned(admin, made["id"])
    assert (scan["state"], scan["repositories"]) == ("failed", None)
    assert "does not list its repositories" in scan["problem"]


async def test_a_scan_is_requested_once_and_only_an_open_one_is_cancelled(api: Api, fake: FakeRegistry):
    admin = await api.as_("superadmin")
    made = (await admin.post("/registries", {"name": "fake", "url": fake.url})).json()
    path = f"/registries/{made['id']}/scan"
    assert (await admin.delete(path)).json()["code"] == "registry.no_scan"
    first = (await admin.post(path)).json()
    assert (await admin.post(path)).json()["id"] == first["id"]
    assert (await admin.delete(path)).json()["cancel"]
    assert first["state"] == "waiting"


async def test_what_a_scan_reads_counts_only_where_its_registry_does(living: Api, registry: OwnRegistry):
    registry.push("theirs/tool", "1", config={"Labels": {"ai.backend.resource.min.cpu": "64"}})
    admin = await living.as_("superadmin")
    reference = f"{registry.host}/theirs/tool:1"
    await add(admin, registry, "all", name="all")
    other = await add(admin, registry, "theirs", project=living.people.other_project)
    assert (await scanned(admin, other["id"]))["added"] == 1
    for name in ("user", "superadmin"):
        caller = await living.as_(name)
        assert (await caller.try_start(image=reference)).status_code == 201, name
    stranger = await living.as_("stranger")
    refused = await stranger.try_start(image=reference)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid.slots")


async def test_package_databases_are_read_from_layers_once_each(living: Api, registry: OwnRegistry):
    below = layer({"var/lib/dpkg/status": dpkg(python3="3.11.2-1", libcudnn9_cuda_12="9.1.0.70-1")})
    torch = layer(metadata("torch", "2.3.1"))
    removed = layer({"usr/lib/python3/site-packages/.wh.torch-2.3.1.dist-info": "", **metadata("jax", "0.5")})
    registry.push(
        "packages/a", "1", "again", layers=[below, torch], config={"Env": ["PYTHON_VERSION=3.12.1"]}
    )
    registry.push("packages/b", "1", architectures=("arm64", "amd64"), layers=[below, torch, removed])
    admin = await living.as_("superadmin")
    made = await add(admin, registry, "packages", read_packages=True)
    scan = await scanned(admin, made["id"])
    assert (scan["state"], scan["problem"]) == ("done", None)
    assert (scan["layers"], scan["layer_bytes"]) == (3, len(below) + len(torch) + len(removed))
    listed = {(one["family"], one["version"]): one for one in await images(admin)}
    one, other = listed["a", "again"], listed["b", "1"]
    assert one["contents"] == {"python": "3.12.1", "cudnn": "9.1.0.70", "pytorch": "2.3.1"}
    assert one["contents_from"] == {"python": "image", "cudnn": "dpkg", "pytorch": "python"}
    assert listed["a", "1"]["contents"] == one["contents"]
    assert other["contents"] == {"python": "3.11.2", "cudnn": "9.1.0.70", "jax": "0.5"}
    # What is known costs nothing more; what shares layers costs its own.
    assert (await scanned(admin, made["id"]))["layers"] == 0
    registry.push("packages/c", "1", layers=[below, b"\x28\xb5\x2f\xfdzstd"])
    third = await scanned(admin, made["id"])
    assert (third["state"], third["layers"]) == ("done", 0)
    assert "compressed by zstd" in third["problem"]
    [unread] = await images(admin, family="c")
    assert unread["contents"] == {"python": "3.11.2", "cudnn": "9.1.0.70"}
    assert "compressed by zstd" in unread["packages_problem"]
    # A later version may read it: each scan tries it.
    again = await scanned(admin, made["id"])
    assert (again["layers"], "compressed by zstd" in again["problem"]) == (0, True)


async def test_layers_are_not_downloaded_unless_the_registry_says_so(living: Api, registry: OwnRegistry):
    registry.push("unread/a", "1", layers=[layer(metadata("torch", "2.9"))])
    admin = await living.as_("superadmin")
    made = await add(admin, registry, "unread")
    assert (await scanned(admin, made["id"]))["layers"] == 0
    assert (await images(admin))[0]["contents"] == {}
    changed = await admin.patch(f"/registries/{made['id']}", {"read_packages": True})
    assert changed.json()["read_packages"]
    assert (await scanned(admin, made["id"]))["layers"] == 1
    assert (await images(admin))[0]["contents"] == {"pytorch": "2.9"}
