"""The files of a folder as a plain dict: what each change makes of them, and how it is refused."""

import os.path
from dataclasses import dataclass, field

NOT_FOUND = (404, "file.not_found")
NOT_A_DIRECTORY = (409, "file.not_a_directory")
EXISTS = (409, "file.exists")


class No(Exception):
    """A change is refused: with this status and code."""

    def __init__(self, refusal: tuple[int, str]) -> None:
        super().__init__(refusal)
        self.refusal = refusal


@dataclass
class Tree:
    """By path, the content of a file; None: a directory."""

    at: dict[str, bytes | None] = field(default_factory=dict)

    def copied(self) -> "Tree":
        return Tree(dict(self.at))

    def write(self, path: str, content: bytes) -> None:
        """In one request: what is there is replaced, unless it is a directory."""
        self.upload(path, content, "replace")

    def upload(self, path: str, content: bytes, clash: str) -> str:
        """The path it got."""
        self._require_way(path)
        taken = path in self.at
        if taken and clash == "rename":
            path = self._numbered(path)
        elif taken and (clash == "refuse" or self.at[path] is None):
            raise No(EXISTS)
        self.make_directory(_above(path))
        self.at[path] = content
        return path

    def make_directory(self, path: str) -> None:
        names = path.split("/") if path else []
        for number in range(1, len(names) + 1):
            step = "/".join(names[:number])
            if self.at.get(step) is not None:
                raise No(NOT_A_DIRECTORY)
            self.at[step] = None

    def move(self, path: str, to: str, clash: str) -> None:
        if to.startswith(f"{path}/"):
            raise No((422, "file.into_itself"))
        for above in (_above(path), _above(to)):
            self._require_directory(above)
        if path not in self.at:
            raise No(NOT_FOUND)
        if path != to:
            to = self._place(self.at[path] is None, to, clash)
            self._put(self._cut(path), to)

    def copy(self, path: str, into: "Tree", to: str, name: str, clash: str) -> None:
        into.make_directory(to)
        copy = {inner: self.at[inner] for inner in self._of(path)}
        target = f"{to}/{name or _name(path)}".lstrip("/")
        got = into._place(self.at[path] is None, target, clash)
        into._put({inner.removeprefix(path): content for inner, content in copy.items()}, got)

    def require(self, path: str) -> None:
        """Raises: No, when it is not there."""
        self._require_directory(_above(path))
        if path not in self.at:
            raise No(NOT_FOUND)

    def remove(self, path: str) -> None:
        self.require(path)
        self._cut(path)

    def listed(self, path: str) -> dict[str, str]:
        """Names in a directory, and what they are."""
        self._require_directory(path)
        inner = [each for each in self.at if _above(each) == path]
        return {_name(each): "directory" if self.at[each] is None else "file" for each in inner}

    def _place(self, is_directory: bool, to: str, clash: str) -> str:
        """Where something comes to be. whole: it is a directory."""
        if to not in self.at:
            return to
        if clash == "rename":
            return self._numbered(to)
        there = self.at[to]
        empty = there is None and not any(each.startswith(f"{to}/") for each in self.at)
        if clash == "refuse" or not (empty if is_directory else there is not None):
            raise No(EXISTS)
        return to

    def _put(self, cut: dict[str, bytes | None], to: str) -> None:
        self.at |= {f"{to}{inner}": content for inner, content in cut.items()}

    def _cut(self, path: str) -> dict[str, bytes | None]:
        return {inner.removeprefix(path): self.at.pop(inner) for inner in self._of(path)}

    def _of(self, path: str) -> list[str]:
        return [each for each in self.at if each == path or each.startswith(f"{path}/")]

    def _numbered(self, path: str) -> str:
        stem, ending = os.path.splitext(path)
        return next(name for n in range(1, 100) if (name := f"{stem} ({n}){ending}") not in self.at)

    def _require_way(self, path: str) -> None:
        """Raises: No, when something above it is a file."""
        names = path.split("/")
        if any(self.at.get("/".join(names[:number])) is not None for number in range(1, len(names))):
            raise No(NOT_A_DIRECTORY)

    def _require_directory(self, path: str) -> None:
        self._require_way(path)
        if path and path not in self.at:
            raise No(NOT_FOUND)
        if path and self.at[path] is not None:
            raise No(NOT_A_DIRECTORY)


def _above(path: str) -> str:
    return path.rpartition("/")[0]


def _name(path: str) -> str:
    return path.rpartition("/")[2]
