import torch

from workloads import *

device = "cuda" if ON_GPU else "cpu"
compiled = "compile" in WANTED
WANTED[:] = [name for name in WANTED if name != "compile"]


def sync(_):
    if ON_GPU:
        torch.cuda.synchronize()


def run(name, function, check, *host, scale=1.0, times=1):
    arrays = [torch.from_numpy(x).to(device) for x in host]
    if compiled:
        function = torch.compile(function)
    measure(name, lambda: ten_times(function, *arrays) if times == 10 else function(*arrays), sync, check, scale)
    del arrays
    if ON_GPU:
        torch.cuda.empty_cache()


def small(a, b):
    for _ in range(1000):
        c = a + b
    return c


class Functions:
    """The names that black_scholes() takes."""
    abs, exp, log, sqrt, where = torch.abs, torch.exp, torch.log, torch.sqrt, torch.where


def simulate():
    normal = torch.randn(size(256e6, 16e6, 100000), device=device)
    return torch.clamp(100 * torch.exp((R - 0.5 * V * V) + V * normal) - 100, min=0).mean(dtype=torch.float64)


def masked(x):
    x[x > 0.5] = 0.25
    return x


def mean_of_both(pair):
    return pair[0].double().mean() + pair[1].double().mean()


with torch.no_grad():
    library_rows(run, torch.linalg, torch.fft, lambda y: y.double().mean())
    if LIBRARIES:
        sys.exit()
    if not compiled:
        run("small", small, lambda c: c.sum(), spread(16, 0, 1, "float32"), spread(16, 0, 1, "float32"), scale=1 / 1000)
    if ON_GPU and torch.cuda.device_count() > 1 and not compiled:
        run("peercopy", lambda x: x.to("cuda:1"), lambda y: y[9], spread(size(256e6, 0, 1000), 0, 1, "float32"))
    run("bs64", lambda *a: black_scholes(Functions, *a), mean_of_both, *options(size(4e6, 4e6, 1000), "float64"), scale=1 / 10,
        times=10)
    run("bs32", lambda *a: black_scholes(Functions, *a), mean_of_both, *options(size(64e6, 4e6, 1000), "float32"))
    run("mc", simulate, price)
    run("rand", lambda: torch.rand(size(256e6, 16e6, 1000), device=device), lambda y: square((y * y).mean()))
    run("randn", lambda: torch.randn(size(256e6, 16e6, 1000), device=device), lambda y: square((y * y).mean()))
    big = spread(size(256e6, 16e6, 1000), 0, 1, "float32")
    run("chain", lambda x: torch.sqrt(x * 2 + 1), lambda y: y.double().mean(), big)
    run("sum", lambda x: x.sum(), lambda y: y, spread(size(256e6, 64e6, 1000), 0, 1, "float32"))
    run("sum1", lambda x: x.sum(dim=0), lambda y: y[2], matrix())
    run("sum2", lambda x: x.sum(dim=1), lambda y: y[2], matrix())
    run("center", lambda x: x - x.mean(dim=1, keepdim=True), lambda y: y[1, 2], matrix())
    run("softmax", lambda x: torch.softmax(x, 1), lambda y: y[1, 2], rows())
    run("layernorm", lambda x, weight, bias: torch.nn.functional.layer_norm(x, (1024,), weight, bias),
        lambda y: y[1, 2], rows(), *weights())
    run("var", lambda x: x.var(dim=1, correction=0), lambda y: y[2], matrix())
    run("var1", lambda x: x.var(dim=0, correction=0), lambda y: y[2], matrix())
    run("stencil", stencil, lambda y: y[1, 2], stencil_input())
    run("life", lambda x: life(torch.roll, x), lambda y: y.sum(), life_input())
    run("floordiv", lambda x: x // 7 + x % 13, lambda y: y[999], spread(size(256e6, 16e6, 1000), -1e9, 1e9, "int32"))
    run("distances", nearest, lambda y: y.double().mean() + 1, *points())
    run("shortsum", lambda x: x.sum(dim=1), lambda y: y[2], short_rows())
    run("shortargmax", lambda x: x.argmax(dim=1), lambda y: y.double().mean() + 1, short_rows())
    run("einsum", lambda x: torch.einsum("bqhd,bkhd->bhqk", x, x), lambda y: y.double().mean(), heads())
    run("cumsum", lambda x: torch.cumsum(x, 0), lambda y: y[999], big)
    if not compiled:
        run("select", lambda x: x[x > 0.5], lambda y: y.numel(), big)
        run("sort", lambda x: torch.sort(x)[0], lambda y: y[9], spread(size(64e6, 4e6, 1000), 0, 1, "float32"))
        run("median", lambda x: torch.quantile(x, 0.5, interpolation="midpoint") if x.numel() < 16e6 else x.median(), lambda y: y,
            spread(size(64e6, 4e6, 1000), 0, 1, "float32"))
        run("medians", lambda x: torch.quantile(x, 0.5, dim=1, interpolation="midpoint"), lambda y: y[2], rows())
        run("permutation", lambda: torch.randperm(size(16e6, 1e6, 1000), device=device), lambda y: y.double().sum())
        run("histogram", lambda x: torch.histc(x, 256, 0, 1), lambda y: y[9],
            spread(size(256e6, 16e6, 1000), 0, 1, "float32"))
        run("topk", lambda x: torch.topk(x, 100)[0], lambda y: y[99], spread(size(64e6, 4e6, 1000), 0, 1, "float32"))
    run("scatter", lambda at, values: torch.zeros_like(values).index_add_(0, at, values), lambda y: y.sum(), *scatter_input())
    run("argmax", lambda x: x.argmax(), lambda y: y + 1, spread(size(256e6, 64e6, 1000), 0, 1, "float32"))
    run("transpose", lambda x: x.T.contiguous(), lambda y: y[1, 4], matrix())
    run("masked", masked, lambda y: y.double().sum(), big)
    if not compiled:
        run("chain1000", chain1000, lambda y: y[16], *chain_input())
    # What is compiled is a step: unrolled, the loop would be one function of 200 steps.
    step = torch.compile(runge_kutta) if compiled else runge_kutta
    arrays = [torch.from_numpy(x).to(device) for x in orbit_input()]
    measure("lorenz", lambda: orbit(step, *arrays), sync, orbit_mean)
