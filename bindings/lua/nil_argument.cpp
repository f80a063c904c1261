#include "bindings/lua/nil_argument.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "bindings/lua/bytecode_readers.h"
#include "bindings/lua/caller.h"
#include "bindings/lua/state.h"
#include "src/base/dtype.h"

namespace gpulua {

namespace {

const char* options_text(std::string_view parameters) {
  return parameters.find("{dtype") == parameters.npos ? "a table of options" : "a dtype or a table of options";
}

/// What the dots of "(x, ...)" take.
std::string more_of(std::string_view name) {
  return name == "x" ? "an array" : std::string(name);
}

/// What the parameter at `index`, counted from 0, takes, if it is optional; empty for another.
std::string optional_parameter(std::string_view parameters, int index) {
  parameters = parameters.substr(0, parameters.find(")("));
  const bool passes_on = parameters.find("fn") != parameters.npos;  // "(fn, ...)": the arguments of fn
  bool optional = false;
  std::string_view previous;
  while (!parameters.empty()) {
    const char c = parameters.front();
    std::size_t end = 1;
    if (c == '[') optional = true;  // and so are those after it: they move up when it is left out
    if (c == '{') {
      if (index-- == 0) return optional ? options_text(parameters) : "";
      end = parameters.find('}');
    } else if (c == '.' || std::isalpha(static_cast<unsigned char>(c)) != 0) {
      end = parameters.find_first_of(",[]{}() ");
      const std::string_view name = parameters.substr(0, end);
      const std::size_t dots = name.find("...");
      if (dots == 0) return passes_on ? std::string() : more_of(previous);
      previous = name;
      if (dots != name.npos && (optional || index > 0) && parameters.find('{') != parameters.npos)
        return std::string(name.substr(0, dots)) + ", " + options_text(parameters);
      if (index-- == 0 || dots != name.npos) return optional ? std::string(name.substr(0, dots)) : "";
    }
    parameters.remove_prefix(std::min(end, parameters.size()));
  }
  return {};
}

/// True when `expected` describes a value of a variadic parameter.
bool is_one_of_many(std::string_view parameters, const std::string& expected) {
  return expected == "an array" || parameters.find(expected + "...") != parameters.npos ||
         parameters.find(expected + ", ...") != parameters.npos;
}

/// What a call can pass in place of an argument that may be nil: an option, whose fields can be nil.
std::string hint(std::string_view parameters, const std::string& expected) {
  if (expected.ends_with("options"))
    return expected.find("a dtype") != expected.npos ? ", or pass {dtype = ...}" : ", or pass {}";
  const std::string_view options = parameters.substr(std::min(parameters.find('{'), parameters.size()));
  for (const char* before : {"{", " "})
    for (const char* after : {",", "}"})
      if (options.find(before + expected + after) != options.npos)
        return ", or pass {" + expected + " = ...}, which can be nil";
  return {};
}

/// The defaults, numbers or texts in the reference, of optional parameters before others. An empty `op` stands for all
/// functions that have the parameter.
struct Default {
  std::string_view op, parameter, value;
};
constexpr Default defaults[] = {
    {"", "offset", "0"},
    {"", "spacing", "1"},
    {"", "mean", "0"},
    {"", "location", "0"},
    {"", "rtol", "1e-5"},
    {"", "up", "1"},
    {"", "down", "1"},
    {"", "nan", "0"},
    {"", "rel_height", "0.5"},
    {"diff", "n", "1"},
    {"logspace", "count", "50"},
    {"random.uniform", "low", "0"},
    {"trim_zeros", "trim", "\"fb\""},
};

/// The name before or after the parameter at `at` that one bracket has with it, "x" and "y" in "[, x, y]"; empty where
/// it has a bracket of its own.
std::string partner(std::string_view parameters, std::size_t at, std::size_t size) {
  const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::size_t from = at + size, end = 0;
  if (parameters.substr(from).starts_with(", ") && from + 2 < parameters.size() && is_name(parameters[from + 2])) {
    from += 2;
    for (end = from; end < parameters.size() && is_name(parameters[end]);) ++end;
  } else if (at >= 3 && parameters.substr(at - 2, 2) == ", " && is_name(parameters[at - 3])) {
    end = at - 2;
    for (from = end; from > 0 && is_name(parameters[from - 1]);) --from;
  } else {
    return {};
  }
  return std::string(parameters.substr(from, end - from));
}

/// What to do instead of passing nil. `follow`: the stack indices of the arguments after it, up to `last`; they would
/// move up if it were left out.
std::string remedy(lua_State* L, const CallSignature& signature, const std::string& expected, int follow, int last) {
  const std::string_view parameters = signature.parameters;
  while (follow <= last && lua_isnil(L, follow)) ++follow;
  if (follow == last && lua_istable(L, last) && lua_objlen(L, last) == 0 && parameters.find('{') != parameters.npos)
    return "; options follow directly, without nil before them";
  const std::string leave_out = "; leave the argument out for its default" + hint(parameters, expected);
  std::size_t at = parameters.find(expected);
  while (at != parameters.npos && at > 0 && std::isalpha(static_cast<unsigned char>(parameters[at - 1])) != 0)
    at = parameters.find(expected, at + 1);
  if (at == parameters.npos || expected.ends_with("options")) return leave_out;
  // In "[, x,] y", y moves up to the place of x.
  if (at > 0 && parameters[at - 1] == '[' && parameters.substr(at + expected.size()).starts_with(",]"))
    return leave_out;
  if (const std::string other = partner(parameters, at, expected.size()); !other.empty())
    return "; give it, or leave " + other + " out too";
  if (follow > last) return leave_out;
  std::string_view value;
  for (const Default& row : defaults)
    if (row.parameter == expected && (row.op.empty() || row.op == signature.op())) value = row.value;
  return (value.empty() ? std::string("; give its value") : "; give its default, " + std::string(value)) +
         ", as an argument follows it" + hint(parameters, expected);
}

/// Whether a size list, such as x.shape, stands in front of the nil at `index`: `n, m = x.shape` makes n the list.
bool follows_sizes(lua_State* L, int index) {
  if (index < 2 || luaL_getmetafield(L, index - 1, "__metatable") == 0) return false;
  const bool is_sizes = lua_type(L, -1) == LUA_TSTRING && std::string_view(lua_tostring(L, -1)) == "a list of sizes";
  lua_pop(L, 1);
  return is_sizes;
}

/// The variable that the script's line has for argument `index` of `count`: "global 'axes'"; empty when that is not
/// known. `name` is set to its name.
std::string variable(lua_State* L, const CallSignature& signature, int level, int count, int index, std::string& name) {
  lua_Debug caller{};
  if (lua_getstack(L, level + 1, &caller) == 0 || lua_checkstack(L, 8) == 0) return {};
  lua_getinfo(L, "l", &caller);
  if (caller.currentline <= 0) return {};
  const int top = lua_gettop(L);
  std::string kind;
  push_bytecode_reader(L, "nil_argument");
  lua_getinfo(L, "f", &caller);
  lua_pushinteger(L, caller.currentline);
  lua_pushstring(L, signature.name.c_str());
  lua_pushinteger(L, count);
  lua_pushinteger(L, index);
  if (lua_pcall(L, 5, 2, 0) == 0 && lua_type(L, -2) == LUA_TSTRING) {
    kind = lua_tostring(L, -2);
    const char* text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : nullptr;
    if (kind == "local") text = lua_getlocal(L, &caller, static_cast<int>(lua_tointeger(L, -1)) + 1);
    name = text ? text : "";
  }
  lua_settop(L, top);
  return name.empty() ? std::string() : kind + " '" + name + "'";
}

}  // namespace

void check_nils(lua_State* L, CallSignature& signature, int first, int level) {
  const int last = lua_gettop(L);
  int index = first;
  while (index <= last && !lua_isnil(L, index)) ++index;
  if (index > last || !is_call_of_script(L, level)) return;
  bindings_of(L).signatures.read(signature);
  for (; index <= last; ++index) {
    if (!lua_isnil(L, index)) continue;
    const int position = index - first - (signature.is_method() ? 1 : 0);
    const std::string expected = position < 0 ? std::string() : optional_parameter(signature.parameters, position);
    if (expected.empty()) continue;
    std::string name;
    const std::string source = variable(L, signature, level, last - first + 1, index - first + 1, name);
    const std::string reason = bindings_of(L).gave_nil.reason(L);
    const bool is_dtype = find_dtype(name).has_value();
    throw Error("[{}] expected {}, got {}{}", signature.op(), expected,
                source.empty() ? "nil" : source + " (a nil value)",
                is_dtype                                         ? "; dtypes are strings, \"" + name + '"'
                : !reason.empty()                                ? " (perhaps from " + reason + ")"
                : follows_sizes(L, index)                        ? "; local n, m = unpack(x.shape) gives the extents"
                : is_one_of_many(signature.parameters, expected) ? "; leave the argument out"
                                                                 : remedy(L, signature, expected, index + 1, last));
  }
}

}  // namespace gpulua
