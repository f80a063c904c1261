// Ctrl-C.
//
// The handler raises the context's flag, for waits on a device, and sets a debug hook, as luajit does. The hook raises
// the error at the next instruction or call of the interpreter. Machine code made by the JIT compiler looks at no hook.
// On x86-64 the handler therefore also puts breakpoints into the compiled loops. The SIGTRAP handler has the thread go
// on at an exit of the machine code: the interpreter then stands at the loop's start, where the hook fires. The
// variables are as they were when the loop was entered, which is consistent, though old, and the error follows at once.
// (Finalizers run with hooks off: a compiled loop in one that is running in this very moment ends by the second
// Ctrl-C.)

#include "src/cli/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "bindings/traceback.h"
#include "src/cli/compiled_loops.h"
#include "src/runtime/context.h"

namespace gpulua {
namespace {

constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;

/// Signal handlers have nothing else to find their state by. What is not atomic is touched by the Lua thread alone, and
/// there by one handler at a time: each masks the other's signal.
struct State {
  std::atomic<lua_State*> lua{nullptr};
  Context* context = nullptr;
  SecondInterrupt second = SecondInterrupt::ends_process;
  pthread_t thread{};
  struct sigaction previous_int {};
  struct sigaction previous_trap {};

  std::atomic<InterruptTarget> target{InterruptTarget::script};
  std::atomic<bool> pending{false};  // the hook is set and has not fired
  std::atomic<bool> pressed{false};  // since the target was set
  std::atomic<std::int64_t> last_press{0};

  // The script's own hook, which comes back when ours has fired.
  lua_Hook script_hook = nullptr;
  int script_mask = 0;
  int script_count = 0;

  CompiledLoops& loops = *new CompiledLoops;  // is there for a signal until the process has ended
};
State state;
static_assert(std::atomic<lua_State*>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free &&
              std::atomic<InterruptTarget>::is_always_lock_free);

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * nanoseconds_per_second + time.tv_nsec;
}

/// The signal's default action follows when the handler returns.
void die(int signal_number) {
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

/// Lets the script run as it did before the Ctrl-C.
void let_go(lua_State* L) {
  lua_sethook(L, state.script_hook, state.script_mask, state.script_count);
  state.loops.let_go();
  state.pending = false;
}

void on_hook(lua_State* L, lua_Debug*) {
  let_go(L);
  // A wait on a device lowers the flag when it raises the error; there is none to raise then.
  if (!state.context->interrupted().exchange(false)) return;
  push_running_line(L);
  lua_pushliteral(L, "interrupted!");
  lua_concat(L, 2);
  lua_error(L);
}

/// Sets the hook, again if need be: when the signal has met LuaJIT while it updates its dispatch table, the first time
/// may have been lost.
void set_hook(lua_State* L) {
  if (lua_gethook(L) != on_hook) {
    state.script_hook = lua_gethook(L);
    state.script_mask = lua_gethookmask(L);
    state.script_count = lua_gethookcount(L);
  }
  lua_sethook(L, on_hook, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
}

#if defined(__x86_64__)

void on_trap(int, siginfo_t*, void* context) {
  auto& rip = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  const auto exit = state.loops.exit_after(static_cast<CompiledLoops::Address>(rip));
  if (exit == 0) return die(SIGTRAP);
  set_hook(state.lua);
  rip = static_cast<greg_t>(exit);
}

#else

void on_trap(int, siginfo_t*, void*) {
  die(SIGTRAP);
}

#endif

/// A Ctrl-C. False: there is nothing to stop.
bool press() {
  state.pressed = true;
  if (state.target == InterruptTarget::prompt) return false;
  const std::int64_t time = now();
  const bool again = state.last_press != 0 && time - state.last_press < nanoseconds_per_second;
  if (state.second == SecondInterrupt::ends_process && (state.pending || again)) {
    die(SIGINT);
    return false;
  }
  state.last_press = time;
  state.context->interrupt();
  state.pending = true;
  return true;
}

void on_interrupt(int, siginfo_t*, void* context) {
  lua_State* const L = state.lua;
  if (L == nullptr) return;
  const int saved_errno = errno;
  if (!pthread_equal(pthread_self(), state.thread)) {
    pthread_kill(state.thread, SIGINT);
  } else if (press()) {
    set_hook(L);
    // A breakpoint would kill the process while SIGTRAP is blocked.
    if (sigismember(&static_cast<ucontext_t*>(context)->uc_sigmask, SIGTRAP) == 0) state.loops.stop();
  }
  errno = saved_errno;
}

void install(int signal_number, void (*handler)(int, siginfo_t*, void*), int flags, struct sigaction* previous) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGINT);
  sigaddset(&action.sa_mask, SIGTRAP);
  sigaction(signal_number, &action, previous);
}

/// The finalizer of the token that lives as long as the state.
int close_interrupts(lua_State*) {
  sigaction(SIGINT, &state.previous_int, nullptr);
  sigaction(SIGTRAP, &state.previous_trap, nullptr);
  state.pending = false;
  state.lua = nullptr;
  return 0;
}

}  // namespace

void open_interrupts(lua_State* L, Context& context, SecondInterrupt second) {
  state.loops.watch(L);
  lua_newuserdata(L, 0);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, close_interrupts);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_setfield(L, LUA_REGISTRYINDEX, "gpulua.interrupts");

  state.context = &context;
  state.second = second;
  state.thread = pthread_self();
  state.lua = L;
  // Without SA_RESTART a blocked read fails with EINTR, so that io.read() can be stopped.
  install(SIGINT, on_interrupt, 0, &state.previous_int);
  // A shell without job control has background commands ignore Ctrl-C.
  if (state.previous_int.sa_handler == SIG_IGN) sigaction(SIGINT, &state.previous_int, nullptr);
  install(SIGTRAP, on_trap, SA_RESTART, &state.previous_trap);
}

void set_interrupt_target(InterruptTarget target) {
  sigset_t interrupt, before;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupt, &before);
  if (state.pending) {
    let_go(state.lua);
    state.context->interrupted() = false;
  }
  state.pressed = false;
  state.last_press = 0;
  state.target = target;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool prompt_interrupted() {
  return state.target == InterruptTarget::prompt && state.pressed;
}
bool script_interrupted() {
  return state.target == InterruptTarget::script && state.pressed;
}

}  // namespace gpulua
