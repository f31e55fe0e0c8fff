"""The error tree: each with a status, a code and a next step."""

import pytest

from carrel.core import errors
from carrel.http.problems import _TITLES, of_error
from carrel.signin.logins.service import TooManyAttempts

TREE = [
    value
    for value in vars(errors).values()
    if isinstance(value, type) and issubclass(value, errors.CarrelError)
]


@pytest.mark.parametrize("kind", [*TREE, TooManyAttempts])
def test_every_error_becomes_a_problem_with_all_that_it_knows(kind: type[errors.CarrelError]):
    error = kind("some.code", "What happened.", hint="What to do.", field="f", details={"limit": 3})
    problem = of_error(error)
    assert (problem.status, problem.title) == (kind.status, _TITLES[kind.status])
    assert (problem.code, problem.detail, problem.hint) == ("some.code", "What happened.", "What to do.")
    assert (problem.field, problem.details) == ("f", {"limit": 3})
    assert str(error) == "What happened."


def test_the_tree_is_drawn_at_the_top_as_it_is():
    drawing = errors.__doc__ or ""
    for kind in TREE:
        if kind is not errors.CarrelError:
            assert f"+-- {kind.__name__}".ljust(18) + f"{kind.status}" in drawing, kind


def test_details_are_a_copy():
    given = {"a": 1}
    error = errors.Invalid("some.code", "No.", details=given)
    given["a"] = 2
    assert error.details == {"a": 1}
