"""What the supervisor does for the logs."""

from pathlib import Path

from carrel.server.supervise import bound


def test_a_long_log_is_moved_aside_under_its_writer(tmp_path: Path):
    log = tmp_path / "api.err"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"x" * 50)
        bound(log, 100)
        assert log.stat().st_size == 50
        writer.write(b"y" * 60)
        bound(log, 100)
        writer.write(b"new")
    assert log.read_bytes() == b"new"
    assert (tmp_path / "api.err.1").read_bytes() == b"x" * 50 + b"y" * 60


def test_a_log_that_is_not_there_is_left_alone(tmp_path: Path):
    bound(tmp_path / "none.err")
    assert list(tmp_path.iterdir()) == []
