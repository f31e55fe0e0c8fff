"""What holds for every command line of the grammar: the order of words, options that all commands share."""

import argparse
import io
from collections.abc import Iterator, Sequence

import pytest
from carrel_client.cli.commands import COMMANDS
from carrel_client.cli.jsonpath import PathTemplate
from carrel_client.cli.main import main
from carrel_client.cli.output import counted
from carrel_client.cli.parser import Arguments, arguments_of

# One of these is a value for any argument that is not a choice.
SAMPLES = (
    *(
        "alpha",
        "2026-01-01",
        "2026-01",
        "3",
        "alpha=3",
        "cpu=4",
        "10m",
        "beta=gamma",
        "domain=alpha",
        "project=alpha:3",
    ),
    *("data:alpha", "1:" + "0" * 64, "cpu=5,window=1h", "alpha.svg", "A=b", "json", "GET", "1-9%3", "12.4"),
)


def sample(parser: Arguments, action: argparse.Action, number: int = 0) -> str:
    """A value that the argument takes."""
    if action.choices:
        return str(next(iter(action.choices)))
    for text in SAMPLES:
        try:
            parser._get_value(action, text)
        except argparse.ArgumentError:
            continue
        return f"{text}{number or ''}" if text == "alpha" else text
    raise AssertionError(f"no sample fits {action.dest}")


def positionals(parser: Arguments) -> Iterator[str]:
    for action in parser._actions:
        if not action.option_strings and not (parser.takes_command and action.dest == "command"):
            several = action.nargs in ("+", "*")
            yield from (sample(parser, action, number) for number in range(2 if several else 1))


def options(parser: Arguments) -> Iterator[list[str]]:
    """Options that can stand together, each with its value."""
    shut = {
        action.dest
        for group in parser._mutually_exclusive_groups
        for action in group._group_actions[1:]
        if action.dest != group._group_actions[0].dest
    }
    given: set[str] = set()
    for action in parser._actions:
        if not action.option_strings or action.dest in {"help", "profile", *shut, *given}:
            continue
        given.add(action.dest)
        name = action.option_strings[-1]
        yield [name] if action.nargs == 0 else [name, sample(parser, action)]


def orders(words: Sequence[str], chosen: Sequence[list[str]]) -> Iterator[tuple[str, list[str]]]:
    """The same words and options with the options in other places."""
    flat = [word for option in chosen for word in option]
    yield "before", [*flat, *words]
    for at in range(1, len(words)):
        yield f"behind word {at}", [*words[:at], *flat, *words[at:]]
    between = [[*(chosen[at] if at < len(chosen) else []), word] for at, word in enumerate(words)]
    yield "spread", [word for part in [*between, *chosen[len(words) :]] for word in part]
    if flat:
        yield "around --", [*flat, "--", *words]


@pytest.mark.parametrize("words", COMMANDS)
def test_options_mean_the_same_before_between_and_behind_other_words(words: str) -> None:
    parser, _ = arguments_of(COMMANDS[words])
    given, chosen = list(positionals(parser)), list(options(parser))
    tail = ["--", "nproc", "-x"] if parser.takes_command else []
    expected = vars(parser.read([*given, *(word for option in chosen for word in option), *tail]))
    for place, line in orders(given, chosen):
        if place == "around --" and parser.takes_command:
            continue
        assert vars(parser.read([*line, *tail])) == expected, (place, line)


@pytest.mark.parametrize(
    "words",
    [
        "site set --mail-password-stdin mail_host=smtp.example.org",
        "vfolder share data --permission rw ada@example.org",
        "audit export --from 2026-01-01 january.csv",
    ],
)
def test_a_list_of_words_may_begin_behind_an_option(words: str) -> None:
    command = COMMANDS[" ".join(words.split()[:2])]
    arguments_of(command)[0].read(words.split()[2:])


def test_words_behind_two_dashes_are_no_options(capsys: pytest.CaptureFixture[str]) -> None:
    parser, _ = arguments_of(COMMANDS["cp"])
    args = parser.read(["--clash", "skip", "--", "-r", "data:"])
    assert (args.sources, args.to, args.recursive, args.clash) == (["-r"], "data:", False, "skip")
    with pytest.raises(SystemExit):
        parser.read(["a", "data:", "--nonsense"])
    assert "unrecognized arguments: --nonsense" in capsys.readouterr().err


@pytest.mark.parametrize("words", ["cp", "provider add", "session exec"])
def test_help_is_shown_whatever_else_is_on_the_line(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    parser, _ = arguments_of(COMMANDS[words])
    with pytest.raises(SystemExit) as stop:
        parser.read(["--help"])
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    assert all(str(action.metavar or "") in shown for action in parser._actions if not action.option_strings)


# What these print is written by another program, for another program, or for a terminal.
AS_IT_IS = {
    "session exec",
    "session terminal",
    "vfolder zip",
    "vfolder cat",
    "audit export",
    "scheduler policy",
    "server bundle",
    "image sbom",
    "scheduler trace",
    "scheduler synth",
    "completion",
    "ssh",
    "sftp",
    "ssh-proxy",
}
POLLED = {
    "app ls",
    "keypair ls",
    "token ls",
    "ssh-key ls",
    "audit ls",
    "sign-in ls",
    "dotfile ls",
    "provider ls",
    "webhook ls",
    "view ls",
}
"""Lists of which no event says that they have changed."""
ENDING = {
    "prune",
    "rm",
    "purge",
    "forget",
    "trash",
    "cancel",
    "hand-over",
    "unshare",
    "decline",
    "leave",
    "expel",
    "disable",
    "rotate",
    "drain",
}
"""Verbs of what removes, ends or gives something up."""
KEEPING = {
    "watch",
    "take",
    "skip",
    "build",
    "rebuild",
    "log",
    "recipe",
    "sbom",
    "vulnerabilities",
    "packages",
    "scans",
    "exempt",
    "cancel-pull",
    "accelerator-checks",
    "cancel-check",
    "check-accelerators",
    "put-back",
    "show-check",
    "images",
    "pull",
    "pulls",
    "push",
    "pushes",
    "save",
    "accept",
    "access",
    "activate",
    "add",
    "api",
    "appoint",
    "forward",
    "port-forward",
    "sftp",
    "ssh",
    "ssh-cert",
    "ssh-config",
    "ssh-proxy",
    "again",
    "extend",
    "location",
    "resize",
    "restart",
    "archive",
    "assign",
    "cat",
    "check",
    "check-network",
    "clone",
    "deliveries",
    "device-map",
    "devices",
    "fragmentation",
    "completion",
    "copy",
    "cordon",
    "cp",
    "create",
    "download",
    "edit",
    "enable",
    "enrol",
    "events",
    "exec",
    "export",
    "find",
    "generate",
    "graph",
    "held",
    "history",
    "idle",
    "import",
    "invitations",
    "join",
    "keep",
    "kinds",
    "login",
    "logout",
    "logs",
    "label",
    "ls",
    "members",
    "mine",
    "mkdir",
    "mount-info",
    "move",
    "mv",
    "open",
    "dry-run",
    "over",
    "bundle",
    "consistency",
    "info",
    "policy",
    "preview",
    "priority",
    "queue",
    "quota",
    "rename",
    "redeliver",
    "resources",
    "run",
    "scan",
    "pause",
    "restore",
    "resume",
    "set",
    "share",
    "shares",
    "show",
    "simulate",
    "start",
    "stats",
    "status",
    "stop",
    "synth",
    "tasks",
    "terminal",
    "test",
    "timeline",
    "test-mail",
    "trace",
    "uncordon",
    "update",
    "upload",
    "usage",
    "verify",
    "weights",
    "whoami",
    "why",
    "zip",
}
"""Verbs of what looks, makes, changes, or can be taken back by the opposite verb."""
REMOVING = {words for words in COMMANDS if words.split()[-1] in ENDING - {"drain"}}
"""All but `node drain`, which asks only when something would be lost: see its own tests."""


@pytest.mark.parametrize("words", sorted(COMMANDS))
def test_all_commands_have_the_same_output_formats(words: str) -> None:
    parser, _ = arguments_of(COMMANDS[words])
    assert parser.takes_output is (words not in AS_IT_IS)
    if parser.takes_output:
        given = [*positionals(parser), *(word for option in required(parser) for word in option)]
        command = ["--", "true"] if parser.takes_command else []
        for output in ("table", "json", "yaml", "jsonpath={.items[*].name}"):
            assert parser.read([*given, "-o", output, *command]).output == output


def required(parser: Arguments) -> Iterator[list[str]]:
    groups = [group._group_actions[0] for group in parser._mutually_exclusive_groups if group.required]
    for action in [
        action for action in parser._actions if action.option_strings and action.required
    ] + groups:
        yield [action.option_strings[-1], sample(parser, action)]


@pytest.mark.parametrize("words", sorted(words for words in COMMANDS if words.endswith(" ls")))
def test_every_list_can_be_watched(words: str) -> None:
    parser, _ = arguments_of(COMMANDS[words])
    assert any("--watch" in action.option_strings for action in parser._every)
    assert bool(parser.watched) is (words not in POLLED)


def test_every_verb_is_known_to_end_something_or_not() -> None:
    assert {words.split()[-1] for words in COMMANDS} == ENDING | KEEPING
    assert not ENDING & KEEPING


@pytest.mark.parametrize("words", sorted(COMMANDS))
def test_what_ends_something_takes_yes(words: str) -> None:
    parser, _ = arguments_of(COMMANDS[words])
    takes_yes = any("--yes" in action.option_strings for action in parser._every)
    assert takes_yes or words.split()[-1] not in ENDING


@pytest.mark.parametrize("words", sorted(REMOVING))
def test_every_removal_asks_and_is_refused_without_a_terminal(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CARREL_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("CARREL_TOKEN", "carrel_x")
    monkeypatch.setattr("carrel_client.transport._PAUSES_S", ())
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    parser, _ = arguments_of(COMMANDS[words])
    given = [*positionals(parser), *(word for option in required(parser) for word in option)]
    assert main([*words.split(), *given]) == 2
    assert "(client.no_terminal)" in capsys.readouterr().err
    assert main([*words.split(), *given, "--yes"]) == 5  # it went on, to a server that is not there


@pytest.mark.parametrize(
    "text", ["csv", "jsonpath={.a", "jsonpath={range .a}", "jsonpath={.a[?(@.b)]}", "jsonpath="]
)
def test_an_output_format_that_is_none_is_usage(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whoami", "-o", text]) == 2
    assert "argument -o/--output" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (".items[0].name", "a"),
        ("{.items[*].name}", "a b"),
        ("{.items[-1].slots['cuda.shares']}", "500"),
        ("{.items[0:1].name}{'!'}", "a!"),
        ('{range .items[*]}{.name}{"\\t"}{.live}{"\\n"}{end}', "a\ttrue\nb\tfalse\n"),
        ("{range .items[*]}<{@.slots}>{end}", '<{"cpu":1}><{"cuda.shares":500}>'),
        ("{..name}", "a b"),
        ("{$.nothing}|{.items[9].name}", "|"),
        ("{.next}", "null"),
    ],
)
def test_jsonpath_is_the_part_of_it_that_is_documented(template: str, expected: str) -> None:
    items = [
        {"name": "a", "live": True, "slots": {"cpu": 1}},
        {"name": "b", "live": False, "slots": {"cuda.shares": 500}},
    ]
    assert PathTemplate(template).render({"items": items, "next": None}) == expected


@pytest.mark.parametrize(
    ("number", "noun", "expected"),
    [
        (1, "session", "1 session"),
        (2, "session", "2 sessions"),
        (0, "policy", "0 policies"),
        (3, "key", "3 keys"),
    ],
)
def test_a_number_and_its_noun_agree(number: int, noun: str, expected: str) -> None:
    assert counted(number, noun) == expected
