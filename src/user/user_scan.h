#pragma once

#include "src/array/array.h"
#include "src/user/user_parameter.h"
#include "src/user/user_text.h"

namespace gpulua {

struct ScanFunction;

/// A scan that combines two values by an expression of `a` and `b` from source.
struct UserScan {
  std::string name;
  UserParameter input, output;  // in the output's type values are combined
  UserText expression, preamble;
  std::optional<UserText> neutral;  // there where `exclusive`
  bool exclusive = false;

  /// As scan(). `out`: to write to, or null.
  Array operator()(const Array& array, std::optional<std::size_t> axis, const Array& out) const;

  mutable std::map<Letters, std::shared_ptr<const ScanFunction>> made{};  // by what letters stand for
};

}  // namespace gpulua
