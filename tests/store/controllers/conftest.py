"""Steps of controllers, on machines however slow."""

import pytest

from carrel.controllers import each_engine


@pytest.fixture(autouse=True)
def each_look_ends_within_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(each_engine, "_PATIENCE_S", 60.0)
