#include "src/embed/error_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "bindings/kernels/kernel_parts.h"
#include "bindings/lua/caller.h"
#include "bindings/lua/fields.h"
#include "bindings/lua/state.h"
#include "bindings/session/explain_error.h"
#include "bindings/session/hint.h"
#include "bindings/session/traceback.h"
#include "src/base/characters.h"
#include "src/base/nil_name.h"
#include "src/base/text_list.h"
#include "src/embed/path.h"
#include "src/embed/script_state.h"

namespace gpulua::embed {
namespace {

/// A script that is not trusted may make any message, and hints search it for patterns, which nothing interrupts. Lua's
/// own messages about such a script are shorter.
bool may_have_hint(lua_State* L) {
  constexpr std::size_t longest = 300;
  const ScriptState* const state = ScriptState::of(L);
  return state != nullptr && (!state->is_sandbox() || lua_objlen(L, -1) <= longest);
}

/// The fields of an error that is a table: "{code = 5, text = "no port"}". Those that are no numbers, texts or booleans
/// are named by their type; no metamethod is called.
std::string describe_table(lua_State* L, int table) {
  constexpr std::size_t most_fields = 8, most_text = 80;
  std::string fields;
  std::size_t count = 0;
  const auto quoted = [&](int index) {
    std::size_t size = 0;
    const char* const text = lua_tolstring(L, index, &size);
    return std::string(text, std::min(size, most_text)) + (size > most_text ? "..." : "");
  };
  const auto number = [&](int index) {
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), "%.14g", lua_tonumber(L, index));
    return std::string(text.data());
  };
  const auto value = [&](int index) -> std::string {
    switch (lua_type(L, index)) {
      case LUA_TNUMBER:
        return number(index);
      case LUA_TSTRING:
        return '"' + quoted(index) + '"';
      case LUA_TBOOLEAN:
        return lua_toboolean(L, index) != 0 ? "true" : "false";
      default:
        return luaL_typename(L, index);
    }
  };
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
    if (count++ == most_fields) {
      fields += ", ...";
      lua_pop(L, 2);
      break;
    }
    if (!fields.empty()) fields += ", ";
    fields += (lua_type(L, -2) == LUA_TSTRING ? quoted(-2) : "[" + value(-2) + "]") + " = " + value(-1);
  }
  return "{" + fields + "}";
}

/// Puts a text in the place of an error, at 1, that is none.
void replace_object(lua_State* L) {
  std::string text = caller_position(L, 1) + "error object: ";
  text += lua_istable(L, 1) ? describe_table(L, 1) : luaL_typename(L, 1);
  lua_pushlstring(L, text.data(), text.size());
  lua_replace(L, 1);
}

constexpr std::string_view traceback_mark = "\nstack traceback:\n";

/// Each call of the program's that an error passes adds its traceback. Where they nest deeply, those of the innermost
/// calls and that of the outermost are left: the end of the former in a message that has more; else npos.
std::size_t end_of_first_tracebacks(std::string_view message) {
  std::size_t at = 0;
  for (int i = 0; i < 3; ++i) {
    at = message.find(traceback_mark, at == 0 ? 0 : at + traceback_mark.size());
    if (at == message.npos) return at;
  }
  constexpr std::string_view gap = "\n...";
  return message.substr(0, at).ends_with(gap) ? at - gap.size() : at;
}

/// Whether the message has grown a hint.
bool has_hint(std::string_view message) {
  return message.find("\nhint: ") != message.npos;
}

/// What Lua has outside of a sandbox.
bool is_left_out(std::string_view global) {
  constexpr std::string_view names[] = {"io",       "package", "jit",      "ffi",     "dofile",
                                        "loadfile", "module",  "newproxy", "setfenv", "getfenv"};
  return is_one_of(global, names);
}

/// What the message found nil, where Lua has it outside of a sandbox: io of "attempt to index global 'io' (a nil
/// value)", also of a local that holds it, `local io = io`; getenv of "attempt to call field 'getenv' (a nil value)".
/// Else empty.
std::string_view left_out_name(std::string_view message) {
  constexpr std::string_view names[] = {"execute",    "exit",        "getenv",       "remove",   "rename",
                                        "setlocale",  "tmpname",     "getinfo",      "getlocal", "sethook",
                                        "getupvalue", "getregistry", "getmetatable", "dump"};
  if (const std::string_view name = nil_name(message, "global"); is_left_out(name)) return name;
  // Scripts have values of their own by the other names.
  constexpr std::string_view held[] = {"io", "ffi", "jit"};
  for (const char* kind : {"local", "upvalue", "field"})
    if (const std::string_view name = nil_name(message, kind); is_one_of(name, held)) return name;
  if (const std::string_view name = nil_name(message, "field"); is_one_of(name, names)) return name;
  return {};
}

/// Whether the function is a whole script that was called with arguments.
bool has_script_arguments(lua_State* L, const lua_Debug& frame) {
  if (std::string_view(frame.what) != "main" || lua_getlocal(L, &frame, -1) == nullptr) return false;
  lua_pop(L, 1);
  return true;
}

/// A parameter of a function that the host program itself has called, and that is nil. Nothing for other messages.
std::string hint_of_parameter(lua_State* L, std::string_view name) {
  lua_Debug frame{}, caller{};
  int level = 0;
  do
    if (lua_getstack(L, level++, &frame) == 0) return {};
  while (lua_getinfo(L, "Sl", &frame) == 0 || !is_script(frame));
  // Above it is the C function that calls for the program, and nothing else.
  if (lua_getstack(L, level, &caller) == 0 || lua_getstack(L, level + 1, &caller) != 0) return {};
  lua_getinfo(L, "f", &frame);
  int count = 0, position = 0;
  while (const char* const parameter = lua_getlocal(L, nullptr, count + 1))
    if (++count; name == parameter) position = count;
  lua_pop(L, 1);
  if (position == 0 || lua_getlocal(L, &frame, position) == nullptr) return {};
  const bool is_nil = lua_isnil(L, -1);
  lua_pop(L, 1);
  if (!is_nil) return {};
  if (name == "self")
    return "\nhint: self is the table before a colon: the host program gives it as the first argument, an object";
  return "\nhint: " + std::string(name) + " is argument " + std::to_string(position) + " of " + std::to_string(count) +
         " that the function takes, and the host program's call gave none there, or nil";
}

/// What a nil global means in a program's scripts: the name is left out of a sandbox, is an argument of the script, or
/// a local of another one; and what a nil parameter does. The message is the one value on the stack.
void add_host_hint(lua_State* L) {
  const bool is_sandbox = ScriptState::of(L)->is_sandbox();
  if (const std::string_view name = is_sandbox ? left_out_name(name_at(L, 1)) : std::string_view();
      !name.empty() && !has_hint(name_at(L, 1))) {
    const std::string message = std::string(name_at(L, 1)) + "\nhint: a sandbox has no " + std::string(name) +
                                ": it leaves out what reaches files and programs, as io, package, ffi and most of os "
                                "do; the host program gives "
                                "its scripts what they may reach, functions by gpulua_register or state.bind, values "
                                "by gpulua_set or state.set";
    lua_settop(L, 0);
    lua_pushlstring(L, message.data(), message.size());
    return;
  }
  if (const std::string_view local = nil_name(name_at(L, 1), "local"); !local.empty() && !has_hint(name_at(L, 1))) {
    const std::string message = std::string(name_at(L, 1)) + hint_of_parameter(L, local);
    lua_settop(L, 0);
    lua_pushlstring(L, message.data(), message.size());
    return;
  }
  constexpr std::size_t longest_name = 60;
  const std::string_view message = name_at(L, 1), name = nil_name(message, "global");
  lua_Debug frame{};
  if (name.empty() || name.size() > longest_name || has_hint(message) || !find_script_frame(L, frame)) return;
  lua_pushlstring(L, name.data(), name.size());
  // Nothing interrupts a search through the texts of scripts that are not trusted.
  if (has_script_arguments(L, frame)) {
    lua_pushfstring(L, "\nhint: the arguments of a script are ...: local %s = ... takes the first", lua_tostring(L, 2));
  } else if (const char* const chunk = is_sandbox ? nullptr : chunk_with_local(L, name, frame.source)) {
    lua_pushfstring(L, "\nhint: %s is a local of %s, which other scripts do not see: without `local` it is a global",
                    lua_tostring(L, 2), chunk + 1);
  }
  if (lua_gettop(L) > 2) {
    lua_pushvalue(L, 1);
    lua_pushvalue(L, -2);
    lua_concat(L, 2);
    lua_replace(L, 1);
  }
  lua_settop(L, 1);
}

/// Writes the methods of a message's advice as functions, gpu.astype(x, "float32") for x:astype("float32"), where no
/// script runs or has made the call, whose line would stand in front: the program calls functions by their paths, and
/// its language has no methods of arrays. The message is the one value on the stack.
void name_functions(lua_State* L) {
  lua_Debug frame{};
  Bindings* const bindings = find_bindings(L);
  if (bindings == nullptr || !name_at(L, 1).starts_with('[') || find_script_frame(L, frame)) return;
  std::string message(name_at(L, 1));
  const auto is_part = [&](std::size_t at) { return at < message.size() && is_word(message[at]); };
  for (std::size_t colon = message.find(':'); colon != message.npos; colon = message.find(':', colon + 1)) {
    std::size_t first = colon, end = colon + 1;
    while (first > 0 && is_part(first - 1)) --first;
    while (is_part(end)) ++end;
    const bool is_call = first < colon && end > colon + 1 && end < message.size() && message[end] == '(';
    if (!is_call || (first > 0 && message[first - 1] == '.')) continue;
    const std::string object = message.substr(first, colon - first), name = message.substr(colon + 1, end - colon - 1);
    if (!bindings->signatures.is_in_module(name)) continue;
    const bool is_alone = message.compare(end, 2, "()") == 0;
    const std::string call = "gpu." + name + "(" + object + (is_alone ? "" : ", ");
    message.replace(first, end + 1 - first, call);
    colon = first + call.size();
  }
  lua_settop(L, 0);
  lua_pushlstring(L, message.data(), message.size());
}

/// What runs within the innermost call of the program's, which begins with its trampoline.
ScriptState::Raiser find_raiser(lua_State* L) {
  ScriptState::Raiser raiser = ScriptState::Raiser::library;
  lua_Debug frame{};
  for (int level = 0; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "Slf", &frame);
    const lua_CFunction function = lua_tocfunction(L, -1);
    lua_pop(L, 1);
    if (function != nullptr && ScriptState::is_trampoline(function)) break;
    if (is_script(frame)) return ScriptState::Raiser::script;
    if (function != nullptr && is_function_of_kernels(function)) raiser = ScriptState::Raiser::kernels;
  }
  return raiser;
}

}  // namespace

int add_traceback(lua_State* L) {
  lua_settop(L, 1);
  const bool is_text = lua_type(L, 1) == LUA_TSTRING;
  if (ScriptState* const state = ScriptState::of(L))
    is_text ? state->note_cause(name_at(L, 1), find_raiser(L)) : state->note_cause({});
  if (is_text) {
    explain_error(L);
    if (may_have_hint(L)) {
      name_functions(L);
      add_running_hint(L, HintFiles::left);
      add_host_hint(L);
    }
  } else if (luaL_callmeta(L, 1, "__tostring") != 0 && lua_isstring(L, -1)) {
    lua_replace(L, 1);
  } else {
    replace_object(L);
  }
  lua_settop(L, 1);
  add_source_of_nil(L);
  // The error of a call within this one may end with the same lines: calls that nest without an end do.
  if (push_traceback(L) == 1 || name_at(L, 1).ends_with(name_at(L, -1))) {
    lua_settop(L, 1);
    return 1;
  }
  const std::string_view message = name_at(L, 1);
  const std::size_t left_out = end_of_first_tracebacks(message);
  lua_pushlstring(L, message.data(), std::min(left_out, message.size()));
  lua_pushstring(L, left_out == message.npos ? "\n" : "\n...\n");
  lua_pushvalue(L, 2);
  lua_concat(L, 3);
  return 1;
}

namespace {

/// Whether the parser has expected more text.
bool ends_early(std::string_view message) {
  return message.find("near '<eof>'") != message.npos || message.find(": unfinished ") != message.npos;
}

}  // namespace

void add_parser_hint(lua_State* L, const char* text, std::size_t size) {
  const std::string_view script(text, size);
  if (script.ends_with('\0')) {
    lua_pushliteral(
        L, "; the text ends with a byte of zero: its size is that of a C array, sizeof, where strlen is meant");
    return lua_concat(L, 2);
  }
  if (size == sizeof(void*) && ends_early(name_at(L, -1))) {
    lua_pushfstring(L,
                    "; the text ends after %d bytes, the size of a pointer: where that is the sizeof of a char*, "
                    "strlen(text) is meant",
                    static_cast<int>(size));
    return lua_concat(L, 2);
  }
  if (script.ends_with(".lua") && script.find_first_of("\r\n(={\"'") == script.npos) {
    lua_pushliteral(L,
                    "; this looks like a path, where the text of the script is expected: run_file and load_file of "
                    "gpulua.hpp read the file, a C program reads it itself");
    return lua_concat(L, 2);
  }
  if (script.substr(std::min(script.find_first_not_of(" \t\r\n"), script.size())).starts_with("function(")) {
    lua_pushliteral(L,
                    "\nhint: the text itself is the function, and its arguments are ...: local x = ... return 2 * x");
    return lua_concat(L, 2);
  }
  if (may_have_hint(L)) add_hint(L, script, HintFiles::left);
}

}  // namespace gpulua::embed
