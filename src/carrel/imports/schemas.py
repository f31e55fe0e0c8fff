"""API types of imports."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from carrel.http.validation import says
from carrel.imports.sources import SourceKind

_Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=1024)]
SourceUrl = Annotated[
    str,
    StringConstraints(pattern=r"^[^\x00]*$", max_length=4096),
    says("An address has at most 2000 characters."),
]


class ImportCredentials(StrEnum):
    """Of a private source. TOKEN: an access token, or USER:PASSWORD. KEY: a private SSH key, such as a deploy key."""

    NONE = "none"
    TOKEN = "token"
    KEY = "key"


class ImportWarning(StrEnum):
    """GUESSED: nothing in the address tells that it is a Git repository. PLAIN_HTTP: what is fetched, and the token,
    can be read and changed on the way. QUERY_KEPT: the script contains the parameters of the address. REF_UNUSED,
    PATH_UNUSED, INSTALL_UNUSED: this import has no use for it. KEY_NEEDED: an SSH address opens with a key only.
    """

    GUESSED = "guessed"
    PLAIN_HTTP = "plain_http"
    QUERY_KEPT = "query_kept"
    REF_UNUSED = "ref_unused"
    PATH_UNUSED = "path_unused"
    INSTALL_UNUSED = "install_unused"
    KEY_NEEDED = "key_needed"


class ImportRequest(BaseModel):
    """url: of a notebook, a Git repository or a file in one, an archive, or a repository of a Hugging Face hub. kind:
    instead of the one that the address tells. ref: branch, tag or commit. path: a file or directory within.

    folder: id or name of a folder to fetch into; null: into the home of a new session. install: also the Python
    requirements that the source lists. credentials: what the session will have in the environment variable `variable`
    of the answer; it is never part of this request.
    """

    model_config = ConfigDict(extra="forbid")

    url: SourceUrl = Field(examples=["https://github.com/octocat/Hello-World"])
    kind: SourceKind | None = None
    ref: _Text = ""
    path: _Text = ""
    folder: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    image: Annotated[str, Field(min_length=1, max_length=512)] | None = None
    install: bool = False
    credentials: ImportCredentials = ImportCredentials.NONE


class ImportPreview(BaseModel):
    """What an import would do. Nothing has been fetched.

    host: where it is fetched from. target: the directory or file that it becomes, unless that exists. image: suggested.
    app: the app to open; null: the terminal. opens: what JupyterLab opens first; null: it does not. variable: the
    environment variable for the credentials; null: none. session: a body of `POST /sessions`.
    """

    kind: SourceKind
    url: str
    host: str
    name: str
    repository: str | None
    ref: str
    path: str
    target: str
    image: str
    app: str | None
    opens: str | None
    variable: str | None
    warnings: list[ImportWarning]
    script: str
    session: dict[str, Any]
