"""What editors and configurations of OpenSSH do with the SSH port: multiplexing, jumps, dynamic forwarding, and servers
that a client uploads, starts and talks to.
"""

import asyncio
import contextlib
import io
import re
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from people import eventually
from ports import free_port
from ssh_kit import SshPort, run, ssh_port, ssh_port_of, world

__all__ = ["ssh_port", "world"]
USER = "train-3"


@pytest.fixture
async def key(ssh_port: SshPort) -> Path:
    """Of the user, who has a session train-3."""
    await ssh_port.world.session(name=USER)
    made = ssh_port.key("laptop")
    await ssh_port.register(made)
    return made


def config(port: SshPort, key: Path, *more: str) -> list[str]:
    """Arguments with a configuration file, which jumps use as well. The host is "desk"."""
    options = port.options(key)
    lines = [word.replace("=", " ", 1) for word in options if re.match(r"[A-Z]\w+=", word)]
    file = port.folder / "config"
    file.write_text(
        "\n".join(["Host *", "HostName 127.0.0.1", f"User {USER}", f"IdentityFile {key}", *lines, *more])
    )
    return ["-F", str(file)]


@contextlib.asynccontextmanager
async def client(*words: str) -> AsyncIterator[Any]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


async def test_commands_share_the_connection_of_a_control_master(ssh_port: SshPort, key: Path) -> None:
    path = ssh_port.folder / "master"
    ssh = ["ssh", *config(ssh_port, key, f"ControlPath {path}")]
    async with client(*ssh, "-M", "-N", "desk"):
        await eventually(path.exists)
        key.unlink()  # nobody else could open a connection
        ran = await asyncio.gather(*(run([*ssh, "desk", f"echo {number}"]) for number in range(8)))
        assert [one.out for one in ran] == [f"{number}\n".encode() for number in range(8)], ran
        copied = await run(["scp", "-q", *ssh[1:], "desk:/etc/hostname", str(ssh_port.folder / "copy")])
        assert copied.code == 0, copied.err
        assert (await run([*ssh, "-O", "exit", "desk"])).code == 0


async def test_a_session_is_a_jump_host(ssh_port: SshPort, key: Path) -> None:
    ssh = ["ssh", *config(ssh_port, key)]
    ran = await run([*ssh, "-J", "jump", "desk", "echo behind"])
    assert (ran.code, ran.out) == (0, b"behind\n"), ran.err


SERVER = """
import http.server, sys
class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"hello from " + self.path.encode())
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Hello)
print(f"Extension host agent listening on {server.server_port}", flush=True)
server.handle_request()
server.handle_request()
"""
# As the extension does it: no terminal, a SOCKS port, and a script for the standard input of a shell, whose output the
# client searches for marks. What the server needs comes by scp when the session has no way out.
INSTALL = """
echo "running==$(uname -s)==$(uname -m)=="
set -e
dir=~/.vscode-server/bin/0123abcd
mkdir -p "$dir" && tar -xzf ~/vscode-server.tar.gz -C "$dir"
: >"$dir/log"
nohup python3 "${dir}/server.py" >>"$dir/log" 2>&1 &
n=0; while [ "$n" -lt 600 ]; do
    port=$(sed -n 's/.*listening on \\([0-9]*\\)$/\\1/p' "$dir/log"); [ -n "$port" ] && break; n=$((n + 1)); sleep 0.1
done
echo "listeningOn==$port=="
echo "osReleaseId==$(sed -n 's/^ID=//p' /etc/os-release)=="
"""


async def test_an_editor_installs_its_server_and_reaches_it_by_dynamic_forwarding(
    ssh_port: SshPort, key: Path
) -> None:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as packed:
        entry = tarfile.TarInfo("server.py")
        entry.size = len(SERVER.encode())
        packed.addfile(entry, io.BytesIO(SERVER.encode()))
    source = ssh_port.folder / "vscode-server.tar.gz"
    source.write_bytes(archive.getvalue())
    options = config(ssh_port, key)
    sent = await run(["scp", "-q", *options, str(source), "desk:"])
    assert sent.code == 0, sent.err
    socks = free_port()
    async with client(
        "ssh", *options, "-T", "-D", str(socks), "-o", "ConnectTimeout=15", "desk", "bash"
    ) as editor:
        editor.stdin.write(INSTALL.encode())
        await editor.stdin.drain()
        marks = {}
        while "osReleaseId" not in marks:
            line = await asyncio.wait_for(editor.stdout.readline(), 60)
            assert line, f"it ended early, after {marks}"
            name, _, value = line.decode().partition("==")
            marks[name] = value.strip().removesuffix("==")
        assert marks["running"].startswith("Linux==")
        # The shell stays for as long as the window does, and the server is reached beside it.
        for path in ("/version", "/vscode-remote-resource"):
            url = f"http://localhost:{marks['listeningOn']}{path}"
            ran = await run(
                ["curl", "-sS", "--max-time", "30", "--socks5-hostname", f"127.0.0.1:{socks}", url]
            )
            assert ran.out.decode() == f"hello from {path}", ran.err
        editor.stdin.write(b"echo still==here==\nexit 3\n")
        assert await asyncio.wait_for(editor.stdout.readline(), 60) == b"still==here==\n"
        assert await asyncio.wait_for(editor.wait(), 60) == 3


HELPER = """
import socket, sys
end = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
end.sendall(b"version " + str(sys.version_info.major).encode() + b"\\n")
print(end.makefile().readline().strip())
"""


async def test_an_ide_uploads_helpers_and_they_call_back_its_debugger(ssh_port: SshPort, key: Path) -> None:
    options = config(ssh_port, key)
    helper = ssh_port.folder / "helper.py"
    helper.write_text(HELPER)
    batch = f"mkdir .pycharm_helpers\nput {helper} .pycharm_helpers/helper.py\nls -l .pycharm_helpers\n"
    sent = await run(["sftp", "-q", "-b", "-", *options, "desk"], given=batch.encode())
    assert (sent.code, b"helper.py" in sent.out) == (0, True), sent.err

    async def debugger(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.readline()).upper())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(debugger, "127.0.0.1", 0) as listening:
        local, inside = listening.sockets[0].getsockname()[1], free_port()
        back = ("-R", f"{inside}:127.0.0.1:{local}")
        command = (
            f"env 'PYCHARM_HOSTED=1' 'PYTHONUNBUFFERED=1' python3 -u .pycharm_helpers/helper.py {inside}"
        )
        ran = await run(["ssh", *options, *back, "-tt", "desk", command])
    assert (ran.code, ran.out.strip()) == (0, b"VERSION 3"), ran.err


async def test_every_copy_of_the_gateway_has_the_same_host_key_and_sessions(
    ssh_port: SshPort, key: Path
) -> None:
    pinned = ssh_port.options(key)
    async with client("ssh", *pinned, f"{USER}@127.0.0.1", "echo here; cat") as shell:
        assert await asyncio.wait_for(shell.stdout.readline(), 60) == b"here\n"
        async with ssh_port_of(ssh_port.world, ssh_port.folder) as other:
            ran = await other.ssh(key, USER, "echo in")
            assert (ran.code, ran.out) == (0, b"in\n"), ran.err
        # The end of a copy is nothing to connections of another.
        shell.stdin.write(b"still\n")
        assert await asyncio.wait_for(shell.stdout.readline(), 60) == b"still\n"
