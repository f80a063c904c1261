import torch
from torch.nn import functional

from gradients import *

device = "cuda" if ON_GPU else "cpu"
compiled = "compile" in WANTED
WANTED[:] = [name for name in WANTED if name != "compile"]


def sync(_):
    if ON_GPU:
        torch.cuda.synchronize()


def run(name, function, check, *host, scale=1.0, times=1):
    arrays = [torch.from_numpy(x).to(device) for x in host]
    if compiled and not getattr(function, "is_compiled", False):
        function = torch.compile(function)
    measure(name, lambda: ten_times(function, *arrays) if times == 10 else function(*arrays), sync, check, scale)
    del arrays
    if ON_GPU:
        torch.cuda.empty_cache()


def run_in_place(name, function, check, *host):
    if compiled:
        function = torch.compile(function)
    measure_in_place(name, function, sync, check, lambda x: torch.tensor(x, device=device), host)
    if ON_GPU:
        torch.cuda.empty_cache()


def run_loop(name, step, check, *host, loop, scale=1.0):
    """Of loop(step, ...). What is compiled is the step: unrolled, the loop would be one function of all steps."""
    arrays = [torch.from_numpy(x).to(device) for x in host]
    if compiled:
        step = torch.compile(step)
    measure(name, lambda: loop(step, *arrays), sync, check, scale)


def small(a, b):
    for _ in range(1000):
        c = a + b
    return c


class Functions:
    """The names that black_scholes() and heston_step() take."""
    abs, exp, log, sqrt, where = torch.abs, torch.exp, torch.log, torch.sqrt, torch.where

    def maximum(x, least):
        return torch.clamp(x, min=least)


def simulate():
    normal = torch.randn(size(256e6, 16e6, 100000), device=device)
    return torch.clamp(100 * torch.exp((R - 0.5 * V * V) + V * normal) - 100, min=0).mean(dtype=torch.float64)


def masked(x):
    x[x > 0.5] = 0.25
    return x


def mean_of_both(pair):
    return pair[0].double().mean() + pair[1].double().mean()


def adam(p, m, v, g):
    m.mul_(0.9).add_(g, alpha=0.1)
    v.mul_(0.999).addcmul_(g, g, value=0.001)
    return p.addcdiv_(m, v.sqrt().add_(1e-8), value=-0.1)


def group_sums(keys, weights):
    if compiled:
        return torch.zeros(1000, device=device).index_add_(0, keys, weights)
    return torch.bincount(keys, weights, minlength=1000)


def convolution_input():
    """A picture, and its weights turned around, as conv2d() correlates."""
    x, weights = kernel_input()
    return x[None, None], weights[None, None, ::-1, ::-1].copy()


def convolve(x, weights):
    return functional.conv2d(functional.pad(x, (2, 2, 2, 2), mode="reflect"), weights)


def median3(x):
    wide = functional.pad(x[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]
    return wide.unfold(0, 3, 1).unfold(1, 3, 1).reshape(*x.shape, 9).median(dim=-1).values


def choose(p):
    if not compiled:
        return torch.multinomial(p, DRAWS, replacement=True)
    bounds = torch.cumsum(p, 0)
    return torch.searchsorted(bounds, torch.rand(DRAWS, dtype=p.dtype, device=device) * bounds[-1])


def gradient_of(function, which):
    """The function's value, and its gradients by the arguments at `which`. It is compiled without the reverse pass, as users do."""
    if compiled:
        function = torch.compile(function)

    def both(*arguments):
        arguments = [x.detach().requires_grad_(i in which) for i, x in enumerate(arguments)]
        with torch.enable_grad():
            y = function(*arguments)
        return (y, *torch.autograd.grad(y, [arguments[i] for i in which], torch.ones_like(y)))

    both.is_compiled = compiled
    return both


def training(batch, graph=False):
    """A step by Adam, and the loss after five steps from the start."""
    x, label = (torch.from_numpy(x).to(device) for x in training_input(batch))

    def start():
        p = [torch.from_numpy(w).to(device).requires_grad_() for w in network()]
        optimizer = torch.optim.Adam(p, 1e-3, fused=ON_GPU, capturable=ON_GPU)

        def loss():
            return functional.cross_entropy(classes(torch.relu, x, *p), label)

        forward = torch.compile(loss) if compiled else loss

        def step():
            optimizer.zero_grad(set_to_none=True)
            with torch.enable_grad():
                value = forward()
            value.backward()
            optimizer.step()
            return value

        return step

    def check(_):
        again = start()
        for _ in range(5):
            value = again()
        return value

    step = start()
    if not graph:
        return step, check
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(3):
            step()
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        step()
    return recorded.replay, lambda _: 1


def gradient_rows():
    ndtr = torch.special.ndtr
    call = lambda *a: call_price(torch, ndtr, *a)
    inputs = lambda: option_input() + numbers(0.02, 0.3)
    row("price", call, lambda y: y.double().mean(), inputs)
    # r and v as arrays of one number for each option: the gradient of the sum is then that of each.
    row("greeks", gradient_of(call, GREEKS), lambda y: sum(g.double().mean() for g in y),
        lambda: option_input() + tuple(numpy.full_like(option_input()[0], x) for x in (0.02, 0.3)))
    paths = size(256e6, 4e6, 1000)
    def payoff(S, v):
        return torch.clamp(S * torch.exp((0.02 - 0.5 * v * v) + v * torch.randn(paths, device=device)) - 100, min=0).mean() * math.exp(-0.02)
    row("payoff", payoff, lambda y: payoff_rounded(y, 1), lambda: numbers(100, 0.3))
    row("pathwise", gradient_of(payoff, (0, 1)), lambda y: payoff_rounded(y[0] + y[2], 4 if not TINY else 10), lambda: numbers(100, 0.3))
    def row_of_training(name, *arguments):
        lazily(lambda name, make, _, *a: (lambda step, check: measure(name, step, sync, check))(*make(*a)))(
            name, training, None, lambda: arguments)
    row_of_training("mlp4096", 4096)
    row_of_training("mlp128", 128)
    if ON_GPU and not compiled:
        row_of_training("mlp128_graph", 128, True)
    row("smallloss", gradient_of(lambda x, b: small_loss(torch, x, b), (0,)), lambda y: 1e6 * y[1][16], small_input)
    row("smallvalue", lambda *a: small_loss(torch, *a), lambda y: y, small_input)


with torch.no_grad():
    library_rows(run, torch.linalg, torch.fft, lambda y: y.double().mean())
    if LIBRARIES:
        sys.exit()
    row, update, row_of_loop = lazily(run), lazily(run_in_place), lazily(run_loop)
    update("adam", adam, lambda p: 100 * p.double().mean(), adam_input)
    row("xent", lambda x, label: functional.cross_entropy(x, label), lambda y: y, loss_input)
    row("lbm", lambda *f: collide_and_stream(torch.roll, *f), population_value, populations)
    row("nbody", forces, mean_force, bodies)
    row("kde", lambda *a: kernel_density(torch, *a), lambda y: y[2], density_input)
    row("groupsum", group_sums, lambda y: y[9], group_input)
    row("conv5", convolve, lambda y: y[0, 0, 9, 10], convolution_input)
    row("median3", median3, lambda y: y.double().mean(), lambda: picture(4096, 512))
    row_of_loop("tinyloop", descend, lambda w: 10 * w[2], least_squares, loop=descent, scale=1 / 1000)
    row_of_loop("heston", lambda x, v: heston_step(Functions, torch.randn_like(x), torch.randn_like(v), x, v), rounded, heston_input,
                loop=lambda step, *a: heston(step, lambda x: mean_payoff(Functions, x), *a))
    row("wave", lambda *a: wave(torch.roll, *a), lambda y: y[1, 2], waves)
    row_of_loop("gemv100", lambda A, x: power_step(torch.linalg.norm, A, x), power_value, power_input, loop=power_iteration)
    row("choice", choose, lambda y: mean_drawn(y.double().mean()), probabilities)
    update("masked", masked, lambda x: x.double().sum(), masked_input)
    gradient_rows()
    if finished():
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
    if not compiled:
        run("chain1000", chain1000, lambda y: y[16], *chain_input())
    run_loop("lorenz", runge_kutta, orbit_mean, *orbit_input(), loop=orbit)
