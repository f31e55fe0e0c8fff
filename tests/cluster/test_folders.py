"""Folders in pods: one storage on two nodes, as a claim and as a directory of the nodes."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest
from own_cluster import Cluster
from service_accounts import NAMESPACE
from shared_volume import shared_volume
from test_kubernetes import KubernetesHarness

from carrel.core.ids import FolderId, new_id
from carrel.engines.conformance_kit import ProgressLog, refused, run, spec
from carrel.engines.port import ContainerSpec, EngineError, Mount, MountUnusable
from carrel.engines.volumes import parse
from carrel.storage.port import FolderLocation
from carrel.storage.posix import PosixBackend

_AT = "/home/work/data"


class Storage:
    """A storage host with folders in a claim. location: of its root."""

    def __init__(self, root: Path, claim: str) -> None:
        self.backend = PosixBackend(root)
        self.location = f"volume://{claim}/{root.name}"
        self.backend.probe()
        self.backend.claim()

    def folder(self, scope: str = "user-one") -> Path:
        """The files of a new folder."""
        place = FolderLocation(scope, FolderId(new_id()))
        self.backend.create(place)
        return self.backend.files(place)

    def mount(
        self, files: Path, target: str = _AT, *, subpath: str = "", read_only: bool = False, at: str = ""
    ) -> Mount:
        part = PurePosixPath(files.relative_to(self.backend.root))
        return parse(at or self.location).mount(part, target, subpath=subpath, read_only=read_only)


@pytest.fixture(scope="module")
def storage(cluster: Cluster) -> Storage:
    """In the folder of the cluster, so that whoever removes that after a kill removes it too."""
    directory = cluster.folder / "shared"
    directory.mkdir()
    return Storage(directory / "root", shared_volume(cluster, directory, "folders", NAMESPACE))


@pytest.fixture
async def harness(cluster: Cluster) -> AsyncIterator[KubernetesHarness]:
    harness = KubernetesHarness(cluster)
    yield harness
    await harness.close()


def container(harness: KubernetesHarness, *mounts: Mount, node: int = 0) -> ContainerSpec:
    return replace(spec(harness), mounts=mounts, node=harness.cluster.nodes[node].name)


async def started(harness: KubernetesHarness, *mounts: Mount, node: int = 0) -> str:
    """The id of a new idle container with these mounts on that node."""
    desired = container(harness, *mounts, node=node)
    await harness.engine.ensure(desired, ProgressLog())
    return desired.id


async def output(harness: KubernetesHarness, container: str, *command: str) -> bytes:
    """What a command that succeeds writes."""
    ran = await run(harness.engine, container, *command)
    assert ran.exit_code == 0, ran
    return ran.stdout


async def test_two_nodes_have_one_folder_with_the_same_owner_and_rights(
    harness: KubernetesHarness, storage: Storage
) -> None:
    files = storage.folder()
    writer = await started(harness, storage.mount(files))
    reader = await started(harness, storage.mount(files, "/srv/data", read_only=True), node=1)
    await output(harness, writer, "sh", "-c", f"umask 027; echo here >{_AT}/note")
    assert await output(harness, reader, "cat", "/srv/data/note") == b"here\n"
    assert (await output(harness, reader, "ls", "-n", "/srv/data/note")).split()[:4] == [
        *(b"-rw-r-----", b"1", b"1000", b"1000")
    ]
    assert (files / "note").read_text() == "here\n"
    assert (files / "note").stat().st_uid == 1000
    (files / "answer").write_text("back")
    assert await output(harness, writer, "cat", f"{_AT}/answer") == b"back"
    nodes = {
        pod["spec"]["nodeName"]
        for pod in harness.cluster.call("GET", f"/api/v1/namespaces/{NAMESPACE}/pods")["items"]
        if pod["metadata"]["labels"].get("carrel.installation") == harness.installation
    }
    assert len(nodes) == 2


async def test_what_is_mounted_read_only_cannot_be_written(
    harness: KubernetesHarness, storage: Storage
) -> None:
    files = storage.folder()
    (files / "part").mkdir()
    (files / "part").chmod(0o777)
    reader = await started(
        harness,
        storage.mount(files, read_only=True),
        storage.mount(files, "/home/work/part", subpath="part", read_only=True),
    )
    for path in (_AT, "/home/work/part"):
        ran = await run(harness.engine, reader, "touch", f"{path}/new")
        assert (ran.exit_code, b"Read-only file system" in ran.stderr) == (1, True), ran
    assert [entry.name for entry in files.iterdir()] == ["part"]


async def test_several_folders_of_one_claim_are_apart(harness: KubernetesHarness, storage: Storage) -> None:
    one, other = storage.folder(), storage.folder("user-other")
    (one / "note").write_text("one")
    (other / "note").write_text("other")
    both = await started(harness, storage.mount(one), storage.mount(other, "/data", read_only=True))
    assert await output(harness, both, "cat", f"{_AT}/note", "/data/note") == b"oneother"
    assert (await run(harness.engine, both, "ls", f"{_AT}/..")).stdout == b"data\n"


async def test_a_directory_that_is_not_in_the_volume_is_no_mount(
    harness: KubernetesHarness, storage: Storage
) -> None:
    files = storage.folder()
    files.rename(files.with_name("moved"))
    for read_only in (False, True):
        desired = container(harness, storage.mount(files, read_only=read_only))
        error = await refused(MountUnusable, harness.engine.ensure(desired, ProgressLog()))
        assert error.retriable
        assert "files" in error.message
    # The kubelet has made an empty directory, which never was a folder.
    assert not list(files.iterdir())
    files.rmdir()
    files.with_name("moved").rename(files)
    await harness.engine.ensure(desired, ProgressLog())


async def test_a_link_in_a_folder_leads_to_no_other_folder_of_the_volume(
    harness: KubernetesHarness, storage: Storage
) -> None:
    files, secret = storage.folder(), storage.folder("user-other")
    (secret / "key").write_text("secret")
    (secret / "key").chmod(0o666)
    (files / "link").symlink_to(secret)
    above = f"../../../{secret.relative_to(storage.backend.root)}"
    (files / "up").symlink_to(above)
    inside = await started(
        harness,
        storage.mount(files),
        storage.mount(files, "/home/work/part", subpath="link"),
        storage.mount(files, "/home/work/deep/up", subpath="up"),
    )
    for path in (f"{_AT}/link", f"{_AT}/up", "/home/work/part", "/home/work/deep/up"):
        ran = await run(harness.engine, inside, "cat", f"{path}/key")
        assert (ran.exit_code, ran.stdout) == (1, b""), path
    # Elsewhere there can be no link, and the kubelet would follow that of the session.
    desired = container(harness, storage.mount(files, "/srv/part", subpath="up"))
    error = await refused(MountUnusable, harness.engine.ensure(desired, ProgressLog()))
    assert not error.retriable


async def test_a_claim_that_is_not_there_is_the_reason(harness: KubernetesHarness, storage: Storage) -> None:
    files = storage.folder()
    desired = container(harness, storage.mount(files, at="volume://nowhere"))
    error = await refused(EngineError, harness.engine.ensure(desired, ProgressLog()))
    assert '"nowhere" not found' in error.message
    assert error.retriable


async def test_an_export_that_cannot_be_mounted_is_the_reason(
    harness: KubernetesHarness, storage: Storage
) -> None:
    """The kernel of the tests need not have NFS: that is one of the reasons."""
    at = f"nfs://{harness.cluster.address}/export"
    desired = container(harness, storage.mount(storage.folder(), at=at))
    error = await refused(MountUnusable, harness.engine.ensure(desired, ProgressLog()))
    assert error.message.startswith("A folder cannot be mounted on the node: ")


async def test_a_node_may_have_the_root_at_another_path(harness: KubernetesHarness, storage: Storage) -> None:
    files = storage.folder()
    (files / "note").write_text("kept")
    elsewhere = storage.backend.root.with_name("elsewhere")
    elsewhere.symlink_to(storage.backend.root)
    there = await started(harness, storage.mount(files, at=str(elsewhere)), node=1)
    assert await output(harness, there, "cat", f"{_AT}/note") == b"kept"
