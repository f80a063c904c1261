// The C++ functions behind gpu.fft. fft.lua and fft_kernels.lua check their arguments.

#include <utility>

#include "bindings/arrays/lua_array.h"
#include "bindings/linalg/linalg_parts.h"
#include "bindings/lua/state.h"
#include "src/algorithms/fft.h"

namespace gpulua {

/// A plan of a device's library. The device outlives it.
struct FftPlanHandle {
  std::shared_ptr<OpenDevice> device;
  std::shared_ptr<FftPlan> plan;
};

template <>
struct LuaType<FftPlanHandle> {
  static constexpr const char* name = "a plan";
};

namespace {

const Array& fft_array(lua_State* L, int index) {
  return check<Array>(L, index, "fft");
}

/// The numbers in a list, one after the other.
class Numbers {
 public:
  Numbers(lua_State* L, int list) : L_(L), list_(list) {}
  std::int64_t next() {
    lua_rawgeti(L_, list_, ++read_);
    const auto number = static_cast<std::int64_t>(lua_tonumber(L_, -1));
    lua_pop(L_, 1);
    return number;
  }
  std::int32_t next_int() { return static_cast<std::int32_t>(next()); }
  FftAxis next_axis() {
    const std::int64_t extent = next(), in = next();
    return {extent, in, next()};
  }

 private:
  lua_State* L_;
  int list_, read_ = 0;
};

/// Roots from the two tables at an index and the one after it, which may be nil.
FftRoots roots_at(lua_State* L, int index, std::int32_t bits) {
  if (lua_isnil(L, index)) return {};
  return {fft_array(L, index), fft_array(L, index + 1), bits};
}

/// fft_block(x): the bytes of shared memory for the rows of a block, and their number, of the array's device.
int lua_fft_block(lua_State* L) {
  const FftBlock block = fft_block(fft_array(L, 1)->device());
  lua_pushnumber(L, static_cast<double>(block.bytes));
  lua_pushnumber(L, static_cast<double>(block.width));
  return 2;
}

/// The rows of (in, out, roots, ...) and a list {factors, n, width, inverse, in_step, out_step, extent, in and
/// out of four axes} at an index.
FftRows rows_at(lua_State* L, int list) {
  FftRows rows;
  rows.in = fft_array(L, 1), rows.out = fft_array(L, 2), rows.roots = fft_array(L, 3);
  Numbers numbers(L, list);
  rows.factors = numbers.next();
  rows.n = numbers.next_int();
  rows.width = numbers.next_int();
  rows.inverse = numbers.next() != 0;
  rows.in_step = numbers.next();
  rows.out_step = numbers.next();
  for (FftAxis& axis : rows.axes) axis = numbers.next_axis();
  return rows;
}

/// transform_rows(in, out, roots, numbers, places, mode, coarse, fine, bits): mode is that of FftMode, by number.
/// coarse and fine may be nil.
int lua_transform_rows(lua_State* L) {
  transform_rows(rows_at(L, 4), fft_array(L, 5), static_cast<FftMode>(lua_tointeger(L, 6)),
                 roots_at(L, 7, static_cast<std::int32_t>(lua_tointeger(L, 9))));
  return 0;
}

/// transform_rows_by_chirp(in, out, roots, numbers, chirp, spectrum, count)
int lua_transform_rows_by_chirp(lua_State* L) {
  transform_rows_by_chirp(rows_at(L, 4), fft_array(L, 5), fft_array(L, 6),
                          static_cast<std::int32_t>(lua_tointeger(L, 7)));
  return 0;
}

/// join_halves(in, out, coarse, fine, bits, h, rows, join)
int lua_join_halves(lua_State* L) {
  join_halves(fft_array(L, 1), fft_array(L, 2), roots_at(L, 3, static_cast<std::int32_t>(lua_tointeger(L, 5))),
              static_cast<std::int64_t>(lua_tonumber(L, 6)), static_cast<std::int64_t>(lua_tonumber(L, 7)),
              lua_toboolean(L, 8) != 0);
  return 0;
}

/// fft_library(x): the name of the library of the array's device, or nil.
int lua_fft_library(lua_State* L) {
  const Fft* library = fft_array(L, 1)->device().device().fft();
  if (library == nullptr) return 0;
  const std::string_view name = library->library();
  lua_pushlstring(L, name.data(), name.size());
  return 1;
}

/// fft_plan(x, {kind, is_double, inverse, rank, n_1, n_2, n_3, in_step, out_step, batch, in_distance, out_distance}): a
/// plan of the library of the array's device; nil where it takes no such problem. kind is that of FftKind, by number.
int lua_fft_plan(lua_State* L) {
  const Array& like = fft_array(L, 1);
  Numbers numbers(L, 2);
  FftProblem problem;
  problem.kind = static_cast<FftKind>(numbers.next_int());
  problem.is_double = numbers.next() != 0;
  problem.inverse = numbers.next() != 0;
  problem.rank = numbers.next_int();
  for (std::int64_t& extent : problem.n) extent = numbers.next();
  problem.in_step = numbers.next();
  problem.out_step = numbers.next();
  problem.batch = numbers.next();
  problem.in_distance = numbers.next();
  problem.out_distance = numbers.next();
  std::shared_ptr<FftPlan> plan = like->device().device().fft()->plan(problem);
  if (!plan) return 0;
  push(L, FftPlanHandle{like->device_ref(), std::move(plan)});
  return 1;
}

/// transform_by_library(plan, in, out)
int lua_transform_by_library(lua_State* L) {
  transform_by_library(*check<FftPlanHandle>(L, 1, "fft").plan, fft_array(L, 2), fft_array(L, 3));
  return 0;
}

}  // namespace

void add_fft_functions(lua_State* L) {
  new_metatable<FftPlanHandle>(L, {});
  lua_pop(L, 1);
  set_functions(L, {{"fft_block", protect<lua_fft_block>},
                    {"fft_library", protect<lua_fft_library>},
                    {"fft_plan", protect<lua_fft_plan>},
                    {"join_halves", protect<lua_join_halves>},
                    {"transform_by_library", protect<lua_transform_by_library>},
                    {"transform_rows", protect<lua_transform_rows>},
                    {"transform_rows_by_chirp", protect<lua_transform_rows_by_chirp>}});
}

}  // namespace gpulua
