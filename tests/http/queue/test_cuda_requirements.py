"""Images that need a driver: where their sessions start, what checks and reasons say, what nodes and images show."""

from pathlib import Path

from command_line import command_line
from databases import sql
from installation import Api
from node_kit import cuda_image, gpu_machine, join
from people_kit import status_and_code
from queue_kit import waits
from session_kit import SMALL, request

from carrel.core.cuda import CUDA_LABEL

GPU = SMALL | {"cuda.device": 1}
TOO_OLD = "1 node: driver 470.82.01 supports CUDA 11.4, the image needs CUDA 12.4."


async def with_nodes(api: Api, *machines) -> None:
    api.engine.world.nodes = list(machines)
    await join(api.database, *machines)
    await cuda_image(api.database, "torch:12", "cuda>=12.4")


async def test_a_check_warns_and_a_session_waits_for_a_newer_driver(living: Api, tmp_path: Path):
    await with_nodes(living, gpu_machine("gpu1", "470.82.01"))
    user, admin = await living.as_("user"), await living.as_("superadmin")
    body = request(image="torch:12", slots=GPU)
    checked = (await user.post("/sessions/check", body)).json()
    assert checked["reason"] == TOO_OLD
    [group] = checked["groups"]
    assert (group["verdict"], group["reason"]) == ("never", TOO_OLD)
    # Without accelerators, it starts anywhere.
    assert (await user.post("/sessions/check", body | {"slots": SMALL})).json()["reason"] == ""
    made = await user.start(image="torch:12", slots=GPU)
    why = await waits(living, user, made["id"])
    assert why["reason"] == TOO_OLD
    person = await command_line(living, "user", tmp_path)
    assert "the image needs CUDA 12.4" in await person.ok("session", "why", made["id"])
    changed = await admin.patch("/nodes/gpu1", {"own_labels": {CUDA_LABEL: "12.4"}})
    assert changed.json()["machine"]["cuda"] == "12.4"
    await living.until(user, made["id"], "RUNNING")


async def test_nodes_show_driver_and_cuda_and_administrators_set_them(api: Api, tmp_path: Path):
    await join(api.database, gpu_machine("gpu1", "470.82.01"), gpu_machine("silent", None))
    admin = await api.as_("superadmin")
    nodes = {one["name"]: one["machine"] for one in (await admin.get("/nodes")).json()["items"]}
    assert (nodes["gpu1"]["nvidia_driver"], nodes["gpu1"]["cuda"]) == ("470.82.01", "11.4")
    assert (nodes["silent"]["nvidia_driver"], nodes["silent"]["cuda"]) == ("", "")
    person = await command_line(api, "superadmin", tmp_path)
    assert "12.4" in await person.ok("node", "edit", "silent", "--cuda", "12.4")
    silent = (await admin.get("/nodes/silent")).json()
    assert (silent["machine"]["cuda"], silent["own_labels"]) == ("12.4", {CUDA_LABEL: "12.4"})
    assert (await person.run("node", "edit", "silent", "--cuda", "new")).code == 2
    await person.ok("node", "edit", "silent", "--cuda", "")
    assert (await admin.get("/nodes/silent")).json()["own_labels"] == {}
    user = await api.as_("user")
    assert status_and_code(await user.patch("/nodes/silent", {"own_labels": {CUDA_LABEL: "12.4"}}))[0] == 403


async def test_images_show_on_how_many_nodes_they_run(api: Api, tmp_path: Path):
    nodes = [
        gpu_machine(name, driver) for name, driver in (("a", "470.82.01"), ("b", "550.54.15"), ("c", None))
    ]
    await join(api.database, *nodes)
    await cuda_image(api.database, "torch:12", "cuda>=12.4")
    await cuda_image(api.database, "plain:1", "")
    await cuda_image(api.database, "arm:1", "cuda>=11.0")
    await sql(api.database, "UPDATE images SET architectures = '{aarch64}' WHERE name = 'arm'")
    for who in ("superadmin", "user"):
        caller = await api.as_(who)
        listed = {one["name"]: one["cuda_nodes"] for one in (await caller.get("/images")).json()["items"]}
        assert listed["torch"] == {"able": 2, "total": 3}
        assert listed["arm"] == {"able": 0, "total": 3}
        assert listed["plain"] is None
    detail = (await (await api.as_("user")).get("/images/torch")).json()
    assert (detail["requires_cuda"], detail["cuda_nodes"]) == ("cuda>=12.4", {"able": 2, "total": 3})
    person = await command_line(api, "user", tmp_path)
    assert "2 of 3" in await person.ok("image", "show", "torch")
