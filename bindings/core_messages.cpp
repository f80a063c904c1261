// What the Lua files of the library say in errors and warnings: these fields of the table `core`.

#include <string>
#include <string_view>

#include "bindings/core.h"
#include "bindings/lua/lua.h"
#include "bindings/lua/names_elsewhere.h"
#include "bindings/lua/options_elsewhere.h"
#include "bindings/lua/state.h"
#include "src/base/near_name.h"

namespace gpulua {

namespace {

/// Searches for the name `unknown` among the list at index 2. `offer(near, name)` offers one.
template <class Offer>
NearName nearest(lua_State* L, std::string_view unknown, const char* op, const Offer& offer) {
  NearName near(unknown);
  for (int i = 1; i <= static_cast<int>(lua_objlen(L, 2)); ++i) {
    lua_rawgeti(L, 2, i);
    offer(near, check_string(L, -1, op, "a name"));
    lua_pop(L, 1);
  }
  return near;
}

/// raise(message): an error at the script's line.
int raise(lua_State* L) {
  throw Error(std::string(check_string(L, 1, "raise", "a message")));
}

/// warn(message): a warning at the script's line.
int lua_warn(lua_State* L) {
  Bindings& bindings = bindings_of(L);
  warn_at(bindings.context(), bindings.origin(), std::string(check_string(L, 1, "warn", "a message")));
  return 0;
}

/// describe(value): the value's text in messages.
int lua_describe(lua_State* L) {
  const std::string text = describe(L, 1);
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

/// fail(op, expected, value): raises "[op] expected ..., got ...".
int lua_fail(lua_State* L) {
  const std::string op(check_string(L, 1, "fail", "a name"));
  fail(op.c_str(), std::string(check_string(L, 2, "fail", "a text")), L, 3);
}

/// number_for_options(op): what to say where the function gets a number in the place of its options, or nil.
int lua_number_for_options(lua_State* L) {
  const std::string_view here = number_for_options(check_string(L, 1, "number_for_options", "a name"));
  if (here.empty()) return 0;
  lua_pushlstring(L, here.data(), here.size());
  return 1;
}

/// did_you_mean(unknown, names [, op]): "; did you mean ...?" with the most similar option name, or that it is an
/// argument of the function `op`; "" when neither is known.
int lua_did_you_mean(lua_State* L) {
  const std::string_view unknown = check_string(L, 1, "did_you_mean", "a name");
  const NearName near = nearest(L, unknown, "did_you_mean",
                                [&](NearName& found, std::string_view name) { offer_option(found, unknown, name); });
  const std::string op(lua_isnoneornil(L, 3) ? "" : check_string(L, 3, "did_you_mean", "a name"));
  lua_pushstring(L, question_about_option(op, near, unknown).c_str());
  return 1;
}

/// dtype_and_device(a, b): the advice about these two last arguments of a function that has the options dtype and
/// device.
int lua_dtype_and_device(lua_State* L) {
  lua_pushstring(L, dtype_and_device(L, 1).c_str());
  return 1;
}

/// used_here(name): "; use ..." with what a name of another library, "plot.xlabel", is called here; "" where it is not
/// known.
int used_here(lua_State* L) {
  const std::string_view here = name_elsewhere(check_string(L, 1, "used_here", "a name"));
  lua_pushstring(L, here.empty() ? "" : ("; use " + std::string(here)).c_str());
  return 1;
}

/// near_name(unknown, names): the most similar name; nil when none is similar.
int lua_near_name(lua_State* L) {
  const std::string_view unknown = check_string(L, 1, "near_name", "a name");
  const NearName near =
      nearest(L, unknown, "near_name", [](NearName& found, std::string_view name) { found.offer(name); });
  if (near.name().empty()) return 0;
  lua_pushstring(L, near.name().c_str());
  return 1;
}

}  // namespace

void add_messages(lua_State* L) {
  set_functions(L, {{"describe", protect<lua_describe>},
                    {"did_you_mean", protect<lua_did_you_mean>},
                    {"dtype_and_device", protect<lua_dtype_and_device>},
                    {"fail", protect<lua_fail>},
                    {"near_name", protect<lua_near_name>},
                    {"number_for_options", protect<lua_number_for_options>},
                    {"raise", protect<raise>},
                    {"used_here", protect<used_here>},
                    {"warn", protect<lua_warn>}});
}

}  // namespace gpulua
