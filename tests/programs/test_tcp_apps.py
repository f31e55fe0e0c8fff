"""Apps that are not for browsers, by `carrel app forward`: a database and gRPC."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from e2e.running import CARREL, Running
from program_journeys import SESSION, STARTS_S


@contextmanager
def _forwarded(carrel: Running, app: str) -> Iterator[int]:
    """The local port that leads to the app."""
    words = [str(CARREL), "app", "forward", SESSION, app, "-o", "json"]
    with subprocess.Popen(words, env=carrel.environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield json.loads(process.stdout.readline())["port"]
        finally:
            process.terminate()


def test_a_database_is_reached_and_keeps_its_rows(carrel: Running) -> None:
    for expected in (0, 1):
        with (
            _forwarded(carrel, "postgres") as port,
            psycopg.connect(host="127.0.0.1", port=port, user="postgres", dbname="postgres") as connection,
        ):
            connection.execute("CREATE TABLE IF NOT EXISTS runs (id int)")
            assert connection.execute("SELECT count(*) FROM runs").fetchone() == (expected,)
            connection.execute("INSERT INTO runs VALUES (1)")
        done = carrel.carrel("app", "stop", SESSION, "postgres")
        assert done.returncode == 0, done.stderr


SERVER = """
import concurrent.futures, grpc
upper = grpc.stream_stream_rpc_method_handler(lambda words, _: (word.upper() for word in words))
server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Words", {"Upper": upper}),))
server.add_insecure_port("0.0.0.0:50051")
server.start()
server.wait_for_termination()
"""
CLIENT = """
import sys, grpc
with grpc.insecure_channel(f"127.0.0.1:{sys.argv[1]}") as channel:
    upper = channel.stream_stream("/Words/Upper")
    print([word.decode() for word in upper(iter([b"one", b"two"]))])
"""


def test_grpc_streams_in_both_directions(carrel: Running) -> None:
    carrel.shell(SESSION, f"python3 -c '{SERVER}' >/dev/null 2>&1 &")
    opened = carrel.carrel("app", "open", SESSION, "--port", "50051", "--protocol", "tcp", "--name", "words")
    assert opened.returncode == 0, opened.stderr
    image = json.loads(carrel.carrel("session", "show", SESSION, "-o", "json").stdout)["image"]
    with _forwarded(carrel, "words") as port:
        client = ["docker", "run", "--rm", "--network=host", image, "python3", "-c", CLIENT, str(port)]
        done = subprocess.run(client, capture_output=True, text=True, timeout=STARTS_S, check=False)
    assert done.stdout == "['ONE', 'TWO']\n", done.stderr
