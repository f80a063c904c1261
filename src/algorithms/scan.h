#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/array/array.h"

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

struct UserFunction;

/// How elements are combined: a type of device code with identity, combine and result, over values of `type`.
struct ScanCode {
  std::string operation, type;
  std::size_t bytes;                       // of a value
  const UserFunction* function = nullptr;  // where `operation` is a script's
};

/// Each element combined with those before it along `axis`; without an axis, in row-major order, as a vector.
/// `exclusive`: with those before it only. `dtype`: in which to compute, and of the result. Queued at once.
Array scan(const ScanOp& op, const Array& array, std::optional<std::size_t> axis, bool exclusive = false,
           std::optional<DType> dtype = std::nullopt);
/// The same by other code, with results of `dtype`.
Array scan(const ScanCode& code, const Array& array, std::optional<std::size_t> axis, bool exclusive, DType dtype);

}  // namespace gpulua
