#include "bindings/arrays/lua_device.h"

#include "bindings/arrays/array_parts.h"
#include "bindings/lua/library.h"
#include "bindings/lua/state.h"
#include "src/base/near_name.h"

namespace gpulua {

std::shared_ptr<OpenDevice> check_device(lua_State* L, int index, const char* op) {
  Context& context = bindings_of(L).context();
  if (lua_isnoneornil(L, index)) return context.current();
  if (const auto* handle = test<DeviceHandle>(L, index)) return handle->device;
  return context.device(check_string(L, index, op, "a device or its name, such as \"cpu\" or \"cuda:0\""));
}

namespace {

/// A field of an open device.
struct DeviceProperty {
  const char* name;
  void (*push)(lua_State* L, const DeviceInfo& info);
};

void push_text(lua_State* L, std::string_view text) {
  lua_pushlstring(L, text.data(), text.size());
}

constexpr DeviceProperty device_properties[] = {
    {"name", [](lua_State* L, const DeviceInfo& info) { push_text(L, info.name); }},
    {"kind", [](lua_State* L,
                const DeviceInfo& info) { push_text(L, std::string_view(info.name).substr(0, info.name.find(':'))); }},
    {"description", [](lua_State* L, const DeviceInfo& info) { push_text(L, info.description); }},
    {"architecture", [](lua_State* L, const DeviceInfo& info) { push_text(L, info.architecture); }},
    {"total_memory",
     [](lua_State* L, const DeviceInfo& info) { lua_pushnumber(L, static_cast<double>(info.total_memory)); }},
    {"multiprocessors", [](lua_State* L, const DeviceInfo& info) { lua_pushinteger(L, info.multiprocessors); }},
    {"warp_size", [](lua_State* L, const DeviceInfo& info) { lua_pushinteger(L, info.warp_size); }},
    {"max_threads_per_block",
     [](lua_State* L, const DeviceInfo& info) { lua_pushinteger(L, info.max_threads_per_block); }},
    {"max_shared_bytes",
     [](lua_State* L, const DeviceInfo& info) { lua_pushnumber(L, static_cast<double>(info.max_shared_bytes)); }},
};

int device_index(lua_State* L) {
  const DeviceInfo& info = check<DeviceHandle>(L, 1, "device").device->info();
  const std::string_view key = check_string(L, 2, "device", "the name of a property");
  for (const DeviceProperty& property : device_properties)
    if (key == property.name) return property.push(L, info), 1;
  std::string names;
  NearName near(key);
  for (const DeviceProperty& property : device_properties) {
    names += (names.empty() ? "" : ", ") + std::string(property.name);
    near.offer(property.name);
  }
  throw Error("[device] expected one of {}, got \"{}\"{}", names, key, near.question());
}

int device_tostring(lua_State* L) {
  push_text(L, check<DeviceHandle>(L, 1, "device").device->name());
  return 1;
}

int device_equal(lua_State* L) {
  const auto* a = test<DeviceHandle>(L, 1);
  const auto* b = test<DeviceHandle>(L, 2);
  lua_pushboolean(L, a && b && a->device == b->device);
  return 1;
}

/// gpu.devices()
/// A table for each device. A device that is not open yet has only a name and a kind.
int list_devices(lua_State* L) {
  Context& context = bindings_of(L).context();
  lua_newtable(L);
  int position = 0;
  for (const DeviceListing& listing : context.list_devices()) {
    lua_newtable(L);
    push_text(L, listing.name);
    lua_setfield(L, -2, "name");
    push_text(L, listing.kind);
    lua_setfield(L, -2, "kind");
    for (const auto& open : context.open_devices()) {
      if (open->name() != listing.name) continue;
      for (const DeviceProperty& property : device_properties) {
        property.push(L, open->info());
        lua_setfield(L, -2, property.name);
      }
    }
    lua_rawseti(L, -2, ++position);
  }
  push_import(L, "records");
  lua_getfield(L, -1, "seal_devices");
  lua_pushvalue(L, -3);
  lua_newtable(L);
  for (const DeviceProperty& property : device_properties) {
    lua_pushboolean(L, 1);
    lua_setfield(L, -2, property.name);
  }
  lua_call(L, 2, 1);
  return 1;
}

/// gpu.device([device])
/// gpu.device(): the current device. gpu.device(name): makes it current; nil and a message when there is no such
/// device.
int current_device(lua_State* L) {
  Context& context = bindings_of(L).context();
  if (!lua_isnoneornil(L, 1)) {
    try {
      context.set_current(check_device(L, 1, "device"));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unavailable) throw;
      return push_nil(L, error.what());
    }
  }
  push(L, DeviceHandle{context.current()});
  return 1;
}

/// gpu.can_access(a, b)
/// Whether device a reaches the memory of device b over a link.
int can_access(lua_State* L) {
  std::shared_ptr<OpenDevice> devices[2];
  for (int i = 0; i < 2; ++i) {
    if (lua_isnoneornil(L, i + 1)) fail("can_access", "a device or its name, such as \"cuda:0\"", L, i + 1);
    devices[i] = check_device(L, i + 1, "can_access");
  }
  lua_pushboolean(L, devices[0] == devices[1] || devices[0]->device().can_access(devices[1]->device()));
  return 1;
}

/// gpu.sync()
/// Waits for all work on all devices.
int synchronize(lua_State* L) {
  Context& context = bindings_of(L).context();
  evaluate_writes(context);
  evaluate_shared_reads(context);
  context.synchronize();
  return 0;
}

/// gpu.name(on): switches it on or off. gpu.name(): whether it is on.
int set_mode(lua_State* L, const char* name, bool Context::*mode) {
  Context& context = bindings_of(L).context();
  if (!lua_isnone(L, 1)) {
    if (!lua_isboolean(L, 1)) fail(name, "true or false", L, 1);
    if (!context.rights.trusted)
      throw Error("[{}] expected no change of a mode in a sandbox: other scripts would get it", name);
    context.*mode = lua_toboolean(L, 1) != 0;
  }
  lua_pushboolean(L, context.*mode);
  return 1;
}

/// gpu.eager([on])
/// Evaluates each operation when it is called, so that an error names its own call.
int eager(lua_State* L) {
  return set_mode(L, "eager", &Context::eager);
}

/// gpu.debug([on])
/// Waits after every launch, so that an error names its own call.
int debug(lua_State* L) {
  return set_mode(L, "debug", &Context::debug);
}

/// gpu.strict([on])
/// Makes implicit waits for the device errors.
int strict(lua_State* L) {
  return set_mode(L, "strict", &Context::strict);
}

/// gpu.default_dtype([dtype])
/// The dtype of real numbers where nothing says which, float32 or float64; with an argument, sets it.
int lua_default_dtype(lua_State* L) {
  Context& context = bindings_of(L).context();
  if (!lua_isnone(L, 1)) {
    constexpr const char* expected = "\"float32\" or \"float64\"";
    const auto dtype = find_default_dtype(check_string(L, 1, "default_dtype", expected));
    if (!dtype) fail("default_dtype", expected, L, 1);
    if (!context.rights.trusted)
      throw Error(
          "[default_dtype] expected no change in a sandbox, where the dtype is the host program's choice for all of "
          "its "
          "scripts, got \"{}\"; the program sets default_dtype in gpulua_options, and a script gives the dtype to the "
          "function that makes an array: gpu.zeros(3, \"{}\")",
          name(*dtype), name(*dtype));
    context.default_dtype = *dtype;
  }
  const std::string_view dtype = name(context.default_dtype);
  lua_pushlstring(L, dtype.data(), dtype.size());
  return 1;
}

}  // namespace

void open_devices(lua_State* L) {
  new_metatable<DeviceHandle>(
      L,
      {{"__index", protect<device_index>}, {"__tostring", protect<device_tostring>}, {"__eq", protect<device_equal>}});
  lua_pop(L, 1);
  set_functions(L, {{"can_access", protect<can_access>},
                    {"devices", protect<list_devices>},
                    {"device", protect<current_device>},
                    {"sync", protect<synchronize>},
                    {"debug", protect<debug>},
                    {"eager", protect<eager>},
                    {"strict", protect<strict>},
                    {"default_dtype", protect<lua_default_dtype>}});
  lua_pushstring(L, GPULUA_VERSION);
  lua_setfield(L, -2, "version");
}

}  // namespace gpulua
