"""A spec is stored and read again as it was, also by a version that knows other fields."""

import pytest
from pydantic import TypeAdapter, ValidationError

from carrel.sessions.schemas import SessionCreate
from carrel.sessions.spec import ClusterRole, MountRequest, SessionSpec
from carrel.tables.session_states import ClusterPlacement, OnFailure

SLOTS = {"cpu": 1000, "mem": 1 << 30, "cuda.shares": 500}
FULL = SessionSpec(
    image="debian:12",
    slots=SLOTS,
    name="train-3",
    env={"SEED": "7"},
    project="p",
    group="g",
    priority=0,
    time_limit_s=60,
    node="n",
    mounts=(MountRequest(folder="data", path="/data", read_only=True),),
    containers=3,
    bootstrap="echo",
    shm_bytes=1 << 20,
    workdir="src",
    timezone="UTC",
    locale="C",
)
CLUSTER = SessionSpec(
    image="debian:12",
    slots=SLOTS,
    roles=(
        ClusterRole(
            name="worker",
            count=2,
            slots={"cpu": 2000, "mem": 1 << 30},
            command=("dask", "worker"),
            env={"A": "1"},
        ),
        ClusterRole(name="main", image="alpine:3"),
        ClusterRole(name="ps"),
    ),
    placement=ClusterPlacement.TOGETHER,
    on_failure=OnFailure.CONTINUE,
)


@pytest.mark.parametrize("spec", [FULL, CLUSTER, SessionSpec(image="debian:12", slots=SLOTS)])
def test_what_is_stored_is_read_as_it_was(spec: SessionSpec) -> None:
    assert SessionSpec.from_json(spec.to_json()) == spec


def test_what_another_version_stored_is_read_as_far_as_it_is_known() -> None:
    stored = {"image": "debian:12", "slots": SLOTS, "forgotten": True}
    assert SessionSpec.from_json(stored) == SessionSpec(image="debian:12", slots=SLOTS)


def test_containers_are_numbered_within_their_roles_and_main_comes_first() -> None:
    assert [one.host for one in FULL.container_requests] == ["main1", "sub1", "sub2"]
    assert [one.host for one in CLUSTER.container_requests] == ["main1", "worker1", "worker2", "ps1"]


def test_what_a_role_leaves_out_is_that_of_the_session() -> None:
    main, worker, _, ps = CLUSTER.container_requests
    assert (main.image, main.slots, main.command) == ("alpine:3", SLOTS, ())
    assert (worker.image, worker.slots["cpu"], worker.command) == ("debian:12", 2000, ("dask", "worker"))
    assert (worker.env, ps.env) == ({"A": "1"}, {})
    assert CLUSTER.mixed == CLUSTER.sizes
    assert FULL.mixed == ()


@pytest.mark.parametrize("name", ["", "Main", "a1", "a_b", "-a", "a-", "a" * 21])
def test_a_role_is_named_like_a_host_without_its_number(name: str) -> None:
    wire = TypeAdapter(SessionCreate)
    given = {"image": "debian:12", "slots": SLOTS}
    assert wire.validate_python({**given, "roles": [{"name": "ps-large"}]}).roles[0].name == "ps-large"
    with pytest.raises(ValidationError):
        wire.validate_python({**given, "roles": [{"name": name}]})


@pytest.mark.parametrize("count", [0, 257])
def test_a_session_has_1_to_256_containers(count: int) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(SessionCreate).validate_python(
            {"image": "debian:12", "slots": SLOTS, "containers": count}
        )
