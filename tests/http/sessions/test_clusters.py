"""Cluster sessions as people request and see them."""

from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine, command_line
from installation import Api
from people import eventually
from session_kit import request

from carrel.engines.port import ContainerSpec

SLOTS = {"cpu": 100, "mem": 64 << 20}
LARGE = {"cpu": 200, "mem": 64 << 20}
DEFINITION = """
image: debian:12
cpu: 0.1
mem: 64m
placement: together
on_failure: continue
env: {SEED: "7"}
roles:
  - name: worker
    count: 2
    cpu: 200m
    mem: 64m
    shm_bytes: 32m
    command: [sleep, "1000"]
    env: {WORKER: "yes"}
"""


@pytest.fixture
async def command(living: Api, tmp_path: Path) -> CommandLine:
    return await command_line(living, "user", tmp_path)


@pytest.fixture
async def node(living: Api) -> None:
    """The engine's node is known."""
    admin = await living.as_("superadmin")

    async def is_known() -> bool:
        return bool((await admin.get("/nodes")).json()["items"])

    await eventually(is_known)


def started(living: Api) -> dict[str, ContainerSpec]:
    """The specs of the engine's containers by host name."""
    specs = [one.spec for one in living.engine.world.containers.values()]
    return {one.network.host if one.network else "": one for one in specs}


async def test_a_cluster_of_alike_containers_runs_in_a_network_of_its_own(living: Api) -> None:
    user = await living.as_("user")
    made = (await user.post("/sessions", request(containers=3))).json()
    assert (made["cluster_size"], made["placement"], made["on_failure"]) == (3, "spread", "end")
    session = await living.until(user, made["id"], "RUNNING")
    assert [one["host"] for one in session["containers"]] == ["main1", "sub1", "sub2"]
    specs = started(living)
    assert {one.network.id for one in specs.values() if one.network} == {session["id"]}
    assert specs["sub1"].hostname == "sub1"
    assert specs["sub1"].env["CARREL_CLUSTER_HOSTS"] == "main1,sub1,sub2"
    assert specs["sub1"].env["NODE_RANK"] == "1"
    [listed] = (await user.get("/sessions")).json()["items"]
    assert listed["cluster_size"] == 3


async def test_a_single_session_has_neither_network_nor_keys(living: Api) -> None:
    user = await living.as_("user")
    made = (await user.post("/sessions", request())).json()
    await living.until(user, made["id"], "RUNNING")
    (spec,) = started(living).values()
    assert (spec.network, spec.files) == (None, ())
    assert not any(name.startswith("CARREL_CLUSTER") for name in spec.env)


async def test_roles_have_their_own_image_slots_command_and_variables(living: Api) -> None:
    user = await living.as_("user")
    worker = {
        "name": "worker",
        "count": 2,
        "image": "debian:11",
        "slots": LARGE,
        "shm_bytes": 8 << 20,
        "command": ["sleep", "1000"],
        "env": {"ROLE": "w"},
    }
    body = request(env={"SEED": "7"}, shm_bytes=4 << 20, roles=[worker, {"name": "ps"}])
    made = (await user.post("/sessions", body)).json()
    session = await living.until(user, made["id"], "RUNNING")
    assert [
        (one["host"], one["role"], one["image"], one["slots"]["cpu"]) for one in session["containers"]
    ] == [
        ("main1", "main", "debian:12", 100),
        ("worker1", "sub", "debian:11", 200),
        ("worker2", "sub", "debian:11", 200),
        ("ps1", "sub", "debian:12", 100),
    ]
    specs = started(living)
    assert (specs["worker2"].env["SEED"], specs["worker2"].env["ROLE"]) == ("7", "w")
    assert "ROLE" not in specs["ps1"].env
    assert (specs["worker2"].shm_bytes, specs["ps1"].shm_bytes) == (8 << 20, 4 << 20)
    assert specs["worker2"].env["CARREL_CLUSTER_REPLICAS"] == "main:1,worker:2,ps:1"
    assert specs["worker1"].once
    assert not specs["ps1"].once
    assert session["roles"][0]["env"] == {"ROLE": "w"}
    admin = await living.as_("superadmin")
    seen = (await admin.get(f"/sessions/{session['id']}")).json()
    assert seen["roles"][0]["env"] == {"ROLE": "********"}


async def test_a_restart_in_place_keeps_the_names_and_keys_of_a_cluster(living: Api, node: None) -> None:
    user = await living.as_("user")
    roles = [{"name": "worker", "count": 2, "env": {"WORKER": "yes"}}]
    made = (await user.post("/sessions", request(roles=roles))).json()
    before = await living.until(user, made["id"], "RUNNING")
    world = living.engine.world
    first, old = started(living), set(world.containers.values())
    assert (await user.post(f"/sessions/{made['id']}/restart")).status_code == 202

    async def replaced() -> bool:
        return len(world.containers) == 3 and not old & set(world.containers.values())

    await eventually(replaced)
    after = await living.until(user, made["id"], "RUNNING")
    members = [
        [(one["id"], one["host"], one["node"]) for one in seen["containers"]] for seen in (before, after)
    ]
    assert members[0] == members[1]
    second = started(living)
    assert second.keys() == first.keys() == {"main1", "worker1", "worker2"}
    for host, spec in first.items():
        assert (second[host].env, second[host].network) == (spec.env, spec.network)
        # The text of a private key differs each time it is written; its public keys show that it is the same.
        kept = [
            [one for one in files if one.path.endswith(("authorized_keys", "known_hosts"))]
            for files in (spec.files, second[host].files)
        ]
        assert len(kept[0]) == 2
        assert kept[0] == kept[1]


async def test_private_keys_are_in_the_containers_and_nowhere_else(living: Api) -> None:
    user = await living.as_("user")
    made = (await user.post("/sessions", request(containers=2))).json()
    await living.until(user, made["id"], "RUNNING")
    files = {file.path: file for file in started(living)["sub1"].files}
    key = files["/etc/carrel/cluster/key"]
    assert key.private
    assert key.content.startswith(b"-----BEGIN OPENSSH PRIVATE KEY-----")
    public = "/etc/carrel/cluster/authorized_keys"
    assert files[public] == {file.path: file for file in started(living)["main1"].files}[public]
    another = (await user.post("/sessions", request(containers=2))).json()
    await living.until(user, another["id"], "RUNNING")
    keys = [
        file.content
        for one in living.engine.world.containers.values()
        for file in one.spec.files
        if file.path == public
    ]
    assert len({*keys}) == 2, "each session has its own"
    secret = key.content.splitlines()[2].decode()
    for path in (f"/sessions/{made['id']}", f"/sessions/{made['id']}/history"):
        assert secret not in (await user.get(path)).text


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"roles": [{"name": "a"}, {"name": "a"}]}, "invalid.roles", "roles"),
        ({"roles": [{"name": "main", "count": 2}]}, "invalid.roles", "roles"),
        ({"roles": [{"name": "a"}], "containers": 5}, "invalid.roles", "roles"),
        ({"roles": [{"name": "a", "count": 256}]}, "invalid.roles", "roles"),
        ({"roles": [{"name": "main", "command": ["true"]}]}, "session.not_batch", "command"),
        ({"roles": [{"name": "a", "image": "No Image"}]}, "invalid.image", "image"),
        ({"roles": [{"name": "a", "slots": {"cpu": 10, "mem": 4 << 20}}]}, "invalid.slots", "slots.mem"),
        (
            {"roles": [{"name": "a", "slots": {"cpu": 9000, "mem": 1 << 30}}]},
            "session.too_large",
            "slots.cpu",
        ),
        ({"containers": 81, "placement": "together"}, "session.too_large", "containers"),
        ({"containers": 81}, "session.too_large", "containers"),
        ({"containers": 300}, "invalid.request", "containers"),
    ],
)
async def test_a_cluster_that_cannot_be_is_refused_with_what_is_wrong(
    living: Api, node: None, changes: dict[str, Any], code: str, field: str
) -> None:
    user = await living.as_("user")
    for path in ("/sessions", "/sessions/check"):
        body = request(**changes)
        if path == "/sessions/check":
            body = {name: value for name, value in body.items() if name in ("image", "slots", *changes)}
        answer = await user.post(path, body)
        if answer.status_code == 200:
            if code != "session.not_batch":
                assert (answer.json()["verdict"], answer.json()["code"]) == ("never", code), answer.text
        else:
            assert (answer.json()["code"], answer.json()["field"]) == (code, field), answer.text


async def test_a_check_counts_all_containers(living: Api, node: None) -> None:
    user = await living.as_("user")
    body = {"image": "debian:12", "slots": {"cpu": 3000, "mem": 1 << 30}}
    assert (await user.post("/sessions/check", {**body, "containers": 2})).json()["verdict"] == "starts"
    assert (await user.post("/sessions/check", {**body, "containers": 3})).json()["verdict"] == "never"
    roles = [{"name": "small", "count": 2, "slots": {"cpu": 2500, "mem": 1 << 30}}]
    assert (await user.post("/sessions/check", {**body, "roles": roles})).json()["verdict"] == "starts"
    roles[0]["count"] = 3
    assert (await user.post("/sessions/check", {**body, "roles": roles})).json()["verdict"] == "never"


async def test_a_definition_file_defines_a_cluster_that_is_shown_and_exported(
    living: Api, command: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "cluster.yaml").write_text(DEFINITION)
    await command.ok(
        "session", "create", "-f", str(tmp_path / "cluster.yaml"), "--name", "trio", "--mem", "80m", "--wait"
    )
    shown = await command.ok("session", "show", "trio")
    assert "3 containers, together; continues without one that fails" in shown
    assert "worker2 (" in shown
    assert "trio ×3" in await command.ok("session", "ls")
    specs = started(living)
    assert (specs["main1"].slots["mem"], specs["worker1"].slots["mem"]) == (80 << 20, 64 << 20)
    assert (specs["main1"].shm_bytes, specs["worker1"].shm_bytes) == (None, 32 << 20)
    assert (specs["worker1"].env["SEED"], specs["worker1"].env["WORKER"]) == ("7", "yes")
    exported = await command.ok("session", "export", "trio")
    (tmp_path / "again.yaml").write_text(exported.replace("trio", "again"))
    await command.ok("session", "rm", "trio", "--yes", "--wait")
    await command.ok("session", "create", "-f", str(tmp_path / "again.yaml"), "--wait")
    assert await command.ok("session", "export", "again") == exported.replace("trio", "again")


async def test_options_make_a_cluster(living: Api, node: None, command: CommandLine) -> None:
    small = ("--image", "debian:12", "--cpu", "0.1", "--mem", "64m")
    options = ("--cluster-size", "2", "--placement", "together", "--on-failure", "continue")
    done = await command.run("run", *small, *options, "--name", "pair", "--", "sh", "-c", "exit 4")
    assert done.code == 4
    user = await living.as_("user")
    session = (await user.get("/sessions/pair")).json()
    assert (session["placement"], session["on_failure"], session["cluster_size"]) == (
        "together",
        "continue",
        2,
    )
    assert [one["exit_code"] for one in session["containers"]] == [4, None]
    checked = await command.run("session", "check", *small, "--cluster-size", "200")
    assert (checked.code, b"would be refused" in checked.stdout) == (1, True)
