"""Downloads of the SDK from servers that refuse, lose, break off and lie."""

import fcntl
import io
import os
import tarfile
from pathlib import Path
from typing import Literal

import pytest
from carrel_client import CarrelError, fetching, workers
from carrel_client.client import ApiClient
from scripted_server import answer, wire_server
from transfer_kit import entry, first_lines, listing, problem


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pauses between tries, and files that are large early."""
    monkeypatch.setattr(workers, "_PAUSES_S", (0.0,) * 5)
    monkeypatch.setattr(fetching, "AT_ONCE", 5)


def test_small_files_come_together_and_what_is_left_out_says_why(tmp_path: Path) -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as file:
        for name in ("a", "odd", "c"):
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.mode = 3, 1767323045.25, 0o755
            file.addfile(info, io.BytesIO(b"xyz"))
    script = [
        listing(*[entry(name, 3) for name in "abc"]),
        answer(made.getvalue(), headers="Content-Type: application/x-tar\r\n"),
        problem("404 Not Found", "file.not_found"),
    ]
    with wire_server(script) as wire:
        done = ApiClient(wire.url).transfers.download("data", ["/"], str(tmp_path / "to"), workers=1)
    assert (done.meter.files, [(name, error.code) for name, error in done.failed]) == (
        2,
        [("b", "file.not_found")],
    )
    status = (tmp_path / "to" / "a").stat()
    assert (sorted(os.listdir(tmp_path / "to"))[-2:], status.st_mtime, status.st_mode & 0o777) == (
        ["a", "c"],
        1767323045.25,
        0o755,
    )


def packed(*names: str, size: int = 3) -> bytes:
    """A tar file of such small files, whose bytes are the last letter of their name."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as file:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size, info.mtime = size, 1767323045.25
            file.addfile(info, io.BytesIO(name[-1:].encode() * size))
    return made.getvalue()


@pytest.mark.parametrize("cut", [True, False])
def test_a_small_file_that_is_cut_in_two_comes_again(tmp_path: Path, cut: bool) -> None:
    """The line breaks within it, or what comes is not all of a tar file."""
    entries = listing(*[entry(name, 30_000) for name in "abc"])
    archive = packed("a", "b", "c", size=30_000)
    if cut:
        scripts = [[entries, answer(archive)[:50_000]], [answer(packed("b", "c", size=30_000))]]
    else:
        scripts = [[entries, answer(archive[:50_000])], [answer(b"x" * 30_000), answer(b"x" * 30_000)]]
    with wire_server(*scripts) as wire:
        done = ApiClient(wire.url).transfers.download("data", ["/"], str(tmp_path), workers=1)
    assert (done.failed, done.meter.files, done.meter.bytes) == ([], 3, 90_000)
    assert {path.name: path.stat().st_size for path in tmp_path.iterdir()} == dict.fromkeys("abc", 30_000)


def test_what_does_not_come_together_is_asked_for_one_by_one(tmp_path: Path) -> None:
    script = [
        listing(*[entry(name, 3) for name in "abc"]),
        problem("404 Not Found", "http.not_found"),
        answer(b"xyz"),
        problem("404 Not Found", "file.not_found"),
        answer(b"xyz"),
    ]
    with wire_server(script) as wire:
        done = ApiClient(wire.url).transfers.download("data", ["/"], str(tmp_path), workers=1)
    assert (done.meter.files, [(name, error.code) for name, error in done.failed]) == (
        2,
        [("b", "file.not_found")],
    )


def test_a_download_begins_anew_when_the_file_is_another(tmp_path: Path) -> None:
    file = entry("file", 6)
    broken = b'HTTP/1.1 200 OK\r\nContent-Length: 6\r\nETag: "e1"\r\n\r\nold'
    complete = answer(b"newest", headers='ETag: "e2"\r\n')
    with wire_server([listing(file), broken], [complete]) as wire:
        done = ApiClient(wire.url).transfers.download("data", ["/"], str(tmp_path))
    assert done.failed == []
    assert (tmp_path / "file").read_bytes() == b"newest"
    assert b'Range: bytes=3-\r\nIf-Range: "e1"\r\n' in wire.requests[-1]
    assert done.meter.bytes == 6


def test_a_download_whose_end_is_not_marked_is_whole_when_all_of_it_is_here(tmp_path: Path) -> None:
    """As from a proxy that marks it by hanging up, or breaks."""
    broken = b'HTTP/1.1 200 OK\r\nETag: "e1"\r\n\r\nfir'
    rest = answer(b"st!", status="206 Partial Content", headers="Content-Range: bytes 3-5/6\r\n")
    with wire_server([listing(entry("file", 6)), broken], [rest]) as wire:
        ApiClient(wire.url).transfers.download("data", ["/"], str(tmp_path))
    assert (tmp_path / "file").read_bytes() == b"first!"


def test_a_download_takes_the_rest_and_keeps_the_time(tmp_path: Path) -> None:
    broken = b'HTTP/1.1 200 OK\r\nContent-Length: 6\r\nETag: "e1"\r\n\r\nfir'
    rest = answer(b"st!", status="206 Partial Content", headers="Content-Range: bytes 3-5/6\r\n")
    with wire_server([listing(entry("file", 6)), broken], [rest]) as wire:
        ApiClient(wire.url).transfers.download("data", ["/"], str(tmp_path))
    assert (tmp_path / "file").read_bytes() == b"first!"
    assert (tmp_path / "file").stat().st_mtime == 1767323045.25
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_two_runs_do_not_bring_the_same_file_at_once(tmp_path: Path) -> None:
    file = entry("file", 300_000)
    part = Path(fetching.part_of(str(tmp_path / "file"), file))  # type: ignore[arg-type]
    with part.open("ab") as other, wire_server([listing(file)]) as wire:
        fcntl.flock(other, fcntl.LOCK_EX)
        done = ApiClient(wire.url).transfers.download("data", ["/"], str(tmp_path))
    assert [error.code for _, error in done.failed] == ["client.busy"]
    assert [path.name for path in tmp_path.iterdir()] == [part.name]


def test_a_download_goes_on_with_what_an_earlier_run_has_brought(tmp_path: Path) -> None:
    file = entry("file", 6)
    Path(fetching.part_of(str(tmp_path / "file"), file)).write_bytes(b"fir")  # type: ignore[arg-type]
    Path(fetching.part_of(str(tmp_path / "file"), {**file, "etag": '"e0"'})).write_bytes(b"old")  # type: ignore[typeddict-item]
    rest = answer(b"st!", status="206 Partial Content", headers="Content-Range: bytes 3-5/6\r\n")
    with wire_server([listing(file), rest]) as wire:
        ApiClient(wire.url).transfers.download("data", ["/"], str(tmp_path))
    assert b'Range: bytes=3-\r\nIf-Range: "e1"\r\n' in wire.requests[-1]
    assert (tmp_path / "file").read_bytes() == b"first!"
    assert [path.name for path in tmp_path.iterdir()] == ["file"], "what was of another content is gone"


@pytest.mark.parametrize("names", [("a (1)", "a"), ("a", "a (1)")])
def test_a_name_that_one_file_will_get_goes_to_no_other(tmp_path: Path, names: tuple[str, str]) -> None:
    (tmp_path / "a").write_bytes(b"mine")
    script = [listing(*[entry(name, 3) for name in names]), answer(packed(*names))]
    with wire_server(script) as wire:
        done = ApiClient(wire.url).transfers.download("data", ["/"], str(tmp_path), clash="rename", workers=1)
    assert (done.failed, done.meter.files) == ([], 2)
    assert sorted(path.read_bytes() for path in tmp_path.iterdir()) == [b")))", b"aaa", b"mine"]


@pytest.mark.parametrize("clash", ["refuse", "replace", "skip"])
def test_of_two_files_of_one_name_the_first_comes(
    tmp_path: Path, clash: Literal["refuse", "replace", "skip"]
) -> None:
    answers = [answer(entry("a", 6, path=path)) for path in ("x/a", "y/a")]
    with wire_server([*answers, answer(b"x" * 6)]) as wire:
        paths = ["x/a", "y/a", "x/a"]  # what is named twice comes once
        done = ApiClient(wire.url).transfers.download("data", paths, str(tmp_path), clash=clash, workers=1)
    assert first_lines(wire.requests) == ["GET info", "GET info", "GET content"]
    assert ([name for name, _ in done.failed], [name for name, _ in done.skipped]) == (
        ([], ["y/a"]) if clash == "skip" else (["y/a"], [])
    )


@pytest.mark.parametrize("name", ["..", ".", "", "a/../../b", "/etc/passwd", "a\0b"])
def test_a_name_that_leads_elsewhere_is_not_followed(tmp_path: Path, name: str) -> None:
    with (
        wire_server([listing(entry(name, 1))]) as wire,
        pytest.raises(CarrelError, match=r"client\.odd_name"),
    ):
        ApiClient(wire.url).transfers.download("data", ["/"], str(tmp_path / "in"))
    assert [path.name for path in tmp_path.rglob("*")] == ["in"]
