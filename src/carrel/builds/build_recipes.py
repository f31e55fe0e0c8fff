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

from carrel.builds import conda, devcontainer
from carrel.builds.dockerfile import FILE
from carrel.core.errors import Invalid

OWN = ".carrel"
"""The directory of a context that has Carrel's own files."""


class RecipeKind(StrEnum):
    """REPOSITORY: several files, by the conventions of repo2docker."""

    DOCKERFILE = "dockerfile"
    REQUIREMENTS = "requirements"
    PYPROJECT = "pyproject"
    CONDA = "conda"
    DEVCONTAINER = "devcontainer"
    REPOSITORY = "repository"


@dataclass(frozen=True)
class Recipe:
    """dockerfile: what is built. files: texts that the person wrote, by path. added: further files of the context.
    notes: for the log.
    """

    kind: RecipeKind
    dockerfile: str
    files: Mapping[str, str]
    added: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


_PLACES = ("binder", ".binder")
RECIPE_FILES = (
    FILE,
    "requirements.txt",
    "pyproject.toml",
    "uv.lock",
    "apt.txt",
    "postBuild",
    "runtime.txt",
    *conda.FILES,
)
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]*(?::[a-z0-9]+)?(?:=[A-Za-z0-9.+~:-]+)?")
_LOCAL = re.compile(
    r"^\s*(?:-r|-c|-e|--requirement|--constraint|--editable|\.|/|file:)|@\s*(?:\.|file:)", re.MULTILINE
)
_RUNTIME = re.compile(r"python-(\d+\.\d+)(?:\.\d+)?")
_SOURCE = "/srv/repository"
_FILES = "/tmp/recipe"
_PIP_LIST = ".environment-pip.txt"
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
    places = [*RECIPE_FILES, *(f"{place}/{name}" for place in _PLACES for name in RECIPE_FILES)]
    return [*places, *devcontainer.PLACES]


def referenced(files: Mapping[str, str], chosen: str | None) -> Collection[str]:
    """Further paths whose texts the recipe needs. Raises: Invalid."""
    path = _devcontainer(files, chosen)
    named = devcontainer.read(files[path], path).dockerfile if path else None
    return [named] if named else []


def plan(
    files: Mapping[str, str], listing: Collection[str], *, chosen: str | None, base: str, micromamba: str
) -> Recipe:
    """The recipe of these files. files: texts by path. listing: every path of the context. chosen: the file that is the
    recipe; None: by convention. base: image below, unless a Dockerfile names its own. micromamba: see `conda.tool`.

    Raises: Invalid.
    """
    if chosen is not None and chosen not in files:
        raise _bad(f"There is no file {chosen}.", "Name a file of the context.")
    if path := _devcontainer(files, chosen):
        return _of_devcontainer(files, path)
    place = "" if chosen else _place(files)
    if chosen is None and f"{place}{FILE}" in files:
        chosen = f"{place}{FILE}"
    name = PurePosixPath(chosen).name if chosen else ""
    if name == FILE or name.endswith(f".{FILE}") or name.startswith(f"{FILE}."):
        return Recipe(RecipeKind.DOCKERFILE, files[chosen or ""], {chosen or "": files[chosen or ""]})
    if name.endswith(".toml"):
        return _of_pyproject(files, chosen or "", base)
    if name.endswith((".yml", ".yaml")):
        added, lines = _conda(files, listing, chosen or "", micromamba)
        return Recipe(RecipeKind.CONDA, _text(_on(base, lines)), {chosen or "": files[chosen or ""]}, added)
    if name:
        return _of_requirements(files, listing, chosen or "", base)
    return _of_repository(files, listing, place, base, micromamba)


def _devcontainer(files: Mapping[str, str], chosen: str | None) -> str | None:
    """The path of the devcontainer.json that is the recipe; by convention, if nothing else is."""
    if chosen is not None:
        return chosen if PurePosixPath(chosen).name in (devcontainer.FILE, f".{devcontainer.FILE}") else None
    place = _place(files)
    if any(f"{place}{name}" in files for name in RECIPE_FILES):
        return None
    return next((path for path in devcontainer.PLACES if path in files), None)


def _of_devcontainer(files: Mapping[str, str], path: str) -> Recipe:
    one = devcontainer.read(files[path], path)
    lines = devcontainer.lines(one, files, path, source=_SOURCE)
    used = {path: files[path]} | ({one.dockerfile: files[one.dockerfile]} if one.dockerfile else {})
    notes = (
        (f"Ignored, because it has no effect on an image: {', '.join(one.ignored)}.",) if one.ignored else ()
    )
    return Recipe(RecipeKind.DEVCONTAINER, _text(lines), used, notes=notes)


def _place(files: Mapping[str, str]) -> str:
    for place in _PLACES:
        if any(path.startswith(f"{place}/") for path in files):
            return f"{place}/"
    return ""


def _of_requirements(files: Mapping[str, str], listing: Collection[str], path: str, base: str) -> Recipe:
    lines = _on(base, _requirements(files, listing, path))
    return Recipe(RecipeKind.REQUIREMENTS, _text(lines), {path: files[path]})


def _of_pyproject(files: Mapping[str, str], path: str, base: str) -> Recipe:
    used = {path: files[path]}
    lock = str(PurePosixPath(path).with_name("uv.lock"))
    if lock in files:
        used[lock] = files[lock]
    added, lines = _dependencies(files, path, lock if lock in files else None)
    return Recipe(RecipeKind.PYPROJECT, _text(_on(base, lines)), used, added)


def _of_repository(
    files: Mapping[str, str], listing: Collection[str], place: str, base: str, micromamba: str
) -> Recipe:
    used = {path: files[path] for path in files if path.startswith(place) and "/" not in path[len(place) :]}
    added: Mapping[str, str] = {}
    lines: list[str] = []
    environment = next((f"{place}{name}" for name in conda.FILES if f"{place}{name}" in used), None)
    if runtime := used.get(f"{place}runtime.txt"):
        lines.append(_runtime(runtime))
    if packages := used.get(f"{place}apt.txt"):
        lines.append(_apt(packages))
    if environment:
        added, more = _conda(files, listing, environment, micromamba)
        lines += more
    elif f"{place}requirements.txt" in used:
        lines += _requirements(files, listing, f"{place}requirements.txt")
    elif f"{place}pyproject.toml" in used:
        lock = f"{place}uv.lock" if f"{place}uv.lock" in used else None
        added, more = _dependencies(files, f"{place}pyproject.toml", lock)
        lines += more
    if f"{place}postBuild" in used:
        lines += _post_build(f"{place}postBuild")
    if not lines:
        raise _bad(
            "There is nothing to build: no Dockerfile, environment.yml, requirements.txt, pyproject.toml, apt.txt,"
            " postBuild or devcontainer.json.",
            "Add one of them, at the top, in binder/ or in .binder/.",
        )
    return Recipe(RecipeKind.REPOSITORY, _text(_on(base, lines)), used, added)


def _requirements(files: Mapping[str, str], listing: Collection[str], path: str) -> list[str]:
    """Installs them; all of the context is there if they name files of it."""
    if _names_files(files[path], listing, path):
        directory = str(PurePosixPath(path).parent)
        return [
            f"COPY . {_SOURCE}",
            f"RUN cd {_SOURCE}/{directory} && {_pip(f'-r {PurePosixPath(path).name}')}",
        ]
    return [f'COPY ["{path}", "{_FILES}/requirements.txt"]', f"RUN {_pip(f'-r {_FILES}/requirements.txt')}"]


def _names_files(requirements: str, listing: Collection[str], path: str) -> bool:
    """Raises: Invalid if they do, and there are none."""
    names = _LOCAL.search(requirements) is not None
    if names and len(listing) <= 1:
        raise _bad(f"{path} names other files.", "Give the directory that has them as the context.")
    return names


def _conda(
    files: Mapping[str, str], listing: Collection[str], path: str, micromamba: str
) -> tuple[Mapping[str, str], list[str]]:
    """Files to add, and lines that install the packages of its channels, then those of pip."""
    environment = conda.read(files[path], path)
    name, pip_name = f"{OWN}/environment.yml", f"{OWN}/requirements.txt"
    there, pip_there = f"{_FILES}/environment.yml", f"{_FILES}/requirements.txt"
    added = {name: environment.text}
    lines = [conda.tool(micromamba), f'COPY ["{name}", "{there}"]', conda.install(there)]
    lines += conda.settings(environment.variables)
    if environment.pip:
        requirements = "".join(f"{one}\n" for one in environment.pip)
        added[pip_name] = requirements
        lines += [conda.require_pip(), f'COPY ["{pip_name}", "{pip_there}"]']
        enter = ""
        if _names_files(requirements, listing, path):
            lines.append(f"COPY . {_SOURCE}")
            # What it names is relative to where the list is.
            enter = f"cd {_SOURCE}/{PurePosixPath(path).parent} && cp {pip_there} {_PIP_LIST} && "
            pip_there = _PIP_LIST
        lines.append(f"RUN {enter}{_PIP} {conda.PREFIX}/bin/python -m pip install -r {pip_there}")
    return added, lines


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


def _on(base: str, lines: list[str]) -> list[str]:
    return [f"FROM {base}", "USER root", *lines]


def _text(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def _bad(message: str, hint: str) -> Invalid:
    return Invalid("build.bad_recipe", message, hint=hint, field="files")
