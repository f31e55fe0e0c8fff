"""What the Docker engine decides without a daemon: configuration, words for refusals, addresses, progress."""

import io
import json
import re
import tarfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import aiodocker
import pytest

from carrel.accelerators.port import Attachment, DeviceNode
from carrel.accelerators.visible_devices import OF_SHARES
from carrel.engines import runtimes
from carrel.engines.docker import DockerEngine, answers, attached, rights
from carrel.engines.docker.container_config import LABEL_ID, Names, configuration, home_archive
from carrel.engines.docker.daemon_events import DaemonEvents
from carrel.engines.docker.firewall import delete_script, insert_script
from carrel.engines.docker.network import free_subnet, own_bridge, routed_here
from carrel.engines.docker.pull import Layers
from carrel.engines.port import (
    IDLE,
    CommandBegun,
    ContainerGone,
    ContainerSpec,
    EngineError,
    ImageUnusable,
    ObservedState,
)
from carrel.engines.pulling import pull_error

NAMES = Names("test")
RANGE = IPv4Network("10.213.0.0/16")


def spec_of(*command: str, **slots: int) -> ContainerSpec:
    return ContainerSpec("abc", "image:1", slots or {"cpu": 1500, "mem": 1 << 30}, command=command or IDLE)


def made(spec: ContainerSpec, *, with_init: bool = False) -> dict[str, Any]:
    return configuration(spec, NAMES, network="net", with_init=with_init, with_profile=False)


def test_limits_reach_the_daemon_in_its_units() -> None:
    host = made(spec_of())["HostConfig"]
    assert host["NanoCpus"] == 1_500_000_000
    assert host["Memory"] == host["MemorySwap"] == 1 << 30
    assert host["ShmSize"] == 1 << 29
    assert host["PidsLimit"] == 1024


NO_DEVICES = [
    "NVIDIA_VISIBLE_DEVICES=void",
    "AMD_VISIBLE_DEVICES=none",
    "XILINX_VISIBLE_DEVICES=",
    "XILINX_VISIBLE_CARDS=",
]


def test_sessions_without_accelerators_see_none_whatever_they_set() -> None:
    own = ["HOME=/home/work", "USER=work", "LOGNAME=work"]
    body = made(
        replace(spec_of(), env={"NVIDIA_VISIBLE_DEVICES": "all", "ROCR_VISIBLE_DEVICES": "0", "A": "1"})
    )
    assert body["Env"] == [*own, *NO_DEVICES, "A=1", *OF_SHARES]


GPU = "GPU-0c98766c-6a5b-5d55-81d9-018e4876022d"


@pytest.mark.parametrize(
    ("attachment", "env", "host"),
    [
        (
            Attachment(env={"NVIDIA_VISIBLE_DEVICES": GPU, "CUDA_VISIBLE_DEVICES": "0"}, runtime="nvidia"),
            [f"NVIDIA_VISIBLE_DEVICES={GPU}", *NO_DEVICES[1:], "CUDA_VISIBLE_DEVICES=0"],
            {"Runtime": "nvidia"},
        ),
        (
            Attachment(env={"NVIDIA_VISIBLE_DEVICES": "void"}, cdi=(f"nvidia.com/gpu={GPU}",)),
            NO_DEVICES,
            {"DeviceRequests": [{"Driver": "cdi", "DeviceIDs": [f"nvidia.com/gpu={GPU}"]}]},
        ),
        (
            Attachment(env={"ROCR_VISIBLE_DEVICES": "0"}, nodes=(DeviceNode("/dev/kfd"),), groups=(44,)),
            [*NO_DEVICES, "ROCR_VISIBLE_DEVICES=0"],
            {
                "Devices": [
                    {"PathOnHost": "/dev/kfd", "PathInContainer": "/dev/kfd", "CgroupPermissions": "rw"}
                ],
                "GroupAdd": ["44"],
            },
        ),
        (
            Attachment(nodes=(DeviceNode("/dev/rbln0", source="/dev/rbln4"),), resources={"npu": 1}),
            NO_DEVICES,
            {
                "Devices": [
                    {"PathOnHost": "/dev/rbln4", "PathInContainer": "/dev/rbln0", "CgroupPermissions": "rw"}
                ]
            },
        ),
    ],
)
def test_a_container_is_created_with_what_it_was_given_and_no_more(
    attachment: Attachment, env: list[str], host: dict[str, object]
) -> None:
    spec = replace(spec_of(), env={"NVIDIA_VISIBLE_DEVICES": "all", "CUDA_VISIBLE_DEVICES": "0,1,2"})
    plain = configuration(spec, NAMES, network="net", with_init=False, with_profile=False)
    body: Any = configuration(spec, NAMES, attachment, network="net", with_init=False, with_profile=False)
    assert body["Env"][3:] == [*env, *OF_SHARES]
    assert body["HostConfig"] == {**plain["HostConfig"], **host}  # type: ignore[dict-item]
    assert not {"Privileged", "IpcMode", "PidMode"} & body["HostConfig"].keys()


def test_root_inside_gains_only_what_package_managers_need() -> None:
    body = made(replace(spec_of(), root=True))
    host = body["HostConfig"]
    assert body["User"] == "1000:1000"
    assert (host["CapDrop"], host["SecurityOpt"]) == (["ALL"], [])
    assert set(host["CapAdd"]) == {
        *("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL"),
        *("NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETUID"),
    }


@pytest.mark.parametrize("option", ["name=userns", "name=rootless"])
def test_root_inside_needs_an_engine_on_which_root_is_nobody(option: str) -> None:
    rooted = replace(spec_of(), root=True)
    rights.require(rooted, {"SecurityOptions": ["name=seccomp,profile=default", option]})
    for options in (None, [], ["name=seccomp,profile=default", "name=apparmor"]):
        rights.require(spec_of(), {"SecurityOptions": options})
        with pytest.raises(EngineError) as refused:
            rights.require(rooted, {"SecurityOptions": options})
        assert (refused.value.code, refused.value.retriable) == ("root_unsupported", False)


@pytest.mark.parametrize(
    ("default", "runtimes", "chosen"),
    [
        ("runc", ["runc", "nvidia"], ""),
        # It gives every device to every container.
        ("habana", ["runc", "habana"], "runc"),
        ("nvidia", ["nvidia"], ""),
        ("runsc", ["runc", "runsc"], ""),
    ],
)
def test_sessions_without_accelerators_do_not_have_the_runtime_of_a_vendor(
    default: str, runtimes: list[str], chosen: str
) -> None:
    info = {"DefaultRuntime": default, "Runtimes": {name: {} for name in runtimes}}
    assert attached.plain_runtime(info) == chosen


def test_podman_has_no_runtimes_to_choose_since_it_ignores_the_choice() -> None:
    info = {
        "Name": "n",
        "Architecture": "x86_64",
        "NCPU": 1,
        "MemTotal": 1,
        "Runtimes": {"runc": {}, "runsc": {}},
    }
    docker = {"Components": [{"Name": "Engine"}]}
    podman = {"Components": [{"Name": "Podman Engine"}]}
    for version, names in ((docker, ["runc", "runsc"]), (podman, [])):
        assert runtimes.names(answers.node(info, version, (), frozenset()).capabilities) == names
    offered = answers.offered_runtimes(info, docker)
    assert attached.with_runtime(Attachment(), "runsc", offered).runtime == "runsc"
    for described, resolver in (
        ({"path": "/usr/local/bin/runsc"}, ["/etc/resolv.conf"]),
        ({"runtimeType": "io.containerd.runsc.v1"}, ["/etc/resolv.conf"]),
        ({"path": "/usr/bin/kata-runtime"}, []),
    ):
        made = attached.with_runtime(Attachment(), "other", {"other": described})
        assert [path.source for path in made.paths] == resolver
    with pytest.raises(EngineError, match="does not have the runtime runsc; it has none"):
        attached.with_runtime(Attachment(), "runsc", answers.offered_runtimes(info, podman))


@pytest.mark.parametrize(
    ("product", "version", "directories", "has_cdi"),
    [
        ("Engine", "27.5.1", None, False),
        ("Engine", "28.0.0", ["/etc/cdi", "/var/run/cdi"], True),
        ("Podman Engine", "5.3.2", None, False),
        ("Podman Engine", "5.4.0", None, True),
        ("Podman Engine", "6.0.0-dev", None, True),
        ("Podman Engine", "", None, False),
    ],
)
def test_which_daemons_inject_devices_by_cdi(
    product: str, version: str, directories: list[str] | None, *, has_cdi: bool
) -> None:
    answer = {"Version": version, "Components": [{"Name": product}]}
    assert answers.has_cdi({"CDISpecDirs": directories}, answer) == has_cdi


def test_root_inside_needs_no_password() -> None:
    with tarfile.open(
        fileobj=io.BytesIO(
            home_archive(b"root:x:0:0::/root:/bin/sh\nwork:x:1000:1000::/h:/bin/sh\n", b"", root=True)
        )
    ) as tar:
        files = {one.name: tar.extractfile(one) for one in tar if one.isfile()}
        texts = {name: content.read().decode() for name, content in files.items() if content}
        assert tar.getmember("etc/sudoers.d/carrel").mode == 0o440
    assert texts["etc/passwd"].splitlines()[0] == "root::0:0::/root:/bin/sh"
    assert texts["etc/passwd"].count("work:") == 1
    assert texts["etc/sudoers.d/carrel"] == "#1000 ALL=(ALL:ALL) NOPASSWD: ALL\n"


def test_nothing_privileged_is_asked_for() -> None:
    body = made(spec_of())
    host = body["HostConfig"]
    assert host["CapDrop"] == ["ALL"]
    assert host["SecurityOpt"] == ["no-new-privileges:true"]
    assert body["User"] == "1000:1000"
    shared = {
        "CapAdd",
        "Privileged",
        "PidMode",
        "IpcMode",
        "UTSMode",
        "Binds",
        "Mounts",
        "Devices",
        "PortBindings",
    }
    assert not shared & host.keys()


def test_a_command_replaces_the_entry_point_and_gets_an_init() -> None:
    assert made(spec_of())["Entrypoint"] == list(IDLE)
    assert "Init" not in made(spec_of(), with_init=True)["HostConfig"]
    batch = made(spec_of("python", "train.py"), with_init=True)
    assert batch["Entrypoint"] == ["python", "train.py"]
    assert batch["Cmd"] == []
    assert batch["HostConfig"]["Init"] is True


def test_a_session_may_change_its_environment() -> None:
    spec = ContainerSpec("abc", "image:1", {}, env={"HOME": "/elsewhere", "A": "b=c"})
    env = made(spec)["Env"]
    assert "HOME=/elsewhere" in env
    assert "A=b=c" in env
    assert sum(line.startswith("HOME=") for line in env) == 1


@pytest.mark.parametrize("name", ["", "Big", "a b", "x" * 40, "-a"])
def test_an_installation_needs_a_plain_name(name: str) -> None:
    with pytest.raises(ValueError, match="cannot name an installation"):
        DockerEngine("unix:///nowhere", name)


def test_bridges_of_an_installation_share_a_beginning_that_fits_the_kernel() -> None:
    assert own_bridge(NAMES, "abc").startswith(NAMES.bridge)
    assert len(own_bridge(NAMES, "abc")) == 15
    assert Names("other").bridge != NAMES.bridge
    assert f"-i {NAMES.bridge}+" in insert_script(NAMES.bridge)


def test_every_rule_that_is_inserted_is_deleted() -> None:
    def rules(script: str, option: str) -> set[str]:
        return set(re.findall(rf"{option} (.+? -j DROP)", script))

    inserted = rules(insert_script(NAMES.bridge), "-I")
    assert len(inserted) == 6
    assert inserted == rules(delete_script(NAMES.bridge), "-D")


def names_in(archive: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {
            one.name: (tar.extractfile(one) or io.BytesIO()).read() if one.isreg() else b"" for one in tar
        }


def test_an_image_without_the_user_gets_a_home_and_a_name() -> None:
    names = names_in(home_archive(b"root:x:0:0::/root:/bin/sh", b""))
    assert names.keys() == {"home/work", "etc/passwd", "etc/group"}
    assert names["etc/passwd"].splitlines() == [
        b"root:x:0:0::/root:/bin/sh",
        b"work:x:1000:1000:work:/home/work:/bin/sh",
    ]


def test_names_of_an_image_are_left_alone() -> None:
    assert names_in(home_archive(b"node:x:1000:1000::/home/node:/bin/sh\n", b"node:x:1000:\n")).keys() == {
        "home/work"
    }
    assert names_in(home_archive(None, None)).keys() == {"home/work"}


def test_subnets_avoid_what_is_taken_and_run_out_with_a_sentence() -> None:
    first = free_subnet(RANGE, 20, [], "a")
    second = free_subnet(RANGE, 20, [first], "a")
    assert not first.overlaps(second)
    taken = [IPv4Network("10.213.0.0/17"), IPv4Network("10.213.128.0/18"), IPv4Network("172.17.0.0/16")]
    assert free_subnet(RANGE, 18, taken, "a") == IPv4Network("10.213.192.0/18")
    with pytest.raises(EngineError, match="has no free addresses"):
        free_subnet(RANGE, 20, [IPv4Network("10.0.0.0/8")], "a")


def test_routes_are_read_from_the_kernels_table(tmp_path: Path) -> None:
    table = tmp_path / "route"
    table.write_text(
        "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
        "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
        "eth1\t0000D50A\t00000000\t0001\t0\t0\t0\t00F0FFFF\t0\t0\t0\n"
    )
    assert routed_here(table) == [IPv4Network("10.213.0.0/20")]
    assert routed_here(tmp_path / "none") == []


def test_progress_never_goes_back_and_ends_at_one() -> None:
    layers, seen = Layers(), []
    for line in (
        {"status": "Pulling from library/x", "id": "1"},
        {"status": "Pulling fs layer", "id": "a"},
        {"status": "Downloading", "id": "a", "progressDetail": {"current": 50, "total": 100}},
        {"status": "Pulling fs layer", "id": "b"},
        {"status": "Already exists", "id": "c"},
        {"status": "Extracting", "id": "a", "progressDetail": {"current": 50, "total": 100}},
        {"status": "Downloading", "id": "b", "progressDetail": {}},
        {"status": "Pull complete", "id": "a"},
        {"status": "Download complete", "id": "b"},
        {"status": "Pull complete", "id": "b"},
        {"status": "Digest: sha256:1"},
    ):
        layers.note(line)
        seen.append(layers.fraction)
    assert seen == sorted(seen)
    assert 0.3 < seen[2] < 0.4
    assert seen[-1] == 1.0


@pytest.mark.parametrize(
    ("image", "text", "kind", "words"),
    [
        (
            "python:9",
            "manifest for python:9 not found: manifest unknown",
            ImageUnusable,
            "no image named python:9",
        ),
        ("hub.example.org/x:1", "manifest unknown: manifest unknown", ImageUnusable, "hub.example.org"),
        (
            "nobody/x",
            "pull access denied for nobody/x, repository does not exist",
            ImageUnusable,
            "does not let",
        ),
        ("A:B:c", "invalid reference format", ImageUnusable, "not a valid image name"),
        ("x", "no matching manifest for linux/amd64 in the manifest list", ImageUnusable, "architecture"),
        ("x", "dial tcp: lookup registry-1.docker.io: no such host", EngineError, "No registry answered"),
        ("x", "toomanyrequests: You have reached your pull rate limit", EngineError, "rate limit"),
        ("x", "write /var/lib: no space left on device", EngineError, "disk is full"),
        ("x", "something new", EngineError, "something new"),
    ],
)
def test_refused_pulls_are_sentences(image: str, text: str, kind: type[EngineError], words: str) -> None:
    error = pull_error(image, text)
    assert type(error) is kind
    assert words in error.message
    assert error.message.endswith(".")
    assert error.retriable is (kind is EngineError)


@pytest.mark.parametrize(
    ("command", "text", "kind", "words"),
    [
        ((), 'exec: "/bin/sh": stat /bin/sh: no such file or directory: unknown', ImageUnusable, "no shell"),
        (("nope",), 'exec: "nope": executable file not found in $PATH', EngineError, "'nope'"),
        ((), "exec /bin/sh: exec format error", ImageUnusable, "architecture"),
        ((), "No such container: abc", ContainerGone, "was removed"),
        ((), "mkdir /var/lib/docker/overlay2/x: no space left on device", EngineError, "disk is full"),
        ((), "task eb8f350a46: already exists", EngineError, "lost track of"),
        (
            (),
            "setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=1",
            EngineError,
            "accelerators nvidia.com/gpu=1",
        ),
        ((), "something new", EngineError, "something new"),
    ],
)
def test_refused_starts_are_sentences(
    command: tuple[str, ...], text: str, kind: type[EngineError], words: str
) -> None:
    status = 404 if "No such" in text else 400
    error = answers.start_error(spec_of(*command), aiodocker.DockerError(status, text))
    assert type(error) is kind
    assert words in error.message
    assert error.message.endswith(".")


def test_a_command_that_must_not_run_twice_is_known_to_have_begun_where_its_processes_are_left() -> None:
    once = replace(spec_of("true"), once=True)
    error = answers.start_error(once, aiodocker.DockerError(400, "task eb8f350a46: already exists"))
    assert type(error) is CommandBegun
    assert not error.retriable


def inspected(status: str, **state: object) -> dict[str, Any]:
    return {
        "State": {"Status": status, "ExitCode": 0, "OOMKilled": False, "StartedAt": "0001-01-01T00:00:00Z"}
        | state,
        "Config": {"Labels": {"carrel.id": "abc", "carrel.epoch": "4"}},
        "NetworkSettings": {"Networks": {"n": {"IPAddress": "10.213.0.2"}}},
    }


def test_an_exit_code_is_told_only_of_what_has_exited() -> None:
    created = answers.observed(inspected("created", ExitCode=127))
    assert (created.state, created.exit_code, created.address) == (ObservedState.STARTING, None, None)
    ended = answers.observed(inspected("exited", ExitCode=3, OOMKilled=True))
    assert (ended.state, ended.exit_code, ended.address) == (ObservedState.EXITED, 3, None)
    assert ended.out_of_memory
    assert ended.epoch == 4


@pytest.mark.parametrize("started", ["2026-11-21T11:15:18.883270123Z", "2026-11-21T11:15:18.88327Z"])
def test_times_of_the_daemon_are_read(started: str) -> None:
    seen = answers.observed(inspected("running", StartedAt=started))
    assert seen.started_at is not None
    assert seen.started_at.isoformat() == "2026-11-21T11:15:18.883270+00:00"
    assert seen.address == "10.213.0.2"


@pytest.mark.parametrize(
    ("memory", "in_use"),
    [
        ({"usage": 100, "stats": {"total_inactive_file": 30, "inactive_file": 1}}, 70),
        ({"usage": 100, "stats": {"inactive_file": 40}}, 60),
        ({"usage": 100}, 100),
        ({"usage": 10, "stats": {"inactive_file": 40}}, 0),
    ],
)
def test_memory_in_use_leaves_the_page_cache_out(memory: dict[str, Any], in_use: int) -> None:
    reading = answers.usage("abc", {"memory_stats": memory, "cpu_stats": {"cpu_usage": {"total_usage": 5}}})
    assert reading is not None
    assert (reading.cpu_ns, reading.mem_bytes) == (5, in_use)


CGROUP_V2 = [
    {"major": 8, "minor": 0, "op": "read", "value": 10},
    {"major": 8, "minor": 0, "op": "write", "value": 3},
    {"major": 8, "minor": 16, "op": "read", "value": 5},
]
CGROUP_V1 = [
    {"major": 8, "minor": 0, "op": "Read", "value": 15},
    {"major": 8, "minor": 0, "op": "Write", "value": 3},
    {"major": 8, "minor": 0, "op": "Total", "value": 18},
]


@pytest.mark.parametrize(
    ("devices", "read", "written"), [(CGROUP_V2, 15, 3), (CGROUP_V1, 15, 3), (None, None, None)]
)
@pytest.mark.parametrize(
    ("networks", "rx", "tx"),
    [
        ({"eth0": {"rx_bytes": 1, "tx_bytes": 2}, "eth1": {"rx_bytes": 10, "tx_bytes": 20}}, 11, 22),
        (None, None, None),
    ],
)
def test_transfers_are_sums_over_devices_and_networks_and_nothing_where_nobody_counts(
    devices: Any, read: int | None, written: int | None, networks: Any, rx: int | None, tx: int | None
) -> None:
    stats = {
        "memory_stats": {"usage": 1},
        "cpu_stats": {"cpu_usage": {"total_usage": 5}},
        "blkio_stats": {"io_service_bytes_recursive": devices},
        **({"networks": networks} if networks else {}),
    }
    reading = answers.usage("abc", stats)
    assert reading is not None
    assert (reading.read_bytes, reading.write_bytes) == (read, written)
    assert (reading.rx_bytes, reading.tx_bytes, reading.disk_bytes) == (rx, tx, None)


def test_a_container_that_stopped_meanwhile_has_no_reading() -> None:
    assert answers.usage("abc", {"memory_stats": {}}) is None
    assert answers.usage("abc", None) is None


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (
            'OCI runtime exec failed: exec failed: exec: "x": executable file not found in $PATH: unknown\r\n',
            127,
        ),
        (
            'OCI runtime exec failed: exec failed: exec: "/x": stat /x: no such file or directory: unknown',
            127,
        ),
        (
            "crun: executable file `x` not found in $PATH: No such file or directory: OCI runtime attempted",
            127,
        ),
        (
            'Error: runc: exec failed: exec: "x": executable file not found in $PATH: OCI runtime attempted to '
            "invoke a command that was not found\nError: read unixpacket: connection reset by peer\n",
            127,
        ),
        ('OCI runtime exec failed: exec failed: exec: "/x": permission denied: unknown\r\n', 126),
        (
            'OCI runtime exec failed: chdir to cwd ("/home/work") failed: no such file or directory: unknown',
            126,
        ),
    ],
)
def test_a_runtimes_words_about_a_command_are_a_sentence_and_a_code(message: str, code: int) -> None:
    refused = answers.unstarted("x", message, with_terminal=False)
    assert refused is not None
    assert refused.code == code
    assert refused.sentence.endswith(".")
    assert "OCI" not in refused.sentence.partition(": ")[0]


def test_what_a_command_says_itself_is_not_taken_for_a_runtimes_words() -> None:
    message = 'sh: 1: exec: "x": executable file not found'
    assert answers.unstarted("x", message, with_terminal=False) is None


class _Stream:
    """The events of a daemon that then goes away."""

    def __init__(self, *events: dict[str, Any]) -> None:
        self._events = events

    @asynccontextmanager
    async def stream(self, *_: Any, **__: Any) -> AsyncIterator[AsyncIterator[bytes]]:
        async def lines() -> AsyncIterator[bytes]:
            for event in self._events:
                yield json.dumps(event).encode()

        yield lines()


async def test_an_end_without_an_exit_code_does_not_end_the_stream_of_events() -> None:
    actor = {"ID": "d", "Attributes": {LABEL_ID: "desk"}}
    stream = _Stream(
        *({"Action": action, "Actor": actor, "timeNano": 1} for action in ("start", "die", "destroy"))
    )
    assert [one async for one in DaemonEvents(stream, NAMES).watch()] == ["desk"] * 3  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "text", "is_taken"),
    [
        (409, "Conflict. The container name is already in use by container abc.", True),
        (500, 'container create: the container name "x" is already in use by abc', True),
        (500, "no space left on device", False),
    ],
)
def test_a_taken_name_is_known_whatever_the_status(status: int, text: str, *, is_taken: bool) -> None:
    assert answers.is_taken(aiodocker.DockerError(status, text)) == is_taken
