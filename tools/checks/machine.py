"""System requirements of the tests beyond the Python environment, installed by apt after consent."""

import os
import shutil
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

from carrel.core.errors import Unavailable
from carrel.server.bootstrap import Consent
from carrel.server.bootstrap.engine_setup import find_or_install_engine
from carrel.server.bootstrap.packages import NEEDS_CONSENT, as_root, has_apt, install, install_line

_PROGRAMS_OF_CLUSTERS = Path(__file__).resolve().parents[2] / "tests/cluster/kubernetes_programs.py"
_WITHOUT_CONTAINERS = ("unit", "store", "simulation")
# A program that shows that a package is installed, and the package.
_FOR_CONTAINERS = [
    ("busybox", "busybox-static"),
    ("iptables", "iptables"),
    ("ip", "iproute2"),
    ("mmdebstrap", "mmdebstrap"),
    ("mkfs.btrfs", "btrfs-progs"),
    *((shell, shell) for shell in ("zsh", "fish")),
    ("ssh", "openssh-client"),
    ("rsync", "rsync"),
]
_COMPILER = ("cc", "gcc")
_HEADERS = ("/usr/include/stdlib.h", "libc6-dev")
_STORE_OF_CLUSTERS = "etcd-server"
_RUNTIME = "containerd"
_FOR_CLUSTER = [
    ("etcd", _STORE_OF_CLUSTERS),
    ("containerd", _RUNTIME),
    ("runc", "runc"),
    ("ipset", "ipset"),
]
_NETWORK_PLUGINS = ("/usr/lib/cni/bridge", "containernetworking-plugins")
_FOR_BROWSER = [("chromium-headless-shell", "chromium-headless-shell")]
_FONTS = ("/usr/share/fonts", "fonts-noto-cjk")
_POSTGRESQL = ("/usr/lib/postgresql", "postgresql")
_WEBDAV = [("litmus", "litmus"), ("rclone", "rclone"), ("mount.davfs", "davfs2")]
_IN_DOCUMENTS = [("curl", "curl"), ("jq", "jq")]
_SFTP_SERVER = ("/usr/lib/openssh/sftp-server", "openssh-sftp-server")
"""Programs used by documented commands."""
_MONITORING = "prometheus"
_PROXIES = ("nginx", "caddy")
_REGISTRY = "docker-registry"
_CONTROL_GROUPS = Path("/sys/fs/cgroup/memory/tasks")
_UNITS = Path("/etc/systemd/system")
"""A symlink to /dev/null here prevents systemd from starting the server of a package."""
_DIRECTORY = "slapd"
_NO_DIRECTORY = Path("/etc/ldap/noslapd")
"""While this file exists, slapd's package starts no server."""
_CLUSTERS = Path("/etc/postgresql-common/createcluster.conf")
_ROOT_PATH = "/usr/local/sbin:/usr/sbin:/sbin"


class Asker:
    """Confirms if told so beforehand, asks at a terminal, and declines otherwise."""

    def __init__(self, *, yes: bool) -> None:
        self._yes = yes

    def __call__(self, question: str) -> bool:
        if self._yes or not sys.stdin.isatty():
            return self._yes
        return input(f"carrel: {question}? [Y/n] ").strip().lower() in ("", "y", "yes")


def prepare(folders: Collection[str], *, consent: Asker, state: Path) -> dict[str, str]:
    """Install the requirements of these test folders; returns environment variables for the tests.

    Raises: Unavailable, with the command to install them.
    """
    missing = _missing_packages(folders)
    if missing:
        agreed = _preparing(consent, missing)
        install(missing, purpose="programs for the tests", consent=agreed, say=say)
        if _RUNTIME in missing:
            # Docker uses its service.
            _run_as_root(f"rm {_UNITS}/{_RUNTIME}.service")
    if "cluster" in folders:
        _build_kubernetes(consent)
    if set(folders) <= set(_WITHOUT_CONTAINERS):
        return {}
    try:
        return {"DOCKER_HOST": find_or_install_engine(data_dir=state, consent=consent, say=say)}
    except Unavailable as error:
        if error.code != NEEDS_CONSENT:
            raise
        raise Unavailable(
            error.code, error.message, hint=f"{error.hint} ({install_line(['docker.io'])})"
        ) from error


def _preparing(consent: Consent, missing: Collection[str]) -> Consent:
    """Ask for consent; during the installation, the packages' own servers are prevented from starting."""

    def confirm(question: str) -> bool:
        agreed = consent(question)
        if agreed and _POSTGRESQL[1] in missing:
            _keep_postgresql_from_starting()
        if agreed and _DIRECTORY in missing:
            _run_as_root(f"mkdir -p {_NO_DIRECTORY.parent} && touch {_NO_DIRECTORY}")
        servers = {_MONITORING, *_PROXIES, _REGISTRY, _STORE_OF_CLUSTERS, _RUNTIME}
        for package in servers & set(missing if agreed else ()):
            server = package.removesuffix("-server")
            _run_as_root(f"mkdir -p {_UNITS} && ln -sfn /dev/null {_UNITS}/{server}.service")
        return agreed

    return confirm


def without_clusters() -> str:
    """Why this machine cannot run a cluster for the tests; "" if it can."""
    if os.geteuid() != 0:
        return "a cluster needs root"
    namespaces = ["unshare", "--net", "--mount", "--pid", "--fork", "true"]
    tried = subprocess.run(namespaces, capture_output=True, text=True, check=False)
    if tried.returncode:
        return f"a cluster needs namespaces: {tried.stderr.strip()}"
    if not _CONTROL_GROUPS.exists():
        return "a cluster needs control groups of version 1"
    return ""


def _build_kubernetes(consent: Consent) -> None:
    """Raises: Unavailable."""
    program = [sys.executable, str(_PROGRAMS_OF_CLUSTERS)]
    if subprocess.run([*program, "--check"], check=False).returncode == 0:
        return
    if not consent("build Kubernetes for the tests, once, which takes about a quarter of an hour"):
        raise Unavailable(
            NEEDS_CONSENT,
            "The tests need Kubernetes.",
            hint=f"Run: {' '.join(program)}   or start again with --yes",
        )
    say("building Kubernetes for the tests, which takes about a quarter of an hour, once")
    if subprocess.run(program, check=False).returncode:
        raise Unavailable(
            "setup.build_failed", "Kubernetes could not be built.", hint=f"Try by hand: {' '.join(program)}"
        )


def _keep_postgresql_from_starting() -> None:
    """Only the programs are needed: Debian's package would create and start a cluster."""
    script = (
        f"mkdir -p {_CLUSTERS.parent} && touch {_CLUSTERS} && "
        f"(grep -q '^create_main_cluster' {_CLUSTERS} || echo 'create_main_cluster = false' >> {_CLUSTERS})"
    )
    _run_as_root(script)


def _run_as_root(script: str) -> None:
    subprocess.run([*(as_root() or []), "sh", "-c", script], check=True)


def say(text: str) -> None:
    print(f"carrel: {text}", flush=True)


def _missing_packages(folders: Collection[str]) -> list[str]:
    packages = [] if set(folders) <= set(_WITHOUT_CONTAINERS) else list(_FOR_CONTAINERS)
    if {"e2e", "programs"} & set(folders):
        packages += _FOR_BROWSER
    if "cluster" in folders:
        packages += _FOR_CLUSTER
    if "scanners" in folders:
        packages.append((_REGISTRY, _REGISTRY))
    if "http" in folders:
        packages += [(server, server) for server in (_DIRECTORY, _MONITORING, _REGISTRY, *_PROXIES)]
        packages += [*_WEBDAV, *_IN_DOCUMENTS, ("systemd-analyze", "systemd")]
    compiles = not {"unit", "conformance"}.isdisjoint(folders)
    if compiles:
        packages.append(_COMPILER)
    missing = [package for program, package in packages if not _has(program)]
    if compiles and not Path(_HEADERS[0]).exists():
        missing.append(_HEADERS[1])
    if "store" in folders and has_apt() and not any(Path(_POSTGRESQL[0]).glob("*/bin/initdb")):
        missing.append(_POSTGRESQL[1])
    if "cluster" in folders and not Path(_NETWORK_PLUGINS[0]).exists():
        missing.append(_NETWORK_PLUGINS[1])
    if "http" in folders and not Path(_SFTP_SERVER[0]).exists():
        missing.append(_SFTP_SERVER[1])
    if "e2e" in folders and not any(Path(_FONTS[0]).rglob("*CJK*")):
        missing.append(_FONTS[1])
    return list(dict.fromkeys(missing))


def _has(program: str) -> bool:
    return bool(shutil.which(program) or shutil.which(program, path=_ROOT_PATH))
