"""Parameters of templates: types, limits, defaults, and errors that name each one at fault."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.core.errors import Invalid
from carrel.sessions.templates.parameters import (
    Parameter,
    ParameterType,
    read,
    require_sound,
    text_values,
)


def parameter(type_: str = "text", **changes: Any) -> Parameter:
    return Parameter(name="p", type=ParameterType(type_), **changes)


@pytest.mark.parametrize(
    ("of", "value", "text"),
    [
        (parameter(), "a b", "a b"),
        (parameter(), 3, "3"),
        (parameter("integer"), "3", "3"),
        (parameter("integer"), 3.0, "3"),
        (parameter("integer", min=1, max=9), 9, "9"),
        (parameter("number"), "1e-5", "1e-05"),
        (parameter("number"), 0.1, "0.1"),
        (parameter("number"), 2, "2"),
        (parameter("choice", choices=("16", "32")), 16, "16"),
        (parameter("boolean"), True, "true"),
        (parameter("boolean"), "False", "false"),
        (parameter("folder"), "data", "data"),
        (parameter("image"), "starter", "starter"),
    ],
)
def test_values_become_texts_of_their_type(of: Parameter, value: object, text: str):
    assert read(of, value) == text


@pytest.mark.parametrize(
    ("of", "value", "sentence"),
    [
        (parameter(), True, "p is a text."),
        (parameter("integer"), "x", "p is a whole number."),
        (parameter("integer"), 0.5, "p is a whole number."),
        (parameter("integer"), True, "p is a whole number."),
        (parameter("integer"), "9" * 5000, "p is a whole number."),
        (parameter("integer"), 1e300, "p is a whole number."),
        (parameter("number"), "nan", "p is a number."),
        (parameter("number"), float("inf"), "p is a number."),
        (parameter("number", min=0, max=1), 2, "p is from 0 to 1."),
        (parameter("number", min=0), -1, "p is at least 0."),
        (parameter("number", max=0.5), "0.6", "p is at most 0.5."),
        (parameter("choice", choices=("a", "b")), "c", "p is one of a, b."),
        (parameter("boolean"), "yes", "p is true or false."),
        (parameter("folder"), " ", "p is the name of a folder."),
    ],
)
def test_other_values_are_refused_with_what_is_expected(of: Parameter, value: object, sentence: str):
    with pytest.raises(ValueError, match=sentence.replace(".", r"\.")):
        read(of, value)


@given(st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_keeps_its_value(value: float):
    text = read(parameter("number"), value)
    assert float(text) == value
    assert read(parameter("number"), text) == text


def test_all_parameters_at_fault_are_named_and_the_first_is_the_error():
    epochs = Parameter(name="epochs", type=ParameterType.INTEGER, max=9, description="How long.")
    rate = Parameter(name="rate", type=ParameterType.NUMBER)
    with pytest.raises(Invalid) as error:
        text_values([epochs, rate, parameter(default="x")], {"epochs": 10, "other": 1})
    assert (error.value.code, error.value.field) == ("template.parameter_invalid", "parameters.epochs")
    assert error.value.hint == "How long."
    faults: Any = error.value.details["parameters"]
    assert {name: one["code"] for name, one in faults.items()} == {
        "epochs": "template.parameter_invalid",
        "rate": "template.parameter_missing",
        "other": "template.unknown_parameter",
    }
    assert all(one["hint"] for one in faults.values())


def test_a_default_stands_in_for_what_is_not_given():
    assert text_values([parameter(default="x")], {}) == {"p": "x"}
    assert text_values([parameter(default="x")], {"p": None}) == {"p": "x"}
    assert text_values([parameter(default="x")], {"p": ""}) == {"p": ""}


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (parameter("choice"), "choices"),
        (parameter("text", choices=("a",)), "choices"),
        (parameter("text", min=1), "min"),
        (parameter("integer", min=2, max=1), "max"),
        (parameter("integer", default="x"), "default"),
        (parameter("integer", default=3, max=2), "default"),
        (parameter("choice", choices=("a",), default="b"), "default"),
    ],
)
def test_a_parameter_that_contradicts_itself_is_refused(wrong: Parameter, field: str):
    with pytest.raises(Invalid) as error:
        require_sound([wrong])
    assert (error.value.code, error.value.field) == ("template.bad_parameter", f"parameters.0.{field}")


def test_two_parameters_of_one_name_are_refused():
    with pytest.raises(Invalid) as error:
        require_sound([parameter(), parameter("integer")])
    assert error.value.field == "parameters.1.name"


@pytest.mark.parametrize("type_", list(ParameterType))
def test_every_type_has_a_valid_sample(type_: ParameterType):
    choices = ("a",) if type_ == ParameterType.CHOICE else ()
    one = parameter(type_, choices=choices)
    assert read(one, one.sample) == one.sample
