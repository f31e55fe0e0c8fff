"""Shell completion: `carrel __complete` computes candidates; each shell has a short script that calls it."""

from __future__ import annotations

import argparse
import os
import sys

from carrel_client.cli.commands import COMMANDS, GROUPS, OPERATOR
from carrel_client.cli.context import Context
from carrel_client.cli.formats import OUTPUTS
from carrel_client.cli.parser import Arguments, arguments_of
from carrel_client.client import ApiClient
from carrel_client.errors import CarrelError
from carrel_client.profiles import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PATIENCE_S = 2.0
# Arguments that name folders, FOLDER:PATH, or either of that and a local path.
_FOLDERS: dict[str, dict[str, Any]] = {
    "folder": {},
    "folders": {},
    "mounts": {"mountable": True},
    "trashed": {"state": "trash"},
}
_PLACES = ("place", "places")
_ENDS = ("sources", "to")

_BASH = """\
_carrel() {
    local IFS=$'\\n' line before
    COMPREPLY=()
    # Bash has split the line at colons and equal signs; what is asked for are words as typed.
    local typed=${COMP_LINE:0:COMP_POINT} word=${COMP_WORDS[COMP_CWORD]}
    IFS=$' \\t\\n' read -r -a words <<<"$typed"
    [[ $typed == *[[:space:]] ]] && words+=("")
    before=${words[-1]%"$word"}
    [[ $word == [:=] ]] && before=${words[-1]}
    IFS=$'\\n'
    for line in $("${COMP_WORDS[0]}" __complete "${words[@]:1}" 2>/dev/null); do
        line=${line%%$'\\t'*}
        COMPREPLY+=("${line#"$before"}")
    done
}
complete -F _carrel carrel
"""

_ZSH = """\
#compdef carrel
_carrel() {
    local line
    local -a values shown
    for line in ${(f)"$("$words[1]" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)"}; do
        values+=("${line%%$'\\t'*}")
        shown+=("${line/$'\\t'/  -- }")
    done
    (( $#values )) && compadd -l -d shown -- $values
}
if [[ $funcstack[1] == _carrel ]]; then _carrel "$@"; else compdef _carrel carrel; fi
"""

_FISH = """\
function __carrel_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] __complete $words[2..] 2>/dev/null
end
complete -c carrel -f -a '(__carrel_complete)'
"""

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def completion_arguments(parser: Arguments) -> None:
    parser.add_argument("shell", choices=tuple(SCRIPTS), help="the shell")
    parser.without_output()
    parser.explain("Print a completion script for commands, options, sessions, images and apps.")
    parser.example(
        "carrel completion bash > ~/.local/share/bash-completion/completions/carrel",
        'carrel completion zsh > "${fpath[1]}/_carrel"',
        "carrel completion fish > ~/.config/fish/completions/carrel.fish",
    )


def completion(args: argparse.Namespace, context: Context) -> int:
    """Print the script."""
    sys.stdout.write(SCRIPTS[args.shell])
    return 0


def complete(words: list[str]) -> int:
    """Print candidates for the last word: candidate and description, separated by a tab."""
    *before, current = words or [""]
    try:
        candidates = _candidates(before, current)
    except CarrelError:
        candidates = {}
    for candidate, meaning in candidates.items():
        if candidate.startswith(current):
            sys.stdout.write(f"{candidate}\t{meaning}\n" if meaning else f"{candidate}\n")
    return 0


def _candidates(before: list[str], current: str) -> dict[str, str]:
    if not before:
        singles = {words: command.summary for words, command in COMMANDS.items() if " " not in words}
        return {**GROUPS, **singles, **OPERATOR}
    if before[0] in GROUPS and len(before) == 1:
        starts = f"{before[0]} "
        return {
            words.removeprefix(starts): command.summary
            for words, command in COMMANDS.items()
            if words.startswith(starts)
        }
    command = COMMANDS.get(" ".join(before[:2])) or COMMANDS.get(before[0])
    if command is None or "--" in before:
        return {}
    parser, given = arguments_of(command)[0], before[len(command.words.split()) :]
    if parser.kind_of:
        _add_options_of_kind(parser, given)
    return _of_arguments(parser, given, current)


def _add_options_of_kind(parser: Arguments, given: list[str]) -> None:
    """Those that the server knows; none while it does not answer."""
    from carrel_client.cli.kinds import add_options  # which most commands never need

    try:
        add_options(parser, given, _Completing(), always=True)
    except CarrelError:
        pass


def _of_arguments(parser: Arguments, given: list[str], current: str) -> dict[str, str]:
    options = {name: action for action in parser._actions for name in action.option_strings}
    name, equals, _ = current.partition("=")
    if equals and name in options:
        return {f"{name}={value}": text for value, text in _values(options[name], given, "").items()}
    if given and given[-1] in options and options[given[-1]].nargs != 0:
        return _values(options[given[-1]], given, current)
    if current.startswith("-"):
        return {name: action.help or "" for name, action in options.items() if name.startswith("--")}
    positionals = [action for action in parser._actions if not action.option_strings]
    index = len(_positional_words(options, given))
    repeats = any(action.nargs in ("+", "*") for action in positionals)
    if not positionals or (index >= len(positionals) and not repeats):
        return {}
    return _values(positionals[min(index, len(positionals) - 1)], _positional_words(options, given), current)


def _positional_words(options: dict[str, argparse.Action], given: list[str]) -> list[str]:
    """The positional arguments."""
    words: list[str] = []
    skip = False
    for word in given:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in options and options[word].nargs != 0
        else:
            words.append(word)
    return words


def _values(action: argparse.Action, given: list[str], current: str) -> dict[str, str]:
    """Candidates for an argument with descriptions; queries the server if needed."""
    if action.choices:
        return {str(choice): "" for choice in action.choices}
    if action.dest == "output":
        return dict.fromkeys(OUTPUTS, "")
    if action.dest == "profile":
        return dict.fromkeys(names(os.environ), "")
    if action.dest in ("id", "ids"):
        sessions = _client().sessions.list(state="live", limit=200)["items"]
        return {session["name"]: f"{session['state']} {session['id']}" for session in sessions}
    if action.dest in ("template", "templates"):
        return {one["name"]: one["description"] for one in _client().templates.list(limit=200)["items"]}
    if action.dest in ("environment", "environments"):
        return {one["name"]: one["description"] for one in _client().environments.list(limit=200)["items"]}
    if action.dest == "push_registry" and given:
        name = given[0].removeprefix("env:").partition(":")[0]
        return {one["name"]: one["prefix"] for one in _client().environments.push_targets(name)["items"]}
    if action.dest == "parameters" and given:
        declared = _client().templates.show(given[0])["parameters"]
        return {f"{one['name']}=": one.get("description", "") for one in declared}
    if action.dest in _FOLDERS:
        return _folders(_FOLDERS[action.dest])
    if action.dest in _PLACES or (action.dest in _ENDS and ":" in current):
        return _places(current)
    if action.dest in _ENDS:
        return {f"{name}:": text for name, text in _folders({}).items()} | _local(current)
    if action.dest == "invitations":
        offers = _client().invitations.list()["items"]
        return {offer["folder_name"]: offer["permission"] for offer in offers}
    if action.dest in ("engine", "engines"):
        return {each["name"]: each["state"] for each in _client().engines.list()["items"]}
    if action.dest == "engine_kind":
        return {each["kind"]: each["title"] for each in _client().engine_kinds.list()["items"]}
    if action.dest == "storage_kind":
        return {each["kind"]: each["title"] for each in _client().storage_host_kinds.list()["items"]}
    if action.dest == "provider_kind":
        return {each["kind"]: each["title"] for each in _client().provider_kinds.list()["items"]}
    if action.dest in ("host", "hosts"):
        return {host["name"]: host["backend"] for host in _client().storage_hosts.list(limit=200)["items"]}
    if action.dest == "tasks":
        open_tasks = _client().vfolder_tasks.list(open=True, limit=200)["items"]
        return {task["id"]: f"{task['kind']} {task['folder_name']}" for task in open_tasks}
    if action.dest in ("app_template", "app_templates"):
        return {one["name"]: one["title"] for one in _client().app_templates.list(limit=200)["items"]}
    if action.dest in ("app", "apps") and given:
        return {app["name"]: app["title"] for app in _client().apps.list(given[0])["items"]}
    if action.dest == "image":
        images = _images(current, offered=True)
        own = _client().environments.list(limit=200)["items"]
        return images | {one["image"]: one["description"] for one in own if one["default_version"]}
    if action.dest in ("catalogue_image", "catalogue_images", "successor"):
        return _images(current)
    if action.dest == "pull":
        pulls = _client().image_pulls.list(limit=20)["items"]
        return {one["id"]: one["reference"] for one in pulls if one["ended_at"] is None}
    if action.dest == "check":
        checks = _client().accelerator_checks.list(limit=20)["items"]
        return {one["id"]: f"{one['node']['name']}, {one['state']}" for one in checks}
    if action.dest == "device" and given:
        return {one["id"]: one["model"] for one in _client().nodes.show(given[0])["devices"]}
    if action.dest in ("registry", "registries"):
        return {each["name"]: each["url"] for each in _client().registries.list(limit=200)["items"]}
    if action.dest == "project":
        return {project["name"]: "" for project in _client().auth.me()["projects"]}
    if action.dest in ("user", "users", "emails"):
        return {
            user["email"]: user["name"] for user in _client().users.list(sort="email", limit=200)["items"]
        }
    if action.dest in ("provider", "providers"):
        return {each["name"]: each["kind"] for each in _client().providers.list()["items"]}
    if action.dest in ("domain", "domains"):
        return {
            domain["name"]: domain["description"] for domain in _client().domains.list(limit=200)["items"]
        }
    if action.dest in ("group", "groups", "pull_groups"):
        return {group["name"]: group["description"] for group in _client().groups.list(limit=200)["items"]}
    if action.dest == "family":
        return dict.fromkeys(_client().devices.list()["families"], "")
    if action.dest in ("node", "nodes", "pull_nodes"):
        return {node["name"]: node["group"]["name"] for node in _client().nodes.list(limit=200)["items"]}
    if action.dest in ("preset", "presets"):
        return {preset["name"]: preset["id"] for preset in _client().presets.list()["items"]}
    if action.dest in ("policy", "policies"):
        return {policy["id"]: policy["name"] for policy in _client().policies.list(limit=200)["items"]}
    if action.dest == "projects":
        return {project["name"]: project["id"] for project in _client().projects.list(limit=200)["items"]}
    if action.dest == "access_keys":
        return {pair["access_key"]: pair["created_at"] for pair in _client().keypairs.list()["items"]}
    return {}


def _images(part: str, *, offered: bool = False) -> dict[str, str]:
    """Names and aliases of images that have this part, with their titles."""
    images = _client().images.list(q=part or None, offered=offered, limit=200)["items"]
    return {name: image["title"] for image in images for name in (image["name"], *image.get("aliases", ()))}


def _folders(filters: dict[str, Any]) -> dict[str, str]:
    """Folder names with their owners."""
    response = _client().vfolders.list(limit=200, **filters)["items"]
    return {
        folder["name"]: folder["owner"]["email"]
        if folder["owner"]
        else (folder["project"] or {"name": ""})["name"]
        for folder in response
    }


def _places(current: str) -> dict[str, str]:
    """Folder names with a colon, and paths after the colon."""
    folder, colon, path = current.partition(":")
    if not colon:
        return {f"{name}:": text for name, text in _folders({}).items()}
    directory = path.rpartition("/")[0]
    response = _client().files.list(folder, path=directory, limit=1000)["items"]
    above = f"{folder}:{directory}/" if directory else f"{folder}:"
    return {
        f"{above}{each['name']}{'/' if each['kind'] == 'directory' else ''}": ""
        for each in response
        if each["readable"] and each["name"].isprintable()
    }


def _local(current: str) -> dict[str, str]:
    """Local paths, for arguments that may be local or in a folder."""
    directory, slash, _ = current.rpartition("/")
    try:
        entries = list(os.scandir(directory or slash or "."))
    except OSError:
        return {}
    return {
        f"{directory}{slash}{entry.name}{'/' if entry.is_dir() else ''}": ""
        for entry in entries
        if entry.name.isprintable() and (entry.name[0] != "." or current.rpartition("/")[2][:1] == ".")
    }


class _Completing(Context):
    """Nobody waits for a completion as long as for a command."""

    def __init__(self) -> None:
        super().__init__(profile=None, output="json")

    @property
    def client(self) -> ApiClient:
        return _client()


def _client() -> ApiClient:
    return ApiClient.from_environment(timeout_s=_PATIENCE_S)
