"""A container with devices of NVIDIA goes to no node whose driver is too old for its image."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from plan_kit import NOW, node_with, pending

from carrel.core.cuda import CUDA_LABEL, DRIVER_LABEL, driver_of, mismatch
from carrel.scheduling.changes import changes
from carrel.scheduling.estimate import estimate_start
from carrel.scheduling.plan import Planning, plan
from carrel.scheduling.snapshot import ClusterMode, DeviceSnapshot, Snapshot

NEEDS = "cuda>=12.4"
TOO_OLD = "driver 470.82.01 supports CUDA 11.4, the image needs CUDA 12.4"


def gpu_node(name, driver, *, gpus=2):
    """A node with free devices. driver: its version; None: unknown."""
    devices = tuple(DeviceSnapshot(f"{name}-{n}", "cuda", slots={"cuda.device": 1000}) for n in range(gpus))
    known = driver_of({DRIVER_LABEL: driver}) if driver else None
    return node_with(name, {"cpu": 8, "cuda.device": gpus}, devices=devices, driver=known)


def session(name="s", **more):
    return pending(name, {"cpu": 1, "cuda.device": 1}, cuda=NEEDS, **more)


OLD, NEW, UNKNOWN = gpu_node("a", "470.82.01"), gpu_node("b", "550.54.15"), gpu_node("c", None)


def test_it_goes_to_the_node_with_the_newer_driver():
    decided = plan(Snapshot((OLD, NEW), (session("s"), session("t"), session("u")), NOW))
    assert [one.node for one in decided.placements] == [NEW.id, NEW.id]
    assert decided.refusals[0].reason.startswith(f"1 node: {TOO_OLD}; 1 node: needs 1 ")


def test_only_an_old_driver_is_the_reason_and_nothing_smaller_is_offered():
    one = session()
    planning = Planning(Snapshot((OLD,), (one,), NOW))
    [refusal] = planning.run().refusals
    assert refusal.reason == f"1 node: {TOO_OLD}."
    estimate = estimate_start(planning, one)
    assert estimate.never
    assert estimate.reason == f"1 node: {TOO_OLD}."
    assert changes(planning.snapshot, replace(one, slots={"cpu": 9, "cuda.device": 1})) == []


def test_an_unknown_driver_is_not_refused():
    [placement] = plan(Snapshot((OLD, UNKNOWN), (session(),), NOW)).placements
    assert placement.node == UNKNOWN.id


def test_a_session_without_accelerators_may_use_any_node():
    [placement] = plan(Snapshot((OLD,), (pending("s", {"cpu": 1}, cuda=NEEDS),), NOW)).placements
    assert placement.node == OLD.id
    zero = pending("s", {"cpu": 1, "cuda.device": 0}, cuda=NEEDS)
    assert plan(Snapshot((OLD,), (zero,), NOW)).placements


def test_of_a_cluster_only_containers_with_devices_need_the_driver():
    main, worker = {"cpu": 8}, {"cpu": 1, "cuda.device": 1}
    one = pending("s", main, count=2, mixed=(main, worker), mode=ClusterMode.MULTI_NODE, cuda=NEEDS)
    [placement] = plan(
        Snapshot((OLD, replace(NEW, capacity={"cpu": 1, "cuda.device": 2})), (one,), NOW)
    ).placements
    assert [part.node for part in placement.parts] == [OLD.id, NEW.id]


def test_equal_requests_of_images_with_other_needs_are_kept_apart():
    older = pending("o", {"cpu": 1, "cuda.device": 1}, cuda="cuda>=11.4")
    decided = plan(Snapshot((OLD,), (session("s"), older), NOW))
    assert [(one.session, one.node) for one in decided.placements] == [("o", OLD.id)]


DRIVERS = st.sampled_from([None, "418.40", "450.51.06", "470.82.01", "525.60.13", "550.54.15", "580.65.06"])
NEEDED = st.sampled_from(
    ["", "cuda>=11.0", "cuda>=11.8", "cuda>=12.0", "cuda>=12.4", "cuda>=13.0", "driver>=525"]
)


@given(
    st.lists(DRIVERS, min_size=1, max_size=5),
    st.lists(st.tuples(NEEDED, st.integers(0, 2)), min_size=1, max_size=8),
)
def test_no_placement_mismatches_and_capacity_for_one_that_fits_is_not_left(drivers, requested):
    nodes = tuple(gpu_node(f"n{n}", driver) for n, driver in enumerate(drivers))
    sessions = tuple(
        pending(f"s{n}", {"cpu": 1, "cuda.device": gpus}, cuda=needs)
        for n, (needs, gpus) in enumerate(requested)
    )
    decided = plan(Snapshot(nodes, sessions, NOW))
    by_id, by_name = {one.id: one for one in sessions}, {one.id: one for one in nodes}
    free = {node.id: 2 for node in nodes}
    for one in decided.placements:
        workload, node = by_id[one.session], by_name[one.node]
        gpus = workload.slots["cuda.device"]
        free[node.id] -= gpus
        assert not gpus or not workload.cuda or not node.driver or not mismatch(workload.cuda, node.driver)
    for refused in decided.refusals:
        workload = by_id[refused.session]
        able = [node for node in nodes if workload.runs_on(node, workload.slots)]
        assert all(free[node.id] < workload.slots["cuda.device"] for node in able)


def test_a_label_alone_tells_what_a_node_supports():
    node = replace(OLD, driver=driver_of({CUDA_LABEL: "11.4"}))
    [refusal] = plan(Snapshot((node,), (session(),), NOW)).refusals
    assert refusal.reason == "1 node: supports CUDA 11.4, the image needs CUDA 12.4."
