#pragma once

#include <string>
#include <vector>

#include "src/array/array.h"
#include "src/embed/failure.h"
#include "src/exchange/dlpack_tensors.h"

namespace gpulua::embed {

/// An array that the host program holds, and what it may ask for on any thread.
struct HeldArray final : Held {
  static constexpr HandleKind kind = HandleKind::array;
  HeldArray(ScriptState& state_, Array array_);

  Array array;
  std::string device;
  std::vector<std::int64_t> shape, strides;  // strides in bytes
  std::int64_t size;
};

gpulua_array* hold_array(ScriptState& state, Array array);

/// A stream parameter of the C interface.
inline NativeStream native(void* stream) {
  return stream == GPULUA_NO_STREAM ? NativeStream() : NativeStream(stream);
}

/// The one place for functions of arrays: runs `body` with the array, within a call of the context.
template <class Body>
gpulua_status in_array(gpulua_array* handle, const char* op, Body body) noexcept {
  auto* const held = find_held<HeldArray>(handle);
  if (held == nullptr) return fail_handle(op, "a gpulua_array", handle);
  return enter(*held->state, ScriptState::Access::always, op, [&] {
    const Context::Call call(held->state->context());
    body(*held);
  });
}

/// The same for functions that make an array of the state's.
template <class Body>
gpulua_status make_array(gpulua_state* handle, gpulua_array** out, const char* op, Body body) noexcept {
  if (out != nullptr) *out = nullptr;
  return in_state(handle, ScriptState::Access::always, op, [&](ScriptState& state) {
    if (out == nullptr) throw Error("[{}] expected a place for the array, got NULL", op);
    const Context::Call call(state.context());
    *out = hold_array(state, body(state));
  });
}

}  // namespace gpulua::embed
