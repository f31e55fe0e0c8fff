"""Builds of environments over HTTP: requests, logs, recipes, limits, cancel."""

import io
import re
import tarfile

import pytest
from builds_kit import requested, settled
from databases import sql
from installation import Api
from people import eventually
from people_kit import status_and_code
from session_kit import SMALL

from carrel.db.database import Database

REQUIREMENTS = {"requirements.txt": "numpy==2.0\n"}
DOCKERFILE = {"Dockerfile": "FROM debian:12\nRUN true\n"}


async def limit(database: Database, most: int | str, kind: str = "user") -> None:
    await sql(
        database,
        f"""UPDATE resource_policies SET limits = limits || '{{"environment_bytes": {most}}}' WHERE kind = '{kind}'""",
    )


def tar(files: dict[str, bytes]) -> bytes:
    with io.BytesIO() as buffer:
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            for name, content in files.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
        return buffer.getvalue()


async def test_an_environment_is_built_shown_rebuilt_and_started_from(living: Api) -> None:
    user = await living.as_("user")
    living.engine.world.local_images.add("docker.io/library/debian:12")
    made = await requested(user, files=REQUIREMENTS, file="requirements.txt", base="debian:12", note="first")
    assert made["versions"][0]["recipe"] == "requirements"
    version = await settled(user, "torch")
    assert version["state"] == "ready", version
    assert (version["added_bytes"], version["base"]) == (1000, "debian:12")

    recipe = (await user.get("/environments/torch/versions/1/recipe")).json()
    assert recipe["files"] == REQUIREMENTS
    assert "pip install -r" in recipe["dockerfile"]
    assert recipe["images"] == ["docker.io/library/debian:12"]
    log = (await user.get("/environments/torch/versions/1/log")).json()
    assert "Step 1/" in log["text"]
    assert (log["complete"], log["state"]) == (True, "ready")
    rest = (await user.get(f"/environments/torch/versions/1/log?after={log['next']}")).json()
    assert (rest["text"], rest["next"]) == ("", log["next"])

    again = await user.post("/environments/torch/versions/1/rebuild", {"note": "again"})
    assert again.status_code == 202, again.text
    assert (await settled(user, "torch", "2"))["state"] == "ready"
    assert (await user.get("/environments/torch/versions/2/recipe")).json() == recipe
    session = await user.start(image="env:torch")
    assert (await living.until(user, session["id"], "RUNNING"))["image_name"] == "env:torch:2"
    rows = await sql(
        living.database, "SELECT action FROM audit WHERE action = 'environment.build' AND outcome = 'done'"
    )
    assert len(rows) == 2

    assert (await user.delete("/environments/torch/versions/1")).status_code == 204


async def test_a_context_is_sent_once_and_its_recipe_found(living: Api) -> None:
    user = await living.as_("user")
    living.engine.world.local_images.add("docker.io/library/debian:12")
    content = tar({"binder/Dockerfile": b"FROM debian:12\nCOPY data /data\n", "data": b"1"})
    sent = await user.post("/environments/contexts", content=content)
    assert sent.status_code == 201, sent.text
    context = sent.json()["id"]
    assert sent.json()["files"] == 2
    await requested(user, context=context, source="https://git.example.org/lab/tools")
    assert (await settled(user, "torch"))["state"] == "ready"
    recipe = (await user.get("/environments/torch/versions/1/recipe")).json()
    assert (recipe["context_files"], recipe["source"]) == (2, "https://git.example.org/lab/tools")
    assert list(recipe["files"]) == ["binder/Dockerfile"]
    stranger = await living.as_("colleague")
    theirs = await stranger.post("/environments/builds", {"name": "mine", "context": context})
    assert status_and_code(theirs) == (404, "build.context_not_found")


async def test_what_a_person_may_leave_and_queue_is_limited(
    living: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.builds.service.MOST_UNUSED", 1)
    monkeypatch.setattr("carrel.builds.service.MOST_OPEN", 1)
    user = await living.as_("user")
    content = tar({"Dockerfile": b"FROM scratch\n"})
    assert (await user.post("/environments/contexts", content=content)).status_code == 201
    more = await user.post("/environments/contexts", content=content)
    assert status_and_code(more) == (409, "build.too_many_contexts")
    other = await living.as_("colleague")
    assert (await other.post("/environments/contexts", content=content)).status_code == 201
    living.engine.world.local_images.add("docker.io/library/debian:12")
    body = {"files": {"Dockerfile": "FROM debian:12\nRUN true"}}
    await requested(user, **body)
    await sql(living.database, "UPDATE environment_versions SET state = 'waiting', cancel = false")
    again = await user.post("/environments/builds", {"name": "second", **body})
    assert status_and_code(again) == (409, "build.too_many")


async def test_a_step_that_fails_is_named_with_its_cause(living: Api) -> None:
    user = await living.as_("user")
    living.engine.world.local_images.add("docker.io/library/debian:12")
    await requested(user, files={"Dockerfile": "FROM debian:12\nRUN false\n"})
    version = await settled(user, "torch")
    assert version["state"] == "failed"
    assert re.match(r"Step \d+ of \d+ failed \(RUN false\): ", version["problem"])
    assert "returned a non-zero code: 1" in version["problem"]
    assert "RUN false" in (await user.get("/environments/torch/versions/1/log")).json()["text"]
    assert not living.engine.world.commits


async def test_a_build_is_cancelled_and_leaves_nothing(living: Api) -> None:
    user = await living.as_("user")
    world = living.engine.world
    world.local_images.add("docker.io/library/debian:12")
    world.build_s = 3600
    await requested(user, files=DOCKERFILE)
    await requested(user, files=DOCKERFILE)

    async def running() -> bool:
        log = (await user.get("/environments/torch/versions/1/log")).json()
        return "building" in log["text"] and log["state"] == "running"

    await eventually(running)
    states = [one["state"] for one in (await user.get("/environments/torch")).json()["versions"]]
    assert states == ["waiting", "running"], "one at a time for a person"
    for version in ("2", "1"):
        await user.post(f"/environments/torch/versions/{version}/cancel", {})
        assert (await settled(user, "torch", version))["state"] == "cancelled"
    assert not world.builds
    assert not world.commits


async def test_what_environments_take_is_limited_before_and_after_a_build(living: Api) -> None:
    user = await living.as_("user")
    living.engine.world.local_images.add("docker.io/library/debian:12")
    await limit(living.database, 1500)
    await requested(user, files=DOCKERFILE)
    assert (await settled(user, "torch"))["state"] == "ready"
    [quota] = (await user.get("/environment-quotas")).json()["items"]
    assert (quota["used_bytes"], quota["limit_bytes"], quota["project"]) == (1000, 1500, None)
    await requested(user, files=DOCKERFILE)
    version = await settled(user, "torch", "2")
    assert version["state"] == "failed"
    assert "take 1000" in version["problem"]
    assert len(living.engine.world.commits) == 1
    await limit(living.database, 1000)
    refused = await user.post("/environments/builds", {"name": "torch", "files": DOCKERFILE})
    assert status_and_code(refused) == (409, "environment.over_quota")
    session = await user.start()
    await living.until(user, session["id"], "RUNNING")
    saved = await user.post(f"/sessions/{session['id']}/save", {"name": "torch"})
    assert status_and_code(saved) == (409, "environment.over_quota")


async def test_images_below_are_those_that_the_person_may_use(living: Api) -> None:
    user = await living.as_("user")
    await sql(living.database, "UPDATE domains SET registries = '{docker.io}'")
    for text, answer in {
        "FROM registry.example.org/x:1": (403, "image.registry_not_allowed"),
        "FROM debian:12\nCOPY --from=registry.example.org/x:1 /a /a": (403, "image.registry_not_allowed"),
        "FROM env:none": (404, "environment.not_found"),
        "FROM localhost/carrel/environments/abc:1": (404, "environment.not_found"),
        "FROM ../x": (422, "invalid.image"),
        "ARG X\nFROM $X": (422, "build.bad_dockerfile"),
    }.items():
        refused = await user.post("/environments/builds", {"name": "torch", "files": {"Dockerfile": text}})
        assert status_and_code(refused) == answer, text
    assert status_and_code(await user.get("/environments/torch")) == (404, "environment.not_found")
    sql_rows = await sql(living.database, "SELECT 1 FROM environment_builds")
    assert not sql_rows


async def test_others_learn_nothing_of_a_build(living: Api) -> None:
    user = await living.as_("user")
    living.engine.world.local_images.add("docker.io/library/debian:12")
    id_ = (await requested(user, files=DOCKERFILE))["id"]
    await settled(user, "torch")
    for name in ("colleague", "stranger", "foreigner"):
        other = await living.as_(name)
        path = f"/environments/{id_}/versions/1"
        for answer in (
            await other.get(f"{path}/recipe"),
            await other.get(f"{path}/log"),
            await other.post(f"{path}/rebuild", {}),
        ):
            assert status_and_code(answer) == (404, "environment.not_found")


async def test_an_environment_that_was_built_is_a_base_of_another(living: Api) -> None:
    user = await living.as_("user")
    living.engine.world.local_images.add("docker.io/library/debian:12")
    await requested(user, files=DOCKERFILE)
    await settled(user, "torch")
    await requested(user, name="more", files={"Dockerfile": "FROM env:torch:1\nRUN true"})
    version = await settled(user, "more")
    assert (version["state"], version["base"]) == ("ready", "env:torch:1")
    session = await user.post("/sessions/check", {"image": "env:more", "slots": SMALL})
    assert session.json()["verdict"] == "starts"


async def test_a_devcontainer_is_built_with_its_dockerfile_and_the_log_says_what_is_ignored(
    living: Api,
) -> None:
    user = await living.as_("user")
    living.engine.world.local_images.add("docker.io/library/debian:12")
    stated = b'{"build": {"dockerfile": "Dockerfile.lab"}, /* ports */ "forwardPorts": [1]}'
    content = tar(
        {
            ".devcontainer/devcontainer.json": stated,
            ".devcontainer/Dockerfile.lab": b"FROM debian:12\nRUN true\n",
        }
    )
    context = (await user.post("/environments/contexts", content=content)).json()["id"]
    await requested(user, context=context)
    version = await settled(user, "torch")
    assert (version["state"], version["recipe"]) == ("ready", "devcontainer"), version
    log = (await user.get("/environments/torch/versions/1/log")).json()["text"]
    assert log.startswith("Ignored, because it has no effect on an image: forwardPorts.\n")
    recipe = (await user.get("/environments/torch/versions/1/recipe")).json()
    assert recipe["dockerfile"] == "FROM debian:12\nRUN true\n"
    assert len(recipe["files"]) == 2
    features = {"devcontainer.json": '{"image": "debian:12", "features": {"ghcr.io/x/node:1": {}}}'}
    refused = await user.post("/environments/builds", {"name": "torch", "files": features})
    assert status_and_code(refused) == (422, "build.bad_recipe")
    assert "ghcr.io/x/node:1" in refused.json()["detail"]
