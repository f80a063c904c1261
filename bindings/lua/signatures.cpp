#include "bindings/lua/signatures.h"

#include <algorithm>
#include <stdexcept>

#include "bindings/lua/nil_argument.h"
#include "bindings/lua/parts.h"
#include "bindings/lua/state.h"
#include "library_file.h"
#include "src/ops/op_table.h"

namespace gpulua {

namespace {

constexpr const char* signatures_file = "signatures.txt";

constexpr std::string_view gpu_prefix = "gpu.", array_prefix = "x:", generator_prefix = "g:";

/// The number of parameters: the commas outside of {}, whose names belong to one table, plus one. The parameters of a
/// call of the result do not count.
int count(std::string_view parameters) {
  parameters = parameters.substr(0, parameters.find(")("));
  if (parameters.starts_with('{')) return 1;
  if (parameters == "()") return 0;
  if (parameters.find("...") != parameters.npos) return CallSignature::any_number;
  int commas = 0;
  bool in_options = false;
  for (const char c : parameters) {
    if (c == '{' || c == '}') in_options = c == '{';
    if (c == ',' && !in_options) ++commas;
  }
  return commas + 1;
}

/// Removes the first parameter: "(x [, axis] [, {out}])" becomes "([axis] [, {out}])".
std::string without_first(std::string_view parameters) {
  const std::size_t end = parameters.find_first_of(",)[", 1);
  std::string_view rest = parameters.substr(end);
  if (rest.starts_with('[')) {  // "(x [, axis] ...": the comma is in the brackets
    rest.remove_prefix(rest.find_first_not_of("[, "));
    return "([" + std::string(rest);
  }
  if (rest.starts_with(',')) rest.remove_prefix(rest.find_first_not_of(", "));
  return "(" + std::string(rest);
}

/// Removes the options: "(x [, axis] [, {out}])" becomes "(x [, axis])".
std::string without_options(std::string_view parameters) {
  const std::size_t options = parameters.find(" [, {");
  return options == parameters.npos ? std::string(parameters) : std::string(parameters.substr(0, options)) + ")";
}

/// The row of gpu.name in the table of elementwise operations, or null.
const OpInfo* elementwise_row(std::string_view name) {
  for (const OpAlias& alias : op_aliases())
    if (alias.name == name) return find_op(alias.op);
  const OpInfo* row = find_op(name);
  return row && row->rule != DTypeRule::conversion && row->rule != DTypeRule::random ? row : nullptr;
}

}  // namespace

void CallSignatures::read_lines(std::string_view text) {
  std::string_view file;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (const std::size_t colon = line.find(".lua: "); colon != line.npos) {
      const std::size_t words = line.find(' ') + 1;
      file = line.substr(0, words - 2);
      sandboxes_.emplace(file, line.substr(words));
      continue;
    }
    const std::size_t parameters = line.find_first_of("({");
    lines_.emplace(line.substr(0, parameters), Line{line.substr(std::min(parameters, line.size())), file});
  }
}

const std::map<std::string, CallSignatures::Line, std::less<>>& CallSignatures::lines() {
  if (lines_.empty()) read_lines(library_file(signatures_file));
  return lines_;
}

const CallSignatures::Line* CallSignatures::line(const std::string& name) {
  const auto found = lines().find(name);
  return found == lines_.end() ? nullptr : &found->second;
}

std::string_view CallSignatures::file_of(std::string_view receiver, std::string_view name) {
  const std::string method(name);
  if (const Line* own = line(std::string(receiver) + method)) return own->file;
  const Line* function = receiver == array_prefix       ? line("gpu." + method)
                         : receiver == generator_prefix ? line("gpu.random." + method)
                                                        : nullptr;
  return function ? function->file : std::string_view();
}

std::vector<std::pair<std::string, std::string>> CallSignatures::functions_of(std::string_view file) {
  std::vector<std::pair<std::string, std::string>> functions;
  for (const auto& [function, line] : lines()) {
    if (line.file != file) continue;
    const std::size_t name = function.find_last_of(".:") + 1;
    functions.emplace_back(function.substr(0, name), function.substr(name));
  }
  return functions;
}

std::vector<std::string_view> CallSignatures::files() {
  std::vector<std::string_view> files;
  for (const auto& [function, line] : lines())
    if (!line.file.empty() && std::ranges::find(files, line.file) == files.end()) files.push_back(line.file);
  return files;
}

bool CallSignatures::is_in_sandboxes(std::string_view file, std::string_view name) {
  lines();
  const auto found = sandboxes_.find(file);
  if (found == sandboxes_.end()) return false;
  return found->second == "all" ||
         (", " + std::string(found->second) + ",").find(", " + std::string(name) + ",") != std::string::npos;
}

bool CallSignatures::has_functions(std::string_view text) {
  const auto first = lines().lower_bound(text);
  return first != lines_.end() && first->first.starts_with(text);
}

CallSignature& CallSignatures::add(std::string_view receiver, std::string_view name) {
  return added_.emplace_back(CallSignature{std::string(receiver), std::string(name), {}});
}

const CallSignature* CallSignatures::added(const void* address) const {
  const auto found = std::ranges::find_if(added_, [&](const CallSignature& own) { return &own == address; });
  return found == added_.end() ? nullptr : &*found;
}

bool CallSignatures::has_function(const std::string& name) {
  return is_in_module(name) || line("x:" + name);
}
bool CallSignatures::is_in_module(const std::string& name) {
  return line("gpu." + name) || elementwise_row(name);
}

void CallSignatures::read(CallSignature& signature) {
  if (signature.most == CallSignature::unread) signature = find(signature.receiver, signature.name);
}

const CallSignature& CallSignatures::find(std::string_view receiver, std::string_view name) {
  const std::string full = std::string(receiver) + std::string(name);
  auto& slot = found_[full];
  if (slot) return *slot;
  CallSignature signature{std::string(receiver), std::string(name), {}};
  if (const Line* own = line(full)) {
    signature.parameters = own->parameters;
    signature.most = count(own->parameters) + signature.is_method();
  } else if (receiver == generator_prefix) {
    const CallSignature& function = find("gpu.random.", name);
    signature.parameters = function.parameters;
    signature.most = function.most + 1;
  } else if (receiver == array_prefix && name.ends_with('_')) {
    signature.parameters = without_options(find(gpu_prefix, name.substr(0, name.size() - 1)).parameters);
    signature.most = count(signature.parameters);
    signature.parameters = without_first(signature.parameters);
  } else if (receiver == array_prefix) {
    const CallSignature& function = find(gpu_prefix, name);
    signature.parameters = without_first(function.parameters);
    signature.most = function.most;
  } else {
    const OpInfo* row = receiver == gpu_prefix ? elementwise_row(name) : nullptr;
    const Line* family = row && row->arity <= 2 ? line(row->arity == 1 ? "gpu.<one>" : "gpu.<two>") : nullptr;
    if (!family) throw std::logic_error("no source declares " + full);
    signature.parameters = family->parameters;
    signature.most = count(family->parameters);
  }
  signature.most = std::min(signature.most, CallSignature::any_number);
  slot = std::make_unique<const CallSignature>(std::move(signature));
  return *slot;
}

std::vector<std::string_view> CallSignatures::options(const std::string& op) {
  std::vector<std::string_view> names;
  const std::string name = op.find(':') == op.npos ? std::string(gpu_prefix) + op : op;
  const Line* function = line(name);
  if (!function) throw std::logic_error("no source declares " + name);
  std::string_view rest = function->parameters;
  rest.remove_prefix(std::min(rest.find('{'), rest.size()));
  constexpr std::string_view between = "{}[], ";
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(between), rest.size()));
    if (rest.empty() || rest.front() == ')') return names;
    const std::size_t end = std::min(rest.find_first_of("{}[], "), rest.size());
    names.push_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
}

bool CallSignatures::takes_list(const std::string& op) {
  const Line* function = line(std::string(gpu_prefix) + op);
  if (!function) return false;
  const std::string_view parameters = function->parameters;
  return parameters.starts_with("(arrays") || parameters.starts_with("(matrices");
}

bool CallSignature::has_option(std::string_view option) const {
  const std::string_view text = parameters;
  const std::string_view options = text.substr(std::min(text.rfind('{'), text.size()));
  for (const char* before : {"{", " "})
    for (const char* after : {",", "}"})
      if (options.find(before + std::string(option) + after) != options.npos) return true;
  return false;
}

void attach_signatures(lua_State* L, std::string_view receiver) {
  CallSignatures& signatures = bindings_of(L).signatures;
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
    if (!lua_iscfunction(L, -1)) continue;
    lua_pushlightuserdata(L, &signatures.add(receiver, lua_tostring(L, -2)));
    lua_setupvalue(L, -2, signature_upvalue);
  }
}

void guard_function(lua_State* L, std::string_view receiver, std::string_view name) {
  CallSignature& signature = bindings_of(L).signatures.add(receiver, name);
  lua_pushlstring(L, name.data(), name.size());
  lua_pushvalue(L, -1);
  lua_rawget(L, -3);
  lua_pushlightuserdata(L, &signature);
  lua_pushboolean(L, signature.is_method());
  lua_pushboolean(L, name == "result_type");
  call_helper(L, "guard", 4, 1);
  lua_rawset(L, -3);
}

const CallSignature* check_arguments(lua_State* L) {
  auto* signature = static_cast<CallSignature*>(lua_touserdata(L, lua_upvalueindex(signature_upvalue)));
  if (!signature) return nullptr;
  const int count = lua_gettop(L);
  if (count > signature->most) {
    bindings_of(L).signatures.read(*signature);
    if (count > signature->most) refuse_arguments(L, *signature, 1);
  }
  int index = count;
  while (index > 0 && !lua_isnil(L, index)) --index;
  if (index > 0) check_nils(L, *signature, 1, 0);
  return signature;
}

namespace {

/// Whether one of the arguments is a comparison as text, ">=".
bool has_comparison(lua_State* L, int first) {
  for (int index = first; index <= lua_gettop(L); ++index) {
    if (lua_type(L, index) != LUA_TSTRING) continue;
    const std::string_view text = lua_tostring(L, index);
    if (!text.empty() && text.size() <= 2 && text.find_first_not_of("<>=~!") == text.npos) return true;
  }
  return false;
}

}  // namespace

void refuse_arguments(lua_State* L, const CallSignature& signature, int first) {
  const std::string mistaken = mistaken_colon(L, signature, first);
  if (!mistaken.empty()) throw Error(mistaken);
  const int self = signature.is_method() ? 1 : 0;
  const int most = signature.most - self, got = lua_gettop(L) - first + 1 - self;
  const std::string expected = most == 0   ? "no arguments"
                               : most == 1 ? "at most 1 argument"
                                           : "at most " + std::to_string(most) + " arguments";
  const bool are_values = lua_type(L, first) == LUA_TNUMBER && signature.text().find("(values") != std::string::npos;
  const bool one_list =
      self == 0 && (are_values || (most == 1 && bindings_of(L).signatures.takes_list(signature.op())));
  const std::string in_options = dtype_and_device(L, lua_gettop(L) - 1);
  throw Error("[{}] expected {}, got {}: {}{}", signature.op(), expected, got, signature.text(),
              one_list                                                ? "; braces make one list, {x, y}"
              : signature.has_option("device") && !in_options.empty() ? in_options
              : has_comparison(L, first)
                  ? "; methods compare: x:gt(y) is a mask, t:take(t.name:gt(y)) the rows where it is true"
                  : "");
}

std::string mistaken_colon(lua_State* L, const CallSignature& signature, int first) {
  const std::string op = "[" + signature.op() + "] ";
  if (signature.is_method()) {
    if (lua_type(L, first) == LUA_TUSERDATA) return {};
    // An object that is made in Lua; a text has a metatable too.
    if (lua_istable(L, first) && lua_getmetatable(L, first) != 0) return lua_pop(L, 1), std::string();
    return op + "expected " + signature.text() + ", with a colon, got a dot and " + describe(L, first) + " in " +
           signature.receiver.substr(0, signature.receiver.size() - 1) + "'s place";
  }
  const std::string part = part_at(L, first);
  if (part.empty()) return {};
  return op + "expected " + signature.text() + ", with a dot, got a colon, which passes " + part + " itself";
}

namespace {

/// refuse(signature, arguments...): raises the error about too many arguments.
int refuse(lua_State* L) {
  refuse_arguments(L, *static_cast<const CallSignature*>(lua_touserdata(L, 1)), 2);
}

/// refuse_nil(signature, arguments...): raises the error about nil for an argument that can be left out, if the script
/// has passed it. The caller is the function that checks its arguments.
int refuse_nil(lua_State* L) {
  check_nils(L, *static_cast<CallSignature*>(lua_touserdata(L, 1)), 2, 1);
  return 0;
}

/// most_arguments(signature): the maximum number of the function's arguments.
int most_arguments(lua_State* L) {
  auto& signature = *static_cast<CallSignature*>(lua_touserdata(L, 1));
  bindings_of(L).signatures.read(signature);
  lua_pushinteger(L, signature.most);
  return 1;
}

/// method_signature(receiver, name, parameters, op): the signature of a method of objects that are made in Lua.
int method_signature(lua_State* L) {
  CallSignature& signature = bindings_of(L).signatures.add(check_string(L, 1, "signature", "a receiver"),
                                                           check_string(L, 2, "signature", "a name"));
  signature.parameters = check_string(L, 3, "signature", "parameters");
  signature.shown = check_string(L, 4, "signature", "a name");
  signature.most = std::min(count(signature.parameters) + 1, CallSignature::any_number);
  lua_pushlightuserdata(L, &signature);
  return 1;
}

/// name_of(signature): the function's name in messages; for methods of other objects than arrays, with their receiver.
int name_of(lua_State* L) {
  const auto& signature = *static_cast<const CallSignature*>(lua_touserdata(L, 1));
  const bool is_of_other = signature.is_method() && signature.receiver != array_prefix;
  const std::string name = is_of_other ? signature.receiver + signature.name : signature.op();
  lua_pushlstring(L, name.data(), name.size());
  return 1;
}

/// option_names(op): the list of the option names.
int option_names(lua_State* L) {
  const auto names = bindings_of(L).signatures.options(std::string(check_string(L, 1, "options", "a name")));
  lua_createtable(L, static_cast<int>(names.size()), 0);
  for (std::size_t i = 0; i < names.size(); ++i) {
    lua_pushlstring(L, names[i].data(), names[i].size());
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  return 1;
}

/// takes_list(op): whether the first argument of gpu.op is a list of arrays or matrices.
int takes_list(lua_State* L) {
  lua_pushboolean(L, bindings_of(L).signatures.takes_list(std::string(check_string(L, 1, "options", "a name"))));
  return 1;
}

/// signatures(): the text of all signatures.
int signature_lines(lua_State* L) {
  const std::string_view text = library_file(signatures_file);
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

/// signature(receiver, name): the text of the signature.
int signature_text(lua_State* L) {
  const std::string receiver(check_string(L, 1, "signature", "a receiver"));
  const std::string text = bindings_of(L).signatures.find(receiver, check_string(L, 2, "signature", "a name")).text();
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

}  // namespace

void add_signature_helpers(lua_State* L) {
  set_functions(L, {{"method_signature", protect<method_signature>},
                    {"most_arguments", protect<most_arguments>},
                    {"name_of", protect<name_of>},
                    {"option_names", protect<option_names>},
                    {"takes_list", protect<takes_list>},
                    {"refuse", protect<refuse>},
                    {"refuse_nil", protect<refuse_nil>},
                    {"signature", protect<signature_text>},
                    {"signatures", protect<signature_lines>}});
}

}  // namespace gpulua
