"""Which image a session really ran, and how to run exactly that again."""

from typing import Any

from installation import Api, Caller

IMAGE = "registry.example.org/team/a:1"


async def ran(api: Api, caller: Caller, **fields: object) -> dict[str, Any]:
    """A session once it runs."""
    started = await caller.try_start(**fields)
    assert started.status_code == 201, started.text
    session = started.json()["id"]
    await api.until(caller, session, "RUNNING")
    return (await caller.get(f"/sessions/{session}")).json()  # type: ignore[no-any-return]


async def test_a_session_tells_what_it_ran_and_the_same_can_be_started_again(living: Api):
    user, world = await living.as_("user"), living.engine.world
    first = await ran(living, user, image=IMAGE)
    digest = first["containers"][0]["image_digest"]
    assert (digest, first["containers"][0]["image_id"]) == world.identity_of(IMAGE)
    # The tag means something else since.
    world.image_versions[IMAGE] += 1
    usual = await user.post(f"/sessions/{first['id']}/again")
    exact = await user.post(f"/sessions/{first['id']}/again", params={"exact_image": "true"})
    assert (usual.json()["image"], exact.json()["image"]) == (IMAGE, f"{IMAGE}@{digest}")
    for session, same in ((usual.json()["id"], False), (exact.json()["id"], True)):
        await living.until(user, session, "RUNNING")
        [container] = (await user.get(f"/sessions/{session}")).json()["containers"]
        assert (container["image_digest"] == digest) == same


async def test_roles_are_started_again_with_their_own_images(living: Api):
    user = await living.as_("user")
    other = "registry.example.org/team/b:1"
    first = await ran(living, user, image=IMAGE, roles=[{"name": "worker", "count": 2, "image": other}])
    exact = await user.post(f"/sessions/{first['id']}/again", params={"exact_image": "true"})
    assert exact.status_code == 201, exact.text
    images = [one["image"] for one in exact.json()["containers"]]
    digests = [one["image_digest"] for one in first["containers"]]
    assert images == [f"{IMAGE}@{digests[0]}", f"{other}@{digests[1]}", f"{other}@{digests[1]}"]


async def test_an_image_without_a_registry_has_no_digest_to_start_again(living: Api):
    user = await living.as_("user")
    living.engine.world.local_images.add("localhost/own:1")
    session = await ran(living, user, image="localhost/own:1")
    assert session["containers"][0]["image_digest"] is None
    assert session["containers"][0]["image_id"].startswith("sha256:")
    refused = await user.post(f"/sessions/{session['id']}/again", params={"exact_image": "true"})
    assert (refused.status_code, refused.json()["code"]) == (409, "session.image_not_pinned")
