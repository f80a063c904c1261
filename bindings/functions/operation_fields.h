#pragma once

// The table that defines an operation from source: gpu.elementwise{...}, gpu.reduction{...}, gpu.scan_kernel{...}.

#include <lua.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bindings/lua/lua.h"
#include "src/user/user_operation.h"

namespace gpulua {

/// A part of an operation: a text in CUDA C++, or a Lua function.
struct SourcePart {
  UserText text;
  bool is_function = false;

  bool is_given() const { return is_function || !text.text.empty(); }
};

/// The fields of a definition, the table in the first argument.
class OperationFields {
 public:
  OperationFields(lua_State* L, const char* op, const char* expected);

  Option text(const char* field, UserText& to) const;
  /// A text, or a Lua function, which push_field() pushes.
  Option part(const char* field, SourcePart& to) const;
  /// A text, or a number.
  Option value(const char* field, std::optional<UserText>& to) const;
  Option preamble(UserText& to) const;
  Option name(std::string& to) const;
  /// Parsed later, when the name is known.
  Option parameters(const char* field, std::optional<std::string>& to) const;

  std::vector<UserParameter> parse(const std::string& name, const char* field,
                                   const std::optional<std::string>& text) const;
  void need(const std::string& name, const char* field, const SourcePart& part, const char* what) const;
  /// need() for an expression: that it is whole.
  void need_expression(const std::string& name, const char* field, const SourcePart& part, const char* what) const;
  /// need_expression() for the one that combines the values a and b.
  void need_combination(const std::string& name, const char* field, const SourcePart& part) const;
  /// Throws Error when the statements of a field never set an output, which would stay 0. With a preamble there is no
  /// check, because its macros can set the output.
  static void check_sets(const UserElementwise& operation, const char* field);
  /// Gives the userdata at the top of the stack an environment with the functions in the fields, at 1, 2, ...
  void keep_functions(std::initializer_list<const char*> fields) const;
  static std::string where(const std::string& name, const char* field) { return "[" + name + "] " + field; }

 private:
  std::string string(const char* field, int value) const;

  lua_State* L_;
  const char* op_;
};

/// Pushes the function that keep_functions() has kept at that place for the userdata at `object`.
void push_kept_function(lua_State* L, int object, int place);

/// Throws Error for two parameters of one name, too many inputs, and for a raw output.
void check_names(const std::string& name, const std::vector<UserParameter>& inputs,
                 const std::vector<UserParameter>& outputs);

}  // namespace gpulua
