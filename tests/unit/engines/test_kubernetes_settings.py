"""Kubeconfigs that people paste, and taints with the tolerations against them, without a cluster."""

from typing import Any

import pytest
import yaml

from carrel.engines.kubernetes import kubeconfig, taints
from carrel.engines.kubernetes.pod_answers import nodes
from carrel.engines.kubernetes.pods import DEFAULT_SANDBOX, PodNames, manifest
from carrel.engines.port import ContainerSpec, EngineUnavailable

MACHINE = {
    "metadata": {"name": "a"},
    "spec": {},
    "status": {
        "allocatable": {"cpu": "2", "memory": "4Gi"},
        "nodeInfo": {"architecture": "amd64", "kubeletVersion": "v1.36.3"},
    },
}


def config(**changes: Any) -> dict[str, Any]:
    """A usable kubeconfig with these parts replaced."""
    parts: dict[str, Any] = {
        "current-context": "lab",
        "contexts": [{"name": "lab", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://10.0.0.5:6443"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
    }
    return {**parts, **changes}


def test_a_usable_kubeconfig_is_read():
    read = kubeconfig.read(yaml.safe_dump(config()), "")
    assert (read.cluster.server, read.user.token) == ("https://10.0.0.5:6443", "t")
    assert kubeconfig.read(yaml.safe_dump(config(**{"current-context": ""})), "lab") == read


def test_a_kubeconfig_runs_only_programs_that_the_operator_allows(monkeypatch: pytest.MonkeyPatch):
    written = yaml.safe_dump(
        config(
            users=[
                {
                    "name": "u",
                    "user": {"exec": {"command": "aws", "apiVersion": "client.authentication.k8s.io/v1"}},
                }
            ]
        )
    )
    monkeypatch.delenv("CARREL_KUBECONFIG_COMMANDS", raising=False)
    with pytest.raises(EngineUnavailable, match="runs the program aws, which is not allowed"):
        kubeconfig.read(written, "")
    monkeypatch.setenv("CARREL_KUBECONFIG_COMMANDS", "gke-gcloud-auth-plugin,aws")
    assert kubeconfig.read(written, "")
    provider = {"token": "t", "auth-provider": {"name": "gcp", "config": {"cmd-path": "sh"}}}
    with pytest.raises(EngineUnavailable, match="auth-provider"):
        kubeconfig.read(yaml.safe_dump(config(users=[{"name": "u", "user": provider}])), "")


@pytest.mark.parametrize(
    ("text", "context", "sentence"),
    [
        ("a: [", "", "The kubeconfig is not valid YAML (line 1): paste the whole file."),
        ("hello", "", "This is no kubeconfig: it has no lists of clusters, users and contexts."),
        (config(users=None), "", "This is no kubeconfig: it has no lists of clusters, users and contexts."),
        (config(), "home", "The kubeconfig has no context home. Choose one of: lab."),
        (
            config(**{"current-context": None}),
            "",
            "The kubeconfig has no current context. Choose one of: lab.",
        ),
        (config(clusters=[]), "", "The kubeconfig has no cluster for the context lab."),
        (config(users=[]), "", "The kubeconfig has no user for the context lab."),
        (
            config(clusters=[{"name": "c", "cluster": {}}]),
            "",
            "The kubeconfig gives no address of the API server for the context lab.",
        ),
        (
            config(users=[{"name": "u", "user": {"client-certificate": "/home/me/me.crt"}}]),
            "",
            "The kubeconfig refers to the file /home/me/me.crt (client-certificate), which is not part of it. "
            "`kubectl config view --raw --flatten --minify` writes one with everything in it.",
        ),
        (
            config(users=[{"name": "u", "user": {}}]),
            "",
            "The kubeconfig has no credentials for the context lab.",
        ),
    ],
)
def test_what_is_wrong_with_a_kubeconfig_is_a_sentence(text: Any, context: str, sentence: str):
    written = text if isinstance(text, str) else yaml.safe_dump(text)
    with pytest.raises(EngineUnavailable) as error:
        kubeconfig.read(written, context)
    assert error.value.message == sentence


def tainted(*taint: tuple[str, str, str], **spec: object) -> dict[str, Any]:
    there = [{"key": key, "value": value, "effect": effect} for key, value, effect in taint]
    return {**MACHINE, "spec": {"taints": there, **spec}}


def test_a_taint_closes_a_node_unless_it_is_tolerated():
    machine = tainted(("dedicated", "lab", "NoSchedule"))
    why = "has the taint dedicated=lab:NoSchedule, which sessions do not tolerate"
    for tolerations, expected in (
        ([], why),
        (["dedicated"], ""),
        (["dedicated=lab"], ""),
        (["dedicated=lab:NoSchedule"], ""),
        (["dedicated:NoSchedule"], ""),
        (["dedicated=other"], why),
        (["dedicated:NoExecute"], why),
        (["other"], why),
    ):
        [node] = nodes([machine], [], [taints.parse(one) for one in tolerations])
        assert node.closed == expected, tolerations
    assert taints.closed(tainted(("slow", "", "PreferNoSchedule")), []) == ""


def test_a_cordon_and_a_lost_node_are_reasons_of_their_own():
    cordoned = tainted(("node.kubernetes.io/unschedulable", "", "NoSchedule"), unschedulable=True)
    assert taints.closed(cordoned, []) == "cordoned in the cluster"
    assert taints.closed({**MACHINE, "spec": {"unschedulable": True}}, []) == "cordoned in the cluster"
    lost = tainted(("gpu", "", "NoSchedule"), ("node.kubernetes.io/unreachable", "", "NoExecute"))
    assert taints.closed(lost, []) == "not ready in the cluster"


@pytest.mark.parametrize(
    "key",
    [
        "aws-node-termination-handler/spot-itn",
        "cloud.google.com/impending-node-termination",
        "karpenter.sh/disrupted",
    ],
)
def test_a_node_that_is_about_to_be_taken_away_is_closed_whatever_is_tolerated(key):
    [node] = nodes([tainted((key, "1", "NoSchedule"))], [], [taints.parse(key)])
    assert (node.ending, node.closed) == (True, f"about to be taken away ({key})")
    [other] = nodes([tainted((key, "1", "PreferNoSchedule"), ("gpu", "", "NoSchedule"))], [])
    assert not other.ending


def test_pods_have_the_tolerations_of_the_engine():
    names = PodNames(
        "lab", "carrel", tolerations=(taints.parse("nvidia.com/gpu"), taints.parse("a=b:NoSchedule"))
    )
    spec = ContainerSpec("abc", "debian:12", {"cpu": 100}, node="a")
    pod: Any = manifest(spec, names, DEFAULT_SANDBOX, "s")["spec"]
    assert pod["tolerations"][-2:] == [
        {"key": "nvidia.com/gpu", "operator": "Exists"},
        {"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"},
    ]
    with pytest.raises(ValueError, match="no toleration"):
        taints.parse("a b")
