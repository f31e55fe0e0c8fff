"""Storage hosts through the API: adding, changing and removing them, and who may keep folders on which."""

import asyncio
from pathlib import Path

import pytest
from installation import Api, Caller
from people_kit import domain_admin, status_and_code
from sqlalchemy import text

from carrel.folders.hosts import service


@pytest.fixture
def disks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where storages can be, outside the data directory."""
    return tmp_path_factory.mktemp("disks")


async def made(admin: Caller, root: Path, name: str = "fast", **fields: object) -> dict:  # type: ignore[type-arg]
    answer = await admin.post("/storage-hosts", {"name": name, "root": str(root), **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()  # type: ignore[no-any-return]


async def names(who: Caller) -> list[str]:
    return [host["name"] for host in (await who.get("/storage-hosts")).json()["items"]]


async def test_a_host_is_added_changed_and_removed(api: Api, disks: Path):
    admin = await api.as_("superadmin")
    host = await made(admin, disks / "a", description="Flash")
    assert (host["backend"], host["state"], host["problem"], host["active"]) == ("posix", "ok", None, True)
    assert (host["folders"], host["used_bytes"], host["hard_quota"]) == (0, 0, False)
    assert host["total_bytes"] > host["free_bytes"] > 0
    assert host["level"] in ("adequate", "caution", "insufficient")
    assert (host["root"], host["access"]) == (str(disks / "a"), {"domains": [], "projects": []})
    changed = await admin.patch("/storage-hosts/fast", {"name": "flash", "active": False})
    assert (changed.status_code, changed.json()["name"], changed.json()["active"]) == (200, "flash", False)
    assert changed.json()["description"] == "Flash"
    assert (await admin.delete("/storage-hosts/flash")).status_code == 204
    assert status_and_code(await admin.get("/storage-hosts/flash")) == (404, "storage_host.not_found")
    async with api.database.transaction() as tx:
        kind_rows = await tx.execute(
            text("SELECT kind FROM events WHERE object_kind = 'storage_host' ORDER BY id")
        )
        kinds = list(kind_rows.scalars())
        rows = await tx.execute(
            text(
                "SELECT action, object_name, details FROM audit WHERE object_kind = 'storage_host' ORDER BY id"
            )
        )
        written = [tuple(row) for row in rows]
    assert kinds == ["storage_host.created", "storage_host.updated", "storage_host.removed"]
    assert [row[:2] for row in written] == [
        ("storage_host.update", "fast"),
        *[("storage_host.update", "flash")] * 2,
    ]


async def test_a_root_is_for_folders_alone(api: Api, disks: Path, tmp_path: Path):
    admin = await api.as_("superadmin")
    await made(admin, disks / "a")
    (disks / "link").symlink_to(disks / "a")
    (disks / "file").touch()
    for root, code in (
        ("/", "storage_host.root_refused"),
        ("/etc/carrel", "storage_host.root_refused"),
        ("/srv/../usr/x", "storage_host.root_refused"),
        ("/var/lib", "storage_host.root_refused"),
        (str(tmp_path), "storage_host.root_refused"),
        (str(tmp_path / "postgres"), "storage_host.root_refused"),
        (str(tmp_path.parent), "storage_host.root_refused"),
        (str(disks / "a"), "storage_host.root_taken"),
        (str(disks / "a" / "b"), "storage_host.root_taken"),
        (str(disks / "link" / "c"), "storage_host.root_taken"),
        (str(disks), "storage_host.root_taken"),
        (str(tmp_path / "folders"), "storage_host.root_taken"),
        (str(disks / "none" / "x"), "storage_host.unusable"),
        (str(disks / "file"), "storage_host.unusable"),
        ("relative", "invalid.request"),
    ):
        answer = await admin.post("/storage-hosts", {"name": "odd", "root": root})
        assert (answer.json()["code"], answer.json()["field"]) == (code, "root"), (root, answer.text)
    assert sorted(each.name for each in disks.iterdir()) == ["a", "file", "link"], "nothing was made"
    assert await names(admin) == ["fast", "local"]


async def test_names_and_roots_are_unique_however_many_ask_at_once(api: Api, disks: Path):
    admin = await api.as_("superadmin")
    bodies = [{"name": "one", "root": str(disks / str(n))} for n in range(3)]
    answers = await asyncio.gather(*(admin.post("/storage-hosts", body) for body in bodies))
    assert sorted(a.status_code for a in answers) == [201, 409, 409]
    assert {a.json()["code"] for a in answers if a.status_code == 409} == {"storage_host.name_taken"}
    bodies = [
        {"name": name, "root": str(disks / "same" / sub)} for name, sub in (("x", ""), ("y", "in"), ("z", ""))
    ]
    (disks / "same").mkdir()
    answers = await asyncio.gather(*(admin.post("/storage-hosts", body) for body in bodies))
    assert sorted(a.status_code for a in answers) == [201, 409, 409]
    assert {a.json()["code"] for a in answers if a.status_code == 409} == {"storage_host.root_taken"}
    assert status_and_code(await admin.patch("/storage-hosts/one", {"name": "local"})) == (
        409,
        "storage_host.name_taken",
    )


async def test_hosts_are_for_those_to_whom_they_are_open(api: Api, disks: Path):
    admin, user, stranger, foreigner = [
        await api.as_(name) for name in ("superadmin", "user", "stranger", "foreigner")
    ]
    await made(admin, disks / "a", public=False)
    assert await names(user) == ["local"]
    hidden, none = await user.get("/storage-hosts/fast"), await user.get("/storage-hosts/nonesuch")
    assert status_and_code(hidden) == status_and_code(none) == (404, "storage_host.not_found")
    opened = await admin.ask(
        "PUT", "/storage-hosts/fast/access", json={"domains": ["abroad"], "projects": [api.people.project]}
    )
    assert opened.status_code == 200, opened.text
    access = opened.json()["access"]
    assert [one["name"] for one in access["domains"]] == ["abroad"]
    assert [one["id"] for one in access["projects"]] == [api.people.project]
    assert [await names(who) for who in (user, stranger, foreigner)] == [
        ["fast", "local"],
        ["local"],
        ["fast", "local"],
    ]
    shown = (await user.get("/storage-hosts/fast")).json()
    assert (shown["root"], shown["access"], shown["problem"]) == (None, None, None)
    assert shown["free_bytes"] > 0
    # A domain that names hosts closes the others to its people, whatever else they are named by.
    await admin.patch("/domains/default", {"storage_hosts": ["fast"]})
    assert [await names(who) for who in (user, stranger, foreigner)] == [["fast"], [], ["fast", "local"]]
    nobody = await admin.ask("PUT", "/storage-hosts/fast/access", json={"domains": ["nonesuch"]})
    assert status_and_code(nobody) == (404, "domain.not_found")


async def test_a_keypairs_policy_names_hosts_too(api: Api, disks: Path):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    await made(admin, disks / "a")
    full = (await admin.get("/policies/default-keypair")).json()["limits"]
    policy = {"kind": "keypair", "name": "narrow", "limits": {**full, "storage_hosts": ["fast"]}}
    assert (await admin.post("/policies", policy)).status_code == 201
    key = (await user.get("/keypairs")).json()["items"][0]["access_key"]
    assert (await admin.ask("PUT", "/policies/narrow/holders", json={"keypairs": [key]})).status_code == 200
    assert await names(user) == ["fast"]
    assert await names(await api.browser("user")) == ["fast", "local"], "without the keypair"


async def test_who_names_a_host_follows_when_it_is_renamed_or_goes(api: Api, disks: Path):
    admin = await api.as_("superadmin")
    await made(admin, disks / "a")
    await admin.patch("/domains/default", {"storage_hosts": ["fast", "local"]})
    await admin.patch("/policies/default-keypair", {"limits": {"storage_hosts": ["local", "fast"]}})
    for change, left in (
        ({"name": "flash"}, ["flash", "local"]),
        (None, ["local"]),
    ):
        answer = await (
            admin.patch("/storage-hosts/fast", change) if change else admin.delete("/storage-hosts/flash")
        )
        assert answer.status_code in (200, 204), answer.text
        assert sorted((await admin.get("/domains/default")).json()["storage_hosts"]) == left
        limits = (await admin.get("/policies/default-keypair")).json()["limits"]
        assert sorted(limits["storage_hosts"]) == left


async def test_only_superadmins_change_hosts(api: Api, disks: Path):
    head, user = await domain_admin(api), await api.as_("user")
    for who in (head, user):
        for method, path, body in (
            ("POST", "/storage-hosts", {"name": "x", "root": str(disks / "x")}),
            ("PATCH", "/storage-hosts/local", {"active": False}),
            ("PUT", "/storage-hosts/local/access", {}),
            ("DELETE", "/storage-hosts/local", None),
        ):
            assert status_and_code(await who.ask(method, path, json=body)) == (403, "policy.forbidden"), (
                method,
                path,
            )
        assert await names(who) == ["local"]
    assert not (disks / "x").exists()


async def test_the_host_of_the_data_directory_is_made_once(api: Api, tmp_path: Path):
    admin = await api.as_("superadmin")
    assert (await admin.patch("/storage-hosts/local", {"name": "disk"})).status_code == 200
    await service.ensure_local(api.database, tmp_path)
    assert await names(admin) == ["disk"]
    assert (await admin.delete("/storage-hosts/disk")).status_code == 204
    await service.ensure_local(api.database, tmp_path)
    assert await names(admin) == []
    back = await admin.post("/storage-hosts", {"name": "again", "root": str(tmp_path / "folders")})
    assert back.status_code == 201, back.text
