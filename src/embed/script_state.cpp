#include "src/embed/script_state.h"

#include <luajit.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "bindings/lua/bracket.h"
#include "bindings/lua/chunk_texts.h"
#include "bindings/lua/lua.h"
#include "bindings/lua/state.h"
#include "bindings/open.h"
#include "src/embed/callbacks.h"
#include "src/embed/error_text.h"
#include "src/embed/failure.h"
#include "src/embed/handle.h"
#include "src/embed/lua_library.h"
#include "src/embed/sandbox.h"
#include "src/embed/state_options.h"
#include "src/eval/pipeline.h"

namespace gpulua::embed {
namespace {

/// Waits for what kernels may still report about the script's work: it is this script's error, not the next one's.
int wait_for_faults(lua_State* L) {
  bindings_of(L).context().settle();
  return 0;
}

/// A C function of Lua with the bindings as its upvalue, kept in the registry so that a call makes no garbage.
int run_request(lua_State* L) {
  const auto& request = *static_cast<const ScriptState::Request*>(lua_touserdata(L, 1));
  lua_settop(L, 0);
  return request.body(L, request.data);
}

/// Makes room for references in the registry's array. LuaJIT loses those in its hash when memory runs out while it
/// moves them to the array, as another key of the registry may make it do.
void reserve_references(lua_State* L) {
  std::array<int, 64> references{};
  for (int& reference : references) {
    lua_pushboolean(L, 1);
    reference = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  for (const int reference : references) luaL_unref(L, LUA_REGISTRYINDEX, reference);
}

/// jit.on of a state with GPULUA_INTERRUPTIBLE.
int refuse_compiler(lua_State* L) {
  return luaL_error(L,
                    "[jit] the host program has switched the compiler off: it stops scripts, and compiled loops "
                    "cannot be stopped");
}

void make_interruptible(lua_State* L) {
  luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_FLUSH);
  luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
  lua_getglobal(L, "jit");
  if (lua_istable(L, -1)) {
    lua_pushcfunction(L, &refuse_compiler);
    lua_setfield(L, -2, "on");
  }
  lua_pop(L, 1);
}

/// The address of a variable of the calling thread: no other thread that lives has it.
const void* this_thread() {
  static thread_local const char mark = 0;
  return &mark;
}

gpulua_status status_of_lua(int status, std::optional<ErrorKind> kind, ScriptState::Raiser raiser) {
  if (status == LUA_ERRMEM) return GPULUA_MEMORY;
  const gpulua_status known = kind ? status_of(*kind) : GPULUA_RUNTIME;
  // The program makes and launches kernels itself; what it calls by its path is a function of scripts.
  return known == GPULUA_ARGUMENT && raiser != ScriptState::Raiser::kernels ? GPULUA_RUNTIME : known;
}

gpulua_status status_of_stop(Interruption::Reason reason) {
  return reason == Interruption::Reason::deadline ? GPULUA_DEADLINE : GPULUA_INTERRUPTED;
}

/// os.exit of the states whose Lua is ours.
int refuse_exit(lua_State* L) {
  return luaL_error(
      L, "[os.exit] the program that runs this script decides when it ends; return from the script, or raise an error");
}

}  // namespace

ScriptState::ScriptState(const gpulua_options& options, const void* caller) : options_(options) {
  // The texts are the caller's.
  options_.device = options_.cache_directory = options_.default_dtype = nullptr;
  try {
    auto* const given = static_cast<lua_State*>(options.lua_state);
    if (const char* why = given != nullptr ? connect_program_lua(caller) : connect_own_lua())
      throw Error(ErrorKind::unavailable, why);
    if (given != nullptr && of(given) != nullptr)
      throw Error("[create] expected a lua_state without gpulua_state, got one that has one: destroy that first");
    context_ = given != nullptr ? context_of(given) : nullptr;
    if (context_ && configures_context(options))
      throw Error(
          "[create] expected a lua_state without the module gpu, got one that has it, and options of devices: call "
          "gpulua_create before luaopen_gpu, or leave out device, cu_context, cu_stream, device_memory, "
          "cache_directory, default_dtype and GPULUA_NO_FAULT_HANDLERS");
    if (!context_) context_ = std::make_shared<Context>(configure(options), make_evaluator);
    if (options.device != nullptr) context_->check_device_name();
    if (options.log != nullptr)
      context_->on_warning = [log = options.log, user = options.user](const std::string& message) {
        log(user, GPULUA_LOG_WARNING, message.c_str());
      };
    context_->strict = (options.flags & GPULUA_STRICT) != 0;
    set_rights(options, context_->rights);
    main_ = given != nullptr ? given : memory_.open(options);
    if (main_ == nullptr) throw Error(ErrorKind::memory, "[create] out of memory for a Lua state");
    handle_ = open_handle(HandleKind::state, this);
    int status = 0;
    {
      const LuaMemory::Lifted lifted(memory_);
      status = lua_cpcall(main_, &ScriptState::open, this);
    }
    if (status == 0 && memory_.is_full()) {
      constexpr std::size_t megabyte = std::size_t{1} << 20;
      throw Error(
          ErrorKind::memory,
          "[create] expected lua_memory in bytes, {} of them at least for Lua's libraries, or 0 for the default, "
          "got {}; 64 MB are 64 << 20",
          (memory_.used() / megabyte + 1) * megabyte, options.lua_memory);
    }
    if (status != 0) {
      const char* text = lua_tostring(main_, -1);
      const std::string why = text != nullptr ? text : "an error without a text";
      lua_pop(main_, 1);
      // The library's Lua files pass LuaJIT's error on as a text.
      const bool is_memory = status == LUA_ERRMEM || why.find("not enough memory") != why.npos;
      throw Error(is_memory ? ErrorKind::memory : ErrorKind::argument, "[create] {}", why);
    }
    main_ = own_;  // the one that the program has given may be a coroutine, which ends
  } catch (...) {
    close();
    throw;
  }
}

std::size_t ScriptState::chunk_text_bytes() const {
  const std::size_t most = gpulua::chunk_text_bytes;
  return options_.lua_memory == 0 ? most : std::min(most, options_.lua_memory / 16);
}

ScriptState::~ScriptState() {
  close();
}

int ScriptState::open(lua_State* L) {
  auto& self = *static_cast<ScriptState*>(lua_touserdata(L, 1));
  const bool is_ours = self.options_.lua_state == nullptr;
  lua_gc(L, LUA_GCSTOP, 0);  // nothing can be garbage yet
  if (is_ours) {
    open_lua_libraries(L);
    lua_getglobal(L, "os");
    lua_pushcfunction(L, &refuse_exit);
    lua_setfield(L, -2, "exit");
    lua_pop(L, 1);
  }
  if (const char* library = missing_library(L)) return lua_pushfstring(L, missing_library_text, library), lua_error(L);
  if (!has_bindings(L)) open_bindings(L, self.context_);
  self.bindings_ = find_bindings(L);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "gpu");
  lua_call(L, 1, 1);
  lua_setglobal(L, "gpu");
  reserve_references(L);
  // The program's own Lua may call us from any of its threads, so our calls have one for themselves.
  self.own_ = is_ours ? L : lua_newthread(L);
  if (is_ours) lua_pushthread(L);
  self.own_reference_ = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_newtable(L);
  set_functions(L, {{"trampoline", &run_request}, {"settle", protect<wait_for_faults>}});
  lua_getfield(L, -1, "trampoline");
  self.trampoline_ = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_getfield(L, -1, "settle");
  self.settle_ = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_pushcfunction(L, &add_traceback);
  self.handler_ = luaL_ref(L, LUA_REGISTRYINDEX);
  set_in(L, &self);
  self.interruption_.emplace(L, *self.context_);
  if (!is_ours) self.watch_end(L);
  if (self.options_.print != nullptr) set_print(L, self);
  self.compiler_is_off_ = (self.options_.flags & (GPULUA_INTERRUPTIBLE | GPULUA_SANDBOX)) != 0;
  if (self.compiler_is_off_) make_interruptible(L);
  if (self.is_sandbox()) {
    restrict_bindings(L);
    open_sandbox(L, *self.interruption_, self.context_->stack, self.memory_);
  }
  if (is_ours || self.options_.print != nullptr) name_replaced_functions(L);
  lua_gc(L, LUA_GCRESTART, -1);
  self.running_ = self.own_;
  return 0;
}

bool ScriptState::enter(Access access, std::string& why) noexcept try {
  const void* const me = this_thread();
  if (owner_.load(std::memory_order_relaxed) != me) {
    const void* nobody = nullptr;
    if (!owner_.compare_exchange_strong(nobody, me, std::memory_order_acquire)) {
      why =
          "another thread works in this state: one at a time can; give each thread a state of its own, or a mutex for "
          "all calls";
      return false;
    }
    // A program's own Lua calls a callback without entering.
    if (access != Access::always && in_callback()) {
      owner_.store(nullptr, std::memory_order_release);
      why = text_of_callback();
      return false;
    }
  } else if (access != Access::always) {
    why = text_of_callback();
    return false;
  }
  ++depth_;  // before the program's functions run, which may call the library
  if (depth_ == 1 && access != Access::last) drop_before_call();  // what is kept until the end is no mistake
  return true;
} catch (...) {  // no room for the text
  return false;
}

void ScriptState::leave() noexcept {
  if (--depth_ == 0) owner_.store(nullptr, std::memory_order_release);
}

int ScriptState::run(Body body, void* data) {
  lua_State* const L = running_;
  const int base = lua_gettop(L);
  // The outermost call of the program's gives those within it their part of the thread's stack.
  std::optional<StackBudget::Call> stack;
  if (depth_ == 1) stack.emplace(context_->stack);
  if (context_->stack.is_spent())
    throw Failure{GPULUA_RUNTIME, "stack overflow: scripts and functions of the host program call each other too deep"};
  Request request{body, data};
  lua_rawgeti(L, LUA_REGISTRYINDEX, handler_);
  push_trampoline(L);
  lua_pushlightuserdata(L, &request);
  const int status = lua_pcall(L, 1, LUA_MULTRET, base + 1);
  if (status == 0) return base + 2;
  if (status != LUA_ERRRUN) note_cause({});  // for which no message handler runs
  std::size_t size = 0;
  const char* const text = lua_tolstring(L, -1, &size);
  Failure failure{GPULUA_RUNTIME, text != nullptr ? std::string(text, size) : "an error without a text", cause_,
                  raiser_};
  if (status == LUA_ERRMEM && options_.lua_memory != 0)
    failure.text += "; Lua's memory is full, which the host program limits to " + format_bytes(options_.lua_memory) +
                    " by lua_memory; fewer or shorter tables and texts at a time take less, and elements of arrays "
                    "are none of it";
  lua_settop(L, base);
  failure.status = status_of_lua(status, error_kind_, raiser_);
  if (failure.status == GPULUA_RUNTIME) failure.status = cause_status_;
  // What the script has filled the memory with is garbage now; LuaJIT does not collect by itself when memory is short,
  // and the next script's frame would hold what is left in the stack. Through the trampoline, as a new function would
  // need memory.
  if (failure.status == GPULUA_MEMORY) {
    Request collection{[](lua_State* state, void*) { return lua_gc(state, LUA_GCCOLLECT, 0); }, nullptr};
    lua_rawgeti(L, LUA_REGISTRYINDEX, trampoline_);
    lua_pushlightuserdata(L, &collection);
    const LuaMemory::Lifted lifted(memory_);
    lua_pcall(L, 1, 0, 0);
    lua_settop(L, base);
  }
  throw failure;
}

bool ScriptState::is_trampoline(lua_CFunction function) {
  return function == &run_request;
}

void ScriptState::note_cause(std::string_view text, Raiser raiser) noexcept {
  const bool is_raised = !raised.text.empty() && text.ends_with(raised.text);
  cause_ = is_raised ? raised.cause : nullptr;
  cause_status_ = is_raised ? raised.status : GPULUA_RUNTIME;
  raiser_ = is_raised ? Raiser::script : raiser;
  const std::optional<Error>& last = context_->last_error;
  error_kind_.reset();
  if (last && text.find(last->what()) != text.npos) error_kind_ = last->kind();
}

int ScriptState::run_script(Body body, void* data, double deadline_ms) {
  if (!(deadline_ms >= 0)) throw Error("[call] expected a deadline of 0 or more milliseconds");
  // A program's own Lua runs callbacks without a call that a deadline could stop a part of.
  const bool begins = deadline_ms > 0 && !interruption_->runs();
  if (in_callback()) return begins ? run_until(body, data, deadline_ms) : run_within(body, data, deadline_ms);
  lua_settop(own_, 0);
  kept_.clear();
  raised = {};
  context_->last_error.reset();
  context_->spending.begin();
  if (is_sandbox())
    for (const auto& device : context_->open_devices()) device->index_faults().mute();
  struct Running {
    explicit Running(bool& flag_) : flag(flag_) { flag = true; }
    ~Running() { flag = false; }
    bool& flag;
  } running(runs_script_);
  return run_until(body, data, deadline_ms);
}

void ScriptState::settle(lua_State* L) const {
  if (!is_sandbox()) return;
  lua_rawgeti(L, LUA_REGISTRYINDEX, settle_);
  lua_call(L, 0, 0);
}

int ScriptState::run_lookup(Body body, void* data) {
  if (is_sandbox() && !in_callback()) return run_until(body, data, most_ms_of_lookup);
  return run_within(body, data);
}

int ScriptState::run_within(Body body, void* data, double deadline_ms) {
  const Detaching detaching(*this);
  std::optional<Deadline> deadline;
  if (deadline_ms > 0) {
    stop_compiler();
    interruption_->look();
    deadline.emplace(*interruption_, interruption_->generation(), deadline_ms);
  }
  // The call that runs goes on after the deadline of a part of it. Where its own has passed, that comes again.
  const auto ends_by_deadline = [&] {
    if (!deadline || !deadline->end()) return false;
    const bool is_deadline = interruption_->reason() == Interruption::Reason::deadline;
    interruption_->go_on();
    return is_deadline;
  };
  try {
    const int first = run(body, data);
    ends_by_deadline();
    return first;
  } catch (Failure& failure) {
    const Interruption::Reason reason = interruption_->reason();
    if (reason != Interruption::Reason::none) failure.status = status_of_stop(reason);
    if (ends_by_deadline()) failure.text = with_reason(std::move(failure.text), reason, deadline_ms);
    throw;
  }
}

int ScriptState::run_until(Body body, void* data, double deadline_ms) {
  if (deadline_ms > 0) stop_compiler();
  const std::uint64_t generation = interruption_->begin(compiler_is_off_);
  // A program's own Lua may call us from within a function of gpu.with or the like.
  const bool in_bracket = options_.lua_state != nullptr && is_in_bracket(*bindings_);
  const Detaching detaching(*this);
  try {
    std::optional<Deadline> deadline;
    if (deadline_ms > 0) deadline.emplace(*interruption_, generation, deadline_ms);
    const int first = run(body, data);
    deadline.reset();
    interruption_->end();
    // A coroutine may still be in a gpu.scope: it would free what later scripts make.
    if (is_sandbox()) end_brackets(*bindings_);
    return first;
  } catch (Failure& failure) {
    const Interruption::Reason reason = interruption_->end();
    if (!in_bracket) end_brackets(*bindings_);
    if (reason != Interruption::Reason::none) {
      failure.status = status_of_stop(reason);
      failure.text = with_reason(std::move(failure.text), reason, deadline_ms);
      failure.text += text_of_queued_work();
    }
    throw;
  } catch (...) {
    interruption_->end();
    throw;
  }
}

/// A deadline of a call stops loops that the compiler has not compiled, so from the first deadline on it is off.
void ScriptState::stop_compiler() {
  if (compiler_is_off_) return;
  const auto body = [](lua_State* L) { return make_interruptible(L), 0; };
  if (lua_cpcall(running_, body, nullptr) != 0) {
    lua_pop(running_, 1);
    throw Error(ErrorKind::memory, "[call] out of memory while switching LuaJIT's compiler off");
  }
  compiler_is_off_ = true;
}

/// A kernel that a GPU runs cannot be stopped.
std::string ScriptState::text_of_queued_work() const {
  std::string text;
  for (const auto& device : context_->open_devices())
    if (!device->device().done(*device->stream()))
      text += "; " + device->name() + " still has work queued, which runs to its end";
  return text;
}

}  // namespace gpulua::embed
