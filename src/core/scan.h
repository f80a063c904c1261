#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "src/core/array.h"

namespace gpulua {

/// A row of the table of scans. The operation is a template of kernels/scan.cuh.
struct ScanOp {
  std::string_view name;
  std::string_view operation;
  std::string_view reducer;  // whose dtypes it has
};

/// cumsum, cumprod, cummax, cummin.
std::span<const ScanOp> scan_table();
/// The row of that name, which there is.
const ScanOp& scan_op(std::string_view name);

/// Each element combined with those before it along `axis`; without an axis, in row-major order, as a vector.
/// `exclusive`: with those before it only. `dtype`: in which to compute, and of the result. Queued at once.
Array scan(const ScanOp& op, const Array& array, std::optional<std::size_t> axis, bool exclusive = false,
           std::optional<DType> dtype = std::nullopt);

}  // namespace gpulua
