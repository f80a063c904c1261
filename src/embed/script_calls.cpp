// Running scripts: gpulua_run, load, get, set, call, and functions of the host program.

#include <cstring>
#include <string>
#include <string_view>

#include "bindings/lua/caller.h"
#include "bindings/lua/chunk_texts.h"
#include "src/base/characters.h"
#include "src/base/origin.h"
#include "src/embed/callbacks.h"
#include "src/embed/error_text.h"
#include "src/embed/failure.h"
#include "src/embed/path.h"
#include "src/embed/script_parser.h"
#include "src/embed/values.h"

using namespace gpulua;
using namespace gpulua::embed;

namespace {

using Access = ScriptState::Access;

struct Load {
  ScriptState* state;
  const char* text;
  std::size_t size;
  std::string chunk;
  gpulua_function** out;  // null: run it
  bool parsed = false;
  int status = 0;  // of the parser
};

int load(lua_State* L, void* data) {
  auto& request = *static_cast<Load*>(data);
  // Bytecode can do anything to the process.
  const char* const mode = request.state->is_sandbox() ? "t" : "bt";
  request.status = parse(L, {request.text, request.size}, request.chunk.c_str(), mode, request.state->interruption());
  if (request.status != 0) {
    if (request.status != LUA_ERRRUN) add_parser_hint(L, request.text, request.size);
    return lua_error(L);
  }
  request.parsed = true;
  keep_chunk_text(L, request.chunk.c_str(), {request.text, request.size}, request.state->chunk_text_bytes());
  if (request.out == nullptr) {
    lua_pushvalue(L, -1);  // one stays, for caller_position
    lua_call(L, 0, 0);
    request.state->settle(L);
    return 0;
  }
  gpulua_value value{};
  if (!read_values(L, 1, 1, *request.state, &value, {"load", "function", false})) return lua_error(L);
  *request.out = value.as.function;
  return 0;
}

/// Says in LuaJIT's message about its memory, which has no traceback, what the program has called.
void name_in_memory_error(ScriptState::Failure& failure, const std::string& what) {
  constexpr std::string_view mark = "not enough memory";
  if (failure.status == GPULUA_MEMORY && failure.text.starts_with(mark)) failure.text.insert(mark.size(), " " + what);
}

void load_script(ScriptState& state, const char* op, const char* text, std::size_t size, const char* name,
                 gpulua_function** out) {
  if (text == nullptr || name == nullptr || *name == 0)
    throw Error("[{}] expected a text and a name for messages, such as \"model.lua\", got {}", op,
                text == nullptr   ? "NULL for the text"
                : name == nullptr ? "NULL for the name"
                                  : "an empty name");
  // "@": messages show the name as that of a file. A name with Lua's own mark of another kind, "=", stays.
  Load request{&state, text, size, *name == '=' ? name : '@' + std::string(name), out};
  try {
    state.run_script(&load, &request, out != nullptr && state.is_sandbox() ? ScriptState::most_ms_of_lookup : 0);
  } catch (ScriptState::Failure& failure) {
    if (!request.parsed && failure.status == GPULUA_RUNTIME)
      failure.status = request.status == LUA_ERRMEM ? GPULUA_MEMORY : GPULUA_SYNTAX;
    name_in_memory_error(failure, (request.parsed ? "running " : "loading ") + std::string(name + (*name == '=')));
    throw;
  }
}

struct At {
  ScriptState* state;
  const char* op;
  const char* path;
  gpulua_value* out = nullptr;
  const gpulua_value* in = nullptr;
  Callback* callback = nullptr;
  bool wants_function = false, raised_by_table = false;  // the latter: the error of a table's own __newindex
};

/// Looks something up for the program, or sets it. What fails is a mistake of the program's, as of a path, unless a
/// metamethod of a script's has raised the error.
void look_up(ScriptState& script, ScriptState::Body body, At& at) {
  try {
    script.run_lookup(body, &at);
  } catch (ScriptState::Failure& failure) {
    const bool is_scripts = failure.raiser == ScriptState::Raiser::script || at.raised_by_table;
    if (!is_scripts && failure.status == GPULUA_RUNTIME) failure.status = GPULUA_ARGUMENT;
    throw;
  }
}

void check_path(const At& at) {
  if (at.path == nullptr || *at.path == 0)
    throw Error("[{}] expected a path of names, such as \"model.step\", got {}", at.op,
                at.path == nullptr ? "NULL" : "an empty text");
}

/// Of a path where a value is put.
void check_target(const At& at, bool is_function) {
  check_path(at);
  constexpr std::string_view library = "gpu";
  const std::string_view path = at.path;
  if (path.starts_with(library) && (path == library || path[library.size()] == '.' || path[library.size()] == '['))
    throw Error(
        "[{}] expected a path outside of gpu, which is the library's, got '{}'; take a table of the program's own, "
        "such as 'host.{}'",
        at.op, path, path.size() > library.size() + 1 ? path.substr(library.size() + 1) : "name");
  // A field of a table may have any name, t["a name"]; a global, and a function that is called, are names in scripts.
  const std::string_view name = unwritable_name(at.path, is_function);
  if (name.empty()) return;
  std::string other(name);
  for (char& c : other) c = is_word(c) ? c : '_';
  if (other == name && !is_name_of_lua(name) && (name[0] < '0' || name[0] > '9'))
    throw Error(
        "[{}] expected names that scripts can write, got '{}' in the path '{}', a word of Lua's; '{}_' is a name",
        at.op, name, at.path, name);
  throw Error("[{}] expected names that scripts can write, of letters, digits and _, got '{}' in the path '{}'{}",
              at.op, name, at.path, is_name_of_lua(other) ? "; '" + other + "' is one" : "");
}

/// Pushes the message about a path with no function at its end, where the value and below it its holder are at the top.
void push_no_function(lua_State* L, const At& at, const Key& last) {
  const std::string message = "[" + std::string(at.op) + "] expected a function at '" + at.path + "', got " +
                              luaL_typename(L, -1) + (lua_isnil(L, -1) ? advice_about_nil(L, last) : "");
  lua_pushlstring(L, message.data(), message.size());
}

int get(lua_State* L, void* data) {
  const At& at = *static_cast<At*>(data);
  const Path holder = push_holder(L, at.op, at.path);
  if (!holder.good) return lua_error(L);
  push_key(L, holder.last);
  lua_gettable(L, -2);
  if (at.wants_function && !lua_isfunction(L, -1)) {
    push_no_function(L, at, holder.last);
    return lua_error(L);
  }
  if (!read_values(L, lua_gettop(L), 1, *at.state, at.out, {at.op, at.path, false})) return lua_error(L);
  return 0;
}

/// table[key] = value, which may raise the table's own error.
int set_field(lua_State* L) {
  lua_settable(L, 1);
  return 0;
}

int set(lua_State* L, void* data) {
  At& at = *static_cast<At*>(data);
  const Path holder = push_holder(L, at.op, at.path, true);
  if (!holder.good) return lua_error(L);
  push_key(L, holder.last);
  if (at.callback != nullptr)
    push_callback(L, *at.callback);
  else if (!push_values(L, *at.state, at.in, 1, {at.op, at.path, false}))
    return lua_error(L);
  const int top = lua_gettop(L);
  lua_pushcfunction(L, &set_field);
  lua_insert(L, top - 2);
  if (lua_pcall(L, 3, 0, 0) == 0) return 0;
  at.raised_by_table = true;
  if (lua_type(L, -1) != LUA_TSTRING) return lua_error(L);
  lua_pushfstring(L, "[%s] cannot set '%s': %s", at.op, at.path, lua_tostring(L, -1));
  return lua_error(L);
}

struct Call {
  HeldFunction* function;
  const gpulua_value* in;
  std::size_t in_count;
  gpulua_value* out;
  std::size_t capacity;
  std::size_t results;
  bool refused = false;  // an argument, such as a closed handle
};

/// "calling 'tick', defined at plugin.lua:3", or "running plugin.lua".
std::string describe_call(const HeldFunction& function) {
  lua_State* const L = function.state->lua();
  lua_Debug about{};
  lua_rawgeti(L, LUA_REGISTRYINDEX, function.reference);
  const bool is_function = lua_isfunction(L, -1);
  is_function ? static_cast<void>(lua_getinfo(L, ">S", &about)) : lua_pop(L, 1);
  const bool is_lua = is_function && *about.what != 'C' && !is_library(about);
  if (is_lua && std::string_view(about.what) == "main") return "running " + std::string(about.short_src);
  const std::string called = function.path.empty() ? "a function" : "'" + function.path + "'";
  if (!is_lua) return "calling " + called;
  return "calling " + called + (function.path.empty() ? "" : ",") + " defined at " +
         line_text(about.short_src, about.linedefined);
}

int call(lua_State* L, void* data) {
  auto& request = *static_cast<Call*>(data);
  ScriptState& state = *request.function->state;
  lua_rawgeti(L, LUA_REGISTRYINDEX, request.function->reference);
  lua_pushvalue(L, -1);  // one stays, for caller_position
  if (!push_values(L, state, request.in, request.in_count, {"call", "argument"}))
    return request.refused = true, lua_error(L);
  lua_call(L, static_cast<int>(request.in_count), LUA_MULTRET);
  lua_remove(L, 1);
  request.results = static_cast<std::size_t>(lua_gettop(L));
  const std::size_t wanted = std::min(request.results, request.capacity);
  luaL_checkstack(L, 1, "results");
  if (!state.compute(L, static_cast<int>(wanted))) return lua_error(L);
  state.settle(L);
  if (!read_values(L, 1, wanted, state, request.out, {"call", "result"})) return lua_error(L);
  lua_settop(L, 0);
  return 0;
}

}  // namespace

gpulua_status gpulua_run(gpulua_state* state, const char* text, size_t size, const char* name) {
  return in_state(state, Access::always, "run",
                  [&](ScriptState& script) { load_script(script, "run", text, size, name, nullptr); });
}

gpulua_status gpulua_load(gpulua_state* state, const char* text, size_t size, const char* name, gpulua_function** out) {
  if (out != nullptr) *out = nullptr;
  return in_state(state, Access::always, "load", [&](ScriptState& script) {
    if (out == nullptr) throw Error("[load] expected a place for the function, got NULL");
    load_script(script, "load", text, size, name, out);
  });
}

gpulua_status gpulua_get(gpulua_state* state, const char* path, gpulua_function** out) {
  if (out != nullptr) *out = nullptr;
  return in_state(state, Access::always, "get", [&](ScriptState& script) {
    if (out == nullptr) throw Error("[get] expected a place for the function, got NULL");
    gpulua_value value{};
    At at{&script, "get", path, &value};
    at.wants_function = true;
    check_path(at);
    look_up(script, &get, at);
    *out = value.as.function;
    find_held<HeldFunction>(*out)->path = path;
  });
}

gpulua_status gpulua_get_value(gpulua_state* state, const char* path, gpulua_value* out) {
  if (out != nullptr) *out = {};
  return in_state(state, Access::always, "get_value", [&](ScriptState& script) {
    if (out == nullptr) throw Error("[get_value] expected a place for the value, got NULL");
    At at{&script, "get_value", path, out};
    check_path(at);
    look_up(script, &get, at);
  });
}

gpulua_status gpulua_set(gpulua_state* state, const char* path, const gpulua_value* value) {
  return in_state(state, Access::always, "set", [&](ScriptState& script) {
    if (value == nullptr) throw Error("[set] expected a value, got NULL");
    At at{&script, "set", path};
    at.in = value;
    check_target(at, value->kind == GPULUA_FUNCTION);
    look_up(script, &set, at);
  });
}

gpulua_status gpulua_register(gpulua_state* state, const char* path, gpulua_callback callback, void* user) {
  return in_state(state, Access::always, "register", [&](ScriptState& script) {
    if (callback == nullptr) throw Error("[register] expected a function, got NULL");
    At at{&script, "register", path};
    check_target(at, /*is_function=*/true);
    at.callback = script.add_callback(callback, user, path);
    look_up(script, &set, at);
  });
}

gpulua_status gpulua_call(gpulua_function* function, const gpulua_value* in, size_t in_count, gpulua_value* out,
                          size_t* out_count, double deadline_ms) {
  auto* const held = find_held<HeldFunction>(function);
  if (held == nullptr) {
    if (out_count != nullptr) *out_count = 0;
    return fail_handle("call", "a gpulua_function", function);
  }
  Call request{held, in, in_count, out, out != nullptr && out_count != nullptr ? *out_count : 0, 0};
  const gpulua_status status = enter(*held->state, Access::always, "call", [&] {
    if (out != nullptr && out_count == nullptr)
      throw Error("[call] expected out_count, how many values fit at out, got NULL; NULL for both drops the results");
    if (out != nullptr && *out_count == 0)
      throw Error("[call] expected *out_count, how many values fit at out, got 0; NULL for both drops the results");
    if (!(deadline_ms >= 0))
      throw Error(
          "[call] expected deadline_ms of 0, for none, or more milliseconds, got {}; a time that is left of another "
          "deadline has passed where it is negative: call nothing then",
          deadline_ms);
    if (in == nullptr && in_count > 0)
      throw Error("[call] expected {} arguments at in, got NULL; in_count is 0 for a call without arguments", in_count);
    try {
      held->state->run_script(&call, &request, deadline_ms);
    } catch (ScriptState::Failure& failure) {
      if (request.refused && failure.status == GPULUA_RUNTIME) failure.status = GPULUA_ARGUMENT;
      if (failure.status == GPULUA_MEMORY) name_in_memory_error(failure, describe_call(*held));
      throw;
    }
  });
  if (out_count != nullptr) *out_count = status == GPULUA_OK ? request.results : 0;
  return status;
}

gpulua_status gpulua_function_retain(gpulua_function* function) {
  return retain<HeldFunction>(function, "function_retain", "a gpulua_function");
}

gpulua_status gpulua_function_release(gpulua_function* function) {
  return release<HeldFunction>(function, "function_release", "a gpulua_function");
}

const char* gpulua_function_description(gpulua_function* function) {
  const auto* const held = find_held<HeldFunction>(function);
  if (held == nullptr) fail_handle("function_description", "a gpulua_function", function);
  return held != nullptr ? held->description.c_str() : nullptr;
}

gpulua_status gpulua_fail(gpulua_state* state, const char* text) {
  return gpulua_fail_with(state, text, nullptr);
}

gpulua_status gpulua_fail_with(gpulua_state* state, const char* text, void* cause) {
  const gpulua_status status = in_state(state, Access::always, "fail", [&](ScriptState& script) {
    if (!script.in_callback())
      throw Error("[fail] expected a callback of this state to run, whose error the text is, got none; text: {}",
                  text != nullptr ? text : "NULL");
    script.callback_error = {
        text != nullptr && *text != 0 ? text : "an error without a text: gpulua_fail(state, text) says what has failed",
        cause};
  });
  return status == GPULUA_OK ? GPULUA_RUNTIME : status;
}
