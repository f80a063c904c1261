#pragma once

#include "bindings/state.h"

namespace gpulua {

/// Pushes a generator of cuRAND's.
void push_curand_generator(lua_State* L, const std::shared_ptr<OpenDevice>& device, std::string_view algorithm,
                           std::uint64_t seed);
void open_curand_generators(lua_State* L);

/// Sets what random.lua draws with, and the methods of generators, in the table at the top of the stack. After
/// open_random.
void add_random_functions(lua_State* L);

}  // namespace gpulua
