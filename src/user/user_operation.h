#pragma once

// Elementwise operations and reductions from source that a script gives, in CuPy's grammar of parameters.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/expressions/expression.h"
#include "src/user/user_binding.h"
#include "src/user/user_parameter.h"
#include "src/user/user_text.h"

namespace gpulua {

struct UserOp;
struct UserReducer;

/// An elementwise operation.
struct UserElementwise {
  std::string name;
  std::vector<UserParameter> inputs, outputs;
  UserText body, preamble;
  bool is_expression = false;                // the body is the value of the one output
  std::optional<UserParameter> reduce_type;  // a reduction's, for its parts

  /// The outputs, pending or written to `out`. There are as many arguments as inputs, and as many of `out` as outputs.
  std::vector<Array> operator()(std::vector<Operand> arguments, const UserCall& call) const;
  /// The types that letters stand for in such a call.
  Letters bind(const std::vector<Operand>& arguments, const UserCall& call) const;

  mutable std::map<Letters, std::shared_ptr<const UserOp>> made{};  // by what letters stand for
};

/// A reduction: `map` of the inputs, combined two by two by `reduce`; `post` makes the output of what that gives.
struct UserReduction {
  UserElementwise map, post;
  UserText reduce;
  std::optional<UserText> identity;  // without: there is no result for no elements

  /// What is to be reduced: `map` of the inputs. `call` becomes that of the reduction's other parts.
  Array mapped(std::vector<Operand> arguments, UserCall& call) const;
  /// The output for `mapped`.
  Array operator()(Array mapped, std::uint64_t axes, bool keepdims, UserCall call) const;

  mutable std::map<Letters, std::shared_ptr<const UserReducer>> made{};
};

}  // namespace gpulua
