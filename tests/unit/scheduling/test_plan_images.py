"""Of nodes that the placement strategy finds equal, those that have the image come first."""

from dataclasses import replace

import pytest
from plan_kit import NOW, node_with, pending

from carrel.core.ids import DEFAULT_GROUP
from carrel.scheduling import ranking
from carrel.scheduling.placement import Room
from carrel.scheduling.plan import plan
from carrel.scheduling.snapshot import GroupSnapshot, Snapshot, Strategy

IMAGE = "docker.io/library/python:3"
HAS = {"images": frozenset({IMAGE})}


def places(strategy, nodes, *sessions):
    """The names of the nodes, in order of the sessions."""
    groups = (GroupSnapshot(DEFAULT_GROUP, strategy=strategy),)
    decided = plan(Snapshot(tuple(nodes), sessions, NOW, groups))
    by_session = {one.session: one.node for one in decided.placements}
    return [by_session[one.id] for one in sessions]


@pytest.mark.parametrize("strategy", [Strategy.DISPERSED, Strategy.CONCENTRATED])
@pytest.mark.parametrize("announced", [True, False])
def test_of_equal_nodes_the_one_with_the_image_is_chosen(strategy, announced, monkeypatch):
    if not announced:
        monkeypatch.setattr(Room, "expect", lambda room, request: None)
    nodes = [
        node_with("a", {"cpu": 8}),
        node_with("b", {"cpu": 8}, **HAS),
        node_with("c", {"cpu": 8}),
    ]
    assert places(strategy, nodes, pending("one", {"cpu": 1}, image=IMAGE)) == ["b"]
    assert places(strategy, nodes, pending("one", {"cpu": 1}, image="docker.io/library/other:1")) == ["a"]


@pytest.mark.parametrize(
    ("strategy", "chosen"),
    [(Strategy.DISPERSED, "a"), (Strategy.CONCENTRATED, "b"), (Strategy.ROUND_ROBIN, "a")],
)
def test_the_strategy_of_the_group_goes_before_the_image(strategy, chosen):
    emptier, fuller = node_with("a", {"cpu": 8}, {"cpu": 1}), node_with("b", {"cpu": 8}, {"cpu": 4})
    nodes = [emptier, fuller]
    other = 1 if chosen == "a" else 0
    nodes[other] = replace(nodes[other], **HAS)
    assert places(strategy, nodes, pending("one", {"cpu": 1}, image=IMAGE)) == [chosen]


def test_an_image_that_all_nodes_have_is_no_reason_to_rank_them_again(monkeypatch):
    made = []

    class Counted(ranking.RequirementsClass):
        def __init__(self, *values):
            made.append(values)
            super().__init__(*values)

    monkeypatch.setattr("carrel.scheduling.placement.RequirementsClass", Counted)
    nodes = [node_with(name, {"cpu": 8}, **HAS) for name in "ab"]
    sessions = [pending(f"s{n}", {"cpu": 1}, image=image) for n, image in enumerate([IMAGE, "other", IMAGE])]
    places(Strategy.DISPERSED, nodes, *sessions)
    assert len(made) == 1
