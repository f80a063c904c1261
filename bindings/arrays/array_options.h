#pragma once

#include <memory>
#include <optional>

#include "bindings/lua/lua.h"
#include "src/array/array.h"

namespace gpulua {

/// The options that end a creation function's arguments: a dtype by name, or {dtype=, device=}.
struct ArrayOptions {
  std::optional<DType> dtype;
  std::shared_ptr<OpenDevice> device;  // never null in the result of check_options
};
/// Reads the options at `index` (nil or none: the defaults). `device`: the default device; null: the current device.
/// `more`: options beside these two.
ArrayOptions check_options(lua_State* L, int index, const char* op, std::shared_ptr<OpenDevice> device = nullptr,
                           std::vector<Option> more = {});

/// Reads a shape from index `first` on: a table of numbers, or several numbers. Sets `next` to the index after it.
Dims check_shape(lua_State* L, int first, int& next, const char* op);
/// The same for a shape that is one argument: a table or a number.
Dims check_one_shape(lua_State* L, int index, const char* op);

/// The dtype whose name is at `index`.
DType check_dtype(lua_State* L, int index, const char* op);

}  // namespace gpulua
