"""Definitions of templates: checked by the model of session requests, with values in any text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.core.errors import CarrelError, Invalid
from carrel.sessions.spec import ArrayRequest, MountRequest
from carrel.sessions.templates import definitions
from carrel.sessions.templates.parameters import Parameter, ParameterType

DEFINITION: dict[str, Any] = {
    "image": "${image}",
    "name": "train-${tag}",
    "kind": "batch",
    "command": ["python", "train.py", "--epochs", "${epochs}", "echo $${HOME} $PATH"],
    "slots": {"cpu": "${cores}", "mem": "${mem}g", "cuda.shares": "0.5"},
    "env": {"EPOCHS": "${epochs}"},
    "time_limit_s": "${hours}h",
    "shm_bytes": "1g",
    "mounts": [{"folder": "${folder}", "read_only": "${ro}"}],
    "array": {"first": 1, "last": "${epochs}"},
}
VALUES = {
    "image": "starter",
    "tag": "red",
    "epochs": "3",
    "cores": "1.5",
    "mem": "4",
    "hours": "2",
    "folder": "data",
    "ro": "true",
}
TEXT = Parameter(name="tag")
COUNT = Parameter(name="epochs", type=ParameterType.INTEGER, min=1)


def small(**changes: object) -> dict[str, Any]:
    return {"image": "starter", "slots": {"cpu": 100, "mem": "64m"}, **changes}


def test_values_stand_in_every_kind_of_field():
    spec = definitions.spec_of(DEFINITION, VALUES)
    assert (spec.image, spec.name, spec.kind) == ("starter", "train-red", "batch")
    assert spec.command == ("python", "train.py", "--epochs", "3", "echo ${HOME} $PATH")
    assert spec.slots == {"cpu": 1500, "mem": 4 << 30, "cuda.shares": 500}
    assert spec.env == {"EPOCHS": "3"}
    assert (spec.time_limit_s, spec.shm_bytes) == (7200, 1 << 30)
    assert spec.mounts == (MountRequest(folder="data", read_only=True),)
    assert spec.array == ArrayRequest(first=1, last=3)


@pytest.mark.parametrize(
    ("changes", "values", "field"),
    [
        ({"name": "${tag}"}, {"tag": "a b"}, "parameters.tag"),
        ({"slots": {"cpu": "${tag}", "mem": "1g"}}, {"tag": "many"}, "parameters.tag"),
        ({"name": "${a}${b}"}, {"a": " ", "b": " "}, "session.name"),
        ({"name": "a b"}, {}, "session.name"),
        ({"time_limit_s": "soon"}, {}, "session.time_limit_s"),
    ],
)
def test_an_error_names_the_parameter_that_its_field_depends_on(
    changes: dict[str, Any], values: dict[str, str], field: str
):
    with pytest.raises(Invalid) as error:
        definitions.spec_of(small(**changes), values)
    assert error.value.field == field
    is_value = field.startswith("parameters.")
    assert error.value.code == ("template.parameter_invalid" if is_value else "template.bad_definition")


@pytest.mark.parametrize(
    ("changes", "parameters", "code", "field"),
    [
        ({"name": "${tag}"}, [], "template.unknown_reference", "session.name"),
        ({"bootstrap": "cd ${HOME:-/}"}, [], "template.bad_definition", "session.bootstrap"),
        ({"imagee": "x"}, [], "template.bad_definition", "session.imagee"),
        ({"slots": None}, [], "template.bad_definition", "session.slots"),
        ({"env": "${tag}"}, [TEXT], "template.bad_definition", "session.env"),
        ({"env": {"A": 1}}, [TEXT], "template.bad_definition", "session.env.A"),
        ({"mounts": [{}]}, [], "template.bad_definition", "session.mounts.0.folder"),
        ({"name": "${tag}", "priority": 200}, [TEXT], "template.bad_definition", "session.priority"),
        ({"kind": "batch"}, [], "session.no_command", "session.command"),
        ({"command": ["x"]}, [], "session.not_batch", "session.command"),
        ({"shm_bytes": "1g"}, [], "session.shm_too_large", "session.shm_bytes"),
        ({"name": [[[[[[[[[[[["x"]]]]]]]]]]]]}, [], "template.bad_definition", "session"),
    ],
)
def test_a_definition_is_checked_when_it_is_saved(
    changes: dict[str, Any], parameters: list[Parameter], code: str, field: str
):
    with pytest.raises(CarrelError) as error:
        definitions.require_sound(small(**changes), parameters)
    assert (error.value.code, error.value.field) == (code, field)


@pytest.mark.parametrize(
    "changes",
    [
        {"time_limit_s": "${tag}", "name": "${tag}"},
        {"kind": "${tag}", "command": ["x"]},
        {"slots": {"cpu": "${tag}", "mem": "${tag}"}},
        {"array": {"first": 1, "last": "${tag}"}, "kind": "batch", "command": ["x"]},
        {"mounts": [{"folder": "${tag}", "path": "/data/${tag}"}]},
    ],
)
def test_what_depends_on_a_value_that_is_not_known_is_checked_at_the_start(changes: dict[str, Any]):
    definitions.require_sound(small(**changes), [TEXT])


def test_a_default_must_give_a_valid_session():
    with pytest.raises(Invalid) as error:
        definitions.require_sound(small(name="${tag}"), [Parameter(name="tag", default="x")])
    assert error.value.field == "parameters.tag"
    definitions.require_sound(small(name="run-${epochs}"), [COUNT])


@given(
    st.fixed_dictionaries(
        {
            "command": st.lists(st.text(alphabet="${}ab ", min_size=1), min_size=1, max_size=4),
            "env": st.dictionaries(st.sampled_from(["A", "B"]), st.text(alphabet="${}x\n")),
            "bootstrap": st.text(alphabet="${}x\n"),
        }
    )
)
def test_an_escaped_request_requests_the_same(request: dict[str, Any]):
    literal = {**small(kind="batch"), **request}
    assert definitions.filled(definitions.escaped(literal), {}) == definitions.filled(small(), {}) | {
        "kind": "batch",
        **request,
    }


@pytest.mark.parametrize(
    ("field", "shown"),
    [
        ("mounts.0.folder", "parameters.folder"),
        ("mounts", None),
        ("slots.cpu", "parameters.cores"),
        ("image", "parameters.image"),
        ("command", "parameters.epochs"),
        ("priority", "priority"),
        (None, None),
    ],
)
def test_errors_of_admission_are_shown_at_the_parameter(field: str | None, shown: str | None):
    assert definitions.blamed(DEFINITION, field) == (shown or field)
