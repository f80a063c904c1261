#include "src/embed/state_options.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "src/base/error.h"

namespace gpulua::embed {
namespace {

constexpr unsigned known_flags =
    GPULUA_SANDBOX | GPULUA_KERNELS | GPULUA_INTERRUPTIBLE | GPULUA_STRICT | GPULUA_FAULT_HANDLERS;

/// Copies the caller's struct, which is shorter from an older header and longer from a newer one.
gpulua_options copy(const gpulua_options& given) {
  if (given.struct_size < sizeof given.struct_size)
    throw Error("[create] expected options with struct_size = sizeof(gpulua_options), got " +
                std::to_string(given.struct_size) + ": gpulua_options_init sets it");
  gpulua_options options{};
  std::memcpy(&options, &given, std::min(given.struct_size, sizeof options));
  const auto* bytes = reinterpret_cast<const unsigned char*>(&given);
  if (given.struct_size > sizeof options &&
      std::any_of(bytes + sizeof options, bytes + given.struct_size, [](unsigned char byte) { return byte != 0; }))
    throw Error("[create] expected options that this library knows, got some of a newer gpulua.h: struct_size is " +
                std::to_string(given.struct_size) + ", and here " + std::to_string(sizeof options));
  options.struct_size = sizeof options;
  return options;
}

}  // namespace

gpulua_options read_options(const gpulua_options* given) {
  gpulua_options options{};
  if (given != nullptr) options = copy(*given);
  if ((options.flags & ~known_flags) != 0)
    throw Error("[create] expected flags of gpulua.h, got an unknown bit in " + std::to_string(options.flags));
  if ((options.flags & (GPULUA_SANDBOX | GPULUA_KERNELS)) != 0)
    throw Error(ErrorKind::unavailable, "[create] this build of the library has no sandbox");
  if (options.lua_state != nullptr && (options.allocate != nullptr || options.lua_memory != 0))
    throw Error(
        "[create] expected neither allocate nor lua_memory beside lua_state: the memory of the program's own Lua state "
        "is the program's");
  return options;
}

Config configure(const gpulua_options& options) {
  Config config = Config::from_environment();
  if (options.device != nullptr) config.device = options.device;
  if (options.cache_directory != nullptr) config.cache_directory = options.cache_directory;
  config.device_memory = options.device_memory;
  config.fault_handlers = (options.flags & GPULUA_FAULT_HANDLERS) != 0;
  return config;
}

}  // namespace gpulua::embed

void gpulua_options_init(gpulua_options* options, size_t struct_size) {
  if (options == nullptr || struct_size < sizeof options->struct_size) return;
  std::memset(options, 0, struct_size);
  options->struct_size = struct_size;
}
