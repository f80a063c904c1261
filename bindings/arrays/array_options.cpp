#include "bindings/arrays/array_options.h"

#include <cmath>

#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/lua_device.h"
#include "bindings/lua/list.h"
#include "bindings/lua/options_elsewhere.h"

namespace gpulua {

namespace {

/// Throws Error for a number that is no size. It may be meant as a value or a bound, as other functions take it.
[[noreturn]] void refuse_size(lua_State* L, int index, const char* op, const char* expected) {
  const std::string_view here = number_for_options(op);
  throw Error("[{}] expected {}, got {}{}{}", op, expected, describe(L, index), here.empty() ? "" : "; ", here);
}

}  // namespace

Dims check_shape(lua_State* L, int first, int& next, const char* op) {
  Dims shape;
  const auto add = [&](int index) {
    const char* what = "sizes that are integers of 0 or more";
    if (lua_type(L, index) == LUA_TNUMBER && lua_tonumber(L, index) >= 0x1p63) what = "sizes of at most 2^53 elements";
    const double size = lua_type(L, index) == LUA_TNUMBER ? lua_tonumber(L, index) : 0;
    if (size != std::floor(size)) refuse_size(L, index, op, what);
    const std::int64_t extent = check_integer(L, index, op, what);
    if (extent < 0 && index > first) refuse_size(L, index, op, "sizes of 0 or more");
    if (extent < 0) fail(op, "sizes of 0 or more", L, index);
    shape.push_back(extent);
  };
  next = first;
  if (lua_istable(L, first)) {
    ++next;
    const int count = check_list(L, first, op, "sizes");
    for (int i = 1; i <= count; ++i) {
      lua_rawgeti(L, first, i);
      add(-1);
      lua_pop(L, 1);
    }
  } else {
    while (lua_type(L, next) == LUA_TNUMBER || lua_type(L, next) == LUA_TCDATA) add(next++);
    if (shape.empty() && test<Array>(L, first))
      fail(op, "a shape: numbers, or a table of numbers, as x.shape is", L, first);
    if (shape.empty()) check_integer(L, first, op, "a shape: numbers, or a table of numbers");
  }
  checked_size(shape, op);
  return shape;
}

DType check_dtype(lua_State* L, int index, const char* op) {
  if (lua_isfunction(L, index))  // gpu.float64 converts an array
    fail(op, "a dtype's name, a string such as \"float64\"", L, index);
  if (lua_isnil(L, index)) fail(op, "a dtype's name, a string such as \"float64\" or \"int32\"", L, index);
  return parse_dtype(check_string(L, index, op, "a dtype's name"));
}

ArrayOptions check_options(lua_State* L, int index, const char* op, std::shared_ptr<OpenDevice> device,
                           std::vector<Option> more) {
  ArrayOptions options{std::nullopt, std::move(device)};
  const auto read_dtype = [&](int value) { options.dtype = check_dtype(L, value, op); };
  const auto read_device = [&](int value) { options.device = check_device(L, value, op); };
  if (lua_type(L, index) == LUA_TSTRING || lua_isfunction(L, index)) {
    check_end(L, index + 1, op, "the dtype", dtype_and_device(L, index));
    read_dtype(index);
  } else {
    more.insert(more.begin(), {{"dtype", read_dtype}, {"device", read_device}});
    read_options(L, index, op, more);
  }
  if (!options.device) options.device = bindings_of(L).context().current();
  return options;
}

Dims check_one_shape(lua_State* L, int index, const char* op) {
  if (!lua_istable(L, index)) return {check_integer(L, index, op, "a shape: a table or a number")};
  int next = 0;
  return check_shape(L, index, next, op);
}

}  // namespace gpulua
