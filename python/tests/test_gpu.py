"""Arrays on a GPU: CuPy, PyTorch, JAX and Numba take outputs without a copy, on streams of their own, and give inputs."""
import ctypes
import gc
import os
import pathlib

import numpy as np
import pytest

import sluice



def has_gpu():
    """Whether there is a GPU: a build with CUDA has the device on every machine."""
    try:
        return "cuda" in sluice.devices() and ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False


pytestmark = pytest.mark.skipif(not has_gpu(), reason="no NVIDIA GPU, or this build has no CUDA")

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLUGINS = [os.environ["SLUICE_TEST_PLUGINS"]]
EVENTS, SLICE = 300, 50
FIELDS = ("x", "y", "z")


def take_by_cupy(array):
    taken = pytest.importorskip("cupy").from_dlpack(array)
    return taken, taken.data.ptr, lambda: taken.get()


def take_by_cupy_interface(array):
    taken = pytest.importorskip("cupy").asarray(array)
    return taken, taken.data.ptr, lambda: taken.get()


def take_by_torch(array):
    taken = pytest.importorskip("torch").from_dlpack(array)
    return taken, taken.data_ptr(), lambda: taken.cpu().numpy()


def take_by_torch_interface(array):
    torch = pytest.importorskip("torch")
    taken = torch.as_tensor(array, device=array.device)
    return taken, taken.data_ptr(), lambda: taken.cpu().numpy()


def take_by_jax(array):
    jax = pytest.importorskip("jax")
    taken = jax.dlpack.from_dlpack(array)
    return taken, taken.unsafe_buffer_pointer(), lambda: np.asarray(taken)


def take_by_numba(array):
    cuda = pytest.importorskip("numba.cuda")
    taken = cuda.as_cuda_array(array)
    return taken, taken.device_ctypes_pointer.value, lambda: taken.copy_to_host()


TAKERS = [take_by_cupy, take_by_cupy_interface, take_by_torch, take_by_torch_interface, take_by_jax, take_by_numba]


@pytest.fixture(scope="module")
def graph():
    return sluice.Graph("velo.yaml", set={"seed": 7})


@pytest.fixture(scope="module")
def expected(graph):
    return graph.arrays(n=EVENTS, device="cpu")


@pytest.mark.parametrize("take", TAKERS)
def test_a_library_takes_outputs_without_a_copy(graph, expected, take):
    hits, events = expected.tracks.hits, 0
    for batch in graph.run(n=EVENTS, slice_events=SLICE, device="cuda", keep="device"):
        begin, end = (hits.offsets[expected.tracks.offsets[e]] for e in (batch.first, batch.first + len(batch)))
        for name in FIELDS:
            array = batch.tracks.hits[name]
            assert array.device.startswith("cuda")
            taken, address, copy = take(array)
            assert address == array.address
            assert np.array_equal(copy(), hits[name][begin:end])
            del taken, copy
        events += len(batch)
    assert events == EVENTS


def test_kernels_on_other_streams_read_complete_batches(graph, expected):
    cupy = pytest.importorskip("cupy")
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(3)]
    sums = []
    for index, batch in enumerate(graph.run(n=EVENTS, slice_events=SLICE, device="cuda", keep="device")):
        with streams[index % 3]:  # the tensor is deleted while the kernel may still run
            sums.append(cupy.from_dlpack(batch.tracks.hits.z).astype("f8").sum())
    total = float(np.sum([value.get() for value in sums]))
    assert total == pytest.approx(float(expected.tracks.hits.z.astype("f8").sum()), rel=1e-12)


@pytest.mark.parametrize("take", TAKERS)
def test_an_array_of_a_library_holds_its_batch(graph, expected, take):
    held = []
    for batch in graph.run(n=2 * SLICE, slice_events=SLICE, slots=2, device="cuda", keep="device"):
        held.append((take(batch.tracks.hits.x), batch.first, len(batch)))
    hits = expected.tracks.hits
    for (_, _, copy), first, count in held:
        begin, end = (hits.offsets[expected.tracks.offsets[e]] for e in (first, first + count))
        assert np.array_equal(copy(), hits.x[begin:end])
    with pytest.raises(sluice.ExpiredError):
        batch.tracks.hits.x.address


def test_too_many_kept_batches_are_an_error_that_names_them(graph):
    cupy = pytest.importorskip("cupy")
    held = []
    with pytest.raises(sluice.RunError, match="kept"):
        for batch in graph.run(n=40 * SLICE, slice_events=SLICE, slots=2, device="cuda", keep="device"):
            held.append(cupy.from_dlpack(batch.tracks.hits.x))
    assert len(held) == 4
    held.clear()
    gc.collect()
    assert sum(len(batch) for batch in graph.run(n=SLICE, slice_events=SLICE, device="cuda", keep="device")) == SLICE


def lists_of(make):
    offsets = np.arange(0, 41, 2, dtype=np.uint32)
    host = {"offsets": offsets, "weight": np.arange(40, dtype=np.float32), "part_offsets": np.zeros(41, np.uint32),
            "part": np.zeros(0, np.float32), "id": np.arange(20, dtype=np.uint32)}
    return host, {name: make(array) if array.size else array for name, array in host.items()}


def give_by_cupy(array):
    return pytest.importorskip("cupy").asarray(array)


def give_by_torch(array):
    torch = pytest.importorskip("torch")
    if array.dtype == np.uint32 and not hasattr(torch, "uint32"):
        return array
    return torch.from_numpy(array).to("cuda")


def give_by_jax(array):
    return pytest.importorskip("jax").device_put(array)


def give_by_numba(array):
    return pytest.importorskip("numba.cuda").to_device(array)


@pytest.mark.parametrize("give", [give_by_cupy, give_by_torch, give_by_jax, give_by_numba])
def test_arrays_of_a_library_are_inputs(give):
    lists = sluice.Graph(ROOT / "tests/records/lists.yaml", plugin_paths=PLUGINS)
    host, given = lists_of(give)
    inputs = sluice.Inputs({"lists": given})
    assert inputs.copied_bytes == sum(array.nbytes for name, array in host.items() if given[name] is not array)
    assert inputs.copied_bytes > 0
    right = lists.arrays(inputs={"lists": host}, device="cpu").sums.sum
    assert np.array_equal(lists.arrays(inputs=inputs, device="cpu").sums.sum, right)
