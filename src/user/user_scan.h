#pragma once

#include "src/array/array.h"
#include "src/user/user_parameter.h"
#include "src/user/user_text.h"

namespace gpulua {

struct ScanFunction;

/// A scan whose combining operation is a script's expression of `a` and `b`.
struct UserScan {
  std::string name;
  UserParameter input, output;  // values are combined in the output's type
  UserText expression, preamble;
  std::optional<UserText> neutral;  // set for an exclusive scan
  bool exclusive = false;

  /// Scans the array along the axis, as scan() does. `out`: the target array, or null.
  Array operator()(const Array& array, std::optional<std::size_t> axis, const Array& out) const;

  mutable std::map<TypeVariables, std::shared_ptr<const ScanFunction>> made{};  // generated code, by dtypes
};

}  // namespace gpulua
