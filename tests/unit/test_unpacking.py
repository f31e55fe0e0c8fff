"""Tar files that were made to do harm, taken apart."""

import tarfile
from io import BytesIO, FileIO
from pathlib import Path

import pytest

from carrel.core.errors import Conflict, Invalid
from carrel.storage.packs import Unpacking
from carrel.storage.tree import Clash

END = bytes(1024)


def unpacking(folder: Path, body: bytes) -> Unpacking:
    for name in ("files", "stage"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "body").write_bytes(body)
    return Unpacking(
        FileIO(folder / "body"), folder / "files", folder / "stage", "", Clash.REPLACE, name="written-t",
        largest=1 << 20, too_large=lambda: Conflict("too.large", "Too large."),
    )  # fmt: skip


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
        pytest.param(about_next(b"", tarfile.GNUTYPE_LONGNAME) * 2000 + header("deep"), id="headers of headers"),
        pytest.param(header("long", 2 << 20, tarfile.XHDTYPE) + bytes(2 << 20), id="a header without end"),
        pytest.param(b"x" * 512 + header("last"), id="something else"),
    ],
)  # fmt: skip
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
    assert step is not None
    assert (step.refused, begun.step()) == ([], None)
    assert step.paths == [f"{name}/{tarfile.PAX_FORMAT}", f"{name}/{tarfile.GNU_FORMAT}"]
