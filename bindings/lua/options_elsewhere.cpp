#include "bindings/lua/options_elsewhere.h"

#include <algorithm>
#include <utility>

#include "bindings/lua/names_elsewhere.h"
#include "src/base/dtype.h"

namespace gpulua {

namespace {

/// Names of options elsewhere, and here: of other options, or of arguments.
constexpr NameRow options_elsewhere[] = {
    {"a_max", "high"},
    {"a_min", "low"},
    {"alpha", "opacity"},
    {"annot", "format"},
    {"argnum", "which"},
    {"argnums", "which"},
    {"axes", "axis"},
    {"bc_type", "ends"},
    {"bin", "bins"},
    {"blockDim", "block"},
    {"block_size", "block"},
    {"blocks", "grid"},
    {"c", "color"},
    {"cmap", "colormap"},
    {"colour", "color"},
    {"comment", "comments"},
    {"compressed", "compress"},
    {"correction", "ddof"},
    {"d", "spacing"},
    {"date_format", "dates"},
    {"dayfirst", "dates"},
    {"deg", "degree"},
    {"delimiter", "sep"},
    {"dim", "axis"},
    {"dims", "axis"},
    {"dx", "spacing"},
    {"edgeitems", "edge"},
    {"fmt", "format"},
    {"gridDim", "grid"},
    {"grid_size", "grid"},
    {"in_params", "inputs"},
    {"interpolation", "method"},
    {"jac", "gradient"},
    {"jac", "jacobian"},
    {"keepdim", "keepdims"},
    {"labels", "names"},
    {"labels", "xnames"},
    {"linestyle", "dash"},
    {"linewidth", "width"},
    {"loc", "legend"},
    {"loc", "mean"},
    {"lower", "low"},
    {"lr", "learning_rate"},
    {"ls", "dash"},
    {"lw", "width"},
    {"map_expr", "map"},
    {"markersize", "size"},
    {"max", "high"},
    {"max_iterations", "maxiter"},
    {"min", "low"},
    {"min_height", "height"},
    {"mmap_mode", "mmap"},
    {"n_bins", "bins"},
    {"n_rows", "max_rows"},
    {"na_values", "missing"},
    {"nbins", "bins"},
    {"nblocks", "grid"},
    {"nrows", "max_rows"},
    {"nthreads", "block"},
    {"null_values", "missing"},
    {"num", "count"},
    {"operation", "body"},
    {"out_dtype", "dtype"},
    {"out_params", "outputs"},
    {"parse_dates", "dates"},
    {"post_map_expr", "post"},
    {"preconditioner", "M"},
    {"reduce_expr", "reduce"},
    {"reverse", "descending"},
    {"s", "size"},
    {"scale", "deviation"},
    {"secondary_y", "axis"},
    {"separator", "sep"},
    {"seperator", "sep"},
    {"sharedMem", "shared"},
    {"shared_mem", "shared"},
    {"size", "shape"},
    {"skiprows", "skip"},
    {"start", "first"},
    {"std", "deviation"},
    {"stop", "last"},
    {"style", "dash"},
    {"threads", "block"},
    {"tol", "rtol"},
    {"type", "dtype"},
    {"unbiased", "ddof"},
    {"upper", "high"},
    {"usecols", "columns"},
    {"vmax", "max"},
    {"vmin", "min"},
    {"w", "weights"},
    {"wn", "frequencies"},
    {"xerr", "errors"},
    {"xticklabels", "xnames"},
    {"yerr", "errors"},
    {"yticklabels", "ynames"},
};

static_assert(std::ranges::is_sorted(options_elsewhere, {}, &NameRow::name));

constexpr std::string_view of_centre =
    "windows end at their row: x:rolling(n):mean():shift(-k) has those that end k rows later";
constexpr std::string_view of_copies = "tables are made anew: t = t:sort_by(name)";
constexpr std::string_view of_average = "gpu.average(x, {weights = w}) takes weights";
constexpr std::string_view of_order = "descending = true is ascending = false, and an order ascends without it";
constexpr std::string_view of_flips =
    "values ascend: w[\"::-1\"] of a vector and v(\":\", \"::-1\") of columns reverse them";
constexpr std::string_view of_inclusion = "exclusive = true is inclusive = false, and sums are inclusive without it";
constexpr std::string_view of_ends = "missing values come last in either order";
constexpr std::string_view of_gradients = "gpu.grad(f)(x) gives derivatives, and arrays need no mark";
constexpr std::string_view of_launches = "it belongs to a launch: kernel {grid = blocks, block = threads}(arguments)";
constexpr std::string_view of_index = "rows have no index: t:where(name, value) selects by any column";
constexpr std::string_view of_groups =
    "x:expanding{by = t.key} and x:rolling(n, {by = t.key}) have windows within groups";
constexpr std::string_view of_constraints = "bounds hold elements apart, and f can add a penalty for others";
constexpr std::string_view of_weights = "alpha = 1 - lambda is the weight of the newest value";
constexpr std::string_view of_rows = "the number of rows is an argument: x:shift(5), x:rolling(20)";
constexpr std::string_view of_seeds = "gpu.random.seed(n) sets the seed";
constexpr std::string_view of_bar = "images and contours draw their colour bar without an option";
constexpr std::string_view of_log = "log = \"x\", \"y\" or \"xy\" makes logarithmic axes";
constexpr std::string_view of_nan = "gpu.nanmean, gpu.nansum and their kin leave NaN, which a missing number is, out";
constexpr std::string_view of_lines = "all rows have as many fields, and comments leaves lines out";
constexpr std::string_view of_packing = "files of gzip are read as others, gunzip -k unpacks one";
constexpr std::string_view of_missing = "a column of text keeps all texts: dtype = {name = \"text\"}";
constexpr std::string_view of_pictures = "p:save(path, {size = {width, height}}) sets the size of a picture, in pixels";
constexpr std::string_view of_parts = "skip and max_rows read a part of a file";
constexpr std::string_view of_text = "text is in UTF-8, which iconv -t UTF-8 makes of another encoding";
constexpr std::string_view of_events = "it is a field of an event: events = {{g, terminal = true, direction = 1}}";
constexpr std::string_view of_structure =
    "structure = gpu.ndimage.generate_binary_structure(axes, connectivity) says which elements are connected";
constexpr std::string_view of_steps =
    "solve_ivp chooses its steps: max_step bounds them, t_eval has the times of the results; samples are 1 / fs apart";
constexpr std::string_view of_rate = "samples are 1 / fs apart, a number in its place: gpu.fft.fftfreq(n, 1 / fs)";

/// Options that are given in another way here.
constexpr NameRow misplaced_options[] = {
    {"ascending", of_order},
    {"block", of_launches},
    {"blocks", of_launches},
    {"by", of_groups},
    {"center", of_centre},
    {"chunksize", of_parts},
    {"colorbar", of_bar},
    {"compression", of_packing},
    {"connectivity", of_structure},
    {"constraints", of_constraints},
    {"descending", of_flips},
    {"dpi", of_pictures},
    {"dt", of_steps},
    {"encoding", of_text},
    {"figsize", of_pictures},
    {"fs", of_rate},
    {"grid", of_launches},
    {"inclusive", of_inclusion},
    {"index", of_index},
    {"index_col", of_index},
    {"inplace", of_copies},
    {"keep_default_na", of_missing},
    {"lambda", of_weights},
    {"na_position", of_ends},
    {"on_bad_lines", of_lines},
    {"periods", of_rows},
    {"requires_grad", of_gradients},
    {"seed", of_seeds},
    {"shared", of_launches},
    {"skipfooter", of_parts},
    {"skipna", of_nan},
    {"terminal", of_events},
    {"threads", of_launches},
    {"weights", of_average},
    {"window", of_rows},
    {"xscale", of_log},
    {"yscale", of_log},
};

static_assert(std::ranges::is_sorted(misplaced_options, {}, &NameRow::name));

constexpr const char* value_fills = "gpu.full(shape, value) fills an array with a value: gpu.full({3, 4}, 0.5)";

/// Functions that take a number in the place of options elsewhere, or where a size is no size.
constexpr NameRow number_elsewhere[] = {
    {"cubic_spline", "gpu.cubic_spline(x, y) is a function: gpu.cubic_spline(x, y)(points)"},
    {"empty", value_fills},
    {"exp", "b ^ x has another base"},
    {"log", "gpu.log2(x) and gpu.log10(x) have these bases, gpu.log(x) / math.log(b) any"},
    {"ones", value_fills},
    {"rand", "gpu.random.uniform(shape, low, high) draws between these bounds: gpu.random.uniform(1000, -1, 1)"},
    {"randn",
     "gpu.random.normal(shape, mean, deviation) draws with both: gpu.random.normal(1000, 0, 0.2), or 0.2 * "
     "gpu.randn(1000)"},
    {"signal.freqz", "{points = 512} is a number of frequencies"},
    {"signal.sosfreqz", "{points = 512} is a number of frequencies"},
    {"sqrt", "gpu.cbrt(x) is the cube root, x ^ (1 / n) any"},
    {"zeros", value_fills},
};

static_assert(std::ranges::is_sorted(number_elsewhere, {}, &NameRow::name));

/// Whether another library calls the option or argument so.
bool is_other_name(std::string_view unknown, std::string_view name) {
  const auto found = std::ranges::equal_range(options_elsewhere, unknown, {}, &NameRow::name);
  return std::ranges::find(found, name, &NameRow::here) != found.end();
}

}  // namespace

void offer_option(NearName& near, std::string_view unknown, std::string_view option) {
  near.offer(is_other_name(unknown, option) ? unknown : option, option);
}

std::string_view number_for_options(std::string_view op) {
  return here_of(number_elsewhere, op);
}

std::string dtype_and_device(lua_State* L, int index) {
  if (lua_gettop(L) != index + 1 || lua_type(L, index) != LUA_TSTRING || lua_type(L, index + 1) != LUA_TSTRING)
    return {};
  std::string dtype = lua_tostring(L, index), device = lua_tostring(L, index + 1);
  if (!find_dtype(dtype)) std::swap(dtype, device);
  if (!find_dtype(dtype)) return {};
  return "; {dtype = \"" + dtype + "\", device = \"" + device + "\"} has both";
}

std::string argument_in_options(const std::string& op, std::string_view unknown) {
  for (const std::string& argument : arguments_of(op))
    if (argument == unknown || is_other_name(unknown, argument))
      return "; " + argument + " is an argument, not an option: " + call_of(op);
  return {};
}

std::string question_about_option(const std::string& op, const NearName& near, std::string_view unknown) {
  if (is_other_name(unknown, near.name())) return near.question();
  if (std::string argument = argument_in_options(op, unknown); !argument.empty()) return argument;
  const std::string_view elsewhere = here_of(misplaced_options, unknown);
  return elsewhere.empty() ? near.question() : "; " + std::string(elsewhere);
}

}  // namespace gpulua
