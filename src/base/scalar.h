#pragma once

// One element on the host.

#include <complex>
#include <cstdint>
#include <string>
#include <variant>

#include "src/base/dtype.h"

namespace gpulua {

using Scalar = std::variant<bool, std::int64_t, std::uint64_t, double, std::complex<double>>;

/// The element at `bytes`.
Scalar decode(DType dtype, const void* bytes);

/// Writes `value` as `dtype` to `bytes`. Throws Error when it does not fit: out of an integer's range, not integral for
/// an integer, complex for a real. Floating-point types round and overflow to infinity, as assignment does in NumPy.
void encode(DType dtype, const Scalar& value, void* bytes);

/// Throws Error for a finite number that encode() would make infinite: a script that stores it has not meant infinity.
void check_stored(DType dtype, const Scalar& value);

std::string to_string(const Scalar& value);
/// The number with that many significant digits, as printf's %g writes it; with a decimal point in every locale.
std::string number_text(double value, int digits);
/// "1.5-2i", of parts as number_text writes them.
std::string number_text(std::complex<double> value, int digits);

}  // namespace gpulua
