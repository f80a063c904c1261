#include "src/embed/held_array.h"

#include <utility>

namespace gpulua::embed {

HeldArray::HeldArray(ScriptState& state_, Array array_)
    : Held(state_), array(std::move(array_)), device(array->device().name()), size(array->layout.size()) {
  shape.assign(array->layout.shape.begin(), array->layout.shape.end());
  for (const std::int64_t stride : array->layout.strides)
    strides.push_back(stride * static_cast<std::int64_t>(array->itemsize()));
}

gpulua_array* hold_array(ScriptState& state, Array array) {
  return static_cast<gpulua_array*>(state.hold(std::make_unique<HeldArray>(state, std::move(array))));
}

}  // namespace gpulua::embed
