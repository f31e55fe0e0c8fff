"""Contexts of builds: what is kept of a tar file, and what an engine is given."""

import bz2
import gzip
import io
import lzma
import tarfile
from collections.abc import Callable

import pytest

from carrel.builds import contexts
from carrel.core.errors import Invalid, TooLarge


def archive(
    files: dict[str, bytes], *, links: dict[str, str] | None = None, kind: bytes | None = None
) -> bytes:
    with io.BytesIO() as buffer:
        with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
            for name, content in files.items():
                entry = tarfile.TarInfo(name)
                entry.size, entry.mtime = len(content), 1
                tar.addfile(entry, io.BytesIO(content))
            for name, target in (links or {}).items():
                entry = tarfile.TarInfo(name)
                entry.type, entry.linkname = kind or tarfile.SYMTYPE, target
                tar.addfile(entry)
        return buffer.getvalue()


def test_a_context_is_kept_without_owners_times_and_directories() -> None:
    packed = contexts.pack(archive({"./a/b": b"hello", "c": b""}, links={"a/l": "../c"}))
    again = contexts.pack(archive({"c": b"", "a/b": b"hello"}, links={"a/l": "../c"}))
    assert packed == again
    assert (packed.files, packed.size_bytes) == (3, 5)
    assert list(contexts.listing(packed.content)) == ["a/b", "a/l", "c"]
    assert contexts.texts(packed.content, ["a/b", "x"]) == {"a/b": "hello"}


@pytest.mark.parametrize(
    "sent",
    [
        b"nothing",
        archive({"../x": b""}),
        archive({"/etc/passwd": b""}),
        archive({}, links={"l": "/etc/passwd"}),
        archive({}, links={"a/l": "../../x"}),
        archive({}, links={"l": "x"}, kind=tarfile.LNKTYPE),
        archive({}, links={"l": ""}, kind=tarfile.FIFOTYPE),
    ],
)
def test_what_leads_outside_or_is_no_file_is_refused(sent: bytes) -> None:
    with pytest.raises(Invalid) as refused:
        contexts.pack(sent)
    assert refused.value.code == "build.bad_context"


def test_a_context_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contexts, "LARGEST_BYTES", 10)
    with pytest.raises(TooLarge):
        contexts.pack(archive({"a": b"0" * 11}))
    monkeypatch.setattr(contexts, "MOST_FILES", 1)
    with pytest.raises(TooLarge):
        contexts.pack(archive({"a": b"", "b": b""}))


def test_own_files_replace_those_of_the_context_and_are_never_ignored() -> None:
    packed = contexts.pack(archive({"Dockerfile": b"FROM evil", ".dockerignore": b"*", "x": b"1"}))
    given = contexts.for_engine(packed.content, {"Dockerfile": b"FROM a", ".carrel/ca": b"c"})
    with tarfile.open(fileobj=given) as tar:
        files = {entry.name: content.read() for entry in tar if (content := tar.extractfile(entry))}
    assert files["Dockerfile"] == b"FROM a"
    assert files[".dockerignore"] == b"*\n!.carrel\n!.carrel/**\n"
    assert set(files) == {"Dockerfile", ".dockerignore", ".carrel/ca", "x"}


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_small_file_does_not_become_a_large_one(compress: Callable[[bytes], bytes]) -> None:
    long_name = tarfile.TarInfo("x")
    long_name.type, long_name.size = tarfile.GNUTYPE_LONGNAME, 200 << 20
    bomb = compress(long_name.tobuf(tarfile.GNU_FORMAT) + bytes(200 << 20))
    assert len(bomb) < contexts.LARGEST_BYTES
    with pytest.raises(TooLarge):
        contexts.pack(bomb)


def test_directories_are_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contexts, "MOST_FILES", 3)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for number in range(7):
            directory = tarfile.TarInfo(f"d{number}")
            directory.type = tarfile.DIRTYPE
            archive.addfile(directory)
    with pytest.raises(TooLarge):
        contexts.pack(buffer.getvalue())
