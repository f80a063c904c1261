#pragma once

// Elementwise operations and reductions from source that a script gives, in CuPy's grammar of parameters.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/expression.h"

namespace gpulua {

/// "float32 x", "T x", "raw T x".
struct UserParameter {
  std::string name;
  std::optional<DType> dtype;  // without: the type that the letter stands for in a call
  char letter = 0;
  bool raw = false;
};

/// Parameters separated by commas. `where` ("[leaky_relu] inputs") begins the message of an Error.
std::vector<UserParameter> parse_parameters(std::string_view text, const std::string& where);
std::string to_string(const std::vector<UserParameter>& parameters);

/// Text of the script's, and where it stands there.
struct UserText {
  std::string text;
  std::string file;
  int line = 1;
};

/// What a call gives beside the inputs.
struct UserCall {
  std::shared_ptr<OpenDevice> device;  // of a call without arrays
  std::vector<Array> out;              // to write to; empty: new arrays
  std::optional<std::int64_t> size;    // of the results, where all inputs are raw

  // A reduction's, for its parts.
  std::map<char, DType> letters;
  std::int64_t reduced = 0;  // elements that the results come from
};

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
  std::map<char, DType> bind(const std::vector<Operand>& arguments, const UserCall& call) const;

  mutable std::map<std::map<char, DType>, std::shared_ptr<const UserOp>> made{};  // by what letters stand for
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

  mutable std::map<std::map<char, DType>, std::shared_ptr<const UserReducer>> made{};
};

}  // namespace gpulua
