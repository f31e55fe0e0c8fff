"""Dependencies as they are written on the command line, and the graph of them as a tree."""

import pytest
from carrel_client import models
from carrel_client.cli.session_graph import tree
from carrel_client.dependencies import parse_dependency


@pytest.mark.parametrize(
    ("text", "session", "condition"),
    [
        ("prepare-data", "prepare-data", "succeeded"),
        ("k3f:succeeded", "k3f", "succeeded"),
        ("k3f:failed", "k3f", "failed"),
        ("k3f:ended", "k3f", "ended"),
        ("array:ended", "array", "ended"),
    ],
)
def test_a_dependency_is_a_session_and_a_condition(text: str, session: str, condition: str) -> None:
    assert parse_dependency(text) == {"session": session, "condition": condition}


@pytest.mark.parametrize(
    "text", ["array:k3f", "array:k3f:succeeded", "array:k3f:failed", "array:failed:ended"]
)
def test_a_dependency_on_an_array_says_so(text: str) -> None:
    _, session, *condition = text.split(":")
    assert parse_dependency(text) == {
        "session": session,
        "condition": condition[0] if condition else "succeeded",
        "array": True,
    }


@pytest.mark.parametrize(
    "text",
    ["", ":ended", "k3f:", "k3f:started", "k3f:ended:", "array:", "array:k3f:started", "k3f:k3f:ended"],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not ID"):
        parse_dependency(text)


def node(name: str, result: models.Result | None = None) -> models.GraphNode:
    state: models.SessionState = "TERMINATED" if result else "PENDING"
    return {"id": name, "name": name, "array": None, "kind": "batch", "state": state, "result": result}


def edge(
    after: str,
    session: str,
    condition: models.DependencyCondition = "succeeded",
    index: int | None = None,
) -> models.GraphEdge:
    return {"session": session, "after": after, "index": index, "condition": condition, "met": None}


def test_each_session_is_below_what_it_starts_after_and_drawn_once() -> None:
    graph: models.SessionGraph = {
        "nodes": [node("train-a"), node("load", "success"), node("train-b"), node("report"), node("mail")],
        "edges": [
            edge("load", "train-a"),
            edge("load", "train-b"),
            edge("train-a", "report", "ended"),
            edge("train-b", "report", "ended"),
            edge("report", "mail", "failed"),
        ],
        "truncated": False,
    }
    assert list(tree(graph)) == [
        "load  success",
        "├─ train-a  PENDING  <- this session",
        "│  └─ report  PENDING, after it ended",
        "│     └─ mail  PENDING, after it failed",
        "└─ train-b  PENDING",
        "   └─ report  PENDING, after it ended (see above)",
    ]


def array(name: str, **counts: int) -> models.GraphNode:
    """An array of sessions that are PENDING and RUNNING."""
    states: list[models.ArrayCount] = [
        {"state": "PENDING" if state == "pending" else "RUNNING", "result": None, "count": count}
        for state, count in counts.items()
    ]
    return {
        **node(name),
        "name": f"{name}-1",
        "array": {
            "id": name,
            "name": name,
            "first": 1,
            "last": sum(counts.values()),
            "max_parallel": None,
            "counts": states,
        },
    }


def test_an_array_is_one_line_with_its_counts() -> None:
    graph: models.SessionGraph = {
        "nodes": [
            array("sweep", running=2, pending=3),
            node("peek"),
            node("report"),
            array("mail", pending=2),
        ],
        "edges": [
            edge("sweep", "peek", "ended", index=2),
            edge("sweep", "report", "ended"),
            edge("sweep", "mail"),
        ],
        "truncated": False,
    }
    assert list(tree(graph)) == [
        "sweep[1-5]  3 pending, 2 running  <- this array",
        "├─ peek  PENDING, after sweep-2 ended",
        "├─ report  PENDING, after it ended",
        "└─ mail[1-2]  2 pending",
    ]
