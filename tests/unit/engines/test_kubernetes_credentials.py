"""Credentials of clusters: read, renewed, and what is wrong with them in sentences."""

import asyncio
import base64
import json
import os
import shlex
import signal
import ssl
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from cryptography.hazmat.primitives import serialization
from own_authority import certificates
from people import eventually
from tiny_api_server import TinyApiServer, machine

from carrel.engines.kubernetes import KubernetesEngine, credentials, exec_plugin
from carrel.engines.kubernetes.credentials import ClusterAccess
from carrel.engines.port import EngineError, EngineUnavailable

_VERSION = "client.authentication.k8s.io/v1"
Plugin = Callable[..., ClusterAccess]


@pytest.fixture
async def server() -> AsyncIterator[TinyApiServer]:
    async with TinyApiServer() as server:
        server.objects["api/v1/nodes/a"] = machine()
        yield server


def written(*, cluster: Any = None, user: Any = None) -> ClusterAccess:
    """A kubeconfig with these parts."""
    config = {
        "current-context": "lab",
        "contexts": [{"name": "lab", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://10.0.0.5:6443", **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {"token": "t"}}],
    }
    return ClusterAccess(kubeconfig=yaml.safe_dump(config))


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plugin:
    """A kubeconfig with a program that is this script."""
    program = tmp_path / "plugin"
    monkeypatch.setenv("CARREL_KUBECONFIG_COMMANDS", str(program))

    def made(script: str, **more: Any) -> ClusterAccess:
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o700)
        return written(user={"exec": {"apiVersion": _VERSION, "command": str(program), **more}})

    return made


def printed(**status: str) -> str:
    answer = {"apiVersion": _VERSION, "kind": "ExecCredential", "status": status}
    return f"printf %s {shlex.quote(json.dumps(answer))}"


async def test_a_program_gets_nothing_of_our_secrets_and_its_own_variables(
    plugin: Plugin, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CARREL_DATABASE_URL", "postgresql://secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy")
    access = plugin(
        f"env >{tmp_path}/env; {printed(token='issued')}", env=[{"name": "REGION", "value": "eu"}], args=["x"]
    )
    assert (await credentials.read(access)).authorization == "Bearer issued"
    variables = dict(line.split("=", 1) for line in (tmp_path / "env").read_text().splitlines())
    assert variables["REGION"] == "eu"
    assert variables["HTTPS_PROXY"] == "http://proxy"
    assert json.loads(variables["KUBERNETES_EXEC_INFO"])["spec"] == {"interactive": False}
    assert not [name for name in variables if name.startswith("CARREL")]


@pytest.mark.parametrize("ends", ["timeout", "cancel"])
async def test_a_program_that_hangs_is_killed_with_its_children(
    plugin: Plugin, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ends: str
) -> None:
    monkeypatch.setattr(exec_plugin, "_ANSWER_S", 1.0 if ends == "timeout" else 600.0)
    access = plugin(
        f"sleep 1000 & echo $! >{tmp_path}/child.new; mv {tmp_path}/child.new {tmp_path}/child; wait"
    )
    reading = asyncio.create_task(credentials.read(access))
    child = tmp_path / "child"
    await eventually(lambda: child.exists() or reading.done())
    if ends == "cancel":
        reading.cancel()
    with pytest.raises((EngineUnavailable, asyncio.CancelledError)) as error:
        await reading
    assert ends == "cancel" or "has not answered for 1 seconds" in str(error.value)
    if child.exists():
        pid = child.read_text().strip()
        # Nobody may have reaped it yet.
        await eventually(lambda: _is_gone(pid))


async def test_a_program_that_just_starts_is_killed_with_its_children(
    plugin: Plugin, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    start, returns = asyncio.create_subprocess_exec, asyncio.Event()

    async def slowly(*words: Any, **options: Any) -> asyncio.subprocess.Process:
        process = await start(*words, **options)
        await returns.wait()
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", slowly)
    child = tmp_path / "child"
    reading = asyncio.create_task(
        credentials.read(plugin(f"sleep 1000 & echo $! >{child}.new; mv {child}.new {child}; wait"))
    )
    await eventually(child.exists)
    reading.cancel()
    returns.set()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await eventually(lambda: _is_gone(child.read_text().strip()))


async def test_a_program_whose_output_another_process_keeps_open_is_not_awaited_for_ever(
    plugin: Plugin, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(exec_plugin, "_ANSWER_S", 1.0)
    monkeypatch.setattr(exec_plugin, "_END_S", 0.1)
    child = tmp_path / "child"
    try:
        async with asyncio.timeout(10):
            with pytest.raises(EngineUnavailable, match="has not answered"):
                await credentials.read(plugin(f"setsid sh -c 'echo $$ >{child}; exec sleep 1000'"))
    finally:
        os.kill(int(child.read_text()), signal.SIGKILL)


def _is_gone(pid: str) -> bool:
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("echo no >&2; exit 3", "failed with 3: no."),
        ("exit 4", "failed with 4: it gives no reason."),
        ("echo hello", "does not print an ExecCredential."),
        ("echo '[]'", "does not print an ExecCredential."),
        ("echo '{\"status\": null}'", "does not print an ExecCredential."),
        (printed(), "issues neither a token nor a certificate with its key."),
        (printed(clientCertificateData="c"), "issues neither a token nor a certificate with its key."),
    ],
)
async def test_what_is_wrong_with_a_program_is_a_sentence(plugin: Plugin, script: str, sentence: str) -> None:
    with pytest.raises(EngineUnavailable) as error:
        await credentials.read(plugin(script))
    assert error.value.message.endswith(sentence)


async def test_a_program_that_cannot_be_run_is_a_sentence(plugin: Plugin, tmp_path: Path) -> None:
    access = plugin("true")
    (tmp_path / "plugin").write_text("no program")
    with pytest.raises(EngineUnavailable, match=r"cannot be used: the program .*plugin cannot be run"):
        await credentials.read(access)
    (tmp_path / "plugin").unlink()
    with pytest.raises(EngineUnavailable, match="is not on this machine"):
        await credentials.read(access)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"user": {"token": 5}}, "token: Input should be a valid string."),
        ({"user": {"exec": {"command": "aws"}}}, "exec.apiVersion: Field required."),
        ({"user": {"exec": "aws"}}, "exec: Input should be a valid dictionary"),
        ({"user": {"client-certificate-data": "b2g="}}, "a client certificate without its key"),
        ({"user": {"client-certificate-data": "x"}}, "client-certificate-data: it is not encoded in Base64."),
        (
            {"cluster": {"insecure-skip-tls-verify": "maybe"}},
            "insecure-skip-tls-verify: Input should be a valid bool",
        ),
        (
            {"cluster": {"proxy-url": "socks5://me:secret@p:1"}},
            "a proxy with socks5:// (proxy-url): only http://",
        ),
    ],
)
async def test_parts_of_a_kubeconfig_that_cannot_be_used_are_sentences(parts: Any, sentence: str) -> None:
    with pytest.raises(EngineUnavailable) as error:
        await credentials.read(written(**parts))
    assert sentence in error.value.message


def tls(folder: Path, *, asks: str = "") -> ssl.SSLContext:
    """Of a server. asks: for a client's certificate of this authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    if asks:
        context.load_verify_locations(cadata=asks)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def encoded(content: str) -> str:
    return base64.b64encode(content.encode()).decode()


async def nodes(access: ClusterAccess) -> int:
    engine = KubernetesEngine(access, "lab")
    try:
        return len(await engine.nodes())
    finally:
        await engine.close()


async def test_a_certificate_and_its_key_are_in_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = certificates(tmp_path)
    cluster = {"certificate-authority-data": encoded(authority)}
    certificate, key = ((tmp_path / f"server.{kind}").read_text() for kind in ("pem", "key"))
    user = {"client-certificate-data": encoded(certificate), "client-key-data": encoded(key)}
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    before = (tmp_path / "temporary").stat().st_mtime_ns
    async with TinyApiServer(tls(tmp_path, asks=authority)) as server:
        server.objects["api/v1/nodes/a"] = machine()
        assert await nodes(written(cluster={"server": server.url, **cluster}, user=user)) == 1
        with pytest.raises(EngineUnavailable):
            await nodes(written(cluster={"server": server.url, **cluster}))
    assert (tmp_path / "temporary").stat().st_mtime_ns == before


async def test_a_key_with_a_password_is_a_sentence(tmp_path: Path) -> None:
    certificates(tmp_path)
    key = serialization.load_pem_private_key((tmp_path / "server.key").read_bytes(), None)
    locked = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"open sesame"),
    ).decode()
    certificate = (tmp_path / "server.pem").read_text()
    user = {"client-certificate-data": encoded(certificate), "client-key-data": encoded(locked)}
    with pytest.raises(EngineUnavailable, match="without a password"):
        await nodes(written(user=user))


async def test_the_certificate_may_be_for_another_name(tmp_path: Path) -> None:
    cluster = {"certificate-authority-data": encoded(certificates(tmp_path, "kube.internal"))}
    async with TinyApiServer(tls(tmp_path)) as server:
        server.objects["api/v1/nodes/a"] = machine()
        cluster["server"] = server.url.replace("127.0.0.1", "localhost")
        with pytest.raises(EngineUnavailable, match="is not trusted"):
            await nodes(written(cluster=cluster))
        assert await nodes(written(cluster={**cluster, "tls-server-name": "kube.internal"})) == 1


async def test_an_engine_knows_whether_its_connection_is_protected(tmp_path: Path) -> None:
    authority = encoded(certificates(tmp_path))
    async with TinyApiServer(tls(tmp_path)) as server:
        server.objects["api/v1/nodes/a"] = machine()
        for cluster, protected in (
            ({"certificate-authority-data": authority}, True),
            ({"insecure-skip-tls-verify": True}, False),
        ):
            engine = KubernetesEngine(written(cluster={"server": server.url, **cluster}), "lab")
            assert len(await engine.nodes()) == 1
            assert engine.protected is protected
            await engine.close()


async def test_the_server_is_reached_through_its_proxy(server: TinyApiServer) -> None:
    cluster = {"server": "http://kube.internal", "proxy-url": server.url}
    assert await nodes(written(cluster=cluster)) == 1


async def test_credentials_follow_no_redirect(server: TinyApiServer) -> None:
    async with TinyApiServer() as elsewhere:
        elsewhere.objects["api/v1/nodes/a"] = machine()
        server.refuse = lambda request: web.Response(
            status=307, headers={"Location": elsewhere.url + request.path_qs}
        )
        with pytest.raises(EngineUnavailable, match="redirects to another address"):
            await nodes(server.access())
        assert elsewhere.seen == []


@pytest.mark.parametrize("code", [200, 500])
@pytest.mark.parametrize("page", ["<p>metadata: s3cret</p>", '["s3cret"]', '{"message": "s3cret"}', "null"])
async def test_a_page_of_another_server_is_not_shown(server: TinyApiServer, page: str, code: int) -> None:
    server.refuse = lambda request: web.Response(text=page, status=code)
    with pytest.raises(EngineError) as error:
        await nodes(server.access())
    assert "s3cret" not in error.value.message
