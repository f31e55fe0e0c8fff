"""Tar files that were made to do harm, taken apart."""

import os
import platform
import tarfile
from contextlib import suppress
from io import BytesIO, FileIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.core.errors import Conflict, Invalid
from carrel.storage import syncing
from carrel.storage.packs import Unpacking
from carrel.storage.tar_reader import TarReader
from carrel.storage.tree import Clash

END = bytes(1024)


def unpacking(folder: Path, body: bytes) -> Unpacking:
    for name in ("files", "stage"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "body").write_bytes(body)
    return Unpacking(
        lambda: TarReader(FileIO(folder / "body")),
        folder / "files",
        folder / "stage",
        "",
        Clash.REPLACE,
        name="written-t",
        largest=1 << 20,
        too_large=lambda: Conflict("too.large", "Too large."),
    )


def header(name: str, size: int = 0, kind: bytes = tarfile.REGTYPE) -> bytes:
    """Of any size, also of one that no file has."""
    info = tarfile.TarInfo(name)
    info.type = kind
    made = bytearray(info.tobuf(tarfile.USTAR_FORMAT))
    made[124:136] = (b"\xff" if size < 0 else b"\x80") + (size % 256**11).to_bytes(11, "big")
    made[148:156] = b" " * 8
    made[148:156] = b"%06o\0 " % sum(made)
    return bytes(made)


def about_next(content: bytes, kind: bytes = tarfile.XHDTYPE) -> bytes:
    return header("about", len(content), kind) + content + bytes(-len(content) % 512)


def record(key: bytes, value: bytes) -> bytes:
    length = len(key) + len(value) + 3
    digits = len(str(length + len(str(length))))
    return b"%d %s=%s\n" % (length + digits, key, value)


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(header("back", -1024), id="a size below nothing"),
        pytest.param(about_next(record(b"size", b"-2048")) + header("back"), id="such a size beside it"),
        pytest.param(header("far", 1 << 70), id="more than any disk holds"),
        pytest.param(header("far", 1 << 62), id="more than this disk holds"),
        pytest.param(about_next(record(b"comment", b"1" * 3000)) + header("slow"), id="slow to look through"),
        pytest.param(about_next(b"2 " * 500 + b"a=b") + header("vast"), id="records in one another"),
        pytest.param(
            about_next(b"", tarfile.GNUTYPE_LONGNAME) * 2000 + header("deep"), id="headers of headers"
        ),
        pytest.param(header("long", 2 << 20, tarfile.XHDTYPE) + bytes(2 << 20), id="a header without end"),
        pytest.param(b"x" * 512 + header("last"), id="something else"),
    ],
)
def test_what_is_made_to_do_harm_is_refused(tmp_path: Path, harm: bytes):
    begun = unpacking(tmp_path, header("a") + header("b") + harm + header("c") + END)
    with pytest.raises(Invalid):
        _some_steps(begun)
    assert not list((tmp_path / "stage").glob("written-*"))


def _some_steps(begun: Unpacking) -> None:
    for _ in range(3):  # of what might be without end
        begun.step()


def test_long_names_and_what_else_stands_beside_a_file_come_along(tmp_path: Path):
    name = "/".join(["n" * 200] * 10)
    made = BytesIO()
    with tarfile.open(fileobj=made, mode="w", pax_headers={"comment": "a commit"}) as file:
        for kind in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
            info = tarfile.TarInfo(f"{name}/{kind}")
            info.mtime = 1_700_000_000.25
            info.pax_headers = {"SCHILY.xattr.user.mark": "1" * 200 + "x" * 60_000}
            file.format = kind
            file.addfile(info)
    begun = unpacking(tmp_path, made.getvalue())
    step = begun.step()
    assert (step.refused, begun.over) == ([], True)
    assert [path for path, _ in step.placed] == [
        f"{name}/{tarfile.PAX_FORMAT}",
        f"{name}/{tarfile.GNU_FORMAT}",
    ]


NAMES = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=60),
    min_size=1,
    max_size=4,
).map("/".join)
MADE = st.tuples(
    NAMES,
    st.integers(0, 2000),
    st.integers(0, 0o777),
    st.one_of(st.integers(0, 1 << 32), st.floats(0, 1e9), st.floats(-1e9, 1e12)),
    st.sampled_from([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT]),
)


@given(st.lists(MADE, max_size=6))
def test_every_entry_reads_as_the_library_reads_it(made: list[tuple[str, int, int, float, int]]):
    body = BytesIO()
    with tarfile.open(fileobj=body, mode="w") as file:
        for name, size, mode, mtime, file.format in made:
            info = tarfile.TarInfo(name)
            info.size, info.mode, info.mtime = size, mode, mtime
            with suppress(ValueError):  # this format has no room for it
                file.addfile(info, BytesIO(bytes(size)))
    reader = TarReader(body)
    got = []
    while member := reader.next():
        got.append((facts(member), reader.seek(member).read(member.size)))
    body.seek(0)
    with tarfile.open(fileobj=body) as file:
        assert got == [(facts(member), file.extractfile(member).read()) for member in file]  # type: ignore[union-attr]


def facts(member: tarfile.TarInfo) -> tuple[object, ...]:
    return member.name, member.size, member.mode, member.mtime, member.type


def test_files_that_are_made_durable_together_are_each_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    files = [os.open(tmp_path / str(number), os.O_RDWR | os.O_CREAT) for number in range(300)]
    for fd in files:
        os.write(fd, b"x")
    syncing.sync_all(files)
    # On a processor whose numbers of these calls are not known, one after the other.
    synced: list[int] = []
    monkeypatch.setattr(syncing.platform, "machine", lambda: "vax")
    monkeypatch.setattr(os, "fsync", synced.append)
    syncing.sync_all(files)
    assert synced == files
    for fd in files:
        os.close(fd)


def test_a_file_that_cannot_be_made_durable_is_an_error(tmp_path: Path):
    good = os.open(tmp_path / "good", os.O_RDWR | os.O_CREAT)
    out, into = os.pipe()  # fsync(2) refuses pipes
    with pytest.raises(OSError, match="Invalid argument"):
        syncing.sync_all([good, good, into])
    for fd in (good, out, into):
        os.close(fd)


def test_files_are_made_durable_without_waiting_for_contexts_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    files = [os.open(tmp_path / str(number), os.O_RDWR | os.O_CREAT) for number in range(600)]
    syncing.sync_all(files)
    calls = list[int]()

    class Recording:
        def syscall(self, number: int, *args: object) -> int:
            calls.append(number)
            return int(libc.syscall(number, *args))

    libc = syncing._libc
    monkeypatch.setattr(syncing, "_libc", Recording())
    monkeypatch.setattr(os, "fsync", calls.append)
    syncing.sync_all(files)
    _, _, get_events, submit = syncing._CALLS[platform.machine()]
    assert calls.count(submit) == 2  # of 512 files and of 88
    assert set(calls) == {submit, get_events}
    for fd in files:
        os.close(fd)


def test_a_forked_process_makes_files_durable_by_itself(tmp_path: Path):
    files = [os.open(tmp_path / str(number), os.O_RDWR | os.O_CREAT) for number in range(3)]
    syncing.sync_all(files)
    if (child := os.fork()) == 0:
        status = 1
        try:
            status = syncing._sync_together(files) != len(files)
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for fd in files:
        os.close(fd)
