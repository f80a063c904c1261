#pragma once

// Elementwise operations and reductions from a script's source, with parameters in CuPy's grammar.

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
  bool is_expression = false;                // the body is an expression: the value of the only output
  std::optional<UserParameter> reduce_type;  // for the parts of a reduction

  /// The outputs: pending arrays, or `call.out` after they were written. The counts of arguments and outputs are those
  /// of bind_arguments. Throws Error for arguments that do not fit.
  std::vector<Array> operator()(std::vector<Operand> arguments, const UserCall& call) const;
  /// The dtypes of the type variables in a call.
  TypeVariables bind(const std::vector<Operand>& arguments, const UserCall& call) const;

  mutable std::map<TypeVariables, std::shared_ptr<const UserOp>> made{};  // generated code, by dtypes
};

/// A reduction: `map` of the inputs, combined two at a time by `reduce`; `post` computes the output from the total.
struct UserReduction {
  UserElementwise map, post;
  UserText reduce;
  std::optional<UserText> identity;  // without one, a reduction of no elements is an error

  /// The array to reduce: `map` of the inputs. Sets the fields of `call` that the reduction's other parts need.
  Array mapped(std::vector<Operand> arguments, UserCall& call) const;
  /// Sets call.type_variables, as mapped() does.
  void bind(const std::vector<Operand>& arguments, UserCall& call) const;
  /// `mapped` reduced along `axes`, a bit mask. `call` comes from mapped() or bind().
  Array combined(Array mapped, std::uint64_t axes, bool keepdims, UserCall& call) const;
  /// The output, by `post`, from what combined() gives.
  Array finished(Array total, const UserCall& call) const;

  mutable std::map<TypeVariables, std::shared_ptr<const UserReducer>> made{};
};

}  // namespace gpulua
