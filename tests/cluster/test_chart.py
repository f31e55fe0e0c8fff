"""The Helm chart: every object that it makes is such as the API server takes, for every set of values."""

from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from chart import CHART, NAMESPACE, definitions, make_namespace, path_of, rendered, run, template
from go_programs import source
from kubernetes_programs import version
from own_cluster import Cluster
from people import wait_until

VALUES = sorted((CHART / "ci").glob("*-values.yaml"))
_GATEWAY_API = ("sigs.k8s.io/gateway-api", "1.5.1", "config/crd/standard/*httproutes.yaml")
_PROMETHEUS = (
    "github.com/prometheus-operator/prometheus-operator",
    "0.92.1",
    "example/prometheus-operator-crd/*servicemonitors.yaml",
)


@pytest.fixture(scope="module")
def receptive(cluster: Cluster) -> Iterator[Cluster]:
    """A cluster that has the namespaces, and the custom resources that the chart may make."""
    levels = {NAMESPACE: "restricted", f"{NAMESPACE}-sessions": "privileged", "desks": "privileged"}
    for name, level in levels.items():
        make_namespace(cluster, name, level)
    for module, number, pattern in (_GATEWAY_API, _PROMETHEUS):
        made = list(definitions(source(module, number), pattern))
        assert made
        for one in made:
            cluster.call("POST", path_of(one), one)
            wait_until(lambda one=one: _is_served(cluster, one))  # type: ignore[misc]
    yield cluster
    # An installed chart makes them itself.
    for name in levels:
        cluster.call("DELETE", f"/api/v1/namespaces/{name}")
    wait_until(lambda: not any(cluster.call("GET", f"/api/v1/namespaces/{name}") for name in levels))


def _is_served(cluster: Cluster, definition: dict[str, Any]) -> bool:
    spec = definition["spec"]
    served = [one["name"] for one in spec["versions"] if one["storage"]]
    return cluster.call("GET", f"/apis/{spec['group']}/{served[0]}/{spec['names']['plural']}") is not None


def _check(cluster: Cluster, manifest: dict[str, Any]) -> None:
    """Have the API server check it as if it were to be stored. Raises: RuntimeError with its complaint."""
    assert cluster.call("POST", f"{path_of(manifest)}?dryRun=All&fieldValidation=Strict", manifest)


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_the_chart_has_no_fault(values: Path) -> None:
    done = run("lint", "--strict", ".", "--kube-version", version(), "--values", str(values))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_the_api_server_accepts_every_object(values: Path, receptive: Cluster) -> None:
    for manifest in rendered("--values", str(values)):
        if manifest["kind"] != "Namespace":
            _check(receptive, manifest)


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_pods_fit_the_restricted_security_level(values: Path, receptive: Cluster) -> None:
    workloads = [one for one in rendered("--values", str(values)) if "template" in one.get("spec", {})]
    assert len(workloads) >= 3
    for workload in workloads:
        pod = {"apiVersion": "v1", "kind": "Pod", **workload["spec"]["template"]}
        pod["metadata"] = {**pod["metadata"], "name": "checked"}
        pod["spec"].pop("serviceAccountName", None)
        pod["spec"]["volumes"] += [
            {"name": one["metadata"]["name"], "emptyDir": {}}
            for one in workload["spec"].get("volumeClaimTemplates", ())
        ]
        _check(receptive, pod)
        loose = {**pod, "spec": {**pod["spec"], "hostNetwork": True}}
        with pytest.raises(RuntimeError, match="violates PodSecurity"):
            _check(receptive, loose)


@pytest.mark.parametrize(
    ("option", "complaint"),
    [
        ("publicUrl=carrel.example.org", "publicUrl"),
        ("api.replicas=0", "replicas"),
        ("api.replica=3", "replica"),
        ("gatewayApi.enabled=true", "parentRefs"),
        ("settings.PATH=/bin", "PATH"),
        ("data.accessModes={ReadOnlyMany}", "accessModes"),
        ("data.volume.capacity=1Gi", "capacity"),
        ("data.volume.nfs.path=/x,data.storageClass=fast", "without data.existingClaim"),
        ("sessions.dataClaim=No", "dataClaim"),
        ("api.ssh.enabled=true", "/api"),
        ("gateway.ssh.address=ssh://carrel.example.org", "address"),
        ("gateway.ssh.enabled=true,gateway.ssh.type=NodePort", "gateway.ssh.nodePort"),
        (
            "gateway.ssh.enabled=true,networkPolicy.enabled=true",
            "networkPolicy.podNetworks or gateway.ssh.from",
        ),
    ],
)
def test_values_that_do_not_fit_are_rejected(option: str, complaint: str) -> None:
    bare = ("--values", "ci/bare-values.yaml")
    assert template(*bare).returncode == 0
    done = template(*bare, "--set", option)
    assert done.returncode != 0
    assert complaint in done.stderr


def test_required_values_are_named() -> None:
    done = template("--set", "publicUrl=https://a.example,appsUrl=https://b.example")
    assert done.returncode != 0
    assert "database.url" in done.stderr


def test_the_schema_knows_every_value_of_the_chart() -> None:
    """Values that it does not know are rejected, so the defaults alone show that none is missing."""
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert {role: len(values[role]) for role in ("api", "gateway", "controllers")}
    done = template("--values", "values.yaml", "--values", "ci/bare-values.yaml")
    assert done.returncode == 0, done.stderr


def test_sessions_reach_the_control_plane_by_no_policy() -> None:
    policies = [one for one in rendered("--values", "ci/own-values.yaml") if one["kind"] == "NetworkPolicy"]
    served = [one for one in policies if one["metadata"]["name"] in ("carrel-api", "carrel-gateway")]
    assert len(served) == 2
    for policy in served:
        for rule in policy["spec"]["ingress"]:
            pods, outside = rule["from"]
            [expression] = pods["namespaceSelector"]["matchExpressions"]
            assert expression == {
                "key": "kubernetes.io/metadata.name",
                "operator": "NotIn",
                "values": ["desks"],
            }
            assert outside["ipBlock"]["except"] == ["10.42.0.0/16"]


@pytest.mark.parametrize(
    ("values", "options", "location", "claims"),
    [
        ("bare", "", "nowhere", [("PersistentVolumeClaim", NAMESPACE)]),
        ("own", "", "volume://carrel-folders/folders", []),
        (
            *("bare", f"sessions.namespace={NAMESPACE}"),
            *("volume://carrel-data/folders", [("PersistentVolumeClaim", NAMESPACE)]),
        ),
        (
            *("nfs", "", "volume://carrel-data/folders"),
            [
                (kind, namespace)
                for namespace in (NAMESPACE, f"{NAMESPACE}-sessions")
                for kind in ("PersistentVolume", "PersistentVolumeClaim")
            ],
        ),
    ],
)
def test_sessions_have_folders_where_there_is_a_claim_in_their_namespace(
    values: str, options: str, location: str, claims: list[tuple[str, str]]
) -> None:
    made = rendered("--values", f"ci/{values}-values.yaml", "--set", options)
    [api] = [one for one in made if one["metadata"]["name"] == "carrel-api" and one["kind"] == "Deployment"]
    [migrate] = api["spec"]["template"]["spec"]["initContainers"]
    assert {"name": "CARREL_FOLDERS_LOCATION", "value": location} in migrate["env"]
    volumes = [one for one in made if one["kind"].startswith("PersistentVolume")]
    places = [(one["metadata"].get("namespace") or one["spec"]["claimRef"]["namespace"]) for one in volumes]
    assert sorted(zip((one["kind"] for one in volumes), places, strict=True)) == sorted(claims)
    names = {one["metadata"]["name"] for one in volumes if one["kind"] == "PersistentVolume"}
    assert names == {one["spec"]["volumeName"] for one in volumes if "volumeName" in one["spec"]}


def test_only_roles_that_use_the_engine_have_its_rights() -> None:
    pods = {
        one["metadata"]["name"]: one["spec"]["template"]["spec"]
        for one in rendered("--values", "ci/bare-values.yaml")
        if one["kind"] == "Deployment"
    }
    tokens = {name: pod["automountServiceAccountToken"] for name, pod in pods.items()}
    assert tokens == {"carrel-api": True, "carrel-controllers": True, "carrel-gateway": False}


def _named(made: list[Any], kind: str, name: str) -> Any:
    [one] = [one for one in made if one["kind"] == kind and one["metadata"]["name"] == name]
    return one


@pytest.mark.parametrize(
    ("options", "address", "service"),
    [
        (
            "type=LoadBalancer,nodePort=30022,annotations.lb=tcp,loadBalancerSourceRanges={192.0.2.0/24}",
            "carrel.example.org:22",
            {
                "type": "LoadBalancer",
                "externalTrafficPolicy": "Local",
                "loadBalancerSourceRanges": ["192.0.2.0/24"],
                "ports": [{"name": "ssh", "port": 22, "targetPort": "ssh", "nodePort": 30022}],
            },
        ),
        (
            "type=NodePort,nodePort=30022,externalTrafficPolicy=Cluster",
            "carrel.example.org:30022",
            {
                "type": "NodePort",
                "externalTrafficPolicy": "Cluster",
                "ports": [{"name": "ssh", "port": 22, "targetPort": "ssh", "nodePort": 30022}],
            },
        ),
        (
            "type=ClusterIP,port=2222,address=ssh.example.org:22",
            "ssh.example.org:22",
            {"type": "ClusterIP", "ports": [{"name": "ssh", "port": 2222, "targetPort": "ssh"}]},
        ),
    ],
)
def test_ssh_has_a_service_and_where_people_reach_it(
    options: str, address: str, service: dict[str, Any]
) -> None:
    chosen = ",".join(f"gateway.ssh.{one}" for one in ("enabled=true", *options.split(",")))
    made = rendered("--values", "ci/bare-values.yaml", "--set", chosen)
    spec = _named(made, "Service", "carrel-ssh")["spec"]
    assert spec.pop("selector")["app.kubernetes.io/component"] == "gateway"
    assert spec == service
    for role in ("api", "gateway", "controllers"):
        pod = _named(made, "Deployment", f"carrel-{role}")["spec"]["template"]["spec"]
        [container] = pod["containers"]
        assert {"name": "CARREL_SSH_PORT", "value": "8703"} in container["env"]
        assert {"name": "CARREL_SSH_ADDRESS", "value": address} in container["env"]
        ports = {one["name"]: one["containerPort"] for one in container["ports"]}
        assert ports.get("ssh") == (8703 if role == "gateway" else None)
        # Shells are started by the engine, for which the gateway needs its rights.
        assert pod["automountServiceAccountToken"]


def test_ssh_is_off_by_default() -> None:
    made = rendered("--values", "ci/bare-values.yaml")
    assert not [one for one in made if one["metadata"]["name"] == "carrel-ssh"]
    [container] = _named(made, "Deployment", "carrel-gateway")["spec"]["template"]["spec"]["containers"]
    assert {"name": "CARREL_SSH_PORT", "value": "-1"} in container["env"]
    assert [one["name"] for one in container["ports"]] == ["http"]


def test_only_the_chosen_sources_reach_ssh() -> None:
    block = "gateway.ssh.from[0].ipBlock.cidr=198.51.100.0/24"
    made = rendered("--values", "ci/own-values.yaml", "--set", block)
    page, ssh = _named(made, "NetworkPolicy", "carrel-gateway")["spec"]["ingress"]
    assert ssh == {"ports": [{"port": "ssh"}], "from": [{"ipBlock": {"cidr": "198.51.100.0/24"}}]}
    assert page["ports"] == [{"port": "http"}]
    [api] = _named(made, "NetworkPolicy", "carrel-api")["spec"]["ingress"]
    assert api["ports"] == [{"port": "http"}]


def test_the_service_account_has_the_rights_of_the_engine_and_no_others() -> None:
    engine = _rules(yaml.safe_load_all((files("carrel.engines.kubernetes") / "rights.yaml").read_text()))
    needed = {
        ("Role", "carrel"): engine["Role", "carrel"],
        ("ClusterRole", f"{NAMESPACE}-carrel"): engine["ClusterRole", "carrel"],
    }
    usage = {("ClusterRole", f"{NAMESPACE}-carrel-usage"): engine["ClusterRole", "carrel-usage"]}
    assert _rules(rendered("--values", "ci/bare-values.yaml")) == {**needed, **usage}
    assert _rules(rendered("--values", "ci/own-values.yaml")) == needed


def _rules(manifests: Iterable[Any]) -> dict[tuple[str, str], Any]:
    """By kind and name of the role."""
    return {
        (one["kind"], one["metadata"]["name"]): one["rules"]
        for one in manifests
        if "Role" in one["kind"] and "rules" in one
    }
