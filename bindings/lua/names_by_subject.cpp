#include "bindings/lua/names_elsewhere.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string>

namespace gpulua {

namespace {

/// Sorted by name; A: are methods of sparse matrices. A test reads the table: no name may exist here, and each function
/// in an equivalent must exist.
constexpr NameRow subject_rows[] = {
    // clang-format off
    {"A:H", "A.T:conj()"}, {"A:cast", "A:astype(dtype)"}, {"A:cholesky", "gpu.sparse.linalg.splu(A)"}, {"A:dense", "A:todense()"},
    {"A:det", "gpu.linalg.det(A:todense())"}, {"A:dot", "A:matmul(x)"}, {"A:eig", "gpu.linalg.eig(A:todense())"}, {"A:eigh", "gpu.sparse.linalg.eigsh(A, k)"},
    {"A:eigvalsh", "gpu.sparse.linalg.eigsh(A, k, {vectors = false})"}, {"A:inv", "gpu.sparse.linalg.splu(A), which solves"},
    {"A:item", "A[{i, j}], an element, or A:todense():item() of a matrix of one"}, {"A:lstsq", "gpu.sparse.linalg.lsqr(A, b)"},
    {"A:lu", "gpu.sparse.linalg.splu(A)"}, {"A:nonzero", "A:tocoo(), whose row, col and data they are"}, {"A:numpy", "A:todense():table()"},
    {"A:pow", "A:power(exponent)"}, {"A:print", "print(A:todense())"}, {"A:save", "gpu.save(path, {data = A.data, indices = A.indices, indptr = A.indptr}) of a matrix in csr"},
    {"A:size", "A.nnz, the number of stored elements, or A.shape"}, {"A:solve", "gpu.sparse.linalg.spsolve(A, b)"}, {"A:svd", "gpu.sparse.linalg.svds(A, k)"},
    {"A:t", "A.T"}, {"A:to_dense", "A:todense()"},
    {"Tensor", "gpu.array(values)"}, {"acf", "gpu.correlate(x - x:mean(), x - x:mean(), \"full\")"},
    {"akima", "gpu.cubic_spline(x, y), or gpu.interp(x, xp, fp), which does not overshoot"}, {"autocorr", "gpu.corrcoef(x({1, -2}), x(\"2:\"))(1, 2), at a lag of 1"},
    {"bandpass", "gpu.signal.butter(order, {low, high}, \"bandpass\")"}, {"bfgs", "gpu.optimize.minimize(f, x0, {method = \"BFGS\"})"},
    {"brownian", "gpu.random.normal({paths, steps}):cumsum(2) * math.sqrt(dt)"}, {"bs", "a formula with gpu.normcdf(x)"}, {"canny", "gpu.ndimage.sobel(x), and x:gt(level)"},
    {"cast", "x:astype(dtype)"}, {"cdf", "gpu.normcdf(x), of the normal distribution"}, {"collect", "collectgarbage(), and gpu.trim()"},
    {"comb", "gpu.exp(gpu.lgamma(n + 1) - gpu.lgamma(k + 1) - gpu.lgamma(n - k + 1))"}, {"comm.COMM_WORLD", "gpu.comm.rank and gpu.comm.size"},
    {"comm.allgather", "gpu.comm.all_gather(x)"}, {"comm.allreduce", "gpu.comm.all_reduce(x, operation)"}, {"comm.bcast", "gpu.comm.broadcast_(x [, root])"},
    {"comm.finalize", "nothing: the ranks part where the script ends"}, {"comm.init", "nothing: the first call connects the ranks, which gpulua --ranks 4 script.lua starts"},
    {"comm.irecv", "gpu.comm.recv_(x, from)"}, {"comm.isend", "gpu.comm.send(x, to)"}, {"comm.sendrecv", "gpu.comm.exchange(x, to, y, from)"},
    {"comm.spawn", "gpulua --ranks 4 script.lua, which starts the ranks"}, {"comm.world", "gpu.comm.rank and gpu.comm.size"}, {"contains", "x:eq(value):any()"},
    {"countif", "x:gt(value):sum()"}, {"csv", "gpu.load(\"name.csv\") and gpu.save(\"name.csv\", t)"}, {"cumret", "(1 + r):cumprod() - 1"},
    {"cumulative_returns", "(1 + r):cumprod() - 1"}, {"default_device", "gpu.device(name)"}, {"demean", "x - x:mean()"}, {"determinant", "gpu.linalg.det(a)"},
    {"device_name", "gpu.device().name"}, {"downsample", "gpu.signal.decimate(x, factor)"}, {"drawdown", "x / x:cummax() - 1, whose least value is the greatest drawdown"},
    {"eigenvalues", "gpu.linalg.eigvals(a), or gpu.linalg.eigvalsh(a) of a symmetric matrix"}, {"eigenvectors", "gpu.linalg.eig(a), or gpu.linalg.eigh(a) of a symmetric matrix"},
    {"ema", "x:ewm({span = n}):mean()"}, {"end", "x[-1], the last element, or x(\"2:\") to the end"}, {"envelope", "gpu.abs(gpu.signal.hilbert(x))"},
    {"factorial", "gpu.exp(gpu.lgamma(n + 1))"}, {"fft.freq", "gpu.fft.fftfreq(n, spacing)"}, {"figure", "gpu.plot.line(x, y), which gives a chart"},
    {"first", "x[1], or x({1, n})"}, {"fit", "gpu.polyfit(x, y, degree), gpu.linalg.lstsq(a, b), or gpu.optimize.curve_fit(f, x, y, p0)"},
    {"gaussian_kde", "gpu.histogram(x, bins): densities by kernels are missing here"}, {"gbm", "gpu.exp of gpu.random.normal({paths, steps}):cumsum(2), with its drift"},
    {"gc", "collectgarbage(), and gpu.trim()"}, {"gpu.annualize", "r:mean() * 252 and r:std() * math.sqrt(252)"},
    {"gpu.arima", "gpu.signal.lfilter(b, a, x) and gpu.optimize.minimize(f, x0): there are no models of series"}, {"gpu.axis", "the options xlim and ylim of gpu.plot.line"},
    {"gpu.bar", "gpu.plot.bars(names, values)"}, {"gpu.filter", "gpu.signal.lfilter(b, a, x), or x[mask] for elements"},
    {"gpu.garch", "gpu.optimize.minimize(f, x0) of its likelihood, with gpu.loop(n, f, x) or x:ewm({alpha = a}):var(): there are no models of series"},
    {"gpu.gaussian", "gpu.ndimage.gaussian_filter(x, sigma), or gpu.random.normal(shape)"}, {"gpu.heston", "gpu.loop(n, f, x), a step of all paths each"},
    {"gpu.hist2d", "gpu.histogram2d(x, y)"}, {"gpu.kalman", "gpu.loop(n, f, x), a step each: there are no models of series"},
    {"gpu.knn", "(x(\":\", gpu.newaxis) - y):square():sum(3):argmin(2), a formula: there are no models"}, {"gpu.legend", "the option label of gpu.plot.line"},
    {"gpu.notch", "gpu.signal.iirnotch(w0, Q)"}, {"gpu.perm", "x:take(gpu.random.permutation(n)), or gpu.exp(gpu.lgamma(n + 1) - gpu.lgamma(n - k + 1)) for their number"},
    {"gpu.predict", "a formula of what gpu.polyfit, gpu.linalg.lstsq or gpu.optimize.curve_fit has given"}, {"gpu.read_excel", "gpu.load(\"name.csv\") of a sheet saved as CSV"},
    {"gpu.score", "1 - gpu.sum((y - fitted) ^ 2) / gpu.sum((y - y:mean()) ^ 2), a formula"}, {"gpu.subplot", "gpu.plot.grid(charts)"},
    {"gpu.svm", "gpu.optimize.minimize(f, x0) of its loss: there are no models"}, {"gpu.title", "the option title of gpu.plot.line"},
    {"gpu.train_test_split", "x:take(gpu.random.permutation(n)), and parts of it"}, {"gpu.ttest", "gpu.stats.ttest_ind(x, y), or gpu.stats.ttest_1samp(x, mean)"},
    {"gpu.var_historical", "gpu.quantile(r, 0.05)"}, {"gpu.xlabel", "the options xlabel and ylabel of gpu.plot.line"},
    {"gradient_descent", "gpu.optimize.sgd(params), or gpu.optimize.minimize(f, x0)"}, {"highpass", "gpu.signal.butter(order, frequency, \"highpass\")"},
    {"info", "x.shape, x.dtype and x.device; print(x) shows elements"}, {"integrate.euler", "gpu.integrate.solve_ivp(f, {t0, t1}, y0)"},
    {"integrate.gauss", "gpu.integrate.fixed_quad(f, a, b)"}, {"integrate.rk45", "gpu.integrate.solve_ivp(f, {t0, t1}, y0)"},
    {"integrate.sde", "gpu.loop(n, f, x), a step of Euler and Maruyama each"}, {"integrate.solve_sde", "gpu.loop(n, f, x), a step of Euler and Maruyama each"},
    {"interp2d", "gpu.ndimage.map_coordinates(x, coordinates)"}, {"is_cuda", "x.device"}, {"iter", "for i, v in ipairs(x:table())"},
    {"json", "gpu.save(path, t) and gpu.load(path) of other formats: JSON is missing here"}, {"kde", "gpu.histogram(x, bins): densities by kernels are missing here"},
    {"lag", "x:shift(n)"}, {"lambdify", "gpu.vectorize(f)"}, {"last", "x[-1], or x({-n, -1})"}, {"lbfgs", "gpu.optimize.minimize(f, x0, {method = \"L-BFGS-B\"})"},
    {"lead", "x:shift(-n)"}, {"linalg.hessenberg", "gpu.linalg.eig(a): Hessenberg's form is missing here"}, {"linalg.ldl", "gpu.linalg.cholesky(a), or gpu.linalg.lu_factor(a)"},
    {"linalg.null", "gpu.linalg.null_space(a)"}, {"linalg.nullspace", "gpu.linalg.null_space(a)"}, {"linalg.schur", "gpu.linalg.eig(a): Schur's form is missing here"},
    {"linalg.tridiagonal", "gpu.linalg.solve_banded({1, 1}, bands, b)"}, {"linear_regression", "gpu.stats.linregress(x, y), or gpu.linalg.lstsq(a, y) of several variables"},
    {"log_returns", "gpu.log(x):diff()"}, {"lowpass", "gpu.signal.butter(order, frequency)"}, {"macd", "x:ewm({span = 12}):mean() - x:ewm({span = 26}):mean()"},
    {"max_drawdown", "(x / x:cummax() - 1):min()"}, {"measure", "gpu.benchmark(f)"}, {"memory_info", "gpu.memory()"}, {"mode", "gpu.unique(x, {return_counts = true})"},
    {"monte_carlo", "gpu.random.normal(shape) for all paths at once, and gpu.mean(x)"}, {"ndimage.affine", "gpu.ndimage.affine_transform(x, matrix)"},
    {"ndimage.bilateral", "gpu.ndimage.median_filter(x, size): filters that keep edges are missing but for it"}, {"ndimage.blur", "gpu.ndimage.gaussian_filter(x, sigma)"},
    {"ndimage.box_filter", "gpu.ndimage.uniform_filter(x, size)"}, {"ndimage.closing", "gpu.ndimage.binary_closing(x), or gpu.ndimage.grey_closing(x)"},
    {"ndimage.crop", "x({first, last}, {first, last})"}, {"ndimage.dilate", "gpu.ndimage.binary_dilation(x), or gpu.ndimage.grey_dilation(x)"},
    {"ndimage.dilation", "gpu.ndimage.binary_dilation(x), or gpu.ndimage.grey_dilation(x)"}, {"ndimage.edges", "gpu.ndimage.sobel(x)"},
    {"ndimage.erode", "gpu.ndimage.binary_erosion(x), or gpu.ndimage.grey_erosion(x)"}, {"ndimage.erosion", "gpu.ndimage.binary_erosion(x), or gpu.ndimage.grey_erosion(x)"},
    {"ndimage.filter", "gpu.ndimage.convolve(x, weights)"}, {"ndimage.gaussian", "gpu.ndimage.gaussian_filter(x, sigma)"},
    {"ndimage.opening", "gpu.ndimage.binary_opening(x), or gpu.ndimage.grey_opening(x)"}, {"ndimage.otsu", "x:gt(level), with a level from gpu.histogram(x)"},
    {"ndimage.rescale", "gpu.ndimage.zoom(x, factor)"}, {"ndimage.threshold", "x:gt(level)"}, {"ndimage.warp", "gpu.ndimage.map_coordinates(x, coordinates)"},
    {"nelder_mead", "gpu.optimize.minimize(f, x0, {method = \"Nelder-Mead\"})"}, {"nelement", "x.size"}, {"newton_cg", "gpu.optimize.minimize(f, x0, {method = \"Newton-CG\"})"},
    {"njit", "gpu.vectorize(f), or gpu.jit(f) for a kernel"}, {"norm_pdf", "gpu.exp(-x ^ 2 / 2) / math.sqrt(2 * math.pi)"}, {"normalize", "x / x:norm(), or gpu.stats.zscore(x)"},
    {"normpdf", "gpu.exp(-x ^ 2 / 2) / math.sqrt(2 * math.pi)"}, {"now", "gpu.dates({os.date \"!%Y-%m-%d %H:%M:%S\"})"},
    {"ols", "gpu.stats.linregress(x, y), or gpu.linalg.lstsq(a, y) of several variables"},
    {"optimize.dual_annealing", "gpu.optimize.minimize(f, x0) from several x0: searches are local here"},
    {"optimize.fixed_point", "gpu.optimize.root_scalar(f, {x0 = x}) of f(x) - x"}, {"optimize.genetic", "gpu.optimize.minimize(f, x0) from several x0: searches are local here"},
    {"optimize.golden", "gpu.optimize.minimize_scalar(f, {bounds = {a, b}})"}, {"optimize.line_search", "gpu.optimize.minimize(f, x0), which has one"},
    {"optimize.lsq_linear", "gpu.linalg.lstsq(a, b), or gpu.optimize.least_squares(f, x0, {bounds = {low, high}})"},
    {"optimize.powell", "gpu.optimize.minimize(f, x0, {method = \"Nelder-Mead\"})"}, {"optimize.pso", "gpu.optimize.minimize(f, x0) from several x0: searches are local here"},
    {"optimize.qp", "SciPy in Python, with x:host(): quadratic programs are missing here"},
    {"optimize.quadprog", "SciPy in Python, with x:host(): quadratic programs are missing here"},
    {"optimize.shgo", "gpu.optimize.minimize(f, x0) from several x0: searches are local here"}, {"optimize.simplex", "gpu.optimize.minimize(f, x0, {method = \"Nelder-Mead\"})"},
    {"pchip", "gpu.cubic_spline(x, y), or gpu.interp(x, xp, fp), which does not overshoot"}, {"pdf", "gpu.exp(-x ^ 2 / 2) / math.sqrt(2 * math.pi), of the normal distribution"},
    {"peaks", "gpu.signal.find_peaks(x)"}, {"phase", "gpu.angle(x)"}, {"pickle", "gpu.save(path, t) and gpu.load(path)"}, {"plot.area", "gpu.plot.band(x, low, high)"},
    {"plot.candlestick", "gpu.plot.band(x, low, high), and a line of the closes in it"}, {"plot.clf", "nothing: gpu.plot.line(x, y) makes a new chart"},
    {"plot.close", "nothing: a chart is a value, which ends as values do"}, {"plot.density", "gpu.plot.histogram(x)"}, {"plot.gif", "gpu.plot.animate(path, frames, fn)"},
    {"plot.hist2d", "gpu.plot.image of gpu.histogram2d(x, y)"}, {"plot.hold", "nothing: p:line(x, y) adds a layer to a chart p"}, {"plot.kde", "gpu.plot.histogram(x)"},
    {"plot.loglog", "gpu.plot.line(x, y, {log = \"xy\"})"}, {"plot.mesh", "gpu.plot.surface(x, y, m)"}, {"plot.movie", "gpu.plot.animate(path, frames, fn)"},
    {"plot.ohlc", "gpu.plot.band(x, low, high), and a line of the closes in it"}, {"plot.pie", "gpu.plot.bars(names, values)"}, {"plot.plot3d", "gpu.plot.surface(x, y, m)"},
    {"plot.qqplot", "gpu.plot.points(gpu.normcdfinv(p), x:sort())"}, {"plot.scatter3d", "gpu.plot.points(x, y, {color = z})"},
    {"plot.semilogx", "gpu.plot.line(x, y, {log = \"x\"})"}, {"plot.semilogy", "gpu.plot.line(x, y, {log = \"y\"})"},
    {"plot.stackplot", "gpu.plot.band(x, low, high), one for each part"}, {"plot.stem", "gpu.plot.bars(x, y)"}, {"plot.step", "gpu.plot.line of gpu.repeat_interleave(x, 2)"},
    {"plot.streamplot", "gpu.plot.line of each line"}, {"plot.timeseries", "gpu.plot.line(t.date, t.price)"}, {"plot.violin", "gpu.plot.boxplot(values)"},
    {"plot.violinplot", "gpu.plot.boxplot(values)"}, {"pop", "x({1, -2}), a part: arrays keep their size"}, {"power_spectrum", "gpu.welch(x), or gpu.periodogram(x)"},
    {"print_table", "print(t)"}, {"psd", "gpu.welch(x), or gpu.periodogram(x)"}, {"random.RandomState", "gpu.random.generator(\"philox\", {seed = 1})"},
    {"random.antithetic", "gpu.concat({z, -z}) of z = gpu.random.normal(shape)"}, {"random.bootstrap", "x:take(gpu.random.integers({samples, n}, 1, n + 1))"},
    {"random.chi2", "gpu.random.chisquare(shape, freedom)"}, {"random.copula", "gpu.normcdf of gpu.random.multivariate_normal(shape, mean, covariance)"},
    {"random.correlated", "gpu.random.multivariate_normal(shape, mean, covariance)"}, {"random.latin", "gpu.random.sobol(n, d)"}, {"random.lhs", "gpu.random.sobol(n, d)"},
    {"random.mvnormal", "gpu.random.multivariate_normal(shape, mean, covariance)"}, {"random.sample", "gpu.random.choice(x, shape, {replace = false})"},
    {"random.student_t", "gpu.random.standard_t(shape, freedom)"}, {"regression", "gpu.stats.linregress(x, y), or gpu.linalg.lstsq(a, y) of several variables"},
    {"returns", "x:pct_change()"}, {"rk4", "gpu.integrate.solve_ivp(f, {t0, t1}, y0)"}, {"rolling_mean", "x:rolling(n):mean()"},
    {"rsi", "100 - 100 / (1 + up / down), of x:ewm({alpha = 1 / 14}):mean() of rises and falls"}, {"savgol", "gpu.signal.savgol_filter(x, length, degree)"},
    {"secant", "gpu.optimize.root_scalar(f, {x0 = a, x1 = b})"}, {"sharpe", "gpu.mean(r) / gpu.std(r) * math.sqrt(252)"},
    {"signal.bessel", "gpu.signal.butter(order, frequency): Bessel's filters are missing here"}, {"signal.bode", "gpu.signal.freqz(b, a)"},
    {"signal.butterworth", "gpu.signal.butter(order, frequency)"}, {"signal.filter", "gpu.signal.lfilter(b, a, x)"},
    {"signal.firls", "gpu.signal.firwin(count, cutoff): designs by least squares are missing here"}, {"signal.impulse", "gpu.signal.lfilter(b, a, x) of a unit impulse"},
    {"signal.notch", "gpu.signal.iirnotch(w0, Q)"}, {"signal.remez", "gpu.signal.firwin(count, cutoff): equiripple designs are missing here"},
    {"signal.savitzky_golay", "gpu.signal.savgol_filter(x, length, degree)"}, {"signal.step", "gpu.signal.lfilter(b, a, x) of gpu.ones(n)"}, {"slice", "x({first, last})"},
    {"sma", "x:rolling(n):mean()"}, {"sparse.bsr", "gpu.sparse.csr(x)"}, {"sparse.dok", "gpu.sparse.coo(rows, columns, values, shape)"}, {"sparse.from_dense", "gpu.sparse.csr(x)"},
    {"sparse.lil", "gpu.sparse.coo(rows, columns, values, shape)"}, {"spectrum", "gpu.welch(x), or gpu.periodogram(x)"}, {"spline", "gpu.cubic_spline(x, y)"},
    {"standardize", "gpu.stats.zscore(x)"}, {"stats.adfuller", "SciPy in Python, with x:host(): gpu.stats lacks this test"},
    {"stats.anderson", "SciPy in Python, with x:host(): gpu.stats lacks this test"}, {"stats.anova", "SciPy in Python, with x:host(): gpu.stats lacks this test"},
    {"stats.bootstrap", "x:take(gpu.random.integers({samples, n}, 1, n + 1)):mean(2)"}, {"stats.chi2_contingency", "SciPy in Python, with x:host(): gpu.stats lacks this test"},
    {"stats.f", "gpu.betaincinv(m / 2, n / 2, p), from which the quantile follows, as the reference shows beside gpu.stats"},
    {"stats.f_oneway", "SciPy in Python, with x:host(): gpu.stats lacks this test"}, {"stats.kendalltau", "gpu.stats.spearmanr(x, y): Kendall's is missing here"},
    {"stats.ks_2samp", "SciPy in Python, with x:host(): gpu.stats lacks this test"}, {"stats.kstest", "SciPy in Python, with x:host(): gpu.stats lacks this test"},
    {"stats.levene", "SciPy in Python, with x:host(): gpu.stats lacks this test"}, {"stats.mad", "gpu.median(gpu.abs(x - gpu.median(x)))"},
    {"stats.mannwhitneyu", "SciPy in Python, with x:host(): gpu.stats lacks this test"}, {"stats.median_abs_deviation", "gpu.median(gpu.abs(x - gpu.median(x)))"},
    {"stats.normaltest", "SciPy in Python, with x:host(): gpu.stats lacks this test"}, {"stats.permutation_test", "SciPy in Python, with x:host(): gpu.stats lacks this test"},
    {"stats.rvs", "gpu.random.normal(shape, mean, deviation)"}, {"stats.shapiro", "SciPy in Python, with x:host(): gpu.stats lacks this test"},
    {"stats.ttest", "gpu.stats.ttest_ind(x, y), or gpu.stats.ttest_1samp(x, mean)"}, {"stats.variation", "gpu.std(x) / gpu.mean(x)"},
    {"stats.wilcoxon", "SciPy in Python, with x:host(): gpu.stats lacks this test"}, {"sumif", "gpu.where(mask, x, 0):sum()"},
    {"tic", "local seconds = gpu.timer(), and seconds()"}, {"to_list", "x:table()"}, {"toc", "local seconds = gpu.timer(), and seconds()"},
    {"today", "gpu.dates({os.date \"!%Y-%m-%d\"})"}, {"tostring", "tostring(x)"}, {"upsample", "gpu.signal.resample_poly(x, up, down)"}, {"wait", "gpu.sync()"},
    {"weighted_mean", "gpu.average(x, weights)"}, {"winsorize", "x:clip(low, high) with gpu.quantile(x, {0.05, 0.95})"},
    {"x:Q", "the first of the results: local q, r = gpu.linalg.qr(a)"},
    {"x:R", "the second of the results: local q, r = gpu.linalg.qr(a)"},
    {"x:S", "the second of the results: local u, s, vt = gpu.linalg.svd(a)"},
    {"x:U", "the first of the results: local u, s, vt = gpu.linalg.svd(a)"},
    {"x:Vh", "the third of the results: local u, s, vt = gpu.linalg.svd(a)"},
    {"x:address", "x.pointer"},
    {"x:dt", "gpu.dates(texts), whose d:year() and d:month() are parts"},
    {"x:eigenvalues", "the first of the results: local w, v = gpu.linalg.eigh(a)"},
    {"x:eigenvectors", "the second of the results: local w, v = gpu.linalg.eigh(a)"},
    {"x:element_size", "x.nbytes / x.size"}, {"x:filter", "x[mask], as x[x:gt(0)]"},
    {"x:format", "(\"%g\"):format(x:item())"},
    {"x:grad", "the second result of local y, g = gpu.value_and_grad(f)(x), or gpu.grad(f)(x): arrays keep no gradient"},
    {"x:grad_fn", "gpu.grad(f)(x), or gpu.explain(x) for what computes x: arrays keep no gradient"},
    {"x:hour", "gpu.dates(texts), whose d:hour() is a part"},
    {"x:intercept", "the second of the results: local slope, intercept, r, p = gpu.stats.linregress(x, y)"},
    {"x:ipairs", "for i, v in ipairs(x:table())"},
    {"x:keys", "#x: positions are 1 to #x; a gpu.table has t.names"},
    {"x:nfev", "the second of the results: local x, info = gpu.optimize.minimize(f, x0) has info.evaluations"},
    {"x:pairs", "for i, v in ipairs(x:table())"},
    {"x:pvalue", "the second of the results: local t, p = gpu.stats.ttest_ind(x, y)"},
    {"x:remove", "x[mask], a part: arrays keep their size"},
    {"x:replace", "gpu.where(x:eq(a), b, x)"},
    {"x:rvalue", "the third of the results: local slope, intercept, r, p = gpu.stats.linregress(x, y)"},
    {"x:singular_values", "the second of the results: local u, s, vt = gpu.linalg.svd(a)"},
    {"x:startswith", "t:values(name) of a gpu.table, and string.find of each text"},
    {"x:statistic", "the first of the results: local t, p = gpu.stats.ttest_ind(x, y)"},
    {"x:storage", "x.pointer"},
    {"x:str", "t:values(name) of a gpu.table, and string functions of each text"}, {"x:strftime", "gpu.dates(texts), whose d:format(form) gives texts"},
    {"x:weight_mean", "gpu.average(x, weights)"}, {"x:zero_grad", "gpu.value_and_grad(f)(x), whose gradients are new at each call: nothing is added up"},
    {"xcorr", "gpu.correlate(x, y, \"full\")"},
    // clang-format on
};

static_assert(std::ranges::is_sorted(subject_rows, {}, &NameRow::name));

}  // namespace

std::string_view name_of_subject(std::string_view name) {
  return here_of(subject_rows, name);
}

std::string about_text_operand(std::string_view text) {
  constexpr std::array<std::string_view, 7> days = {"monday", "tuesday",  "wednesday", "thursday",
                                                    "friday", "saturday", "sunday"};
  constexpr std::array<std::string_view, 12> months = {"january",   "february", "march",    "april",
                                                       "may",       "june",     "july",     "august",
                                                       "september", "october",  "november", "december"};
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto number_in = [&](std::span<const std::string_view> names) {
    const auto at = std::ranges::find_if(names, [&](auto name) { return lower == name || lower == name.substr(0, 3); });
    return at == names.end() ? std::string() : std::to_string(at - names.begin() + 1);
  };
  if (const std::string day = number_in(days); !day.empty())
    return "; d:weekday() gives numbers from 1, Monday, to 7, Sunday: compare with " + day;
  if (const std::string month = number_in(months); !month.empty())
    return "; d:month() gives numbers from 1 to 12: compare with " + month;
  return "; arrays hold numbers, columns of a gpu.table hold texts";
}

}  // namespace gpulua
