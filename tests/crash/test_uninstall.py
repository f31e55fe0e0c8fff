"""`carrel uninstall` on a real engine: what it refuses, what goes, what stays."""

import os
import subprocess
import sys
from pathlib import Path

import aiodocker
from crash.place import Place
from crash.supervised import Supervised

from carrel.engines.docker import DockerEngine
from carrel.engines.port import Claimant

CARREL = Path(sys.executable).with_name("carrel")
STARTER = "localhost/carrel/starter"


def _uninstall(
    plane: Supervised, *options: str, code: int = 0, data_dir: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CARREL_")}
    # What is tested here runs from the checkout that would go with it.
    command = [CARREL, "uninstall", "--data-dir", data_dir or plane.folder, "--keep-checkout", *options]
    done = subprocess.run(
        command, env=clean, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


async def test_it_says_what_goes_removes_that_and_keeps_data_until_it_is_told(supervised: Place) -> None:
    plane = supervised.plane
    assert isinstance(plane, Supervised)
    await supervised.client.create("one", supervised.image)
    await supervised.comes_to_rest()
    async with aiodocker.Docker(url=supervised.daemon.url) as docker:
        await docker.images.tag(supervised.image, repo=STARTER, tag="test")
    # 1. A session runs.
    refused = _uninstall(plane, "--yes", code=2)
    assert "(setup.sessions_run)" in refused.stderr
    assert f"the image {STARTER}:test" in refused.stdout
    assert plane.lives()
    # 2. Nobody is there to agree.
    assert "(setup.needs_consent)" in _uninstall(plane, "--force", code=2).stderr
    assert len(await supervised.engine.list()) == 1
    # 3. A copy that was never started here goes alone.
    copy = plane.folder.with_name(f"{plane.folder.name}-copy")
    copy.mkdir()
    (copy / "run.json").write_text((plane.folder / "run.json").read_text())
    _uninstall(plane, "--yes", "--data", data_dir=copy)
    assert not copy.exists()
    assert len(await supervised.engine.list()) == 1
    # 4. While another installation is in the engine, it keeps the images.
    other = DockerEngine(supervised.daemon.url, "other", claimant=Claimant("1", "/srv/other on alpha"))
    await other.claim.require()
    refused = _uninstall(plane, "--force", code=2)
    going, _, staying = refused.stdout.partition("This stays:")
    assert f"the image {STARTER}:test" not in going
    assert f"the image {STARTER}:test" in staying
    assert "/srv/other on alpha" in staying
    await other.claim.release()
    await other.close()
    # 5. It goes, and what was kept for people stays.
    done = _uninstall(plane, "--yes", "--force")
    assert f"Its data stays in {plane.folder}" in done.stdout
    assert not plane.lives()
    assert not plane.database_runs()
    assert not await supervised.engine.list()
    async with aiodocker.Docker(url=supervised.daemon.url) as docker:
        labels = [str(network.get("Labels")) for network in await docker.networks.list()]
        assert not any(plane.installation in label for label in labels)
        tags = [tag for image in await docker.images.list() for tag in image.get("RepoTags") or ()]
        assert f"{STARTER}:test" not in tags
        assert supervised.image in tags
    assert (plane.folder / "key").exists()
    # 6. Twice, and with the data.
    _uninstall(plane, "--yes", "--data")
    assert not plane.folder.exists()
    assert "(setup.no_installation)" in _uninstall(plane, "--yes", code=2).stderr
