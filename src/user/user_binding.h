#pragma once

// What a call of an operation from source settles.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/expressions/expression.h"
#include "src/user/user_parameter.h"

namespace gpulua {

/// What a call gives beside the inputs.
struct UserCall {
  std::shared_ptr<OpenDevice> device;  // of a call without arrays
  std::vector<Array> out;              // to write to; empty: new arrays
  std::optional<std::int64_t> size;    // of the results, where all inputs are raw

  // A reduction's, for its parts.
  Letters letters{};
  std::int64_t reduced = 0;  // elements that the results come from
};

/// What the arguments of a call settle.
struct Bound {
  std::shared_ptr<OpenDevice> device;
  Letters letters;
  Dims shape;
};

/// Throws Error, which begins with the operation's name, where an argument does not fit its parameter. There are as
/// many arguments as inputs, and as many of `call.out` as outputs.
Bound bind_arguments(const std::string& name, const std::vector<UserParameter>& inputs,
                     const std::vector<UserParameter>& outputs, const std::vector<Operand>& arguments,
                     const UserCall& call);

}  // namespace gpulua
