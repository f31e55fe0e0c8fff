"""The programs of the app layer in an image that has one program and nothing else."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator

import aiohttp
import pytest
from layer_image import layer_image
from people import eventually
from tiny_image import ensure_tiny_image

from carrel.apps.app_templates import SECRET_VARIABLE, AppTemplate
from carrel.apps.layer_apps import LAYER_APPS
from carrel.core.ids import new_id
from carrel.engines.conformance_kit import ProgressLog, run
from carrel.engines.docker import DockerEngine
from carrel.engines.port import ContainerSpec

SECRET = secrets.token_hex(32)
MIB = 1 << 20
APPS = {app.name: app for app in LAYER_APPS}


class Inside:
    """A session with the layer. address: of its container."""

    def __init__(self, engine: DockerEngine, container: str, address: str) -> None:
        self.engine = engine
        self.container = container
        self.address = address

    async def shell(self, script: str) -> str:
        path = "PATH=$PATH:/opt/carrel/bin:/opt/carrel/busybox; "
        ran = await run(self.engine, self.container, "sh", "-c", path + script)
        assert ran.exit_code == 0, ran
        return ran.stdout.decode()

    async def start(self, app: AppTemplate) -> str:
        """The URL of an app that answers. Programs in ~/bin are those of the image."""
        script = (
            f'export {SECRET_VARIABLE}={SECRET} PATH="$HOME/bin:$PATH"; exec "$@" >/tmp/{app.name}.log 2>&1 &'
        )
        await run(self.engine, self.container, "sh", "-c", script, app.name, *app.words(SECRET, {}))
        url = f"http://{self.address}:{app.port}"

        async def answers() -> bool:
            try:
                async with aiohttp.ClientSession() as client, client.get(url + app.ready) as answer:
                    return answer.status < 500
            except aiohttp.ClientError:
                return False

        await eventually(answers, within_s=120, every_s=0.2)
        return url


@pytest.fixture
async def inside(docker_engine: DockerEngine) -> AsyncIterator[Inside]:
    layer = await asyncio.to_thread(layer_image)
    image = await ensure_tiny_image("scratch")
    spec = ContainerSpec(new_id(), image, {"cpu": 2000, "mem": 1024 * MIB}, layer=layer)
    observed = await docker_engine.ensure(spec, ProgressLog())
    assert observed.address
    yield Inside(docker_engine, spec.id, observed.address)
    await docker_engine.remove(spec.id, grace_s=0)


def _authorized(app: AppTemplate) -> dict[str, str]:
    auth = app.auth(SECRET)
    assert auth
    return dict([auth])


async def _printed(url: str, client: aiohttp.ClientSession, code: str) -> str:
    """What a cell prints in the default kernel."""
    async with client.post(f"{url}/api/kernels", json={}) as answer:
        assert answer.status == 201, await answer.text()
        kernel = (await answer.json())["id"]
    header = {"msg_id": "1", "msg_type": "execute_request", "session": "1", "username": "", "version": "5.3"}
    message = {"header": header, "parent_header": {}, "metadata": {}, "channel": "shell", "buffers": []}
    async with client.ws_connect(f"{url.replace('http', 'ws')}/api/kernels/{kernel}/channels") as channel:
        await channel.send_str(json.dumps({**message, "content": {"code": code, "silent": False}}))
        async with asyncio.timeout(120):
            while (received := await channel.receive_json())["msg_type"] != "stream":
                assert received["msg_type"] != "error", received
    return str(received["content"]["text"])


async def test_a_cell_runs(inside: Inside) -> None:
    app = APPS["jupyter"]
    url = await inside.start(app)
    names = "('PYTHONHOME', 'PYTHONPATH', 'LD_LIBRARY_PATH', 'CARREL_APP_SECRET')"
    code = f"import os; print(6 * 7, [name for name in os.environ if name in {names}])"
    async with aiohttp.ClientSession(headers=_authorized(app)) as client:
        assert await _printed(url, client, code) == "42 []\n"
        # A terminal of JupyterLab's, too.
        async with client.post(f"{url}/api/terminals") as answer:
            assert answer.status == 200, await answer.text()


async def test_python_of_the_image_is_the_default_kernel_if_it_has_one(inside: Inside) -> None:
    app = APPS["jupyter"]
    program = '#!/bin/sh\nexport OWN=1; exec /opt/carrel/jupyter/bin/python "$@"\n'
    await inside.shell(f"mkdir ~/bin; printf '{program}' > ~/bin/python3; chmod +x ~/bin/python3")
    url = await inside.start(app)
    async with aiohttp.ClientSession(headers=_authorized(app)) as client:
        async with client.get(f"{url}/api/kernelspecs") as answer:
            known = await answer.json()
        assert known["default"] == "image"
        assert {*known["kernelspecs"]} == {"image", "python3"}
        assert await _printed(url, client, "import os; print(os.environ['OWN'])") == "1\n"


async def test_each_app_demands_the_secret(inside: Inside) -> None:
    secret_paths = {
        "jupyter": "/api/contents",
        "vscode": "/vscode-remote-resource?path=/etc/passwd",
        "files": "/note",
    }
    await inside.shell("echo private > ~/note")
    for app in LAYER_APPS:
        url = await inside.start(app) + secret_paths[app.name]
        async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client:
            async with client.get(url, allow_redirects=False) as answer:
                assert answer.status in (302, 401, 403), (app.name, answer.status)
            wrong = dict([app.auth("0" * 64) or ("", "")])
            async with client.get(url, headers=wrong, allow_redirects=False) as answer:
                assert answer.status in (302, 401, 403), (app.name, answer.status)
            async with client.get(url, headers=_authorized(app), allow_redirects=False) as answer:
                assert answer.status not in (302, 401, 403), (app.name, answer.status)


async def test_tmux_and_openssh_run(inside: Inside) -> None:
    assert "hello" in await inside.shell(
        "tmux new-session -d -s one 'echo hello from $TMUX_PANE > /tmp/said; sleep 600'; "
        "until [ -s /tmp/said ]; do sleep 0.1; done; cat /tmp/said; tmux kill-server"
    )
    assert "ED25519" in await inside.shell(
        "ssh-keygen -q -t ed25519 -N '' -f /tmp/key && ssh-keygen -l -f /tmp/key"
    )
    # SSH_FXP_INIT of version 3 is answered with SSH_FXP_VERSION.
    serving = inside.engine.exec(inside.container, ["/opt/carrel/bin/sftp-server"], env={}, terminal=None)
    async with asyncio.timeout(60), serving as stream:
        await stream.write(b"\x00\x00\x00\x05\x01\x00\x00\x00\x03")
        answer = b""
        async for _, chunk in stream.output():
            answer += chunk
            if len(answer) >= 9:
                break
    assert answer[4:9] == b"\x02\x00\x00\x00\x03"


async def test_a_program_of_the_image_goes_first(inside: Inside) -> None:
    await inside.shell("mkdir ~/bin; printf '#!/bin/sh\\necho own $1\\n' > ~/bin/tmux; chmod +x ~/bin/tmux")
    assert await inside.shell("PATH=~/bin:$PATH /opt/carrel/bin/tmux -V") == "own -V\n"
