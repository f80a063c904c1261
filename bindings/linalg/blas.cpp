// The C++ functions behind gpu.blas. blas.lua and blas_matrices.lua check their arguments.

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/arrays/lua_array.h"
#include "bindings/linalg/linalg_parts.h"
#include "bindings/lua/state.h"
#include "src/algorithms/matrix_operand.h"
#include "src/algorithms/matrix_product.h"
#include "src/algorithms/triangular.h"
#include "src/array/aliasing.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

const Array& blas_array(lua_State* L, int index) {
  return check<Array>(L, index, "blas");
}

/// alpha or beta.
std::complex<double> factor_at(lua_State* L, int index) {
  const std::optional<Scalar> value = to_scalar(L, index);
  if (!value || lua_isboolean(L, index)) fail("blas", "a number", L, index);
  if (const auto* complex = std::get_if<std::complex<double>>(&*value)) return *complex;
  return std::visit(
      []<class T>(const T& number) {
        if constexpr (std::is_arithmetic_v<T>)
          return std::complex<double>(static_cast<double>(number));
        else
          return std::complex<double>(number);
      },
      *value);
}

Triangle triangle_at(lua_State* L, int index) {
  return lua_toboolean(L, index) ? Triangle::upper : Triangle::lower;
}

MatrixOp op_at(lua_State* L, int index) {
  const std::string_view letter = check_string(L, index, "blas", "a letter");
  return letter == "N" ? MatrixOp::plain : letter == "T" ? MatrixOp::transposed : MatrixOp::conjugated;
}

/// multiplies(x): whether the device has products of the array's dtype.
int lua_multiplies(lua_State* L) {
  const Array& x = blas_array(L, 1);
  lua_pushboolean(L, multiplies(x->device(), x->dtype));
  return 1;
}

/// may_overlap(x, y): whether the two may share elements.
int lua_may_overlap(lua_State* L) {
  lua_pushboolean(L, may_overlap(*blas_array(L, 1), *blas_array(L, 2)));
  return 1;
}

/// The bytes of an array, in the buffer.
struct Bytes {
  const Buffer* buffer;
  std::int64_t begin, end;
};

/// The bytes of the arrays in a list, by buffers and places.
std::vector<Bytes> bytes_of(lua_State* L, int list) {
  std::vector<Bytes> all;
  for (int i = 1; i <= static_cast<int>(lua_objlen(L, list)); ++i) {
    lua_rawgeti(L, list, i);
    const Array& array = blas_array(L, -1);
    const Extent elements = extent(array->layout);
    const auto size = static_cast<std::int64_t>(array->itemsize());
    all.push_back({array->buffer().get(), elements.begin * size, elements.end * size});
    lua_pop(L, 1);
  }
  std::ranges::sort(all, {}, [](const Bytes& bytes) { return std::pair(bytes.buffer, bytes.begin); });
  return all;
}

/// share_memory(out, arrays): whether an array of the list `out` may share elements with another one, or with one of
/// the other list.
int lua_share_memory(lua_State* L) {
  const std::vector<Bytes> out = bytes_of(L, 1), arrays = bytes_of(L, 2);
  bool shared = false;
  for (std::size_t i = 1; i < out.size(); ++i)
    shared = shared || (out[i].buffer == out[i - 1].buffer && out[i].begin < out[i - 1].end);
  // What does not overlap is ordered by its ends, too.
  for (std::size_t i = 0; i < arrays.size() && !shared; ++i) {
    const Bytes& array = arrays[i];
    const auto found = std::ranges::upper_bound(out, std::pair(array.buffer, array.begin), {},
                                                [](const Bytes& bytes) { return std::pair(bytes.buffer, bytes.end); });
    shared = found != out.end() && found->buffer == array.buffer && found->begin < array.end;
  }
  lua_pushboolean(L, shared);
  return 1;
}

/// is_row_major(x): whether a BLAS can write x: a vector, or matrices.
int lua_is_row_major(lua_State* L) {
  Layout layout = blas_array(L, 1)->layout;
  if (layout.ndim() == 1) {  // as a column
    layout.shape.push_back(1);
    layout.strides.push_back(1);
  }
  lua_pushboolean(L, is_row_major(layout));
  return 1;
}

/// product_target(a, b, out or nil, transposed_a, transposed_b): the array that gemm can write the product of two
/// matrices to at once, `out` or a new one. nil where blas_matrices.lua must do more or raise an error.
int lua_product_target(lua_State* L) {
  const Array *const a = test<Array>(L, 1), *const b = test<Array>(L, 2), *const out = test<Array>(L, 3);
  if (!a || !b || (!out && !lua_isnil(L, 3))) return 0;
  const auto is_like_a = [&](const Array& x) {
    return x->layout.ndim() == 2 && x->dtype == (*a)->dtype && &x->device() == &(*a)->device();
  };
  if (is_integer((*a)->dtype) || (*a)->dtype == DType::boolean || !is_like_a(*a) || !is_like_a(*b)) return 0;
  const Dims &left = (*a)->layout.shape, &right = (*b)->layout.shape;
  const std::size_t a_rows = lua_toboolean(L, 4) != 0 ? 1 : 0, b_rows = lua_toboolean(L, 5) != 0 ? 1 : 0;
  const Dims shape{left[a_rows], right[1 - b_rows]};
  if (left[1 - a_rows] != right[b_rows] || shape[0] * shape[1] == 0 || left[1 - a_rows] == 0) return 0;
  if (!multiplies((*a)->device(), (*a)->dtype)) return 0;
  if (!out) return push_array(L, empty((*a)->device(), shape, (*a)->dtype)), 1;
  if (!is_like_a(*out) || (*out)->layout.shape != shape || !is_row_major((*out)->layout)) return 0;
  if (may_overlap(**out, **a) || may_overlap(**out, **b)) return 0;
  lua_pushvalue(L, 3);
  return 1;
}

/// gemm(c, a, b, conjugate_a, conjugate_b, alpha, beta)
int lua_gemm(lua_State* L) {
  multiply({blas_array(L, 2), blas_array(L, 3), blas_array(L, 1), lua_toboolean(L, 4) != 0, lua_toboolean(L, 5) != 0,
            factor_at(L, 6), factor_at(L, 7)});
  return 0;
}

/// gemm_each(c, a, b, conjugate_a, conjugate_b, alpha, beta), of lists of matrices.
int lua_gemm_each(lua_State* L) {
  std::vector<MatrixProduct> products;
  const auto count = static_cast<int>(lua_objlen(L, 1));
  for (int i = 1; i <= count; ++i) {
    for (int list = 1; list <= 3; ++list) lua_rawgeti(L, list, i);
    products.push_back({blas_array(L, -2), blas_array(L, -1), blas_array(L, -3), lua_toboolean(L, 4) != 0,
                        lua_toboolean(L, 5) != 0, factor_at(L, 6), factor_at(L, 7)});
    lua_pop(L, 3);
  }
  multiply_each(products);
  return 0;
}

/// solve_triangular(b, a, upper, op, right, unit_diagonal, alpha) and multiply_triangular.
template <void function(const TriangularOperand&, std::complex<double>, const Array&)>
int lua_triangular(lua_State* L) {
  function({blas_array(L, 2), triangle_at(L, 3), op_at(L, 4), lua_toboolean(L, 5) != 0, lua_toboolean(L, 6) != 0},
           factor_at(L, 7), blas_array(L, 1));
  return 0;
}

/// update_symmetric(c, a, b or nil, upper, transposed, alpha, beta)
int lua_update_symmetric(lua_State* L) {
  update_symmetric(blas_array(L, 1), triangle_at(L, 4), blas_array(L, 2), lua_isnil(L, 3) ? nullptr : blas_array(L, 3),
                   lua_toboolean(L, 5) != 0, {factor_at(L, 6), factor_at(L, 7)});
  return 0;
}

/// symm(c, a, b, upper, right, alpha, beta)
int lua_symm(lua_State* L) {
  multiply_symmetric(blas_array(L, 1), blas_array(L, 2), triangle_at(L, 4), lua_toboolean(L, 5) != 0, blas_array(L, 3),
                     {factor_at(L, 6), factor_at(L, 7)});
  return 0;
}

/// precision([tf32, emulated]): sets what products allow; returns it.
int lua_precision(lua_State* L) {
  Context& context = bindings_of(L).context();
  if (lua_gettop(L) > 0) {
    context.tf32 = lua_toboolean(L, 1) != 0;
    context.emulated_float64 = lua_toboolean(L, 2) != 0;
  }
  lua_pushboolean(L, context.tf32);
  lua_pushboolean(L, context.emulated_float64);
  return 2;
}

}  // namespace

void add_blas_functions(lua_State* L) {
  set_functions(L, {{"gemm", protect<lua_gemm>},
                    {"gemm_each", protect<lua_gemm_each>},
                    {"is_row_major", protect<lua_is_row_major>},
                    {"may_overlap", protect<lua_may_overlap>},
                    {"multiplies", protect<lua_multiplies>},
                    {"multiply_triangular", protect<lua_triangular<multiply_triangular>>},
                    {"precision", protect<lua_precision>},
                    {"product_target", protect<lua_product_target>},
                    {"share_memory", protect<lua_share_memory>},
                    {"solve_triangular", protect<lua_triangular<solve_triangular>>},
                    {"symm", protect<lua_symm>},
                    {"update_symmetric", protect<lua_update_symmetric>}});
}

}  // namespace gpulua
