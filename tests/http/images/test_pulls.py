"""With which credentials, and from where, the containers of sessions pull their images."""

from typing import Any

from databases import sql
from installation import Api, Caller
from people import eventually

from carrel.engines.port import ContainerSpec, PullCredentials


async def add(admin: Caller, name: str, **fields: object) -> None:
    body: dict[str, Any] = {"name": name, "url": "https://registry.example.org", **fields}
    made = await admin.post("/registries", body)
    assert made.status_code == 201, made.text


async def started(api: Api, caller: Caller, image: str) -> tuple[str, PullCredentials | None]:
    """The image and the credentials with which the engine was asked to start it."""
    spec = await specified(api, caller, image)
    return spec.image, spec.pull


async def specified(api: Api, caller: Caller, image: str) -> ContainerSpec:
    """What the engine was asked to start for a session with this image."""
    session = await caller.start(image=image)
    await api.until(caller, session["id"], "RUNNING")
    [container] = (await caller.get(f"/sessions/{session['id']}")).json()["containers"]
    return api.engine.world.containers[container["id"]].spec


async def test_an_image_is_pulled_with_the_credentials_of_the_nearest_registry(living: Api):
    admin, user = await living.as_("superadmin"), await living.as_("user")
    image, other = "registry.example.org/team/a:1", "registry.example.org/teams/b:1"
    living.engine.world.local_images |= {image, other, "docker.io/library/debian:12"}
    assert await started(living, user, image) == (image, None)
    await add(admin, "all", username="site", secret="s")
    await add(admin, "theirs", project=living.people.other_project, username="others", secret="o")
    await add(admin, "near", project=living.people.project, namespace="team", username="team", secret="t")
    site = PullCredentials("registry.example.org", "site", "s")
    assert await started(living, user, image) == (
        image,
        PullCredentials("registry.example.org", "team", "t"),
    )
    assert await started(living, user, other) == (other, site)


async def test_who_may_have_an_image_that_others_have_pulled_is_for_the_registry_to_say(living: Api):
    admin, user = await living.as_("superadmin"), await living.as_("user")
    image = "registry.example.org/team/a:1"
    # In the repository that the other project has pulled from: for that, by another tag.
    for name, scope in (("team/a", living.people.other_project), ("team/b", living.people.project)):
        await sql(
            living.database,
            f"INSERT INTO private_repositories VALUES ('registry.example.org/{name}', '{scope}')",
        )
    assert (await specified(living, user, image)).pull_always
    assert not (await specified(living, user, "registry.example.org/team/b:1")).pull_always
    assert not (await specified(living, user, "registry.example.org/team/c:1")).pull_always
    # Those of a registry of the installation are for everybody, those of a project for its sessions.
    await add(admin, "all", username="site", secret="s")
    await specified(living, user, "registry.example.org/team/c:1")
    await add(admin, "near", project=living.people.project, namespace="own", username="team", secret="t")
    assert not (await specified(living, user, "registry.example.org/own/d:1")).pull_always
    stored = await sql(living.database, "SELECT name FROM private_repositories WHERE name LIKE '%/own/%'")
    assert stored == [("registry.example.org/own/d",)]
    assert await sql(living.database, "SELECT 1 FROM private_repositories WHERE name LIKE '%/team/c'") == []


async def test_an_image_is_pulled_from_the_mirror_of_its_registry(living: Api):
    admin, user = await living.as_("superadmin"), await living.as_("user")
    there = "mirror.example.org/library/debian:12"
    living.engine.world.local_images.add(there)
    await add(admin, "hub", kind="dockerhub", url=None, mirror="https://mirror.example.org")
    assert await started(living, user, "debian:12") == (there, None)


async def test_a_mirror_of_a_project_is_one_that_its_domain_permits(living: Api):
    admin, user = await living.as_("superadmin"), await living.as_("user")
    image, there = "registry.example.org/team/a:1", "mirror.example.org/team/a:1"
    living.engine.world.local_images |= {image, there}
    fields = {"project": living.people.project, "mirror": "https://mirror.example.org"}
    await add(admin, "theirs", **fields)
    assert await started(living, user, image) == (there, None)
    await sql(living.database, "UPDATE domains SET registries = ARRAY['registry.example.org']")
    assert await started(living, user, image) == (image, None)
    body = {"name": "more", "url": "https://registry.example.org", **fields}
    refused = await admin.post("/registries", body)
    assert (refused.status_code, refused.json()["code"]) == (403, "image.registry_not_allowed")
    made = await admin.post("/registries", {**body, "mirror": None})
    changed = await admin.patch(f"/registries/{made.json()['id']}", {"mirror": fields["mirror"]})
    assert (changed.status_code, changed.json()["field"]) == (403, "mirror")


async def test_a_session_whose_secret_for_pulls_cannot_be_decrypted_fails_and_says_so(living: Api):
    admin, user = await living.as_("superadmin"), await living.as_("user")
    await add(admin, "all", username="site", secret="s")
    await sql(living.database, "UPDATE registries SET secret = 'sealed with another key'")
    session = await user.start(image="registry.example.org/team/a:1")

    async def explained() -> bool:
        return "cannot be decrypted" in (await user.get(f"/sessions/{session['id']}")).text

    await eventually(explained)


async def test_the_usual_port_makes_no_other_registry(living: Api):
    admin, user = await living.as_("superadmin"), await living.as_("user")
    plain, spelled = "registry.example.org/team/a:1", "registry.example.org:443/team/a:1"
    living.engine.world.local_images.add(plain)
    await add(admin, "site", username="site", secret="s")
    site = PullCredentials("registry.example.org", "site", "s")
    assert await started(living, user, spelled) == (plain, site)
    # Rules are about the registry, however either is spelled.
    for allowed, image in (("registry.example.org", spelled), ("registry.example.org:443", plain)):
        await sql(living.database, "UPDATE domains SET registries = ARRAY[:one]", one=allowed)
        assert (await user.try_start(image=image)).status_code == 201
    await sql(living.database, "UPDATE domains SET registries = ARRAY['other.example.org:443', 'tools']")
    for image in (plain, spelled, "docker.io/library/debian:12"):
        refused = await user.try_start(image=image)
        assert (refused.status_code, refused.json()["code"]) == (403, "image.registry_not_allowed")
