"""API types of templates."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

from carrel.core.ids import TemplateId
from carrel.http.paging import PageQuery
from carrel.http.validation import SlotName, says
from carrel.sessions.schemas import OwnerRef
from carrel.sessions.spec import AlternativeGroups, Description, Priority, SessionName, StartTime, TimeLimit
from carrel.sessions.templates.parameters import MAX_PARAMETERS, Parameter, ParameterValue
from carrel.tenancy.schemas import ProjectRef

TemplateName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{2,46}[A-Za-z0-9_]$"),
    says("A name has 4 to 48 letters, digits or _; between the first and the last also . and -."),
]
Parameters = Annotated[tuple[Parameter, ...], Field(max_length=MAX_PARAMETERS)]
Definition = Annotated[
    dict[str, Any],
    Field(
        max_length=100,
        description="The fields of `POST /sessions`; texts may refer to parameters as ${name}. Amounts may be texts "
        'such as "2" for cpu, "4g" for mem and "2h" for time_limit_s.',
        examples=[{"image": "starter", "slots": {"cpu": 1000, "mem": 1 << 30}}],
    ),
]


class TemplateCreate(BaseModel):
    """session: the definition; its project is that of the template (default: yours). from_session: instead, a session
    of yours, of which all texts are taken literally. shared: the members of the project see and start it.
    """

    model_config = {"extra": "forbid"}

    name: TemplateName
    description: Description = ""
    shared: bool = False
    parameters: Parameters = ()
    session: Definition | None = None
    from_session: Annotated[str, Field(max_length=64)] | None = None


class TemplateUpdate(BaseModel):
    """Omitted fields keep their values; parameters and session are replaced completely. In session, a variable with
    the value ******** keeps its value. revision: the one that the change is based on; refused with 412 if it is no
    longer the latest.
    """

    model_config = {"extra": "forbid"}

    name: TemplateName | None = None
    description: Description | None = None
    shared: bool | None = None
    parameters: Parameters | None = None
    session: Definition | None = None
    revision: int | None = None


class TemplateView(BaseModel):
    """session: the definition. Values of its variables are shown to those who may start it; others see ******** for
    each. may_start, may_change: whether you may. revision: from 1; each change adds 1.
    """

    id: TemplateId
    name: str
    description: str
    owner: OwnerRef
    project: ProjectRef
    shared: bool
    parameters: list[Parameter]
    session: dict[str, Any]
    revision: int
    may_start: bool
    may_change: bool
    created_at: datetime
    updated_at: datetime


class TemplateDetail(TemplateView):
    """text: the definition in YAML, with amounts as people write them; `/definitions/read` reads it."""

    text: str


class TemplateOwner(StrEnum):
    """USABLE: yours, and those shared in your projects. ALL: every one that you may see."""

    ME = "me"
    USABLE = "usable"
    ALL = "all"


class TemplateQuery(PageQuery):
    """Which templates to list. sort: name, created_at or updated_at; default: name."""

    owner: TemplateOwner = TemplateOwner.USABLE
    q: str | None = Field(default=None, max_length=100, description="part of name or description")
    project: str | None = Field(default=None, max_length=64, description="id or name of a project")


class TemplateList(BaseModel):
    items: list[TemplateView]
    next_cursor: str | None


class TemplateStart(BaseModel):
    """parameters: values by name; text is accepted for every type. The other fields replace those of the definition;
    slots only the given ones, where 0 removes an accelerator. name: default: that of the definition, or one like that
    of the template. project: default: that of the template. group: also replaces the alternative groups.
    """

    model_config = {"extra": "forbid"}

    parameters: dict[str, ParameterValue | None] = Field(default={}, max_length=MAX_PARAMETERS)
    name: SessionName | None = None
    project: Annotated[str, Field(max_length=64)] | None = None
    group: Annotated[str, Field(max_length=64)] | None = None
    alternative_groups: AlternativeGroups | None = None
    slots: dict[SlotName, Annotated[int, Field(ge=0, le=2**62)]] = Field(default={}, max_length=50)
    priority: Priority | None = None
    time_limit_s: TimeLimit | None = None
    start_at: StartTime | None = None


class TemplateRequest(BaseModel):
    """The request that a start would make: a body of `POST /sessions`. revision: of the template."""

    session: dict[str, Any]
    revision: int
