#include "bindings/kernels/module.h"

#include <algorithm>
#include <utility>

#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/lua_device.h"
#include "bindings/kernels/host_argument.h"
#include "bindings/kernels/kernel_parts.h"
#include "bindings/kernels/kernel_source.h"
#include "bindings/kernels/launch.h"
#include "bindings/kernels/link_request.h"
#include "bindings/kernels/lua_kernel.h"
#include "bindings/kernels/module_global.h"
#include "bindings/lua/cdata.h"
#include "bindings/lua/fields.h"
#include "bindings/lua/source_location.h"
#include "bindings/lua/state.h"
#include "src/base/near_name.h"
#include "src/device/shared/source_functions.h"

namespace gpulua {

namespace {

// ---- making modules
// -----------------------------------------------------------------------------------------------------

BoundModule& push_module(lua_State* L, std::shared_ptr<OpenDevice> device, std::shared_ptr<Module> module,
                         std::shared_ptr<const std::string> source = nullptr, bool is_library = false) {
  BoundModule& bound = push(L, BoundModule{std::move(device), std::move(module), std::move(source), is_library});
  lua_newtable(L);
  lua_setfenv(L, -2);
  return bound;
}

BoundModule& compile(lua_State* L, const SourceRequest& request, bool is_library) {
  return push_module(L, request.device, request.device->compile(request.source),
                     std::make_shared<const std::string>(request.source.text), is_library);
}

/// True for PTX text, cubins and fatbins. They contain newlines or zero bytes, which a path does not.
bool is_image(std::string_view text) {
  return text.find_first_of(std::string_view("\n\0", 2)) != text.npos;
}

/// find_kernel() with a message that also lists the functions of the source.
const KernelEntry& find_source_kernel(const BoundModule& module, std::string_view name) {
  try {
    return find_kernel(module.module->compiled(), name);
  } catch (const Error& error) {
    const std::vector<GlobalEntry>& globals = module.module->compiled().globals;
    if (std::ranges::find(globals, name, &GlobalEntry::name) != globals.end())
      throw Error("[module] \"{}\" is a variable, not a kernel; mod:constant(\"{}\") is an array over it", name, name);
    if (name == "get_function") throw Error("[module] mod.name is the kernel of that name, there is no get_function");
    if (!module.source) throw;
    throw Error(error.kind(), "{}{}", error.what(), missing_kernel_hint(*module.source, name));
  }
}

/// Pushes the kernel `name` of the module at `index`, always as the same Lua object.
void push_kernel(lua_State* L, int index, const BoundModule& module, std::string_view name) {
  lua_getfenv(L, index);
  const auto find = [&](std::string_view key) {
    lua_pushlstring(L, key.data(), key.size());
    lua_rawget(L, -2);
    if (!lua_isnil(L, -1)) return true;
    lua_pop(L, 1);
    return false;
  };
  const auto keep = [&](std::string_view key) {
    lua_pushlstring(L, key.data(), key.size());
    lua_pushvalue(L, -2);
    lua_rawset(L, -4);
  };
  if (!find(name)) {
    const KernelEntry& entry = find_source_kernel(module, name);
    // A kernel can have several names, "axpy<float>" and "ns::axpy<float>", but has only one symbol.
    if (!find(entry.symbol)) {
      const KernelRef kernel = bind_kernel(module.device, module.module->kernel(entry), module.source);
      kernel->is_library = module.is_library;
      push(L, kernel);
      keep(entry.symbol);
    }
    keep(name);
  }
  lua_remove(L, -2);
}

// ---- functions of gpu
// ---------------------------------------------------------------------------------------------------

/// gpu.module(source [, {options, defines, headers, include, names, name, device}])
/// `is_library`: the source is the library's own, whatever the rights of scripts.
template <bool is_library>
int new_module(lua_State* L) {
  compile(L, check_source(L, 1, 2, "module", is_library), is_library);
  return 1;
}

/// Throws Error about a missing kernel name. The message lists the kernels of the source.
[[noreturn]] void refuse_name(lua_State* L, std::string_view source) {
  std::string names;
  for (const SourceFunction& function : source_functions(source))
    if (function.is_kernel) names += (names.empty() ? "\"" : ", \"") + function.name + '"';
  fail("kernel", "the kernel's name" + (names.empty() ? "" : " after the source, which has " + names), L, 2);
}

/// gpu.kernel(source, name [, {options, defines, headers, include, names, name, device}])
/// Compiles a module and returns one kernel of it.
template <bool is_library>
int new_kernel(lua_State* L) {
  SourceRequest request = check_source(L, 1, 3, "kernel", is_library);
  if (lua_type(L, 2) != LUA_TSTRING) refuse_name(L, request.source.text);
  if (std::string_view(lua_tostring(L, 2)).find("__global__") != std::string_view::npos)
    throw Error("[kernel] expected the source first and the kernel's name second, got the source second");
  const std::string_view name = check_string(L, 2, "kernel", "the kernel's name");
  // A program that embeds the library has called this, and has no line.
  if (request.source.file == nowhere) request.source.file = name_in_line("<kernel " + std::string(name) + ">");
  std::vector<std::string>& names = request.source.names;
  const bool instance = name.find('<') != name.npos;
  // Template arguments are source that no digest is of.
  if (instance && !request.device->context().rights.trusted)
    fail("kernel", "a kernel's name without template arguments in a sandbox", L, 2);
  if (instance && std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  const BoundModule& module = compile(L, request, is_library);
  push_kernel(L, lua_gettop(L), module, name);
  return 1;
}

/// gpu.load_module(image [, {device}])
/// The module; nil and a message for a missing file.
int load_module(lua_State* L) {
  const std::string_view text = check_string(L, 1, "load_module", "a path, or the bytes of PTX, a cubin or a fatbin");
  std::shared_ptr<OpenDevice> device;
  read_options(L, 2, "load_module", {{"device", [&](int value) { device = check_device(L, value, "load_module"); }}});
  if (!device) device = bindings_of(L).context().current();
  if (is_image(text)) {
    push_module(L, device, device->device().load_image(text));
    return 1;
  }
  refuse_file_name(text, "load_module", true);
  std::string image;
  try {
    image = read_compiled_file("load_module", std::string(text));
  } catch (const Error& error) {
    return push_nil(L, error.what());
  }
  push_module(L, device, device->device().load_image(image));
  return 1;
}

/// gpu.link(parts [, {options, defines, headers, include, device}])
int link(lua_State* L) {
  const SourceRequest request = check_link_request(L, 1, 2);
  std::string text;
  for (const KernelSource& part : request.source.parts) text += part.text + "\n";
  push_module(L, request.device, request.device->compile(request.source),
              std::make_shared<const std::string>(std::move(text)));
  return 1;
}

// ---- modules
// ------------------------------------------------------------------------------------------------------------

/// mod:kernel(name)
/// A kernel, also one with the name of a field or method of modules.
int module_kernel(lua_State* L) {
  const auto& module = check<BoundModule>(L, 1, "kernel");
  push_kernel(L, 1, module, check_string(L, 2, "kernel", "a kernel's name"));
  return 1;
}

/// mod:constant(name)
/// An array over a `__constant__` or `__device__` variable.
int module_constant(lua_State* L) {
  auto& module = check<BoundModule>(L, 1, "constant");
  const std::string_view name = check_string(L, 2, "constant", "the name of a __constant__ or __device__ variable");
  push_array(L, global_array(module, find_global(module.module->compiled(), name)));
  return 1;
}

void push_kernel_names(lua_State* L, const CompiledModule& compiled) {
  lua_newtable(L);
  int position = 0;
  for (const KernelEntry& entry : compiled.kernels) {
    lua_pushlstring(L, entry.name.data(), entry.name.size());
    lua_rawseti(L, -2, ++position);
  }
}

void push_ptx(lua_State* L, const CompiledModule& compiled) {
  if (compiled.ptx.empty())
    lua_pushnil(L);
  else
    lua_pushlstring(L, compiled.ptx.data(), compiled.ptx.size());
}

int module_index(lua_State* L) {
  const auto& module = check<BoundModule>(L, 1, "module");
  const std::string_view name = check_string(L, 2, "module", "a kernel's name");
  const CompiledModule& compiled = module.module->compiled();
  if (name == "ptx") return push_ptx(L, compiled), 1;
  if (name == "kernels") return push_kernel_names(L, compiled), 1;
  if (!push_method(L)) push_kernel(L, 1, module, name);
  return 1;
}

/// mod.name = value
int module_newindex(lua_State* L) {
  auto& module = check<BoundModule>(L, 1, "module");
  const std::string name(check_string(L, 2, "module", "the name of a variable"));
  const Array variable = global_array(module, find_global(module.module->compiled(), name));
  const auto cdata = to_cdata(L, 3);
  const char* const call = cdata && cdata->is_struct()    ? ":copy_from(struct)"
                           : variable->layout.ndim() == 0 ? ":fill_(value)"
                                                          : ":copy_(values)";
  throw Error("[module] expected mod:constant(\"{}\"){}, which sets the variable, got mod.{} = {}", name, call, name,
              describe(L, 3));
}

/// mod{grid=..., block=...}: throws the Error that a module is not a kernel.
int module_call(lua_State* L) {
  const auto& kernels = check<BoundModule>(L, 1, "module").module->compiled().kernels;
  throw Error(
      "[module] expected a launch of one of the module's kernels, mod.{}{{grid=..., block=...}}(arguments), got a call "
      "of the module",
      kernels.empty() ? "name" : kernels.front().name);
}

int module_text(lua_State* L) {
  const auto& module = check<BoundModule>(L, 1, "tostring");
  std::string text = "module on " + module.device->name() + ":";
  for (const KernelEntry& entry : module.module->compiled().kernels)
    text += "\n  " + to_string(entry.name, entry.signature);
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

void open_module_type(lua_State* L) {
  new_metatable<BoundModule>(L, {{"__index", protect<module_index>},
                                 {"__newindex", protect<module_newindex>},
                                 {"__call", protect<module_call>},
                                 {"__tostring", protect<module_text>}});
  keep_methods(L, "mod:", LuaType<BoundModule>::name,
               {{"kernel", protect<module_kernel>}, {"constant", protect<module_constant>}});
  lua_pop(L, 1);
}

}  // namespace

void open_kernels(lua_State* L) {
  open_module_type(L);
  open_kernel_type(L);
  open_launch_type(L);
  open_host_arguments(L);
  set_functions(L, {{"module", protect<new_module<false>>},
                    {"kernel", protect<new_kernel<false>>},
                    {"link", protect<link>},
                    {"load_module", protect<load_module>}});
  lua_pushlightuserdata(L, nullptr);
  lua_setfield(L, -2, "null");
}

bool is_function_of_kernels(lua_CFunction function) {
  return makes_launch(function) || is_call_of_launch(function) || function == &protect<new_module<false>> ||
         function == &protect<new_kernel<false>> || function == &protect<module_kernel>;
}

void add_own_kernels(lua_State* L) {
  set_functions(L, {{"module", protect<new_module<true>>}, {"kernel", protect<new_kernel<true>>}});
}

}  // namespace gpulua
