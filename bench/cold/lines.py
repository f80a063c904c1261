"""The lines of lines.lua in CuPy, PyTorch or JAX (NumPy has nothing to compile): lines.py cupy|torch|jax."""
import sys
import time

peer = sys.argv[1]
count = 100000
if peer == "cupy":
    import cupy as np

    wait = np.cuda.Device().synchronize
    x, y = np.linspace(0, 1, count, dtype="float32"), np.ones(count, "float32")
    rand, randn = lambda: np.random.rand(count), lambda: np.random.randn(count)
    softmax = lambda a: (lambda e: e / e.sum(1, keepdims=True))(np.exp(a - a.max(1, keepdims=True)))
elif peer == "torch":
    import torch as np

    wait = np.cuda.synchronize
    np.set_default_device("cuda")
    x, y = np.linspace(0, 1, count), np.ones(count)
    rand, randn = lambda: np.rand(count), lambda: np.randn(count)
    softmax = lambda a: np.softmax(a, 1)
else:
    import jax
    import jax.numpy as np

    wait = lambda: None
    x, y = np.linspace(0, 1, count), np.ones(count)
    key = jax.random.key(0)
    rand, randn = lambda: jax.random.uniform(key, (count,)), lambda: jax.random.normal(key, (count,))
    softmax = lambda a: jax.nn.softmax(a, 1)

torch = peer == "torch"
square = x.reshape(100, 1000)
lines = {
    "first": lambda: x * 2 + 1,
    "sqrt": lambda: np.sqrt(x) - x,
    "sines": lambda: np.sin(x) * np.cos(y),
    "density": lambda: np.exp(-x * x / 2),
    "maximum": lambda: np.clamp(x, min=0.5) if torch else np.maximum(x, 0.5),
    "where": lambda: np.where(x > 0.5, x, y),
    "cast": lambda: x.int() if torch else x.astype("int32"),
    "distance": lambda: np.abs(x - y),
    "clip": lambda: np.clip(x, 0.2, 0.8),
    "roll": lambda: np.roll(x, 1),
    "transpose": lambda: square.T.contiguous() if torch else square.T.copy(),
    "linspace": lambda: np.linspace(0, 1, 1000),
    "sum": lambda: x.sum(),
    "mean": lambda: (x - y).mean(),
    "squares": lambda: (x * x).mean(),
    "var": lambda: x.var(),
    "std": lambda: x.std(),
    "max": lambda: x.max(),
    "argmax": lambda: x.argmax(),
    "columns": lambda: square.sum(0),
    "rows": lambda: square.sum(1),
    "softmax": lambda: softmax(square),
    "rand": rand,
    "randn": randn,
    "cumsum": lambda: np.cumsum(x, 0),
    "mask": lambda: x[x > 0.5],
    "sort": lambda: np.sort(x)[0] if torch else np.sort(x),
    "fft": lambda: np.fft.fft(x),
    "matmul": lambda: np.matmul(square, square.T),
    "histogram": lambda: np.histc(x, 20) if torch else np.histogram(x, 20)[0],
}
wait()
for name, line in lines.items():
    begin = time.perf_counter()
    result = line()
    if peer == "jax":
        result.block_until_ready()
    wait()
    print(f"{name} {(time.perf_counter() - begin) * 1000:.1f}")
