"""What an image of a session leaves out, besides folders and what the session was given. Pure data."""

from collections.abc import Mapping
from enum import StrEnum

HOMES = ("/home/work", "/root")


class LeftOut(StrEnum):
    TEMPORARY = "temporary"
    CACHES = "caches"
    CREDENTIALS = "credentials"
    HISTORIES = "histories"


_IN_HOMES = {
    LeftOut.CACHES: (".cache", ".npm/_cacache", ".conda/pkgs", ".cargo/registry", ".local/share/Trash"),
    LeftOut.CREDENTIALS: (
        ".ssh",
        ".gnupg",
        ".netrc",
        ".git-credentials",
        ".pgpass",
        ".my.cnf",
        ".pypirc",
        ".npmrc",
        ".aws",
        ".azure",
        ".boto",
        ".s3cfg",
        ".kube",
        ".kaggle",
        ".wandb",
        ".huggingface",
        ".config/carrel",
        ".config/gcloud",
        ".config/gh",
        ".config/git/credentials",
        ".config/pip",
        ".config/rclone",
        ".config/code-server/config.yaml",
        ".docker",
        ".local/share/jupyter/runtime",
        ".local/share/keyrings",
        ".jupyter/jupyter_server_config.json",
    ),
    LeftOut.HISTORIES: (
        ".bash_history",
        ".zsh_history",
        ".python_history",
        ".node_repl_history",
        ".psql_history",
        ".lesshst",
        ".viminfo",
        ".wget-hsts",
        ".ipython/profile_default/history.sqlite",
        ".local/share/fish/fish_history",
    ),
}

PATHS: Mapping[LeftOut, tuple[str, ...]] = {
    LeftOut.TEMPORARY: ("/tmp", "/var/tmp", "/run", "/var/run", "/dev", "/proc", "/sys"),
    LeftOut.CACHES: (
        "/var/cache/apt",
        "/var/lib/apt/lists",
        "/var/cache/apk",
        "/var/cache/dnf",
        "/var/cache/yum",
        "/opt/conda/pkgs",
        *(f"{home}/{name}" for home in HOMES for name in _IN_HOMES[LeftOut.CACHES]),
    ),
    LeftOut.CREDENTIALS: tuple(f"{home}/{name}" for home in HOMES for name in _IN_HOMES[LeftOut.CREDENTIALS]),
    LeftOut.HISTORIES: tuple(f"{home}/{name}" for home in HOMES for name in _IN_HOMES[LeftOut.HISTORIES]),
}
"""Absolute paths; with each, everything below it."""

ALL = tuple(path for paths in PATHS.values() for path in paths)
