"""/definitions: sessions as texts, in the format of the command line's files. Nothing is created.

The texts are written and read by the client's code, so that every part of Carrel has one format.
"""

from typing import Annotated, Any

from carrel_client import definition
from fastapi import APIRouter
from pydantic import BaseModel, Field
from pydantic_core import to_jsonable_python

from carrel.core.errors import Invalid
from carrel.http.auth import CurrentActor, names
from carrel.sessions.schemas import SessionCreate

router = APIRouter(tags=["sessions"])


class DefinitionView(BaseModel):
    """definition: the request without defaults, with amounts as people write them. text: the same in YAML."""

    definition: dict[str, Any]
    text: str


class DefinitionText(BaseModel):
    """text: YAML or JSON, as `carrel session export` writes it. template: its texts may refer to parameters, such as
    ${cores}, and are left as they are.
    """

    model_config = {"extra": "forbid"}

    text: Annotated[str, Field(max_length=200_000)]
    template: bool = False


class DefinedSession(BaseModel):
    """session: the fields of a request for it; they are checked when it is requested."""

    session: dict[str, Any]


@router.post(
    "/definitions",
    operation_id="definitions.write",
    summary="Write a session as a definition",
    openapi_extra=names("session.define"),
)
def write(actor: CurrentActor, body: SessionCreate) -> DefinitionView:
    """Write a request for a session as a definition file, for `carrel run -f` and `carrel session create -f`."""
    written = definition.written(to_jsonable_python(body.to_json()))
    return DefinitionView(definition=written, text=definition.text_of(written))


@router.post(
    "/definitions/read",
    operation_id="definitions.read",
    summary="Read a definition",
    openapi_extra=names("session.define"),
)
def read(actor: CurrentActor, body: DefinitionText) -> DefinedSession:
    """The request, or the definition of a template, that a definition file stands for."""
    try:
        return DefinedSession(session=definition.request_in(body.text, with_references=body.template))
    except ValueError as error:
        raise Invalid(
            "session.bad_definition",
            f"The definition cannot be used: {error}.",
            hint="Write it as carrel session export does, such as image: starter.",
            field="text",
        ) from None
