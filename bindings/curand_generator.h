#pragma once

#include <cstdint>
#include <lua.hpp>
#include <memory>
#include <string_view>

namespace gpulua {

class OpenDevice;

/// Pushes a cuRAND generator for the algorithm. Throws Error for an unknown algorithm, or when cuRAND is not available.
void push_curand_generator(lua_State* L, const std::shared_ptr<OpenDevice>& device, std::string_view algorithm,
                           std::uint64_t seed);
/// Creates the metatable of cuRAND generators.
void open_curand_generators(lua_State* L);

}  // namespace gpulua
