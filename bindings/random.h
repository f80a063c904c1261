#pragma once

#include "bindings/state.h"

namespace gpulua {

/// Pushes a generator of cuRAND's.
void push_curand_generator(lua_State* L, const std::shared_ptr<OpenDevice>& device, std::string_view algorithm,
                           std::uint64_t seed);
void open_curand_generators(lua_State* L);

}  // namespace gpulua
