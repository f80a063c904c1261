#pragma once

#include "bindings/lua.h"
#include "bindings/state.h"
#include "src/array/array.h"

namespace gpulua {

template <>
struct LuaType<Array> {
  static constexpr const char* name = "an array";
};

/// Every array that reaches a script goes through here, so that gpu.scope knows it.
Array& push_array(lua_State* L, Array array);

/// The options that end a creation function's arguments: a dtype by name, or {dtype=, device=}.
struct ArrayOptions {
  std::optional<DType> dtype;
  std::shared_ptr<OpenDevice> device;  // not null, once read
};
/// Reads the options at `index` (nil or none: the defaults). `device`: the one to use when none is named; null: the
/// current.
ArrayOptions check_options(lua_State* L, int index, const char* op, std::shared_ptr<OpenDevice> device = nullptr);

/// A shape from the values at `first` on: a table of numbers, or numbers. `next` becomes the index after the last one
/// taken.
Dims check_shape(lua_State* L, int first, int& next, const char* op);

/// An array made from the host value at `index`: nested tables, a number, a boolean, a complex number, or an FFI array.
/// Without a dtype: float32, but bool where all are booleans, complex64 for complex cdata, int64 for int64 cdata, an
/// FFI array's own.
Array array_from_host(lua_State* L, int index, const ArrayOptions& options, const char* op);

/// What is to be written to `target`: the array at `index`, on its device, or what the number or the nested tables
/// there are as its dtype.
Array check_values(lua_State* L, int index, const Array& target, const char* op);

/// Writes the elements of a row-major `array` to the table or FFI array at `index`, of the same number of elements.
void array_to_host(lua_State* L, int index, Node& array, const char* op);

/// In the registry: the metatable of x.shape and x.strides.
constexpr const char* sizes_key = "gpulua.sizes";

/// Pushes the array's elements as nested tables; a 0-d array as its value.
void push_table(lua_State* L, Node& array);

/// Pushes the positions of the elements that are not 0, an array for each axis; gives their number.
int push_nonzero(lua_State* L, const Array& array);

/// The axis at `index`, counted from 0, of an array of `ndim` dimensions.
std::size_t check_axis(lua_State* L, int index, std::size_t ndim, const char* op);

// Each adds methods to arrays' method table at the top of the stack.
void open_array_transfer_methods(lua_State* L);
void open_linear_algebra_methods(lua_State* L);
void open_evaluation_methods(lua_State* L);
void open_indexing_methods(lua_State* L);
void open_operation_methods(lua_State* L);
void open_reduction_methods(lua_State* L);
void open_shape_methods(lua_State* L);
void open_scan_methods(lua_State* L);
void open_sorting_methods(lua_State* L);
/// Sets the arithmetic metamethods in the metatable at the top of the stack.
void set_operators(lua_State* L);

}  // namespace gpulua
