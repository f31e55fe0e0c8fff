"""API types of builds."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from carrel.environments.schemas import EnvironmentName, Note, VersionName
from carrel.folders.files.schemas import PATH_PATTERN
from carrel.http.validation import broken, says
from carrel.tables.environments import VersionState

_PATH = "A path is relative to the context, without . and .., and has at most 255 characters."


def _within(path: str) -> str:
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise broken(_PATH)
    return path


Path = Annotated[
    Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f\\\"]{1,255}$"), AfterValidator(_within)],
    says(_PATH),
]
MOST_OF_SOURCE = 2000
Text = Annotated[str, StringConstraints(max_length=256 << 10, pattern=r"^[^\x00]*$")]


class EnvironmentBuild(BaseModel):
    """name, version, project: as for a saved session. file: which is the recipe: a Dockerfile, requirements.txt,
    pyproject.toml, environment.yml or devcontainer.json; default: by the conventions of repo2docker. files: texts by
    path, instead of those of the context. context: id of one that you sent. base: image below, for recipes that name
    none; default: the starter image. source: where the files are from, for people.
    """

    model_config = {"extra": "forbid"}

    name: EnvironmentName
    version: VersionName | None = None
    note: Note = ""
    project: Annotated[str, Field(max_length=64)] | None = None
    file: Path | None = None
    files: Annotated[dict[Path, Text], Field(max_length=20)] = {}
    context: Annotated[str, Field(max_length=64)] | None = None
    base: Annotated[str, Field(max_length=512)] | None = None
    source: Annotated[str, Field(max_length=MOST_OF_SOURCE)] = ""


class EnvironmentRebuild(BaseModel):
    """new_version: default: the next number."""

    model_config = {"extra": "forbid"}

    new_version: VersionName | None = None
    note: Note = ""


class GitContext(BaseModel):
    """url: of a repository, as the browser or Git has it. ref: branch, tag or full commit; "": the default branch.
    path: a directory within; "": all. token, key: of a private repository: an access token, or USER:PASSWORD; or a
    private SSH key without a passphrase, such as a deploy key. They are used once, and not kept.
    """

    model_config = {"extra": "forbid"}

    url: Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=4096)] = Field(
        examples=["https://github.com/octocat/Hello-World"]
    )
    ref: Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=1024)] = ""
    path: Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=1024)] = ""
    token: Annotated[str, StringConstraints(pattern=r"^[^\x00\r\n]*$", max_length=4096)] = ""
    key: Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=16384)] = ""


class FolderContext(BaseModel):
    """folder: id or name. path: a directory within; "": all of it."""

    model_config = {"extra": "forbid"}

    folder: Annotated[str, Field(min_length=1, max_length=64)]
    path: Annotated[str, StringConstraints(pattern=PATH_PATTERN, max_length=4096)] = ""


class BuildContextView(BaseModel):
    """size_bytes: of its files. source: where they are from, for the build; "": they were sent. It is deleted a day
    after its last use.
    """

    id: str
    files: int
    size_bytes: int
    source: str


class BuildRecipe(BaseModel):
    """kind: dockerfile, requirements, pyproject, conda, devcontainer or repository. file: that is the recipe; null: by
    convention. files: texts by path that were written by a person. dockerfile: what is built. images: references of the
    images in it. context_files: number of files of the context.
    """

    kind: str
    file: str | None
    files: dict[str, str]
    dockerfile: str
    base: str | None
    source: str
    images: list[str]
    context_files: int


class BuildLogView(BaseModel):
    """text: after the part `after`. next: for the next request. complete: the build has ended, and this is the rest of
    its log.
    """

    state: VersionState
    text: str
    next: int
    complete: bool
