"""The extended resources of vendors' device plug-ins for Kubernetes: the one list of their names."""

NVIDIA_GPU = "nvidia.com/gpu"
AMD_GPU = "amd.com/gpu"
GAUDI = "habana.ai/gaudi"
WARBOY = "furiosa.ai/warboy"
RNGD = "furiosa.ai/rngd"
REBELLIONS_NPU = "rebellions.ai/npu"
"""Its plug-in does not tell models apart."""
N150 = "tenstorrent.com/n150"
N300 = "tenstorrent.com/n300"
C600 = "c600.graphcore.ai/ipu"


def part_of(whole: str, part: str) -> str:
    """The resource of groups of cores of a card: furiosa.ai/rngd-2core.12gb."""
    return f"{whole}-{part}"


def mig(profile: str) -> str:
    """The resource of MIG instances with the strategy "mixed": profile mig-1g.10gb is nvidia.com/mig-1g.10gb."""
    return f"{NVIDIA_GPU.partition('/')[0]}/{profile}"
