#pragma once

// The accumulators of reductions in a kernel's text.

#include <span>
#include <string>
#include <string_view>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// The accumulator of the value with that index: the member a3 of type gpulua_sum<float>.
struct Accumulator {
  std::size_t value;
  std::string type;  // a template over what it reads
  DType compute;
};

/// The definition of a struct with these members, which are set to the identity and merged together.
std::string accumulator_struct(std::string_view name, std::span<const Accumulator> members);

/// `total`, the result of an accumulator of `value`, as a number of the value's dtype.
std::string reduced(const ValueSpec& value, const std::string& total);

}  // namespace gpulua
