"""Dockerfiles of users: read, checked, and written so that an engine can take them in no other way. Pure.

An engine's builder pulls images and addresses on its own behalf. So every image is named in the result as it was
checked, nothing is fetched by the builder itself, and each instruction is one line.
"""

import itertools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from carrel.core.errors import Invalid
from carrel.engines.optional import BuildMarks

SCRATCH = "scratch"
FILE = "Dockerfile"
_INSTRUCTIONS = frozenset(
    "ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL RUN SHELL STOPSIGNAL USER WORKDIR".split()
)
_NOT_HERE = {
    "ADD": "ADD is not supported: use COPY for files of the context, and RUN to fetch and unpack.",
    "VOLUME": "VOLUME is not supported: sessions have folders.",
    "ONBUILD": "ONBUILD would run in other builds.",
    "MAINTAINER": "MAINTAINER is obsolete: use LABEL.",
}
_COPY_FLAG = re.compile(r"--(from|chown)=[A-Za-z0-9_.:/@${}-]+")
"""Without quotes, which builders take into account."""
_HERE_DOCUMENT = re.compile(r"(?:^|\s)\d*<<(?!<)")
_DIRECTIVE = re.compile(r"^#\s*(syntax|escape|check)\s*=\s*(\S+)", re.IGNORECASE)
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?:(:[-+])([^{}$]*))?\})")
_STAGE = re.compile(r"[a-z][a-z0-9_.-]{0,63}")
_ARGUMENT = re.compile(r"([A-Za-z_]\w*)(?:=(.*))?", re.DOTALL)
_LONGEST_BYTES = 64 << 10
_MOST_STAGES = 20


@dataclass(frozen=True)
class Instruction:
    """number: of its first line. word: upper case."""

    number: int
    word: str
    rest: str


@dataclass(frozen=True)
class Dockerfile:
    """images: that it needs, as it names them, each once. below: the one below the result; None: scratch."""

    instructions: tuple[Instruction, ...]
    images: tuple[str, ...]
    below: str | None

    def render(
        self,
        images: Mapping[str, str],
        *,
        marks: BuildMarks,
        files: Sequence[str] = (),
        arguments: Sequence[str] = (),
    ) -> str:
        """The text for an engine. images: references by name. files: instructions at the beginning of each stage on
        an image; arguments: of each stage.
        """
        lines: list[str] = []
        stages: dict[str, str] = {}
        numbers = itertools.count()
        for one in self.instructions:
            if one.word == "FROM":
                base, name = _from(one.rest)
                # Never by a name of the author's, which a builder could take for an image.
                stage = _stage_name(next(numbers))
                lines.append(f"FROM {stages.get(base) or images.get(base, base)} AS {stage}")
                # A stage on another one has its files and its labels.
                lines += [] if base in stages else [marks.stage]
                lines += [] if base in stages or base == SCRATCH else files
                lines += [] if base == SCRATCH else arguments
                stages[name or stage] = stage
            elif one.word == "COPY":
                lines.append(f"COPY {_with_source(one.rest, stages, images)}")
            else:
                lines.append(f"{one.word} {one.rest}")
        return "\n".join([*lines, marks.image]) + "\n"


def read(text: str, *, name: str = FILE) -> Dockerfile:
    """Read and check it. name: for messages. Raises: Invalid."""
    if len(text.encode()) > _LONGEST_BYTES:
        raise _refused(name, 1, "It is larger than 64 KiB.")
    instructions = _instructions(name, text)
    reading = _Reading(name)
    for one in instructions:
        reading.add(one)
    if not reading.stages_begun:
        raise _refused(name, 1, "It has no FROM.")
    if reading.stages_begun > _MOST_STAGES:
        raise _refused(name, 1, f"It has more than {_MOST_STAGES} stages.")
    below = None if reading.below == SCRATCH else reading.below
    return Dockerfile(tuple(reading.resolved), tuple(reading.images), below)


class _Reading:
    """below: the image of the stage that is being read."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._arguments: dict[str, str] = {}
        self._stages: dict[str, str] = {}
        self.stages_begun = 0
        self.resolved: list[Instruction] = []
        self.images: dict[str, None] = {}
        self.below = ""

    def add(self, one: Instruction) -> None:
        if one.word == "FROM":
            one = self._from(one)
        elif not self.below and one.word != "ARG":
            raise _refused(self._name, one.number, f"{one.word} is before the first FROM.")
        elif not self.below:
            _note(self._arguments, _expanded(self._name, one, self._arguments))
        elif one.word == "COPY" and (source := _source(one.rest)):
            one = self._copied(one, source)
        self.resolved.append(one)

    def _from(self, one: Instruction) -> Instruction:
        base, stage = _from(_expanded(self._name, one, self._arguments))
        # Names of stages have no case.
        base = base.lower() if base.lower() in self._stages else base
        if base not in self._stages and base != SCRATCH:
            self.images[base] = None
        self.below = self._stages.get(base, base)
        self.stages_begun += 1
        if stage:
            self._stages[stage] = self.below
        return Instruction(one.number, "FROM", f"{base} AS {stage}" if stage else base)

    def _copied(self, one: Instruction, source: str) -> Instruction:
        if source.lower() in self._stages:
            rest = one.rest.replace(f"--from={source}", f"--from={source.lower()}", 1)
            return Instruction(one.number, one.word, rest)
        if _is_number(source) and int(source) >= self.stages_begun - 1:
            raise _refused(self._name, one.number, f"There is no stage {source} before it.")
        if not _is_number(source):
            self.images[source] = None
        return one


def words_of(command: Iterable[str]) -> str:
    """A RUN instruction that no shell reads."""
    return f"RUN {json.dumps(list(command))}"


def _instructions(name: str, text: str) -> list[Instruction]:
    """One for each instruction, its lines joined as a builder joins them."""
    instructions: list[Instruction] = []
    parts: list[str] = []
    first = 0
    for number, line in enumerate(text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"), start=1):
        if directive := _DIRECTIVE.match(line.strip()):
            _require_directive(name, number, directive)
        if line.strip().startswith("#") or (not line.strip()):
            continue
        if not parts:
            first = number
        if line.rstrip().endswith("\\"):
            parts.append(line.rstrip()[:-1])
            continue
        instructions.append(_instruction(name, first, "".join([*parts, line])))
        parts = []
    if parts:
        instructions.append(_instruction(name, first, "".join(parts)))
    return instructions


def _require_directive(name: str, number: int, directive: "re.Match[str]") -> None:
    what, value = directive[1].lower(), directive[2]
    if what == "syntax" or (what == "escape" and value != "\\"):
        raise _refused(name, number, f"# {what}= is not supported.", "Remove that line.")


def _instruction(name: str, number: int, line: str) -> Instruction:
    word, _, rest = line.strip().partition(" ")
    if "\t" in word:
        word, _, rest = line.strip().partition("\t")
    word, rest = word.upper(), rest.strip()
    if any(ord(letter) < 32 and letter != "\t" for letter in rest) or rest.endswith("\\"):
        raise _refused(name, number, "It has a control character, or ends with a backslash.")
    if reason := _NOT_HERE.get(word):
        raise _refused(name, number, reason)
    if word not in _INSTRUCTIONS:
        raise _refused(name, number, f"{word[:20]} is no instruction of a Dockerfile.")
    if not rest:
        raise _refused(name, number, f"{word} has nothing after it.")
    one = Instruction(number, word, rest)
    if check := _CHECKS.get(word):
        check(name, one)
    return one


def _check_run(name: str, one: Instruction) -> None:
    if one.rest.startswith("--"):
        flag = one.rest.partition("=")[0].split()[0]
        raise _refused(
            name, one.number, f"RUN {flag} is not supported.", "Remove it: steps are cached as a whole."
        )
    if _HERE_DOCUMENT.search(one.rest) and not _is_list(one.rest):
        hint = "Write the text to a file of the context, or use printf."
        raise _refused(name, one.number, "Here-documents (<<) are not supported.", hint)


def _check_copy(name: str, one: Instruction) -> None:
    flags = _flags(one.rest)
    for flag in flags:
        if not _COPY_FLAG.fullmatch(flag):
            hint = (
                "Use RUN chmod instead."
                if flag.startswith("--chmod")
                else "Remove it, or write it without quotes."
            )
            raise _refused(name, one.number, f"COPY {flag.partition('=')[0]} is not supported so.", hint)
    if len({flag.partition("=")[0] for flag in flags}) < len(flags):
        raise _refused(name, one.number, "COPY has the same option twice.", "Remove one.")
    if "<<" in one.rest:
        raise _refused(
            name, one.number, "Here-documents (<<) are not supported.", "Use a file of the context."
        )
    if "$" in _source(one.rest):
        raise _refused(name, one.number, "--from= cannot have variables.", "Write the image or the stage.")


def _check_from(name: str, one: Instruction) -> None:
    if _flags(one.rest):
        hint = "Images are built for the architecture of the machine."
        raise _refused(name, one.number, f"FROM {_flags(one.rest)[0]} is not supported.", hint)
    words = one.rest.split()
    named = len(words) == 3 and words[1].upper() == "AS" and _STAGE.fullmatch(words[2].lower())
    if len(words) != 1 and not named:
        raise _refused(name, one.number, "It is not FROM IMAGE, or FROM IMAGE AS STAGE.")


def _check_label(name: str, one: Instruction) -> None:
    plain = re.sub(r"[\"'\\]", "", one.rest)
    if re.search(r"carrel\.(build|commit|installation|id|epoch|network|files)\b", plain) or "$" in plain:
        hint = "Choose other names, and write values as they are."
        raise _refused(name, one.number, "LABEL has a name of Carrel's own, or a variable.", hint)


_CHECKS: Mapping[str, Callable[[str, Instruction], None]] = {
    "RUN": _check_run,
    "COPY": _check_copy,
    "FROM": _check_from,
    "LABEL": _check_label,
}


def _flags(rest: str) -> list[str]:
    flags = []
    for word in rest.split():
        if not word.startswith("--"):
            break
        flags.append(word)
    return flags


def _stage_name(number: int) -> str:
    return f"carrel-stage-{number}"


def _is_list(rest: str) -> bool:
    """True if no shell reads it."""
    try:
        return isinstance(json.loads(rest), list)
    except ValueError:
        return False


def _is_number(source: str) -> bool:
    return source.isascii() and source.isdecimal()


def _source(rest: str) -> str:
    """The value of --from=, which names a stage in lower case; empty: none."""
    values = [flag.removeprefix("--from=") for flag in _flags(rest) if flag.startswith("--from=")]
    return values[-1] if values else ""


def _with_source(rest: str, stages: Mapping[str, str], images: Mapping[str, str]) -> str:
    if not (source := _source(rest)):
        return rest
    meant = _stage_name(int(source)) if _is_number(source) else stages.get(source) or images[source]
    return rest.replace(f"--from={source}", f"--from={meant}", 1)


def _from(rest: str) -> tuple[str, str]:
    """Image and stage of FROM."""
    words = rest.split()
    return words[0], words[2].lower() if len(words) == 3 else ""


def _note(arguments: dict[str, str], rest: str) -> None:
    for word in rest.split():
        if match := _ARGUMENT.fullmatch(word):
            arguments.pop(match[1], None)
            if match[2] is not None:
                arguments[match[1]] = match[2].strip("\"'")


def _expanded(name: str, one: Instruction, arguments: Mapping[str, str]) -> str:
    """With the values of ARG lines before the first FROM. Raises: Invalid for variables without one."""

    def value(match: "re.Match[str]") -> str:
        known = arguments.get(match[1] or match[2], "")
        if match[3] == ":+":
            return match[4] if known else ""
        if known or match[3]:
            return known or match[4]
        raise _refused(
            name,
            one.number,
            f"{match[0]} has no value.",
            f"Give it one by ARG {match[1] or match[2]}=VALUE before the first FROM.",
        )

    text = _VARIABLE.sub(value, one.rest)
    if "$" in text or "\\" in text:
        raise _refused(name, one.number, f"{one.rest[:100]} cannot be resolved.", "Write the image as it is.")
    return text.replace('"', "").replace("'", "") if one.word == "FROM" else text


def _refused(name: str, number: int, message: str, hint: str = "") -> Invalid:
    return Invalid(
        "build.bad_dockerfile",
        f"Line {number} of {name}: {message}",
        hint=hint or "Correct it, and try again.",
        field="files",
        details={"line": number},
    )
