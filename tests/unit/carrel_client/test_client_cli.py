"""The command's words, exit codes and output, against a scripted API."""

import io
import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest
from carrel_client.cli.commands import COMMANDS, GROUPS, OPERATOR
from carrel_client.cli.escape import Escape
from carrel_client.cli.folders import place
from carrel_client.cli.main import main
from carrel_client.cli.output import display_width, printable
from carrel_client.cli.parser import arguments_of
from carrel_client.cli.progress import ProgressLine
from carrel_client.cli.session_views import rule_text
from carrel_client.models import IdleRuleView
from scripted_server import Api, Request, api_server

Captured = pytest.CaptureFixture[str]


def _session(**changes: object) -> dict[str, object]:
    session: dict[str, object] = {
        "id": "k3fabcdefghi",
        "name": "train-3",
        "kind": "interactive",
        "state": "RUNNING",
        "reason": None,
        "progress": None,
        "image": "localhost/carrel/starter:latest",
        "image_name": "starter",
        "project": {"id": "p", "name": "main"},
        "owner": {"id": "u", "email": "ada@example.org"},
        "slots": {"cpu": 1500, "mem": 1 << 30},
        "cluster_size": 1,
        "node": "here",
        "warnings": [],
        "array": None,
        "created_at": "2026-01-01T00:00:00Z",
        "started_at": "2026-01-01T00:00:01Z",
        "ended_at": None,
        "queue_position": None,
        "description": "",
        "env": {"SEED": "7"},
        "containers": [],
        "apps": [{"name": "jupyter", "title": "JupyterLab", "protocol": "http"}],
    }
    return {**session, **changes}


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Api]:
    """A server with one session, and an environment that is signed in to it."""
    routes = {
        "GET /api/v1/sessions": (200, {"items": [_session()], "next_cursor": None}),
        "POST /api/v1/sessions": (201, _session(state="PENDING")),
        "GET /api/v1/sessions/train-3": (200, _session()),
        "DELETE /api/v1/sessions/train-3": (202, _session(state="TERMINATING")),
        "GET /api/v1/sessions/train-3/logs": (200, "one\ntwo\n"),
        "GET /api/v1/images": (200, {"items": [], "next_cursor": None}),
    }
    for name in ("CARREL_PROFILE", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with api_server(routes) as api:
        monkeypatch.setenv("CARREL_URL", api.url)
        monkeypatch.setenv("CARREL_ACCESS_KEY", "AK")
        monkeypatch.setenv("CARREL_SECRET_KEY", "secret")
        yield api


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_explains_itself_with_an_example(words: str, capsys: Captured) -> None:
    parser, run = arguments_of(COMMANDS[words])
    assert callable(run)
    assert parser.examples
    assert all(example.startswith("carrel ") or "carrel " in example for example in parser.examples)
    assert main([*words.split(), "--help"]) == 0
    assert f"usage: carrel {words}" in capsys.readouterr().out


def test_json_is_exactly_what_the_api_said(api: Api, capsys: Captured) -> None:
    assert main(["session", "ls", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"items": [_session()], "next_cursor": None}
    assert main(["-o", "json", "session", "show", "train-3"]) == 0
    assert json.loads(capsys.readouterr().out) == _session()


def test_a_table_that_is_piped_has_no_colour_and_cuts_nothing(api: Api, capsys: Captured) -> None:
    reason = "no node has so much memory " * 10
    api.routes["GET /api/v1/sessions"] = (200, {"items": [_session(reason=reason)], "next_cursor": None})
    assert main(["session", "ls"]) == 0
    title, row = capsys.readouterr().out.splitlines()
    assert title.split() == ["ID", "NAME", "STATE", "IMAGE", "CPU", "MEM", "AGE", "NOTE"]
    assert row.split()[:7] == ["k3fabcdefghi", "train-3", "RUNNING", "starter", "1.5", "1", "GiB"]
    assert reason.strip() in row
    assert "\033" not in row


def test_what_comes_from_the_server_cannot_command_the_terminal(api: Api, capsys: Captured) -> None:
    api.routes["GET /api/v1/sessions"] = (
        200,
        {"items": [_session(reason="\033[2Jboo\r\n")], "next_cursor": None},
    )
    main(["session", "ls"])
    out = capsys.readouterr().out
    assert "\033" not in out
    assert len(out.splitlines()) == 2
    assert printable("a\u202eb\x07") == "a b "


def test_a_list_is_the_living_ones_of_mine_unless_told_otherwise(api: Api) -> None:
    main(["session", "ls"])
    main(["session", "ls", "--ended", "--everyone", "--search", "tr"])
    first, second = (request.query for request in api.requests)
    assert first == {"state": "live", "owner": "me", "limit": "50"}
    assert second == {"state": "ended", "owner": "all", "limit": "50", "q": "tr"}


def test_a_longer_list_is_fetched_page_by_page_up_to_the_limit(api: Api, capsys: Captured) -> None:
    def page(request: Request) -> tuple[int, object]:
        start = int(request.query.get("cursor", 0))
        size = int(request.query["limit"])
        items = [_session(id=f"s{number}") for number in range(start, min(start + size, 450))]
        return 200, {"items": items, "next_cursor": str(start + size) if start + size < 450 else None}

    api.routes["GET /api/v1/sessions"] = page
    main(["session", "ls", "-q", "--limit", "0"])
    assert len(capsys.readouterr().out.split()) == 450
    main(["session", "ls", "-q", "--limit", "210"])
    assert capsys.readouterr().out.split()[-1] == "s209"
    assert [request.query["limit"] for request in api.requests] == ["200", "200", "200", "200", "10"]


def test_a_note_is_made_of_whole_sentences(api: Api, capsys: Captured) -> None:
    waits = {"state": "PENDING", "reason": "1 node: needs 2 CPU, 1.25 CPU free.", "queue_position": 1}
    sessions = [_session(**waits), _session(state="PENDING", queue_position=2)]
    api.routes["GET /api/v1/sessions"] = (200, {"items": sessions, "next_cursor": None})
    assert main(["session", "ls"]) == 0
    _, first, second = capsys.readouterr().out.splitlines()
    assert first.endswith("  1 node: needs 2 CPU, 1.25 CPU free. Number 1 in the queue.")
    assert second.endswith("  number 2 in the queue")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("session frobnicate", "carrel session --help"),
        ("session crate", "did you mean: carrel session create"),
        ("sesion ls", "did you mean: carrel session"),
        ("exec", "did you mean: carrel session exec"),
        ("frobnicate", "carrel --help"),
    ],
)
def test_only_what_is_near_is_suggested(line: str, hint: str, capsys: Captured) -> None:
    assert main(line.split()) == 2
    assert capsys.readouterr().err.endswith(f"\nhint: {hint}\n")


def test_create_sends_what_was_asked_in_base_units(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "t=1")
    line = "session create --image starter --cpu 500m --mem 1.5g --name train-3 --env A=b=c --env TOKEN -q"
    wish = "--slot cuda.shares=0.5 --group gpu --priority 20 --time-limit 90m"
    after = ["--after", "prepare", "--after", "k3f:ended", "--on-dependency-failure", "wait"]
    mounts = "-v data --mount corpus:a/b:/data:ro -v runs::out:rw -v .cache:/c"
    assert main([*line.split(), *wish.split(), *mounts.split(), "--description", "third try", *after]) == 0
    assert api.requests[0].body == {
        "name": "train-3",
        "description": "third try",
        "image": "starter",
        "slots": {"cpu": 500, "mem": 3 << 29, "cuda.shares": 500},
        "env": {"A": "b=c", "TOKEN": "t=1"},
        "project": None,
        "group": "gpu",
        "priority": 20,
        "time_limit_s": 5400,
        "start_at": None,
        "after": [
            {"session": "prepare", "condition": "succeeded"},
            {"session": "k3f", "condition": "ended"},
        ],
        "on_dependency_failure": "wait",
        "command": [],
        "retries": 0,
        "node": None,
        "mounts": [
            {"folder": "data"},
            {"folder": "corpus", "subpath": "a/b", "path": "/data", "read_only": True},
            {"folder": "runs", "path": "out", "read_only": False},
            {"folder": ".cache", "path": "/c"},
        ],
    }
    assert api.requests[0].headers["idempotency-key"]


def test_create_sends_how_a_session_starts_and_ends(api: Api, tmp_path: Path) -> None:
    script = tmp_path / "prepare.sh"
    script.write_text("make\n")
    start = (
        f"--bootstrap {script} --shm 1g --disk 20GiB --workdir src --timezone Asia/Seoul --locale ko_KR.UTF-8"
    )
    assert main(["session", "create", *start.split(), "--stop-signal", "INT", "--grace", "2m", "-q"]) == 0
    sent = {
        "bootstrap": "make\n",
        "shm_bytes": 1 << 30,
        "disk_bytes": 20 << 30,
        "workdir": "src",
        "timezone": "Asia/Seoul",
        "locale": "ko_KR.UTF-8",
        "stop_signal": "SIGINT",
        "grace_s": 120,
    }
    body = api.requests[0].body
    assert sent == {field: body[field] for field in sent}


@pytest.mark.parametrize(
    "line",
    [
        "session create --mem lots",
        "session create -v :/data",
        "session create -v data:a:/b:/c",
        "session create --cpu -1",
        "session create --slot cuda.device",
        "session create --slot cuda.shares=lots",
        "session create --priority high",
        "session create --env 1A=b",
        "session create --env NOT_SET_ANYWHERE",
        "session ls --all --ended",
        "session ls --limit x",
        "session",
        "sesion ls",
        "session exec train-3",
        "session terminal train-3",
        "session rename train-3",
        "completion tcsh",
        "-o",
    ],
)
def test_a_line_that_makes_no_sense_is_usage(line: str, api: Api, capsys: Captured) -> None:
    assert main(line.split()) == 2
    assert not api.requests
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err


@pytest.mark.parametrize(
    ("status", "code"), [(401, 3), (403, 3), (404, 4), (409, 1), (422, 1), (429, 1), (503, 5)]
)
def test_a_refusal_is_told_on_stderr_and_by_the_exit_code(
    status: int, code: int, api: Api, capsys: Captured
) -> None:
    problem = {"code": "some.code", "detail": "It is so.", "hint": "Do this.", "field": None}
    api.routes["GET /api/v1/sessions/x"] = (status, problem)
    assert main(["session", "show", "x"]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "error: It is so. (some.code)\nhint: Do this.\n"


def test_nobody_listening_has_its_own_exit_code(
    monkeypatch: pytest.MonkeyPatch, api: Api, capsys: Captured
) -> None:
    monkeypatch.setenv("CARREL_URL", "http://127.0.0.1:9")
    assert main(["image", "ls"]) == 5
    assert "(client.unreachable)" in capsys.readouterr().err


def test_removing_several_goes_on_after_one_that_fails(api: Api, capsys: Captured) -> None:
    assert main(["session", "rm", "--yes", "none", "train-3", "--force"]) == 4
    captured = capsys.readouterr()
    assert "train-3 (k3fabcdefghi) is TERMINATING" in captured.out
    assert "(http.not_found)" in captured.err
    assert api.requests[-1].query == {"force": "true"}


def test_waiting_for_a_session_that_fails_tells_why(api: Api, capsys: Captured) -> None:
    failed = _session(state="ERROR", reason="There is no image nosuch.", started_at=None)
    api.routes["GET /api/v1/sessions/k3fabcdefghi"] = (200, failed)
    assert main(["session", "create", "--wait", "-o", "json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["state"] == "ERROR"
    assert "train-3 did not start: There is no image nosuch. (client.session_ended)" in captured.err


def test_logs_as_json_are_one_object_for_each_line(
    api: Api, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    line = {"at": "2026-01-01T00:00:00.000000000Z", "stream": "stderr", "text": "one"}
    api.routes["GET /api/v1/sessions/train-3/logs"] = (200, json.dumps(line) + "\n")
    assert main(["session", "logs", "train-3", "-o", "json"]) == 0
    assert json.loads(capsysbinary.readouterr().out) == line
    assert api.requests[-1].query["format"] == "json"


def test_logs_are_chosen_by_time_text_and_stream(api: Api, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    options = (
        "--since 2026-01-01T10:00Z --until 2026-01-02 --grep Error --stderr-only -t --tail 5 --attempt 2"
    )
    assert main(["session", "logs", "train-3", *options.split()]) == 0
    assert capfdbinary.readouterr().out == b"one\ntwo\n"
    assert api.requests[-1].query == {
        "since": "2026-01-01T10:00Z",
        "until": "2026-01-02",
        "search": "Error",
        "stream": "stderr",
        "timestamps": "true",
        "tail": "5",
        "attempt": "2",
    }
    assert main(["session", "logs", "train-3", "--since", "10m", "-f"]) == 0
    assert api.requests[-1].query["since"].startswith("20")
    assert api.requests[-1].query["follow"] == "true"


def _sign_in_routes(api: Api) -> list[str]:
    """Adds what signing in needs; the list receives deleted keypairs."""
    made = iter(("AK1", "AK2"))
    deleted: list[str] = []
    me = {
        "user": {
            "id": "u",
            "email": "ada@example.org",
            "name": "Ada",
            "role": "user",
            "domain": {"name": "d"},
        },
        "projects": [],
        "csrf_token": "csrf-1",
        "pending": None,
    }

    def create(request: Request) -> tuple[int, object]:
        assert request.headers["cookie"] == "carrel_session=cookie-1"
        assert request.headers["x-carrel-csrf"] == "csrf-1"
        return 201, {"access_key": next(made), "secret_key": "shh", "created_at": "2026-01-01T00:00:00Z"}

    def delete(request: Request) -> tuple[int, object]:
        deleted.append(request.path.rpartition("/")[2])
        return 204, None

    pair = {"created_at": "2026-01-01T00:00:00Z", "last_used_at": None, "active": True}
    listed = {"items": [{"access_key": key, **pair} for key in ("AK1", "AK2")], "next_cursor": None}
    api.routes |= {
        "POST /api/v1/auth/login": (200, me),
        "POST /api/v1/auth/logout": (204, None),
        "GET /api/v1/auth/me": (200, {**me, "csrf_token": None}),
        "POST /api/v1/keypairs": create,
        "GET /api/v1/keypairs": (200, listed),
        "DELETE /api/v1/keypairs/AK1": delete,
        "DELETE /api/v1/keypairs/AK2": delete,
    }
    return deleted


def test_signing_in_keeps_a_keypair_and_signing_out_gives_it_back(
    api: Api, monkeypatch: pytest.MonkeyPatch, capsys: Captured, tmp_path: Path
) -> None:
    deleted = _sign_in_routes(api)
    monkeypatch.delenv("CARREL_ACCESS_KEY")
    monkeypatch.delenv("CARREL_SECRET_KEY")
    line = ["login", api.url, "--email", "ada@example.org", "--password-stdin"]
    kept = tmp_path / "carrel/profiles/default.json"
    for _ in range(2):
        monkeypatch.setattr("sys.stdin", io.StringIO("pass word \n"))
        assert main(line) == 0
    assert [request.body for request in api.requests if request.path.endswith("/login")] == [
        {"email": "ada@example.org", "password": "pass word "}
    ] * 2
    assert json.loads(kept.read_text())["access_key"] == "AK2"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert deleted == ["AK1"]
    assert "shh" not in capsys.readouterr().out
    assert main(["whoami"]) == 0
    assert main(["logout"]) == 0
    assert deleted == ["AK1", "AK2"]
    assert not kept.exists()
    assert main(["whoami"]) == 3


def test_deleting_keypairs_goes_on_after_one_that_fails_and_answers_in_json(
    api: Api, capsys: Captured
) -> None:
    deleted = _sign_in_routes(api)
    assert main(["keypair", "rm", "--yes", "AK0", "AK1", "-o", "json"]) == 4
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"access_key": "AK1", "deleted": True}
    assert "(http.not_found)" in captured.err
    assert deleted == ["AK1"]
    assert main(["logout", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"server": None}


def test_progress_elsewhere_than_on_a_terminal_is_a_line_for_each_stage(capsys: Captured) -> None:
    with ProgressLine() as line:
        for stage, text in (
            ("PENDING", "a"),
            ("PREPARING", "b 1%"),
            ("PREPARING", "b 2%"),
            ("STARTING", "c"),
        ):
            line.update(text, stage=stage)
    assert capsys.readouterr().err.splitlines() == ["a", "b 1%", "c"]


def test_signing_in_without_a_terminal_needs_everything_on_the_line(
    api: Api, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("secret\n"))
    assert main(["login", api.url, "--email", "ada@example.org"]) == 2
    assert not api.requests
    assert "--password-stdin" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([""], [*GROUPS, *OPERATOR, "login", "completion"]),
        (["session", ""], ["ls", "create", "terminal"]),
        (["session", "t"], ["terminal"]),
        (["session", "show", ""], ["train-3"]),
        (["session", "rm", "other", "tr"], ["train-3"]),
        (["session", "ls", "--al"], ["--all"]),
        (["session", "ls", "-o", ""], ["table", "json"]),
        (["session", "ls", "--output=j"], ["--output=json"]),
        (["session", "create", "--image", "st"], ["starter"]),
        (["session", "create", "--image", "env:"], ["env:torch"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
    ],
)
def test_completion_knows_the_words_and_asks_for_the_rest(
    words: list[str], expected: list[str], api: Api, capsys: Captured
) -> None:
    image = {"name": "starter", "title": "Starter", "present": True}
    api.routes["GET /api/v1/images"] = (200, {"items": [image], "next_cursor": None})
    environment = {"name": "torch", "description": "", "image": "env:torch", "default_version": "1"}
    api.routes["GET /api/v1/environments"] = (200, {"items": [environment], "next_cursor": None})
    assert main(["__complete", *words]) == 0
    offered = [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()]
    assert set(expected) <= set(offered)
    assert all(word.startswith(words[-1]) for word in offered)


def test_completion_is_silent_when_the_server_is_away(
    monkeypatch: pytest.MonkeyPatch, api: Api, capsys: Captured
) -> None:
    monkeypatch.setenv("CARREL_URL", "http://127.0.0.1:9")
    assert main(["__complete", "session", "show", ""]) == 0
    assert capsys.readouterr() == ("", "")


def test_bash_completes_with_the_printed_script(api: Api, tmp_path: Path) -> None:
    script = tmp_path / "completion"
    script.write_bytes(subprocess.check_output([_carrel(), "completion", "bash"]))
    ask = f"""
        source {script}
        COMP_LINE="{_carrel()} session show tr" COMP_CWORD=3
        COMP_POINT=${{#COMP_LINE}}
        COMP_WORDS=({_carrel()} session show tr)
        _carrel
        echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["train-3"]


def _carrel() -> str:
    return str(Path(sys.executable).parent / "carrel")


def test_a_reader_that_leaves_ends_the_command_without_a_trace_of_python(api: Api) -> None:
    api.routes["GET /api/v1/sessions/train-3/logs"] = (200, "line\n" * 200_000)
    piped = f"set -o pipefail; {_carrel()} session logs train-3 | head -1"
    done = subprocess.run(["bash", "-c", piped], capture_output=True, text=True, check=False)
    assert done.stdout == "line\n"
    assert done.stderr == ""
    assert done.returncode == 141


@pytest.mark.parametrize(
    ("keys", "passed", "leaves"),
    [
        ([b"ls -l\r"], b"ls -l\r", False),
        ([b"~."], b"", True),
        ([b"cd ~.\r"], b"cd ~.\r", False),
        ([b"x\r", b"~", b"."], b"x\r", True),
        ([b"\r~~a"], b"\r~a", False),
        ([b"\r~a."], b"\r~a.", False),
    ],
)
def test_only_tilde_and_dot_on_a_new_line_leave(keys: list[bytes], passed: bytes, leaves: bool) -> None:
    escape = Escape()
    results = [escape.feed(piece) for piece in keys]
    assert b"".join(piece for piece, _ in results) == passed
    assert results[-1][1] is leaves


def test_wide_letters_take_two_columns() -> None:
    assert (display_width("abc"), display_width("세션"), display_width("e\u0301")) == (3, 4, 1)


def test_an_end_that_is_due_is_not_said_to_be_in_no_time():
    now = datetime.now(UTC)

    def text_of(left_s: float) -> str:
        since, ends_at = now - timedelta(hours=1), now + timedelta(seconds=left_s)
        rule = {"limit_s": 3600, "since": since.isoformat(), "ends_at": ends_at.isoformat()}
        return rule_text(cast(IdleRuleView, rule))

    assert text_of(120.5) == "for 1 h of 1 h; ends in 2 min"
    assert text_of(-75) == "for 1 h of 1 h; ends any moment now"


@pytest.mark.parametrize(
    ("text", "folder", "path"),
    [
        ("data:", "data", ""),
        ("data:a/b", "data", "a/b"),
        (".cache:/a", ".cache", "a"),
        ("data:/", "data", "/"),
        ("data:a:b", "data", "a:b"),
        ("data:a\nb", "data", "a\nb"),
    ],
)
def test_a_place_in_a_folder_is_known_by_its_colon(text: str, folder: str, path: str) -> None:
    match = place(text)
    assert match
    assert (match.folder, match.path) == (folder, path)


@pytest.mark.parametrize("text", ["./a:b", "data", "/tmp/a:b", "a b:c", ":x", "-"])
def test_other_words_are_of_this_machine(text: str) -> None:
    assert place(text) is None
