"""What a cluster does with pods, in sentences, without a cluster."""

from typing import Any

import pytest

from carrel.engines.kubernetes import pod_events
from carrel.engines.kubernetes.kubernetes_api import ApiError, sentences
from carrel.engines.kubernetes.pod_answers import observed
from carrel.engines.port import EngineError, QuotaExhausted

_LOW = "The node was low on resource: {}. Threshold quantity: 100Mi, available: 92Mi. "


@pytest.mark.parametrize(
    ("reason", "message", "sentence"),
    [
        (
            "FailedScheduling",
            "0/2 nodes are available:\n 2 Insufficient cpu.",
            "The cluster does not place it: 0/2 nodes are available: 2 Insufficient cpu.",
        ),
        ("TriggeredScaleUp", "[{a 1->2}]", "The cluster's autoscaler is adding a machine for it."),
        ("FailedMount", None, "Its node cannot mount a volume: no reason given."),
        ("NodeNotReady", "Node is not ready", "Its node is not ready in the cluster."),
        (
            "Evicted",
            _LOW.format("memory"),
            "It was evicted because its node was low on memory: The node was low on resource: memory; Threshold "
            "quantity: 100Mi, available: 92Mi.",
        ),
        ("Scheduled", "Successfully assigned", None),
    ],
)
def test_known_events_are_sentences(reason: str, message: str | None, sentence: str | None) -> None:
    assert pod_events.sentence({"reason": reason, "message": message, "type": "Normal"}) == sentence


def test_unknown_warnings_are_shown_as_they_are() -> None:
    event = {"reason": "FailedKillPod", "message": "error killing pod.", "type": "Warning"}
    assert pod_events.sentence(event) == "The cluster reports FailedKillPod: error killing pod."
    assert pod_events.sentence({**event, "type": "Normal"}) is None


def test_a_long_message_is_shortened() -> None:
    sentence = pod_events.sentence({"reason": "BackOff", "message": "x" * 2000})
    assert sentence is not None
    assert len(sentence) < 400


@pytest.mark.parametrize(
    ("reason", "message", "beginning"),
    [
        ("Evicted", _LOW.format("memory"), "It was evicted because its node was low on memory: The node"),
        (
            "Evicted",
            _LOW.format("ephemeral-storage"),
            "It was evicted because its node was low on disk space: ",
        ),
        (
            "Evicted",
            'Container session exceeded its local ephemeral storage limit "1Gi". ',
            "It was evicted because it wrote too much: ",
        ),
        ("Evicted", "The node had condition: [PIDPressure]. ", "It was evicted from its node: The node had"),
        ("NodeShutdown", "Pod was rejected", "The cluster ended it (NodeShutdown): Pod was rejected."),
    ],
)
def test_a_failed_pod_says_why(reason: str, message: str, beginning: str) -> None:
    assert observed(_pod(phase="Failed", reason=reason, message=message)).reason.startswith(beginning)


def test_a_pod_that_the_cluster_deletes_says_why() -> None:
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "PreemptionByScheduler",
        "message": "default-scheduler: preempting",
    }
    preempted = _pod(phase="Failed", conditions=[condition])
    assert observed(preempted).reason == (
        "The cluster ended it to make room for a pod of higher priority: default-scheduler: preempting."
    )
    assert observed(_pod(phase="Failed", conditions=[{**condition, "status": "False"}])).reason == ""
    evicted = {**condition, "reason": "TerminationByKubelet", "message": _LOW.format("ephemeral-storage")}
    assert observed(_pod(phase="Failed", conditions=[evicted])).reason.startswith(
        "It was evicted because its node was low on disk space: "
    )
    # It may go on until its grace period has passed.
    assert observed(_pod(phase="Running", conditions=[condition])).reason == ""


def _pod(**status: Any) -> Any:
    return {"metadata": {"labels": {"carrel.id": "abc"}}, "status": status}


@pytest.mark.parametrize(
    ("message", "sentence", "retriable"),
    [
        (
            'admission webhook "policy.example.org" denied the request: only images of ours',
            "The admission webhook policy.example.org of the cluster refuses it: only images of ours.",
            True,
        ),
        (
            'admission webhook "policy.example.org" denied the request',
            "The admission webhook policy.example.org of the cluster refuses it.",
            True,
        ),
        (
            'pods "a" is forbidden: violates PodSecurity "restricted:latest": hostPath volumes',
            'Pod Security of the cluster refuses it: pods "a" is forbidden: violates PodSecurity "restricted:latest": '
            "hostPath volumes.",
            False,
        ),
        ("no such thing", "The cluster refused: no such thing.", False),
    ],
)
def test_a_refused_pod_says_who_refuses_it_and_whether_that_may_change(
    message: str, sentence: str, retriable: bool
) -> None:
    error = _translated(message)
    assert (error.message, error.retriable) == (sentence, retriable)
    assert not isinstance(error, QuotaExhausted)


def test_an_exhausted_quota_may_be_free_later() -> None:
    error = _translated(
        'pods "a" is forbidden: exceeded quota: lab, requested: limits.cpu=500m, used: limits.cpu=4, limited: '
        "limits.cpu=4"
    )
    assert isinstance(error, QuotaExhausted)
    assert error.message == (
        "The quota lab of the namespace is exhausted: limits.cpu=500m requested, limits.cpu=4 used, limits.cpu=4 at "
        "most."
    )


def _translated(message: str) -> EngineError:
    with pytest.raises(EngineError) as error, sentences():
        raise ApiError(403, "Forbidden", message)
    return error.value
