"""What a recipe means: the Dockerfile that follows from a person's files. Pure.

Conventions are those of repo2docker, version 2024.07: a directory binder or .binder stands for the repository's own
files; a Dockerfile there stands for all others.
"""

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath

from carrel.builds.dockerfile import FILE
from carrel.core.errors import Invalid

OWN = ".carrel"
"""The directory of a context that has Carrel's own files."""


class RecipeKind(StrEnum):
    """REPOSITORY: several files, by the conventions of repo2docker."""

    DOCKERFILE = "dockerfile"
    REQUIREMENTS = "requirements"
    PYPROJECT = "pyproject"
    REPOSITORY = "repository"


@dataclass(frozen=True)
class Recipe:
    """dockerfile: what is built. files: texts that the person wrote, by path. added: further files of the context."""

    kind: RecipeKind
    dockerfile: str
    files: Mapping[str, str]
    added: Mapping[str, str] = field(default_factory=dict)


_PLACES = ("binder", ".binder")
RECIPE_FILES = (
    FILE,
    "requirements.txt",
    "pyproject.toml",
    "uv.lock",
    "apt.txt",
    "postBuild",
    "runtime.txt",
    "environment.yml",
    "environment.yaml",
    "devcontainer.json",
)
_NOT_HERE = {
    "environment.yml": "List the packages in requirements.txt, or write a Dockerfile on an image that has conda.",
    "environment.yaml": "List the packages in requirements.txt, or write a Dockerfile on an image that has conda.",
    "devcontainer.json": "Give the Dockerfile that it names, or name its image by --base.",
}
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]*(?::[a-z0-9]+)?(?:=[A-Za-z0-9.+~:-]+)?")
_LOCAL = re.compile(
    r"^\s*(?:-r|-c|-e|--requirement|--constraint|--editable|\.|/|file:)|@\s*(?:\.|file:)", re.MULTILINE
)
_RUNTIME = re.compile(r"python-(\d+\.\d+)(?:\.\d+)?")
_SOURCE = "/srv/repository"
_FILES = "/tmp/recipe"
_PIP = (
    "PYTHONDONTWRITEBYTECODE=1 PIP_BREAK_SYSTEM_PACKAGES=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_CACHE_DIR=1"
    " PIP_DISABLE_PIP_VERSION_CHECK=1"
)
_OWNED = (
    "prefix=\"$(python3 -c 'import sys; print(sys.prefix)')\" && "
    'if [ "$prefix" != /usr ]; then chown -R --from=root --reference="$prefix" "$prefix"; fi'
)
"""Who owns the base's own packages, such as the user of a session, can change those that are added."""


def candidates() -> Collection[str]:
    """Paths in a context that may have the texts of a recipe."""
    return [*RECIPE_FILES, *(f"{place}/{name}" for place in _PLACES for name in RECIPE_FILES)]


def plan(files: Mapping[str, str], listing: Collection[str], *, chosen: str | None, base: str) -> Recipe:
    """The recipe of these files. files: texts by path. listing: every path of the context. chosen: the file that is the
    recipe; None: by convention. base: image below, unless a Dockerfile names its own.

    Raises: Invalid.
    """
    if chosen is not None and chosen not in files:
        raise _bad(f"There is no file {chosen}.", "Name a file of the context.")
    place = "" if chosen else _place(files)
    chosen = chosen or next(
        (f"{place}{name}" for name in (FILE, *_NOT_HERE) if f"{place}{name}" in files), None
    )
    name = PurePosixPath(chosen).name if chosen else ""
    if hint := _NOT_HERE.get(name):
        raise Invalid("build.not_supported", f"{name} cannot be built here.", hint=hint, field="file")
    if name == FILE or name.endswith(f".{FILE}") or name.startswith(f"{FILE}."):
        return Recipe(RecipeKind.DOCKERFILE, files[chosen or ""], {chosen or "": files[chosen or ""]})
    if name.endswith(".toml"):
        return _of_pyproject(files, chosen or "", base)
    if name:
        return _of_requirements(files, listing, chosen or "", base)
    return _of_repository(files, listing, place, base)


def _place(files: Mapping[str, str]) -> str:
    for place in _PLACES:
        if any(path.startswith(f"{place}/") for path in files):
            return f"{place}/"
    return ""


def _of_requirements(files: Mapping[str, str], listing: Collection[str], path: str, base: str) -> Recipe:
    lines = [f"FROM {base}", "USER root", *_requirements(files, listing, path)]
    return Recipe(RecipeKind.REQUIREMENTS, _text(lines), {path: files[path]})


def _of_pyproject(files: Mapping[str, str], path: str, base: str) -> Recipe:
    used = {path: files[path]}
    lock = str(PurePosixPath(path).with_name("uv.lock"))
    if lock in files:
        used[lock] = files[lock]
    added, lines = _dependencies(files, path, lock if lock in files else None)
    return Recipe(RecipeKind.PYPROJECT, _text([f"FROM {base}", "USER root", *lines]), used, added)


def _of_repository(files: Mapping[str, str], listing: Collection[str], place: str, base: str) -> Recipe:
    used = {path: files[path] for path in files if path.startswith(place) and "/" not in path[len(place) :]}
    added: Mapping[str, str] = {}
    lines = [f"FROM {base}", "USER root"]
    if runtime := used.get(f"{place}runtime.txt"):
        lines.append(_runtime(runtime))
    if packages := used.get(f"{place}apt.txt"):
        lines.append(_apt(packages))
    if f"{place}requirements.txt" in used:
        lines += _requirements(files, listing, f"{place}requirements.txt")
    elif f"{place}pyproject.toml" in used:
        lock = f"{place}uv.lock" if f"{place}uv.lock" in used else None
        added, more = _dependencies(files, f"{place}pyproject.toml", lock)
        lines += more
    if f"{place}postBuild" in used:
        lines += _post_build(f"{place}postBuild")
    if len(lines) == 2:
        raise _bad(
            "There is nothing to build: no Dockerfile, requirements.txt, pyproject.toml, apt.txt or postBuild.",
            "Add one of them, at the top, in binder/ or in .binder/.",
        )
    return Recipe(RecipeKind.REPOSITORY, _text(lines), used, added)


def _requirements(files: Mapping[str, str], listing: Collection[str], path: str) -> list[str]:
    """Installs them; all of the context is there if they name files of it."""
    if _LOCAL.search(files[path]):
        if len(listing) <= 1:
            raise _bad(f"{path} names other files.", "Give the directory that has them as the context.")
        directory = str(PurePosixPath(path).parent)
        return [
            f"COPY . {_SOURCE}",
            f"RUN cd {_SOURCE}/{directory} && {_pip(f'-r {PurePosixPath(path).name}')}",
        ]
    return [f'COPY ["{path}", "{_FILES}/requirements.txt"]', f"RUN {_pip(f'-r {_FILES}/requirements.txt')}"]


def _dependencies(
    files: Mapping[str, str], path: str, lock: str | None
) -> tuple[Mapping[str, str], list[str]]:
    """Files to add, and lines that install what the project needs, but not the project."""
    try:
        project = tomllib.loads(files[path]).get("project", {})
        needed = project.get("dependencies", [])
    except (tomllib.TOMLDecodeError, AttributeError) as error:
        raise _bad(f"{path} cannot be read: {error}.", "Correct it, and try again.") from error
    if lock:
        export = (
            f"cd {_FILES} && python3 -m uv export -q --frozen --no-dev --no-emit-project -o requirements.txt"
        )
        return {}, [
            f'COPY ["{path}", "{lock}", "{_FILES}/"]',
            f"RUN {_pip('uv')}",
            f"RUN {export} && {_pip(f'-r {_FILES}/requirements.txt')}",
        ]
    if not isinstance(needed, list) or not needed or not all(isinstance(one, str) for one in needed):
        raise _bad(f"{path} has no project.dependencies.", "List there what is to be installed.")
    name = f"{OWN}/requirements.txt"
    text = "".join(f"{one}\n" for one in needed)
    return {name: text}, [
        f'COPY ["{name}", "{_FILES}/requirements.txt"]',
        f"RUN {_pip(f'-r {_FILES}/requirements.txt')}",
    ]


def _pip(arguments: str) -> str:
    return f"{_PIP} python3 -m pip install {arguments} && {_OWNED}"


def _apt(text: str) -> str:
    packages = [word for line in text.splitlines() for word in line.partition("#")[0].split()]
    for package in packages:
        if not _PACKAGE.fullmatch(package):
            raise _bad(f"apt.txt: {package[:60]} is no name of a package.", "Write one package on a line.")
    installed = (
        f"DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends {' '.join(packages)}"
    )
    return f"RUN apt-get update -q && {installed} && rm -rf /var/lib/apt/lists/*"


def _runtime(text: str) -> str:
    match = _RUNTIME.fullmatch(text.strip())
    if match is None:
        raise _bad(f"runtime.txt: {text.strip()[:60]} is not supported.", "Write it as python-3.12.")
    needs = f"It asks for Python {match[1]}: choose a base image that has it."
    check = f"python3 -c 'import sys; sys.exit(sys.version_info[:2] != ({match[1].replace('.', ', ')}))'"
    return f'RUN {check} || {{ echo "{needs}" >&2; exit 1; }}'


def _post_build(path: str) -> list[str]:
    return [f"COPY . {_SOURCE}", f"RUN cd {_SOURCE} && chmod +x {path} && ./{path}"]


def _text(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def _bad(message: str, hint: str) -> Invalid:
    return Invalid("build.bad_recipe", message, hint=hint, field="files")
