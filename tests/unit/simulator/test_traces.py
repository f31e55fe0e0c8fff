"""Traces: lines that are written and read again, the Standard Workload Format, and traces that nobody made."""

import gzip
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from carrel.core.errors import Invalid, NotFound
from carrel.core.ids import GroupId, SessionId
from carrel.queue import replay_files
from carrel.queue.policy_file import installation
from carrel.scheduling.snapshot import ClusterMode, QueueOrder
from carrel.simulator.swf import read_swf
from carrel.simulator.synthesis import Habits, synthesize
from carrel.simulator.traces import TraceEntry, line, read

AT = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
# The form of the archive's files: a header, a job that ran, one that was cancelled while it waited, one that was
# interrupted (its whole, and its two runs), and one of which only what it asked for is known.
SWF = """\
; Version: 2.2
; Computer: Example
; UnixStartTime: 1767603600
; MaxProcs: 128

    1     60    10   3600   4    -1  2048  8   7200  4096  1  3  2  -1 1 -1 -1 -1
    2     90    -1     -1   8    -1    -1  8   7200    -1  5  3  2  -1 1 -1 -1 -1
    3    120     5    100  16    -1    -1 16     -1    -1  1  4  1  -1 1 -1 -1 -1
    3    120     5     40  16    -1    -1 16     -1    -1  2  4  1  -1 1 -1 -1 -1
    3    160     5     60  16    -1    -1 16     -1    -1  3  4  1  -1 1 -1 -1 -1
    4    180     0      0  -1    -1  1024 24     -1    -1  1  4  1  -1 1 -1 -1 -1
"""


def test_what_is_written_is_what_is_read():
    usual = TraceEntry(SessionId("a"), AT, timedelta(seconds=90.5), {"cpu": 500, "mem": 1 << 30})
    unusual = TraceEntry(
        SessionId("b"),
        AT + timedelta(milliseconds=1),
        timedelta(days=2),
        {"cuda.shares": 250},
        ("d", "p", "u"),
        GroupId("gpu"),
        90,
        4,
        ClusterMode.MULTI_NODE,
        timedelta(hours=1),
        (GroupId("cloud"), GroupId("default")),
    )
    assert list(read([line(usual), "", line(unusual)])) == [usual, unusual]


def test_amounts_may_be_as_people_write_them_and_what_is_left_out_is_as_usual():
    (one,) = read(['{"at": "2026-01-05T10:30+01:00", "runs_s": 60, "slots": {"cpu": "2", "mem": "4g"}}'])
    assert one == TraceEntry(SessionId("1"), AT, timedelta(minutes=1), {"cpu": 2000, "mem": 4 << 30})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read"),
        ("[]", "cannot be read"),
        ('{"runs_s": 1, "slots": {}}', "has no at"),
        ('{"at": "monday", "runs_s": 1, "slots": {}}', "cannot be read"),
        ('{"at": "2026-01-05", "runs_s": -1, "slots": {}}', "cannot be read"),
        ('{"at": "2026-01-05", "runs_s": 1e400, "slots": {}}', "cannot be read"),
        ('{"at": "2026-01-05", "runs_s": 1, "slots": {"cpu": "many"}}', "'many' is not a number of CPUs"),
        ('{"at": "2026-01-05", "runs_s": 1, "slots": {}, "mode": "any"}', "cannot be read"),
        ('{"at": "2026-01-05", "runs_s": 1, "slots": {}, "alternative_groups": "b"}', "are no list"),
        ('{"id": "1", "at": "2026-01-05", "runs_s": 1, "slots": {}}', "of an earlier one"),
        ('{"at": "2026-01-05", "runs_s": 1, "slots": {"cpu": 1.5}}', "1.5 is not a whole number of cpu"),
        ('{"at": "2026-01-05", "runs_s": 1, "slots": {"cpu": true}}', "not a whole number of cpu"),
        ('{"at": "2026-01-05", "runs_s": 1, "slots": [1]}', "slots are no object"),
        ('{"at": "2026-01-05", "runs_s": 1, "slots": {"mem": "9e9999t"}}', "is not a size"),
        ('{"at": "2026-01-05", "runs_s": 1, "slots": {"cpu": "inf"}}', "'inf' is not a number of CPUs"),
        (
            '{"at": "2026-01-05", "runs_s": 1, "slots": {"x.shares": "inf"}}',
            "'inf' is not an amount of x.shares",
        ),
        ('{"at": "2026-01-05", "runs_s": 1, "slots": {}, "priority": 101}', "priority"),
        ('{"at": "2026-01-05", "runs_s": 1, "slots": {}, "priority": -1}', "priority"),
        ('{"at": "2026-01-05", "runs_s": 1, "slots": {}, "limit_s": 0}', "too small"),
    ],
)
def test_a_line_that_makes_no_sense_is_named(text: str, message: str):
    with pytest.raises(Invalid, match=f"Line 2 .*{message}"):
        list(read(['{"id": "1", "at": "2026-01-05", "runs_s": 1, "slots": {"cpu": 1}}', text]))


def test_jobs_of_the_standard_workload_format_are_sessions():
    first, third, fourth = read_swf(SWF.splitlines())
    start = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
    assert first == TraceEntry(
        SessionId("1"),
        start + timedelta(seconds=60),
        timedelta(hours=1),
        {"cpu": 4000, "mem": 4 * (4 << 20)},
        ("swf", "group2", "user3"),
        limit=timedelta(hours=2),
    )
    assert (third.id, third.runs, third.slots, third.limit) == (
        "3",
        timedelta(seconds=100),
        {"cpu": 16000},
        None,
    )
    assert (fourth.slots, fourth.runs) == ({"cpu": 24000, "mem": 24 << 20}, timedelta(0))


def test_large_jobs_are_split_into_containers_when_that_is_asked_for():
    first, third, fourth = read_swf(SWF.splitlines(), container_cores=10)
    assert (first.count, first.mode) == (1, ClusterMode.SINGLE_NODE)
    assert (third.count, third.slots, third.mode) == (2, {"cpu": 10000}, ClusterMode.MULTI_NODE)
    assert (fourth.count, fourth.slots["mem"]) == (3, 10 << 20)


@pytest.mark.parametrize(
    "text",
    [
        "1 2 3",
        "1 x" + " 0" * 16,
        SWF.splitlines()[5],
        "2 nan 0 60 4" + " 1" * 13,
        "2 1e30 0 60 4" + " 1" * 13,
        "2 0 0 nan 4" + " 1" * 13,
        "2 0 0 60 inf" + " 1" * 13,
        "; UnixStartTime: 99999999999999999",
        "hello",
    ],
)
def test_a_job_that_makes_no_sense_is_named(text: str):
    with pytest.raises(Invalid, match="Line 2 "):
        list(read_swf([SWF.splitlines()[5], text]))


def test_the_same_seed_gives_the_same_trace_and_another_another():
    first, again, other = (list(synthesize(Habits(days=1), seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_people_come_by_day_and_on_working_days_and_a_few_sessions_take_most_of_the_time():
    arrivals = list(synthesize(Habits(users=40, days=7, per_day=10), 5))
    assert 0.7 < len(arrivals) / (40 * 10 * 5.5 * 1.7) < 1.3
    hours = Counter(one.at.hour for one in arrivals if one.at.weekday() < 5)
    assert sum(hours[hour] for hour in range(10, 18)) > 4 * sum(hours[hour] for hour in range(8))
    days = Counter(one.at.weekday() for one in arrivals)
    assert min(days[day] for day in range(5)) > 2 * max(days[5], days[6])
    runs = sorted((one.runs for one in arrivals), reverse=True)
    assert sum(runs[: len(runs) // 10], timedelta()) > 0.5 * sum(runs, timedelta())
    assert len({one.path for one in arrivals}) == 40


def test_traces_and_policies_that_ship_can_be_replayed():
    assert replay_files.shipped(".jsonl") == replay_files.shipped(".toml") == ["campus", "flood"]
    for name in replay_files.shipped(".jsonl"):
        assert len(replay_files.trace(name)) > 100
        assert installation(replay_files.policy(name)).nodes


def test_a_file_is_read_as_what_it_is(tmp_path: Path):
    packed = tmp_path / "machine.swf.gz"
    packed.write_bytes(gzip.compress(SWF.encode()))
    assert len(replay_files.trace(str(packed))) == 3
    assert len(replay_files.trace(str(packed), first=2)) == 2
    archive = packed.read_bytes()
    for broken in (archive[:60], archive[:20] + b"\xff" * 40):
        packed.write_bytes(broken)
        with pytest.raises(Invalid, match="cannot be unpacked"):
            replay_files.trace(str(packed))
    with pytest.raises(NotFound):
        replay_files.trace(str(tmp_path / "none"))
    (tmp_path / "empty").write_text("; Computer: none\n")
    with pytest.raises(Invalid) as refused:
        replay_files.trace(str(tmp_path / "empty"))
    assert refused.value.code == "trace.empty"


def test_a_policy_says_nodes_groups_weights_and_ceilings(tmp_path: Path):
    file = tmp_path / "policy.toml"
    file.write_text("""
        [[nodes]]
        name = "n"
        count = 2
        slots = { cpu = "4", mem = "8g" }
        devices = [{ family = "cuda", count = 2 }, { family = "cuda", count = 1, set = 1 }]
        [[groups]]
        scheduler = "lifo"
        pending_timeout_s = 60
        weights = { projects = { p = 2.5 } }
        [ceilings.users]
        "*" = { cpu = "2" }
        ada = { sessions = 1 }
    """)
    site = installation(replay_files.policy(str(file)))
    assert [node.name for node in site.nodes] == ["n-1", "n-2"]
    assert site.nodes[0].capacity == {"cpu": 4000, "mem": 8 << 30, "cuda.device": 3, "cuda.shares": 3000}
    assert [(device.id, device.set) for device in site.nodes[0].devices] == [
        ("cuda0", 0),
        ("cuda1", 0),
        ("cuda2", 1),
    ]
    (group,) = site.groups
    assert group.order is QueueOrder.LIFO
    assert site.pending == {group.id: timedelta(minutes=1)}
    assert site.weight(group.id, ("d", "p")) == 2.5
    assert site.weight(group.id, ("d", "other")) == 1
    paths = [("d", "p", "ada"), ("d", "p", "bob")]
    scopes = site.start(paths, AT).scopes
    assert {key: scope.ceiling for key, scope in scopes.items()} == {
        "user:ada": {"sessions": 1},
        "user:bob": {"cpu": 2000},
    }
    assert [site.scopes(path) for path in paths] == [("user:ada",), ("user:bob",)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read"),
        ("{}", "nodes: Field required"),
        ('{"nodes": [], "node": []}', "node: Extra"),
        ('{"nodes": [{"name": "n", "slots": {"cpu": "x"}}]}', "'x' is not a number of CPUs"),
        ('{"nodes": [{"name": "n", "slots": {"cpu": [1]}}]}', "nodes.0.slots.cpu"),
        ('{"nodes": [], "groups": [{"scheduler": "best"}]}', "groups.0.scheduler"),
        ('{"nodes": [], "groups": [{"half_life_s": 1e999}]}', "groups.0.half_life_s"),
        ('{"nodes": [], "groups": [{"patience_s": 1e18}]}', "groups.0.patience_s"),
        ('{"nodes": [], "groups": [{"pending_timeout_s": 1e999}]}', "groups.0.pending_timeout_s"),
        ('{"nodes": [], "groups": [{"weights": {"users": {"ada": 1e999}}}]}', "groups.0.weights.users.ada"),
        ('{"nodes": [], "groups": [{"id": "a"}, {"id": "a"}]}', "there are two groups a"),
        (
            '{"nodes": [{"name": "n", "count": 2, "slots": {}}, {"name": "n-1", "slots": {}}]}',
            "there are two nodes n-1",
        ),
    ],
)
def test_a_policy_that_makes_no_sense_says_where(tmp_path: Path, text: str, message: str):
    (tmp_path / "policy.json").write_text(text)
    with pytest.raises(Invalid, match=message):
        replay_files.policy(str(tmp_path / "policy.json"))
