"""Random clusters and queues for Hypothesis, small enough that everything gets in everybody's way."""

from datetime import timedelta

from hypothesis import strategies as st
from plan_kit import CUDA, NOW

from carrel.core.ids import GroupId, NodeId, SessionId
from carrel.scheduling import devices
from carrel.scheduling.snapshot import (
    SESSIONS,
    ClusterMode,
    DeviceSnapshot,
    GroupSnapshot,
    NodeSnapshot,
    PendingSession,
    QueueOrder,
    ScopeSnapshot,
    ShareSnapshot,
    Snapshot,
    Strategy,
)

GROUPS = [GroupId("a"), GroupId("b")]
OWNERS = [("d1", "p1", "u1"), ("d1", "p1", "u2"), ("d1", "p2", "u1"), ("d2", "p3", "u3")]
SLOTS = ["cpu", "mem", "cuda.device", "cuda.shares"]
THOUSANDTHS = [0, 0, 0, 0, 300, 500, 700, 1000]

AVOIDED = [(), (), (NodeId("n0"),), (NodeId("n1"), NodeId("n2"))]

amounts = st.integers(0, 8)
small = st.integers(1, 4)
shares = st.sampled_from([200, 300, 500, 700, 1000, 1500, 2300])
slot_requests = st.one_of(
    st.fixed_dictionaries({"cpu": small, "mem": small}),
    st.fixed_dictionaries({"cpu": amounts, "mem": amounts}),
    st.fixed_dictionaries({"cpu": small, "cuda.device": st.integers(1, 3)}),
    st.fixed_dictionaries({"mem": small, "cuda.shares": shares}),
    st.fixed_dictionaries({"cuda.device": st.integers(0, 2), "cuda.shares": shares}),
)


def mostly(usual: object, *others: object) -> st.SearchStrategy:
    """The usual four times of five."""
    return st.sampled_from([usual] * 4 * len(others) + list(others))


@st.composite
def nodes(draw: st.DrawFn, number: int) -> NodeSnapshot:
    capacity = {"cpu": draw(st.integers(4, 8)), "mem": draw(st.integers(4, 8))}
    used = {slot: draw(st.sampled_from([0, 0, 0, amount // 2, amount])) for slot, amount in capacity.items()}
    cards = tuple(
        DeviceSnapshot(
            f"gpu{card}", "cuda", draw(st.sampled_from(THOUSANDTHS)), draw(st.integers(0, 1)), CUDA
        )
        for card in range(draw(st.sampled_from([0, 0, 1, 2, 3])))
    )
    if cards:
        withheld = draw(mostly(0, 1))
        capacity["cuda.device"] = devices.capacity(cards, "cuda.device") - withheld
        capacity["cuda.shares"] = devices.capacity(cards, "cuda.shares") - withheld * 1000
    return NodeSnapshot(
        NodeId(f"n{number}"),
        f"node{number}",
        capacity,
        used,
        draw(mostly(*GROUPS)),
        draw(mostly("", "cordoned", "not ready")),
        draw(mostly("x86_64", "aarch64", "")),
        cards,
    )


@st.composite
def groups(draw: st.DrawFn, id: GroupId, *, patience: timedelta | None = None) -> GroupSnapshot:
    shares = {
        path: ShareSnapshot(
            {"cpu": float(draw(st.integers(0, 8)))},
            {"cpu": draw(st.floats(0, 8))},
            draw(st.sampled_from([1.0, 2.0])),
        )
        for owner in OWNERS
        for path in (owner[2:], owner[:1], owner[:2], owner)
        if draw(st.booleans())
    }
    return GroupSnapshot(
        id,
        id,
        draw(st.sampled_from(QueueOrder)),
        draw(st.sampled_from(Strategy)),
        draw(st.sampled_from([(), (), ("mem",), ("cuda.device", "cpu")])),
        timedelta(minutes=5) if patience is None else patience,
        shares,
        after=draw(st.sampled_from(["", "node1", "node3"])),
    )


@st.composite
def waiting(draw: st.DrawFn, number: int, *, plain: bool = False) -> PendingSession:
    path = draw(st.sampled_from(OWNERS))
    return PendingSession(
        SessionId(f"s{number}"),
        draw(slot_requests),
        NOW - timedelta(seconds=draw(st.integers(0, 600))),
        path=path,
        scopes=tuple(f"{kind}:{name}" for kind, name in zip("dpu", path, strict=True)),
        group=draw(mostly(GROUPS[0], GROUPS[1], GROUPS[1], GroupId("none"))),
        priority=draw(mostly(50, 60)),
        count=1 if plain else draw(st.sampled_from([1, 1, 1, 2, 3])),
        mode=draw(st.sampled_from(ClusterMode)),
        node=None if plain else draw(mostly(None, NodeId("n0"), NodeId("gone"))),
        avoid=frozenset() if plain else frozenset(draw(st.sampled_from(AVOIDED))),
        architecture=draw(mostly("", "x86_64")),
        root=draw(mostly(False, True)),
        without=draw(mostly((), (("b", "the storage host nas"),))),
    )


ceilings = mostly((), *([slot] for slot in [*SLOTS, SESSIONS]), [*SLOTS, SESSIONS]).flatmap(
    lambda slots: st.fixed_dictionaries(
        {
            slot: st.integers(2, 20).map(lambda n, slot=slot: n * (300 if slot == "cuda.shares" else 1))
            for slot in slots
        }
    )
)


@st.composite
def scopes(draw: st.DrawFn) -> dict[str, ScopeSnapshot]:
    by_name = {}
    for owner in OWNERS:
        for kind, name in zip("dpu", owner, strict=True):
            ceiling = draw(ceilings)
            # A ceiling that was lowered may be exceeded.
            used = {
                slot: draw(st.sampled_from([0, 0, most // 2, most - 1, most + 2]))
                for slot, most in ceiling.items()
            }
            by_name[f"{kind}:{name}"] = ScopeSnapshot(f"{kind} {name}", ceiling, used)
    return by_name


@st.composite
def snapshots(draw: st.DrawFn, *, patience: timedelta | None = None, plain: bool = False) -> Snapshot:
    return Snapshot(
        tuple(draw(nodes(number)) for number in range(draw(st.sampled_from([0, 1, 2, 3, 4, 5])))),
        tuple(draw(waiting(number, plain=plain)) for number in range(draw(st.integers(1, 9)))),
        NOW,
        tuple(draw(groups(id, patience=patience)) for id in GROUPS),
        draw(scopes()),
    )
