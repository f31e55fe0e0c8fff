"""Transfers of the SDK against servers that refuse, lose, break off and lie."""

import fcntl
import io
import os
import re
import socket
import tarfile
import threading
from base64 import b64encode
from pathlib import Path
from time import sleep
from typing import Literal, NoReturn

import pytest
from carrel_client import Carrel, CarrelError, crew, fetching, sending, streaming
from carrel_client.cli.folders import place
from scripted_server import answer, wire_server

MADE = {"Location": "uploads/u1"}
NOW = "2026-01-02T03:04:05.250000Z"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pauses between tries, and files that are large early."""
    monkeypatch.setattr(crew, "_PAUSES_S", (0.0,) * 5)
    monkeypatch.setattr(sending, "AT_ONCE", 100)
    monkeypatch.setattr(fetching, "AT_ONCE", 5)


def headed(status: str, **headers: object) -> bytes:
    """An answer without a body."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return answer(status=status, headers=lines)


def entry(name: str, size: int, **more: object) -> dict[str, object]:
    """A file as the API shows it."""
    return {
        "name": name, "path": name, "kind": "file", "readable": True, "size_bytes": size, "mode": "644",
        "type": None, "etag": '"e1"', "modified_at": NOW, **more,
    }  # fmt: skip


def listing(*items: object) -> bytes:
    return answer({"items": items, "path": "", "total": len(items), "permission": "rw", "next_cursor": None})


def problem(status: str, code: str) -> bytes:
    return answer({"code": code, "detail": "No."}, status=status)


def first_lines(requests: list[bytes]) -> list[str]:
    """Method and the end of the path of each request."""
    found = (re.match(rb"(\w+) \S*?([\w.]+)(?:\?\S*)? ", request) for request in requests)
    return [f"{each[1].decode()} {each[2].decode()}" for each in found if each]


def local(tmp_path: Path, size: int) -> Path:
    path = tmp_path / "file"
    path.write_bytes(b"x" * size)
    os.utime(path, (1767323045.25, 1767323045.25))
    return path


def test_a_small_file_is_sent_again_after_what_passes(tmp_path: Path) -> None:
    refusals = ["423 Locked", "460 Checksum", "503 Unavailable"]
    script = [listing(), *(problem(status, "x.y") for status in refusals)]
    with wire_server([*script, headed("201 Created", Upload_Offset=3, **MADE)]) as wire:
        done = Carrel(wire.url).transfers.upload("data", [str(local(tmp_path, 3))])
    assert (done.meter.files, done.meter.bytes, done.failed) == (1, 3, [])
    assert first_lines(wire.requests) == ["GET files", *["POST uploads"] * 4]
    assert all(request.endswith(b"\r\n\r\nxxx") for request in wire.requests[1:])


@pytest.mark.parametrize(("modified_at", "failed"), [(NOW, 0), ("2026-01-02T03:04:06Z", 1)])
def test_a_file_that_an_unheard_try_brought_is_there(tmp_path: Path, modified_at: str, failed: int) -> None:
    there = answer(entry("file", 3, modified_at=modified_at))
    # The first try is not answered, and the second one hears that the name is taken.
    scripts = [[listing(), b""], [problem("409 Conflict", "file.exists"), there]]
    with wire_server(*scripts) as wire:
        done = Carrel(wire.url).transfers.upload("data", [str(local(tmp_path, 3))])
    assert len(done.failed) == failed


def tree(tmp_path: Path, *names: str) -> str:
    for name in names:
        (tmp_path / name).write_bytes(b"xyz")
        os.utime(tmp_path / name, (1767323045.25, 1767323045.25))
    return f"{tmp_path}/"


def test_small_files_travel_together_and_each_is_told_of(tmp_path: Path) -> None:
    refused = [
        {"path": "b", "code": "file.exists", "message": "It is there."},
        {"path": "c", "code": "upload.too_large", "message": "It is large."},
    ]
    script = [
        listing(),
        problem("503 Unavailable", "x.y"),
        answer({"paths": ["a"], "refused": refused}),
        answer(entry("b", 3)),  # the first try brought it, and nobody heard of that
    ]
    with wire_server(script) as wire:
        done = Carrel(wire.url).transfers.upload("data", [tree(tmp_path, "a", "b", "c")], workers=1)
    assert (done.meter.files, done.meter.bytes) == (2, 6)
    assert [(os.path.basename(name), error.code) for name, error in done.failed] == [
        ("c", "upload.too_large")
    ]
    assert first_lines(wire.requests) == ["GET files", "POST unpack", "POST unpack", "GET info"]
    with tarfile.open(fileobj=io.BytesIO(wire.requests[2].partition(b"\r\n\r\n")[2])) as file:
        assert {(each.name, each.mtime) for each in file} == {(name, 1767323045.25) for name in "abc"}


def test_what_is_refused_of_all_together_is_tried_for_each(tmp_path: Path) -> None:
    script = [
        listing(),
        problem("409 Conflict", "quota.bytes"),
        headed("201 Created", Upload_Offset=3, **MADE),
        problem("409 Conflict", "quota.bytes"),
        problem("404 Not Found", "file.not_found"),
    ]
    with wire_server(script) as wire:
        done = Carrel(wire.url).transfers.upload("data", [tree(tmp_path, "a", "b")], workers=1)
    assert (done.meter.files, [error.code for _, error in done.failed]) == (1, ["quota.bytes"])


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
        done = Carrel(wire.url).transfers.download("data", ["/"], str(tmp_path / "to"), workers=1)
    assert (done.meter.files, [(name, error.code) for name, error in done.failed]) == (
        2,
        [("b", "file.not_found")],
    )
    found = (tmp_path / "to" / "a").stat()
    assert (sorted(os.listdir(tmp_path / "to"))[-2:], found.st_mtime, found.st_mode & 0o777) == (
        ["a", "c"], 1767323045.25, 0o755,
    )  # fmt: skip


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
    found = listing(*[entry(name, 30_000) for name in "abc"])
    whole = packed("a", "b", "c", size=30_000)
    if cut:
        scripts = [[found, answer(whole)[:50_000]], [answer(packed("b", "c", size=30_000))]]
    else:
        scripts = [[found, answer(whole[:50_000])], [answer(b"x" * 30_000), answer(b"x" * 30_000)]]
    with wire_server(*scripts) as wire:
        done = Carrel(wire.url, timeout_s=1).transfers.download("data", ["/"], str(tmp_path), workers=1)
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
        done = Carrel(wire.url, timeout_s=1).transfers.download("data", ["/"], str(tmp_path), workers=1)
    assert (done.meter.files, [(name, error.code) for name, error in done.failed]) == (
        2,
        [("b", "file.not_found")],
    )


def test_small_files_of_which_the_server_says_nothing_are_sent_one_by_one(tmp_path: Path) -> None:
    made = headed("201 Created", Upload_Offset=3, **MADE)
    script = [listing(), answer({"paths": ["a"], "refused": []}), made, made]
    with wire_server(script) as wire:
        done = Carrel(wire.url, timeout_s=1).transfers.upload("data", [tree(tmp_path, *"abc")], workers=1)
    assert first_lines(wire.requests)[1:] == ["POST unpack", "POST uploads", "POST uploads"]
    assert (done.meter.files, done.meter.bytes, done.failed) == (3, 9, [])


class Trickle(io.RawIOBase):
    """Gives less than it is asked for, as sockets do."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = iter(pieces)

    def read(self, size: int = -1) -> bytes:
        return next(self._pieces, b"")


def test_a_stream_ends_when_nothing_comes_any_more() -> None:
    script = [headed("201 Created", Upload_Offset=0, **MADE)]
    script += [headed("204 No Content", Upload_Offset=offset) for offset in (2, 5, 6)]
    with wire_server(script) as wire:
        source = Trickle(b"ab", b"cde", b"f")
        Carrel(wire.url, timeout_s=1).transfers.upload_stream("data", source, "a")  # type: ignore[arg-type]
    assert [request.partition(b"\r\n\r\n")[2] for request in wire.requests[1:]] == [b"ab", b"cde", b"f"]
    assert [b"Upload-Length" in request for request in wire.requests[1:]] == [False, False, True]


def test_a_stream_goes_on_from_what_the_server_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "_PIECE", 4)
    script = [
        headed("201 Created", Upload_Offset=0, **MADE),
        headed("204 No Content", Upload_Offset=4),
        problem("503 Unavailable", "x.y"),
        headed("200 OK", Upload_Offset=6),
        problem("503 Unavailable", "x.y"),  # it was the last one, and nobody heard of it
        headed("200 OK", Upload_Offset=8, Upload_Length=8),
        headed("204 No Content", Upload_Offset=8),
    ]
    with wire_server(script) as wire:
        done = Carrel(wire.url).transfers.upload_stream("data", io.BytesIO(b"abcdefgh"), "a")
    assert (done.meter.files, done.meter.bytes, done.failed) == (1, 8, [])
    assert first_lines(wire.requests) == [
        "POST uploads", "PATCH u1", "PATCH u1", "HEAD u1", "PATCH u1", "HEAD u1", "PATCH u1",
    ]  # fmt: skip
    assert b"Upload-Defer-Length: 1\r\n" in wire.requests[0]
    assert wire.requests[4].endswith(b"\r\n\r\ngh")
    assert b"Upload-Length: 8\r\n" in wire.requests[6]


def test_a_large_file_goes_on_from_what_the_server_has(tmp_path: Path) -> None:
    script = [
        listing(),
        answer({"items": []}),
        headed("201 Created", Upload_Offset=0, **MADE),
        headed("204 No Content", Upload_Offset=80),
        problem("409 Conflict", "upload.offset"),
        headed("200 OK", Upload_Offset=120, Upload_Length=150),
        headed("204 No Content", Upload_Offset=150),
    ]
    with wire_server(script) as wire:
        done = Carrel(wire.url).transfers.upload("data", [str(local(tmp_path, 150))])
    assert (done.meter.files, done.meter.bytes, done.failed) == (1, 150, [])
    tries = ["GET files", "GET uploads", "POST uploads", "PATCH u1", "PATCH u1", "HEAD u1", "PATCH u1"]
    assert first_lines(wire.requests) == tries
    assert b"Upload-Offset: 120\r\n" in wire.requests[-1]
    assert wire.requests[-1].endswith(b"\r\n\r\n" + b"x" * 30)


def test_a_refusal_that_is_not_about_the_offset_ends_the_file(tmp_path: Path) -> None:
    script = [
        listing(),
        answer({"items": []}),
        headed("201 Created", Upload_Offset=0, **MADE),
        problem("409 Conflict", "file.exists"),
    ]
    with wire_server(script) as wire:
        done = Carrel(wire.url).transfers.upload("data", [str(local(tmp_path, 150))])
    assert [error.code for _, error in done.failed] == ["file.exists"]


@pytest.mark.parametrize("heard", [True, False])
def test_a_file_that_is_refused_at_its_last_byte_is_not_taken_for_sent(tmp_path: Path, heard: bool) -> None:
    script = [
        listing(),
        answer({"items": []}),
        headed("201 Created", Upload_Offset=0, **MADE),
    ]
    if not heard:  # all of it is in the stage, and stays there
        script += [problem("503 Unavailable", "x.y"), headed("200 OK", Upload_Offset=150, Upload_Length=150)]
    script.append(problem("409 Conflict", "file.exists"))
    with wire_server(script) as wire:
        done = Carrel(wire.url).transfers.upload("data", [str(local(tmp_path, 150))])
    assert ([error.code for _, error in done.failed], done.meter.files) == (["file.exists"], 0)


def test_an_upload_of_which_all_had_arrived_is_ended(tmp_path: Path) -> None:
    path = local(tmp_path, 150)
    metadata = {"path": b"file", "clash": b"refuse", "modified": b"1767323045.250000"}
    spelled = ",".join(f"{name} {b64encode(value).decode()}" for name, value in metadata.items())
    state = headed("200 OK", Upload_Offset=150, Upload_Length=150, Upload_Metadata=spelled)
    begun = answer({"items": [{"id": "u1"}]})
    script = [listing(), begun, state, state, problem("409 Conflict", "file.exists")]
    with wire_server(script) as wire:
        done = Carrel(wire.url).transfers.upload("data", [str(path)])
    assert first_lines(wire.requests)[2:] == ["HEAD u1", "HEAD u1", "PATCH u1"]
    assert ([error.code for _, error in done.failed], done.meter.files) == (["file.exists"], 0)


def test_an_upload_that_ended_unheard_is_over(tmp_path: Path) -> None:
    script = [
        listing(),
        answer({"items": []}),
        headed("201 Created", Upload_Offset=0, **MADE),
        problem("503 Unavailable", "x.y"),
        headed("404 Not Found"),
        problem("404 Not Found", "upload.not_found"),
        answer(entry("file", 150)),
    ]
    with wire_server(script) as wire:
        done = Carrel(wire.url).transfers.upload("data", [str(local(tmp_path, 150))])
    assert (done.failed, done.meter.files, done.meter.bytes) == ([], 1, 150)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("cut", [False, True])
def test_a_folder_that_is_closed_meanwhile_ends_the_file(tmp_path: Path, cut: bool, streamed: bool) -> None:
    script = [headed("201 Created", Upload_Offset=0, **MADE)]
    if cut:  # whoever asks how much has arrived gets no words
        script += [problem("503 Unavailable", "x.y"), headed("409 Conflict")]
    script += [problem("409 Conflict", "vfolder.state")]
    with wire_server(script if streamed else [listing(), answer({"items": []}), *script]) as wire:
        transfers = Carrel(wire.url, timeout_s=1).transfers
        if streamed:
            done = transfers.upload_stream("data", io.BytesIO(b"abc"), "a")
        else:
            done = transfers.upload("data", [str(local(tmp_path, 150))])
    assert [error.code for _, error in done.failed] == ["vfolder.state"]
    assert first_lines(wire.requests)[-1] == "PATCH u1"


def test_parts_that_were_put_together_unheard_are_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "Crew", lambda size, meter: crew.Crew(1, meter))  # one after another
    part = [headed("201 Created", Upload_Offset=0, **MADE), headed("204 No Content", Upload_Offset=500)]
    script = [
        *part,
        *part,
        problem("503 Unavailable", "x.y"),
        problem("404 Not Found", "upload.not_found"),  # for the file is made of them
        answer(entry("file", 1000)),
    ]
    meter, path = crew.Meter(), str(local(tmp_path, 1000))
    with wire_server(script) as wire:
        client = Carrel(wire.url, timeout_s=1)
        into = sending.Place(client.files, client.uploads, "data", checked=False, parts=2)
        sending.send(into, sending.Source(path, "file", os.stat(path)), meter)
    assert first_lines(wire.requests)[-3:] == ["POST uploads", "POST uploads", "GET info"]
    assert (meter.files, meter.bytes) == (1, 1000)


def test_an_answer_that_does_not_say_how_much_has_arrived_is_none() -> None:
    with wire_server([headed("200 OK")]) as wire, pytest.raises(CarrelError, match=r"not_carrel"):
        Carrel(wire.url).uploads.append("data", "u1", offset=0, body=b"x")


def test_what_holds_for_every_file_ends_all_of_them(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / str(number)).write_text("x")
    with wire_server([listing(), problem("403 Forbidden", "vfolder.permission")]) as wire:
        with pytest.raises(CarrelError, match=r"vfolder\.permission"):
            Carrel(wire.url).transfers.upload("data", [f"{tmp_path}/"], workers=1)
        assert len(wire.requests) == 2


def test_the_first_thing_that_ends_all_is_what_is_told() -> None:
    meter = crew.Meter()

    def no_room() -> NoReturn:
        raise CarrelError("storage.full", "No.", status=507)

    def half_done() -> NoReturn:
        while not meter.stopped:
            sleep(0.001)
        raise KeyError("what the others did not bring")

    def both() -> None:
        with crew.Crew(2, meter) as together:
            together.give("a", half_done)
            together.give("b", no_room)

    with pytest.raises(CarrelError, match=r"storage\.full"):
        both()


def test_parts_that_are_stopped_are_not_put_together(tmp_path: Path) -> None:
    meter, client = crew.Meter(), Carrel("http://127.0.0.1:1")

    def begun(*args: object, **options: object) -> tuple[str, int]:
        meter.stop()  # something else went wrong for good
        return "u1", 0

    client.uploads.create = begun  # type: ignore[method-assign]
    into = sending.Place(client.files, client.uploads, "data", checked=False, parts=2)
    path = str(local(tmp_path, 1000))
    with pytest.raises(crew.Stopped):
        sending.send(into, sending.Source(path, "file", os.stat(path)), meter)


def test_who_refuses_without_reading_is_heard(tmp_path: Path) -> None:
    """As a proxy does that finds a body too large."""
    path = local(tmp_path, 32 << 20)
    listener = socket.create_server(("127.0.0.1", 0))

    def refuse() -> None:
        connection, _ = listener.accept()
        connection.recv(1000)
        connection.sendall(problem("413 Content Too Large", "http.content_too_large"))
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(0.2)
        connection.close()

    thread = threading.Thread(target=refuse)
    thread.start()
    client = Carrel(f"http://127.0.0.1:{listener.getsockname()[1]}")
    with path.open("rb") as file, pytest.raises(CarrelError) as refused:
        client.uploads.append("data", "u1", offset=0, body=sending.Part(file, 0, 32 << 20))
    thread.join()
    listener.close()
    assert refused.value.code == "http.content_too_large"


def test_a_file_that_changes_meanwhile_is_not_taken_for_whole(tmp_path: Path) -> None:
    path = local(tmp_path, 150)
    script = [listing(), answer({"items": []}), headed("201 Created", Upload_Offset=0, **MADE)]
    with wire_server(script) as wire:
        client = Carrel(wire.url)
        seen = client.uploads.create

        def cut_short(*args: object, **options: object) -> tuple[str, int]:
            path.write_bytes(b"x" * 70)
            return seen(*args, **options)  # type: ignore[arg-type]

        client.uploads.create = cut_short  # type: ignore[method-assign]
        done = client.transfers.upload("data", [str(path)])
    assert [error.code for _, error in done.failed] == ["client.file_changed"]


def test_a_download_begins_anew_when_the_file_is_another(tmp_path: Path) -> None:
    wanted = entry("file", 6)
    broken = b'HTTP/1.1 200 OK\r\nContent-Length: 6\r\nETag: "e1"\r\n\r\nold'
    whole = answer(b"newest", headers='ETag: "e2"\r\n')
    with wire_server([listing(wanted), broken], [whole]) as wire:
        done = Carrel(wire.url).transfers.download("data", ["/"], str(tmp_path))
    assert done.failed == []
    assert (tmp_path / "file").read_bytes() == b"newest"
    assert b'Range: bytes=3-\r\nIf-Range: "e1"\r\n' in wire.requests[-1]
    assert done.meter.bytes == 6


def test_a_download_whose_end_is_not_marked_is_whole_when_all_of_it_is_here(tmp_path: Path) -> None:
    """As from a proxy that marks it by hanging up, or breaks."""
    broken = b'HTTP/1.1 200 OK\r\nETag: "e1"\r\n\r\nfir'
    rest = answer(b"st!", status="206 Partial Content", headers="Content-Range: bytes 3-5/6\r\n")
    with wire_server([listing(entry("file", 6)), broken], [rest]) as wire:
        Carrel(wire.url, timeout_s=1).transfers.download("data", ["/"], str(tmp_path))
    assert (tmp_path / "file").read_bytes() == b"first!"


def test_a_download_takes_the_rest_and_keeps_the_time(tmp_path: Path) -> None:
    broken = b'HTTP/1.1 200 OK\r\nContent-Length: 6\r\nETag: "e1"\r\n\r\nfir'
    rest = answer(b"st!", status="206 Partial Content", headers="Content-Range: bytes 3-5/6\r\n")
    with wire_server([listing(entry("file", 6)), broken], [rest]) as wire:
        Carrel(wire.url).transfers.download("data", ["/"], str(tmp_path))
    assert (tmp_path / "file").read_bytes() == b"first!"
    assert (tmp_path / "file").stat().st_mtime == 1767323045.25
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_two_runs_do_not_bring_the_same_file_at_once(tmp_path: Path) -> None:
    wanted = entry("file", 300_000)
    part = Path(fetching.part_of(str(tmp_path / "file"), wanted))  # type: ignore[arg-type]
    with part.open("ab") as other, wire_server([listing(wanted)]) as wire:
        fcntl.flock(other, fcntl.LOCK_EX)
        done = Carrel(wire.url, timeout_s=1).transfers.download("data", ["/"], str(tmp_path))
    assert [error.code for _, error in done.failed] == ["client.busy"]
    assert [path.name for path in tmp_path.iterdir()] == [part.name]


def test_a_download_goes_on_with_what_an_earlier_run_has_brought(tmp_path: Path) -> None:
    wanted = entry("file", 6)
    Path(fetching.part_of(str(tmp_path / "file"), wanted)).write_bytes(b"fir")  # type: ignore[arg-type]
    Path(fetching.part_of(str(tmp_path / "file"), {**wanted, "etag": '"e0"'})).write_bytes(b"old")  # type: ignore[typeddict-item]
    rest = answer(b"st!", status="206 Partial Content", headers="Content-Range: bytes 3-5/6\r\n")
    with wire_server([listing(wanted), rest]) as wire:
        Carrel(wire.url).transfers.download("data", ["/"], str(tmp_path))
    assert b'Range: bytes=3-\r\nIf-Range: "e1"\r\n' in wire.requests[-1]
    assert (tmp_path / "file").read_bytes() == b"first!"
    assert [path.name for path in tmp_path.iterdir()] == ["file"], "what was of another content is gone"


@pytest.mark.parametrize("names", [("a (1)", "a"), ("a", "a (1)")])
def test_a_name_that_one_file_will_get_goes_to_no_other(tmp_path: Path, names: tuple[str, str]) -> None:
    (tmp_path / "a").write_bytes(b"mine")
    script = [listing(*[entry(name, 3) for name in names]), answer(packed(*names))]
    with wire_server(script) as wire:
        done = Carrel(wire.url).transfers.download("data", ["/"], str(tmp_path), clash="rename", workers=1)
    assert (done.failed, done.meter.files) == ([], 2)
    assert sorted(path.read_bytes() for path in tmp_path.iterdir()) == [b")))", b"aaa", b"mine"]


@pytest.mark.parametrize("clash", ["refuse", "replace", "skip"])
def test_of_two_files_of_one_name_the_first_comes(
    tmp_path: Path, clash: Literal["refuse", "replace", "skip"]
) -> None:
    found = [answer(entry("a", 6, path=path)) for path in ("x/a", "y/a")]
    with wire_server([*found, answer(b"x" * 6)]) as wire:
        paths = ["x/a", "y/a", "x/a"]  # what is named twice comes once
        done = Carrel(wire.url).transfers.download("data", paths, str(tmp_path), clash=clash, workers=1)
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
        Carrel(wire.url).transfers.download("data", ["/"], str(tmp_path / "in"))
    assert [path.name for path in tmp_path.rglob("*")] == ["in"]


def test_somebody_who_stops_does_not_wait_for_a_server_that_is_silent(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("x")
    asked: list[str] = []

    def stop(path: str) -> NoReturn:
        asked.append(path)
        raise KeyboardInterrupt

    # Nobody answers when "a" is sent.
    with wire_server([listing(entry("b", 9))]) as wire, pytest.raises(KeyboardInterrupt):
        Carrel(wire.url).transfers.upload(
            "data", [str(tmp_path / "a"), str(tmp_path / "b")], clash=stop, workers=1
        )
    assert asked == ["b"]


@pytest.mark.parametrize(
    ("text", "folder", "path"),
    [("data:", "data", ""), ("data:a/b", "data", "a/b"), (".cache:/a", ".cache", "a"), ("data:/", "data", "/"),
     ("data:a:b", "data", "a:b"), ("data:a\nb", "data", "a\nb")],
)  # fmt: skip
def test_a_place_in_a_folder_is_known_by_its_colon(text: str, folder: str, path: str) -> None:
    found = place(text)
    assert found
    assert (found.folder, found.path) == (folder, path)


@pytest.mark.parametrize("text", ["./a:b", "data", "/tmp/a:b", "a b:c", ":x", "-"])
def test_other_words_are_of_this_machine(text: str) -> None:
    assert place(text) is None
