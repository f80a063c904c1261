// What measure.lua asks of C++.

#include "bindings/array.h"
#include "bindings/state.h"
#include "src/core/evaluate.h"

namespace gpulua {

namespace {

/// Evaluates the arrays among the values.
int evaluate_values(lua_State* L) {
  std::vector<const Node*> nodes;
  for (int index = 1; index <= lua_gettop(L); ++index)
    if (const Array* array = test<Array>(L, index)) nodes.push_back(array->get());
  evaluate(nodes);
  return 0;
}

int position(lua_State* L) {
  lua_pushstring(L, caller_position(L).c_str());
  return 1;
}

int start_profile(lua_State* L) {
  bindings_of(L).device().start_profile();
  return 0;
}

int finish_profile(lua_State* L) {
  const std::vector<Profile::Row> rows = bindings_of(L).device().finish_profile();
  lua_createtable(L, static_cast<int>(rows.size()), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    lua_createtable(L, 0, 4);
    lua_pushstring(L, rows[i].name.c_str());
    lua_setfield(L, -2, "name");
    lua_pushnumber(L, static_cast<double>(rows[i].launches));
    lua_setfield(L, -2, "launches");
    lua_pushnumber(L, rows[i].milliseconds);
    lua_setfield(L, -2, "time");
    lua_pushnumber(L, rows[i].bytes);
    lua_setfield(L, -2, "bytes");
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  return 1;
}

}  // namespace

void open_measure(lua_State* L) {
  lua_pushvalue(L, -1);
  lua_newtable(L);
  set_functions(L, {{"evaluate", protect<evaluate_values>},
                    {"finish_profile", protect<finish_profile>},
                    {"position", protect<position>},
                    {"start_profile", protect<start_profile>}});
  run_library_chunk(L, "measure.lua", 2, 0);
}

}  // namespace gpulua
