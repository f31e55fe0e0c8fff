"""The command that measures the network of a session."""

from __future__ import annotations

import argparse

from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_line, print_table, say
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import given
from carrel_client.cli.times import local_time
from carrel_client.errors import CarrelError
from carrel_client.units import format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_MEASURED = "network.measured"
_METHODS = {
    "nccl": "PyTorch with NCCL, between accelerators",
    "gloo": "PyTorch with Gloo, between processors",
    "tcp": "a ring over TCP in Python",
}
_LACKS = {
    "no_torch": "the Python in the image has no PyTorch",
    "little_memory": "too little memory is free for PyTorch",
    "broken_torch": "PyTorch cannot be imported, or has no torch.distributed",
}
_TRANSPORTS = {
    "tcp": "TCP",
    "shared_memory": "shared memory",
    "p2p": "direct, between accelerators",
    "infiniband": "InfiniBand",
    "roce": "RoCE",
    "other": "other",
}


def check_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.add_argument(
        "--python",
        metavar="PATH",
        help="interpreter in the containers, for example of an environment (default: python3)",
    )
    parser.add_argument("--last", action="store_true", help="show the last result, without a measurement")
    parser.explain(
        "Measure an all-reduce between the containers of a running session, or between the accelerators of its only\n"
        "one: latency, bandwidth by size, and the path of the messages. It uses PyTorch in the image, with NCCL for\n"
        "accelerators and otherwise with Gloo, or Python alone. It takes at most a minute and competes with what runs\n"
        "in the containers. Ctrl-C ends it."
    )
    parser.example(
        "carrel session check-network train-3",
        "carrel session check-network train-3 --python /opt/conda/bin/python",
        "carrel session check-network train-3 --last -o json",
    )


def check(args: argparse.Namespace, context: Context) -> int:
    """Measure the network of a session."""
    sessions = context.client.sessions
    if args.last:
        result = sessions.network_check(args.id)["last"]
        if result is None:
            raise CarrelError(
                "network.not_checked",
                f"The network of {args.id} was not measured.",
                status=404,
                hint=f"Run: carrel session check-network {args.id}",
            )
    else:
        result = sessions.check_network(args.id, **given(args, "python"))
    context.answer(result, lambda: _print(result))
    return 0 if result["code"] == _MEASURED else 1


def _print(result: models.NetworkCheck) -> None:
    if result["code"] != _MEASURED:
        print_line(f"{local_time(result['at'])}: {result['message']}")
        if result["hint"]:
            say(result["hint"])
        return
    why = f" ({_LACKS[result['lack']]})" if result["lack"] else ""
    method = _METHODS[result["method"]] if result["method"] else "an unknown method"
    print_line(f"Measured {local_time(result['at'])} by {method}{why}")
    print_line(
        f"Latency {duration(result['latency_s'] or 0.0)} between {result['participants']} participants\n"
    )
    columns = [Column(title) for title in ("FROM", "TO", "TRANSPORT", "INTERFACE", "DETAIL")]
    paths = [
        [
            path["sender"],
            path["receiver"],
            _TRANSPORTS[path["transport"]],
            path["interface"] or "",
            path["detail"],
        ]
        for path in result["paths"]
    ]
    print_table(columns, paths)
    print_line("")
    columns = [Column(title) for title in ("SIZE", "TIME", "BANDWIDTH", "BUS BANDWIDTH")]
    messages = [
        [
            format_size(one["size_bytes"]),
            duration(one["seconds"]),
            f"{format_size(int(one['bytes_per_s']))}/s",
            f"{format_size(int(one['bus_bytes_per_s']))}/s",
        ]
        for one in result["messages"]
    ]
    print_table(columns, messages)


def duration(seconds: float) -> str:
    """A short time: "83 µs", "4.2 ms", "1.35 s"."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"
