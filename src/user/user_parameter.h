#pragma once

// Parameters of operations from source, in CuPy's grammar.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/dtype.h"

namespace gpulua {

/// A parameter: "float32 x", "T x", "raw T x".
struct UserParameter {
  std::string name;
  std::optional<DType> dtype;  // set unless the parameter has a type variable
  char type_variable = 0;      // the letter; 0: none
  bool raw = false;            // the text indexes the array itself
};

/// The dtype of each type variable in a call.
using TypeVariables = std::map<char, DType>;
/// The parameter's own dtype, or the dtype of its type variable.
DType dtype_of(const UserParameter& parameter, const TypeVariables& type_variables);

/// Parses parameters separated by commas. Throws Error, whose message begins with `where` ("[leaky_relu] inputs").
std::vector<UserParameter> parse_parameters(std::string_view text, const std::string& where);
std::string to_string(const std::vector<UserParameter>& parameters);

}  // namespace gpulua
