"""Arrays that gpulua shares with NumPy on the processor, and with PyTorch and CuPy on a GPU: both ways, without a copy.
Usage: python_dlpack.py [numpy] [torch] [cupy], with the package of `make wheel`, or with the project's folder python in PYTHONPATH
and the folder of libgpulua.so.0 in LD_LIBRARY_PATH."""

import gc
import importlib
import sys

import gpulua

SCRIPT = """
function double(x) x:copy_(x * 2) end
function count(n) return gpu.arange(n, "float32") end
"""


def share(library, device, address_of, make, to_list):
    """make(numbers): the library's array on the device. address_of(array): where its elements are."""
    state = gpulua.State(device)
    state.run(SCRIPT)

    # The library's memory in gpulua.
    theirs = make([1.0, 2.0, 3.0, 4.0])
    ours = state.array(theirs)
    assert ours.pointer == address_of(theirs), "the tensor was copied"
    state["double"](ours)
    assert to_list(theirs) == [2, 4, 6, 8], to_list(theirs)

    # gpulua's memory in the library, which keeps it also after the state is gone.
    ours = state["count"](5)
    theirs = library.from_dlpack(ours)
    assert address_of(theirs) == ours.pointer, "the array was copied"
    state["double"](ours)
    del ours, state
    gc.collect()
    assert to_list(theirs) == [0, 2, 4, 6, 8], to_list(theirs)

    # Strides, and capsules that nobody takes.
    state = gpulua.State(device)
    rows = state.array(make([[1.0, 2.0], [3.0, 4.0]]).T)
    state.run(SCRIPT + "function corner(x) return x[2][1] end")
    assert state["corner"](rows) == 2
    for max_version in None, (1, 0):
        rows.__dlpack__(max_version=max_version)
    try:
        state["gpu.linalg.inv"](state["count"](3))
    except gpulua.Error as error:
        assert "[linalg.inv]" in str(error), error
    else:
        raise AssertionError("expected an error")
    print(f"{library.__name__} {library.__version__} and gpulua share memory on {device}")


def with_numpy(numpy):
    share(numpy, "cpu", lambda x: x.ctypes.data, lambda x: numpy.array(x, "float32"), lambda x: x.tolist())


def with_torch(torch):
    def make(numbers):
        return torch.tensor(numbers, device="cuda")

    share(torch, "cuda:0", lambda x: x.data_ptr(), make, lambda x: x.tolist())
    # Work on another stream of PyTorch's is waited for, and waits.
    state = gpulua.State("cuda:0")
    state.run(SCRIPT)
    x = make([0.0] * 1024)
    block = torch.zeros(1 << 27, device="cuda")
    state["double"](state.array(x))  # compiles
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(100):
            block += 1
        x += 3
        ours = state.array(x)
    state["double"](ours)
    with torch.cuda.stream(torch.cuda.Stream()):
        assert torch.from_dlpack(ours).sum().item() == 6 * 1024


def with_cupy(cupy):
    share(cupy, "cuda:0", lambda x: x.data.ptr, lambda x: cupy.array(x, "float32"), lambda x: x.tolist())


def main():
    for name in sys.argv[1:] or ["numpy"]:
        {"numpy": with_numpy, "torch": with_torch, "cupy": with_cupy}[name](importlib.import_module(name))


main()
