"""A distribution that is not ours, with a back end for each port: what whoever follows the how-to writes."""

from pathlib import Path
from textwrap import dedent

MODULE = dedent("""
    import os
    from hmac import compare_digest

    from pydantic import BaseModel, SecretStr

    from carrel.accelerators.port import Attachment, Device, DeviceNode
    from carrel.core.slots import SlotKind, SlotType
    from carrel.identity.port import Claims, TestStep
    from carrel.identity.settings import ProviderSettings, Secret
    from carrel.plugins import Plugin
    from carrel.storage.port import StorageSettings, StorageUnavailable
    from carrel.storage.posix import PosixBackend

    class Shelf:
        def __init__(self, root):
            self.root = root

    PLUGIN = Plugin(StorageSettings, lambda settings: Shelf(settings.root))
    NO_PLUGIN = Shelf

    class SafeSettings(StorageSettings):
        token: SecretStr

    class Safe(PosixBackend):
        def probe(self):
            if os.environ.get("ACME_SAFE") == "shut":
                raise StorageUnavailable("The safe is shut.")
            return super().probe()

    SAFE = Plugin(SafeSettings, lambda settings: Safe(settings.root), "ACME safe", Safe)

    class NpuSettings(BaseModel):
        count: int = 1

    class Npus:
        def __init__(self, count):
            self.ids = [f"npu-{number}" for number in range(count)]

        def discover(self):
            return [Device(id, "npu") for id in self.ids]

        def kinds(self):
            return [SlotKind("npu.core-2", "npu", SlotType.UNIQUE)]

        def attach(self, held):
            return Attachment(nodes=tuple(DeviceNode(f"/dev/{id}") for id in self.ids if id in held))

    NPU = Plugin(NpuSettings, lambda settings: Npus(settings.count), "NPU")

    class RosterSettings(ProviderSettings):
        '''People on a list, who share a pass phrase.'''

        address: str
        people: list[str] = []
        phrase: Secret

        @property
        def server(self):
            return self.address

    class Roster:
        def __init__(self, settings, context):
            self.settings = settings

        async def prove(self, login, password):
            phrase = self.settings.phrase.get_secret_value()
            if login not in self.settings.people or not compare_digest(password.encode(), phrase.encode()):
                return None
            email = f"{login}@acme.example"
            return Claims(login, email, True, login.title(), frozenset({"staff"}), group_key=str.lower)

        async def test(self, login):
            return [TestStep("list", True, f"{len(self.settings.people)} people are on the list.")]

        def close(self):
            pass

    ROSTER = Plugin(
        RosterSettings, lambda settings: lambda context: Roster(settings, context), "ACME roster", Roster
    )
""")


def write(site: Path, name: str, group: str, **kinds: str) -> None:
    """Install it below a directory of Python's path. kinds: of entry points, each with what it names in the module."""
    described = site / f"{name}-1.0.dist-info"
    described.mkdir(parents=True)
    (site / f"{name}.py").write_text(MODULE)
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"{kind} = {name}:{value}" for kind, value in kinds.items()]
    (described / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines, ""]))
