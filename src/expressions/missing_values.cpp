#include "src/expressions/missing_values.h"

#include "src/ops/op_table.h"

namespace gpulua {

namespace {

/// Whether NaN of an operand gives NaN.
bool keeps_missing(const Node& node) {
  using enum DTypeRule;
  const OpInfo* const op = node.pending()->op.get();
  if (!op || op->drops_nan || op->function || !is_inexact(node.dtype)) return false;
  return op->rule == numeric || op->rule == floating || op->rule == magnitude || op->rule == conversion;
}

}  // namespace

const char* missing_after(const Node& node) {
  for (const Array& input : node.pending()->inputs)
    if (const char* function = input->missing_by(); function && keeps_missing(node)) return function;
  return nullptr;
}

}  // namespace gpulua
