#include "src/embed/state_options.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

#include "src/base/error.h"
#include "src/embed/failure.h"

namespace gpulua::embed {
namespace {

// Functions of Lua that cannot be stopped take time in proportion to it.
constexpr std::size_t lua_memory_of_sandboxes = std::size_t{256} << 20;

struct Flag {
  unsigned bit;
  const char* name;
};
constexpr Flag flags[] = {{GPULUA_SANDBOX, "GPULUA_SANDBOX"},
                          {GPULUA_KERNELS, "GPULUA_KERNELS"},
                          {GPULUA_INTERRUPTIBLE, "GPULUA_INTERRUPTIBLE"},
                          {GPULUA_STRICT, "GPULUA_STRICT"},
                          {GPULUA_NO_FAULT_HANDLERS, "GPULUA_NO_FAULT_HANDLERS"}};
// Programs that were compiled before handlers of faults were the default ask for them by this bit, and have the same
// GPULUA_ABI_VERSION. They get what they ask for.
constexpr unsigned wants_fault_handlers = 16;

// The first version's struct ended here.
constexpr std::size_t smallest_options = offsetof(gpulua_options, lua_memory);

void write_warning(void*, int, const char* text) {
  std::fprintf(stderr, "gpulua: %s\n", text);
}

Error wrong_size(const char* op, std::size_t size) {
  return Error(
      "[{}] expected options with struct_size = sizeof(gpulua_options), {} bytes here, got {}{}: "
      "gpulua_options_init(&options, sizeof options) sets it",
      op, sizeof(gpulua_options), size, size == sizeof(void*) ? ", the size of a pointer" : "");
}

/// `size`: of the caller's struct, which may be shorter or longer.
void set_defaults(gpulua_options& options, std::size_t size) {
  std::memset(static_cast<void*>(&options), 0, size);
  options.struct_size = size;
  if (size >= offsetof(gpulua_options, log) + sizeof options.log) options.log = &write_warning;
}

/// Copies the caller's struct, which is shorter from an older header and longer from a newer one.
gpulua_options copy(const gpulua_options& given) {
  if (given.struct_size < smallest_options) throw wrong_size("create", given.struct_size);
  gpulua_options options{};
  std::memcpy(&options, &given, std::min(given.struct_size, sizeof options));
  const auto* bytes = reinterpret_cast<const unsigned char*>(&given);
  if (given.struct_size > sizeof options &&
      std::any_of(bytes + sizeof options, bytes + given.struct_size, [](unsigned char byte) { return byte != 0; }))
    throw Error(
        "[create] expected options that this library knows, got some of a newer gpulua.h: struct_size is {}, and here "
        "{}",
        given.struct_size, sizeof options);
  options.struct_size = sizeof options;
  return options;
}

void check_flags(unsigned given) {
  unsigned known = wants_fault_handlers;
  std::string names;
  for (const Flag& flag : flags) {
    known |= flag.bit;
    names += (names.empty() ? "" : ", ") + std::string(flag.name) + " (" + std::to_string(flag.bit) + ")";
  }
  if (const unsigned unknown = given & ~known; unknown != 0) {
    std::string bits;
    for (unsigned bit = 1; bit != 0; bit <<= 1)
      if ((unknown & bit) != 0) bits += (bits.empty() ? "" : ", ") + std::to_string(bit);
    throw Error("[create] expected flags of {}, got {}{}; gpulua_options_init sets the flags to 0", names,
                bits.find(',') == bits.npos ? "the unknown bit " : "the unknown bits ", bits);
  }
  if ((given & wants_fault_handlers) != 0 && (given & GPULUA_NO_FAULT_HANDLERS) != 0)
    throw Error(
        "[create] expected GPULUA_NO_FAULT_HANDLERS (32) or the bit 16 of an older gpulua.h, which asks for these "
        "handlers, got both; without either they are there");
}

}  // namespace

gpulua_options read_options(const gpulua_options* given) {
  gpulua_options options{};
  given != nullptr ? void(options = copy(*given)) : set_defaults(options, sizeof options);
  check_flags(options.flags);
  if (options.device != nullptr && *options.device == 0)
    throw Error("[create] expected the device \"cpu\" or \"cuda:0\", or NULL for the default one, got an empty text");
  const bool is_sandbox = (options.flags & GPULUA_SANDBOX) != 0, kernels = (options.flags & GPULUA_KERNELS) != 0;
  if (kernels && !is_sandbox) throw Error("[create] expected GPULUA_SANDBOX with GPULUA_KERNELS, got it alone");
  if (is_sandbox && options.lua_state != nullptr)
    throw Error("[create] expected no lua_state with GPULUA_SANDBOX: a sandbox makes its own");
  if (kernels && options.device != nullptr && std::strcmp(options.device, "cpu") != 0)
    throw Error("[create] expected the device \"cpu\" with GPULUA_KERNELS, where kernels can be checked, got \"{}\"",
                options.device);
  const bool on_cpu = kernels || (options.device != nullptr && std::strcmp(options.device, "cpu") == 0);
  if (on_cpu && (options.cu_context != nullptr || options.cu_stream != nullptr))
    throw Error("[create] expected a CUDA device with cu_context or cu_stream, got the device \"cpu\"");
  if (options.default_dtype != nullptr && !find_default_dtype(options.default_dtype))
    throw Error("[create] expected the default_dtype \"float32\", C's float, or \"float64\", C's double, got \"{}\"",
                options.default_dtype);
  if (is_sandbox && options.lua_memory == 0) options.lua_memory = lua_memory_of_sandboxes;
  if (options.lua_state != nullptr && (options.allocate != nullptr || options.lua_memory != 0))
    throw Error(
        "[create] expected neither allocate nor lua_memory beside lua_state: the memory of the program's own Lua state "
        "is the program's");
  return options;
}

Config configure(const gpulua_options& options) {
  Config config = Config::from_environment();
  // The program's context takes precedence over GPULUA_DEVICE.
  if (options.device != nullptr || options.cu_context != nullptr)
    config.device = options.device != nullptr ? options.device : "";
  if (options.device != nullptr) config.device_source = "the option device of gpulua_create";
  config.cuda_context = options.cu_context;
  config.cuda_stream = options.cu_stream;
  if (options.cache_directory != nullptr) config.cache_directory = options.cache_directory;
  if (options.default_dtype != nullptr) config.default_dtype = *find_default_dtype(options.default_dtype);
  config.device_memory = options.device_memory;
  if ((options.flags & GPULUA_KERNELS) != 0) {
    config.device = "cpu";
    config.check = true;
  }
  if ((options.flags & GPULUA_NO_FAULT_HANDLERS) != 0) config.fault_handlers = false;
  return config;
}

bool configures_context(const gpulua_options& options) {
  return options.device != nullptr || options.cu_context != nullptr || options.cu_stream != nullptr ||
         options.device_memory != 0 || options.cache_directory != nullptr || options.default_dtype != nullptr ||
         (options.flags & GPULUA_NO_FAULT_HANDLERS) != 0;
}

void set_rights(const gpulua_options& options, ScriptRights& rights) {
  const auto limit = [](std::uint64_t most) { return most != 0 ? most : ScriptRights::no_limit; };
  rights.trusted = (options.flags & GPULUA_SANDBOX) == 0;
  rights.checked_kernels = (options.flags & GPULUA_KERNELS) != 0;
  rights.most_launches = limit(options.launches);
  rights.most_compilations = limit(options.compilations);
  rights.most_blocks = limit(options.blocks);
}

}  // namespace gpulua::embed

gpulua_status gpulua_options_init(gpulua_options* options, size_t struct_size) {
  using namespace gpulua::embed;
  try {
    if (options == nullptr) throw gpulua::Error("[options_init] expected a place for the options, got NULL");
    // What gpulua_create() refuses; nothing is known of a place for more.
    if (struct_size >= sizeof options->struct_size) options->struct_size = struct_size;
    if (struct_size < smallest_options) throw wrong_size("options_init", struct_size);
    set_defaults(*options, struct_size);
    return GPULUA_OK;
  } catch (...) {
    return fail_with_current(nullptr);
  }
}
