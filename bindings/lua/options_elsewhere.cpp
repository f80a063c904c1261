#include "bindings/lua/options_elsewhere.h"

#include <algorithm>

#include "bindings/lua/names_elsewhere.h"

namespace gpulua {

namespace {

/// Names of options elsewhere, and here.
constexpr NameRow options_elsewhere[] = {
    {"alpha", "opacity"},
    {"annot", "format"},
    {"axes", "axis"},
    {"bc_type", "ends"},
    {"blockDim", "block"},
    {"block_size", "block"},
    {"blocks", "grid"},
    {"c", "color"},
    {"cmap", "colormap"},
    {"colour", "color"},
    {"comment", "comments"},
    {"compressed", "compress"},
    {"correction", "ddof"},
    {"date_format", "dates"},
    {"dayfirst", "dates"},
    {"delimiter", "sep"},
    {"dim", "axis"},
    {"dims", "axis"},
    {"edgeitems", "edge"},
    {"fmt", "format"},
    {"gridDim", "grid"},
    {"grid_size", "grid"},
    {"in_params", "inputs"},
    {"keepdim", "keepdims"},
    {"labels", "xnames"},
    {"linestyle", "dash"},
    {"linewidth", "width"},
    {"loc", "legend"},
    {"ls", "dash"},
    {"lw", "width"},
    {"map_expr", "map"},
    {"markersize", "size"},
    {"max_iterations", "maxiter"},
    {"min_height", "height"},
    {"mmap_mode", "mmap"},
    {"n_rows", "max_rows"},
    {"na_values", "missing"},
    {"nblocks", "grid"},
    {"nrows", "max_rows"},
    {"nthreads", "block"},
    {"null_values", "missing"},
    {"operation", "body"},
    {"out_dtype", "dtype"},
    {"out_params", "outputs"},
    {"parse_dates", "dates"},
    {"post_map_expr", "post"},
    {"preconditioner", "M"},
    {"reduce_expr", "reduce"},
    {"s", "size"},
    {"secondary_y", "axis"},
    {"separator", "sep"},
    {"seperator", "sep"},
    {"sharedMem", "shared"},
    {"shared_mem", "shared"},
    {"skiprows", "skip"},
    {"style", "dash"},
    {"threads", "block"},
    {"tol", "rtol"},
    {"type", "dtype"},
    {"unbiased", "ddof"},
    {"usecols", "columns"},
    {"vmax", "max"},
    {"vmin", "min"},
    {"w", "weights"},
    {"xticklabels", "xnames"},
    {"yticklabels", "ynames"},
};

static_assert(std::ranges::is_sorted(options_elsewhere, {}, &NameRow::name));

constexpr std::string_view of_launches = "it belongs to a launch: kernel {grid = blocks, block = threads}(arguments)";
constexpr std::string_view of_bins = "the number of bins is an argument";
constexpr std::string_view of_index = "rows have no index: t:where(name, value) selects by any column";
constexpr std::string_view of_groups =
    "x:expanding{by = t.key} and x:rolling(n, {by = t.key}) have windows within groups";
constexpr std::string_view of_constraints = "bounds hold elements apart, and f can add a penalty for others";
constexpr std::string_view of_weights = "alpha = 1 - lambda is the weight of the newest value";
constexpr std::string_view of_rows = "the number of rows is an argument: x:shift(5), x:rolling(20)";
constexpr std::string_view of_seeds = "gpu.random.seed(n) sets the seed";
constexpr std::string_view of_lines = "all rows have as many fields, and comments leaves lines out";
constexpr std::string_view of_packing = "files of gzip are read as others, gunzip -k unpacks one";
constexpr std::string_view of_missing = "a column of text keeps all texts: dtype = {name = \"text\"}";
constexpr std::string_view of_parts = "skip and max_rows read a part of a file";
constexpr std::string_view of_shapes = "a shape is an argument, not an option";
constexpr std::string_view of_bounds = "bounds and counts are arguments, in their order, not options";
constexpr std::string_view of_text = "text is in UTF-8, which iconv -t UTF-8 makes of another encoding";

/// Options that are given in another way here.
constexpr NameRow misplaced_options[] = {
    {"a_max", of_bounds},
    {"a_min", of_bounds},
    {"bins", of_bins},
    {"block", of_launches},
    {"blocks", of_launches},
    {"by", of_groups},
    {"chunksize", of_parts},
    {"compression", of_packing},
    {"constraints", of_constraints},
    {"encoding", of_text},
    {"grid", of_launches},
    {"index_col", of_index},
    {"keep_default_na", of_missing},
    {"lambda", of_weights},
    {"max", of_bounds},
    {"min", of_bounds},
    {"num", of_bounds},
    {"on_bad_lines", of_lines},
    {"periods", of_rows},
    {"seed", of_seeds},
    {"shape", of_shapes},
    {"shared", of_launches},
    {"size", of_shapes},
    {"skipfooter", of_parts},
    {"start", of_bounds},
    {"step", of_bounds},
    {"stop", of_bounds},
    {"threads", of_launches},
    {"window", of_rows},
};

static_assert(std::ranges::is_sorted(misplaced_options, {}, &NameRow::name));

}  // namespace

void offer_option(NearName& near, std::string_view unknown, std::string_view option) {
  near.offer(here_of(options_elsewhere, unknown) == option ? unknown : option, option);
}

std::string question_about_option(const NearName& near, std::string_view unknown) {
  std::string question = near.question();
  const std::string_view elsewhere = here_of(misplaced_options, unknown);
  return question.empty() && !elsewhere.empty() ? "; " + std::string(elsewhere) : question;
}

}  // namespace gpulua
