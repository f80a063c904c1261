#include "bindings/kernels/launch.h"

#include <cmath>
#include <limits>

#include "bindings/kernels/host_argument.h"
#include "bindings/kernels/stream.h"
#include "bindings/lua/caller.h"
#include "bindings/lua/list.h"
#include "bindings/lua/state.h"

namespace gpulua {

Launch::Launch(KernelRef kernel, const LaunchConfig& config, StreamRef stream)
    : kernel_(std::move(kernel)),
      config_(config),
      stream_(std::move(stream)),
      arguments_(kernel_->kernel->entry().signature),
      reminder_(kernel_->device->context(), kernel_->name()) {}

CallReminder::CallReminder(Context& context, std::string kernel)
    : context_(&context), origin_(context.host() ? context.host()->origin() : Origin{}), kernel_(std::move(kernel)) {}

CallReminder::~CallReminder() {
  if (!context_) return;
  // A program keeps a launch for work that may not come.
  const auto* const bindings = static_cast<const Bindings*>(context_->host());
  if (!origin_.chunk && bindings != nullptr && bindings->ends) return;
  remind();
}

void CallReminder::remind() noexcept {
  Context* const context = std::exchange(context_, nullptr);
  if (!context) return;
  try {
    warn_at(*context, origin_,
            "[" + kernel_ +
                "] a launch was made and never called, so its kernel has not run: expected the arguments in " +
                "a second call, as in " + kernel_ +
                (origin_.chunk ? "{grid=..., block=...}(arguments)" : ".over(n)(arguments)"));
  } catch (...) {  // no room for the text
  }
}

void Launch::run(lua_State* L) {
  expect_run();
  const std::vector<ArgumentRule>& rules = kernel_->rules;
  const auto count = static_cast<std::size_t>(lua_gettop(L) - 1);
  if (count != rules.size())
    throw Error("[{}] expected {}{}{}: {}", kernel_->name(), rules.size(),
                rules.size() == 1 ? " argument, got " : " arguments, got ", count, kernel_->signature());

  ArgumentReader reader{L, *kernel_, stream(), written_, {}, {}};
  reader.check_outputs();
  for (std::size_t i = 0; i < count; ++i) reader.read(i, arguments_.value(i));
  if (is_empty()) return;
  for (const StagedArgument& staged : reader.staged) check_room(L, staged);
  if (!reader.guarded.empty()) reader.guard_outputs();
  start(reader.stream);
  for (const StagedArgument& staged : reader.staged) copy_back(L, staged);
}

void Launch::start(const StreamRef& stream) {
  OpenDevice& device = *kernel_->device;
  const std::uint64_t blocks = std::uint64_t{config_.grid.x} * config_.grid.y * config_.grid.z;
  if (const std::uint64_t most = device.context().rights.most_blocks; blocks > most && !kernel_->is_library)
    throw Error(ErrorKind::budget,
                "[{}] expected at most {} blocks, the budget of a launch, got {}; the program sets it by blocks of "
                "gpulua_options, 0 for no limit",
                kernel_->name(), most, blocks);
  device.launch(kernel_->kernel, config_, arguments_.pointers(), stream, written_,
                kernel_->is_of_lua ? "; positions count from 1: x[1] is the first element, and gpu.grid() of the first "
                                     "thread is 1"
                                   : "; a kernel's index counts from 0");
}

namespace {

/// The launch options of a script, before the defaults are filled in.
struct LaunchOptions {
  LaunchConfig config;
  StreamRef stream;
  bool has_grid = false, has_block = false, has_shared = false;
};

[[noreturn]] void refuse(lua_State* L, int index, const BoundKernel& kernel, const std::string& option,
                         const std::string& expected) {
  throw Error("[{}] {}: expected {}, got {}", kernel.name(), option, expected, describe(L, index));
}

unsigned check_extent(lua_State* L, int index, const BoundKernel& kernel, const std::string& option) {
  const double value = lua_type(L, index) == LUA_TNUMBER ? lua_tonumber(L, index) : 0;
  const auto extent = static_cast<unsigned>(value >= 1 && value <= std::numeric_limits<unsigned>::max() ? value : 0);
  if (extent == 0 || extent != value) {
    const bool fraction = value >= 1 && value != std::floor(value) && value < std::numeric_limits<unsigned>::max();
    refuse(L, index, kernel, option,
           std::string("an integer from 1 on, or a table of up to three") + (fraction ? " (math.ceil rounds up)" : ""));
  }
  return extent;
}

/// Reads a number, or a table of one to three numbers.
Dim3 check_dim3(lua_State* L, int index, const BoundKernel& kernel, const std::string& option) {
  if (lua_type(L, index) != LUA_TTABLE) return {check_extent(L, index, kernel, option)};
  const auto count =
      static_cast<std::size_t>(check_list(L, index, kernel.name().c_str(), ("numbers for " + option).c_str()));
  if (count < 1 || count > 3)
    throw Error("[{}] {}: expected up to three numbers, got {}", kernel.name(), option, count);
  Dim3 result;
  unsigned* const axes[] = {&result.x, &result.y, &result.z};
  for (std::size_t i = 0; i < count; ++i) {
    lua_rawgeti(L, index, static_cast<int>(i + 1));
    *axes[i] = check_extent(L, lua_gettop(L), kernel, option + "[" + std::to_string(i + 1) + "]");
    lua_pop(L, 1);
  }
  return result;
}

std::size_t check_shared(lua_State* L, int index, const BoundKernel& kernel) {
  const double bytes = lua_type(L, index) == LUA_TNUMBER ? lua_tonumber(L, index) : -1;
  if (!(bytes >= 0 && bytes < 0x1p53) || bytes != static_cast<double>(static_cast<std::size_t>(bytes)))
    refuse(L, index, kernel, "shared", "a number of bytes");
  return static_cast<std::size_t>(bytes);
}

StreamRef check_stream(lua_State* L, int index, const BoundKernel& kernel) {
  const StreamHandle* handle = test<StreamHandle>(L, index);
  if (!handle)
    refuse(L, index, kernel, "stream", "a stream made by gpu.stream(), or no such option for the current one");
  if (handle->device != kernel.device)
    throw Error("[{}] stream: the stream is of {}, the kernel of {}", kernel.name(), handle->device->name(),
                kernel.device->name());
  return handle->stream;
}

int call_launch(lua_State* L) {
  check<Launch>(L, 1, "launch").run(L);
  return 0;
}

/// launch.name: an error, as a launch has no fields.
int launch_index(lua_State* L) {
  const Launch& launch = check<Launch>(L, 1, "launch");
  fail(launch.kernel().name().c_str(),
       "a call of the launch with the kernel's arguments, launch(...), and no field of it", L, 2);
}

int launch_text(lua_State* L) {
  const Launch& launch = check<Launch>(L, 1, "tostring");
  const auto size = [](const Dim3& d) {
    return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
  };
  const std::string text = "launch of " + launch.kernel().signature() + ", grid " + size(launch.config().grid) +
                           ", block " + size(launch.config().block);
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

/// True where no script runs: the host program's C++ has called.
bool is_called_by_host(Context& context) {
  return context.host() != nullptr && context.host()->origin().chunk == nullptr;
}

}  // namespace

void check_dynamic_shared(const BoundKernel& kernel) {
  if (!kernel.dynamic_shared) return;
  if (is_called_by_host(kernel.device->context()))
    throw Error(
        "[{}] expected the bytes of the kernel's extern __shared__ array after the grid and the block, as in "
        "kernel.with({{n}}, {{256}}, 4 * 256); 0 is none",
        kernel.name());
  throw Error(
      "[{}] expected shared, the bytes of the kernel's extern __shared__ array, as in {}{{grid=..., block=256, "
      "shared=4*256}}; shared=0 is none",
      kernel.name(), kernel.name());
}

Launch check_launch_options(lua_State* L, int table, const KernelRef& kernel) {
  const std::string& name = kernel->name();
  if (lua_objlen(L, table) > 0)
    throw Error("[{}] expected launch options by name, as in {{grid=..., block=...}}, got the key 1", name);
  LaunchOptions options;
  const auto read_dim3 = [&](const char* option, Dim3& to, bool& given) {
    return [&, option](int value) {
      to = check_dim3(L, value, *kernel, option);
      given = true;
    };
  };
  const auto read_shared = [&](int value) {
    options.config.shared_bytes = check_shared(L, value, *kernel);
    options.has_shared = true;
  };
  bool has_cluster = false;
  const auto read_cooperative = [&](int value) {
    if (lua_type(L, value) != LUA_TBOOLEAN) refuse(L, value, *kernel, "cooperative", "true or false");
    options.config.cooperative = lua_toboolean(L, value) != 0;
  };
  read_options(L, table, name.c_str(),
               {{"grid", read_dim3("grid", options.config.grid, options.has_grid)},
                {"block", read_dim3("block", options.config.block, options.has_block)},
                {"shared", read_shared},
                {"stream", [&](int value) { options.stream = check_stream(L, value, *kernel); }},
                {"cooperative", read_cooperative},
                {"cluster", read_dim3("cluster", options.config.cluster, has_cluster)}});
  for (const auto& [given, option] : {std::pair{options.has_grid, "grid"}, std::pair{options.has_block, "block"}})
    if (!given)
      throw Error("[{}] expected grid and block, as in {{grid=16, block={{32, 8}}}}, got no {}", name, option);
  if (!options.has_shared) check_dynamic_shared(*kernel);
  check_launch(kernel->device->info(), *kernel->kernel, options.config);
  return Launch(kernel, options.config, std::move(options.stream));
}

bool is_call_of_launch(lua_CFunction function) {
  return function == &protect<call_launch>;
}

void open_launch_type(lua_State* L) {
  new_metatable<Launch>(
      L, {{"__call", protect<call_launch>}, {"__index", protect<launch_index>}, {"__tostring", protect<launch_text>}});
  lua_pop(L, 1);
}

}  // namespace gpulua
