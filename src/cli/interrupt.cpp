// Ctrl-C.
//
// The handler raises the context's flag, for waits on a device, and sets a debug hook, as luajit does. The hook raises
// the error at the next instruction or call of the interpreter. Machine code made by the JIT compiler looks at no hook,
// so a compiled loop would go on. On x86-64 the handler therefore makes the thread leave the machine code:
//
// It sets the processor's trap flag in the interrupted thread's registers, so that a SIGTRAP follows each instruction.
// The SIGTRAP handler acts when the next instruction lies in the state's own machine code and is a guard: then it
// continues at the guard's exit, as if the guard had failed. At any guard the registers hold what the exit's snapshot
// needs to restore the state of the interpreter. The interpreter may then stand in the wrong branch of a test, after a
// loop's end for one, so an exit is taken only when the hook is sure to fire before the next instruction. (Finalizers
// run with hooks off, and the API cannot tell: one that runs compiled code in this very moment may take a wrong
// branch.)
//
// Some loops have no guard: `while true do x = x + 1 end`. When the same unconditional jump back is executed twice with
// no guard and no change to another trace in between, it ends the loop of a root trace: only root traces loop by
// themselves. The snapshot of exit 0 of a root trace restores nothing: the interpreter goes on at the loop's start with
// the variables as they were when the loop was entered. That is consistent, though old, and the error follows at once.
//
// A trace may call C functions, and a signal may meet the thread in one. While the hook has not fired, a timer tries
// again, and each try steps some instructions, wherever the thread is: the C function may return to the trace soon. No
// try looks at a stack to find out. Calls of the library's own functions are no part of a trace, and look at the
// context's flag where they may take long. Inside of one nothing is stepped: the thread may run a kernel on a fiber's
// stack, or wait for the threads that run kernels. The timer starts when a try ends: on a busy machine the steps of one
// take longer than the time between two, and a thread that only steps gets nowhere in the collector, for one.
//
// One kind of loop stays out of reach: no guard, around a C function of more than some 60,000 instructions, a large
// ffi.fill for one. The second Ctrl-C ends it.
//
// machine_code.cpp knows what guards and exits look like. Elsewhere than on x86-64 only the hook is there.

#include "src/cli/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "bindings/session/traceback.h"
#include "src/cli/machine_code.h"
#include "src/runtime/context.h"

namespace gpulua {
namespace {

constexpr std::int64_t nanoseconds_per_millisecond = 1'000'000;
constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;
constexpr std::int64_t first_retry = 10 * nanoseconds_per_millisecond;
constexpr std::int64_t last_retry = 320 * nanoseconds_per_millisecond;

/// Steps outside of machine code after which the thread runs freely until the timer tries again: a long C function
/// slows down by a constant factor only.
constexpr int first_step_limit = 2'000;

/// Signal handlers have nothing else to find their state by. What is not atomic is touched by the Lua thread alone, and
/// there by one handler at a time: each masks the other's signal.
struct State {
  std::atomic<lua_State*> lua{nullptr};
  Context* context = nullptr;
  SecondInterrupt second = SecondInterrupt::ends_process;
  pthread_t thread{};
  timer_t timer{};
  struct sigaction previous_int {};
  struct sigaction previous_trap {};

  std::atomic<InterruptTarget> target{InterruptTarget::script};
  std::atomic<bool> pending{false};  // the hook is set and has not fired
  std::atomic<bool> pressed{false};  // since the target was set
  std::atomic<std::int64_t> last_press{0};
  std::int64_t retry = first_retry;

  // The script's own hook, which comes back when ours has fired.
  lua_Hook script_hook = nullptr;
  int script_mask = 0;
  int script_count = 0;

  MachineCode code;
  MachineCode::Address loop_end = 0;  // the jump back since which no guard and no change of trace has been seen
  int step_limit = first_step_limit;
  int steps_outside = 0;  // since machine code was left
};
State state;
static_assert(std::atomic<lua_State*>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free &&
              std::atomic<InterruptTarget>::is_always_lock_free);

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * nanoseconds_per_second + time.tv_nsec;
}

/// 0 disarms.
void arm_timer(std::int64_t nanoseconds) {
  itimerspec when{};
  when.it_value.tv_sec = nanoseconds / nanoseconds_per_second;
  when.it_value.tv_nsec = nanoseconds % nanoseconds_per_second;
  timer_settime(state.timer, 0, &when, nullptr);
}

/// The signal's default action follows when the handler returns.
void die(int signal_number) {
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void restore_script_hook(lua_State* L) {
  lua_sethook(L, state.script_hook, state.script_mask, state.script_count);
}

void on_hook(lua_State* L, lua_Debug*) {
  arm_timer(0);
  restore_script_hook(L);
  state.pending = false;
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

/// The timer's next signal is a try that may take twice as many steps, and comes twice as late.
void try_again_later() {
  arm_timer(state.retry);
  if (state.retry >= last_retry) return;
  state.retry *= 2;
  state.step_limit *= 2;
}

#if defined(__x86_64__)

constexpr greg_t trap_flag = 0x100;

/// True iff a system call comes next under which stepping is not possible: it blocks SIGTRAP, which would then kill the
/// process, or starts a process or thread, which would step too.
bool stops_stepping(MachineCode::Address rip, greg_t rax) {
  const auto* code = reinterpret_cast<const std::uint8_t*>(rip);
  if (code[0] != 0x0F || code[1] != 0x05) return false;
  return rax == SYS_rt_sigprocmask || rax == SYS_clone || rax == SYS_clone3 || rax == SYS_fork || rax == SYS_vfork;
}

/// True iff the next instruction lies in machine code of the state.
bool in_machine_code(const gregset_t& registers) {
  return state.code.contains(static_cast<MachineCode::Address>(registers[REG_RIP])) &&
         MachineCode::is_dispatch_of(state.lua, static_cast<MachineCode::Address>(registers[REG_R14]));
}

/// The first signal mostly meets machine code, or the interpreter, where the hook fires: only a retry steps elsewhere.
/// True when the thread steps now, or does already.
bool start_stepping(ucontext_t& thread, bool retry) {
  auto& registers = thread.uc_mcontext.gregs;
  if ((registers[REG_EFL] & trap_flag) != 0) return true;
  if (state.context->in_call()) return false;
  if (sigismember(&thread.uc_sigmask, SIGTRAP) != 0) return false;  // a step would kill the process
  state.code.locate();
  state.loop_end = 0;
  state.steps_outside = 0;
  if (!retry && !in_machine_code(registers)) return false;
  registers[REG_EFL] |= trap_flag;
  return true;
}

/// The exit to take at the instruction in machine code that comes next; 0: step on.
MachineCode::Address exit_at(MachineCode::Address rip) {
  if (const auto exit = state.code.guard_exit(rip); exit != 0) return exit;
  if (state.code.enters_trace(rip)) {
    state.loop_end = 0;
  } else if (state.code.jumps_back(rip)) {
    if (state.loop_end == rip) {
      const auto exit = state.code.first_exit();
      if (exit == 0) die(SIGINT);
      return exit;
    }
    state.loop_end = rip;
  }
  return 0;
}

void on_trap(int, siginfo_t* info, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (info->si_code != TRAP_TRACE && info->si_code != TRAP_BRKPT) return die(SIGTRAP);
  const auto rip = static_cast<MachineCode::Address>(registers[REG_RIP]);
  bool step_on = state.pending && state.context->interrupted() && !state.context->in_call() &&
                 pthread_equal(pthread_self(), state.thread);
  if (step_on && in_machine_code(registers)) {
    state.steps_outside = 0;
    if (const auto exit = exit_at(rip); exit != 0) {
      set_hook(state.lua);
      registers[REG_RIP] = static_cast<greg_t>(exit);
      step_on = false;
    }
  } else if (step_on) {
    step_on = ++state.steps_outside < state.step_limit && !stops_stepping(rip, registers[REG_RAX]);
  }
  if (step_on) return;
  registers[REG_EFL] &= ~trap_flag;
  if (state.pending) try_again_later();
}

#else

bool start_stepping(ucontext_t&, bool) {
  return false;
}
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
  state.retry = first_retry;
  state.step_limit = first_step_limit;
  state.context->interrupt();
  state.pending = true;
  return true;
}

void on_interrupt(int, siginfo_t* info, void* context) {
  lua_State* const L = state.lua;
  if (L == nullptr) return;
  const int saved_errno = errno;
  const bool retry = info->si_code == SI_TIMER;
  if (!pthread_equal(pthread_self(), state.thread)) {
    pthread_kill(state.thread, SIGINT);
  } else if (retry ? state.pending.load() : press()) {
    set_hook(L);
    if (!start_stepping(*static_cast<ucontext_t*>(context), retry)) try_again_later();
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
  timer_delete(state.timer);
  return 0;
}

}  // namespace

void open_interrupts(lua_State* L, Context& context, SecondInterrupt second) {
  lua_newuserdata(L, 0);
  lua_createtable(L, 0, 1);

  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGINT;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  if (timer_create(CLOCK_MONOTONIC, &event, &state.timer) != 0)
    luaL_error(L, "[interrupt] expected a timer from the system, got error %d", errno);

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
  // A shell without job control makes background commands ignore Ctrl-C.
  if (state.previous_int.sa_handler == SIG_IGN) sigaction(SIGINT, &state.previous_int, nullptr);
  install(SIGTRAP, on_trap, SA_RESTART, &state.previous_trap);
}

void set_interrupt_target(InterruptTarget target) {
  sigset_t interrupt, before;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupt, &before);
  if (state.pending) {
    arm_timer(0);
    restore_script_hook(state.lua);
    state.pending = false;
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
