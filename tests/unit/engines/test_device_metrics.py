"""What exporters measure of the devices of a cluster."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from people import eventually
from tiny_api_server import TinyApiServer, machine, running

from carrel.accelerators.port import UNKNOWN, DeviceMetrics
from carrel.engines.kubernetes import KubernetesEngine, device_metrics, exporter_text
from carrel.engines.kubernetes.exporter_text import ExporterReading
from carrel.engines.port import ContainerUsage

_DCGM = """\
# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",container="session",namespace="carrel",pod="carrel-lab-abc"} 37
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-2",device="nvidia1",container="",namespace="",pod=""} 0
# TYPE DCGM_FI_DEV_FB_USED gauge
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-1",container="session",namespace="carrel",pod="carrel-lab-abc"} 1024
DCGM_FI_DEV_FB_USED{gpu="1",UUID="GPU-2"} 9223372036854775794
DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-1"} 3072
DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-1"} 41
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-1"} 140737488355328.000000
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="1",UUID="GPU-2",GPU_I_PROFILE="1g.10gb",GPU_I_ID="7"} 0.5
DCGM_FI_DEV_FB_USED{gpu="1",UUID="GPU-2",GPU_I_PROFILE="1g.10gb",GPU_I_ID="7"} 12
"""
_FIRST = DeviceMetrics(37.0, 1 << 30, 4 << 30, 41.0, None)


def test_what_dcgm_does_not_know_is_absent() -> None:
    assert exporter_text.read(_DCGM) == [
        ExporterReading("GPU-1", ("carrel", "carrel-lab-abc"), _FIRST),
        ExporterReading("GPU-2", None, DeviceMetrics(0.0)),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "gpu_gfx_activity{{{labels}}} 5\ngpu_used_vram{{{labels}}} 2\ngpu_total_vram{{{labels}}} 4\n"
        "gpu_junction_temperature{{{labels}}} 30\ngpu_package_power{{{labels}}} 90\n",
        "amd_GPU_GFX_ACTIVITY{{{labels}}} 5\namd_gpu_used_vram{{{labels}}} 2\namd_gpu_total_vram{{{labels}}} 4\n"
        "amd_gpu_junction_temperature{{{labels}}} 30\namd_gpu_package_power{{{labels}}} 90\n",
        "habanalabs_utilization{{{labels}}} 5\nhabanalabs_memory_used_bytes{{{labels}}} 2097152\n"
        "habanalabs_memory_total_bytes{{{labels}}} 4194304\nhabanalabs_temperature_onchip{{{labels}}} 30\n"
        "habanalabs_power_mW{{{labels}}} 90000\n",
    ],
    ids=["amd", "amd-prefixed", "gaudi"],
)
def test_exporters_of_other_vendors_say_the_same_in_their_units(text: str) -> None:
    [one] = exporter_text.read(text.format(labels='UUID="x",exported_pod="p",pod="exporter",namespace="n"'))
    assert one == ExporterReading("x", ("n", "p"), DeviceMetrics(5.0, 2 << 20, 4 << 20, 30.0, 90.0))


def test_rebellions_devices_have_no_memory_since_its_unit_is_not_known() -> None:
    prefix, labels = "RBLN_DEVICE_STATUS", '{uuid="x",name="rbln0",pod="p",namespace="n"}'
    series = {"UTILIZATION": 5, "TEMPERATURE": 30, "CARD_POWER": 90, "DRAM_USED": 2, "DRAM_TOTAL": 16}
    text = "".join(f"{prefix}:{name}{labels} {value}\n" for name, value in series.items())
    known = DeviceMetrics(5.0, None, None, 30.0, 90.0)
    assert exporter_text.read(text) == [ExporterReading("x", ("n", "p"), known)]


@pytest.mark.parametrize("text", ["<html>", "{", 'DCGM_FI_DEV_GPU_UTIL{UUID="a"} x', "a{b} 1"])
def test_other_formats_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        exporter_text.read(text)


def test_units_have_the_metrics_of_the_devices_of_their_pod() -> None:
    pod = ("carrel", "carrel-lab-abc")
    measured = exporter_text.indexed(exporter_text.read(_DCGM))
    unit = "nvidia.com/gpu/3"
    assert exporter_text.by_device(measured, [unit], {pod: [unit]}) == {unit: _FIRST}
    # Of two units, the exporter knows one device: which of them it is, nobody knows.
    assert exporter_text.by_device(measured, [unit], {pod: [unit, "nvidia.com/gpu/4"]}) == {}
    assert exporter_text.by_device(measured, ["gpu.nvidia.com/gpu-2"], {}) == {
        "gpu.nvidia.com/gpu-2": DeviceMetrics(0.0)
    }


def test_the_devices_of_a_thousand_nodes_are_found_at_once() -> None:
    numbers = range(8_000)
    text = [
        ExporterReading(f"GPU-{one}", ("carrel", f"carrel-lab-{one}"), DeviceMetrics(float(one)))
        for one in numbers
    ]
    begin = time.process_time()
    measured = exporter_text.indexed(text)
    for first in numbers[::8]:
        units = [f"nvidia.com/gpu/{one}" for one in range(8)]
        pods = {("carrel", f"carrel-lab-{first + at}"): [unit] for at, unit in enumerate(units)}
        known = exporter_text.by_device(measured, units, pods)
        assert [known[unit].utilization_percent for unit in units] == list(range(first, first + 8))
    # Rather a hundredth of that than seconds.
    assert time.process_time() - begin < 1


def machine_with_gpus() -> Any:
    made = machine()
    made["status"]["allocatable"] |= {"nvidia.com/gpu": "2"}
    made["status"]["addresses"] = [{"type": "InternalIP", "address": "127.0.0.1"}]
    return made


@asynccontextmanager
async def cluster() -> AsyncIterator[TinyApiServer]:
    async with TinyApiServer() as server:
        pod = running("abc")
        pod["metadata"]["annotations"] = {"carrel.dev/devices": "nvidia.com/gpu/1"}
        affinity = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
        pod["spec"]["affinity"] = {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [affinity]}
            }
        }
        summary = {
            "pods": [
                {
                    "podRef": {"uid": "abc"},
                    "containers": [{"name": "session", "cpu": {"usageCoreNanoSeconds": 1}}],
                }
            ]
        }
        server.objects |= {
            "api/v1/nodes/a": machine_with_gpus(),
            "api/v1/namespaces/carrel": {"metadata": {}},
            "api/v1/namespaces/carrel/pods/carrel-lab-abc": pod,
            "api/v1/nodes/a/proxy/stats/summary": summary,
        }
        yield server


@asynccontextmanager
async def exporter(text: str, status: int = 200) -> AsyncIterator[int]:
    async def metrics(request: web.Request) -> web.Response:
        return web.Response(text=text, status=status)

    app = web.Application()
    app.router.add_get("/metrics", metrics)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield runner.addresses[0][1]
    await runner.cleanup()


async def measured(engine: KubernetesEngine) -> tuple[list[DeviceMetrics], ContainerUsage]:
    """What is known once the first reading is there."""
    await engine.nodes()
    reader = engine._device_metrics
    assert reader._reading is not None
    await reader._reading
    [node] = await engine.nodes()
    [usage] = await engine.usage()
    return [state.metrics for state in node.device_states], usage


async def test_an_exporter_of_each_node_is_read_by_its_address() -> None:
    async with cluster() as server, exporter(_DCGM) as port:
        url = f"http://{{address}}:{port}/metrics"
        engine = KubernetesEngine(server.access(), "lab", device_metrics_url=url)
        metrics, usage = await measured(engine)
        await engine.close()
    assert metrics == [UNKNOWN, _FIRST]
    # Its memory when nobody had it is not known, so neither is what the container uses.
    assert (usage.accelerator_percent, usage.accelerator_mem_percent) == (37, None)


async def test_an_exporter_is_read_through_the_api_server() -> None:
    async with cluster() as server:
        path = "/api/v1/nodes/a:9400/proxy/metrics"
        server.refuse = lambda request: web.Response(text=_DCGM) if request.path == path else None
        url = "/api/v1/nodes/{node}:9400/proxy/metrics"
        engine = KubernetesEngine(server.access(), "lab", device_metrics_url=url)
        metrics, _ = await measured(engine)
        await engine.close()
    assert metrics == [UNKNOWN, _FIRST]


async def test_only_nodes_with_devices_are_asked_and_who_is_silent_delays_no_other() -> None:
    connected = []

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.append(writer.get_extra_info("sockname")[0])
        await reader.read()
        writer.close()

    async with cluster() as server, exporter(_DCGM) as port:
        for name, address, gpus in (("b", "127.0.0.2", 2), ("c", "127.0.0.3", 0)):
            made = machine_with_gpus()
            made["metadata"] |= {"name": name, "uid": name}
            made["status"]["allocatable"]["nvidia.com/gpu"] = str(gpus)
            made["status"]["addresses"][0]["address"] = address
            server.objects[f"api/v1/nodes/{name}"] = made
        url = f"http://{{address}}:{port}/metrics"
        engine = KubernetesEngine(server.access(), "lab", device_metrics_url=url)
        listeners = [await asyncio.start_server(silent, f"127.0.0.{one}", port) for one in (2, 3)]

        async def known() -> bool:
            node = next(one for one in await engine.nodes() if one.name == "a")
            return [state.metrics for state in node.device_states] == [UNKNOWN, _FIRST]

        await eventually(known, within_s=4)
        reading = engine._device_metrics._reading
        assert reading is not None
        assert not reading.done()
        assert connected == ["127.0.0.2"]
        await engine.close()
        for listener in listeners:
            listener.close()


async def test_an_answer_is_known_for_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    async with cluster() as server, exporter(_DCGM) as port:
        url = f"http://{{address}}:{port}/metrics"
        engine = KubernetesEngine(server.access(), "lab", device_metrics_url=url)
        metrics, _ = await measured(engine)
        assert metrics == [UNKNOWN, _FIRST]
        monkeypatch.setattr(device_metrics, "_KNOWN_S", 0.0)
        [node] = await engine.nodes()
        await engine.close()
    assert [state.metrics for state in node.device_states] == [UNKNOWN, UNKNOWN]


@pytest.mark.parametrize(("text", "status"), [("<html>", 200), (_DCGM, 500), ("x" * (17 << 20), 200)])
async def test_without_an_answer_nothing_is_known(text: str, status: int) -> None:
    async with cluster() as server, exporter(text, status) as port:
        url = f"http://{{address}}:{port}/metrics"
        engine = KubernetesEngine(server.access(), "lab", device_metrics_url=url)
        metrics, usage = await measured(engine)
        await engine.close()
    assert metrics == [UNKNOWN, UNKNOWN]
    assert usage.accelerator_percent is None


async def test_without_an_exporter_units_have_no_condition() -> None:
    async with cluster() as server:
        engine = KubernetesEngine(server.access(), "lab")
        [node] = await engine.nodes()
        [usage] = await engine.usage()
        await engine.close()
    assert node.device_states == ()
    assert len(node.devices) == 2
    assert usage.accelerator_percent is None
