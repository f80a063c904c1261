#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "include/gpulua/gpulua.h"
#include "src/embed/handle.h"
#include "src/embed/script_state.h"

namespace gpulua::embed {

/// Notes the text for gpulua_error(): the calling thread's, and the state's where there is one. Gives the status.
gpulua_status fail(ScriptState* state, gpulua_status status, std::string_view text, void* cause = nullptr) noexcept;
/// The calling thread's last text.
const char* last_failure() noexcept;
/// The status that it came with, or GPULUA_OK since forget_status().
gpulua_status last_status() noexcept;
void forget_status() noexcept;
/// The text of an exception that is not the library's, with those of the exceptions that it nests.
std::string text_of(const std::exception& error);
/// What the callback whose error that was had given with it; null for another error.
void* last_cause() noexcept;
/// "[call] expected a gpulua_function, got NULL".
gpulua_status fail_handle(const char* op, const char* expected, const void* got) noexcept;
/// "[run] another thread works in this state".
gpulua_status fail_busy(const char* op, const std::string& why) noexcept;
/// Notes the exception that is being handled.
gpulua_status fail_with_current(ScriptState* state) noexcept;
gpulua_status status_of(ErrorKind kind) noexcept;

/// The one place where exceptions become statuses: runs `body` in the state, on the thread that has entered it.
template <class Body>
gpulua_status enter(ScriptState& state, ScriptState::Access access, const char* op, Body body) noexcept {
  std::string why;
  if (!state.enter(access, why)) return fail_busy(op, why);
  gpulua_status status = GPULUA_OK;
  try {
    body();
  } catch (...) {
    status = fail_with_current(&state);
  }
  state.leave();
  return status;
}

/// The object of an open handle, or null.
template <class T>
T* find_held(const void* handle) noexcept {
  // Of the base: handles point to it.
  return static_cast<T*>(static_cast<Held*>(find_object(handle, T::kind)));
}

/// One more use of the object of a handle, and one less. Any thread.
template <class T>
gpulua_status retain(const void* handle, const char* op, const char* expected) noexcept {
  const Pin pin(handle, T::kind);
  if (pin.object() == nullptr) return fail_handle(op, expected, handle);
  static_cast<Held*>(pin.object())->uses.fetch_add(1, std::memory_order_relaxed);
  return GPULUA_OK;
}
template <class T>
gpulua_status release(const void* handle, const char* op, const char* expected) noexcept {
  bool last = false;
  {
    const Pin pin(handle, T::kind);
    auto* const held = static_cast<Held*>(pin.object());
    if (held == nullptr) return fail_handle(op, expected, handle);
    last = held->uses.fetch_sub(1, std::memory_order_acq_rel) == 1;
    if (last) held->state->let_go(held);
  }
  if (last) close_handle(handle, Closing::release);
  return GPULUA_OK;
}

/// The same for the state of a handle; `body` gets it.
template <class Body>
gpulua_status in_state(gpulua_state* handle, ScriptState::Access access, const char* op, Body body) noexcept {
  ScriptState* const state = ScriptState::find(handle);
  if (state == nullptr) return fail_handle(op, "a gpulua_state", handle);
  return enter(*state, access, op, [&] { body(*state); });
}

}  // namespace gpulua::embed
