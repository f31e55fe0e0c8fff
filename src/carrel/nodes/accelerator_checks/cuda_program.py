"""The program that measures a share of an NVIDIA GPU from inside of a container, and what it answers.

It needs Python 3 and the driver's libcuda.so.1, which the vendor's runtime brings into containers; no toolkit. `count`
counts devices, `memory` allocates until the driver refuses, `burn SECONDS` launches a kernel that keeps every
multiprocessor busy. The answer is a line of JSON.

Sources: NVIDIA, "CUDA Driver API" (cuMemAlloc, cuModuleLoadData, cuLaunchKernel; CUDA_ERROR_OUT_OF_MEMORY is 2); "PTX
ISA".
"""

import json
from dataclasses import dataclass
from typing import Any

from carrel.core.slots import WHOLE
from carrel.nodes.accelerator_checks.schemas import ShareResult
from carrel.tables.accelerator_checks import CheckedOutcome

TOLERANCE_BYTES = 512 << 20
"""What a container may get beyond its share before the limit counts as exceeded, but no more than a tenth of it."""

_PTX = r"""
.version 6.3
.target sm_75
.address_size 64
.visible .entry burn(.param .u64 out, .param .u32 rounds)
{
  .reg .pred %p; .reg .u32 %i, %n; .reg .f32 %x; .reg .u64 %a;
  ld.param.u64 %a, [out];
  ld.param.u32 %n, [rounds];
  cvta.to.global.u64 %a, %a;
  mov.u32 %i, 0;
  mov.f32 %x, 0f3F800000;
again:
  fma.rn.f32 %x, %x, 0f3F7FFFFF, 0f3A83126F;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, %n;
  @%p bra again;
  st.global.f32 [%a], %x;
  ret;
}
"""

SOURCE = f"""
import ctypes, json, sys, time
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p

def answer(**values):
    print(json.dumps(values))
    sys.exit(0)

try:
    cuda = ctypes.CDLL("libcuda.so.1")
except OSError:
    answer(missing="libcuda.so.1 is not in the container.")

def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code:
        answer(missing="%s failed with error %d of the driver." % (name, code))

call("cuInit", 0)
count, device, version, context = c_int(), c_int(), c_int(), c_void_p()
call("cuDriverGetVersion", byref(version))
call("cuDeviceGetCount", byref(count))
if sys.argv[1] == "count":
    answer(count=count.value, version=version.value)
call("cuDeviceGet", byref(device), 0)
call("cuDevicePrimaryCtxRetain", byref(context), device)
call("cuCtxSetCurrent", context)

def memory():
    free, total, size, got = c_size_t(), c_size_t(), 256 << 20, 0
    call("cuMemGetInfo_v2", byref(free), byref(total))
    while size >= 2 << 20:
        place = c_uint64()
        code = cuda.cuMemAlloc_v2(byref(place), c_size_t(size))
        if code == 0:
            got += size
        elif code == 2:
            size //= 2
        else:
            answer(missing="cuMemAlloc failed with error %d of the driver." % code)
    answer(total=total.value, allocated=got, count=count.value, version=version.value)

def burn(seconds):
    module, kernel, out, processors = c_void_p(), c_void_p(), c_uint64(), c_int()
    call("cuDeviceGetAttribute", byref(processors), 16, device)
    call("cuModuleLoadData", byref(module), {_PTX.encode()!r})
    call("cuModuleGetFunction", byref(kernel), module, b"burn")
    call("cuMemAlloc_v2", byref(out), c_size_t(256))
    rounds = c_uint(200000)
    parameters = (c_void_p * 2)(ctypes.addressof(out), ctypes.addressof(rounds))
    def launch():
        grid = 8 * processors.value
        call("cuLaunchKernel", kernel, grid, 1, 1, 256, 1, 1, 0, None, parameters, None)
        call("cuCtxSynchronize")
    launch()
    launches, began = 0, time.monotonic()
    while time.monotonic() - began < seconds:
        launch()
        launches += 1
    answer(rate=launches / (time.monotonic() - began))

memory() if sys.argv[1] == "memory" else burn(float(sys.argv[2]))
"""


@dataclass(frozen=True)
class ProgramAnswer:
    """Of the program. missing: why it could not measure, as a sentence; "" if it did."""

    missing: str = ""
    count: int | None = None
    allocated: int | None = None
    rate: float | None = None


def command(*arguments: str) -> tuple[str, ...]:
    """The process to run in the container."""
    return ("python3", "-c", SOURCE, *arguments)


def answer_of(output: str, exit_code: int) -> ProgramAnswer:
    """What the program answered; containers may print anything instead."""
    if exit_code in (126, 127):
        return ProgramAnswer("The image has no Python 3.")
    try:
        read: Any = json.loads(output.strip().rpartition("\n")[2])
        return ProgramAnswer(
            str(read.get("missing", ""))[:300],
            count=_number(read.get("count")),
            allocated=_number(read.get("allocated")),
            rate=float(read["rate"]) if "rate" in read else None,
        )
    except (ValueError, TypeError, AttributeError):
        return ProgramAnswer(f"The program ended with exit code {exit_code} and without an answer.")


def _number(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


def share_result(
    thousandths: int,
    mem_bytes: int | None,
    memory: ProgramAnswer,
    alone: ProgramAnswer,
    beside: ProgramAnswer,
) -> ShareResult:
    """What was measured of a share. mem_bytes: of the whole device. alone, beside: of the neighbour while this one was
    idle, and while it computed.
    """
    limit = mem_bytes * thousandths // WHOLE if mem_bytes else None
    loss = 100 * (1 - beside.rate / alone.rate) if alone.rate and beside.rate is not None else None
    reasons = [memory.missing, "" if loss is not None else alone.missing or beside.missing]
    outcome = CheckedOutcome.NOT_MEASURED
    if memory.allocated is not None and limit is None:
        reasons.append("The memory of the device is not known.")
    elif memory.allocated is not None and limit is not None:
        exceeded = memory.allocated > limit + min(TOLERANCE_BYTES, limit // 10)
        outcome = CheckedOutcome.FAILED if exceeded else CheckedOutcome.PASSED
        if exceeded:
            reasons.append("The driver gave it more memory than its share.")
    return ShareResult(
        thousandths=thousandths,
        outcome=outcome,
        limit_bytes=limit,
        allocated_bytes=memory.allocated,
        neighbour_loss_percent=None if loss is None else round(max(loss, 0.0), 1),
        text=" ".join(dict.fromkeys(filter(None, reasons))),
    )
