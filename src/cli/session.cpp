#include "src/cli/session.h"
#include "src/eval/pipeline.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <iterator>
#include <lua.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "bindings/comm/comm.h"
#include "bindings/lua/chunk_texts.h"
#include "bindings/lua/source_location.h"
#include "bindings/open.h"
#include "bindings/session/hint.h"
#include "bindings/session/session_parts.h"
#include "src/cli/command_state.h"
#include "src/cli/compile_notice.h"
#include "src/cli/interrupt.h"
#include "src/cli/jit_options.h"
#include "src/cli/repl.h"
#include "src/cli/report.h"
#include "src/runtime/context.h"
#include "src/runtime/trace_file.h"

namespace gpulua {
namespace {

constexpr int exit_success = 0;
constexpr int exit_error = 1;
constexpr int exit_interrupted = 128 + 2;  // as a shell reports a process that SIGINT ended

constexpr const char* version = "gpulua " GPULUA_VERSION " (" LUAJIT_VERSION ")";

class Session {
 public:
  Session(const Options& options, const Environment& environment, std::shared_ptr<Context> context, int argc,
          char** argv)
      : options_(options), environment_(environment), context_(std::move(context)), argc_(argc), argv_(argv) {}

  /// The body of a protected call: memory may run out in any of it.
  static int run(lua_State* L) {
    auto& session = *static_cast<Session*>(lua_touserdata(L, 1));
    lua_settop(L, 0);
    session.open(L);
    if (!session.start_trace()) return 0;
    if (session.run_all(L) && session.finish_work()) session.exit_code_ = exit_success;
    if (!session.report(L)) session.exit_code_ = exit_error;
    return 0;
  }

  int exit_code() const { return exit_code_; }

 private:
  bool has_script() const { return options_.script < argc_; }
  bool wants_repl() const {
    return options_.interactive || (!has_script() && options_.nothing_named() && isatty(STDIN_FILENO) != 0);
  }

  void open(lua_State* L) {
    lua_gc(L, LUA_GCSTOP, 0);  // as luajit: nothing can be garbage yet
    open_command_state(L, context_);
    push_arguments(L);
    if (options_.profile || options_.trace) report_at_exit(L);
    lua_gc(L, LUA_GCRESTART, -1);
    open_interrupts(L, *context_, SecondInterrupt::ends_process);
    set_interrupt_target(InterruptTarget::script);
  }

  /// Waits for the work that is still queued on the script's devices. False when some of it has failed. It does not
  /// wait after an interrupt: the work may hold a kernel that never ends.
  bool finish_work() {
    if (script_interrupted()) return true;
    try {
      const Context::Call call(*context_);
      gpulua::finish_work(*context_);
      return true;
    } catch (const std::exception& error) {
      std::fflush(stdout);
      std::fprintf(stderr, "gpulua: %s\n", error.what());
      return false;
    }
  }

  /// False when there is no profile, because work that it waits for has failed.
  static bool print_profile(lua_State* L) {
    lua_getfield(L, LUA_REGISTRYINDEX, profile_report_key);
    if (lua_isnil(L, -1)) return true;
    if (!call_with_traceback(L, 0, 1)) {
      print_error(L);
      return false;
    }
    std::fflush(stdout);
    if (lua_objlen(L, -1) > 0) std::fprintf(stderr, "%s\n", lua_tostring(L, -1));
    lua_pop(L, 1);
    return true;
  }

  /// False when the file cannot be written.
  bool start_trace() {
    if (!options_.trace) return true;
    return try_trace([this] { trace_ = std::make_unique<TraceFile>(*context_, *options_.trace, "trace"); });
  }

  bool finish_trace() {
    // The work of a script that has failed may never end.
    constexpr int patience = 1000;  // ms
    const std::unique_ptr<TraceFile> trace = std::move(trace_);
    return !trace || try_trace([&] { trace->finish(patience); });
  }

  template <class Action>
  bool try_trace(const Action& action) {
    try {
      const Context::Call call(*context_);
      action();
      return true;
    } catch (const std::exception& error) {
      std::fflush(stdout);
      std::fprintf(stderr, "gpulua: %s\n", error.what());
      return false;
    }
  }

  /// What --profile and --trace give at the end. False when some of it cannot be had.
  bool report(lua_State* L) {
    const bool printed = !options_.profile || print_profile(L);
    return finish_trace() && printed;
  }

  /// A script that ends by os.exit has run kernels too.
  static int exit_with_reports(lua_State* L) {
    static_cast<Session*>(lua_touserdata(L, lua_upvalueindex(2)))->report(L);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 0);
    return 0;
  }

  void report_at_exit(lua_State* L) {
    lua_getglobal(L, "os");
    lua_getfield(L, -1, "exit");
    lua_pushlightuserdata(L, this);
    lua_pushcclosure(L, &exit_with_reports, 2);
    lua_setfield(L, -2, "exit");
    lua_pop(L, 1);
  }

  bool run_all(lua_State* L) {
    if (environment_.lua_init && !run_init(L, *environment_.lua_init)) return false;
    if (options_.version) std::puts(version);
    if (wants_repl() && !open_prompt(L)) return false;
    for (const Action& action : options_.actions)
      if (!run_action(L, action)) return false;
    if (has_script()) {
      const char* name = argv_[options_.script];
      const bool standard_input = std::strcmp(name, "-") == 0 && std::strcmp(argv_[options_.script - 1], "--") != 0;
      if (!run_script(L, standard_input ? nullptr : name)) return false;
    }
    if (wants_repl())
      run_repl(L, banner(), environment_.history);
    else if (!has_script() && options_.nothing_named() && !run_script(L, nullptr))
      return false;
    return true;
  }

  bool open_prompt(lua_State* L) {
    lua_pushcfunction(L, load_gpu);
    return finish(L, call_with_traceback(L, 0, 0));
  }

  std::string banner() const {
    const std::string& device = context_->config().device;
    return std::string(version) + "\nDevice: " + (device.empty() ? "cuda:0 if there is one, else cpu" : device) +
           "; not opened before its first use.\nhelp() lists what there is, ? gpu.sum shows one of it. quit or Ctrl-D "
           "leaves.";
  }

  bool run_action(lua_State* L, const Action& action) {
    switch (action.kind) {
      case Action::Kind::execute:
        return run_code(L, action.text, "=(command line)");
      case Action::Kind::require:
        lua_getglobal(L, "require");
        lua_pushlstring(L, action.text.data(), action.text.size());
        return finish(L, call_with_traceback(L, 1, 0));
      case Action::Kind::jit_command:
        return run_option(
            L, [](lua_State* state) -> int { return run_jit_command(state, luaL_checkstring(state, 1)), 0; },
            action.text);
      case Action::Kind::optimise:
        return run_option(
            L, [](lua_State* state) -> int { return set_jit_options(state, luaL_checkstring(state, 1)), 0; },
            action.text);
    }
    return false;
  }

  bool run_option(lua_State* L, lua_CFunction function, const std::string& text) {
    lua_pushcfunction(L, function);
    lua_pushlstring(L, text.data(), text.size());
    return finish(L, call_with_traceback(L, 1, 0));
  }

  bool run_init(lua_State* L, const std::string& init) {
    if (!init.starts_with("@")) return run_code(L, init, "=LUA_INIT");
    return run_file(L, init.c_str() + 1, 0);
  }

  bool run_code(lua_State* L, const std::string& code, const char* chunk) {
    if (luaL_loadbuffer(L, code.data(), code.size(), chunk) == 0) {
      keep_chunk_text(L, chunk, code);
      return finish(L, call_with_traceback(L, 0, 0));
    }
    add_hint(L, code, HintFiles::read);
    return finish(L, false);
  }

  /// A script that reads no arguments ignores an option of the command after its name.
  void warn_of_late_options(const char* script) const {
    const auto late = std::find_if(argv_ + options_.script + 1, argv_ + argc_, is_long_option);
    if (late == argv_ + argc_) return;
    const std::string text = file_text(script);
    if (text.find("...") != text.npos || text.find("arg") != text.npos) return;
    std::fprintf(
        stderr,
        "gpulua: %s follows the script's name, so it goes to the script, which reads no arguments; put options of "
        "gpulua before the name\n",
        *late);
  }

  /// With the arguments of the command line. Null: the standard input.
  bool run_script(lua_State* L, const char* name) {
    if (name != nullptr && has_script()) warn_of_late_options(name);
    return run_file(L, name, has_script() ? argc_ - options_.script - 1 : 0);
  }

  /// Loads the standard input, whose text is kept: it can be read once. False: pushes the message.
  static bool load_standard_input(lua_State* L) {
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    const bool loaded = luaL_loadbuffer(L, text.data(), text.size(), "=stdin") == 0;
    if (loaded)
      keep_chunk_text(L, "=stdin", text);
    else
      add_hint(L, text, HintFiles::read);
    return loaded;
  }

  static bool load_script(lua_State* L, const char* name) {
    if (!name) return load_standard_input(L);
    if (luaL_loadfile(L, name) == 0) return true;
    add_hint(L, std::nullopt, HintFiles::read);
    return false;
  }

  bool run_file(lua_State* L, const char* name, int arguments) {
    if (!load_script(L, name)) return finish(L, false);
    luaL_checkstack(L, arguments, "too many arguments");
    for (int i = 1; i <= arguments; ++i) lua_pushstring(L, argv_[options_.script + i]);
    return finish(L, call_with_traceback(L, arguments, 0));
  }

  /// The global `arg`: the script at 0, its arguments after it, the options and the command before it.
  void push_arguments(lua_State* L) {
    const int zero = has_script() ? options_.script : 0;
    lua_createtable(L, argc_ - zero, zero + 1);
    for (int i = 0; i < argc_; ++i) {
      lua_pushstring(L, argv_[i]);
      lua_rawseti(L, -2, i - zero);
    }
    lua_setglobal(L, "arg");
  }

  /// Reports the message on the stack unless `good`, which it gives back.
  bool finish(lua_State* L, bool good) {
    if (good) return true;
    const bool interrupted = script_interrupted() && std::strstr(lua_tostring(L, -1), "interrupted") != nullptr;
    exit_code_ = interrupted ? exit_interrupted : exit_error;
    const std::string message = lua_tostring(L, -1);
    print_error(L);
    report_failure(L, message);
    return false;
  }

  const Options& options_;
  const Environment& environment_;
  std::shared_ptr<Context> context_;
  int argc_;
  char** argv_;
  std::unique_ptr<TraceFile> trace_;
  int exit_code_ = exit_error;
};

}  // namespace

int run_session(const Options& options, const Environment& environment, Config config, int argc, char** argv) {
  const auto context = std::make_shared<Context>(std::move(config), make_evaluator);
  if (options.device) context->check_device_name();
  context->on_warning = [](const std::string& message) { std::fprintf(stderr, "gpulua: %s\n", message.c_str()); };
  context->on_compile = [](const KernelSource&, const std::string& where) { return notice_compilation(where); };
  Session session(options, environment, context, argc, argv);
  const std::unique_ptr<lua_State, decltype(&lua_close)> state(luaL_newstate(), &lua_close);
  if (state == nullptr) {
    std::fputs("gpulua: not enough memory for a Lua state\n", stderr);
    return exit_error;
  }
  if (lua_cpcall(state.get(), Session::run, &session) != 0) {
    print_error(state.get());
    return exit_error;
  }
  return session.exit_code();
}

}  // namespace gpulua
