"""When `carrel up` checks whether the label is its own before it starts any process."""

import argparse
from pathlib import Path

import pytest

from carrel.server import claim, run_file, up
from carrel.server.settings import Settings

PLAIN = argparse.Namespace(adopt=False, as_copy=False)


def test_a_data_directory_from_the_same_path_of_another_machine_is_checked_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(data_dir=tmp_path)
    assert not up._stays(settings, PLAIN)
    run_file.write_run(settings, embedded=True, claimant=claim.claimant(settings).fingerprint)
    assert up._stays(settings, PLAIN)
    (tmp_path / "machine-id").write_text("another machine\n")
    monkeypatch.setattr(claim, "_MACHINE_ID", tmp_path / "machine-id")
    assert not up._stays(settings, PLAIN)


def test_an_installation_that_changes_its_identity_is_checked_first(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    run_file.write_run(settings, embedded=True, claimant=claim.claimant(settings).fingerprint)
    assert not up._stays(settings, argparse.Namespace(adopt=True, as_copy=False))
    assert not up._stays(settings, argparse.Namespace(adopt=False, as_copy=True))
