#include "bindings/lua/names_elsewhere.h"

#include <algorithm>

#include "library_file.h"

namespace gpulua {

namespace {

/// Sorted by name. A test reads the table: no name may exist here, and each function in an equivalent must exist.
constexpr NameRow rows[] = {
    // clang-format off
    {"CubicSpline", "gpu.cubic_spline(x, y)"},
    {"DataFrame", "gpu.table{name = x}"}, {"DatetimeIndex", "gpu.dates(texts)"}, {"Device", "gpu.device(name)"},
    {"ElementwiseKernel", "gpu.elementwise{inputs = ..., outputs = ..., body = ...}"}, {"Event", "gpu.event()"},
    {"H", "gpu.conj(x).T"},
    {"KMeans", "(x(\":\", gpu.newaxis) - centres):square():sum(3):argmin(2) for the nearest centres, in a loop: there is no k-means"},
    {"LinearOperator", "gpu.sparse.linalg.operator(fn, {shape = {n, n}})"},
    {"PCA", "gpu.linalg.svd(x - x:mean(1), {full_matrices = false}), whose V' has the principal axes as rows"},
    {"PRNGKey", "gpu.random.seed(n), or gpu.random.generator(\"philox\", {seed = n})"},
    {"QuantLib", "gpu.normcdf(x), gpu.randn(shape), gpu.grad(f) and other functions of arrays"},
    {"RawKernel", "gpu.kernel(source, name)"}, {"RawModule", "gpu.module(source)"},
    {"ReductionKernel", "gpu.reduction{inputs = ..., outputs = ..., map = ..., reduce = ...}"},
    {"Series", "gpu.array(values), or gpu.table{name = x}"}, {"SourceModule", "gpu.module(source)"},
    {"Stream", "gpu.stream()"}, {"Timedelta", "gpu.durations(texts)"}, {"Timestamp", "gpu.dates(texts)"},
    {"UnivariateSpline", "gpu.cubic_spline(x, y)"},
    {"add_at", "x:scatter_add(indices, values)"}, {"addmm", "c + a:matmul(b)"},
    {"agg", "t:group_by(names):aggregate{name = \"mean\"}, of a gpu.table"}, {"alloc", "gpu.empty(count, dtype)"},
    {"amax", "gpu.max(x)"}, {"amin", "gpu.min(x)"}, {"append", "gpu.concat({x, y})"},
    {"apply", "gpu.vectorize(f), for a Lua function of the elements"}, {"argtopk", "gpu.topk(x, k)"},
    {"around", "gpu.round(x)"}, {"arrange", "gpu.arange(n)"}, {"as_tensor", "gpu.array(values)"},
    {"asanyarray", "gpu.array(values)"}, {"asarray", "gpu.array(values)"}, {"asarray_chkfinite", "gpu.array(values)"},
    {"ascontiguousarray", "gpu.contiguous(x)"}, {"asfortranarray", "gpu.contiguous(x.T).T"},
    {"asnumpy", "x:host() or x:table()"}, {"assign", "x:copy_(values)"},
    {"atomicAdd", "gpu.atomic.add(x, i, value), in a kernel of gpu.jit"}, {"avg", "gpu.mean(x)"},
    {"axhline", "gpu.plot.hline(y)"}, {"axhspan", "gpu.plot.hspan(from, to)"}, {"axvline", "gpu.plot.vline(x)"},
    {"axvspan", "gpu.plot.vspan(from, to)"}, {"backward", "gpu.grad(f)(x)"},
    {"between", "gpu.logical_and(x:ge(low), x:le(high))"}, {"bfill", "x:fillna(\"backward\")"},
    {"binary_dilation", "gpu.ndimage.binary_dilation(x)"}, {"binary_erosion", "gpu.ndimage.binary_erosion(x)"},
    {"bisect", "gpu.optimize.root_scalar(f, {bracket = {a, b}})"}, {"bitwise_invert", "gpu.invert(x)"},
    {"bitwise_left_shift", "gpu.left_shift(x, n)"}, {"bitwise_right_shift", "gpu.right_shift(x, n)"},
    {"black_scholes", "a formula with gpu.normcdf(x)"}, {"blas.cgemm", "gpu.blas.gemm(a, b), for all dtypes"},
    {"blas.dgemm", "gpu.blas.gemm(a, b), for all dtypes"}, {"blas.sgemm", "gpu.blas.gemm(a, b), for all dtypes"},
    {"blas.zgemm", "gpu.blas.gemm(a, b), for all dtypes"}, {"blockDim", "gpu.block_size(), in a kernel of gpu.jit"},
    {"blockIdx", "gpu.block_index(), in a kernel of gpu.jit"}, {"block_diag", "gpu.linalg.block_diag(x, y)"},
    {"block_until_ready", "gpu.sync()"},
    {"bmat", "gpu.block(blocks), or gpu.sparse.bmat(blocks)"}, {"box_plot", "gpu.plot.boxplot(values)"},
    {"brentq", "gpu.optimize.root_scalar(f, {bracket = {a, b}})"}, {"butter", "gpu.signal.butter(order, frequencies)"},
    {"c_", "gpu.stack({x, y}, 2)"}, {"cat", "gpu.concat(list, axis)"}, {"chdtrc", "gpu.gammaincc(k / 2, x / 2)"}, {"cho_factor", "gpu.linalg.cholesky(a)"},
    {"cholesky", "gpu.linalg.cholesky(a)"}, {"chunk", "gpu.array_split(x, n)"}, {"clamp", "gpu.clip(x, low, high)"},
    {"clamp_", "x:clip_(low, high)"}, {"clone", "x:copy()"},
    {"colorbar", "nothing: gpu.plot.image and its kin draw one"}, {"comm.Get_rank", "gpu.comm.rank"},
    {"comm.Get_size", "gpu.comm.size"}, {"compile", "gpu.fuse(f), or gpu.jit(f) for a kernel"},
    {"concatenate", "gpu.concat(list, axis)"}, {"cond", "gpu.where(mask, x, y), or gpu.linalg.cond(a) of a matrix"},
    {"contour_filled", "gpu.plot.contourf(m)"}, {"convolve2d", "gpu.signal.convolve2d(x, y)"},
    {"coo_array", "gpu.sparse.coo(rows, columns, values, shape)"},
    {"coo_matrix", "gpu.sparse.coo(rows, columns, values, shape)"}, {"copyto", "x:copy_(y)"},
    {"corr", "gpu.corrcoef(x)"}, {"correlate2d", "gpu.signal.correlate2d(x, y)"},
    {"count", "x.size; gpu.count_nonzero(x) counts"},
    {"counts", "a second variable: local values, counts = x:unique({return_counts = true})"},
    {"cpu", "x:to(\"cpu\"), or x:host() for host memory"},
    {"cross_entropy", "gpu.mean(gpu.logsumexp(x, 2) - x[{gpu.range(1, n), labels}])"},
    {"csc_array", "gpu.sparse.csc(x)"}, {"csc_matrix", "gpu.sparse.csc(x)"}, {"csr_array", "gpu.sparse.csr(x)"},
    {"csr_matrix", "gpu.sparse.csr(x)"}, {"cuda", "x:to(\"cuda:0\")"}, {"cudaDeviceSynchronize", "gpu.sync()"},
    {"cudaFree", "x:free()"}, {"cudaMalloc", "gpu.empty(count, dtype)"},
    {"cudaMemcpy", "x:copy_from(host) or x:copy_to(host)"}, {"cumtrapz", "gpu.cumulative_trapezoid(y, spacing)"},
    {"cumulative_prod", "gpu.cumprod(x)"},
    {"cumulative_sum", "gpu.cumsum(x)"}, {"data", "x.pointer"}, {"data_ptr", "x.pointer"},
    {"datetime64", "gpu.dates(texts)"}, {"dct", "gpu.fft.dct(x)"},
    {"default_rng", "gpu.random.generator(\"philox\", {seed = 1})"},
    {"describe", "gpu.mean(x), gpu.std(x) and gpu.quantile(x, q)"}, {"det", "gpu.linalg.det(a)"},
    {"deviceSynchronize", "gpu.sync()"}, {"device_array", "gpu.empty(shape, dtype)"},
    {"device_count", "#gpu.devices()"}, {"device_get", "x:host() or x:table()"}, {"device_put", "x:to(name), or gpu.array(values)"},
    {"dia_matrix", "gpu.sparse.diags(diagonals, offsets, shape)"},
    {"diagflat", "gpu.diag(x)"}, {"dim", "x.ndim"}, {"disp", "print(x)"}, {"display", "print(x)"},
    {"dispose", "x:free()"}, {"distance_transform_edt", "gpu.ndimage.distance_transform_edt(x)"},
    {"double", "x:astype(\"float64\")"}, {"dropout", "gpu.where(gpu.rand(x.shape):gt(p), x / (1 - p), 0)"},
    {"e", "math.exp(1)"}, {"each", "for i, v in ipairs(x:table())"}, {"eig", "gpu.linalg.eig(a)"},
    {"eigh", "gpu.linalg.eigh(a)"}, {"eigvals", "gpu.linalg.eigvals(a)"}, {"elapsed", "gpu.clock() or events"},
    {"elapsed_time", "first:elapsed(last) of events"}, {"elu", "gpu.where(x:gt(0), x, gpu.expm1(x))"},
    {"empty_cache", "gpu.trim()"}, {"errorbar", "gpu.plot.errorbars(x, y, errors)"},
    {"ewma", "x:ewm({span = n}):mean()"}, {"exp10", "10 ^ x"}, {"expand", "x:broadcast_to(shape)"},
    {"expand_as", "gpu.broadcast_to(x, y.shape)"}, {"expit", "gpu.sigmoid(x)"}, {"expm", "gpu.linalg.expm(a)"},
    {"ffill", "x:fillna(\"forward\")"}, {"fft2", "gpu.fft.fft2(x)"}, {"fftfreq", "gpu.fft.fftfreq(n)"},
    {"fftshift", "gpu.fft.fftshift(x)"}, {"fill", "x:fill_(value)"}, {"fill_between", "gpu.plot.band(x, low, high)"},
    {"fill_diagonal", "x:diagonal():fill_(value)"}, {"find", "gpu.nonzero(x), or gpu.argwhere(x)"},
    {"find_peaks", "gpu.signal.find_peaks(x)"}, {"finfo", "math.huge, or 2^-23 for float32's epsilon"},
    {"firwin", "gpu.signal.firwin(count, cutoff)"}, {"fix", "gpu.trunc(x)"},
    {"fixed_quad", "gpu.integrate.fixed_quad(f, a, b)"}, {"fliplr", "x:flip(2)"}, {"flipud", "x:flip(1)"},
    {"float", "x:astype(\"float32\")"}, {"fminbound", "gpu.optimize.minimize_scalar(f, {bounds = {a, b}})"},
    {"fminsearch", "gpu.optimize.minimize(f, x0, {method = \"Nelder-Mead\"})"}, {"forall", "kernel:over(n)(arguments)"},
    {"foreach", "for i, v in ipairs(x:table())"}, {"fori_loop", "gpu.loop(n, f, x)"}, {"from_numpy", "gpu.array(values)"},
    {"fromiter", "gpu.array(values)"},
    {"fsolve", "gpu.optimize.root_scalar(f, {x0 = 1}) of a number, or gpu.optimize.least_squares(f, x0) of an array"},
    {"fzero", "gpu.optimize.root_scalar(f, {bracket = {a, b}})"},
    {"gammaln", "gpu.lgamma(x)"}, {"gather", "x:take_along_axis(indices, axis)"},
    {"gelu", "0.5 * x * (1 + gpu.erf(x / math.sqrt(2)))"}, {"get", "x:host() or x:table(); x:item() of one element"},
    {"get_default_memory_pool", "gpu.memory() and gpu.trim()"}, {"get_device_name", "gpu.device(name).name"},
    {"get_function", "mod:kernel(name) or mod.name"}, {"get_global", "mod:constant(name)"},
    {"get_printoptions", "gpu.print_options()"}, {"gpu.band", "gpu.bitwise_and(x, y)"}, {"gpu.bnot", "gpu.invert(x)"},
    {"gpu.bor", "gpu.bitwise_or(x, y)"}, {"gpu.bxor", "gpu.bitwise_xor(x, y)"},
    {"gpu.cuda", "gpu.device(name), gpu.sync() and gpu.memory()"},
    {"gpu.nn", "gpu.matmul(a, b), gpu.convolve(x, y), gpu.softmax(x) and other functions of arrays"},
    {"gpu.print", "print(x)"}, {"gpuArray", "gpu.array(values)"}, {"greater", "gpu.gt(x, y)"},
    {"greater_equal", "gpu.ge(x, y)"},
    {"griddata", "gpu.ndimage.map_coordinates(x, coordinates) of values on a grid: scattered points are missing here"},
    {"groupby", "t:group_by(names), of a gpu.table"},
    {"half", "x:astype(\"float16\")"}, {"halton", "gpu.random.halton(n, d)"},
    {"hamming_window", "gpu.hamming(n, {sym = false})"}, {"hann_window", "gpu.hann(n, {sym = false})"},
    {"hanning", "gpu.hann(n)"}, {"head", "x({1, n})"}, {"heatmap", "gpu.plot.heatmap(m)"},
    {"hilbert", "gpu.signal.hilbert(x), or gpu.linalg.hilbert(n) of a matrix"}, {"hist", "gpu.plot.histogram(x)"},
    {"hsplit", "gpu.split(x, n, 2)"}, {"idxmax", "gpu.argmax(x)"}, {"idxmin", "gpu.argmin(x)"},
    {"ifelse", "gpu.where(mask, x, y)"}, {"iff", "gpu.where(mask, x, y)"}, {"ifft", "gpu.fft.ifft(x)"},
    {"iinfo", "2^31 - 1 for int32's largest"}, {"iloc", "x[i] and x({first, last})"},
    {"image.resize", "gpu.ndimage.zoom(x, factor)"}, {"imread", "gpu.image.load(path)"},
    {"imsave", "gpu.image.save(path, x)"}, {"imshow", "gpu.plot.image(x):show(), or gpu.image.save(path, x)"},
    {"imwrite", "gpu.image.save(path, x)"}, {"in1d", "gpu.isin(x, values)"}, {"index_select", "x:take(indices, axis)"},
    {"inf", "math.huge"}, {"int", "x:astype(\"int32\")"},
    {"integrate.RK45", "gpu.integrate.solve_ivp(f, {t0, t1}, y0, {method = \"RK45\"})"},
    {"integrate.dblquad", "gpu.trapezoid(gpu.trapezoid(values, dy), dx) of values on a grid: quad is of one dimension"},
    {"integrate.nquad", "gpu.mean(f) of points at random, or gpu.trapezoid along each axis: quad is of one dimension"},
    {"integrate.ode", "gpu.integrate.solve_ivp(f, {t0, t1}, y0)"},
    {"integrate.quadpack", "gpu.integrate.quad(f, a, b)"}, {"integrate.romberg", "gpu.integrate.quad(f, a, b)"},
    {"integrate.solve_bvp", "gpu.optimize.least_squares(f, x0) with the values on a grid as x0: solve_ivp is of initial values"},
    {"integrate.tplquad", "gpu.trapezoid along each axis of values on a grid: quad is of one dimension"},
    {"interp1d", "gpu.interp(x, xp, fp), or gpu.cubic_spline(xp, fp)"},
    {"interpolate", "gpu.interp(x, xp, fp), gpu.cubic_spline(xp, fp), or gpu.ndimage.map_coordinates(x, coordinates)"},
    {"intersect", "gpu.intersect1d(x, y)"},
    {"inv", "gpu.linalg.inv(a)"}, {"inverse", "gpu.linalg.inv(a)"}, {"iota", "gpu.arange(n)"},
    {"is_available", "#gpu.devices() and gpu.device(name)"}, {"isna", "gpu.isnan(x)"}, {"isnull", "gpu.isnan(x)"},
    {"isspmatrix", "gpu.sparse.issparse(value)"}, {"itemsize", "x.nbytes / x.size"},
    {"jarque_bera", "jb = #x / 6 * (gpu.stats.skew(x) ^ 2 + gpu.stats.kurtosis(x) ^ 2 / 4), and gpu.exp(-jb / 2) is its p"},
    {"join", "t:join(u, names), of a gpu.table; gpu.concat(list) of arrays"},
    {"kmeans", "(x(\":\", gpu.newaxis) - centres):square():sum(3):argmin(2) for the nearest centres, in a loop: there is no k-means"},
    {"kthvalue", "gpu.partition(x, k)"},
    {"kurt", "gpu.stats.kurtosis(x)"}, {"kurtosis", "gpu.stats.kurtosis(x)"}, {"label", "gpu.ndimage.label(x)"},
    {"launch", "kernel {grid = blocks, block = threads}(arguments), or kernel:over(n)(arguments)"},
    {"lax", "gpu.loop(n, f, x), gpu.loop_while(f, x) and gpu.where(mask, x, y)"},
    {"layer_norm", "(x - x:mean(-1, {keepdims = true})) / x:std(-1, {keepdims = true})"},
    {"leaky_relu", "gpu.where(x:gt(0), x, 0.01 * x)"}, {"leastsq", "gpu.optimize.least_squares(f, x0)"},
    {"len", "#x or x.size"}, {"length", "#x or x.size"},
    {"less", "gpu.lt(x, y)"}, {"less_equal", "gpu.le(x, y)"}, {"lfilter", "gpu.signal.lfilter(b, a, x)"},
    {"lil_array", "gpu.sparse.coo(rows, columns, values, shape)"},
    {"lil_matrix", "gpu.sparse.coo(rows, columns, values, shape)"},
    {"linalg.cholesky_solve", "gpu.linalg.cho_solve(factor, b)"}, {"linalg.rank", "gpu.linalg.matrix_rank(a)"},
    {"linregress", "gpu.stats.linregress(x, y)"}, {"loc", "x[mask]"}, {"log_expit", "gpu.log_sigmoid(x)"},
    {"log_ndtr", "gpu.log_normcdf(x)"}, {"long", "x:astype(\"int64\")"},
    {"lsqcurvefit", "gpu.optimize.curve_fit(f, x, y, p0)"}, {"lsqnonlin", "gpu.optimize.least_squares(f, x0)"},
    {"lstsq", "gpu.linalg.lstsq(a, b)"},
    {"mT", "x:swapaxes(-2, -1)"}, {"malloc", "gpu.empty(count, dtype)"}, {"manual_seed", "gpu.random.seed(n)"},
    {"map", "gpu.vectorize(f), for a Lua function of the elements"}, {"masked_fill", "gpu.where(mask, value, x)"},
    {"masked_fill_", "x[mask] = value"}, {"masked_select", "x[mask]"},
    {"matrix_power", "gpu.linalg.matrix_power(a, power)"}, {"matrix_rank", "gpu.linalg.matrix_rank(a)"},
    {"matrix_transpose", "gpu.linalg.matrix_transpose(x)"}, {"medfilt", "gpu.signal.medfilt(x)"},
    {"mem_alloc", "gpu.empty(count, dtype)"}, {"mem_get_info", "gpu.memory()"},
    {"memcpy", "x:copy_(y), x:copy_from(host) or x:copy_to(host)"}, {"memcpy_dtoh", "x:copy_to(host)"},
    {"memcpy_htod", "x:copy_from(host)"}, {"memory_allocated", "gpu.memory()"},
    {"merge", "t:join(u, names), of a gpu.table"}, {"merge_asof", "t:join_asof(u, name), of a gpu.table"},
    {"mgrid", "gpu.meshgrid(x, y)"}, {"mldivide", "gpu.linalg.solve(a, b)"}, {"mm", "gpu.matmul(a, b)"},
    {"msort", "gpu.sort(x, 1)"}, {"multi_dot", "gpu.linalg.multi_dot(arrays)"},
    {"multivariate_normal", "gpu.random.multivariate_normal(shape, mean, covariance)"}, {"nan", "0/0"},
    {"ndarray", "gpu.empty(shape, dtype)"}, {"ndim", "x.ndim"},
    {"ndimage.max", "gpu.ndimage.maximum(x, labels, index)"},
    {"ndimage.mean_filter", "gpu.ndimage.uniform_filter(x, size)"},
    {"ndimage.min", "gpu.ndimage.minimum(x, labels, index)"}, {"ndimage.resize", "gpu.ndimage.zoom(x, factor)"},
    {"ndimage.sum", "gpu.ndimage.sum_labels(x, labels, index)"}, {"ndtr", "gpu.normcdf(x)"},
    {"ndtri", "gpu.normcdfinv(x)"}, {"neg", "gpu.negative(x)"}, {"new", "gpu.empty(shape, dtype)"},
    {"newton", "gpu.optimize.root_scalar(f, {x0 = x})"}, {"no_grad", "x:detach()"}, {"norm.cdf", "gpu.normcdf(x)"},
    {"norm.ppf", "gpu.normcdfinv(p)"}, {"norm_cdf", "gpu.normcdf(x)"}, {"norm_inv", "gpu.normcdfinv(p)"},
    {"norm_ppf", "gpu.normcdfinv(p)"}, {"normal", "gpu.random.normal(shape, mean, deviation)"},
    {"norminv", "gpu.normcdfinv(p)"}, {"normppf", "gpu.normcdfinv(p)"}, {"normsinv", "gpu.normcdfinv(p)"},
    {"not_equal", "gpu.ne(x, y)"}, {"notna", "gpu.isnan(x):logical_not()"}, {"notnull", "gpu.isnan(x):logical_not()"},
    {"null_space", "gpu.linalg.null_space(a)"}, {"numel", "x.size"}, {"numpy", "x:host() or x:table()"},
    {"nunique", "#gpu.unique(x)"}, {"nvtx", "gpu.annotate(name, fn, ...)"}, {"ode45", "gpu.integrate.solve_ivp(f, {t0, t1}, y0)"},
    {"odeint", "gpu.integrate.solve_ivp(f, {t0, t1}, y0)"},
    {"ogrid", "gpu.meshgrid(x, y)"}, {"one_hot", "labels:expand_dims(2):eq(gpu.range(1, classes))"},
    {"optimize.approx_fprime", "gpu.grad(f)(x)"},
    {"optimize.basinhopping", "gpu.optimize.minimize(f, x0) from several x0: searches are local here"},
    {"optimize.brent", "gpu.optimize.minimize_scalar(f, {bounds = {a, b}})"},
    {"optimize.brenth", "gpu.optimize.root_scalar(f, {bracket = {a, b}})"},
    {"optimize.broyden1", "gpu.optimize.least_squares(f, x0)"},
    {"optimize.differential_evolution", "gpu.optimize.minimize(f, x0) from several x0: searches are local here"},
    {"optimize.fmin", "gpu.optimize.minimize(f, x0, {method = \"Nelder-Mead\"})"},
    {"optimize.fmin_bfgs", "gpu.optimize.minimize(f, x0, {method = \"BFGS\"})"},
    {"optimize.fmin_cg", "gpu.optimize.minimize(f, x0)"},
    {"optimize.fmin_l_bfgs_b", "gpu.optimize.minimize(f, x0, {method = \"L-BFGS-B\"})"},
    {"optimize.fmin_ncg", "gpu.optimize.minimize(f, x0, {method = \"Newton-CG\"})"},
    {"optimize.fmin_powell", "gpu.optimize.minimize(f, x0, {method = \"Nelder-Mead\"})"},
    {"optimize.linear_sum_assignment", "SciPy in Python, with x:host(): assignments are missing here"},
    {"optimize.linprog", "SciPy in Python, with x:host(): linear programs are missing here"}, {"optimize.milp", "SciPy in Python, with x:host(): linear programs are missing here"},
    {"optimize.nnls", "gpu.optimize.least_squares(function(x) return A:matmul(x) - b end, x0, {bounds = {low = 0}})"},
    {"optimize.ridder", "gpu.optimize.root_scalar(f, {bracket = {a, b}})"},
    {"pagelocked_empty", "gpu.pinned(shape, dtype)"},
    {"pca", "gpu.linalg.svd(x - x:mean(1), {full_matrices = false}), whose V' has the principal axes as rows"},
    {"pcolormesh", "gpu.plot.image(m)"},
    {"perf_counter", "gpu.clock()"}, {"permute_dims", "x:permute(axes)"}, {"pi", "math.pi"},
    {"pinned_array", "gpu.pinned(shape, dtype)"}, {"pinv", "gpu.linalg.pinv(a)"},
    {"pivot_table", "t:pivot(rows, column, values), of a gpu.table"}, {"place", "x[mask] = values"},
    {"plot.arrow", "gpu.plot.annotate(text, x, y, {at = {x, y}})"},
    {"plot.axis", "the option aspect = \"equal\", or xlim and ylim"}, {"plot.bar", "gpu.plot.bars(names, heights)"},
    {"plot.figure", "gpu.plot.line(x, y), which gives a chart"},
    {"plot.legend", "the option label: gpu.plot.line(x, y, {label = text})"}, {"plot.plot", "gpu.plot.line(x, y)"},
    {"plot.quiver", "gpu.plot.line of each arrow, as in gpu.plot.line(gpu.array {x, x + u}, gpu.array {y, y + v}): there is no field of arrows"},
    {"plot.savefig", "p:save(path) of a chart"}, {"plot.scatter", "gpu.plot.points(x, y)"},
    {"plot.subplot", "gpu.plot.grid(charts)"}, {"plot.text", "gpu.plot.annotate(text, x, y)"},
    {"plot.title", "the option title: gpu.plot.line(x, y, {title = text})"},
    {"plot.xlabel", "the option xlabel: gpu.plot.line(x, y, {xlabel = text})"},
    {"plot.xlim", "the option xlim: gpu.plot.line(x, y, {xlim = {low, high}})"},
    {"plot.xscale", "the option log = \"x\""},
    {"plot.ylabel", "the option ylabel: gpu.plot.line(x, y, {ylabel = text})"},
    {"plot.ylim", "the option ylim: gpu.plot.line(x, y, {ylim = {low, high}})"},
    {"plot.yscale", "the option log = \"y\""}, {"plot_surface", "gpu.plot.surface(x, y, m)"},
    {"poly1d", "gpu.polyval(coefficients, x)"}, {"ppf", "gpu.normcdfinv(p), of the normal distribution"},
    {"prepared_call", "kernel {grid = blocks, block = threads}(arguments)"}, {"psi", "gpu.digamma(x)"},
    {"ptr", "x.pointer"}, {"push", "gpu.concat({x, y})"}, {"putmask", "x[mask] = values"}, {"qr", "gpu.linalg.qr(a)"},
    {"quad", "gpu.integrate.quad(f, a, b)"}, {"r_", "gpu.concat({x, y})"}, {"rand_like", "gpu.rand(x.shape)"},
    {"randint", "gpu.random.integers(shape, low, high)"}, {"randn_like", "gpu.randn(x.shape)"},
    {"random.get_state", "gpu.random.state()"}, {"random_sample", "gpu.rand(shape)"},
    {"randperm", "gpu.random.permutation(n)"}, {"rank", "x.ndim"}, {"rankdata", "gpu.stats.rankdata(x)"},
    {"read_csv", "gpu.load(\"name.csv\")"}, {"read_hdf", "gpu.load(\"name.h5\")"},
    {"read_parquet", "gpu.load(\"name.csv\"), or gpu.from_arrow(schema, array); gpulua reads no Parquet files"},
    {"regionprops", "gpu.ndimage.sum_labels(x, labels, index), center_of_mass, and find_objects(labels) for the boxes"},
    {"relu", "gpu.maximum(x, 0)"}, {"repeat_", "gpu.repeat_interleave(x, n)"}, {"repmat", "gpu.tile(x, m, n)"},
    {"requires_grad", "gpu.grad(f)(x)"}, {"requires_grad_", "gpu.grad(f)(x)"},
    {"resample", "gpu.signal.resample(x, count); of a gpu.table t.month = t.day:floor(\"month\") and t:group_by(\"month\")"},
    {"reverse", "x:flip(1)"}, {"rfft", "gpu.fft.rfft(x)"}, {"rollaxis", "x:moveaxis(from, to)"},
    {"row_stack", "gpu.vstack(list)"}, {"same", "gpu.array_equal(x, y)"},
    {"save_npz", "gpu.save(\"name.npz\", {name = x})"}, {"savez", "gpu.save(\"name.npz\", {name = x})"},
    {"savgol_filter", "gpu.signal.savgol_filter(x, length, degree)"},
    {"scan", "gpu.loop(n, f, x), which carries arrays from step to step, or gpu.cumsum(x)"},
    {"scatter", "gpu.plot.points(x, y), or x:put(indices, values)"},
    {"scatter_", "x:put_along_axis(indices, values, axis)"}, {"scatter_add_", "x:scatter_add(indices, values)"},
    {"seed", "gpu.random.seed(n)"}, {"sem", "gpu.stats.sem(x)"}, {"set", "x:copy_(values)"},
    {"set_default_dtype", "gpu.default_dtype(\"float64\")"}, {"set_device", "gpu.device(name)"},
    {"set_printoptions", "gpu.print_options{precision = 3}"}, {"setdiff", "gpu.setdiff1d(x, y)"}, {"shape", "x.shape"},
    {"shuffle", "gpu.random.shuffle_(x)"}, {"signal.argrelextrema", "gpu.signal.argrelmax(x) or gpu.signal.argrelmin(x)"},
    {"signal.cwt", "gpu.stft(x): there are no wavelets"},
    {"signal.find_peaks_cwt", "gpu.signal.find_peaks(x): there are no wavelets"},
    {"signal.iirfilter", "gpu.signal.butter(order, frequencies), cheby1, cheby2 or ellip"},
    {"silu", "x * gpu.sigmoid(x)"}, {"simps", "gpu.simpson(y, spacing)"},
    {"size", "x.size, or #x for the first axis"}, {"skew", "gpu.stats.skew(x)"},
    {"slogdet", "gpu.linalg.slogdet(a)"}, {"sobol", "gpu.random.sobol(n, d)"}, {"softplus", "gpu.logaddexp(x, 0)"},
    {"solve", "gpu.linalg.solve(a, b)"}, {"solve_ivp", "gpu.integrate.solve_ivp(f, {t0, t1}, y0)"},
    {"sort_values", "gpu.sort(x)"},
    {"sparse.linalg.eigs", "gpu.linalg.eig(A:todense()); eigsh takes symmetric matrices"},
    {"sparse.linalg.inv", "gpu.sparse.linalg.splu(A), which solves, or gpu.linalg.inv(A:todense())"},
    {"sparse.rand", "gpu.sparse.random(rows, columns, density)"},
    {"sparse.save_npz", "gpu.save(\"name.npz\", {data = A.data, indices = A.indices, indptr = A.indptr})"},
    {"spdiags", "gpu.sparse.diags(diagonals, offsets, shape)"}, {"special", "gpu.erf(x), gpu.gamma(x), gpu.j0(x)"},
    {"speye", "gpu.sparse.eye(n)"}, {"standard_cauchy", "gpu.random.standard_cauchy(shape)"},
    {"standard_exponential", "gpu.random.standard_exponential(shape)"},
    {"standard_gamma", "gpu.random.standard_gamma(shape, k)"}, {"standard_normal", "gpu.randn(shape)"},
    {"stats.bartlett", "gpu.var(x) / gpu.var(y): gpu.stats has no test of equal variances"},
    {"stats.beta", "gpu.betainc(a, b, x), its distribution function, and gpu.random.beta(shape, a, b)"},
    {"stats.binom", "gpu.random.binomial(shape, count, p)"},
    {"stats.chi2", "gpu.gammainc(k / 2, x / 2), its distribution function, and 2 * gpu.gammaincinv(k / 2, p), its quantile"},
    {"stats.describe", "gpu.mean(x), gpu.var(x), gpu.stats.skew(x) and gpu.stats.kurtosis(x)"},
    {"stats.expon", "gpu.random.exponential(shape, scale); 1 - gpu.exp(-x / scale) is its distribution function"},
    {"stats.gamma", "gpu.gammainc(k, x / scale), its distribution function, and gpu.random.gamma(shape, k, scale)"},
    {"stats.gaussian_kde", "gpu.histogram(x)"}, {"stats.mode", "gpu.unique(x, {return_counts = true})"},
    {"stats.norm", "gpu.normcdf(x), gpu.normcdfinv(p), and gpu.random.normal(shape, mean, deviation)"},
    {"stats.norm_cdf", "gpu.normcdf(x)"}, {"stats.norm_ppf", "gpu.normcdfinv(p)"},
    {"stats.percentileofscore", "gpu.mean(x:le(score)) * 100"}, {"stats.poisson", "gpu.random.poisson(shape, mean)"},
    {"stats.skewtest", "gpu.stats.skew(x): gpu.stats has no test of it"},
    {"stats.t", "gpu.betainc(k / 2, 0.5, k / (k + t * t)), the probability of both its tails; gpu.betaincinv(k / 2, 0.5, 2 * (1 - p)) gives its quantiles, as the reference shows beside gpu.stats"},
    {"stats.tmean", "gpu.mean(x), or gpu.stats.trim_mean(x, part)"},
    {"stats.ttest_rel", "gpu.stats.ttest_1samp(x - y, 0)"}, {"stats.uniform", "gpu.random.uniform(shape, low, high)"},
    {"stdev", "gpu.std(x)"}, {"subplots", "gpu.plot.grid(charts)"}, {"surf", "gpu.plot.surface(x, y, m)"},
    {"svd", "gpu.linalg.svd(a)"}, {"swish", "x * gpu.sigmoid(x)"},
    {"synchronize", "gpu.sync(), or s:sync() of a stream"}, {"syncthreads", "gpu.barrier(), in a kernel of gpu.jit"},
    {"t", "x.T"}, {"tail", "x({-n, -1})"}, {"tensor", "gpu.array(values)"},
    {"threadIdx", "gpu.thread(), in a kernel of gpu.jit"}, {"time_range", "gpu.annotate(name, fn, ...)"}, {"time_since", "first:elapsed(last) of events"},
    {"time_till", "first:elapsed(last) of events"}, {"timedelta", "gpu.durations(texts)"}, {"timedelta64", "gpu.durations(texts)"},
    {"timeit", "gpu.benchmark(f)"}, {"timeline", "gpu.profiler.trace(path, fn, ...)"}, {"to_csv", "gpu.save(\"name.csv\", t)"}, {"to_datetime", "gpu.dates(texts)"},
    {"to_device", "gpu.array(values)"}, {"to_gpu", "gpu.array(values)"}, {"to_numpy", "x:host() or x:table()"},
    {"to_table", "x:table()"}, {"to_timedelta", "gpu.durations(texts)"}, {"tobytes", "x:host()"},
    {"toeplitz", "gpu.linalg.toeplitz(column)"}, {"tolist", "x:table()"}, {"tonumber", "x:item()"},
    {"totable", "x:table()"}, {"trapz", "gpu.trapezoid(y, spacing)"},
    {"twinx", "the option axis = \"right\" of a layer"}, {"type", "x.dtype"},
    {"uniform", "gpu.random.uniform(shape, low, high)"}, {"union", "gpu.union1d(x, y)"}, {"unm", "-x"},
    {"unsqueeze", "x:expand_dims(axis)"}, {"value", "x:item()"},
    {"value_counts", "gpu.unique(x, {return_counts = true}), or t:group_by(name):count() of a gpu.table"},
    {"values", "a second variable: local values, positions = x:topk(k)"}, {"variance", "gpu.var(x)"},
    {"vmap", "gpu.vectorize(f) for a Lua function of the elements; functions of arrays take a batch as the first axis"},
    {"vsplit", "gpu.split(x, n, 1)"}, {"wait_event", "s:wait(e) of a stream"}, {"while_loop", "gpu.loop_while(f, x)"},
    {"windows", "gpu.hann(n), gpu.hamming(n), gpu.blackman(n)"}, {"wireframe", "gpu.plot.surface(x, y, m)"},
    {"x:at", "x[i] = value, which sets elements in place; x = x:copy() before keeps the old ones"},
    {"x:col", "x(\":\", j)"}, {"x:cols", "x.shape[2]"}, {"x:column", "x(\":\", j)"}, {"x:columns", "x.shape[2]"},
    {"x:corr", "gpu.corrcoef(x, y)(1, 2), or x:rolling(n):corr(y) in windows"},
    {"x:day", "gpu.dates(x, {format = \"%Y%m%d\"}) of integers such as 20240102, which has it"},
    {"x:fun", "the second of the results: local x, info = gpu.optimize.minimize(f, x0) gives x and info.value"},
    {"x:group_by", "t.name = x, a column of a table, and t:group_by(names):mean(\"name\")"},
    {"x:lower", "t:values(name) of a gpu.table, string.lower of each text, and t.name = the list"},
    {"x:mode", "gpu.unique(x, {return_counts = true})"},
    {"x:month", "gpu.dates(x, {format = \"%Y%m%d\"}) of integers such as 20240102, which has it"},
    {"x:nit", "info.iterations, of local x, info = gpu.optimize.minimize(f, x0)"}, {"x:nlargest", "x:topk(n)"},
    {"x:normal_", "x:copy_(gpu.random.normal(x.shape))"}, {"x:nsmallest", "x:sort()({1, n})"},
    {"x:plot", "gpu.plot.line(x)"}, {"x:print", "print(x)"},
    {"x:rank", "gpu.stats.rankdata(x), or x.ndim for the number of axes"},
    {"x:rep", "gpu.tile(x, n), or x:repeat_interleave(n)"}, {"x:row", "x[i]"}, {"x:rows", "x.shape[1]"},
    {"x:slope", "the first of the results: local slope, intercept = gpu.stats.linregress(x, y)"},
    {"x:success", "info.converged, of local x, info = gpu.optimize.minimize(f, x0)"},
    {"x:t", "x.T; of local y, info = gpu.integrate.solve_ivp(f, {t0, t1}, y0), t_eval or info.t"},
    {"x:to_frame", "gpu.table{name = x}"}, {"x:uniform_", "x:copy_(gpu.random.uniform(x.shape))"},
    {"x:upper", "t:values(name) of a gpu.table, string.upper of each text, and t.name = the list"},
    {"x:values", "x:table(), or x:host()"},
    {"x:view", "x:reshape(sizes) for another shape, x:astype(dtype) for another dtype"},
    {"x:weekday", "gpu.dates(x, {format = \"%Y%m%d\"}) of integers such as 20240102, which has it"},
    {"x:x", "the first result itself: local x, info = gpu.optimize.minimize(f, x0) gives x and info.value"},
    {"x:y", "the first result itself: local y, info = gpu.integrate.solve_ivp(f, {t0, t1}, y0) gives y and info.t"},
    {"x:year", "gpu.dates(x, {format = \"%Y%m%d\"}) of integers such as 20240102, which has it"},
    {"zero", "gpu.zeros(shape)"}, {"zero_", "x:fill_(0)"}, {"zscore", "gpu.stats.zscore(x)"},
    // clang-format on
};

static_assert(std::ranges::is_sorted(rows, {}, &NameRow::name));

/// The first line for whose name, up to its parameters, `fits` is true.
template <class Fits>
std::string_view find_line(Fits fits) {
  std::string_view text = library_file("signatures.txt");
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (fits(line.substr(0, line.find_first_of("({")))) return line;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

std::string shortened(std::string_view line) {
  const std::size_t options = line.find(" [, {");
  return options == line.npos ? std::string(line) : std::string(line.substr(0, options)) + ")";
}

}  // namespace

std::string_view name_elsewhere(std::string_view name) {
  const std::string_view here = here_of(rows, name);
  return here.empty() ? name_of_subject(name) : here;
}

std::string call_of(const std::string& op) {
  const std::string name = op.find(':') == op.npos ? "gpu." + op : op;
  return shortened(find_line([&](std::string_view function) { return function == name; }));
}

std::string about_call(const std::string& op) {
  const std::string call = call_of(op);
  return call.empty() ? call : "; the call is " + call;
}

bool takes_several(const std::string& op) {
  const std::string call = call_of(op);
  return call.substr(0, call.find(" [")).find(", ") != call.npos;
}

std::string instead_of_sparse(std::string_view op) {
  constexpr std::string_view solvers = "sparse.linalg.";
  if (op.starts_with(solvers)) return "the matrix comes first: " + call_of(std::string(op));
  const std::string method = "A:" + std::string(op.substr(op.rfind('.') + 1));
  const std::string_view other = name_elsewhere(method);
  const std::string call = other.empty() ? call_of(method) : std::string(other);
  return (call.empty() ? "" : "use " + call + "; ") + "A:todense() gives an array";
}

std::vector<std::string> arguments_of(const std::string& op) {
  const std::string call = call_of(op);
  std::string_view text = call;
  text.remove_prefix(std::min(text.find_first_of("({"), text.size()));
  text = text.substr(0, text.find('{'));
  constexpr std::string_view between = "()[], .";
  std::vector<std::string> names;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(between), text.size()));
    if (text.empty()) return names;
    const std::size_t end = std::min(text.find_first_of(between), text.size());
    names.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::string call_in_a_part(std::string_view name) {
  const std::string end = "." + std::string(name);
  return shortened(find_line([&](std::string_view function) {
    return function.starts_with("gpu.") && function.ends_with(end) && function.size() > end.size() + 3;
  }));
}

std::string call_in_gpu(const std::string& name) {
  const std::string own = call_of(name);
  return own.empty() ? call_in_a_part(name) : own;
}

}  // namespace gpulua
