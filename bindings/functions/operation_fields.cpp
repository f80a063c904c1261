#include "bindings/functions/operation_fields.h"

#include "bindings/functions/captured_values.h"
#include "bindings/lua/source_location.h"

namespace gpulua {

namespace {

[[noreturn]] void missing(const std::string& name, const char* field, const char* what) {
  throw Error("{}: expected {}, got nothing", OperationFields::where(name, field), what);
}

}  // namespace

OperationFields::OperationFields(lua_State* L, const char* op, const char* expected) : L_(L), op_(op) {
  lua_settop(L, 1);
  if (!lua_istable(L, 1)) fail(op, expected, L, 1);
}

Option OperationFields::text(const char* field, UserText& to) const {
  return {field, [this, field, &to](int value) {
            to.text = string(field, value);
            SourceLocation location = locate_source(L_, to.text);
            to.file = std::move(location.file);
            to.line = location.line;
          }};
}

Option OperationFields::part(const char* field, SourcePart& to) const {
  return {field, [this, field, &to](int value) {
            to.is_function = push_function_of(L_, value);
            if (!to.is_function) return text(field, to.text).read(value);
            locate_function(L_, lua_gettop(L_), op_);  // its errors belong to this line
            lua_pop(L_, 1);
          }};
}

Option OperationFields::value(const char* field, std::optional<UserText>& to) const {
  return {field, [this, field, &to](int value) {
            if (lua_type(L_, value) == LUA_TNUMBER) lua_tostring(L_, value);  // converts the value on the stack
            text(field, to.emplace()).read(value);
          }};
}

Option OperationFields::preamble(UserText& to) const {
  return {"preamble", [this, &to](int value) {
            text("preamble", to).read(value);
            if (const char bracket = open_bracket(to.text))
              throw Error("[{}] preamble: expected whole declarations, got a '{}' without its counterpart", op_,
                          bracket);
          }};
}

Option OperationFields::name(std::string& to) const {
  return {"name", [this, &to](int value) { to = string("name", value); }};
}

Option OperationFields::parameters(const char* field, std::optional<std::string>& to) const {
  return {field, [this, field, &to](int value) { to = string(field, value); }};
}

std::vector<UserParameter> OperationFields::parse(const std::string& name, const char* field,
                                                  const std::optional<std::string>& text) const {
  if (!text) missing(name, field, "parameters as in \"float32 x, T y, raw T z\"");
  return parse_parameters(*text, where(name, field));
}

void OperationFields::need(const std::string& name, const char* field, const SourcePart& part, const char* what) const {
  if (!part.is_given()) missing(name, field, what);
}

void OperationFields::need_expression(const std::string& name, const char* field, const SourcePart& part,
                                      const char* what) const {
  need(name, field, part, what);
  if (!part.is_function && !is_whole_expression(part.text.text))
    throw Error("{}: expected {}, got \"{}\", which is not a whole one", where(name, field), what, part.text.text);
}

void OperationFields::need_combination(const std::string& name, const char* field, const SourcePart& part) const {
  const std::string& text = part.text.text;
  if (!part.is_function && !text.empty() && !has_word(text, "a") && !has_word(text, "b"))
    throw Error("{}: expected an expression of a and b, as in \"a + b\", got \"{}\"", where(name, field), text);
  need_expression(name, field, part, "an expression of a and b");
}

void OperationFields::check_sets(const UserElementwise& operation, const char* field) {
  if (!operation.preamble.text.empty()) return;
  for (const UserParameter& output : operation.outputs)
    if (!may_set(operation.body.text, output.name))
      throw Error("{}: expected statements that set {}, as in \"{} = ...;\", got \"{}\"", where(operation.name, field),
                  output.name, output.name, operation.body.text);
}

void OperationFields::keep_functions(std::initializer_list<const char*> fields) const {
  lua_newtable(L_);
  int place = 0;
  for (const char* field : fields) {
    ++place;
    lua_getfield(L_, 1, field);
    if (push_function_of(L_, lua_gettop(L_))) lua_rawseti(L_, -3, place);
    lua_pop(L_, 1);
  }
  lua_setfenv(L_, -2);
}

std::string OperationFields::string(const char* field, int value) const {
  if (lua_type(L_, value) != LUA_TSTRING)
    throw Error("[{}] {}: expected a string, got {}", op_, field, describe(L_, value));
  return std::string(check_string(L_, value, op_, field));
}

void push_kept_function(lua_State* L, int object, int place) {
  lua_getfenv(L, object);
  lua_rawgeti(L, -1, place);
  lua_remove(L, -2);
}

void check_names(const std::string& name, const std::vector<UserParameter>& inputs,
                 const std::vector<UserParameter>& outputs) {
  if (outputs.empty()) throw Error("[{}] outputs: expected at least one", name);
  if (inputs.size() > 64) throw Error("[{}] inputs: expected 64 at most, got {}", name, inputs.size());
  std::vector<UserParameter> all = inputs;
  all.insert(all.end(), outputs.begin(), outputs.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i >= inputs.size() && all[i].raw) throw Error("[{}] outputs: {} cannot be raw", name, all[i].name);
    for (std::size_t j = 0; j < i; ++j)
      if (all[i].name == all[j].name) throw Error("[{}] two parameters have the name {}", name, all[i].name);
  }
}

}  // namespace gpulua
