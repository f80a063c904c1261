// The C++ functions behind products of two sparse matrices (sparse_products.lua). `lines` stand for three arguments:
// entries, places and starts.

#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/sparse_matrix.h"
#include "src/algorithms/sparse_pair.h"

namespace gpulua {

namespace {

constexpr const char* sparse_product = "matmul";

const Array& pair_operand_at(lua_State* L, int index) {
  return check<Array>(L, index, sparse_product);
}

/// multiply_pair(lines, lines, width): the product's lines; nil where no library has it.
int lua_multiply_pair(lua_State* L) {
  const auto width = check_integer(L, 7, sparse_product, "a number");
  const auto product = multiply_pair(sparse_lines_at(L, 1), sparse_lines_at(L, 4), width);
  if (!product) return 0;
  for (const Array& array : {product->entries, product->places, product->starts}) push_array(L, array);
  return 3;
}

/// ascends(lines): whether the indices of each line ascend, each once.
int lua_ascends(lua_State* L) {
  lua_pushboolean(L, ascends(sparse_lines_at(L, 1)));
  return 1;
}

/// count_pair(lines, lines, few): see count_pair().
int lua_count_pair(lua_State* L) {
  push_array(L, count_pair(sparse_lines_at(L, 1), sparse_lines_at(L, 4), static_cast<int>(lua_tointeger(L, 7))));
  return 1;
}

MarkedLines marked_at(lua_State* L, int index) {
  return {pair_operand_at(L, index), static_cast<int>(lua_tointeger(L, index + 1))};
}

/// count_marked(lines, lines, list, mark, counts): writes to `counts`.
int lua_count_marked(lua_State* L) {
  count_marked(sparse_lines_at(L, 1), sparse_lines_at(L, 4), marked_at(L, 7), pair_operand_at(L, 9));
  return 0;
}

/// multiply_counted(lines, lines, few, counts, lines): writes the nonzeros and indices of the last lines.
int lua_multiply_counted(lua_State* L) {
  const int few = static_cast<int>(lua_tointeger(L, 7));
  multiply_counted(sparse_lines_at(L, 1), sparse_lines_at(L, 4), few, pair_operand_at(L, 8), sparse_lines_at(L, 9));
  return 0;
}

/// multiply_marked(lines, lines, list, mark, lines): likewise.
int lua_multiply_marked(lua_State* L) {
  multiply_marked(sparse_lines_at(L, 1), sparse_lines_at(L, 4), marked_at(L, 7), sparse_lines_at(L, 9));
  return 0;
}

}  // namespace

SparseLines sparse_lines_at(lua_State* L, int index) {
  return {pair_operand_at(L, index), pair_operand_at(L, index + 1), pair_operand_at(L, index + 2)};
}

void add_sparse_pair_functions(lua_State* L) {
  set_functions(L, {{"ascends", protect<lua_ascends>},
                    {"count_marked", protect<lua_count_marked>},
                    {"count_pair", protect<lua_count_pair>},
                    {"multiply_counted", protect<lua_multiply_counted>},
                    {"multiply_marked", protect<lua_multiply_marked>},
                    {"multiply_pair", protect<lua_multiply_pair>}});
}

}  // namespace gpulua
