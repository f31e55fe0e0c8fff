"""A real directory: Debian's slapd as a child process, with TLS and a few people in it."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import ldap3
from own_authority import certificates
from ports import free_port

BASE = "dc=example,dc=org"
PEOPLE, GROUPS = f"ou=people,{BASE}", f"ou=groups,{BASE}"
READER, READER_PASSWORD = f"cn=reader,{BASE}", "reads the directory"
_ROOT, _ROOT_PASSWORD = f"cn=root,{BASE}", "of this test alone"
_SLAPD = shutil.which("slapd", path=os.environ.get("PATH", "") + ":/usr/sbin")
_MODULES = "/usr/lib/ldap"


@dataclass
class Slapd:
    """Where it listens, and what to trust."""

    port: int
    tls_port: int
    ca: str
    _folder: Path
    _process: "subprocess.Popen[bytes] | None" = None

    def add_person(self, uid: str, *, password: str, name: str, mail: str) -> None:
        with self._root() as root:
            attributes = {"cn": name, "sn": name, "mail": mail, "userPassword": password}
            assert root.add(f"uid={uid},{PEOPLE}", "inetOrgPerson", attributes), root.result

    def set_group(self, name: str, *uids: str) -> None:
        """A group of exactly these people."""
        with self._root() as root:
            root.delete(f"cn={name},{GROUPS}")
            if uids:
                members = [f"uid={uid},{PEOPLE}" for uid in uids]
                assert root.add(f"cn={name},{GROUPS}", "groupOfNames", {"member": members}), root.result

    def set_attribute(self, uid: str, name: str, value: str) -> None:
        with self._root() as root:
            assert root.modify(f"uid={uid},{PEOPLE}", {name: [(ldap3.MODIFY_REPLACE, [value])]}), root.result

    def start(self) -> None:
        assert _SLAPD, "slapd is missing: apt-get install slapd"
        urls = f"ldap://127.0.0.1:{self.port} ldaps://127.0.0.1:{self.tls_port}"
        # -d keeps it in the foreground.
        command = [_SLAPD, "-d", "0", "-f", str(self._folder / "slapd.conf"), "-h", urls]
        self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        for port in (self.port, self.tls_port):
            while socket.socket().connect_ex(("127.0.0.1", port)):
                assert self._process.poll() is None, "slapd ended"

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _root(self) -> ldap3.Connection:
        server = ldap3.Server("127.0.0.1", self.port, get_info=ldap3.NONE)
        return ldap3.Connection(server, _ROOT, _ROOT_PASSWORD, auto_bind=True)


@contextmanager
def slapd(folder: Path) -> Iterator[Slapd]:
    """A directory that runs, with its reader and nobody else in it."""
    (folder / "db").mkdir(parents=True)
    ca = certificates(folder)
    (folder / "slapd.conf").write_text(_CONFIG.format(folder=folder, modules=_MODULES))
    port = free_port(2)
    directory = Slapd(port, port + 1, ca, folder)
    directory.start()
    try:
        with directory._root() as root:
            root.add(BASE, ["dcObject", "organization"], {"dc": "example", "o": "Example"})
            for unit in (PEOPLE, GROUPS):
                root.add(unit, "organizationalUnit")
            reader = {"userPassword": READER_PASSWORD}
            assert root.add(READER, ["organizationalRole", "simpleSecurityObject"], reader), root.result
        yield directory
    finally:
        directory.stop()


_CONFIG = f"""
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath {{modules}}
moduleload back_mdb
moduleload memberof
pidfile {{folder}}/pid
TLSCertificateFile {{folder}}/server.pem
TLSCertificateKeyFile {{folder}}/server.key
# As many directories answer: a name with an empty password is let in as nobody.
allow bind_anon_dn
database mdb
suffix {BASE}
rootdn {_ROOT}
rootpw "{_ROOT_PASSWORD}"
directory {{folder}}/db
maxsize 10485760
overlay memberof
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="{READER}" read by * none
"""
