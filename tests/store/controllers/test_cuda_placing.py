"""What the images of waiting sessions require of drivers, and what the scheduler knows of nodes for it."""

import json

import pytest
from databases import sql
from node_kit import cuda_image, gpu_machine, join, machine
from session_kit import SMALL, enqueue

from carrel.core.cuda import CUDA_LABEL
from carrel.core.ids import ProjectId
from carrel.queue import cuda_requirements, loading
from carrel.scheduling.plan import plan
from carrel.sessions.spec import ClusterRole

GPU = SMALL | {"cuda.device": 1}
SHARES = SMALL | {"cuda.shares": 100}
OLD, NEW = gpu_machine("old", "470.82.01"), gpu_machine("new", "550.54.15")


@pytest.fixture
async def catalogue(database):
    await cuda_image(database, "torch:12", "cuda>=12.4")
    await cuda_image(database, "torch-old:11", "cuda>=11.4")
    await cuda_image(database, "plain:1", "")
    await cuda_image(database, "unread:1", None)


async def decided(database, clock):
    async with database.transaction() as tx:
        snapshot = await loading.snapshot(tx, clock.now(), await loading.waiting(tx, clock.now()))
        made = plan(snapshot)
    names = {node.id: node.name for node in snapshot.nodes}
    places = {one.session: [names[part.node] for part in one.parts] for one in made.placements}
    return snapshot, places, {one.session: one.reason for one in made.refusals}


@pytest.mark.usefixtures("catalogue")
async def test_sessions_with_devices_go_to_drivers_that_run_their_images(database, people, clock):
    await join(database, OLD, NEW)
    newer = await enqueue(database, people.user, image="torch:12", slots=GPU)
    older = await enqueue(database, people.user, image="torch-old:11", slots=GPU)
    third = await enqueue(database, people.user, image="torch:12", slots=GPU)
    _, places, reasons = await decided(database, clock)
    assert places == {newer: ["new"], older: ["old"]}
    assert reasons[third].startswith(
        "1 node: driver 470.82.01 supports CUDA 11.4, the image needs CUDA 12.4; 1 node: needs 1 "
    )


@pytest.mark.usefixtures("catalogue")
async def test_without_devices_or_requirements_nothing_is_read_of_drivers(database, people, clock):
    await join(database, OLD)
    for image, slots in (("torch:12", SMALL), ("plain:1", SHARES), ("unread:1", SHARES)):
        await enqueue(database, people.user, image=image, slots=slots)
    snapshot, places, _ = await decided(database, clock)
    assert len(places) == 3
    assert {one.cuda for one in snapshot.waiting} == {""}
    assert [node.driver for node in snapshot.nodes] == [None]


@pytest.mark.usefixtures("catalogue")
async def test_what_an_administrator_says_of_a_node_counts(database, people, clock):
    await join(database, OLD, gpu_machine("silent", None))
    await sql(
        database,
        "UPDATE nodes SET own_labels = CAST(:labels AS jsonb) WHERE name = 'silent'",
        labels=json.dumps({CUDA_LABEL: "11.8"}),
    )
    made = await enqueue(database, people.user, image="torch:12", slots=GPU)
    _, places, reasons = await decided(database, clock)
    assert places == {}
    assert reasons[made] == (
        "1 node: driver 470.82.01 supports CUDA 11.4, the image needs CUDA 12.4; "
        "1 node: supports CUDA 11.8, the image needs CUDA 12.4."
    )
    await sql(database, "UPDATE nodes SET own_labels = '{}'")
    _, places, _ = await decided(database, clock)
    assert places == {made: ["silent"]}


@pytest.mark.usefixtures("catalogue")
async def test_of_roles_only_those_with_devices_need_a_driver(database, people, clock):
    await join(database, gpu_machine("old", "470.82.01", cpu=8000), machine("plain"))
    roles = (ClusterRole(name="main"), ClusterRole(name="worker", slots=GPU, image="torch-old:11"))
    made = await enqueue(database, people.user, image="torch:12", roles=roles)
    snapshot, places, _ = await decided(database, clock)
    assert [one.cuda for one in snapshot.waiting] == ["cuda>=11.4"]
    assert places[made][1] == "old"


@pytest.mark.usefixtures("catalogue")
async def test_pinned_images_and_environments_require_what_is_below_them(database, people, clock):
    await join(database, OLD)
    pinned = await enqueue(database, people.user, image="torch:12", slots=SHARES)
    exact = await enqueue(database, people.user, image=f"torch@sha256:{'b' * 64}", slots=SHARES)
    await sql(database, "UPDATE images SET digest = 'sha256:' || repeat('b', 64) WHERE name = 'torch'")
    saved = await enqueue(database, people.user, image="other:1", slots=SHARES)
    await sql(
        database,
        "UPDATE containers SET image = 'torch:12@sha256:' || repeat('a', 64) WHERE session_id = :id",
        id=pinned,
    )
    reference = "localhost/env:1"
    origins = [
        {"reference": "torch:12", "name": "torch:12", "below": True},
        {"reference": "torch-old:11", "name": "torch-old:11", "below": False},
    ]
    await sql(
        database,
        f"""
        INSERT INTO environments (id, name, description, owner_id, domain_id, created_at, updated_at)
        VALUES ('e', 'torch', '', '{people.user.user_id}', '{people.domain}', now(), now());
        INSERT INTO environment_versions (id, environment_id, name, note, state, reference, engine_id, session_name,
            container_id, base, apps, min_slots, origins, created_at)
        VALUES ('v', 'e', '1', '', 'ready', '{reference}', 'local', 's', 'c', 'torch:12', '[]', '{{}}',
            $${json.dumps(origins)}$$, now())
        """,
    )
    await sql(database, "UPDATE containers SET image = :ref WHERE session_id = :id", ref=reference, id=saved)
    snapshot, places, _ = await decided(database, clock)
    assert places == {}
    assert {one.id: one.cuda for one in snapshot.waiting} == dict.fromkeys(
        (pinned, exact, saved), "cuda>=12.4"
    )


_ELSEWHERE = """
    INSERT INTO domains (id, name) VALUES ('d2', 'elsewhere');
    INSERT INTO projects (id, domain_id, name) VALUES ('p2', 'd2', 'elsewhere'), ('p3', 'd2', 'another');
    INSERT INTO registries (id, name, kind, url, host, domain_id, project_id) VALUES
        ('r2', 'r2', 'generic', 'https://x', 'x', NULL, 'p2'), ('r3', 'r3', 'generic', 'https://x', 'x', 'd2', NULL);
    INSERT INTO images (id, name, reference, title, description, min_slots, apps, present, registry_id, digest,
        requires_cuda, architecture) VALUES
        ('i2', 'i2', 'plain:1', '', '', '{}', '[]', true, 'r2', 'sha256:' || repeat('b', 64), 'cuda>=99.1', NULL),
        ('i3', 'i3', 'plain:1', '', '', '{}', '[]', true, 'r3', 'sha256:' || repeat('b', 64), 'cuda>=99.2', NULL),
        ('i4', 'i4', 'other:1', '', '', '{}', '[]', true, 'r2', NULL, '', 'riscv64')
"""


@pytest.mark.usefixtures("catalogue")
async def test_what_registries_of_others_say_of_an_image_does_not_count(database, people, clock):
    await join(database, NEW)
    exact = f"plain@sha256:{'b' * 64}"
    tag = await enqueue(database, people.user, image="plain:1", slots=SHARES)
    digest = await enqueue(database, people.user, image=exact, slots=SHARES)
    other = await enqueue(database, people.user, image="other:1", slots=SMALL)
    await sql(database, "UPDATE images SET digest = 'sha256:' || repeat('b', 64) WHERE name = 'plain'")
    await sql(database, _ELSEWHERE)
    snapshot, places, _ = await decided(database, clock)
    assert {one.id: one.cuda for one in snapshot.waiting} == {tag: "", digest: "", other: ""}
    assert {one.architecture for one in snapshot.waiting} == {""}
    assert len(places) == 3
    async with database.transaction() as tx:
        of_projects = [
            (ProjectId(project), image) for project in ("p2", "p3") for image in ("plain:1", exact)
        ]
        required = await cuda_requirements.of_images(tx, of_projects)
    assert {one: text.split() for one, text in required.items()} == {
        one: ["cuda>=99.1", "cuda>=99.2"] if one[0] == "p2" else ["cuda>=99.2"] for one in of_projects
    }
