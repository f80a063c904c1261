#include "src/device/cpu/front_end/kernel_headers.h"

#include <algorithm>
#include <vector>

#include "kernel_header_text.h"

namespace gpulua::cpu {
namespace {

constexpr std::string_view folder = "/gpulua/kernels/";

// A file that is missing here is compiled as text.
constexpr std::string_view names[] = {"elements.cuh",
                                      "arithmetic.cuh",
                                      "functions.cuh",
                                      "complex.cuh",
                                      "indexing.cuh",
                                      "rolls.cuh",
                                      "reduce.cuh",
                                      "rows.cuh",
                                      "staged.cuh",
                                      "compress.cuh",
                                      "fast_path.cuh",
                                      "indexed.cuh",
                                      "philox.cuh",
                                      "distributions.cuh",
                                      "permutation.cuh",
                                      "lua_functions.cuh",
                                      "lua_random.cuh",
                                      "duals.cuh",
                                      "counts.cuh",
                                      "special.cuh",
                                      "gamma_family.cuh",
                                      "tile.cuh",
                                      "complex_elements.cuh",
                                      "search.cuh",
                                      "bincount.cuh",
                                      "weighted_bins.cuh",
                                      "sort.cuh",
                                      "sort_sweep.cuh",
                                      "partition.cuh",
                                      "order_statistics.cuh",
                                      "scan.cuh",
                                      "scan_sweep.cuh",
                                      "scan_in_turn.cuh",
                                      "butterflies.cuh",
                                      "fft.cuh",
                                      "matmul.cuh",
                                      "decompositions.cuh",
                                      "small_systems.cuh",
                                      "small_jacobi.cuh",
                                      "sparse.cuh",
                                      "sparse_pairs.cuh",
                                      "valid_numbers.cuh",
                                      "window_filter.cuh",
                                      "window_ranks.cuh"};

}  // namespace

std::span<const std::string> kernel_headers() {
  static const auto paths = [] {
    std::vector<std::string> result;
    for (const std::string_view name : names) result.push_back(std::string(folder).append(name));
    return result;
  }();
  return paths;
}

std::string_view kernel_header_of(const std::string& path) {
  return kernel_header_text(std::string_view(path).substr(folder.size()));
}

KernelSource without_kernel_headers(const KernelSource& source) {
  if (!source.own) return source;
  std::string_view rest = source.text;
  const auto begins_with = [&](std::string_view name) {
    const std::string_view header = kernel_header_text(name);
    if (header.empty() || !rest.starts_with(header)) return false;
    rest.remove_prefix(header.size());
    return true;
  };
  while (std::ranges::any_of(names, begins_with)) {
  }
  KernelSource result = source;
  const std::size_t removed = source.text.size() - rest.size();
  result.line += static_cast<int>(
      std::count(source.text.begin(), source.text.begin() + static_cast<std::ptrdiff_t>(removed), '\n'));
  result.text = rest;
  return result;
}

}  // namespace gpulua::cpu
