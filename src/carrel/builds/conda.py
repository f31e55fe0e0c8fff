"""environment.yml: what it asks of conda channels and of pip, and the lines that install it. Pure.

As in repo2docker, it stands for requirements.txt and pyproject.toml, and conda-forge is the channel if it names none.
"""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from carrel.core.errors import Invalid

PREFIX = "/opt/conda"
"""Where it is installed: also that of mambaorg/micromamba, Miniforge and Jupyter's images."""
FILES = ("environment.yml", "environment.yaml")
_USUAL_CHANNEL = "conda-forge"
_KEYS = {"name", "prefix", "channels", "dependencies", "variables"}
_CHANNEL = re.compile(r"(?:https?://)?[A-Za-z0-9][A-Za-z0-9_.:/+~-]*")
_TOKEN = re.compile(r"(?:^|/)t/[^/]+/")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_THERE = "/usr/local/bin/micromamba"
_OPTIONS = "-y -r /tmp/micromamba"
_WHERE = {"x86_64": "linux-64", "aarch64": "linux-aarch64", "ppc64le": "linux-ppc64le"}


@dataclass(frozen=True)
class CondaEnvironment:
    """text: for micromamba, without the packages for pip. pip: lines of requirements. variables: by name."""

    text: str
    pip: tuple[str, ...]
    variables: Mapping[str, str]


def read(text: str, path: str) -> CondaEnvironment:
    """Read and check it. Raises: Invalid."""
    try:
        stated = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise _bad(path, "cannot be read: it is no YAML", "Correct it, and try again.") from error
    if not isinstance(stated, dict) or not isinstance(stated.get("dependencies"), list):
        raise _bad(path, "has no list of dependencies", "List there what is to be installed.")
    if unknown := sorted(str(key) for key in {*stated} - _KEYS):
        raise _bad(path, f"has {unknown[0][:60]}, which is not supported", "Remove it.")
    packages, pip = _dependencies(stated["dependencies"], path)
    document = {"channels": _channels(stated.get("channels"), path), "dependencies": packages}
    return CondaEnvironment(
        yaml.safe_dump(document, sort_keys=False), pip, _variables(stated.get("variables"), path)
    )


def _dependencies(stated: list[Any], path: str) -> tuple[list[str], tuple[str, ...]]:
    """Those of conda, and those of pip."""
    packages = [one for one in stated if isinstance(one, str)]
    others = [one for one in stated if not isinstance(one, str)]
    pip = others[0].get("pip") if len(others) == 1 and isinstance(others[0], dict) else None
    if others and (pip is None or len(others[0]) > 1 or not isinstance(pip, list)):
        raise _bad(path, "has dependencies that are no text", "Write names, and one list `pip:` at most.")
    pip = pip or []
    if not all(isinstance(one, str) and one.isprintable() for one in [*packages, *pip]):
        raise _bad(path, "has dependencies that are no text", "Write one package on a line.")
    if not packages:
        raise _bad(
            path,
            "asks for nothing from a conda channel",
            "Use requirements.txt for packages of pip alone, or add python and pip.",
        )
    return packages, tuple(pip)


def _channels(stated: Any, path: str) -> list[str]:
    channels = [_USUAL_CHANNEL] if stated is None else stated
    if not isinstance(channels, list) or not all(isinstance(one, str) for one in channels):
        raise _bad(path, "has channels that are no list of names", "Write one channel on a line.")
    for channel in channels:
        if _TOKEN.search(channel) or "@" in channel:
            raise _bad(
                path,
                "has a channel with a token or password, which everybody who uses the image could read",
                "Use a channel that needs none, such as a mirror of your site.",
            )
        if not _CHANNEL.fullmatch(channel):
            raise _bad(path, f"has a channel {channel[:60]}", "Write its name, or its address.")
    # That the defaults are not asked is so anyhow.
    return [one for one in channels if one != "nodefaults"] or [_USUAL_CHANNEL]


def _variables(stated: Any, path: str) -> Mapping[str, str]:
    if stated is None:
        return {}
    if not isinstance(stated, dict) or not all(
        isinstance(name, str) and _VARIABLE.fullmatch(name) for name in stated
    ):
        raise _bad(path, "has variables that are no names with values", "Write NAME: value.")
    variables = {name: str(value) for name, value in stated.items()}
    if not all(value.isprintable() for value in variables.values()):
        raise _bad(path, "has a variable with a line break", "Write one line for each.")
    return variables


def tool(micromamba: str) -> str:
    """The line that brings micromamba. micromamba: an image that has it, or its address, with {platform} in it."""
    if not micromamba.startswith(("http://", "https://")):
        return f"COPY --from={micromamba} /bin/micromamba {_THERE}"
    cases = " ".join(f"{machine}) p={platform};;" for machine, platform in _WHERE.items())
    url = '"$u"'
    python = shlex.quote("import sys, urllib.request as r; r.urlretrieve(sys.argv[1], sys.argv[2])")
    address = shlex.quote(micromamba).replace("{platform}", "'\"$p\"'")
    hint = (
        "micromamba could not be fetched. environment.yml needs it: build on an image that has it, or ask an"
        " administrator to set CARREL_BUILD_MICROMAMBA."
    )
    fetched = (
        f"{{ curl -fsSL -o {_THERE} {url} || wget -qO {_THERE} {url} || python3 -c {python} {url} {_THERE}; }}"
        f" && chmod 755 {_THERE}"
    )
    return (
        f'RUN command -v micromamba >/dev/null || {{ case "$(uname -m)" in {cases} *) p="$(uname -m)";; esac;'
        f" u={address}; {fetched}; }} || {{ rm -f {_THERE}; echo {json.dumps(hint)} >&2; exit 1; }}"
    )


def install(file: str) -> str:
    """The line that installs what the file says, which read() has written."""
    hint = (
        "environment.yml was not installed, see above: all its channels must be reachable from builds, and have"
        " its packages for this architecture. An administrator can name a mirror by CARREL_BUILD_CONDA_CHANNELS."
    )
    verb = f"$([ -d {PREFIX}/conda-meta ] && echo install || echo create)"
    owner = "\"$(python3 -c 'import sys; print(sys.prefix)' 2>/dev/null || true)\""
    owned = (
        f'o={owner}; if [ -n "$o" ] && [ "$o" != /usr ] && [ "$o" != {PREFIX} ];'
        f' then chown -R --from=root --reference="$o" {PREFIX}; fi'
    )
    return (
        f"RUN {{ micromamba {verb} {_OPTIONS} -p {PREFIX} -f {file} && rm -rf /tmp/micromamba; }}"
        f" || {{ echo {json.dumps(hint)} >&2; exit 1; }}; {owned}"
    )


def require_pip() -> str:
    """The line that checks what packages of pip need."""
    hint = "The list `pip:` of environment.yml needs python and pip among its other dependencies."
    return f"RUN {PREFIX}/bin/python -m pip --version || {{ echo {json.dumps(hint)} >&2; exit 1; }}"


def settings(variables: Mapping[str, str]) -> list[str]:
    """Lines that put it first on the path, and set its variables."""
    lines = [f"ENV PATH={PREFIX}/bin:$PATH CONDA_PREFIX={PREFIX} JUPYTER_PATH={PREFIX}/share/jupyter"]
    for name, value in variables.items():
        quoted = re.sub(r'(["\\$])', r"\\\1", value)
        lines.append(f'ENV {name}="{quoted}"')
    return lines


def _bad(path: str, problem: str, hint: str) -> Invalid:
    return Invalid("build.bad_recipe", f"{path} {problem}.", hint=hint, field="files")
