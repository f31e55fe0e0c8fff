"""Drivers, the CUDA that they run, and what images require."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.core.cuda import (
    CUDA_LABEL,
    DRIVER_LABEL,
    Driver,
    driver_of,
    mismatch,
    parse,
    requirement_of,
    text_of,
    uses_cuda,
    version,
)

# Of nvidia/cuda:12.4.1-base-ubuntu22.04, shortened.
NVIDIA = (
    "cuda>=12.4 brand=tesla,driver>=470,driver<471 brand=unknown,driver>=470,driver<471 "
    "brand=geforce,driver>=535,driver<536"
)


def driver(installed: str) -> Driver:
    known = driver_of({DRIVER_LABEL: installed})
    assert known
    return known


@pytest.mark.parametrize(
    ("installed", "cuda"),
    [
        ("610.43.02", (13, 3)),
        ("580.95.05", (13, 0)),
        ("570.124.06", (12, 8)),
        ("535.54.03", (12, 2)),
        ("535.54.02", (12, 1)),
        ("525.60.13", (12, 0)),
        ("470.82.01", (11, 4)),
        ("418.39", (10, 1)),
        ("346.46", (7, 0)),
    ],
)
def test_the_cuda_of_a_driver_is_that_of_nvidias_table(installed, cuda):
    assert driver(installed).cuda == cuda


@pytest.mark.parametrize(
    "labels",
    [
        {},
        {DRIVER_LABEL: ""},
        {DRIVER_LABEL: "340.108"},
        {DRIVER_LABEL: "new"},
        {"nvidia.com/cuda.driver.major": "470"},
    ],
)
def test_unknown_drivers_stay_unknown(labels):
    assert driver_of(labels) is None


def test_labels_of_both_generations_of_gpu_feature_discovery_are_read():
    old = {
        "nvidia.com/cuda.driver.major": "470",
        "nvidia.com/cuda.driver.minor": "82",
        "nvidia.com/cuda.driver.rev": "01",
        "nvidia.com/cuda.runtime.major": "11",
        "nvidia.com/cuda.runtime.minor": "4",
    }
    assert driver_of(old) == Driver((470, 82, 1), (11, 4))
    assert driver_of({**old, DRIVER_LABEL: "550.54.15", CUDA_LABEL: "12.4"}) == Driver((550, 54, 15), (12, 4))
    del old["nvidia.com/cuda.driver.rev"]
    assert driver_of(old) == Driver((470, 82), (11, 4))
    assert str(driver("470.82.1")) == "driver 470.82.01 supports CUDA 11.4"


def test_a_label_of_the_cuda_goes_before_the_table():
    assert driver_of({DRIVER_LABEL: "470.82.01", CUDA_LABEL: "12.4.0"}) == Driver((470, 82, 1), (12, 4))
    assert str(driver_of({CUDA_LABEL: "12.4"})) == "supports CUDA 12.4"


@pytest.mark.parametrize(
    ("requirement", "installed", "runs"),
    [
        ("cuda>=12.4", "550.54.15", True),
        # Minor version compatibility: any driver of the family.
        ("cuda>=12.9", "525.60.13", True),
        ("cuda>=13.2", "580.65.06", True),
        ("cuda>=13.0", "575.57.08", False),
        ("cuda>=12.0", "520.61.05", False),
        ("cuda>=11.8", "450.80.02", True),
        ("cuda>=11.8", "450.51.06", False),
        ("cuda>=11.0", "450.51.06", True),
        ("cuda>=10.2", "418.39", False),
        ("cuda>=8.0", "580.65.06", True),
        # Alternatives of which each has several conditions.
        (NVIDIA, "470.82.01", True),
        (NVIDIA, "460.32.03", False),
        (NVIDIA, "550.54.15", True),
        ("driver>=525,driver<526", "525.60.13", True),
        ("driver>=525,driver<526", "526.00", False),
        ("driver=470.82.1", "470.82.01", True),
        ("driver!=470.82.01", "470.82.01", False),
        ("driver<=470.82.01", "470.82.01", True),
        ("driver>470.82", "470.82.00", False),
        ("driver>470.82", "470.82.01", True),
        ("cuda<12", "470.82.01", True),
        ("CUDA>=12.4", "470.82.01", False),
        # What is not known of devices holds.
        ("brand=tesla", "470.82.01", True),
        ("arch>=8.0,cuda>=12.4", "470.82.01", False),
        # Lines must all hold.
        ("cuda>=11.0\ndriver>=525", "470.82.01", False),
        ("cuda>=11.0\ndriver>=470", "470.82.01", True),
        # Commas and spaces without words between them.
        (" ,cuda>=12.4,,  driver>=525 ", "470.82.01", False),
        ("", "346.46", True),
        ("cuda=>12", "346.46", True),
        ("flux>=12", "346.46", True),
        ("cuda>=twelve", "346.46", True),
    ],
)
def test_requirements_are_read_as_nvidia_reads_them(requirement, installed, runs):
    assert (mismatch(requirement, driver(installed)) == "") is runs


def test_without_the_drivers_version_the_family_of_its_cuda_counts():
    assert mismatch("cuda>=12.4", Driver((), (12, 0))) == ""
    assert mismatch("cuda>=12.4", Driver((), (11, 8))) == "supports CUDA 11.8, the image needs CUDA 12.4"
    assert mismatch("driver>=525", Driver((), (11, 8))) == ""


def test_the_clause_names_what_is_there_and_what_is_needed():
    assert mismatch(NVIDIA, driver("460.32.03")) == (
        "driver 460.32.03 supports CUDA 11.2, the image needs CUDA 12.4"
    )
    assert mismatch("driver>=525,driver<526 driver>=535", driver("470.82.01")) == (
        "driver 470.82.01 supports CUDA 11.4, the image needs driver>=525,driver<526"
    )


@pytest.mark.parametrize(
    ("env", "requirement"),
    [
        ({}, ""),
        ({"CUDA_VERSION": "12.4.1"}, "cuda>=12.4"),
        ({"CUDA_VERSION": "12.4.0.41"}, "cuda>=12.4"),
        ({"CUDA_VERSION": "latest"}, ""),
        ({"CUDA_VERSION": "12.4.1", "NVIDIA_REQUIRE_CUDA": "cuda>=9.0"}, "cuda>=9.0"),
        ({"CUDA_VERSION": "12.4.1", "NVIDIA_REQUIRE_CUDA": "nonsense"}, "cuda>=12.4"),
        ({"CUDA_VERSION": "12.4.1", "NVIDIA_DISABLE_REQUIRE": "true"}, ""),
        ({"CUDA_VERSION": "12.4.1", "NVIDIA_DISABLE_REQUIRE": "0"}, "cuda>=12.4"),
        ({"NVIDIA_REQUIRE_CUDA": NVIDIA}, NVIDIA),
        (
            {"NVIDIA_REQUIRE_CUDA": "cuda>=12", "NVIDIA_REQUIRE_DRIVER": "driver>=525"},
            "cuda>=12\ndriver>=525",
        ),
        ({"NVIDIA_REQUIRE_CUDA": "cuda>=10\ncuda>=11"}, "cuda>=10 cuda>=11"),
        ({"NVIDIA_REQUIRE_JETPACK": "cuda>=99"}, ""),
    ],
)
def test_what_an_image_requires(env, requirement):
    assert requirement_of(env, {}) == requirement


def test_a_label_tells_the_cuda_of_an_image_without_variables():
    assert requirement_of({}, {"com.nvidia.cuda.version": "9.0.176"}) == "cuda>=9.0"


def test_the_compatibility_package_of_an_image_brings_older_branches():
    plain, package = {"CUDA_VERSION": "12.4.1"}, {"NV_CUDA_COMPAT_PACKAGE": "cuda-compat-12-4"}
    assert mismatch(requirement_of(plain, {}), driver("470.82.01"))
    assert not mismatch(requirement_of(plain | package, {}), driver("470.82.01"))
    assert mismatch(requirement_of(plain | package, {}), driver("465.19.01"))
    # An image that lists its alternatives has them all.
    listed = {"NVIDIA_REQUIRE_CUDA": "cuda>=12.4"}
    assert requirement_of(plain | package | listed, {}) == "cuda>=12.4"


def test_only_devices_of_nvidia_need_a_driver():
    assert uses_cuda({"cpu": 1, "cuda.shares": 500})
    assert uses_cuda({"cuda.mig-1g.18gb": 1})
    assert not uses_cuda({"cpu": 1, "cuda.device": 0, "rocm.device": 1})


NUMBERS = st.integers(0, 999)
VERSIONS = st.lists(NUMBERS, min_size=1, max_size=3).map(lambda parts: ".".join(map(str, parts)))
WORDS = st.builds(
    "{}{}{}".format,
    st.sampled_from(["cuda", "driver"]),
    st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    VERSIONS,
)
LINES = st.lists(st.lists(WORDS, min_size=1, max_size=3).map(",".join), min_size=1, max_size=4).map(" ".join)
DRIVERS = st.builds(Driver, VERSIONS.map(version), st.tuples(st.integers(7, 14), st.integers(0, 9)))


@given(LINES, LINES, DRIVERS)
def test_alternatives_are_a_disjunction_and_lines_a_conjunction(one, other, installed):
    first, second = (not mismatch(text, installed) for text in (one, other))
    assert (not mismatch(f"{one} {other}", installed)) == (first or second)
    assert (not mismatch(f"{one}\n{other}", installed)) == (first and second)


@given(WORDS, WORDS, DRIVERS)
def test_conditions_are_a_conjunction(one, other, installed):
    first, second = (not mismatch(text, installed) for text in (one, other))
    assert (not mismatch(f"{one},{other}", installed)) == (first and second)


@given(st.integers(346, 700), st.integers(0, 200), st.integers(346, 700), st.integers(0, 200), VERSIONS)
def test_a_newer_driver_runs_what_an_older_one_runs(major, minor, more_major, more_minor, needed):
    pair = sorted([(major, minor), (more_major, more_minor)])
    older, newer = (driver_of({DRIVER_LABEL: text_of(one)}) for one in pair)
    if older and newer and not mismatch(f"cuda>={needed}", older):
        assert not mismatch(f"cuda>={needed}", newer)


@given(st.text(max_size=60), DRIVERS)
def test_any_text_is_read_or_ignored(text, installed):
    parse(text)
    mismatch(text, installed)
    requirement_of({"NVIDIA_REQUIRE_CUDA": text, "CUDA_VERSION": text}, {"com.nvidia.cuda.version": text})
    driver_of({DRIVER_LABEL: text, CUDA_LABEL: text})


@pytest.mark.parametrize(
    "env",
    [
        {f"NVIDIA_REQUIRE_{number}": "cuda>=12.4" for number in range(9)},
        {"NVIDIA_REQUIRE_CUDA": "cuda>=12.4 " * 400},
    ],
)
def test_longer_requirements_than_images_have_are_ignored(env):
    assert requirement_of(env, {}) == ""
