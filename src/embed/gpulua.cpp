// States of the C interface: their beginning and end, waiting, collecting, interrupting, messages.

#include "include/gpulua/gpulua.h"

#include <chrono>
#include <memory>
#include <string>

#include "src/embed/failure.h"
#include "src/embed/state_options.h"
#include "src/eval/pipeline.h"

using namespace gpulua;
using namespace gpulua::embed;

namespace {

using Access = ScriptState::Access;

int collect_all(lua_State* L, void*) {
  lua_gc(L, LUA_GCCOLLECT, 0);
  return 0;
}

/// Steps of the collector for about that many milliseconds.
int collect_for(lua_State* L, void* milliseconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double, std::milli>(*static_cast<const double*>(milliseconds));
  while (lua_gc(L, LUA_GCSTEP, 1) == 0 && Clock::now() < end) {
  }
  return 0;
}

}  // namespace

const char* gpulua_status_name(int status) {
  static constexpr const char* names[] = {"GPULUA_OK",          "GPULUA_SYNTAX",   "GPULUA_RUNTIME",
                                          "GPULUA_MEMORY",      "GPULUA_DEVICE",   "GPULUA_DEADLINE",
                                          "GPULUA_INTERRUPTED", "GPULUA_ARGUMENT", "GPULUA_BUSY",
                                          "GPULUA_UNAVAILABLE", "GPULUA_LOST"};
  return status >= GPULUA_OK && status <= GPULUA_LOST ? names[status] : "an unknown status";
}

int gpulua_abi_version(void) {
  return GPULUA_ABI_VERSION;
}

gpulua_status gpulua_create(const gpulua_options* options, gpulua_state** out) {
  if (out == nullptr) return fail(nullptr, GPULUA_ARGUMENT, "[create] expected a place for the state, got NULL");
  *out = nullptr;
  try {
    *out = std::make_unique<ScriptState>(read_options(options), __builtin_return_address(0)).release()->handle();
    return GPULUA_OK;
  } catch (...) {
    return fail_with_current(nullptr);
  }
}

gpulua_status gpulua_destroy(gpulua_state* state) {
  if (state == nullptr) return GPULUA_OK;
  auto* const script = static_cast<ScriptState*>(find_object(state, HandleKind::state));
  if (script == nullptr) return fail_handle("destroy", "a gpulua_state", state);
  std::string why;
  if (!script->enter(Access::last, why)) return fail_busy("destroy", why);
  delete script;
  return GPULUA_OK;
}

const char* gpulua_error(gpulua_state* state) {
  if (state == nullptr) return last_failure();
  const auto* const script = static_cast<ScriptState*>(find_object(state, HandleKind::state));
  return script != nullptr ? script->error.c_str() : last_failure();
}

void* gpulua_error_cause(void) {
  return last_cause();
}

gpulua_status gpulua_allow_kernel(gpulua_state* state, const char* sha256) {
  return in_state(state, Access::always, "allow_kernel", [&](ScriptState& script) {
    std::string digest = sha256 != nullptr ? sha256 : "";
    for (char& digit : digest) digit = static_cast<char>(digit >= 'A' && digit <= 'F' ? digit | 0x20 : digit);
    if (digest.size() != 64 || digest.find_first_not_of("0123456789abcdef") != digest.npos)
      throw Error("[allow_kernel] expected the 64 hexadecimal digits of a SHA-256 digest, got {}",
                  sha256 != nullptr ? '"' + std::string(sha256) + '"' : "NULL");
    script.context().rights.known_sources.insert(std::move(digest));
  });
}

gpulua_status gpulua_sync(gpulua_state* state) {
  return in_state(state, Access::always, "sync", [](ScriptState& script) {
    const Context::Call call(script.context());
    finish_work(script.context());
  });
}

gpulua_status gpulua_collect(gpulua_state* state, double ms) {
  return in_state(state, Access::no_script_runs, "collect", [&](ScriptState& script) {
    if (!(ms >= 0)) throw Error("[collect] expected 0 or more milliseconds, got {}", ms);
    script.run_script(ms == 0 ? &collect_all : &collect_for, &ms, 0);
  });
}

gpulua_status gpulua_interrupt(gpulua_state* state) {
  const Pin pin(state, HandleKind::state);
  auto* const script = static_cast<ScriptState*>(pin.object());
  // Without a text for a handle that is closed, as a signal handler must not make one.
  if (script == nullptr || script->lua_is_closed()) return GPULUA_ARGUMENT;
  script->interruption().raise(Interruption::Reason::interrupted);
  return GPULUA_OK;
}
