"""What benchmarks say when they fail."""

import pytest

from bench.__main__ import first_error
from bench.options import BY_NAME, NAMES, parse


def test_the_first_error_is_named_and_not_that_of_cleaning_up():
    async def measured() -> None:
        try:
            raise RuntimeError("the session was refused")
        finally:
            raise OSError("network has active endpoints")

    with pytest.raises(OSError, match="active endpoints") as raised:
        measured().send(None)
    assert str(first_error(raised.value)) == "the session was refused"


def test_of_several_tasks_the_first_that_failed_is_named():
    assert str(first_error(ExceptionGroup("tasks", [ValueError("one"), ValueError("two")]))) == "one"


def test_what_takes_long_is_measured_only_by_its_name():
    assert not set(BY_NAME) & set(NAMES)
    assert parse([*BY_NAME, "idle"]).names == [*BY_NAME, "idle"]
    with pytest.raises(SystemExit):
        parse(["nothing"])
