// The C++ functions of measure.lua.

#include "bindings/lua/library.h"
#include "bindings/lua/lua.h"
#include "bindings/lua/state.h"
#include "bindings/session/session_parts.h"
#include "src/array/evaluator.h"

namespace gpulua {

namespace {

/// Evaluates the arrays among the arguments.
int evaluate_values(lua_State* L) {
  evaluate_arrays(L, 1);
  return 0;
}

/// Returns the name of the profiled device for finish_profile, because the script can change the current device.
int start_profile(lua_State* L) {
  OpenDevice& device = bindings_of(L).device();
  device.evaluator().writes().evaluate();
  device.start_profile();
  lua_pushstring(L, device.name().c_str());
  return 1;
}

void push_rows(lua_State* L, const std::vector<Profile::Row>& rows) {
  lua_createtable(L, static_cast<int>(rows.size()), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    lua_createtable(L, 0, 6);
    lua_pushstring(L, rows[i].name.c_str());
    lua_setfield(L, -2, "name");
    lua_pushnumber(L, static_cast<double>(rows[i].launches));
    lua_setfield(L, -2, "launches");
    lua_pushnumber(L, rows[i].milliseconds);
    lua_setfield(L, -2, "time");
    lua_pushnumber(L, rows[i].compilation);
    lua_setfield(L, -2, "compilation");
    lua_pushnumber(L, rows[i].bytes);
    lua_setfield(L, -2, "bytes");
    lua_pushnumber(L, rows[i].milliseconds > 0 ? rows[i].bytes / rows[i].milliseconds / 1e6 : 0);
    lua_setfield(L, -2, "bandwidth");
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
}

int finish_profile(lua_State* L) {
  OpenDevice& device = *bindings_of(L).context().device(lua_tostring(L, 1));
  device.evaluator().writes().evaluate();
  push_rows(L, device.finish_profile());
  return 1;
}

/// Returns the name and the rows of each device.
int finish_profiles(lua_State* L) {
  evaluate_writes(bindings_of(L).context());
  const auto& devices = bindings_of(L).context().open_devices();
  for (const auto& device : devices) {
    lua_pushstring(L, device->name().c_str());
    push_rows(L, device->finish_profile());
  }
  return static_cast<int>(2 * devices.size());
}

/// Config::profile's report, as text.
int profile_report(lua_State* L) {
  push_import(L, "measure");
  lua_getfield(L, -1, "profile_report");
  lua_call(L, 0, 1);
  return 1;
}

}  // namespace

void open_measuring(lua_State* L) {
  lua_pushvalue(L, LUA_REGISTRYINDEX);
  set_functions(L, {{profile_report_key, protect<profile_report>}});
  lua_pop(L, 1);
}

void add_measuring(lua_State* L) {
  set_functions(L, {{"evaluate", protect<evaluate_values>},
                    {"finish_profile", protect<finish_profile>},
                    {"finish_profiles", protect<finish_profiles>},
                    {"start_profile", protect<start_profile>}});
}

}  // namespace gpulua
