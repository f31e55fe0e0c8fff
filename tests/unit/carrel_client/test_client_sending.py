"""Uploads of the SDK to servers that refuse, lose, break off and lie."""

import io
import os
import socket
import tarfile
import threading
from base64 import b64encode
from pathlib import Path
from typing import NoReturn

import pytest
from carrel_client import CarrelError, sending, streaming, workers
from carrel_client.client import ApiClient
from carrel_client.tar_headers import header
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from people import wait_until
from scripted_server import answer, wire_server
from transfer_kit import MADE, NOW, entry, first_lines, headed, listing, problem


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pauses between tries, and files that are large early."""
    monkeypatch.setattr(workers, "_PAUSES_S", (0.0,) * 5)
    monkeypatch.setattr(sending, "AT_ONCE", 100)


def local(tmp_path: Path, size: int) -> Path:
    path = tmp_path / "file"
    path.write_bytes(b"x" * size)
    os.utime(path, (1767323045.25, 1767323045.25))
    return path


def test_a_small_file_is_sent_again_after_what_passes(tmp_path: Path) -> None:
    refusals = ["423 Locked", "460 Checksum", "503 Unavailable"]
    script = [listing(), *(problem(status, "x.y") for status in refusals)]
    with wire_server([*script, headed("201 Created", Upload_Offset=3, **MADE)]) as wire:
        done = ApiClient(wire.url).transfers.upload("data", [str(local(tmp_path, 3))])
    assert (done.meter.files, done.meter.bytes, done.failed) == (1, 3, [])
    assert first_lines(wire.requests) == ["GET files", *["POST uploads"] * 4]
    assert all(request.endswith(b"\r\n\r\nxxx") for request in wire.requests[1:])


@pytest.mark.parametrize(("modified_at", "failed"), [(NOW, 0), ("2026-01-02T03:04:06Z", 1)])
def test_a_file_that_an_unheard_try_brought_is_there(tmp_path: Path, modified_at: str, failed: int) -> None:
    there = answer(entry("file", 3, modified_at=modified_at))
    # The first try is not answered, and the second one hears that the name is taken.
    scripts = [[listing(), b""], [problem("409 Conflict", "file.exists"), there]]
    with wire_server(*scripts) as wire:
        done = ApiClient(wire.url).transfers.upload("data", [str(local(tmp_path, 3))])
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
        done = ApiClient(wire.url).transfers.upload("data", [tree(tmp_path, "a", "b", "c")], workers=1)
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
        done = ApiClient(wire.url).transfers.upload("data", [tree(tmp_path, "a", "b")], workers=1)
    assert (done.meter.files, [error.code for _, error in done.failed]) == (1, ["quota.bytes"])


def test_small_files_of_which_the_server_says_nothing_are_sent_one_by_one(tmp_path: Path) -> None:
    made = headed("201 Created", Upload_Offset=3, **MADE)
    script = [listing(), answer({"paths": ["a"], "refused": []}), made, made]
    with wire_server(script) as wire:
        done = ApiClient(wire.url).transfers.upload("data", [tree(tmp_path, *"abc")], workers=1)
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
        ApiClient(wire.url).transfers.upload_stream("data", source, "a")  # type: ignore[arg-type]
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
        done = ApiClient(wire.url).transfers.upload_stream("data", io.BytesIO(b"abcdefgh"), "a")
    assert (done.meter.files, done.meter.bytes, done.failed) == (1, 8, [])
    assert first_lines(wire.requests) == [
        "POST uploads",
        "PATCH u1",
        "PATCH u1",
        "HEAD u1",
        "PATCH u1",
        "HEAD u1",
        "PATCH u1",
    ]
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
        done = ApiClient(wire.url).transfers.upload("data", [str(local(tmp_path, 150))])
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
        done = ApiClient(wire.url).transfers.upload("data", [str(local(tmp_path, 150))])
    assert [error.code for _, error in done.failed] == ["file.exists"]


@pytest.mark.parametrize("answered", [True, False])
def test_a_file_that_is_refused_at_its_last_byte_is_not_taken_for_sent(
    tmp_path: Path, answered: bool
) -> None:
    script = [
        listing(),
        answer({"items": []}),
        headed("201 Created", Upload_Offset=0, **MADE),
    ]
    if not answered:  # all of it is in the stage, and stays there
        script += [problem("503 Unavailable", "x.y"), headed("200 OK", Upload_Offset=150, Upload_Length=150)]
    script.append(problem("409 Conflict", "file.exists"))
    with wire_server(script) as wire:
        done = ApiClient(wire.url).transfers.upload("data", [str(local(tmp_path, 150))])
    assert ([error.code for _, error in done.failed], done.meter.files) == (["file.exists"], 0)


def test_an_upload_of_which_all_had_arrived_is_ended(tmp_path: Path) -> None:
    path = local(tmp_path, 150)
    metadata = {"path": b"file", "clash": b"refuse", "modified": b"1767323045.250000"}
    spelled = ",".join(f"{name} {b64encode(value).decode()}" for name, value in metadata.items())
    state = headed("200 OK", Upload_Offset=150, Upload_Length=150, Upload_Metadata=spelled)
    begun = answer({"items": [{"id": "u1"}]})
    script = [listing(), begun, state, state, problem("409 Conflict", "file.exists")]
    with wire_server(script) as wire:
        done = ApiClient(wire.url).transfers.upload("data", [str(path)])
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
        done = ApiClient(wire.url).transfers.upload("data", [str(local(tmp_path, 150))])
    assert (done.failed, done.meter.files, done.meter.bytes) == ([], 1, 150)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("cut", [False, True])
def test_a_folder_that_is_closed_meanwhile_ends_the_file(tmp_path: Path, cut: bool, streamed: bool) -> None:
    script = [headed("201 Created", Upload_Offset=0, **MADE)]
    if cut:  # whoever asks how much has arrived gets no words
        script += [problem("503 Unavailable", "x.y"), headed("409 Conflict")]
    script += [problem("409 Conflict", "vfolder.state")]
    # Nobody can go on with a stream: what arrived of it is removed.
    removed = answer(status="204 No Content")
    scripts = [*script, removed] if streamed else [listing(), answer({"items": []}), *script]
    with wire_server(scripts) as wire:
        transfers = ApiClient(wire.url).transfers
        if streamed:
            done = transfers.upload_stream("data", io.BytesIO(b"abc"), "a")
        else:
            done = transfers.upload("data", [str(local(tmp_path, 150))])
    assert [error.code for _, error in done.failed] == ["vfolder.state"]
    ends = ["PATCH u1", "DELETE u1"] if streamed else ["PATCH u1"]
    assert first_lines(wire.requests)[-len(ends) :] == ends


def test_parts_that_were_put_together_unheard_are_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        sending, "WorkerPool", lambda size, meter: workers.WorkerPool(1, meter)
    )  # one after another
    part = [headed("201 Created", Upload_Offset=0, **MADE), headed("204 No Content", Upload_Offset=500)]
    script = [
        *part,
        *part,
        problem("503 Unavailable", "x.y"),
        problem("404 Not Found", "upload.not_found"),  # for the file is made of them
        answer(entry("file", 1000)),
    ]
    meter, path = workers.Meter(), str(local(tmp_path, 1000))
    with wire_server(script) as wire:
        client = ApiClient(wire.url)
        into = sending.UploadTarget(client.files, client.uploads, "data", checked=False, parts=2)
        sending.send(into, sending.Source(path, "file", os.stat(path)), meter)
    assert first_lines(wire.requests)[-3:] == ["POST uploads", "POST uploads", "GET info"]
    assert (meter.files, meter.bytes) == (1, 1000)


def test_an_answer_that_does_not_say_how_much_has_arrived_is_none() -> None:
    with wire_server([headed("200 OK")]) as wire, pytest.raises(CarrelError, match=r"not_carrel"):
        ApiClient(wire.url).uploads.append("data", "u1", offset=0, body=b"x")


def test_what_holds_for_every_file_ends_all_of_them(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / str(number)).write_text("x")
    with wire_server([listing(), problem("403 Forbidden", "vfolder.permission")]) as wire:
        with pytest.raises(CarrelError, match=r"vfolder\.permission"):
            ApiClient(wire.url).transfers.upload("data", [f"{tmp_path}/"], workers=1)
        assert len(wire.requests) == 2


def test_the_first_thing_that_ends_all_is_what_is_told() -> None:
    meter = workers.Meter()

    def no_room() -> NoReturn:
        raise CarrelError("storage.full", "No.", status=507)

    def half_done() -> NoReturn:
        wait_until(lambda: meter.stopped)
        raise KeyError("what the others did not bring")

    def both() -> None:
        with workers.WorkerPool(2, meter) as together:
            together.give("a", half_done)
            together.give("b", no_room)

    with pytest.raises(CarrelError, match=r"storage\.full"):
        both()


def test_parts_that_are_stopped_are_not_put_together(tmp_path: Path) -> None:
    meter, client = workers.Meter(), ApiClient("http://127.0.0.1:1")

    def begun(*args: object, **options: object) -> tuple[str, int]:
        meter.stop()  # something else went wrong for good
        return "u1", 0

    client.uploads.create = begun  # type: ignore[method-assign]
    into = sending.UploadTarget(client.files, client.uploads, "data", checked=False, parts=2)
    path = str(local(tmp_path, 1000))
    with pytest.raises(workers.Stopped):
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
    client = ApiClient(f"http://127.0.0.1:{listener.getsockname()[1]}")
    with path.open("rb") as file, pytest.raises(CarrelError) as refused:
        client.uploads.append("data", "u1", offset=0, body=sending.FilePart(file, 0, 32 << 20))
    thread.join()
    listener.close()
    assert refused.value.code == "http.content_too_large"


def test_a_file_that_changes_meanwhile_is_not_taken_for_whole(tmp_path: Path) -> None:
    path = local(tmp_path, 150)
    script = [listing(), answer({"items": []}), headed("201 Created", Upload_Offset=0, **MADE)]
    with wire_server(script) as wire:
        client = ApiClient(wire.url)
        seen = client.uploads.create

        def cut_short(*args: object, **options: object) -> tuple[str, int]:
            path.write_bytes(b"x" * 70)
            return seen(*args, **options)  # type: ignore[arg-type]

        client.uploads.create = cut_short  # type: ignore[method-assign]
        done = client.transfers.upload("data", [str(path)])
    assert [error.code for _, error in done.failed] == ["client.file_changed"]


def test_somebody_who_stops_does_not_wait_for_a_server_that_is_silent(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("x")
    paths: list[str] = []

    def stop(path: str) -> NoReturn:
        paths.append(path)
        raise KeyboardInterrupt

    # Nobody answers when "a" is sent.
    with wire_server([listing(entry("b", 9))]) as wire, pytest.raises(KeyboardInterrupt):
        ApiClient(wire.url).transfers.upload(
            "data", [str(tmp_path / "a"), str(tmp_path / "b")], clash=stop, workers=1
        )
    assert paths == ["b"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=120),
    st.integers(0, 1 << 40),
    st.integers(0, 10**15).map(lambda microseconds: microseconds / 1_000_000),
)
def test_headers_of_tar_files_read_as_the_library_reads_them(path: str, size: int, modified_s: float):
    with tarfile.open(fileobj=io.BytesIO(header(path, size=size, mode=0o755, modified_s=modified_s))) as file:
        member = file.next()
    assert member is not None
    assert (member.name, member.size, member.mode) == (path, size, 0o755)
    assert member.mtime == pytest.approx(modified_s, abs=1e-6)
