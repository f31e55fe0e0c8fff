"""A spec is stored and read again as it was, also by a version that knows other fields."""

import pytest
from pydantic import TypeAdapter, ValidationError

from carrel.sessions.schemas import SessionCreate
from carrel.sessions.spec import MountRequest, SessionSpec

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


@pytest.mark.parametrize("spec", [FULL, SessionSpec(image="debian:12", slots=SLOTS)])
def test_what_is_stored_is_read_as_it_was(spec: SessionSpec) -> None:
    assert SessionSpec.from_json(spec.to_json()) == spec


def test_what_another_version_stored_is_read_as_far_as_it_is_known() -> None:
    stored = {"image": "debian:12", "slots": SLOTS, "forgotten": True}
    assert SessionSpec.from_json(stored) == SessionSpec(image="debian:12", slots=SLOTS)


def test_the_wire_knows_sessions_of_one_container_only() -> None:
    wire = TypeAdapter(SessionCreate)
    given = {"image": "debian:12", "slots": SLOTS}
    assert wire.validate_python(given) == SessionCreate(image="debian:12", slots=SLOTS)
    assert "containers" not in wire.json_schema()["properties"]
    with pytest.raises(ValidationError):
        wire.validate_python({**given, "containers": 3})
