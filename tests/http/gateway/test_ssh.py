"""SSH to sessions, with OpenSSH's own programs."""

import asyncio
import base64
import contextlib
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import asyncssh
import pytest
from access_kit import World
from people import eventually
from sqlalchemy import text
from ssh_kit import BOUND_S, SshPort, run, ssh_port, ssh_port_of, world

from carrel.core.clock import SystemClock
from carrel.core.ids import SessionId
from carrel.db.encryption import SecretBox
from carrel.gateway import ssh_access, ssh_connections, ssh_listener, ssh_processes
from carrel.gateway.ssh_processes import ProcessSession, Visit
from carrel.http.guard import ConnectionLimit
from carrel.permissions.decide import Actor
from carrel.signin.keypairs import service, ssh_certificates

__all__ = ["ssh_port", "world"]
MIB = 1 << 20


@pytest.fixture
async def key(ssh_port: SshPort) -> Path:
    """Of the user, who has a session train-3."""
    await ssh_port.world.session(name="train-3")
    made = ssh_port.key("laptop")
    await ssh_port.register(made)
    return made


@contextlib.asynccontextmanager
async def connected(
    port: SshPort, key: Path, user: str, *command: str, tty: bool = False
) -> AsyncIterator[Any]:
    """A client that stays. With tty, its output is that of a terminal."""
    pipe = asyncio.subprocess.PIPE
    words = ["ssh", *port.options(key, *(["-tt"] if tty else [])), f"{user}@127.0.0.1", *command]
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()  # unread output would keep it from ending


def own_client(key: Path) -> asyncssh.SSHClientConnectionOptions:
    """Of a client in Python, for what OpenSSH does not do."""
    return asyncssh.SSHClientConnectionOptions(
        username="train-3", client_keys=[str(key)], known_hosts=None, config=None
    )


async def certified(port: SshPort, key: Path, *, actor: Actor, minutes: int = 5) -> Path:
    """A certificate beside the key."""
    async with port.world.database.transaction() as tx:
        made = await ssh_certificates.certify(
            tx,
            SystemClock(),
            SecretBox(port.world.settings.key()),
            actor,
            public_key=key.with_suffix(".pub").read_text(),
            lifetime=timedelta(minutes=minutes),
        )
    Path(f"{key}-cert.pub").write_text(made.text + "\n")
    return key


def by_keypair(port: SshPort) -> Actor:
    """The user, by the keypair of the tests."""
    user = port.world.people.user
    pair = base64.b64decode(port.world.keys[user.user_id].split()[1]).decode().split(":")[0]
    return replace(user, credential=f"keypair:{pair}")


async def share(world: World, session: SessionId) -> None:
    body = {"user": "stranger@example.org", "level": "use"}
    async with world.http() as owner, owner.post(f"/api/v1/sessions/{session}/shares", json=body) as answer:
        assert answer.status == 201, await answer.text()


async def revoke(world: World, session: SessionId) -> None:
    path = f"/api/v1/sessions/{session}/shares/stranger@example.org"
    async with world.http() as owner, owner.delete(path) as answer:
        assert answer.status == 204, await answer.text()


async def test_a_command_has_its_output_errors_and_exit_code(ssh_port: SshPort, key: Path) -> None:
    ran = await ssh_port.ssh(key, "train-3", "cat; echo err >&2; exit 7", given=b"over\0and out\xff")
    assert (ran.code, ran.out, ran.err) == (7, b"over\0and out\xff", "err\n")


async def test_a_shell_has_a_terminal_of_the_clients_size_and_only_permitted_variables(
    ssh_port: SshPort, key: Path
) -> None:
    options = ("-tt", "-o", "SetEnv=LC_TEST=yes LD_PRELOAD=no")
    typed = b"stty size; echo $TERM-$LC_TEST-$LD_PRELOAD-; exit 3\n"
    ran = await ssh_port.ssh(key, "train-3", options=options, given=typed)
    assert ran.code == 3
    assert b"24 80" in ran.out
    assert b"-yes--" in ran.out


async def test_the_id_of_the_session_and_names_of_containers_work_too(ssh_port: SshPort, key: Path) -> None:
    session = await ssh_port.world.session(name="other.name")
    for user in (session, session[:8], f"{session}+main", "other.name", "other.name.main"):
        assert (await ssh_port.ssh(key, user, "echo here")).out == b"here\n", user
    ran = await ssh_port.ssh(key, "other.name+sub4", "true")
    assert (ran.code, "has no container sub4" in ran.err) == (255, True)


async def test_a_key_that_nobody_registered_opens_nothing(ssh_port: SshPort, key: Path) -> None:
    ran = await ssh_port.ssh(ssh_port.key("strange"), "train-3", "true")
    assert ran.code == 255
    assert "Permission denied (publickey)" in ran.err


async def test_a_key_opens_only_the_sessions_of_its_user(ssh_port: SshPort, key: Path) -> None:
    people = ssh_port.world.people
    await ssh_port.world.session(name="secret", owner=people.stranger)
    ran = await ssh_port.ssh(key, "secret", "true")
    assert (ran.code, "There is no session secret" in ran.err) == (255, True)
    # Names belong to people: the same name is another session for another key.
    await ssh_port.world.session(name="train-3", owner=people.stranger)
    theirs = ssh_port.key("theirs")
    await ssh_port.register(theirs, people.stranger)
    assert (await ssh_port.ssh(theirs, "train-3", "echo theirs")).out == b"theirs\n"


async def test_a_key_that_several_registered_opens_sessions_only_by_full_ids(
    ssh_port: SshPort, key: Path
) -> None:
    people, world = ssh_port.world.people, ssh_port.world
    own = await world.session(name="own")
    await world.session(name="lure", owner=people.stranger)
    await ssh_port.register(key, people.stranger)
    for user in ("lure", "train-3", own[:8]):
        ran = await ssh_port.ssh(key, user, "true")
        assert (ran.code, "Several accounts have registered this key." in ran.err) == (255, True), user
    for user in (own, f"{own}+main"):
        assert (await ssh_port.ssh(key, user, "echo in")).out == b"in\n"


async def test_a_session_that_does_not_run_says_so(ssh_port: SshPort, key: Path) -> None:
    await ssh_port.world.session(name="waits", state="PENDING")
    ran = await ssh_port.ssh(key, "waits", "true")
    assert (ran.code, ran.err) == (
        255,
        "carrel: waits is not running: it is PENDING. Wait until it runs.\n",
    )


async def test_what_a_shell_prints_before_it_starts_is_limited(
    ssh_port: SshPort, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_processes, "_COMMAND", ("-c", "head -c 4194304 /dev/zero >&2; exit 126", "sh"))
    ran = await ssh_port.ssh(key, "train-3", "true")
    assert ran.code == 255
    assert "The session's shell does not start." in ran.err


async def test_files_go_by_sftp_scp_and_rsync(ssh_port: SshPort, key: Path) -> None:
    content = os.urandom(3 * MIB)
    source, home = ssh_port.folder / "source", ssh_port.world.engine.home
    source.write_bytes(content)
    options = ssh_port.options(key)
    there = "train-3@127.0.0.1:"
    remote_shell = " ".join(["ssh", *options])
    for words, name in (
        (["scp", "-q", *options, str(source), f"{there}by-scp"], "by-scp"),
        (["scp", "-q", "-O", *options, str(source), f"{there}by-old-scp"], "by-old-scp"),
        (["rsync", "-e", remote_shell, str(source), f"{there}by-rsync"], "by-rsync"),
    ):
        ran = await run(words)
        assert (ran.code, ran.err) == (0, ""), words[0]
        assert (home / name).read_bytes() == content, name
    back = ssh_port.folder / "back"
    ran = await run(
        ["sftp", "-q", "-b", "-", *options, "train-3@127.0.0.1"], given=f"get by-scp {back}\n".encode()
    )
    assert (ran.code, ran.err, back.read_bytes() == content) == (0, "", True)


async def test_a_certificate_opens_the_sessions_of_its_user_until_its_credential_ends(
    ssh_port: SshPort, key: Path
) -> None:
    actor = by_keypair(ssh_port)
    made = await certified(ssh_port, ssh_port.key("certified"), actor=actor)
    assert (await ssh_port.ssh(made, "train-3", "echo in")).out == b"in\n"
    async with ssh_port.world.database.transaction() as tx:
        await tx.execute(
            text("UPDATE keypairs SET active = false WHERE user_id = :user"), {"user": actor.user_id}
        )
    ran = await ssh_port.ssh(made, "train-3", "true")
    assert (ran.code, "open no session any more" in ran.err) == (255, True)


async def test_a_certificate_ends_with_the_secret_of_its_keypair(ssh_port: SshPort, key: Path) -> None:
    actor = by_keypair(ssh_port)
    made = await certified(ssh_port, ssh_port.key("certified"), actor=actor)
    assert (await ssh_port.ssh(made, "train-3", "true")).code == 0
    async with ssh_port.world.database.transaction() as tx:
        noted = (
            await tx.execute(text("SELECT credential FROM audit WHERE action = 'session.exec'"))
        ).scalars()
        assert list(noted) == [actor.credential]
        await service.rotate(tx, SystemClock(), actor, actor.credential.removeprefix("keypair:"))
    ran = await ssh_port.ssh(made, "train-3", "true")
    assert (ran.code, "open no session any more" in ran.err) == (255, True)
    made = await certified(ssh_port, made, actor=actor)
    assert (await ssh_port.ssh(made, "train-3", "true")).code == 0


async def test_an_expired_certificate_and_one_of_another_authority_open_nothing(
    ssh_port: SshPort, key: Path
) -> None:
    expired = await certified(ssh_port, ssh_port.key("expired"), actor=by_keypair(ssh_port), minutes=-1)
    ran = await ssh_port.ssh(expired, "train-3", "true")
    assert (ran.code, "Permission denied (publickey)" in ran.err) == (255, True)
    own, forged = ssh_port.key("own-authority"), ssh_port.key("forged")
    names = f"user:{ssh_port.world.people.user.user_id},{by_keypair(ssh_port).credential}"
    signed = await run(["ssh-keygen", "-q", "-s", str(own), "-I", "x", "-n", names, f"{forged}.pub"])
    assert signed.code == 0, signed.err
    assert (await ssh_port.ssh(forged, "train-3", "true")).code == 255


@pytest.mark.parametrize("end", ["share", "key", "session", "user"])
async def test_a_connection_ends_with_the_right_to_it(
    ssh_port: SshPort, key: Path, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_access, "RECHECK_S", 0.1 if end == "key" else 3600.0)
    world = ssh_port.world
    session = await world.session(name="shared")
    theirs = ssh_port.key("theirs")
    registered = await ssh_port.register(theirs, world.people.stranger)
    await share(world, session)
    async with connected(ssh_port, theirs, session, "echo begun; sleep 1000") as client:
        assert await asyncio.wait_for(client.stdout.readline(), BOUND_S) == b"begun\n"
        if end == "share":
            await revoke(world, session)
        elif end == "session":
            await world.terminate(session)
        else:
            statement = {
                "key": "DELETE FROM ssh_keys WHERE id = :id",
                "user": "UPDATE users SET state = 'inactive' WHERE id = (SELECT user_id FROM ssh_keys WHERE id = :id)",
            }[end]
            async with world.database.transaction() as tx:
                await tx.execute(text(statement), {"id": registered})
        assert await asyncio.wait_for(client.wait(), BOUND_S) == 255
        assert b"Your access to this session has ended." in await client.stderr.read()


async def test_a_connection_that_cannot_be_cut_does_not_keep_others_open(
    ssh_port: SshPort, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_access, "RECHECK_S", 0.1)
    actor = by_keypair(ssh_port)
    access = ssh_port.access
    async with ssh_port.world.database.transaction() as tx:
        credential = await ssh_certificates.credential_of(tx, actor)
    proof = ssh_access.SshProof(actor.user_id, credential=credential)
    entrance = await access.enter([proof], "train-3", "127.0.0.1")
    async with ssh_port.world.database.transaction() as tx:
        await tx.execute(
            text("UPDATE keypairs SET active = false WHERE user_id = :user"), {"user": actor.user_id}
        )

    def broken() -> None:
        raise RuntimeError

    ProcessSession(cast(Visit, None)).end("before its channel is open")
    for _ in range(2):  # at the same check, and at a later one
        cut = asyncio.Event()
        with access.watching(entrance, broken), access.watching(entrance, cut.set):
            await asyncio.wait_for(cut.wait(), BOUND_S)


async def test_a_shell_ends_with_its_client(ssh_port: SshPort, key: Path) -> None:
    async with connected(ssh_port, key, "train-3", "echo begun; exec sleep 1000", tty=True) as client:
        assert (await asyncio.wait_for(client.stdout.readline(), BOUND_S)).strip() == b"begun"
    shell, *_ = ssh_port.world.engine.processes
    await eventually(lambda: shell.returncode is not None or None)


async def test_a_port_of_the_session_can_be_forwarded(ssh_port: SshPort, key: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.read()).upper())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "0.0.0.0", 0)
    port = server.sockets[0].getsockname()[1]
    for host in ("localhost", "127.0.0.2"):  # the second by a relay inside
        ran = await ssh_port.ssh(key, "train-3", options=("-W", f"{host}:{port}"), given=b"hello\n")
        assert (ran.code, ran.out) == (0, b"HELLO\n"), host
    server.close()
    ran = await ssh_port.ssh(key, "train-3", options=("-W", f"localhost:{port}", "-o", "LogLevel=INFO"))
    assert ran.code == 255
    assert "Nothing answers on port" in ran.err


async def test_forwarding_can_be_disabled(ssh_port: SshPort, key: Path, tmp_path: Path) -> None:
    async with ssh_port_of(ssh_port.world, ssh_port.folder, port_forwarding=False) as strict:
        ran = await strict.ssh(key, "train-3", options=("-W", "localhost:22", "-o", "LogLevel=INFO"))
        assert (ran.code, "Port forwarding is disabled" in ran.err) == (255, True)
        assert (await strict.ssh(key, "train-3", "echo shell")).out == b"shell\n"


async def test_a_burst_of_forwarded_ports_has_the_limit_too(
    ssh_port: SshPort, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_connections, "MAX_CHANNELS", 2)
    async with (
        await asyncio.start_server(lambda *_: None, "127.0.0.1", 0) as server,
        asyncssh.connect("127.0.0.1", ssh_port.port, options=own_client(key)) as client,
    ):
        port = server.sockets[0].getsockname()[1]
        openings = [client.open_connection("127.0.0.1", port) for _ in range(5)]
        opened = await asyncio.gather(*openings, return_exceptions=True)
        assert sum(isinstance(one, asyncssh.ChannelOpenError) for one in opened) == 3
        client.abort()


async def test_the_variables_of_a_client_are_limited(ssh_port: SshPort, key: Path) -> None:
    sent = {f"LC_TEST_{number}": "x" for number in range(300)}
    async with asyncssh.connect("127.0.0.1", ssh_port.port, options=own_client(key)) as client:
        ran = await client.run("env | grep -c ^LC_TEST", env=sent)
    assert str(ran.stdout).strip() == "100"


FILL = "i=0; while [ $i -lt 300 ]; do head -c 1048576 /dev/zero; i=$((i+1)); echo $i >progress; done"
"""Sends 300 MiB."""


async def stands_still(progress: Path) -> int:
    """How many MiB `FILL` has sent when it has to wait."""
    await eventually(lambda: progress.exists() or None)
    seen = ""

    async def still() -> bool:
        nonlocal seen
        before, seen = seen, progress.read_text()
        return bool(seen) and before == seen

    await eventually(still, every_s=1.0)
    return int(seen)


async def test_a_client_that_does_not_read_holds_the_command_back(ssh_port: SshPort, key: Path) -> None:
    async with connected(ssh_port, key, "train-3", FILL):
        assert await stands_still(ssh_port.world.engine.home / "progress") < 100


async def test_a_client_with_a_huge_window_does_too(ssh_port: SshPort, key: Path) -> None:
    async with asyncssh.connect("127.0.0.1", ssh_port.port, options=own_client(key)) as client:
        await client.create_process(FILL, window=1 << 31, encoding=None)
        assert client._transport
        client._transport.pause_reading()
        assert await stands_still(ssh_port.world.engine.home / "progress") < 100
        client.abort()


async def test_many_connections_at_once_all_work(ssh_port: SshPort, key: Path) -> None:
    ran = await asyncio.gather(*(ssh_port.ssh(key, "train-3", f"echo {number}") for number in range(12)))
    assert [one.out for one in ran] == [b"%d\n" % number for number in range(12)]


async def test_an_address_that_fails_too_often_is_refused_for_a_while(
    ssh_port: SshPort, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_listener, "FAILURES", 2)
    strange = ssh_port.key("strange")
    for _ in range(2):
        assert "Permission denied" in (await ssh_port.ssh(strange, "train-3", "true")).err
    assert (await ssh_port.ssh(key, "train-3", "true")).code == 255
    monkeypatch.setattr(ssh_listener, "FORGIVEN_S", 0.0)
    assert (await ssh_port.ssh(key, "train-3", "true")).code == 0


async def test_failures_are_counted_per_network_and_not_of_exempt_addresses(ssh_port: SshPort) -> None:
    ssh_listener.SshListener(ssh_port.server, ConnectionLimit(0, exempt=["10.0.0.0/8"]))
    failures = ssh_port.server.failures
    for number in range(ssh_listener.FAILURES):
        failures.count(f"2001:db8::{number:x}")
        failures.count("10.0.0.1")
    assert failures.too_many("2001:db8::ffff")
    assert not failures.too_many("2001:db8:0:1::1")
    assert not failures.too_many("10.0.0.1")


async def test_a_stranger_cannot_make_the_server_keep_a_huge_packet(ssh_port: SshPort) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", ssh_port.port)
    writer.write(b"SSH-2.0-Test\r\n" + b"\xff\xff\xff\xf0" + bytes(64))
    answer = await asyncio.wait_for(reader.read(), BOUND_S)
    writer.close()
    assert b"The packet is too large." in answer


async def test_slow_key_exchanges_are_not_offered(ssh_port: SshPort, key: Path) -> None:
    slow = ("-o", "KexAlgorithms=diffie-hellman-group18-sha512")
    assert (await ssh_port.ssh(key, "train-3", "true", options=slow)).code == 255
    fast = ("-o", "KexAlgorithms=curve25519-sha256")
    assert (await ssh_port.ssh(key, "train-3", "true", options=fast)).code == 0


async def test_what_starts_is_in_the_audit_trail(ssh_port: SshPort, key: Path) -> None:
    await ssh_port.ssh(key, "train-3", "echo secret words")
    await ssh_port.ssh(key, "train-3", "TOKEN=secret true")
    await ssh_port.ssh(key, "train-3", "(TOKEN=secret true)")
    async with ssh_port.world.database.transaction() as tx:
        rows = (await tx.execute(text("SELECT details FROM audit WHERE action = 'session.exec'"))).all()
    assert all(row.details["ssh"] == "command" for row in rows)
    assert sorted(row.details["command"] for row in rows) == ["", "", "echo"]
