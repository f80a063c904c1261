#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <lua.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "include/gpulua/gpulua.h"
#include "src/base/error.h"
#include "src/embed/deadline.h"
#include "src/embed/handle.h"
#include "src/embed/interruption.h"
#include "src/embed/lua_memory.h"
#include "src/runtime/context.h"

namespace gpulua {
class Bindings;
}

namespace gpulua::embed {

class ScriptState;

/// What a handle of the host program's stands for, until the last release. Destroyed on the state's thread.
struct Held {
  explicit Held(ScriptState& state_) : state(&state_) {}
  virtual ~Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  /// The host program has released it, and the state goes on.
  virtual void dropped() noexcept {}

  ScriptState* state;
  void* handle = nullptr;
  std::atomic<int> uses{1};
  Held* next_released = nullptr;
};

/// A Lua function, or another object.
struct HeldFunction final : Held {
  static constexpr HandleKind kind = HandleKind::function;
  /// Of the value at the stack index.
  HeldFunction(ScriptState& state_, lua_State* L, int index);
  ~HeldFunction() override;
  void dropped() noexcept override;

  std::string description;  // as gpulua_function_description() gives it
  int reference;            // in the registry
  std::string path;         // that gpulua_get() was given; else empty
};

/// A callback of the host program, as a Lua function's upvalue.
struct Callback {
  ScriptState* state;
  gpulua_callback function;
  void* user;
  std::string path;  // that gpulua_register() was given
};

/// What the handle `gpulua_state` stands for: a Lua state with the context of its devices, and what the host program
/// holds of it. Everything but interruption() and let_go() happens on the thread that has entered.
class ScriptState {
 public:
  /// `caller`: an address in the host program's code.
  ScriptState(const gpulua_options& options, const void* caller);
  ~ScriptState();
  ScriptState(const ScriptState&) = delete;
  ScriptState& operator=(const ScriptState&) = delete;

  /// The state of an open handle; null, too, for one whose lua_State the program has closed.
  static ScriptState* find(const void* handle) noexcept {
    auto* const state = static_cast<ScriptState*>(find_object(handle, HandleKind::state));
    return state == nullptr || state->lua_is_closed() ? nullptr : state;
  }
  gpulua_state* handle() const { return static_cast<gpulua_state*>(handle_); }
  /// The program has closed the lua_State that it had given: all that is left is the handle, for gpulua_destroy(). Any
  /// thread.
  bool lua_is_closed() const noexcept { return lua_is_closed_.load(std::memory_order_acquire); }
  Context& context() const { return *context_; }
  const gpulua_options& options() const { return options_; }
  Interruption& interruption() { return *interruption_; }
  bool is_sandbox() const { return (options_.flags & GPULUA_SANDBOX) != 0; }
  /// What the texts of scripts may take of Lua's memory.
  std::size_t chunk_text_bytes() const;

  // ---- threads ----
  /// What a call may do when the script has called back into the host program. `last`: as no_script_runs, for the end
  /// of the state.
  enum class Access { always, no_script_runs, last };
  /// Makes the calling thread the one that works in the state. False, with the reason, when it cannot.
  bool enter(Access access, std::string& why) noexcept;
  void leave() noexcept;
  /// A script has called the host program, which has not returned.
  bool in_callback() const { return callbacks_ > 0; }

  // ---- Lua ----
  /// The Lua thread that runs: the state's own, or the one that has called back.
  lua_State* lua() const { return running_; }
  /// Runs `body` as a C function of Lua, in which the bindings' functions work, and errors end the call. Its results
  /// are at the top of lua(), from the position that the call gives on; the caller removes them. Throws Failure.
  /// `body` has no C++ objects with destructors where Lua may raise.
  using Body = int (*)(lua_State* L, void* data);
  /// What the trampoline, the C function around a body, gets as its one argument, a light userdata.
  struct Request {
    Body body;
    void* data;
  };
  void push_trampoline(lua_State* L) const { lua_rawgeti(L, LUA_REGISTRYINDEX, trampoline_); }
  static bool is_trampoline(lua_CFunction function);
  /// In a body, once the script has ended. In a sandbox, waits for the kernels that may report an error of the
  /// script's, such as an index that is out of range, and raises it.
  void settle(lua_State* L) const;
  /// The ScriptState of a Lua state; null where there is none.
  static ScriptState* of(lua_State* L);
  int run(Body body, void* data);
  /// The same for what runs a script: drops the results of the last one, can be stopped, and has a budget of its own.
  /// Milliseconds; 0: no deadline. In a callback it is part of the call that runs, with that one's budget, and its
  /// deadline where that comes first.
  int run_script(Body body, void* data, double deadline_ms);
  /// How long parsing, and what reads and sets values, may take in a sandbox.
  static constexpr double most_ms_of_lookup = 1000;
  /// The same for what reads and sets values, which may call a script's metamethods: in a sandbox it has a deadline.
  int run_lookup(Body body, void* data);

  /// Gives pending expressions that read memory whose address the host program has a copy of what they read: what it
  /// writes there later is not for them.
  void detach() noexcept;
  /// Computes the arrays among the first `count` values on the stack, if any of them may read such memory: then they
  /// need no copy. False with a message pushed.
  bool compute(lua_State* L, int count);

  /// What has run within a call of the program's when an error was raised.
  enum class Raiser {
    script,   // a function of a script's or of the program's
    library,  // the library alone
    kernels   // the library alone, in a function that makes a kernel or a launch, or runs one
  };

  /// An error with a status of the C interface.
  struct Failure {
    gpulua_status status;
    std::string text;
    void* cause = nullptr;  // of the callback whose error it is
    Raiser raiser = Raiser::script;
  };

  // ---- what the host holds ----
  /// A new handle of the object. Gives the handle.
  template <class T>
  void* hold(std::unique_ptr<T> held) {
    return hold(std::move(held), T::kind);
  }
  /// The host needs the object no more; any thread.
  void let_go(Held* held) noexcept;
  Callback* add_callback(gpulua_callback function, void* user, const char* path);
  /// Keeps text alive until the next script runs; in a callback, until the next callback.
  const std::string& keep(std::string text);
  /// Before a callback, on the state's thread: drops what the host program has released, and the texts that callbacks
  /// have read.
  void drop_leftovers() noexcept;

  /// The error of a callback: its text, the program's own value for it, which gpulua_error_cause() gives, and the
  /// status that the callback has given.
  struct CallbackError {
    std::string text;
    void* cause = nullptr;
    gpulua_status status = GPULUA_RUNTIME;
  };
  /// Within a callback: its error.
  std::optional<CallbackError> callback_error;
  /// The last error of a callback as Lua has got it, with the script's line.
  CallbackError raised;
  /// In the message handler of a call: notes whose error the text, which ends the call, is, before advice changes it;
  /// empty for an error that is no text. That of the last callback
  /// is the text that Lua has got, which a script may have put words in front of: error("reading: " .. why).
  void note_cause(std::string_view text, Raiser raiser = Raiser::script) noexcept;
  /// The Lua thread that a callback was called on, and the callback's name, while it runs.
  class CallingBack {
   public:
    CallingBack(ScriptState& state, lua_State* L, const char* name)
        : state_(state), previous_(state.running_), previous_name_(state.callback_name_) {
      state.running_ = L;
      state.callback_name_ = name;
      ++state.callbacks_;
      state.detach();
    }
    ~CallingBack() {
      state_.running_ = previous_;
      state_.callback_name_ = previous_name_;
      --state_.callbacks_;
    }
    CallingBack(const CallingBack&) = delete;
    CallingBack& operator=(const CallingBack&) = delete;

   private:
    ScriptState& state_;
    lua_State* previous_;
    const char* previous_name_;
  };

  /// The message that gpulua_error(state) gives.
  std::string error;

  /// The Lua thread of the host's calls.
  lua_State* own() const { return own_; }

 private:
  /// Calls detach() when it ends.
  struct Detaching {
    explicit Detaching(ScriptState& state_) : state(state_) {}
    ~Detaching() { state.detach(); }
    Detaching(const Detaching&) = delete;
    Detaching& operator=(const Detaching&) = delete;

    ScriptState& state;
  };

  static int open(lua_State* L);
  /// What of(L) gives from now on.
  static void set_in(lua_State* L, ScriptState* state);
  /// Makes the object whose finalizer ends the state when the program closes its lua_State.
  void watch_end(lua_State* L);
  static int end_with_lua(lua_State* L);
  /// Takes from Lua, and from the context, what stands there for the host program.
  void leave_lua() noexcept;
  /// Runs it as a part of the call that runs, if there is one.
  int run_within(Body body, void* data, double deadline_ms = 0);
  int run_until(Body body, void* data, double deadline_ms);
  void stop_compiler();
  /// Why a call must wait for the callback that runs.
  std::string text_of_callback() const;
  std::string text_of_queued_work() const;
  void* hold(std::unique_ptr<Held> held, HandleKind kind);
  void close() noexcept;
  /// Does what other threads have left to do.
  void drop_released() noexcept;
  /// The same when the outermost call begins.
  void drop_before_call() noexcept;

  gpulua_options options_;
  LuaMemory memory_;
  std::shared_ptr<Context> context_;
  Bindings* bindings_ = nullptr;  // main_'s
  lua_State* main_ = nullptr;     // the whole Lua state
  lua_State* own_ = nullptr;      // the Lua thread of the host's calls
  lua_State* running_ = nullptr;  // own_, or in a callback the thread that called
  // In the registry.
  int own_reference_ = LUA_NOREF, trampoline_ = LUA_NOREF, settle_ = LUA_NOREF, handler_ = LUA_NOREF,
      watch_reference_ = LUA_NOREF;
  std::optional<Interruption> interruption_;
  TimerUse timer_use_;
  bool compiler_is_off_ = false, runs_script_ = false;
  // Of the error that is ending a call.
  void* cause_ = nullptr;
  gpulua_status cause_status_ = GPULUA_RUNTIME;
  Raiser raiser_ = Raiser::script;
  std::optional<ErrorKind> error_kind_;  // where it is one of the library's
  void* handle_ = nullptr;
  ScriptState** watch_ = nullptr;  // what the object of watch_end() has
  std::atomic<bool> lua_is_closed_{false};

  std::atomic<const void*> owner_{nullptr};  // the thread that has entered, by the address of a variable of its own
  int depth_ = 0;                            // how often it has
  int callbacks_ = 0;                        // that run
  const char* callback_name_ = nullptr;      // of the innermost

  std::vector<std::unique_ptr<Callback>> registered_;
  std::deque<std::string> kept_;
  std::unordered_set<Held*> held_;

  std::mutex release_lock_;
  Held* released_ = nullptr;  // a list: letting go needs no memory
  std::atomic<bool> has_released_{false};
};

}  // namespace gpulua::embed
