"""Quantities of Kubernetes."""

import re

_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18}
_BINARY = {f"{unit}i": 1 << (10 * power) for power, unit in enumerate("KMGTPE", 1)}


def quantity(text: str, scale: int = 1) -> int:
    """A quantity of Kubernetes, such as "250m", "2" or "64Mi", times the scale; rounded up."""
    match = re.fullmatch(r"([0-9.]+(?:e[0-9]+)?)([a-zA-Z]*)", text)
    if match is None:
        raise ValueError(f"{text!r} is no quantity")
    number, unit = float(match[1]), match[2]
    small = {"n": 10**9, "u": 10**6, "m": 1000}.get(unit)
    exact = number * scale / small if small else number * scale * (_BINARY.get(unit) or _UNITS[unit])
    return -int(-exact // 1)
