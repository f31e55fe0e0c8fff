"""Apps of the app layer, which sessions of any image have while the layer is mounted.

Their commands listen on these ports on all addresses, since the gateway reaches containers from outside; each demands
the session's secret of whoever connects. Recipe: images/app-layer/apps.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from carrel.apps.app_templates import AppOption, AppTemplate, OptionType
from carrel.engines.port import APP_LAYER, WORK_HOME

_FOLDER = AppOption("folder", "Folder", OptionType.PATH, WORK_HOME, "The folder that it opens.")
LAYER_APPS = (
    AppTemplate(
        name="jupyter",
        title="JupyterLab",
        icon="notebook",
        protocol="http",
        port=18888,
        command=(f"{APP_LAYER}/apps/jupyter", "{port}"),
        ready="/api",
        auth_header="Authorization: token {secret}",
    ),
    AppTemplate(
        name="vscode",
        title="VS Code",
        icon="code",
        protocol="http",
        port=18889,
        command=(f"{APP_LAYER}/apps/vscode", "{port}", "{folder}"),
        ready="/healthz",
        auth_header="Cookie: code-server-session={secret}",
        options=(_FOLDER,),
    ),
    AppTemplate(
        name="files",
        title="File browser",
        icon="folder",
        protocol="http",
        port=18890,
        command=(f"{APP_LAYER}/apps/files", "{port}", "{folder}"),
        ready="/?ls",
        auth_header="PW: {secret}",
        options=(_FOLDER,),
    ),
)
"""Their names are those of the catalogue's apps, which need an own program in the image."""


def offered(apps: Iterable[Mapping[str, Any]], *, layer: bool) -> list[dict[str, Any]]:
    """The apps of a session. apps: of its image, perhaps with those of a layer that it had in an earlier start.

    An app of the image counts more than the layer's of that name.
    """
    own = [dict(row) for row in apps if tuple(row.get("command") or ())[:1] not in _COMMANDS]
    names = {row["name"] for row in own}
    added = (asdict(app) for app in LAYER_APPS if app.name not in names)
    return [*own, *(added if layer else ())]


def has_layer(apps: Sequence[Mapping[str, Any]]) -> bool:
    """True if a session with these apps has those of a layer, or its own of the same names."""
    return len(offered(apps, layer=True)) == len(apps)


_COMMANDS = [app.command[:1] for app in LAYER_APPS]
