// Functions of the host program that scripts call.

#include "src/embed/callbacks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "bindings/lua/caller.h"
#include "bindings/lua/fields.h"
#include "bindings/lua/lua.h"
#include "bindings/lua/nil_source.h"
#include "bindings/lua/state.h"
#include "src/embed/failure.h"
#include "src/embed/script_state.h"
#include "src/embed/values.h"

namespace gpulua::embed {
namespace {

constexpr std::size_t most_arguments = 64, most_results = 16;

/// What a function of the host program's has as its upvalue. A program's own Lua may call it after gpulua_destroy().
struct Bound {
  gpulua_state* state;
  Callback* callback;  // of the state's; null for `print`
};

void push_bound(lua_State* L, const Bound& bound) {
  *static_cast<Bound*>(lua_newuserdata(L, sizeof bound)) = bound;
}

/// Null when the state has ended.
ScriptState* state_of(const Bound& bound) {
  return ScriptState::find(bound.state);
}

/// Whether a call of the program's gives the status, too, where a callback has given it and no script has handled the
/// error: the program reacts to what has happened, wherever that was. What is wrong with a call in the callback is the
/// callback's mistake, a GPULUA_RUNTIME.
bool passes_on(gpulua_status status) {
  switch (status) {
    case GPULUA_MEMORY:
    case GPULUA_DEVICE:
    case GPULUA_DEADLINE:
    case GPULUA_INTERRUPTED:
    case GPULUA_UNAVAILABLE:
    case GPULUA_LOST:
      return true;
    default:
      return false;
  }
}

/// The error of a callback: its own, or that of a call in it, in whatever state, whose status it passes on. `results`:
/// how many it has set.
const ScriptState::CallbackError& error_of(ScriptState& state, gpulua_status status, std::size_t results) {
  std::optional<ScriptState::CallbackError>& error = state.callback_error;
  if (!error && last_status() == status) error = {last_failure(), last_cause()};
  if (error) {
    if (passes_on(status)) error->status = status;
    return *error;
  }
  const bool is_status = status > GPULUA_OK && status <= GPULUA_LOST;
  error = {"the host program's function gave " +
           (is_status ? gpulua_status_name(status) : std::to_string(status) + ", which is no gpulua_status,") +
           " without a text: return gpulua_fail(state, text) says what has failed"};
  // As a lua_CFunction does.
  if (static_cast<std::size_t>(status) == results)
    error->text += "; a callback that has succeeded returns GPULUA_OK, 0: the number of its results, " +
                   std::to_string(results) + ", is *out_count alone";
  return *error;
}

/// Calls the host program from L. An exception that leaves it is its error.
template <class Run>
gpulua_status call_back(lua_State* L, ScriptState& state, const char* name, const Run& run) {
  const ScriptState::CallingBack calling(state, L, name);
  const auto escaped = [name] {
    return "[" + std::string(name) +
           "] expected the host program's function to return gpulua_fail(state, text), got a C++ exception that has "
           "left it";
  };
  state.callback_error.reset();
  forget_status();
  try {
    return run();
  } catch (const std::exception& error) {
    state.callback_error = {escaped() + ": " + text_of(error)};
  } catch (...) {
    state.callback_error = {escaped()};
  }
  return GPULUA_RUNTIME;
}

/// Calls the host program with the values on the stack. Gives the number of results, or -1 with a message pushed.
int call_host(lua_State* L, Callback& callback) {
  ScriptState& state = *callback.state;
  const auto count = static_cast<std::size_t>(lua_gettop(L));
  std::array<gpulua_value, most_arguments> in;
  std::array<gpulua_value, most_results> out{};
  constexpr auto unset = static_cast<decltype(out.back().kind)>(0x7f);
  out.back().kind = unset;  // tells a count that the callback has left as it was
  if (count > in.size()) {
    lua_pushfstring(L, "[callback] expected up to %d arguments, got %d", static_cast<int>(in.size()),
                    static_cast<int>(count));
    return -1;
  }
  // Otherwise the leftovers of the callbacks of one call would pile up until it ends.
  state.drop_leftovers();
  if (!read_values(L, 1, count, state, in.data(), {"callback", "argument"}, Texts::on_stack)) return -1;
  std::size_t results = out.size();
  std::optional<std::string> message;
  const gpulua_status status = call_back(L, state, callback.path.c_str(), [&] {
    return callback.function(state.handle(), callback.user, in.data(), count, out.data(), &results);
  });
  if (status != GPULUA_OK)
    message = error_of(state, status, results).text;
  else if (state.callback_error)
    message =
        "[callback] expected the status of gpulua_fail, got GPULUA_OK after it; return gpulua_fail(state, text) "
        "passes the failure on: " +
        state.callback_error->text;
  else if (results == out.size() && out.back().kind == unset)
    message = "[callback] expected *out_count set to the number of results, got the " + std::to_string(results) +
              " that it was before the call, which is how many fit at out; `*out_count = 0;` is for no results";
  else if (results > out.size())
    message = "[callback] expected up to " + std::to_string(out.size()) + " results, got " + std::to_string(results);
  release_values(in.data(), count);
  if (message) {
    lua_pushlstring(L, message->data(), message->size());
    return -1;
  }
  const bool pushed = push_values(L, state, out.data(), results, {"callback", "result"});
  release_values(out.data(), results);
  return pushed ? static_cast<int>(results) : -1;
}

/// Names the variable of the script's that is nil in the message at the top of the stack, "[price] expected a number as
/// argument 1, got nil". Without effect for other messages.
void name_nil(lua_State* L) {
  constexpr std::string_view mark = "got nil";
  const std::string message(name_at(L, -1));
  const std::size_t end = std::min(message.find('\n'), message.size());
  if (!std::string_view(message).substr(0, end).ends_with(mark)) return;
  const std::string text = message.substr(0, end) + about_nil_variable(L) + message.substr(end);
  lua_pop(L, 1);
  lua_pushlstring(L, text.data(), text.size());
}

/// Puts the script's line in front of the message at the top of the stack, unless it is there: of calls that nest
/// without an end, each one would add the same.
void add_position(lua_State* L) {
  const std::string position = caller_position(L);
  if (name_at(L, -1).starts_with(position)) return;
  lua_pushlstring(L, position.data(), position.size());
  lua_insert(L, -2);
  lua_concat(L, 2);
}

/// The error at the top of the stack is that of a callback, with what the program has given it.
void note_raised(lua_State* L, ScriptState& state) {
  const std::optional<ScriptState::CallbackError> error = std::exchange(state.callback_error, std::nullopt);
  state.raised = error ? *error : ScriptState::CallbackError{};
  state.raised.text = name_at(L, -1);
}

/// The Lua function of a callback, which is its own upvalue.
int run_callback(lua_State* L) {
  const auto& bound = *static_cast<const Bound*>(lua_touserdata(L, lua_upvalueindex(own_upvalue)));
  if (state_of(bound) == nullptr) {
    lua_pushliteral(
        L, "[callback] expected a function of a gpulua_state that is open, got one of a state that was destroyed");
  } else {
    const int results = call_host(L, *bound.callback);
    if (results >= 0) return results;
    name_nil(L);
  }
  add_position(L);
  if (ScriptState* const state = state_of(bound)) note_raised(L, *state);
  return lua_error(L);
}

/// Gives the line at the top of the stack to the host program. False with the message pushed where that fails.
bool print_line(lua_State* L, ScriptState& state) {
  const gpulua_options& options = state.options();
  call_back(L, state, "print", [&] {
    std::size_t size = 0;
    const char* const text = lua_tolstring(L, -1, &size);
    options.print(options.user, text, size);
    return GPULUA_OK;
  });
  if (!state.callback_error) return true;
  lua_pushlstring(L, state.callback_error->text.data(), state.callback_error->text.size());
  return false;
}

/// Its upvalues: what binds it, and the print that was there before.
int print(lua_State* L) {
  const int count = lua_gettop(L);
  ScriptState* const state = state_of(*static_cast<const Bound*>(lua_touserdata(L, lua_upvalueindex(1))));
  if (state == nullptr) {
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_insert(L, 1);
    lua_call(L, count, 0);
    return 0;
  }
  lua_getglobal(L, "tostring");
  lua_pushliteral(L, "");
  for (int i = 1; i <= count; ++i) {
    lua_pushvalue(L, count + 1);
    lua_pushvalue(L, i);
    lua_call(L, 1, 1);
    if (lua_isstring(L, -1) == 0) return luaL_error(L, "'tostring' must return a string to 'print'");
    if (i > 1) {
      lua_pushliteral(L, "\t");
      lua_insert(L, -2);
    }
    lua_concat(L, i > 1 ? 3 : 2);
  }
  if (print_line(L, *state)) return 0;
  add_position(L);
  note_raised(L, *state);
  return lua_error(L);
}

}  // namespace

std::string ScriptState::text_of_callback() const {
  std::string text = "expected no callback of this state to run, got ";
  text += callback_name_ != nullptr ? "'" + std::string(callback_name_) + "'" : "a call that does";
  lua_Debug frame{};
  if (callback_name_ != nullptr && find_script_frame(running_, frame))
    text += ", which " + std::string(frame.short_src) + ":" + std::to_string(frame.currentline) + " has called";
  return text + "; call this after it has returned, such as when it has set a flag";
}

void set_print(lua_State* L, ScriptState& state) {
  push_bound(L, {state.handle(), nullptr});
  lua_getglobal(L, "print");
  lua_pushcclosure(L, &print, 2);
  lua_setglobal(L, "print");
}

void push_callback(lua_State* L, Callback& callback) {
  push_bound(L, {callback.state->handle(), &callback});
  push_function(L, &run_callback);
}

}  // namespace gpulua::embed
