"""The conformance suite of mounts, an extension of `conformance`."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from carrel.engines.conformance_kit import EngineHarness, ProgressLog, Ran, exited, refused, run, spec
from carrel.engines.port import Mount, MountUnusable

_AT = "/home/work/data"


@contextmanager
def directory() -> Iterator[Path]:
    """An empty directory of this machine, writable by everybody."""
    with tempfile.TemporaryDirectory(prefix="mounted-") as made:
        path = Path(made).resolve() / "files"
        path.parent.chmod(0o755)
        path.mkdir()
        path.chmod(0o777)
        yield path


async def mounting(harness: EngineHarness, *mounts: Mount) -> str:
    """The id of a new idle container with these mounts."""
    desired = replace(spec(harness), mounts=mounts)
    await harness.engine.ensure(desired, ProgressLog())
    return desired.id


class MountConformance:
    """One test per statement of `Mount`."""

    async def test_two_containers_share_what_both_mount(self, harness: EngineHarness) -> None:
        with directory() as source:
            (source / "note").write_text("kept")
            one = await mounting(harness, Mount(str(source), _AT))
            other = await mounting(harness, Mount(str(source), "/srv/shared"))
            assert (await run(harness.engine, one, "cat", f"{_AT}/note")).stdout == b"kept"
            assert (await run(harness.engine, one, "touch", f"{_AT}/made")).exit_code == 0
            assert await run(harness.engine, other, "cat", "/srv/shared/made") == Ran(0)
            await harness.engine.remove(one, grace_s=0)
            assert sorted(path.name for path in source.iterdir()) == ["made", "note"]

    async def test_what_is_mounted_read_only_cannot_be_written(self, harness: EngineHarness) -> None:
        with directory() as source:
            (source / "note").write_text("kept")
            (source / "part").mkdir(mode=0o777)
            (source / "part").chmod(0o777)
            container = await mounting(
                harness,
                Mount(str(source), _AT, read_only=True),
                Mount(str(source), "/home/work/part", "part", read_only=True),
            )
            for path in (_AT, "/home/work/part"):
                ran = await run(harness.engine, container, "touch", f"{path}/new")
                assert (ran.exit_code, b"Read-only file system" in ran.stderr) == (1, True)
            assert (await run(harness.engine, container, "cat", f"{_AT}/note")).stdout == b"kept"

    async def test_a_part_is_all_that_its_path_shows(self, harness: EngineHarness) -> None:
        with directory() as source:
            (source / "runs" / "one").mkdir(parents=True)
            (source / "runs" / "one" / "log").write_text("1")
            (source / "note").write_text("outside")
            container = await mounting(harness, Mount(str(source), _AT, "runs/one"))
            assert (await run(harness.engine, container, "cat", f"{_AT}/log")).stdout == b"1"
            assert (await run(harness.engine, container, "cat", f"{_AT}/note")).exit_code == 1

    async def test_a_link_in_a_directory_leads_to_nothing_of_the_machine(
        self, harness: EngineHarness
    ) -> None:
        with directory() as source, directory() as secret:
            (secret / "key").write_text("secret")
            (source / "link").symlink_to(secret)
            (source / "up").symlink_to("../..")
            below = Path("up") / secret.parent.name / secret.name
            container = await mounting(
                harness,
                Mount(str(source), _AT),
                Mount(str(source), "/home/work/part", "link"),
                Mount(str(source), "/home/work/deep/up", str(below)),
            )
            for path in (f"{_AT}/link", f"{_AT}/{below}", "/home/work/part", "/home/work/deep/up"):
                ran = await run(harness.engine, container, "cat", f"{path}/key")
                assert (ran.exit_code, ran.stdout) == (1, b""), path

    async def test_mounts_are_there_after_a_restart(self, harness: EngineHarness) -> None:
        with directory() as source:
            (source / "part").mkdir()
            for place in ("note", "part/note"):
                (source / place).write_text("kept")
            mounts = (
                Mount(str(source), _AT),
                Mount(str(source), "/home/work/deep/er", read_only=True),
                Mount(str(source), "/home/work/part", "part"),
            )
            desired = replace(spec(harness, "sh", "-c", "sleep 0.2; exit 0"), mounts=mounts)
            await harness.engine.ensure(desired, ProgressLog())
            await exited(harness, desired.id)
            await harness.another().ensure(desired, ProgressLog())
            idle = replace(spec(harness), mounts=mounts)
            await harness.engine.ensure(idle, ProgressLog())
            await harness.another().ensure(idle, ProgressLog())
            for mount in mounts:
                ran = await run(harness.engine, idle.id, "cat", f"{mount.target}/note")
                assert ran.stdout == b"kept", mount.target

    async def test_a_directory_that_is_not_there_is_said_and_not_made(self, harness: EngineHarness) -> None:
        with directory() as source:
            gone = source / "gone"
            desired = replace(spec(harness), mounts=(Mount(str(gone), _AT),))
            error = await refused(MountUnusable, harness.engine.ensure(desired, ProgressLog()))
            assert str(gone) in error.message
            assert error.retriable
            assert not gone.exists()
            gone.mkdir()
            await harness.engine.ensure(desired, ProgressLog())

    async def test_a_directory_that_vanishes_keeps_its_container_from_starting_again(
        self, harness: EngineHarness
    ) -> None:
        with directory() as source:
            desired = replace(spec(harness, "sh", "-c", "exit 0"), mounts=(Mount(str(source), _AT),))
            await harness.engine.ensure(desired, ProgressLog())
            await exited(harness, desired.id)
            source.rename(source.with_name("elsewhere"))
            await refused(MountUnusable, harness.engine.ensure(desired, ProgressLog()))
            source.with_name("elsewhere").rename(source)
            await harness.engine.ensure(desired, ProgressLog())
