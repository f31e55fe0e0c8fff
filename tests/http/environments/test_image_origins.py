"""Limits of an image hold for the environments that are made of it."""

import pytest
from databases import sql
from environment_kit import made
from installation import Api, Caller
from people_kit import status_and_code

LAB = "docker.io/library/debian:12"
SLOTS = {"cpu": 1000, "mem": 1 << 30}


@pytest.fixture
async def lab(living: Api) -> Api:
    """An installation whose catalogue has the image lab."""
    living.engine.world.local_images |= {LAB, "docker.io/library/other:1"}
    await sql(
        living.database,
        "INSERT INTO images (id, name, reference, title, description, present, min_slots, apps, host, repository, tag)"
        " VALUES ('i', 'lab', :reference, '', '', true, jsonb_build_object('cpu', 10, 'mem', 1), '[]', 'docker.io',"
        " 'library/debian', '12')",
        reference=LAB,
    )
    return living


async def saved(api: Api, user: Caller, image: str, name: str) -> None:
    session = await user.start(image=image)
    await api.until(user, session["id"], "RUNNING")
    await made(user, f"/sessions/{session['id']}/save", name=name)


async def built(user: Caller, name: str, dockerfile: str) -> None:
    await made(user, "/environments/builds", name=name, files={"Dockerfile": dockerfile})


async def setting(api: Api, **changes: object) -> None:
    admin = await api.as_("superadmin")
    answer = await admin.patch("/images/lab", changes)
    assert answer.status_code == 200, answer.text


async def refusal(user: Caller, image: str, **fields: object) -> str | None:
    """The code of the refusal of a session; None: it starts."""
    body = {"image": image, "slots": SLOTS, **fields}
    answer = await user.post("/sessions", body)
    checked = (await user.post("/sessions/check", body)).json()
    assert (checked["verdict"] == "never") == (answer.status_code != 201)
    if answer.status_code == 201:
        return None
    assert "lab" in answer.json()["detail"], "it says which image"
    return str(answer.json()["code"])


async def test_a_disabled_image_is_disabled_in_what_was_saved_and_built_on_it(lab: Api) -> None:
    user = await lab.as_("user")
    await saved(lab, user, "lab", "saved")
    await saved(lab, user, LAB, "pinned")
    await built(user, "built", "FROM lab\nRUN true")
    await built(user, "staged", "FROM lab AS tools\nFROM other:1\nRUN true")
    await built(user, "above", "FROM env:built\nRUN true")
    assert (await user.delete("/environments/built")).status_code == 204
    names = ("saved", "pinned", "staged", "above")
    for name in names:
        assert await refusal(user, f"env:{name}") is None, name
    await setting(lab, enabled=False)
    for name in names:
        assert await refusal(user, f"env:{name}") == "image.disabled", name
    body = {"name": "next", "files": {"Dockerfile": "FROM env:above\nRUN true"}}
    assert status_and_code(await user.post("/environments/builds", body)) == (403, "image.disabled")
    again = await user.post("/environments/above/versions/1/rebuild", {})
    assert status_and_code(again) == (404, "environment.not_found")
    # A scan that does not see it for a while does not undo what is set for it.
    await sql(lab.database, "DELETE FROM images")
    assert await refusal(user, "env:saved") == "image.disabled"
    await sql(lab.database, "UPDATE image_settings SET enabled = true")
    assert await refusal(user, "env:saved") is None


async def test_an_image_limited_to_projects_or_groups_is_limited_in_environments(lab: Api) -> None:
    user = await lab.as_("user")
    await built(user, "built", "FROM lab\nRUN true")
    await setting(lab, projects=[lab.people.other_project])
    assert await refusal(user, "env:built") == "image.not_permitted"
    await user.post("/environments/built/shares", {"project": "default"})
    await setting(lab, projects=[], groups=["default"])
    assert await refusal(user, "env:built") is None
    made_group = await (await lab.as_("superadmin")).post("/groups", {"name": "gpu", "public": True})
    assert made_group.status_code == 201, made_group.text
    await setting(lab, groups=["gpu"])
    assert await refusal(user, "env:built", group="default") == "image.not_in_group"
    roles = [{"name": "worker", "count": 1, "image": "env:built"}]
    assert await refusal(user, "debian:11", group="default", roles=roles) == "image.not_in_group"


async def test_the_minimum_slots_of_an_image_are_those_of_its_environments(lab: Api) -> None:
    user = await lab.as_("user")
    await saved(lab, user, "lab", "saved")
    await built(user, "built", "FROM lab\nRUN true")
    await built(user, "staged", "FROM lab AS tools\nFROM other:1\nRUN true")
    await setting(lab, min_slots={"cpu": 2000, "mem": 1})
    for name in ("saved", "built"):
        refused = await user.post("/sessions", {"image": f"env:{name}", "slots": SLOTS})
        assert status_and_code(refused) == (422, "invalid.slots"), name
    # Only the image below runs; of others, there are only files.
    assert await refusal(user, "env:staged") is None
    await setting(lab, min_slots={})
    assert await refusal(user, "env:built") is None


async def test_vulnerabilities_of_an_image_count_until_the_environment_itself_is_scanned(lab: Api) -> None:
    user = await lab.as_("user")
    await built(user, "built", "FROM lab\nRUN true")
    scan = (
        "WITH result AS (INSERT INTO image_reports (digest, scanner, scanned_at, packages, first_found, report, sbom)"
        " VALUES (:id, '', now(), 1, CAST(:found AS jsonb), '', '') RETURNING digest)"
        " INSERT INTO image_scans (id, reference, state, requested_at, ended_at, digest)"
        " SELECT :id, :reference, 'done', now(), now(), digest FROM result"
    )
    await sql(lab.database, scan, id="a", reference=LAB, found='{"critical": {"2020-01-01": 1}}')
    admin = await lab.as_("superadmin")
    await admin.patch("/site", {"image_scan_rule": "warn"})
    [warning] = (await user.post("/sessions/check", {"image": "env:built", "slots": SLOTS})).json()[
        "warnings"
    ]
    assert LAB in warning["message"]
    await admin.patch("/site", {"image_scan_rule": "refuse"})
    refused = await user.post("/sessions", {"image": "env:built", "slots": SLOTS})
    assert status_and_code(refused) == (403, "image.vulnerable")
    assert LAB in refused.json()["detail"]
    [(reference,)] = await sql(lab.database, "SELECT reference FROM environment_versions")
    await sql(lab.database, scan, id="b", reference=reference, found="{}")
    assert await refusal(user, "env:built") is None
