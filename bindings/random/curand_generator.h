#pragma once

#include <cstdint>
#include <lua.hpp>
#include <memory>
#include <optional>
#include <string_view>

namespace gpulua {

class OpenDevice;

/// What a script has given. The seed belongs to pseudo-random generators, the others to sequences.
struct CurandOptions {
  std::optional<std::uint64_t> seed;
  std::optional<std::int64_t> dimensions;
  std::optional<std::uint64_t> offset;  // the number of the first point
};

/// Pushes a cuRAND generator for the algorithm. Throws Error for an unknown algorithm or options that do not fit it, or
/// when cuRAND is not available.
void push_curand_generator(lua_State* L, const std::shared_ptr<OpenDevice>& device, std::string_view algorithm,
                           const CurandOptions& options);
/// Creates the metatable of cuRAND generators.
void open_curand_generators(lua_State* L);

}  // namespace gpulua
