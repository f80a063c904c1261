#pragma once

// Parameters of operations from source, in CuPy's grammar.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/dtype.h"

namespace gpulua {

/// "float32 x", "T x", "raw T x".
struct UserParameter {
  std::string name;
  std::optional<DType> dtype;  // without: the type that the letter stands for in a call
  char letter = 0;
  bool raw = false;
};

/// What letters stand for in a call.
using Letters = std::map<char, DType>;
DType dtype_of(const UserParameter& parameter, const Letters& letters);

/// Parameters separated by commas. `where` ("[leaky_relu] inputs") begins the message of an Error.
std::vector<UserParameter> parse_parameters(std::string_view text, const std::string& where);
std::string to_string(const std::vector<UserParameter>& parameters);

}  // namespace gpulua
