"""The one table of commands: what each is called, what it does in a line, and where its code is.

Only the module of the command that runs is imported. In it, the function of the command's last word (`ls`) does
the work and the function of the same name with `_arguments` describes what may follow the words.
"""

from __future__ import annotations


class Command:
    """One command. words: as typed, "session ls". place: module below this package and function in it."""

    __slots__ = ("function", "module", "summary", "words")

    def __init__(self, words: str, place: str, summary: str) -> None:
        self.words = words
        self.module, self.function = place.split(":")
        self.summary = summary


GROUPS = {
    "session": "Start, watch, use and end sessions",
    "app": "Open what runs inside a session in a browser",
    "image": "What sessions can start from",
    "keypair": "Access keys for scripts",
    "token": "Personal tokens, which reach less than you",
    "ssh-key": "Public keys to get into your sessions with",
    "audit": "Who did what, and the proof that nobody altered it",
    "server": "The installation",
}

COMMANDS = {
    command.words: command
    for command in (
        Command("login", "account:login", "Sign in and keep a keypair on this machine"),
        Command("logout", "account:logout", "Give the keypair of this machine back"),
        Command("whoami", "account:whoami", "Say who you are and where"),
        Command("session create", "session_life:create", "Start a session"),
        Command("session ls", "session_views:ls", "List sessions"),
        Command("session show", "session_views:show", "Show one session"),
        Command("session history", "session_views:history", "Show what happened to a session, and why"),
        Command("session usage", "session_views:usage", "Show what a session uses"),
        Command("session logs", "session_views:logs", "Print what a session wrote"),
        Command("session exec", "interactive:execute", "Run a command in a session"),
        Command("session terminal", "interactive:terminal", "Work in a session"),
        Command("session rename", "session_life:rename", "Give a session another name"),
        Command("session rm", "session_life:rm", "End sessions"),
        Command("app ls", "apps:ls", "List the apps of a session"),
        Command("app open", "apps:open_app", "Open an app of a session"),
        Command("image ls", "catalogue:images", "List images"),
        Command("events", "catalogue:events", "Show what happened, or what happens"),
        Command("resources", "catalogue:resources", "Show what there is and what is left"),
        Command("keypair ls", "credentials:keypairs", "List keypairs"),
        Command("keypair create", "credentials:create_keypair", "Make a keypair"),
        Command("keypair update", "credentials:update_keypair", "Name, stop or limit a keypair"),
        Command("keypair rotate", "credentials:rotate_keypair", "Give a keypair another secret"),
        Command("keypair rm", "credentials:remove_keypair", "Delete keypairs"),
        Command("token ls", "credentials:tokens", "List your personal tokens"),
        Command(
            "token create", "credentials:create_token", "Make a personal token with scopes and an expiry"
        ),
        Command("token rm", "credentials:remove_token", "Revoke personal tokens"),
        Command("ssh-key ls", "credentials:ssh_keys", "List your SSH keys"),
        Command("ssh-key add", "credentials:add_ssh_key", "Add a public key, or make a pair"),
        Command("ssh-key rm", "credentials:remove_ssh_key", "Forget SSH keys"),
        Command("audit ls", "audit:ls", "List who did what"),
        Command("audit export", "audit:export", "Save who did what as a file"),
        Command("audit verify", "audit:verify", "Prove that nobody altered the audit trail"),
        Command("server status", "catalogue:status", "Show the health of each part of the server"),
        Command("completion", "completion:completion", "Print what makes your shell complete carrel's words"),
    )
}

# Commands of the one who runs the server; the server's own package has them.
OPERATOR = {
    "up": "Start Carrel on this machine",
    "down": "Stop it; sessions keep running",
    "status": "Show each part of it",
    "serve": "Run chosen parts of it in the foreground",
    "test": "Run its test suite",
    "bench": "Measure it",
}
