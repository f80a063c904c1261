#include "src/notebook/cell_session.h"

#include <pthread.h>
#include <signal.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>

#include "bindings/lua/chunk.h"
#include "notebook_text.h"
#include "src/base/nil_name.h"
#include "src/cli/command_state.h"
#include "src/cli/completion.h"
#include "src/cli/help.h"
#include "src/cli/interrupt.h"
#include "src/cli/report.h"
#include "src/eval/pipeline.h"
#include "src/runtime/context.h"

namespace gpulua {
namespace {

// The functions of notebook.lua in the registry.
constexpr const char* bundle_key = "gpulua.notebook.bundle";
constexpr const char* inspect_key = "gpulua.notebook.inspect";

sigset_t interrupt_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  return set;
}

/// Lets SIGINT through while a cell runs: one that meets ZeroMQ's waits would be an error there.
class Interruptible {
 public:
  Interruptible() {
    const sigset_t set = interrupt_signal();
    const timespec now{};
    while (sigtimedwait(&set, nullptr, &now) == SIGINT) {  // one that came too late for the cell before
    }
    set_interrupt_target(InterruptTarget::script);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  }
  ~Interruptible() {
    const sigset_t set = interrupt_signal();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    set_interrupt_target(InterruptTarget::prompt);
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
};

/// And keeps it off again while the notebook is spoken to.
class Undisturbed {
 public:
  Undisturbed() {
    const sigset_t set = interrupt_signal();
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~Undisturbed() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  sigset_t before_;
};

std::string text_at(lua_State* L, int index) {
  std::size_t size = 0;
  const char* text = lua_tolstring(L, index, &size);
  return text == nullptr ? std::string() : std::string(text, size);
}

/// The table of MIME types on top of the stack, which stays.
Bundle read_bundle(lua_State* L) {
  Bundle bundle;
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1))
    if (lua_type(L, -2) == LUA_TSTRING && lua_type(L, -1) == LUA_TSTRING)
      bundle.emplace_back(text_at(L, -2), text_at(L, -1));
  return bundle;
}

/// Makes the values on the stack a table of MIME types: a lua_CFunction.
int bundle_values(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, bundle_key);
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

int inspect_name(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, inspect_key);
  lua_insert(L, 1);
  lua_call(L, 1, 1);
  return 1;
}

/// While the cell may be interrupted: an interrupt's error has the kind "Interrupted".
CellSession::Failure failure_of(const char* kind, const std::string& text) {
  const bool interrupted = script_interrupted() && text.find("interrupted") != text.npos;
  return {interrupted ? "Interrupted" : kind, text.substr(0, text.find("\nstack traceback:")), text};
}

}  // namespace

CellSession::CellSession(Config config, Frontend& frontend)
    : frontend_(frontend),
      context_(std::make_shared<Context>(std::move(config), make_evaluator)),
      state_(luaL_newstate(), &lua_close) {
  const sigset_t set = interrupt_signal();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  context_->shows_progress = true;
  context_->on_warning = [](const std::string& message) { std::fprintf(stderr, "gpulua: %s\n", message.c_str()); };
  if (state_ == nullptr) throw std::runtime_error("not enough memory for a Lua state");
  in_lua([this](lua_State* L) { open(L); });
}

CellSession::~CellSession() = default;

/// Calls body(L) with an empty stack. Throws what it throws, and Lua's errors as std::runtime_error.
template <class Body>
void CellSession::in_lua(Body body) {
  struct Call {
    Body& body;
    std::exception_ptr thrown;
  } call{body, nullptr};
  lua_State* const L = state_.get();
  const auto run = [](lua_State* state) {
    auto& held = *static_cast<Call*>(lua_touserdata(state, 1));
    lua_settop(state, 0);
    try {
      held.body(state);
    } catch (const std::exception&) {
      held.thrown = std::current_exception();
    }
    return 0;
  };
  std::string message;
  if (lua_cpcall(L, run, &call) != 0) {
    message = text_at(L, -1);
    if (message.empty()) message = "an error without a message";
  }
  lua_settop(L, 0);
  if (call.thrown) std::rethrow_exception(call.thrown);
  if (!message.empty()) throw std::runtime_error(message);
}

void CellSession::open(lua_State* L) {
  lua_gc(L, LUA_GCSTOP, 0);
  open_command_state(L, context_);
  lua_pushcfunction(L, load_gpu);
  lua_call(L, 0, 0);
  if (load_chunk(L, "notebook.lua", &notebook_text) != 0) lua_error(L);
  push_help_show(L);
  lua_pushlightuserdata(L, this);
  lua_pushcclosure(L, publish, 1);
  lua_pushlightuserdata(L, this);
  lua_pushcclosure(L, clear, 1);
  lua_pushlightuserdata(L, this);
  lua_pushcclosure(L, ask, 1);
  lua_call(L, 4, 2);
  lua_setfield(L, LUA_REGISTRYINDEX, inspect_key);
  lua_setfield(L, LUA_REGISTRYINDEX, bundle_key);
  lua_gc(L, LUA_GCRESTART, -1);
  open_interrupts(L, *context_, SecondInterrupt::tries_again);
  set_interrupt_target(InterruptTarget::prompt);
}

/// publish(bundle)
int CellSession::publish(lua_State* L) {
  auto& session = *static_cast<CellSession*>(lua_touserdata(L, lua_upvalueindex(1)));
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  try {
    const Undisturbed undisturbed;
    session.frontend_.display(read_bundle(L));
    return 0;
  } catch (const std::exception& error) {
    lua_pushstring(L, error.what());
  }
  return lua_error(L);
}

/// clear(wait)
int CellSession::clear(lua_State* L) {
  auto& session = *static_cast<CellSession*>(lua_touserdata(L, lua_upvalueindex(1)));
  try {
    const Undisturbed undisturbed;
    session.frontend_.clear(lua_toboolean(L, 1) != 0);
    return 0;
  } catch (const std::exception& error) {
    lua_pushstring(L, error.what());
  }
  return lua_error(L);
}

/// ask(prompt): the line, or nil.
int CellSession::ask(lua_State* L) {
  auto& session = *static_cast<CellSession*>(lua_touserdata(L, lua_upvalueindex(1)));
  luaL_checkstring(L, 1);
  try {
    const auto line = session.frontend_.ask(text_at(L, 1));
    if (!line) return 0;
    lua_pushlstring(L, line->data(), line->size());
    return 1;
  } catch (const std::exception& error) {
    // An interrupt ends the wait for the line; the hook that it has set raises the error.
    lua_pushstring(L, script_interrupted() ? "interrupted!" : error.what());
  }
  return lua_error(L);
}

CellSession::Result CellSession::run(const std::string& code, const std::string& chunk) {
  Result result;
  TypedCommand command("=" + chunk, 1);
  command.add_line(code);
  running_ = true;
  {
    const Interruptible interruptible;
    try {
      in_lua([&](lua_State* L) {
        result.leaves = command.leaves(L);
        if (!result.leaves) {
          run_command(L, command, result);
          for (std::string& name : command.locals()) ended_locals_.insert(std::move(name));
          return;
        }
        std::fputs("gpulua: a console ends here; in a notebook the menu Kernel ends the kernel\n", stderr);
      });
    } catch (const std::exception& error) {
      result.failure = failure_of("Error", error.what());
    }
    if (!script_interrupted()) wait_for_work(result);
  }
  running_ = false;
  return result;
}

void CellSession::run_command(lua_State* L, TypedCommand& command, Result& result) {
  const auto status = command.compile(L);
  if (status == TypedCommand::Status::incomplete) command.push_end_error(L);
  if (status != TypedCommand::Status::complete) return fail(L, "SyntaxError", result);
  if (!call_with_traceback(L, 0, LUA_MULTRET)) return fail(L, "Error", result);
  if (command.is_expression()) lua_remove(L, 1);
  if (lua_gettop(L) > 0) {
    lua_pushvalue(L, 1);
    lua_setglobal(L, "_");
    if (command.wants_result()) {
      lua_pushcfunction(L, bundle_values);
      lua_insert(L, 1);
      if (!call_with_traceback(L, lua_gettop(L) - 1, 1)) return fail(L, "Error", result);
      if (lua_istable(L, -1)) result.value = read_bundle(L);
    }
  }
  if (const char* hint = command.hint()) std::fputs(hint, stderr);
  std::fputs((command.about_nil(L) + command.about_comparison(L)).c_str(), stderr);
}

void CellSession::fail(lua_State* L, const char* kind, Result& result) {
  result.failure = failure_of(kind, with_ended_local(text_at(L, -1)));
}

/// The message with a hint, if it is about a global that an earlier cell had as a local variable.
std::string CellSession::with_ended_local(std::string text) const {
  const std::string_view found = nil_name(text, "global");
  if (!ended_locals_.contains(found)) return text;
  const std::string name(found);
  const auto behind = static_cast<std::size_t>(found.data() + found.size() - text.data());
  text.insert(text.find(')', behind) + 1, "\nhint: " + name +
                                              " was a local variable of an earlier cell, and ended with it; " +
                                              "without local, " + name + " = ..., it stays");
  return text;
}

/// A cell ends with its work, so that errors and what kernels print belong to it: also what its work reports after an
/// error of the cell.
void CellSession::wait_for_work(Result& result) {
  try {
    const Context::Call call(*context_);
    finish_work(*context_);
  } catch (const std::exception& error) {
    const Failure late = failure_of("Error", error.what());
    if (!result.failure) {
      result.failure = late;
    } else if (result.failure->text.find(late.text) == std::string::npos) {
      result.failure->message += "\n" + late.message;
      result.failure->text += "\n" + late.text;
    }
  }
}

TypedCommand::Status CellSession::completeness(const std::string& code) {
  auto status = TypedCommand::Status::wrong;
  TypedCommand command("=cell", 1);
  command.add_line(code);
  in_lua([&](lua_State* L) { status = command.compile(L); });
  return status;
}

std::vector<std::string> CellSession::complete(const std::string& name, const std::string& before) {
  std::vector<std::string> names;
  in_lua([&](lua_State* L) { names = complete_text(L, name, before); });
  return names;
}

std::optional<std::string> CellSession::inspect(const std::string& name) {
  std::optional<std::string> text;
  in_lua([&](lua_State* L) {
    lua_pushcfunction(L, inspect_name);
    lua_pushlstring(L, name.data(), name.size());
    if (lua_pcall(L, 1, 1, 0) == 0 && lua_isstring(L, -1)) text = text_at(L, -1);
  });
  return text;
}

}  // namespace gpulua
