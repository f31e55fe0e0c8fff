"""Conversions between the port and Kubernetes, without a cluster."""

import json
from base64 import b64decode, b64encode
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from carrel.engines.kubernetes.isolation import PRIVATE, Reachability, policy, refused_networks
from carrel.engines.kubernetes.pod_answers import (
    has_user_namespaces,
    nodes,
    not_placed,
    observed,
    remapped_everywhere,
    reservation,
    start_error,
)
from carrel.engines.kubernetes.pod_logs import _Lines
from carrel.engines.kubernetes.pods import (
    DEFAULT_SANDBOX,
    PodNames,
    Sandbox,
    literal,
    manifest,
    node_of,
    require_supported,
    secrets_of,
)
from carrel.engines.kubernetes.quantities import quantity
from carrel.engines.kubernetes.runtime_classes import kept, without_overhead
from carrel.engines.kubernetes.settings import KubernetesSettings
from carrel.engines.port import (
    IDLE,
    ContainerSpec,
    EngineError,
    InitialFile,
    LabelRequirement,
    LogRecord,
    Mount,
    ObservedState,
    PrivateNetwork,
    PullCredentials,
)

_NAMES = PodNames("lab", "carrel")


def spec(**more: Any) -> ContainerSpec:
    return ContainerSpec("abc", "python:3.12", {"cpu": 500, "mem": 64 << 20}, **more)


def pod_of(spec: ContainerSpec, sandbox: Sandbox = DEFAULT_SANDBOX) -> Any:
    return manifest(spec, _NAMES, sandbox, "its-secret")["spec"]


def test_a_pod_is_bound_to_the_node_that_was_chosen_and_may_not_start() -> None:
    pod = pod_of(spec(node="node-b"))
    required = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    [term] = required["nodeSelectorTerms"]
    assert term == {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-b"]}]}
    assert pod["schedulingGates"]
    assert "affinity" not in pod_of(spec())


def test_a_pod_of_an_elastic_group_is_left_to_the_cluster_on_nodes_with_its_labels() -> None:
    requirements = (
        LabelRequirement("pool", frozenset({"b", "a"})),
        LabelRequirement("zone", frozenset({"eu-2"}), negated=True),
        LabelRequirement("ssd"),
        LabelRequirement("spot", negated=True),
    )
    affinity = pod_of(spec(elastic=requirements))["affinity"]
    [term] = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term == {
        "matchExpressions": [
            {"key": "pool", "operator": "In", "values": ["a", "b"]},
            {"key": "zone", "operator": "NotIn", "values": ["eu-2"]},
            {"key": "ssd", "operator": "Exists"},
            {"key": "spot", "operator": "DoesNotExist"},
        ]
    }
    assert "podAffinity" not in affinity
    network = PrivateNetwork("net", "main1", ("main1", "worker1"))
    together = pod_of(spec(elastic=requirements, together=True, network=network))["affinity"]["podAffinity"]
    [same] = together["requiredDuringSchedulingIgnoredDuringExecution"]
    assert same["topologyKey"] == "kubernetes.io/hostname"
    assert same["labelSelector"] == {"matchLabels": {"carrel.network": "net"}}
    assert node_of(manifest(spec(elastic=requirements), _NAMES, DEFAULT_SANDBOX, "secret")) == ""


def test_a_pod_of_an_elastic_group_avoids_cordoned_nodes() -> None:
    avoiding = spec(elastic=(LabelRequirement("ssd"),), avoided=frozenset({"node-b", "node-a"}))
    required = pod_of(avoiding)["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert required["nodeSelectorTerms"] == [
        {
            "matchExpressions": [{"key": "ssd", "operator": "Exists"}],
            "matchFields": [
                {"key": "metadata.name", "operator": "NotIn", "values": ["node-a"]},
                {"key": "metadata.name", "operator": "NotIn", "values": ["node-b"]},
            ],
        }
    ]
    pod: Any = manifest(avoiding, _NAMES, DEFAULT_SANDBOX, "secret")
    assert node_of(pod) == ""
    pod["spec"]["nodeName"] = "node-c"
    assert node_of(pod) == "node-c"


def test_an_autoscaler_that_adds_no_machine_says_why_the_cluster_has_no_node() -> None:
    conditions = [{"type": "PodScheduled", "reason": "Unschedulable", "message": "0/2 nodes are available."}]
    pod = {"status": {"conditions": conditions}}
    assert not_placed(pod) == "0/2 nodes are available"
    refused = {"reason": "NotTriggerScaleUp", "message": "max node group size reached"}
    scaled = {"reason": "TriggeredScaleUp", "message": "pod triggered scale-up"}
    assert not_placed(pod, [scaled]) == "0/2 nodes are available"
    assert not_placed(pod, [scaled, refused]) == "max node group size reached"
    assert not_placed({"status": {}}, [refused]) == ""


def test_the_node_of_a_pod_is_the_chosen_one_until_it_has_one() -> None:
    pod: Any = manifest(spec(node="node-b"), _NAMES, DEFAULT_SANDBOX, "its-secret")
    assert node_of(pod) == "node-b"
    pod["spec"]["nodeName"] = "node-c"
    assert node_of(pod) == "node-c"
    assert node_of(manifest(spec(), _NAMES, DEFAULT_SANDBOX, "its-secret")) == ""


def test_the_rights_in_the_documents_are_those_of_the_package() -> None:
    rights = (files("carrel.engines.kubernetes") / "rights.yaml").read_text()
    assert f"```yaml\n{rights}```" in (Path(__file__).parents[3] / "docs/reference/engine.md").read_text()


def test_both_containers_are_restricted_and_limited() -> None:
    pod = pod_of(spec())
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not pod["automountServiceAccountToken"]
    for container in (*pod["initContainers"], *pod["containers"]):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["limits"] == {"cpu": "500m", "memory": "67108864"}
        assert container["resources"]["requests"] == container["resources"]["limits"]


def test_commands_and_variables_are_taken_literally() -> None:
    assert literal("$(HOME) $$ $x") == "$$(HOME) $$$$ $$x"
    [main] = pod_of(spec())["containers"]
    assert main["command"] == [word.replace("$", "$$") for word in IDLE]


def test_variables_of_people_are_in_no_manifest_but_in_a_secret() -> None:
    session = spec(env={"TOKEN": "s3cret $(HOME)", "HOME": "/srv", "NVIDIA_VISIBLE_DEVICES": "all"})
    pod: Any = manifest(session, _NAMES, DEFAULT_SANDBOX, "its-secret")
    assert "s3cret" not in json.dumps(pod)
    [main] = pod["spec"]["containers"]
    token, home = ({"secretKeyRef": {"name": "its-secret", "key": f"env.{one}"}} for one in ("TOKEN", "HOME"))
    variables = {one["name"]: one["value"] if "value" in one else one["valueFrom"] for one in main["env"]}
    assert variables == {
        "USER": "work",
        "LOGNAME": "work",
        "TOKEN": token,
        "HOME": home,
        "NVIDIA_VISIBLE_DEVICES": "void",
        "AMD_VISIBLE_DEVICES": "none",
        "XILINX_VISIBLE_DEVICES": "",
        "XILINX_VISIBLE_CARDS": "",
    }
    pod["metadata"]["uid"] = "u"
    [secret] = secrets_of(session, _NAMES, pod)
    assert secret["metadata"]["name"] == "its-secret"
    assert b64decode(secret["data"]["env.TOKEN"]) == b"s3cret $(HOME)"
    assert list(secrets_of(spec(), _NAMES, pod)) == []


def test_credentials_for_the_image_are_in_a_secret_of_their_own() -> None:
    hub = PullCredentials("docker.io", "robot", "s3cret")
    pod: Any = manifest(spec(pull=hub), _NAMES, DEFAULT_SANDBOX, "its-secret")
    assert "s3cret" not in json.dumps(pod)
    assert pod["spec"]["imagePullSecrets"] == [{"name": "its-secret-pull"}]
    pod["metadata"]["uid"] = "u"
    [secret] = secrets_of(spec(pull=hub), _NAMES, pod)
    assert (secret["type"], secret["metadata"]["name"]) == (
        "kubernetes.io/dockerconfigjson",
        "its-secret-pull",
    )
    known = json.loads(b64decode(secret["data"][".dockerconfigjson"]))["auths"]
    assert known == {"https://index.docker.io/v1/": {"auth": b64encode(b"robot:s3cret").decode()}}


@pytest.mark.parametrize(("always", "policy"), [(False, "IfNotPresent"), (True, "Always")])
def test_an_image_that_others_have_pulled_is_asked_for_at_the_registry(always: bool, policy: str) -> None:
    pod = pod_of(spec(pull_always=always))
    assert {one["imagePullPolicy"] for one in pod["containers"] + pod["initContainers"]} == {policy}


def test_private_files_are_in_a_volume_and_public_ones_in_the_secret() -> None:
    files = (
        InitialFile("/etc/carrel/key", b"1", private=True),
        InitialFile("/etc/carrel/hosts", b"2"),
        InitialFile("/home/work/.ssh/id", b"3", private=True),
    )
    [main] = pod_of(spec(files=files))["containers"]
    mounted = {one["mountPath"]: (one["name"], one.get("subPath")) for one in main["volumeMounts"]}
    assert mounted["/etc/carrel/key"] == ("session", "private/0")
    assert mounted["/etc/carrel/hosts"] == ("files", "1")
    assert "/home/work/.ssh/id" not in mounted
    metadata = {"uid": "u", "annotations": {"carrel.dev/secret": "its-secret"}}
    [secret] = secrets_of(spec(files=files), _NAMES, {"metadata": metadata})
    assert secret["data"] == {"0": "MQ==", "1": "Mg==", "2": "Mw=="}
    assert secret["metadata"]["ownerReferences"][0]["uid"] == "u"


def test_files_that_no_secret_holds_are_refused_before_there_is_a_pod() -> None:
    half = InitialFile("/etc/carrel/half", bytes(1 << 19))
    require_supported(spec(files=(half, half)))
    with pytest.raises(EngineError, match=r"have 1\.5 MiB; .* 1 MiB") as refused:
        require_supported(spec(files=(half, half, half)))
    assert not refused.value.retriable


def test_a_part_of_a_directory_is_a_link_in_the_home() -> None:
    mounts = (
        Mount("/data", "/home/work/data"),
        Mount("/data", "/home/work/deep/er", "a b"),
        Mount("/data", "/srv/part", "part", read_only=True),
    )
    pod = pod_of(spec(mounts=mounts))
    [main] = pod["containers"]
    mounted = {one["name"]: one for one in main["volumeMounts"]}
    assert mounted["folder-0"]["mountPath"] == "/home/work/data"
    assert mounted["folder-1"]["mountPath"] == "/run/carrel/folders/1"
    assert "subPath" not in mounted["folder-1"]
    assert mounted["folder-2"] == {
        "name": "folder-2",
        "mountPath": "/srv/part",
        "subPath": "part",
        "readOnly": True,
    }
    [script] = [one["command"][2] for one in pod["initContainers"]]
    assert "ln -s '/run/carrel/folders/1/a b' home/deep/er" in script


@pytest.mark.parametrize(
    ("text", "scale", "number"),
    [
        ("2", 1000, 2000),
        ("250m", 1000, 250),
        ("1500m", 1, 2),
        ("64Mi", 1, 64 << 20),
        ("1e3", 1, 1000),
        ("1k", 1, 1000),
    ],
)
def test_quantities(text: str, scale: int, number: int) -> None:
    assert quantity(text, scale) == number


def test_what_other_pods_reserve_is_not_offered() -> None:
    machine = {
        "metadata": {"name": "a", "labels": {}},
        "status": {
            "allocatable": {"cpu": "4", "memory": "8Gi"},
            "nodeInfo": {"architecture": "amd64", "kubeletVersion": "v1.36.3"},
        },
    }
    small, large = {"cpu": "100m", "memory": "1Gi"}, {"cpu": "1"}
    other = {
        "spec": {
            "nodeName": "a",
            "containers": [{"resources": {"requests": small}}, {"resources": {"requests": small}}],
            "initContainers": [{"resources": {"requests": large}}],
        }
    }
    elsewhere = {"spec": {"nodeName": "b", "containers": [{"resources": {"requests": large}}]}}
    [node] = nodes([machine], [reservation(other), reservation(elsewhere)])
    assert node.slots == {"cpu": 3000, "mem": 6 << 30}
    assert node.engine == "Kubernetes 1.36.3"


def pod_with(deleted: bool = False, **status: Any) -> Any:
    metadata: dict[str, Any] = {"labels": {"carrel.id": "abc", "carrel.epoch": "7"}}
    if deleted:
        metadata["deletionTimestamp"] = "2026-11-26T12:00:00Z"
    return {"metadata": metadata, "spec": {"nodeName": "node-a"}, "status": status}


def test_a_pod_is_evicted_once_the_cluster_ends_it() -> None:
    disrupted = [{"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet"}]
    # The idle process ends without an error when it is asked to.
    ended = [{"name": "session", "state": {"terminated": {"exitCode": 0}}}]
    assert observed(pod_with(phase="Running", conditions=disrupted, containerStatuses=ended)).evicted
    assert observed(pod_with(phase="Succeeded", conditions=disrupted, containerStatuses=ended)).evicted
    assert observed(pod_with(deleted=True, phase="Running", conditions=disrupted)).evicted
    assert observed(pod_with(phase="Failed", reason="Evicted")).evicted
    # An eviction that was not carried out, our own removal, and what ended by itself.
    assert not observed(pod_with(phase="Running", conditions=disrupted)).evicted
    assert not observed(pod_with(deleted=True, phase="Running")).evicted
    assert not observed(pod_with(phase="Failed")).evicted


def test_a_pod_that_failed_before_it_began_is_an_attempt_that_failed() -> None:
    error = start_error(spec(), pod_with(phase="Failed", reason="OutOfcpu", message="Not enough cpu."))
    assert error is not None
    assert error.retriable
    assert error.message == "The cluster ended it before it began: Not enough cpu."
    assert start_error(spec(), pod_with(phase="Pending")) is None


def test_states_of_pods() -> None:
    def seen(**status: Any) -> Any:
        return observed(pod_with(**status))

    def main(**state: Any) -> Any:
        return [{"name": "session", "state": state}]

    assert seen(phase="Pending").state is ObservedState.STARTING
    running = seen(
        phase="Running",
        podIP="10.0.0.1",
        containerStatuses=main(running={"startedAt": "2026-01-02T03:04:05Z"}),
    )
    assert (running.state, running.address, running.epoch) == (ObservedState.RUNNING, "10.0.0.1", 7)
    assert running.node == "node-a"
    killed = seen(phase="Failed", containerStatuses=main(terminated={"exitCode": 137, "reason": "OOMKilled"}))
    assert (killed.state, killed.exit_code, killed.out_of_memory) == (ObservedState.EXITED, 137, True)
    evicted = seen(phase="Failed", reason="Evicted")
    assert (evicted.state, evicted.exit_code) == (ObservedState.EXITED, 137)


def test_lines_of_a_log_are_records_across_blocks() -> None:
    lines = _Lines()
    time = b"2026-01-02T03:04:05.123456789Z"
    assert lines.split(time + b" o") == []
    assert lines.split(b"ne\n2026-01-02T04:04:05.5+01:00 two\n") == [
        LogRecord(time, 1, b"one\n"),
        LogRecord(b"2026-01-02T03:04:05.500000000Z", 1, b"two\n"),
    ]
    [part] = lines.split(time + b" " + b"x" * (1 << 20))
    assert part == LogRecord(time, 1, b"x" * (1 << 20))
    assert lines.split(b"end\n") == [LogRecord(time, 1, b"end\n")]


def test_containers_of_a_private_network_search_for_names_in_it_first_without_a_dot() -> None:
    member = spec(network=PrivateNetwork("net", "sub1", ("main1", "sub1")), hostname="other")
    pod = pod_of(member)
    assert (pod["hostname"], pod["subdomain"]) == ("sub1", "carrel-lab-network-net")
    assert pod["dnsPolicy"] == "ClusterFirst"
    assert pod["dnsConfig"]["searches"] == ["carrel-lab-network-net.carrel.svc.cluster.local"]
    labels = manifest(member, _NAMES, DEFAULT_SANDBOX, "its-secret")["metadata"]["labels"]  # type: ignore[index]
    assert labels["carrel.network"] == "net"
    assert pod_of(spec(hostname="alone"))["dnsPolicy"] == "Default"


def test_addresses_of_the_cluster_are_refused_once_and_names_ignored() -> None:
    machine = {
        "spec": {"podCIDRs": ["10.1.0.0/24", "2001:db8:1::/64"]},
        "status": {
            "addresses": [
                {"type": "InternalIP", "address": "10.0.0.7"},
                {"type": "ExternalIP", "address": "203.0.113.7"},
                {"type": "Hostname", "address": "node-a"},
            ]
        },
    }
    refused = refused_networks([machine], ["api.example.org", "203.0.113.6"])
    public = {str(one) for one in refused} - {str(one) for one in PRIVATE}
    assert public == {"203.0.113.6/31", "2001:db8:1::/64"}


def test_the_policy_has_the_gateway_and_the_networks_of_the_settings() -> None:
    def spec_of(reachability: Reachability) -> Any:
        return policy(_NAMES, reachability, PRIVATE)["spec"]

    [gateway] = spec_of(Reachability())["ingress"][0]["from"]
    assert gateway["podSelector"]["matchExpressions"][0]["values"] == ["api", "gateway"]
    assert "namespaceSelector" not in gateway
    settings = KubernetesSettings(
        gateway_networks="192.0.2.1, 2001:db8::/32",
        gateway_namespace="front",
        reachable_networks="10.9.0.0/16",
    )
    chosen = spec_of(settings.reachability())
    selector, *blocks = chosen["ingress"][0]["from"]
    assert selector["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "front"}
    assert [one["ipBlock"]["cidr"] for one in blocks] == ["192.0.2.1/32", "2001:db8::/32"]
    *outside, reachable = chosen["egress"][0]["to"]
    assert reachable["ipBlock"] == {"cidr": "10.9.0.0/16"}
    for block in (one["ipBlock"] for one in outside):
        assert {":" in network for network in block["except"]} == {":" in block["cidr"]}
    with pytest.raises(ValueError, match="anywhere"):
        KubernetesSettings(gateway_networks="anywhere")


def machine_with(*handlers: str, **labels: str) -> Any:
    """A node whose runtime has these handlers, which can remap users."""
    reported = [{"name": one, "features": {"userNamespaces": True}} for one in handlers]
    status = {"runtimeHandlers": reported} if handlers else {}
    return {"metadata": {"name": "a", "labels": labels}, "status": status}


def test_users_are_remapped_where_the_runtime_of_the_class_can_do_it() -> None:
    machines = [machine_with("", "kata"), machine_with("kata"), machine_with()]
    assert [has_user_namespaces(one, "") for one in machines] == [True, False, False]
    assert [has_user_namespaces(one, "kata") for one in machines] == [True, True, False]
    assert pod_of(spec(), Sandbox("kata", user_namespaces=True))["hostUsers"] is False
    assert pod_of(spec(), Sandbox("kata"))["runtimeClassName"] == "kata"
    assert not {"hostUsers", "runtimeClassName"} & pod_of(spec()).keys()


def test_a_pod_of_an_elastic_group_has_user_namespaces_if_all_nodes_to_which_it_may_go_have_them() -> None:
    elastic = spec(elastic=(LabelRequirement("pool", frozenset({"burst"})),))
    able, unable = machine_with("", pool="burst"), machine_with("kata", pool="burst")
    system = machine_with("")
    assert remapped_everywhere(elastic, {"a": able, "b": able, "system": machine_with()}, "")
    assert not remapped_everywhere(elastic, {"a": able, "b": unable, "system": system}, "")
    # What a machine has that does not exist yet is not known.
    assert not remapped_everywhere(elastic, {"system": system}, "")
    assert remapped_everywhere(spec(node="a"), {"a": able}, "")
    assert not remapped_everywhere(spec(node="b"), {"a": able, "b": unable}, "")
    assert not remapped_everywhere(spec(node="c"), {"a": able}, "")


def runtime_class(**fields: object) -> Any:
    return kept({"metadata": {"name": "gvisor"}, "handler": "runsc", **fields})


def test_a_runtime_class_runs_where_its_labels_are_and_its_handler_unless_the_node_lists_none() -> None:
    some, all_ = runtime_class(scheduling={"nodeSelector": {"pool": "gvisor"}}), runtime_class()
    assert some.runs_on(machine_with("", "runsc", pool="gvisor", zone="a"))
    assert not some.runs_on(machine_with("", "runsc", pool="other"))
    assert not some.runs_on(machine_with("", "kata", pool="gvisor"))
    assert some.runs_on(machine_with(pool="gvisor"))
    assert all_.runs_on(machine_with())
    assert not all_.runs_on(machine_with(""))


def test_the_overhead_of_a_runtime_class_is_part_of_the_slots() -> None:
    kata = runtime_class(overhead={"podFixed": {"cpu": "250m", "memory": "160Mi"}})
    assert without_overhead({"cpu": 1000, "mem": 1 << 30}, kata) == {
        "cpu": 750,
        "mem": (1 << 30) - (160 << 20),
    }
    assert without_overhead({"cpu": 1000, "mem": 0}, runtime_class()) == {"cpu": 1000, "mem": 0}
    with pytest.raises(
        EngineError, match=r"gvisor needs 0\.25 CPUs for itself, and the container has 0\.25 CPUs"
    ):
        without_overhead({"cpu": 250, "mem": 1 << 30}, kata)
    with pytest.raises(EngineError, match="gvisor needs 160 MiB for itself, and the container has 64 MiB"):
        without_overhead({"cpu": 500, "mem": 64 << 20}, kata)
