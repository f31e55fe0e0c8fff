"""What is done in a folder by path: in order, never half, and never outside of it."""

import itertools
import os
import random
import stat
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.core.errors import CarrelError, Changed, Conflict, Invalid, NotFound
from carrel.storage import listing, paths, staged, tree
from carrel.storage.listing import FileKind, ListingOrder
from carrel.storage.port import Advance
from carrel.storage.tree import Clash
from carrel.storage.zips import write_zip

BAD = ["/", "/a", "a/", "a//b", ".", "..", "a/../b", "../a", "a/.", "a\0b", "x" * 256, "é" * 128, "\udcff"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder's files; beside it are its stage, and what must never be touched."""
    for name in ("files", "stage", "outside"):
        (tmp_path / name).mkdir()
    (tmp_path / "outside" / "secret").write_bytes(b"secret")
    return tmp_path / "files"


def stage(root: Path) -> Path:
    return root.parent / "stage"


def outside(root: Path) -> Path:
    return root.parent / "outside"


def made(root: Path, path: str, content: bytes = b"x") -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def put(root: Path, path: str, content: bytes, clash: Clash = Clash.REFUSE, **options: object) -> str:
    file = staged.create(stage(root), "new")
    file.write([content])
    return file.put(root, path, clash, **options)  # type: ignore[arg-type]


def listed(root: Path, path: str = "", **order: object) -> list[str]:
    return [each.name for each in listing.page(root, path, ListingOrder(**order), 1000).entries]  # type: ignore[arg-type]


def zipped(root: Path, *paths: str) -> zipfile.ZipFile:
    pieces: list[bytes] = []
    write_zip(root, paths, "folder", pieces.append)
    return zipfile.ZipFile(BytesIO(b"".join(pieces)))


def quiet(advance: Advance) -> None:
    """Nobody wants to know."""


@pytest.mark.parametrize("path", BAD)
def test_what_is_no_path_is_refused_everywhere(root: Path, path: str):
    made(root, "a/b")
    for work in (
        lambda: listing.page(root, path, ListingOrder(), 1),
        lambda: listing.entry(root, path),
        lambda: listing.search(root, path, "b", 1),
        lambda: paths.opened(root, path),
        lambda: tree.make_directory(root, path),
        lambda: tree.move(root, path, "c", Clash.REFUSE),
        lambda: tree.move(root, "a", path, Clash.REFUSE),
        lambda: tree.remove(root, stage(root), path, "removed-x"),
        lambda: put(root, path, b""),
    ):
        with pytest.raises(Invalid):
            work()
    assert sorted(os.listdir(root)) == ["a"]


@pytest.mark.parametrize(
    "name", ["a\nb", "'\"", "\u202etxt.exe", "-rf", "~", "*", "x" * 255, "é" * 127, "\ufeff", "con", "a\\b"]
)
def test_any_other_name_is_made_found_moved_and_removed(root: Path, name: str):
    assert put(root, f"d/{name}", b"content") == f"d/{name}"
    assert listed(root, "d") == [name]
    with paths.opened(root, f"d/{name}") as file:
        assert file.read() == b"content"
    assert tree.move(root, f"d/{name}", name, Clash.REFUSE) == name
    tree.remove(root, stage(root), name, "removed-x")
    assert listed(root) == ["d"]


def test_names_that_are_no_text_are_shown_and_nothing_breaks(root: Path):
    os.close(os.open(bytes(root) + b"/bad\xff.txt", os.O_CREAT | os.O_WRONLY))
    (entry,) = listing.page(root, "", ListingOrder(), 10).entries
    assert (entry.readable, paths.shown(entry.path)) == (False, "bad\ufffd.txt")
    (match,) = listing.search(root, "", "BAD", 10).entries
    assert match == entry
    assert zipped(root, "").namelist() == ["folder/", "folder/bad%FF.txt"]


@given(
    names=st.sets(st.text("aBcé1 ", min_size=1, max_size=4), max_size=30),
    limit=st.integers(1, 7),
    data=st.data(),
)
def test_pages_together_are_the_directory_in_order(
    tmp_path_factory: pytest.TempPathFactory, names: set[str], limit: int, data: st.DataObject
):
    root = tmp_path_factory.mktemp("listed")
    directories = set(data.draw(st.lists(st.sampled_from(sorted(names)), max_size=10))) if names else set()
    for number, name in enumerate(sorted(names)):
        if name in directories:
            (root / name).mkdir()
        else:
            (root / name).write_bytes(b"x" * (number % 3))
        os.utime(root / name, ns=(0, number % 4))
    by = data.draw(st.sampled_from(["name", "size", "modified"]))
    descending = data.draw(st.booleans())
    seen: list[listing.Entry] = []
    order = ListingOrder(by, descending)
    while True:
        page = listing.page(root, "", order, limit)
        assert page.total == len(names)
        seen += page.entries
        if page.last is None:
            break
        assert len(page.entries) == limit
        order = ListingOrder(by, descending, page.last)

    def key(entry: listing.Entry) -> tuple[object, str]:
        if by == "modified":
            return entry.modified_ns, entry.name
        if by == "size" and entry.kind is FileKind.FILE:
            return entry.size_bytes, entry.name
        return entry.name.casefold(), entry.name

    for kind, part in (
        (FileKind.DIRECTORY, seen[: len(directories)]),
        (FileKind.FILE, seen[len(directories) :]),
    ):
        assert [each.kind for each in part] == [kind] * len(part)
        assert part == sorted(part, key=key, reverse=descending)
    assert {each.name for each in seen} == names


def test_only_directories_are_listed_for_a_tree(root: Path):
    made(root, "b/x"), made(root, "a"), (root / "link").symlink_to("b")
    page = listing.page(root, "", ListingOrder(), 10, only=FileKind.DIRECTORY)
    assert ([each.name for each in page.entries], page.total) == (["b"], 1)


def test_search_finds_below_and_says_when_there_is_more(root: Path, monkeypatch: pytest.MonkeyPatch):
    for path in ("a/Needle.txt", "a/b/needles", "needle/x", "other"):
        made(root, path)
    (root / "loop").symlink_to(".")
    matches = listing.search(root, "", "NEEDLE", 10)
    assert ([each.path for each in matches.entries], matches.complete) == (
        ["needle", "a/Needle.txt", "a/b/needles"],
        True,
    )
    assert not listing.search(root, "", "needle", 2).complete
    assert [each.path for each in listing.search(root, "a/b", "needle", 9).entries] == ["a/b/needles"]
    monkeypatch.setattr(listing, "SEARCH_S", -1.0)
    assert not listing.search(root, "", "needle", 10).complete


def test_links_are_shown_and_removed_and_never_followed(root: Path):
    (root / "out").symlink_to(outside(root))
    (root / "file").symlink_to(outside(root) / "secret")
    assert {each.name: each.kind for each in listing.page(root, "", ListingOrder(), 9).entries} == {
        "out": FileKind.LINK,
        "file": FileKind.LINK,
    }
    for work in (
        lambda: listing.page(root, "out", ListingOrder(), 9),
        lambda: listing.entry(root, "out/secret"),
        lambda: listing.search(root, "out", "s", 9),
        lambda: paths.opened(root, "out/secret"),
        lambda: paths.opened(root, "file"),
        lambda: tree.make_directory(root, "out/new"),
        lambda: tree.move(root, "out/secret", "got", Clash.REFUSE),
        lambda: tree.remove(root, stage(root), "out/secret", "removed-x"),
        lambda: put(root, "out/new", b""),
        lambda: put(root, "file/new", b""),
        lambda: tree.copy(root, ["out/secret"], root, stage(root), "copy", "", Clash.REFUSE, quiet),
        lambda: tree.copy(root, ["file"], root, stage(root), "copy", "out", Clash.REFUSE, quiet),
    ):
        with pytest.raises(Conflict):
            work()
    assert put(root, "file", b"mine", Clash.REPLACE) == "file"
    assert (outside(root) / "secret").read_bytes() == b"secret"
    assert (root / "file").read_bytes() == b"mine"
    tree.remove(root, stage(root), "out", "removed-x")
    assert os.listdir(outside(root)) == ["secret"]
    assert zipped(root, "").namelist() == ["folder/", "folder/file"]


def test_what_is_no_plain_file_has_no_content_and_nobody_waits_for_it(root: Path):
    os.mkfifo(root / "pipe")
    (root / "directory").mkdir()
    for name in ("pipe", "directory"):
        with pytest.raises(Conflict, match="not a regular file"):
            paths.opened(root, name)
    made(root, "here")
    assert [name for name in zipped(root, "").namelist() if "pipe" in name] == []
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        with pytest.raises(Conflict):
            paths.opened(root, "directory")
    assert len(os.listdir("/proc/self/fd")) == before


def test_moves_refuse_replace_or_take_a_number(root: Path):
    made(root, "a.tar", b"a"), made(root, "d/a.tar", b"old"), made(root, "d/sub/x")
    with pytest.raises(Conflict, match=r"d/a\.tar already exists"):
        tree.move(root, "a.tar", "d/a.tar", Clash.REFUSE)
    assert tree.move(root, "a.tar", "d/a.tar", Clash.RENAME) == "d/a (1).tar"
    made(root, "a.tar", b"new")
    assert tree.move(root, "a.tar", "d/a.tar", Clash.REPLACE) == "d/a.tar"
    assert (root / "d/a.tar").read_bytes() == b"new"
    assert tree.move(root, "d", "d", Clash.REFUSE) == "d"
    with pytest.raises(Invalid):
        tree.move(root, "d", "d/sub/d", Clash.REFUSE)
    with pytest.raises(NotFound):
        tree.move(root, "nothing", "x", Clash.RENAME)
    with pytest.raises(NotFound):
        tree.move(root, "d", "no/such", Clash.REFUSE)
    for clash in (Clash.REFUSE, Clash.REPLACE):
        made(root, "file")
        with pytest.raises(Conflict):
            tree.move(root, "file", "d", clash)
        with pytest.raises(Conflict):
            tree.move(root, "d", "file", clash)
    longest = "é" * 127
    made(root, longest, b"1"), made(root, "other")
    assert tree.move(root, "other", longest, Clash.RENAME) == "é" * 125 + " (1)"


def test_a_file_system_that_cannot_rename_without_replacing_is_no_trouble(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    class Old:
        def renameat2(self, *_: object) -> int:
            tree.ctypes.set_errno(tree.errno.EINVAL)
            return -1

    monkeypatch.setattr(tree, "_libc", Old())
    made(root, "a", b"a"), made(root, "b", b"b"), made(root, "d/x")
    with pytest.raises(Conflict):
        tree.move(root, "a", "b", Clash.REFUSE)
    with pytest.raises(Conflict):
        tree.move(root, "d", "b", Clash.REFUSE)
    assert tree.move(root, "a", "b", Clash.RENAME) == "b (1)"
    assert tree.move(root, "d", "e", Clash.REFUSE) == "e"
    assert sorted(os.listdir(root)) == ["b", "b (1)", "e"]


def test_a_removed_tree_is_gone_at_once_and_waits_in_the_stage(root: Path):
    made(root, "d/e/f"), made(root, "file"), (root / "empty").mkdir()
    for path in ("d", "file", "empty"):
        tree.remove(root, stage(root), path, "removed-1")
    assert listed(root) == []
    assert tree.removed(stage(root)) == ["removed-1"]
    tree.discard(stage(root), "removed-1", quiet)
    assert tree.removed(stage(root)) == []
    with pytest.raises(NotFound):
        tree.remove(root, stage(root), "d", "removed-1")


def test_a_file_is_replaced_only_while_it_is_the_one_that_was_read(root: Path):
    put(root, "a", b"one")
    tag = listing.entry(root, "a").etag
    assert tag is not None
    (root / "a").chmod(0o755)
    put(root, "a", b"two", Clash.REPLACE, expected=[tag])
    assert stat.S_IMODE((root / "a").stat().st_mode) == 0o755, "it can still be run"
    with pytest.raises(Changed):
        put(root, "a", b"three", Clash.REPLACE, expected=[tag])
    with pytest.raises(Changed):
        put(root, "missing", b"", Clash.REPLACE, expected=["*"])
    assert ((root / "a").read_bytes(), listed(root)) == (b"two", ["a"])


def test_a_copy_is_seen_when_it_is_whole_and_goes_on_after_a_crash(root: Path):
    made(root, "d/e/f", b"f"), made(root, "one", b"1"), (root / "d/link").symlink_to("e")

    class Killed(Exception):
        pass

    def killed(advance: Advance) -> None:
        if advance.done_files:
            raise Killed

    def copied(tick: Callable[[Advance], None] = quiet, clash: Clash = Clash.REFUSE) -> list[str]:
        return tree.copy(root, ["d", "one"], root, stage(root), "task-1", "to", clash, tick)

    with pytest.raises(Killed):
        copied(killed)
    assert listed(root, "to") == []
    assert copied() == ["to/d", "to/one"]
    assert ((root / "to/d/e/f").read_bytes(), os.readlink(root / "to/d/link")) == (b"f", "e")
    assert copied() == [], "what was put into place is not copied once more"
    tree.discard(stage(root), "task-1", quiet)
    with pytest.raises(Conflict):
        copied()
    assert copied(clash=Clash.RENAME) == ["to/d (1)", "to/one (1)"]
    seen: list[Advance] = []
    tree.discard(stage(root), "task-1", quiet)
    assert tree.copy(
        root, ["one"], root, stage(root), "task-3", "to", Clash.REFUSE, quiet, renamed="two"
    ) == ["to/two"]
    with pytest.raises(Conflict, match="to/two"):
        tree.copy(root, ["d"], root, stage(root), "task-4", "to", Clash.REFUSE, quiet, renamed="two")
    tree.copy(root, ["d", "one"], root, stage(root), "task-2", "other", Clash.REFUSE, seen.append)
    assert [each.done_files for each in seen] == sorted(each.done_files for each in seen)
    assert seen[-1].done_files == seen[-1].total_files == 3


def test_a_zip_holds_what_could_be_read_and_says_what_could_not(root: Path):
    made(root, "d/a", b"a" * 10), made(root, "d/back\\..\\slash", b"b"), made(root, "top", b"t")
    os.utime(root / "top", (0, 0))
    (root / "d/empty").mkdir()
    (root / "top").chmod(0o755)
    file = zipped(root, "d", "top", "gone", "d/a")
    assert file.testzip() is None
    assert sorted(file.namelist()) == [
        "ERRORS.txt",
        "a",
        "d/",
        "d/a",
        "d/back_.._slash",
        "d/empty/",
        "top",
    ]
    assert file.read("ERRORS.txt") == b"gone: There is no gone.\n"
    assert file.getinfo("top").date_time == (1980, 1, 1, 0, 0, 0)
    assert file.getinfo("top").external_attr >> 16 == 0o100755
    made(root, "other/top")
    assert sorted(zipped(root, "top", "other/top").namelist()) == ["2 top", "top"]


def test_names_that_are_no_text_stay_apart_in_a_zip(root: Path):
    for name in (b"\xb0\xa1.txt", b"\xb0\xa2.txt", b"\xff/in", b"\xfe/in"):
        made(root, os.fsdecode(b"d/" + name), name)
    file = zipped(root, "d")
    assert {name: file.read(name) for name in file.namelist() if not name.endswith("/")} == {
        "d/%B0%A1.txt": b"\xb0\xa1.txt",
        "d/%B0%A2.txt": b"\xb0\xa2.txt",
        "d/%FF/in": b"\xff/in",
        "d/%FE/in": b"\xfe/in",
    }


def test_what_a_zip_says_of_errors_takes_no_files_place(root: Path):
    made(root, "ERRORS.txt", b"mine")
    file = zipped(root, "gone", "ERRORS.txt")
    assert [file.read(name) for name in file.namelist()] == [b"mine", b"gone: There is no gone.\n"]
    assert file.namelist() == ["ERRORS.txt", "2 ERRORS.txt"]


def test_an_upload_cannot_be_written_once_it_is_a_file(root: Path):
    file = staged.create(stage(root), "upload")
    with pytest.raises(staged.Locked):
        staged.opened(stage(root), "upload")
    file.write([b"1" * 10] * 2000)
    assert staged.sizes(stage(root), ["upload", "none"]) == [20_000, None]
    file.put(root, "a", Clash.REFUSE)
    with pytest.raises(NotFound):
        staged.opened(stage(root), "upload")


@dataclass
class Swapper:
    thread: threading.Thread
    stopping: threading.Event = field(default_factory=threading.Event)
    times: int = 0

    def stop(self) -> None:
        self.stopping.set()
        self.thread.join()


@pytest.fixture
def swapping(root: Path) -> Iterator[Swapper]:
    """Somebody in a session who turns `swap` into a link to the outside, and back, as fast as they can."""
    made(root, "real/inner/file", b"inside")
    (outside(root) / "inner").mkdir()
    (outside(root) / "inner" / "file").write_bytes(b"secret")
    (root / "link").symlink_to(outside(root))
    serial = itertools.count()

    def swap() -> None:
        while not swapper.stopping.is_set():
            for source in ("real", "link"):
                try:
                    os.rename(root / source, root / "swap")
                    os.rename(root / "swap", root / source)
                    swapper.times += 1
                except OSError:  # the API has made a directory there meanwhile
                    os.rename(root / "swap", root / f"made-{next(serial)}")

    swapper = Swapper(threading.Thread(target=swap))
    swapper.thread.start()
    yield swapper
    swapper.stop()


def test_whoever_swaps_directories_for_links_gets_nothing_outside(root: Path, swapping: Swapper):
    chance = random.Random(1)

    def read() -> None:
        with paths.opened(root, "swap/inner/file") as file:
            assert file.read() == b"inside"

    def lists() -> None:
        assert "secret" not in listed(root, "swap")

    def search() -> None:
        assert all(each.name != "secret" for each in listing.search(root, "", "secret", 9).entries)

    def archive() -> None:
        file = zipped(root, "swap")
        assert all(file.read(name) != b"secret" for name in file.namelist())

    works = [
        read,
        lists,
        search,
        archive,
        lambda: tree.make_directory(root, "swap/inner/new"),
        lambda: tree.move(root, "swap/inner/file", "swap/inner/moved", Clash.REPLACE),
        lambda: tree.move(root, "swap/inner/moved", "swap/inner/file", Clash.REPLACE),
        lambda: put(root, "swap/inner/put", b"x", Clash.REPLACE),
        lambda: put(root, "swap/inner/file", b"inside", Clash.REPLACE),
        lambda: tree.remove(root, stage(root), "swap/inner/put", "removed-x"),
        lambda: tree.remove(root, stage(root), "swap/secret", "removed-x"),
        lambda: tree.copy(
            root, ["swap/inner"], root, stage(root), f"task-{chance.random()}", "copies", Clash.RENAME, quiet
        ),
    ]
    done = 0
    for _ in range(1500):
        try:
            chance.choice(works)()
            done += 1
        except (CarrelError, FileNotFoundError):
            continue
    swapping.stop()
    assert min(done, swapping.times) > 100, "the race was run"
    assert sorted(os.listdir(outside(root))) == ["inner", "secret"]
    assert os.listdir(outside(root) / "inner") == ["file"]
    assert (outside(root) / "inner/file").read_bytes() == b"secret"
    for where, _, names in os.walk(root.parent):
        files = [Path(where, name) for name in names if not where.startswith(str(outside(root)))]
        assert all(file.read_bytes() != b"secret" for file in files if not file.is_symlink())
