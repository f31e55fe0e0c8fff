"""API types of the catalogue of apps."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, StringConstraints, ValidationError, model_validator

from carrel.apps.app_templates import OptionType, template
from carrel.core.errors import Invalid
from carrel.http.paging import PageQuery
from carrel.http.validation import EnvName, broken, refusal, says
from carrel.tenancy.schemas import ProjectRef

MAX_APP_NAME = 40
AppTemplateName = Annotated[
    str,
    StringConstraints(pattern=rf"^[a-z0-9](?:[a-z0-9-]{{0,{MAX_APP_NAME - 2}}}[a-z0-9])?$"),
    says(
        "The name of an app has at most 40 lower-case letters, digits or -, and neither begins nor ends with -."
    ),
]
Title = Annotated[str, StringConstraints(min_length=1, max_length=60, strip_whitespace=True)]
AppPath = Annotated[
    str,
    StringConstraints(pattern=r"^/[A-Za-z0-9._~/%+-]*(?:\?[A-Za-z0-9._~/%+=&-]+)?$", max_length=200),
    says(
        "A path begins with / and has letters, digits and any of . _ ~ / % + -, perhaps with a query after ?."
    ),
]
ReadyPath = Annotated[
    str,
    StringConstraints(pattern=r"^(?:/[A-Za-z0-9._~/%+?=&-]*)?$", max_length=200),
    says("The ready path begins with /; without one, an open port is enough."),
]
AppPortNumber = Annotated[int, Field(ge=1, le=65535)]
AuthHeader = Annotated[
    str,
    StringConstraints(pattern=r"^(?:[A-Za-z0-9-]+: ?[\x20-\x7e]+)?$", max_length=300),
    says('The authentication header is a line such as "Authorization: token {secret}".'),
]
Word = Annotated[str, StringConstraints(max_length=4096, pattern=r"^[^\x00]*$")]
Text = Annotated[str, StringConstraints(max_length=500)]
OptionName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$"),
    says("The name of an option has at most 40 lower-case letters, digits or _, and begins with a letter."),
]
OptionValue = Annotated[str, StringConstraints(max_length=1000)]
OptionValues = Annotated[dict[OptionName, OptionValue], Field(max_length=20)]
_RESERVED = {"port", "secret", "base_url"}


class AppIcon(StrEnum):
    APP = "app"
    CHART = "chart"
    CODE = "code"
    DATABASE = "database"
    DESKTOP = "desktop"
    FLASK = "flask"
    FOLDER = "folder"
    GLOBE = "globe"
    NOTEBOOK = "notebook"
    TERMINAL = "terminal"


class AppProtocol(StrEnum):
    HTTP = "http"
    TCP = "tcp"


class AppTemplateScope(StrEnum):
    """Whose it is, the nearest first: of several with one name, a session has the nearest."""

    PERSON = "person"
    PROJECT = "project"
    INSTALLATION = "installation"
    BUILTIN = "builtin"


class AppOptionView(BaseModel):
    """A value that is chosen before the app starts. choices: if any, the only permitted values."""

    model_config = {"extra": "forbid"}

    name: OptionName
    title: Title
    type: OptionType = OptionType.TEXT
    default: OptionValue = ""
    help: Text = ""
    choices: Annotated[list[OptionValue], Field(max_length=50)] = []


class AppDefinition(BaseModel):
    """command: arguments of a program, not of a shell; empty: the app starts by itself. Its words and the values of env
    may contain {port}, {secret}, {base_url} (the path) and options by name. requires: a program without which it cannot
    start; empty: it fits every image. hint: how to get that program. ready: path whose answer below 500 shows that it
    serves; empty: an open port is enough. path: where its pages begin. auth_header: added to each request.
    """

    model_config = {"extra": "forbid"}

    name: AppTemplateName
    title: Title
    icon: AppIcon = AppIcon.APP
    protocol: AppProtocol = AppProtocol.HTTP
    port: AppPortNumber
    command: Annotated[list[Word], Field(max_length=100)] = []
    env: Annotated[dict[EnvName, Word], Field(max_length=50)] = {}
    ready: ReadyPath = ""
    path: AppPath = "/"
    auth_header: AuthHeader = ""
    options: Annotated[list[AppOptionView], Field(max_length=20)] = []
    requires: Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\s\x00]*$")] = ""
    hint: Text = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = [option.name for option in self.options]
        if len(set(names)) < len(names) or _RESERVED & set(names):
            raise broken("Options have different names, and none is named port, secret or base_url.")
        if self.protocol is AppProtocol.TCP and (self.ready or self.auth_header or self.path != "/"):
            raise broken("An app with protocol tcp has no paths and no authentication header.")
        return self


class AppTemplateCreate(AppDefinition):
    """project: the id or name of the project that gets it; installation: everybody does; otherwise it is yours."""

    project: Annotated[str, Field(max_length=64)] | None = None
    installation: bool = False
    enabled: bool = True

    @model_validator(mode="after")
    def _one_owner(self) -> Self:
        if self.installation and self.project is not None:
            raise broken("An app template belongs to a project or to the installation, not to both.")
        return self

    def definition(self) -> dict[str, Any]:
        fields = set(AppDefinition.model_fields)
        return _sound(self.model_dump(mode="json", include=fields))


class AppTemplateUpdate(BaseModel):
    """Omitted fields keep their values; command, env and options are replaced completely."""

    model_config = {"extra": "forbid"}

    title: Title | None = None
    icon: AppIcon | None = None
    protocol: AppProtocol | None = None
    port: AppPortNumber | None = None
    command: Annotated[list[Word], Field(max_length=100)] | None = None
    env: Annotated[dict[EnvName, Word], Field(max_length=50)] | None = None
    ready: ReadyPath | None = None
    path: AppPath | None = None
    auth_header: AuthHeader | None = None
    options: Annotated[list[AppOptionView], Field(max_length=20)] | None = None
    requires: Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\s\x00]*$")] | None = None
    hint: Text | None = None
    enabled: bool | None = None

    def applied_to(self, definition: Mapping[str, Any]) -> dict[str, Any]:
        """The definition with these changes. Raises: Invalid."""
        changes = self.model_dump(mode="json", exclude_none=True, exclude={"enabled"})
        try:
            changed = AppDefinition.model_validate({**definition, **changes})
        except ValidationError as error:
            sentence = refusal(error.errors()[0], "")
            raise Invalid("app_template.bad_definition", sentence) from None
        return _sound(changed.model_dump(mode="json"))


class AppTemplateView(AppDefinition):
    """id: for built-in ones "builtin." and the name. may_change: whether you may."""

    id: str
    scope: AppTemplateScope
    project: ProjectRef | None
    enabled: bool
    may_change: bool
    updated_at: datetime | None


class AppTemplateQuery(PageQuery):
    """Which app templates to list. sort: name or title; default: name."""

    q: str | None = Field(default=None, max_length=100, description="part of name or title")
    project: str | None = Field(default=None, max_length=64, description="id or name of a project")
    scope: AppTemplateScope | None = None


class AppTemplateList(BaseModel):
    items: list[AppTemplateView]
    next_cursor: str | None


def _sound(definition: dict[str, Any]) -> dict[str, Any]:
    """The definition, if the defaults of its options are permitted values. Raises: Invalid."""
    known = template(definition)
    known.checked({option.name: option.default for option in known.options if option.default})
    return definition
