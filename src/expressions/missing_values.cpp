#include "src/expressions/missing_values.h"

#include "src/ops/op_table.h"

namespace gpulua {

bool keeps_missing(const Node& node) {
  using enum DTypeRule;
  const OpInfo* const op = node.pending()->op.get();
  if (!op || op->drops_nan || op->function || !is_inexact(node.dtype)) return false;
  return op->rule == numeric || op->rule == floating || op->rule == magnitude || op->rule == conversion;
}

}  // namespace gpulua
