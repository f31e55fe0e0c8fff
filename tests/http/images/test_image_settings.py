"""The settings of images: what they change for users, and that scans do not undo them."""

from typing import Any

import pytest
from databases import sql
from installation import Api, Caller
from people_kit import newcomer

from carrel.core.ids import ImageId, new_id
from carrel.images.versions import version_key
from carrel.permissions.actions import Role

HOST = "registry.example.org"
DIGEST = "sha256:" + "d" * 64


async def registry(api: Api, **fields: object) -> str:
    admin = await api.as_("superadmin")
    made = await admin.post("/registries", {"name": "ours", "url": f"https://{HOST}", **fields})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def add(api: Api, registry: str | None, family: str, *versions: str, digest: str | None = None) -> None:
    """Images as a scan adds them, or registered ones without a registry."""
    for version in versions:
        reference = f"{HOST}/team/{family}:{version}" if registry else f"localhost/{family}:1"
        await sql(
            api.database,
            "INSERT INTO images (id, name, full_name, reference, host, repository, tag, title, description, present,"
            " min_slots, apps, registry_id, family, version, version_key, digest) VALUES (:id, :name, :full,"
            " :reference, :host, :repository, :tag, '', '', false, '{\"cpu\": 100, \"mem\": 1000}', '[]', :registry,"
            " :family, :version, :key, :digest)",
            id=ImageId(new_id()),
            name=f"{family}-{version}" if registry else family,
            full=reference if registry else None,
            reference=reference,
            host=HOST if registry else "localhost",
            repository=f"team/{family}" if registry else "",
            tag=version if registry else "",
            registry=registry,
            family=family,
            version=version,
            key=version_key(version),
            digest=digest,
        )


def torch(version: str) -> str:
    return f"{HOST}/team/pytorch:{version}"


async def setting(api: Api, image: str, **changes: object) -> dict[str, Any]:
    admin = await api.as_("superadmin")
    answer = await admin.patch(f"/images/{image}", changes)
    assert answer.status_code == 200, answer.text
    return answer.json()  # type: ignore[no-any-return]


async def refused(api: Api, image: str, **changes: object) -> tuple[int, str]:
    admin = await api.as_("superadmin")
    answer = await admin.patch(f"/images/{image}", changes)
    return answer.status_code, answer.json()["code"]


async def listed(caller: Caller, **query: str) -> list[str]:
    answer = await caller.get("/images", params={"family": "pytorch", "sort": "version", **query})
    assert answer.status_code == 200, answer.text
    return [one["version"] for one in answer.json()["items"]]


async def starting(caller: Caller, image: str, **fields: object) -> tuple[int, str]:
    """The result of a start: the code of the refusal, or the image."""
    answer = await caller.try_start(image=image, **fields)
    body = answer.json()
    check = await caller.post(
        "/sessions/check", {"image": image, "slots": {"cpu": 1000, "mem": 1 << 30}, **fields}
    )
    assert (check.json()["verdict"] == "never") == (answer.status_code != 201)
    return answer.status_code, body["image"] if answer.status_code == 201 else body["code"]


async def test_a_disabled_image_is_not_listed_and_does_not_start_by_any_of_its_names(api: Api):
    await add(api, await registry(api), "pytorch", "2.1", "2.2", digest=DIGEST)
    user = await api.as_("user")
    assert await starting(user, torch("2.1")) == (201, torch("2.1"))
    await setting(api, torch("2.1"), enabled=False, aliases=["old"])
    await sql(api.database, "UPDATE images SET digest = 'sha256:e' WHERE version = '2.2'")
    assert await listed(user) == ["2.2"]
    for name in (torch("2.1"), "old", f"{HOST}/team/pytorch@{DIGEST}", f"{torch('2.1')}@{DIGEST}"):
        assert await starting(user, name) == (403, "image.disabled"), name
    assert (await user.get(f"/images/{torch('2.1')}")).json()["code"] == "image.not_found"
    admin = await api.as_("superadmin")
    assert await listed(admin) == ["2.1", "2.2"]
    assert await listed(admin, offered="true") == ["2.2"]
    assert await listed(admin, state="disabled") == ["2.1"]
    # Of the same repository, what is not in the catalogue may be used while anything of it may.
    assert (await starting(user, torch("9")))[0] == 201
    await setting(api, torch("2.2"), enabled=False)
    assert await starting(user, torch("9")) == (403, "image.disabled")


async def test_other_spellings_of_a_disabled_image_are_the_same_image(api: Api):
    await add(api, None, "starter2", "1")
    await sql(
        api.database, "UPDATE images SET reference = 'debian:12', host = 'docker.io' WHERE name = 'starter2'"
    )
    await setting(api, "starter2", enabled=False)
    user = await api.as_("user")
    for name in (
        "debian:12",
        "docker.io/debian:12",
        "index.docker.io/library/debian:12",
        "library/debian:12",
    ):
        assert await starting(user, name) == (403, "image.disabled"), name


async def test_images_of_a_registry_can_be_enabled_one_by_one(api: Api):
    await add(api, await registry(api, images_enabled=False), "pytorch", "2.1", "2.2")
    user = await api.as_("user")
    assert await listed(user) == []
    assert await starting(user, torch("2.1")) == (403, "image.disabled")
    assert await starting(user, f"{HOST}/team/other:1") == (403, "image.not_enabled")
    await setting(api, torch("2.1"), enabled=True)
    assert await listed(user) == ["2.1"]
    assert (await starting(user, torch("2.1")))[0] == 201
    await setting(api, torch("2.1"), enabled=None)
    assert await listed(user) == []


async def test_an_image_can_be_limited_to_domains_and_projects(api: Api):
    await add(api, await registry(api), "pytorch", "2.1")
    user, foreigner = await api.as_("user"), await api.as_("foreigner")
    await setting(api, torch("2.1"), projects=[api.people.other_project])
    assert await listed(user) == []
    assert await starting(user, torch("2.1")) == (403, "image.not_permitted")
    member = await newcomer(api, "member", Role.USER, project=api.people.other_project)
    other = Caller("member", member, await api.client(auth=await api.keypair(member)))
    assert await listed(other) == ["2.1"]
    assert (await starting(other, torch("2.1")))[0] == 201
    await setting(api, torch("2.1"), projects=[], domains=[api.people.domain])
    assert await listed(user) == ["2.1"]
    assert await listed(foreigner) == []
    assert await starting(foreigner, torch("2.1")) == (403, "image.not_permitted")
    shown = (await (await api.as_("superadmin")).get(f"/images/{torch('2.1')}")).json()["settings"]
    assert [one["id"] for one in shown["domains"]] == [api.people.domain]
    assert (await user.get(f"/images/{torch('2.1')}")).json()["settings"] is None


async def test_an_image_can_be_limited_to_resource_groups(api: Api):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    await add(api, await registry(api), "pytorch", "2.1")
    for name in ("gpu", "closed"):
        made = await admin.post("/groups", {"name": name, "public": name == "gpu"})
        assert made.status_code == 201, made.text
    await setting(api, torch("2.1"), groups=["closed"])
    assert await listed(user) == []
    await setting(api, torch("2.1"), groups=["gpu"])
    assert await listed(user) == ["2.1"]
    assert await starting(user, torch("2.1"), group="default") == (403, "image.not_in_group")
    chosen = await user.try_start(image=torch("2.1"))
    assert chosen.json()["group"]["name"] == "gpu"
    body = {"image": torch("2.1"), "slots": {"cpu": 1000, "mem": 1 << 30}}
    assert (await user.post("/sessions/check", body)).json()["group"]["name"] == "gpu"
    role = {"roles": [{"name": "worker", "count": 1, "image": torch("2.1")}], "group": "default"}
    assert (await user.try_start(image=torch("9"), **role)).json()["code"] == "image.not_in_group"


async def test_a_hidden_image_is_not_offered_and_starts_by_name(api: Api):
    await add(api, await registry(api), "pytorch", "2.1", "2.2")
    await setting(api, torch("2.2"), hidden=True)
    user = await api.as_("user")
    assert await listed(user) == ["2.1"]
    assert (await starting(user, torch("2.2")))[0] == 201
    assert (await user.get(f"/images/{torch('2.2')}")).json()["hidden"]


async def test_the_name_of_a_family_means_its_preferred_or_newest_version(api: Api):
    await add(api, await registry(api), "pytorch", "2.9", "2.10", "3.0", "3.1")
    await setting(api, torch("3.0"), enabled=False)
    await setting(api, torch("3.1"), hidden=True)
    user = await api.as_("user")
    assert await starting(user, "pytorch") == (201, torch("2.10"))
    await setting(api, torch("2.10"), deprecated=True)
    assert await starting(user, "pytorch") == (201, torch("2.9"))
    await setting(api, torch("2.10"), preferred=True)
    await setting(api, torch("2.9"), preferred=True)
    assert not (await user.get(f"/images/{torch('2.10')}")).json()["preferred"]
    [family] = (await user.get("/image-families", params={"q": "pytorch"})).json()["items"]
    assert (family["family"], family["versions"], family["default"]["version"]) == ("pytorch", 2, "2.9")
    meant = (await user.get("/images", params={"name": "pytorch"})).json()["items"]
    assert [one["version"] for one in meant] == ["2.9"]
    assert (await user.get("/images", params={"name": "nothing"})).json()["items"] == []


async def test_an_alias_means_one_image(api: Api):
    made = await registry(api)
    await add(api, made, "pytorch", "2.1", "2.2")
    await add(api, None, "own", "1")
    user = await api.as_("user")
    await setting(api, torch("2.1"), aliases=["torch", "stable"])
    assert await starting(user, "torch") == (201, torch("2.1"))
    assert await refused(api, torch("2.2"), aliases=["stable"]) == (409, "image.alias_taken")
    assert await refused(api, torch("2.2"), aliases=["own"]) == (409, "image.alias_taken")
    assert await refused(api, torch("2.2"), aliases=["A B"]) == (422, "invalid.request")
    await setting(api, torch("2.1"), aliases=["torch"])
    await setting(api, torch("2.2"), aliases=["stable"])
    assert await starting(user, "stable") == (201, torch("2.2"))


async def test_a_deprecated_image_names_its_successor_and_starts(api: Api):
    await add(api, await registry(api), "pytorch", "2.1", "2.2")
    assert await refused(api, torch("2.1"), successor=torch("2.2")) == (422, "image.not_deprecated")
    await setting(api, torch("2.1"), deprecated=True, successor=torch("2.2"))
    loop = {"deprecated": True, "successor": torch("2.1")}
    assert await refused(api, torch("2.2"), **loop) == (422, "image.successor_loop")
    assert await refused(api, torch("2.2"), deprecated=True, successor="none") == (404, "image.not_found")
    user = await api.as_("user")
    started = (await user.try_start(image=torch("2.1"))).json()
    assert started["image_deprecated"] == {"successor": torch("2.2")}
    assert (await user.try_start(image=torch("2.2"))).json()["image_deprecated"] is None
    assert (await setting(api, torch("2.1"), deprecated=False))["successor"] is None


async def test_slots_of_an_image_can_be_set(api: Api):
    await add(api, await registry(api), "pytorch", "2.1")
    least = {"cpu": 2000, "mem": 1 << 31}
    shown = await setting(api, torch("2.1"), min_slots=least, recommended_slots={"cpu": 4000})
    assert (shown["min_slots"], shown["label_slots"]) == (least, {"cpu": 100, "mem": 1000})
    user = await api.as_("user")
    assert await starting(user, torch("2.1")) == (422, "invalid.slots")
    assert (await starting(user, torch("2.1"), slots=least))[0] == 201
    low = {"recommended_slots": {"cpu": 1000}}
    assert await refused(api, torch("2.1"), **low) == (422, "image.recommended_too_small")
    assert await refused(api, torch("2.1"), min_slots={"cuda.wrong": 1}) == (422, "slot.unknown")


async def test_settings_survive_a_scan_that_does_not_see_the_tag(api: Api):
    made = await registry(api)
    await add(api, made, "pytorch", "2.1")
    await setting(api, torch("2.1"), enabled=False, aliases=["torch"])
    await sql(api.database, "DELETE FROM images WHERE family = 'pytorch'")
    await add(api, made, "pytorch", "2.1")
    user = await api.as_("user")
    assert await starting(user, "torch") == (403, "image.disabled")


async def test_settings_are_for_superadmins_and_audited(api: Api):
    await add(api, await registry(api), "pytorch", "2.1")
    user, admin = await api.as_("user"), await api.as_("superadmin")
    assert (await user.patch(f"/images/{torch('2.1')}", {"hidden": True})).status_code == 403
    await setting(api, torch("2.1"), hidden=True)
    await setting(api, torch("2.1"), hidden=True)
    entries = (await admin.get("/audit", params={"action": "image.update"})).json()["items"]
    done = [one for one in entries if one["outcome"] == "done"]
    assert [one["details"] for one in done] == [{"before": {"hidden": False}, "after": {"hidden": True}}]


@pytest.mark.parametrize("sort", ["name", "-name", "version"])
async def test_lists_are_paged(api: Api, sort: str):
    await add(api, await registry(api), "pytorch", *(f"1.{n}" for n in range(7)))
    user = await api.as_("user")
    seen: list[str] = []
    query = {"family": "pytorch", "sort": sort, "limit": "3"}
    while True:
        page = (await user.get("/images", params=query)).json()
        seen += [one["version"] for one in page["items"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert seen == sorted(seen, reverse=sort.startswith("-"))
    assert len(seen) == 7


async def test_an_image_without_a_registry_cannot_be_watched(api: Api):
    await add(api, None, "local", "1")
    assert await refused(api, "local", watch="offer") == (422, "image.not_scanned")
