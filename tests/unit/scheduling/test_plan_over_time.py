"""Sessions come and end, nodes are cordoned, ceilings change; after each the plan is held against the model."""

from dataclasses import replace
from datetime import timedelta

import plan_draws as draws
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from plan_model import applied, fits, limited

from carrel.core.ids import SessionId
from carrel.scheduling.cluster import Cluster, started
from carrel.scheduling.plan import plan
from carrel.scheduling.snapshot import Cause, RunningSession, Snapshot


class Site(RuleBasedStateMachine):
    """started: by whom the model and the cluster's own book-keeping are compared."""

    @initialize(start=draws.snapshots())
    def opens(self, start: Snapshot) -> None:
        self.snapshot = start
        self.running: list[RunningSession] = []
        self.came = {one.id for one in start.waiting}
        self.went: set[SessionId] = set()
        self.number = 100

    @rule(data=st.data())
    def somebody_comes(self, data: st.DataObject) -> None:
        self.number += 1
        one = replace(data.draw(draws.waiting(self.number)), since=self.snapshot.now)
        self.came.add(one.id)
        self.snapshot = replace(self.snapshot, waiting=(*self.snapshot.waiting, one))

    @rule()
    def plans(self) -> None:
        decided = plan(self.snapshot)
        after = applied(self.snapshot, decided)
        waiting = {one.id: one for one in self.snapshot.waiting}
        for placement in decided.placements:
            self.running.append(started(waiting[placement.session], placement, self.snapshot.now))
        for refusal in decided.refusals:
            one = waiting[refusal.session]
            if refusal.cause is not Cause.GROUP:
                assert limited(after, one) == (refusal.cause is Cause.LIMIT)
            if refusal.cause is Cause.NODES:
                assert not fits(after, one)
        self.snapshot = after

    @rule(minutes=st.integers(1, 4))
    def time_passes(self, minutes: int) -> None:
        self.snapshot = replace(self.snapshot, now=self.snapshot.now + timedelta(minutes=minutes))

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def somebody_ends(self, data: st.DataObject) -> None:
        one = self.running.pop(data.draw(st.integers(0, len(self.running) - 1)))
        self.went.add(one.id)
        cluster = Cluster(self.snapshot)
        cluster.give_back(one)
        self.snapshot = cluster.snapshot(self.snapshot.waiting)

    @precondition(lambda self: self.snapshot.nodes)
    @rule(data=st.data(), closed=st.sampled_from(["", "cordoned", "not ready"]))
    def a_node_opens_or_closes(self, data: st.DataObject, closed: str) -> None:
        nodes = list(self.snapshot.nodes)
        index = data.draw(st.integers(0, len(nodes) - 1))
        nodes[index] = replace(nodes[index], closed=closed)
        self.snapshot = replace(self.snapshot, nodes=tuple(nodes))

    @rule(data=st.data())
    def a_ceiling_changes(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.snapshot.scopes)))
        ceiling = data.draw(draws.ceilings)
        scopes = {**self.snapshot.scopes, key: replace(self.snapshot.scopes[key], ceiling=ceiling)}
        self.snapshot = replace(self.snapshot, scopes=scopes)

    @invariant()
    def nobody_is_lost_or_there_twice(self) -> None:
        waiting = [one.id for one in self.snapshot.waiting]
        there = [*waiting, *(one.id for one in self.running), *self.went]
        assert sorted(there) == sorted(self.came)


TestSite = Site.TestCase
TestSite.settings = settings(max_examples=40, stateful_step_count=20)
