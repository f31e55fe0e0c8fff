"""The simulated machine of an installation."""

from pathlib import Path

from carrel.accelerators.make import make
from carrel.server.engines import _accelerators
from carrel.server.settings import Settings


def test_simulated_accelerators_are_below_the_data_directory(tmp_path: Path):
    profile = {"vendor": "1f56", "nodes": ["/dev/sapeon{index}"], "title": "Ours"}
    settings = Settings(
        data_dir=tmp_path,
        simulated_accelerators="h100x2,x330x1",
        fake_accelerators=1,
        accelerators={"pci": {"profiles": {"sapeon": profile}}},
    )
    devices = [device for one in make(_accelerators(settings)) for device in one.discover()]
    assert sorted(device.model for device in devices) == [
        "Fake accelerator",
        "NVIDIA H100 80GB HBM3",
        "NVIDIA H100 80GB HBM3",
        "Ours",
    ]
    [tree] = (tmp_path / "simulated-accelerators").iterdir()
    assert (tree / "dev/nvidia1").is_file()


def test_without_a_simulated_machine_nothing_is_written(tmp_path: Path):
    assert _accelerators(Settings(data_dir=tmp_path, fake_accelerators=2)) == {"fake": {"count": 2}}
    assert list(tmp_path.iterdir()) == []
