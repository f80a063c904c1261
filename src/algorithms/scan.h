#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/array/array.h"

namespace gpulua {

/// A row of the table of scans. `operation` is a template of kernels/scan.cuh.
struct ScanOp {
  std::string_view name;
  std::string_view operation;
  std::string_view reducer;  // the reduction with the same dtype rules
};

/// cumsum, cumprod, cummax, cummin.
std::span<const ScanOp> scan_table();
/// The row named `name`. Throws std::logic_error for an unknown name.
const ScanOp& scan_op(std::string_view name);

struct UserFunction;

/// The combining operation of a scan: a type of device code with identity, combine and result, over values of `type`.
struct ScanCode {
  std::string operation, type;
  std::size_t bytes;                       // size of a value
  const UserFunction* function = nullptr;  // set when a script defines `operation`
};

/// Replaces each element along `axis` by the combination of all elements up to it. The result has the array's shape;
/// without an axis it is the vector of the scan in row-major order. `exclusive`: the element itself is left out.
/// `dtype`: the dtype of the computation and of the result. Throws Error for a complex array unless the operation takes
/// complex numbers. The kernel is queued at once.
Array scan(const ScanOp& op, const Array& array, std::optional<std::size_t> axis, bool exclusive = false,
           std::optional<DType> dtype = std::nullopt);
/// The same for an operation outside of the table, with results of `dtype`.
Array scan(const ScanCode& code, const Array& array, std::optional<std::size_t> axis, bool exclusive, DType dtype);

}  // namespace gpulua
