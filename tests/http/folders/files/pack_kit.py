"""Tar files as tests send them."""

import io
import tarfile


def tar(*entries: tarfile.TarInfo | tuple[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as file:
        for entry in entries:
            info, content = (entry, b"") if isinstance(entry, tarfile.TarInfo) else plain(*entry)
            file.addfile(info, io.BytesIO(content))
    return made.getvalue()


def plain(name: str, content: bytes, **more: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    info.mtime = 1_700_000_000.25
    for key, value in more.items():
        setattr(info, key, value)
    return info, content


def odd(name: str, kind: bytes, **more: object) -> tarfile.TarInfo:
    return plain(name, b"", type=kind, **more)[0]
