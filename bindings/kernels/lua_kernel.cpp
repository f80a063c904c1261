#include "bindings/kernels/lua_kernel.h"

#include <limits>

#include "bindings/kernels/launch.h"
#include "bindings/kernels/module.h"
#include "bindings/lua/fields.h"
#include "bindings/lua/state.h"
#include "src/base/near_name.h"
#include "src/device/shared/source_functions.h"

namespace gpulua {

namespace {

std::string launch_in_braces(const std::string& kernel) {
  return kernel + "{grid=..., block=...}(arguments)";
}

std::string launch_of(const std::string& kernel) {
  return kernel + ":over(count)(arguments) or " + launch_in_braces(kernel);
}

/// kernel{grid=, block=, ...}
int configure_kernel(lua_State* L) {
  const KernelRef& kernel = check<KernelRef>(L, 1, "kernel");
  if (lua_type(L, 2) != LUA_TTABLE) {
    const std::string& name = kernel->name();
    if (test<BoundModule>(L, 2)) fail(name.c_str(), "a dot before the kernel, as in mod." + name + "{...}", L, 2);
    fail(name.c_str(), "a launch configuration first, as in " + launch_of(name), L, 2);
  }
  if (lua_gettop(L) > 2) {
    const std::string& name = kernel->name();
    throw Error(
        "[{}] expected a launch configuration alone, and the arguments in a call of their own, {}, got both in one",
        name, launch_of(name));
  }
  push(L, check_launch_options(L, 2, kernel));
  return 1;
}

/// k:over(count)(arguments...)
int over_items(lua_State* L) {
  const KernelRef& kernel = check<KernelRef>(L, 1, "over");
  push(L, launch_over(kernel, check_items(L, 2, kernel->name())));
  return 1;
}

/// k:occupancy(threads [, shared])
int kernel_occupancy(lua_State* L) {
  const KernelRef& kernel = check<KernelRef>(L, 1, "occupancy");
  const std::int64_t block = check_integer(L, 2, "occupancy", "a number of threads");
  const unsigned most = kernel->kernel->attributes().max_threads;
  if (block < 1 || block > most) fail("occupancy", "a block of 1 to " + std::to_string(most) + " threads", L, 2);
  const char* what = "a number of bytes of shared memory";
  const std::int64_t shared = lua_isnoneornil(L, 3) ? 0 : check_integer(L, 3, "occupancy", what);
  if (shared < 0) fail("occupancy", what, L, 3);
  lua_pushinteger(L, kernel->kernel->occupancy(static_cast<unsigned>(block), static_cast<std::size_t>(shared)));
  return 1;
}

void push_text(lua_State* L, const std::string& text) {
  lua_pushlstring(L, text.data(), text.size());
}

template <class Number>
void push_number(lua_State* L, Number value) {
  lua_pushnumber(L, static_cast<lua_Number>(value));
}

struct KernelProperty {
  std::string_view name;
  void (*push)(lua_State* L, const BoundKernel& kernel);
};

constexpr KernelProperty kernel_properties[] = {
    {"name", [](lua_State* L, const BoundKernel& k) { push_text(L, k.name()); }},
    {"signature", [](lua_State* L, const BoundKernel& k) { push_text(L, k.signature()); }},
    {"engine", [](lua_State* L, const BoundKernel& k) { push_text(L, engine_of(k)); }},
    {"registers", [](lua_State* L, const BoundKernel& k) { push_number(L, k.kernel->attributes().registers); }},
    {"shared_bytes", [](lua_State* L, const BoundKernel& k) { push_number(L, k.kernel->attributes().shared_bytes); }},
    {"local_bytes", [](lua_State* L, const BoundKernel& k) { push_number(L, k.kernel->attributes().local_bytes); }},
    {"max_threads", [](lua_State* L, const BoundKernel& k) { push_number(L, k.kernel->attributes().max_threads); }},
};

int kernel_index(lua_State* L) {
  const KernelRef& kernel = check<KernelRef>(L, 1, "kernel");
  if (push_method(L)) return 1;
  if (lua_type(L, 2) != LUA_TSTRING)
    fail(kernel->name().c_str(), "a launch in braces, " + launch_in_braces(kernel->name()) + ", and no brackets", L, 2);
  const std::string_view name = name_at(L, 2);
  for (const KernelProperty& property : kernel_properties)
    if (name == property.name) return property.push(L, *kernel), 1;
  NearName near(name);
  for (const KernelProperty& property : kernel_properties) near.offer(property.name);
  offer_methods(L, near);
  refuse_field(L, no_field(LuaType<KernelRef>::name), 2, near);
}

int kernel_text(lua_State* L) {
  push_text(L, "kernel " + check<KernelRef>(L, 1, "tostring")->signature());
  return 1;
}

}  // namespace

std::string engine_of(const BoundKernel& kernel) {
  const Device& device = kernel.device->device();
  if (device.checking()) return "scalar: the checker follows single threads";
  const std::string& engine = kernel.kernel->entry().engine;
  return engine.empty() ? device.info().name.substr(0, device.info().name.find(':')) : engine;
}

std::string BoundKernel::argument_text(std::size_t i) const {
  const std::string parameter = source ? parameter_name(*source, name(), rules.size(), i) : std::string();
  return "[" + name() + "] argument " + std::to_string(i + 1) + (parameter.empty() ? "" : " (" + parameter + ")") +
         ": ";
}

const std::vector<std::size_t>& BoundKernel::written_parameters() {
  if (written) return *written;
  written.emplace();
  const std::vector<bool> in_text =
      source ? gpulua::written_parameters(*source, name(), rules.size()) : std::vector<bool>();
  for (std::size_t i = 0; i < in_text.size(); ++i)
    if (in_text[i] && rules[i].parameter.writable) written->push_back(i);
  return *written;
}

const std::vector<TextureUse>& BoundKernel::texture_uses() {
  if (!textures) textures = source ? gpulua::texture_uses(*source) : std::vector<TextureUse>();
  return *textures;
}

std::int64_t check_items(lua_State* L, int index, const std::string& kernel) {
  const char* what = "a number of items, one for each thread";
  if (lua_istable(L, index))
    throw Error(
        "[over] expected {}, got a table; several axes are a launch of their own, {}{{grid={{columns, rows}}, "
        "block={{32, 8}}}}(arguments)",
        what, kernel);
  const std::int64_t items = check_integer(L, index, "over", what);
  if (items < 0) fail("over", what, L, index);
  return items;
}

Launch launch_over(const KernelRef& kernel, std::int64_t items) {
  check_dynamic_shared(*kernel);
  if (kernel->suggested_block == 0) kernel->suggested_block = kernel->kernel->suggested_block(0);

  const std::int64_t block = kernel->suggested_block;
  const std::int64_t blocks = items / block + (items % block != 0);
  if (blocks > std::numeric_limits<unsigned>::max())
    throw Error("[over] expected items that fit a grid, got {}", items);
  LaunchConfig config;
  config.grid.x = static_cast<unsigned>(blocks);
  config.block.x = kernel->suggested_block;
  // With no items nothing is launched, but the arguments are still checked.
  if (items > 0) check_launch(kernel->device->info(), *kernel->kernel, config);
  return Launch(kernel, config, nullptr);
}

KernelRef bind_kernel(std::shared_ptr<OpenDevice> device, std::shared_ptr<Kernel> kernel,
                      std::shared_ptr<const std::string> source, bool is_of_lua) {
  auto bound = std::make_shared<BoundKernel>(BoundKernel{std::move(device), std::move(kernel), std::move(source), {}});
  for (const Parameter& parameter : bound->kernel->entry().signature.parameters)
    bound->rules.push_back(make_rule(parameter, bound->source.get()));
  bound->is_of_lua = is_of_lua;
  bound->device->warn_of(bound->kernel->entry());
  bound->dynamic_shared = bound->source && uses_dynamic_shared(*bound->source, bound->name());
  return bound;
}

bool makes_launch(lua_CFunction function) {
  return function == &protect<configure_kernel> || function == &protect<over_items>;
}

void open_kernel_type(lua_State* L) {
  new_metatable<KernelRef>(L, {{"__call", protect<configure_kernel>},
                               {"__index", protect<kernel_index>},
                               {"__tostring", protect<kernel_text>}});
  keep_methods(L, "k:", LuaType<KernelRef>::name,
               {{"over", protect<over_items>}, {"occupancy", protect<kernel_occupancy>}});
  lua_pop(L, 1);
}

}  // namespace gpulua
