#pragma once

#include <cstdint>
#include <string>

#include "src/device/signature.h"

namespace gpulua {

/// The rule that checks the arguments for one parameter of a kernel.
struct ArgumentRule {
  Parameter parameter;
  std::uint32_t dtypes = 0;  // dtypes of the arrays that a pointer takes: bit mask
  std::string members;       // in C, of the struct that it is or points to; empty: not known

  bool takes(DType dtype) const { return ((dtypes >> static_cast<unsigned>(dtype)) & 1) != 0; }
  bool takes_any() const { return dtypes == ~std::uint32_t{0}; }
};

/// The rule for a parameter of a kernel's signature. Null `source`: not known.
ArgumentRule make_rule(const Parameter& parameter, const std::string* source);

/// The expected argument for messages: "a float32 array", "an int8 or uint8 array", "an array".
std::string expected_array(const ArgumentRule& rule);

}  // namespace gpulua
