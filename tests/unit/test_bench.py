"""What benchmarks say when they fail."""

import pytest

from bench.__main__ import first_error


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
