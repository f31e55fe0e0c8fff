"""An image for clusters with PyTorch: the starter image with Debian's `python3-torch`, for /usr/bin/python3.

`reference = await ensure_torch_image()` builds it on first use; it loads 230 MB and takes about two minutes on two
busy cores.
"""

from cluster_image import ensure_image

_RECIPE = """FROM {base}
USER root
RUN apt-get update -q && apt-get install -qy --no-install-recommends -o Dpkg::Options::=--force-unsafe-io \\
    python3-torch && apt-get clean
USER work
"""
PYTHON = "/usr/bin/python3"
"""The starter image has another one, which comes first."""
ALL_REDUCE = """
import os, socket
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
total = torch.tensor([dist.get_rank() + 1.0] * 1000)
dist.all_reduce(total)
print(dist.get_rank(), dist.get_world_size(), socket.gethostname(), int(total.sum()))
"""
"""A program with the variables of torchrun: each process prints its rank, their number, its host, and a thousand times
the sum of all ranks from 1.
"""


async def ensure_torch_image() -> str:
    """The reference of the image in the machine's daemon. Twice: one lookup."""
    return await ensure_image("carrel-test-torch", _RECIPE)
