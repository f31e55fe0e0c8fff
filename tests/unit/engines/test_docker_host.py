"""Reading the counters of a machine's kernel."""

from carrel.engines.docker.host import parse
from carrel.engines.optional import HostUsage

OUTPUT = """= stat
cpu  1000 20 300 90000 5000 4 6 700 50 0
cpu0 500 10 150 45000 2500 2 3 350 25 0
intr 1
= meminfo
MemTotal:        4000 kB
MemFree:          100 kB
MemAvailable:    1000 kB
HugePages_Total:    0
= net/dev
Inter-| Receive | Transmit
 face |bytes packets errs | bytes packets errs
    lo: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0
  eth0:1000 1 0 0 0 0 0 0 200 1 0 0 0 0 0 0
docker0: 900 1 0 0 0 0 0 0 100 1 0 0 0 0 0 0
= diskstats
   7       0 loop0 9 0 9 0 9 0 9 0 0 0 0
 253       0 vda 10 0 16 0 10 0 32 0 0 0 0
 253       1 vda1 10 0 16 0 10 0 32 0 0 0 0
= interfaces
/sys/class/net/eth0/device
= disks
/sys/block/vda/device
= df
Filesystem 1024-blocks Used Available Capacity Mounted on
/dev/vda 500 200 300 40% /
"""
KIB = 1024


def test_the_counters_of_the_hardware_are_summed_once() -> None:
    assert parse(OUTPUT, "machine") == HostUsage(
        "machine",
        cpu_ns=(1000 + 20 + 300 + 4 + 6) * 10_000_000,
        mem_bytes=3000 * KIB,
        received_bytes=1000,
        sent_bytes=200,
        read_bytes=16 * 512,
        written_bytes=32 * 512,
        disk_used_bytes=200 * KIB,
        disk_size_bytes=500 * KIB,
    )


def test_a_machine_that_hides_its_counters_is_not_measured() -> None:
    assert parse("", "machine") is None
    assert parse(OUTPUT.partition("= df")[0], "machine") is None
    assert parse(OUTPUT.replace("MemAvailable:", "Other:"), "machine") is None
