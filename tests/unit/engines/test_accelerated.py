"""What engines attach for containers, and near which processors."""

import pytest

from carrel.accelerators.fake import FakeAccelerators
from carrel.engines.accelerated import attachment_of, numa_of
from carrel.engines.port import ContainerSpec, EngineError


def test_a_container_whose_accelerator_is_not_there_does_not_start_without_it() -> None:
    spec = ContainerSpec("abc", "python:3.12", {"cpu": 500}, devices={"fake0": 1000, "fake9": 1000})
    with pytest.raises(EngineError, match="fake9 are not there") as refused:
        attachment_of([FakeAccelerators(2)], spec)
    assert (refused.value.retriable, refused.value.code) == (True, "accelerator_missing")


def test_nothing_is_near_devices_whose_place_is_unknown() -> None:
    assert numa_of([FakeAccelerators(2)], {"fake0"}) == frozenset()
