// What the Lua files of the library use of C++: the fields of the table `core`.

#include <string>
#include <vector>

#include "bindings/arrays/array_options.h"
#include "bindings/arrays/array_parts.h"
#include "bindings/arrays/axis.h"
#include "bindings/arrays/condition.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/comm/comm.h"
#include "bindings/core.h"
#include "bindings/data/data_parts.h"
#include "bindings/functions/function_parts.h"
#include "bindings/gradients/gradient_parts.h"
#include "bindings/graphics/graphics_parts.h"
#include "bindings/kernels/kernel_parts.h"
#include "bindings/linalg/linalg_parts.h"
#include "bindings/lua/caller.h"
#include "bindings/lua/list.h"
#include "bindings/lua/state.h"
#include "bindings/lua/terminal.h"
#include "bindings/operations/operation_parts.h"
#include "bindings/random/lua_random.h"
#include "bindings/session/explain_error.h"
#include "bindings/session/session_parts.h"
#include "library_file.h"
#include "src/algorithms/bincount.h"
#include "src/algorithms/labels.h"
#include "src/algorithms/order_statistics.h"
#include "src/expressions/creation.h"
#include "src/expressions/expression.h"
#include "src/expressions/roll.h"
#include "src/expressions/transfer.h"
#include "src/ops/promotion.h"

namespace gpulua {

namespace {

/// library_text(file): a text of the library.
int library_text(lua_State* L) {
  const std::string_view text = library_file(std::string(check_string(L, 1, "library_text", "a name")));
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

/// call(fn, ...): as pcall, but a coroutine cannot yield inside of it. Lua's own messages are explained.
int lua_call_through(lua_State* L) {
  lua_pushvalue(L, 1);  // stays, for caller_position
  lua_insert(L, 1);
  lua_pushcfunction(L, &explain_error);
  lua_insert(L, 2);
  lua_pushboolean(L, lua_pcall(L, lua_gettop(L) - 3, LUA_MULTRET, 2) == 0);
  lua_replace(L, 2);
  return lua_gettop(L) - 1;
}

/// address(x): x.pointer, in a sandbox too.
int lua_address(lua_State* L) {
  push_address(L, check<Array>(L, 1, "address"));
  return 1;
}

/// check_list(op, what, table): the number of items of a list. `what` names the items in errors.
int lua_check_list(lua_State* L) {
  const std::string op(check_string(L, 1, "list", "a name")), what(check_string(L, 2, "list", "a noun"));
  if (!lua_istable(L, 3)) fail(op.c_str(), "a table of " + what, L, 3);
  lua_pushinteger(L, check_list(L, 3, op.c_str(), what.c_str()));
  return 1;
}

/// is_array(value).
int is_array(lua_State* L) {
  lua_pushboolean(L, test<Array>(L, 1) != nullptr);
  return 1;
}

/// is_weak(value): whether it is an array made of numbers alone.
int is_weak(lua_State* L) {
  const Array* array = test<Array>(L, 1);
  lua_pushboolean(L, array && (*array)->weak);
  return 1;
}

/// is_number(value): whether it is a number, or one of the FFI's.
int is_number(lua_State* L) {
  lua_pushboolean(L, !lua_isboolean(L, 1) && to_scalar(L, 1).has_value());
  return 1;
}

/// as_mask(name, x): x, the mask that the library's function of that name gives. An error where it is a condition.
int as_mask(lua_State* L) {
  refuse_condition_of(L, std::string(check_string(L, 1, "as_mask", "a name")));
  return 1;
}

/// axis(op, axis, ndim): the checked axis, as a number from 1 to ndim.
int lua_axis(lua_State* L) {
  const std::string op(check_string(L, 1, "axis", "a name"));
  const auto ndim = static_cast<std::size_t>(check_integer(L, 3, "axis", "a number"));
  lua_pushnumber(L, static_cast<double>(check_axis(L, 2, ndim, op.c_str()) + 1));
  return 1;
}

/// cast(x, dtype): lazily; x itself if it has that dtype.
int lua_cast(lua_State* L) {
  push_array(L, cast(check<Array>(L, 1, "cast"), parse_dtype(check_string(L, 2, "cast", "a dtype's name"))));
  return 1;
}

/// broadcast(x, shape): a new array, lazily.
int lua_broadcast(lua_State* L) {
  int next = 0;
  Dims shape = check_shape(L, 2, next, "broadcast_to");
  push_array(L, broadcast(check<Array>(L, 1, "broadcast_to"), std::move(shape)));
  return 1;
}

/// reinterpret(x, dtype): a vector of another dtype over the memory of x; a copy's where x is not row-major or begins
/// between two of its elements. x has a whole number of them. nil where x is pending on a device for which an
/// expression that x goes into is better than one kernel more; and there in functions that are recorded, since they may
/// run again for an array that begins elsewhere, which a GPU's kernels do not read.
int lua_reinterpret(lua_State* L) {
  const Array& x = check<Array>(L, 1, "reinterpret");
  const DType dtype = parse_dtype(check_string(L, 2, "reinterpret", "a dtype's name"));
  if (!x->device().info().block_is_warp && (x->pending() || is_recording(bindings_of(L).context()))) return 0;
  const auto itemsize = static_cast<std::int64_t>(size_of(dtype));
  Array memory = contiguous(x);
  if (memory->first_byte() % itemsize != 0) memory = copy(memory);
  Layout layout = row_major({static_cast<std::int64_t>(memory->nbytes()) / itemsize});
  layout.offset = memory->first_byte() / itemsize;
  push_array(L, make_node(memory->device(), dtype, share(std::move(layout)), memory->buffer()));
  return 1;
}

/// roll(x, shifts): with a shift for each axis, from 0 to its extent - 1; lazily.
int lua_roll(lua_State* L) {
  Dims shifts;
  for (int i = 1; i <= static_cast<int>(lua_objlen(L, 2)); ++i) {
    lua_rawgeti(L, 2, i);
    shifts.push_back(check_integer(L, -1, "roll", "a shift"));
    lua_pop(L, 1);
  }
  push_array(L, roll(check<Array>(L, 1, "roll"), std::move(shifts)));
  return 1;
}

/// check_shape(op, shape): raises an error for an invalid shape.
int lua_check_shape(lua_State* L) {
  const std::string op(check_string(L, 1, "check_shape", "a name"));
  int next = 0;
  check_shape(L, 2, next, op.c_str());
  return 0;
}

/// positions(shape, first, step, dtype, device): first + step * row-major position, lazily.
int lua_positions(lua_State* L) {
  int next = 0;
  Dims shape = check_shape(L, 1, next, "positions");
  const double first = check_number(L, 2, "positions", "a number");
  const double step = check_number(L, 3, "positions", "a number");
  lua_remove(L, 2);
  lua_remove(L, 2);
  const DType dtype = parse_dtype(check_string(L, 2, "positions", "a dtype's name"));
  const ArrayOptions options = check_options(L, 3, "positions");
  push_array(L, range(*options.device, std::move(shape), dtype, first, step));
  return 1;
}

/// options(op, options): reads creation options; returns the dtype's name or nil, and the device.
int lua_options(lua_State* L) {
  const std::string op(check_string(L, 1, "options", "a name"));
  const ArrayOptions options = check_options(L, 2, op.c_str());
  if (options.dtype) {
    const std::string_view dtype = name(*options.dtype);
    lua_pushlstring(L, dtype.data(), dtype.size());
  } else {
    lua_pushnil(L);
  }
  lua_pushstring(L, options.device->name().c_str());
  return 2;
}

/// assign(op, out, value): writes the value to `out` and returns `out`; without `out`, returns the value.
int lua_assign(lua_State* L) {
  if (lua_isnil(L, 2)) return lua_settop(L, 3), 1;
  const std::string op(check_string(L, 1, "assign", "a name"));
  assign(check<Array>(L, 2, op.c_str()), check<Array>(L, 3, op.c_str()), op.c_str());
  lua_settop(L, 2);
  return 1;
}

/// floating(dtype): the dtype of the computation of real functions.
int lua_floating(lua_State* L) {
  const std::string_view dtype =
      name(to_floating(parse_dtype(check_string(L, 1, "floating", "a dtype's name")), default_dtype(L)));
  lua_pushlstring(L, dtype.data(), dtype.size());
  return 1;
}

/// promote(a, b): the common dtype of the two.
int lua_promote(lua_State* L) {
  const DType a = parse_dtype(check_string(L, 1, "promote", "a dtype's name"));
  const std::string_view dtype = name(promote(a, parse_dtype(check_string(L, 2, "promote", "a dtype's name"))));
  lua_pushlstring(L, dtype.data(), dtype.size());
  return 1;
}

/// block_is_warp(x): whether blocks of x's device are single warps, whose lanes share a core's caches.
int lua_block_is_warp(lua_State* L) {
  lua_pushboolean(L, check<Array>(L, 1, "block_is_warp")->device().info().block_is_warp);
  return 1;
}

/// bincount(values, weights, count): the occurrences of each number from 0 to count - 1, or the sums of the weights.
/// `weights` can be nil.
int lua_bincount(lua_State* L) {
  const Array weights = lua_isnil(L, 2) ? nullptr : check<Array>(L, 2, "bincount");
  push_array(L, bincount(check<Array>(L, 1, "bincount"), weights, check_integer(L, 3, "bincount", "a number")));
  return 1;
}

/// range_of_keys(values): the least and the greatest; nothing where no library finds them.
int lua_range_of_keys(lua_State* L) {
  const auto range = range_of_keys(check<Array>(L, 1, "bincount"));
  if (!range) return 0;
  lua_pushnumber(L, static_cast<double>(range->first));
  lua_pushnumber(L, static_cast<double>(range->second));
  return 2;
}

/// label_parts(inside, structure): the labels and their number; nothing where no library finds them. `structure`: a
/// list of bool.
int lua_label_parts(lua_State* L) {
  std::vector<bool> structure(lua_objlen(L, 2));
  for (std::size_t i = 0; i < structure.size(); ++i) {
    lua_rawgeti(L, 2, static_cast<int>(i) + 1);
    structure[i] = lua_toboolean(L, -1) != 0;
    lua_pop(L, 1);
  }
  const auto found = label_parts(check<Array>(L, 1, "label"), std::move(structure));
  if (!found) return 0;
  push_array(L, found->labels);
  lua_pushnumber(L, static_cast<double>(found->count));
  return 2;
}

/// histogram_of_even_bins(values, edges, first, last)
int lua_histogram_of_even_bins(lua_State* L) {
  constexpr const char* name = "histogram";
  push_array(L, histogram_of_even_bins(check<Array>(L, 1, name), check<Array>(L, 2, name), lua_tonumber(L, 3),
                                       lua_tonumber(L, 4)));
  return 1;
}

/// order_statistics(op, x, ranks, nan_rows): the elements at the ranks, counted from 0, along the last axis.
int lua_order_statistics(lua_State* L) {
  const std::string op(check_string(L, 1, "order_statistics", "a name"));
  push_array(L, order_statistics(check<Array>(L, 2, op.c_str()), check<Array>(L, 3, op.c_str()),
                                 lua_toboolean(L, 4) != 0, op.c_str()));
  return 1;
}

}  // namespace

void add_core_functions(lua_State* L) {
  set_functions(L, {
                       {"address", protect<lua_address>},
                       {"assign", protect<lua_assign>},
                       {"axis", protect<lua_axis>},
                       {"block_is_warp", protect<lua_block_is_warp>},
                       {"broadcast", protect<lua_broadcast>},
                       {"call", lua_call_through},
                       {"cast", protect<lua_cast>},
                       {"check_list", protect<lua_check_list>},
                       {"check_shape", protect<lua_check_shape>},
                       {"floating", protect<lua_floating>},
                       {"is_array", protect<is_array>},
                       {"as_mask", protect<as_mask>},
                       {"is_number", protect<is_number>},
                       {"is_weak", protect<is_weak>},
                       {"label_parts", protect<lua_label_parts>},
                       {"library_text", protect<library_text>},
                       {"options", protect<lua_options>},
                       {"positions", protect<lua_positions>},
                       {"reinterpret", protect<lua_reinterpret>},
                       {"roll", protect<lua_roll>},
                       {"promote", protect<lua_promote>},
                       {"range_of_keys", protect<lua_range_of_keys>},
                       {"bincount", protect<lua_bincount>},
                       {"histogram_of_even_bins", protect<lua_histogram_of_even_bins>},
                       {"order_statistics", protect<lua_order_statistics>},
                   });
  lua_pushinteger(L, most_even_bins);
  lua_setfield(L, -2, "most_even_bins");
  add_messages(L);
  add_own_operations(L);
  add_own_kernels(L);
  add_fusing(L);
  add_graphs(L);
  add_loops(L);
  add_gradients(L);
  add_gl_buffers(L);
  add_gl_images(L);
  add_windows(L);
  add_function_helpers(L);
  add_terminal(L);
  add_ranks(L);
  add_arrow(L);
  add_colormaps(L);
  add_array_files(L);
  add_plain_files(L);
  add_tables(L);
  add_measuring(L);
  add_tracing(L);
  add_signature_helpers(L);
  add_random_functions(L);
  add_blas_functions(L);
  add_fft_functions(L);
  add_filters(L);
  add_missing_values(L);
  add_linalg_functions(L);
  add_sparse_functions(L);
  add_sparse_pair_functions(L);
  add_sparse_factors(L);
}

}  // namespace gpulua
