"""What layers tell of packages, and that hostile ones cost little."""

import gzip
import hashlib
import io
import tarfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from layer_kit import dpkg, layer, metadata

from carrel.images.registries.layer_reading import (
    LayerDatabases,
    LayerUnreadable,
    LayerUnsupported,
    OtherDigest,
    read_layer,
)
from carrel.images.registries.package_databases import contents_of, packages_of


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def read(content: bytes, at_once: int = 1000) -> LayerDatabases:
    pieces: Iterator[bytes] = (content[at : at + at_once] for at in range(0, len(content), at_once))
    return read_layer(digest(content), lambda: next(pieces, b""))


def test_contents_of_each_kind_of_database_with_the_newest_version():
    databases = read(
        layer(
            {
                "./var/lib/dpkg/status": dpkg(
                    python3="3.11.2-1+b1", cuda_cudart_12_4="12.4.127-1", libcudnn9_cuda_12="9.1.0.70-1"
                ),
                "lib/apk/db/installed": "P:R\nV:4.3.1-r1\n\nP:musl\nV:1\n",
                "opt/conda/conda-meta/python-3.12.4-h99_0_cpython.json": "{" * 100_000,
                "opt/conda/envs/old/conda-meta/python-3.9.1-0.json": "{}",
                **metadata("torch", "2.3.1+cu121"),
                **metadata("nvidia_cudnn_cu12", "8.9.2.26"),
                "home/work/notes.txt": "Package: python3",
            }
        )
    )
    assert contents_of(databases.databases) == {
        "python": ("3.12.4", "conda"),
        "pytorch": ("2.3.1+cu121", "python"),
        "cudnn": ("8.9.2.26", "python"),
        "cuda": ("12.4.127", "dpkg"),
        "r": ("4.3.1", "apk"),
    }


def test_packages_that_are_removed_or_strange_do_not_count():
    removed = "Package: python3\nStatus: deinstall ok config-files\nVersion: 3.11\n"
    assert packages_of("dpkg", "var/lib/dpkg/status", io.BytesIO(removed.encode())) == {}
    single = io.BytesIO(b"Package: python3\nVersion: 3.13")
    assert packages_of("dpkg", "var/lib/dpkg/status.d/python3", single) == {"python": "3.13"}
    assert packages_of("python", "a.dist-info/METADATA", io.BytesIO(b"Name: torch\nVersion: <b>")) == {}
    assert packages_of("apk", "lib/apk/db/installed", io.BytesIO(b"\xff\xfe\x00")) == {}


def test_whiteouts_hide_what_is_below():
    below = {
        **read(layer({"var/lib/dpkg/status": dpkg(python3="3.11.2"), **metadata("torch", "2.0")})).databases,
        "opt/a/x.dist-info/METADATA": {"jax": "1"},
        "opt/b/y.dist-info/METADATA": {"jax": "2"},
    }
    above = read(
        layer(
            {
                "usr/lib/python3/site-packages/.wh.torch-2.0.dist-info": "",
                "var/lib/dpkg/status": dpkg(nodejs="20.1.0"),
                "opt/a/.wh..wh..opq": "",
            }
        )
    )
    databases = above.over(below)
    assert contents_of(databases) == {"node": ("20.1.0", "dpkg"), "jax": ("2", "python")}
    everything = read(layer({".wh..wh..opq": "", **metadata("vllm", "0.9")}))
    assert contents_of(everything.over(databases)) == {"vllm": ("0.9", "python")}


def test_many_whiteouts_and_databases_take_little_time():
    deep = "/".join("abcdefgh")
    below = {f"{deep}/{n}/{n}.dist-info/METADATA": {"jax": "1"} for n in range(10_000)}
    paths = [f"{deep}/{n}x" for n in range(10_000)]
    above = LayerDatabases({}, removed=[*paths[1:], f"{deep}/1"], opaque=[*paths[1:], f"{deep}/2"])
    begun = time.process_time()
    assert len(above.over(below)) == 9_998
    assert time.process_time() - begun < 0.5


@pytest.mark.parametrize("at_once", [1, 7, 1 << 20])
def test_layers_are_read_in_any_pieces_plain_or_of_several_members(at_once: int):
    packed = layer(metadata("torch", "2.0"))
    plain = gzip.decompress(packed)
    several = gzip.compress(plain[:700]) + gzip.compress(plain[700:])
    for content in (packed, plain, several):
        assert contents_of(read(content, at_once).databases) == {"pytorch": ("2.0", "python")}


def test_what_is_not_the_layer_is_not_kept():
    packed = layer(metadata("torch", "2.0"))
    pieces = iter([packed])
    with pytest.raises(OtherDigest):
        read_layer(digest(b"other"), lambda: next(pieces, b""))


def hostile() -> Iterator[tuple[bytes, str]]:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        member = tarfile.TarInfo("zeros")
        member.size = 300 << 20
        archive.addfile(member, io.BytesIO(bytes(member.size)))
    yield gzip.compress(written.getvalue(), 9), "expands to too much"
    header = tarfile.TarInfo("pax")
    header.type, header.size = tarfile.XHDTYPE, 1 << 32
    yield gzip.compress(header.tobuf(tarfile.USTAR_FORMAT)), "headers of more than 1 MiB"
    yield gzip.compress(b"no archive" * 1000), "no archive"
    yield layer({"a": "x" * 100_000})[:-20], "no archive"


def test_hostile_and_unknown_layers_are_refused_within_limits():
    for content, problem in hostile():
        with pytest.raises(LayerUnreadable, match=problem):
            read(content, 1 << 16)


def test_a_layer_in_another_compression_is_not_read_to_its_end():
    pieces = iter([b"\x28\xb5\x2f\xfd", b"more"])
    with pytest.raises(LayerUnsupported, match="zstd"):
        read_layer(digest(b"any"), lambda: next(pieces, b""))
    assert next(pieces) == b"more"


def _header(kind: bytes, size: int, name: str = "a") -> bytes:
    member = tarfile.TarInfo(name)
    member.type, member.size = kind, size
    return member.tobuf(tarfile.GNU_FORMAT)


def _pax(kind: bytes, records: dict[str, str]) -> bytes:
    header: bytes = tarfile.TarInfo._create_pax_generic_header(records, kind, "utf-8")  # type: ignore[attr-defined]
    return header


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 512)


def sparse_map() -> bytes:
    sparse = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "a"}
    pieces = _padded(b"250000\n" + b"999\n" * 500_000)
    return _pax(tarfile.XHDTYPE, sparse) + _header(tarfile.REGTYPE, len(pieces)) + pieces


def long_names() -> bytes:
    # A negative size must not permit more.
    negative = _header(tarfile.GNUTYPE_LONGNAME, -(1 << 40))
    return negative + (_header(tarfile.GNUTYPE_LONGNAME, 12 << 20) + b"n" * (12 << 20)) * 5


def global_headers() -> bytes:
    return b"".join(
        _pax(tarfile.XGLTYPE, {f"{n}{at}": "y" * 50_000 for n in range(10)}) + _header(tarfile.REGTYPE, 0)
        for at in range(100)
    )


def many_stanzas() -> bytes:
    status = _padded((b"a" * 60 + b"\n\n") * 150_000)
    return _header(tarfile.REGTYPE, len(status), "var/lib/dpkg/status") + status


def long_line() -> bytes:
    status = _padded(b"Package: " + b"a" * (32 << 20))
    return _header(tarfile.REGTYPE, len(status), "var/lib/dpkg/status") + status


BOMBS = (sparse_map, long_names, global_headers, many_stanzas, long_line)


@pytest.mark.parametrize("bomb", BOMBS)
def test_memory_for_a_layer_is_bounded(bomb: Callable[[], bytes]):
    packed = gzip.compress(bomb() + bytes(1024), 1)
    tracemalloc.start()
    try:
        with suppress(LayerUnreadable):
            read(packed, 1 << 16)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_whiteouts_are_kept_only_up_to_a_limit():
    whiteouts = {f"{n}/{name}": "" for n in range(10_001) for name in (".wh.a", ".wh..wh..opq")}
    kept = read(layer(whiteouts), 1 << 16)
    assert (len(kept.removed), len(kept.opaque)) == (10_000, 10_000)


def test_headers_of_usual_length_are_read_and_global_ones_ignored():
    written = _pax(tarfile.XGLTYPE, {"path": "else", "comment": "c" * 40}) + _header(tarfile.REGTYPE, 0)
    database, status = "var/lib/dpkg/status.d/" + "p" * 300, dpkg(python3="3.11.2").encode()
    attributes = {"path": database, "SCHILY.xattr.user.note": "x" * 500_000}
    written += _pax(tarfile.XHDTYPE, attributes) + _header(tarfile.REGTYPE, len(status)) + _padded(status)
    assert read(gzip.compress(written + bytes(1024))).databases == {database: {"python": "3.11.2"}}


def test_a_database_that_is_a_sparse_file_is_refused():
    # Of version 0.1: what its map leaves out would be looked for without end.
    sparse = {"GNU.sparse.map": "5,1", "GNU.sparse.size": "900", "GNU.sparse.name": "var/lib/dpkg/status"}
    written = _pax(tarfile.XHDTYPE, sparse) + _header(tarfile.REGTYPE, 1) + _padded(b"a")
    with pytest.raises(LayerUnreadable, match="sparse file"):
        read(gzip.compress(written + bytes(1024)))
