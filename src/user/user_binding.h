#pragma once

// Matching the arguments of a call to the parameters of an operation from source.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/expressions/expression.h"
#include "src/user/user_parameter.h"

namespace gpulua {

/// Options of a call, in addition to the inputs.
struct UserCall {
  std::shared_ptr<OpenDevice> device;  // for a call without arrays
  std::vector<Array> out;              // target arrays; empty: new arrays
  std::optional<std::int64_t> size;    // number of results, when all inputs are raw

  // A reduction sets these for its parts.
  TypeVariables type_variables{};
  std::int64_t reduced = 0;  // number of elements that the results are reduced from
};

/// The device, the dtypes and the broadcast shape that follow from the arguments of a call.
struct Bound {
  std::shared_ptr<OpenDevice> device;
  TypeVariables type_variables;
  Dims shape;
};

/// Binds the arguments. Throws Error, whose message begins with the operation's name, when an argument does not fit its
/// parameter. The caller has checked that `arguments` has one entry for each input, and `call.out`, unless it is empty,
/// one for each output.
Bound bind_arguments(const std::string& name, const std::vector<UserParameter>& inputs,
                     const std::vector<UserParameter>& outputs, const std::vector<Operand>& arguments,
                     const UserCall& call);

/// The operand as an array: a number becomes one of the parameter's dtype. Throws Error for a number that does not fit.
Array operand_array(const std::string& name, const UserParameter& parameter, const Operand& operand,
                    const Bound& bound);

}  // namespace gpulua
