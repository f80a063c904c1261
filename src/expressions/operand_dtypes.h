#pragma once

// The dtypes that an operation's operands lead to. Numbers and weak arrays take those of other arrays.

#include <span>

#include "src/expressions/expression.h"
#include "src/ops/op_table.h"
#include "src/ops/promotion.h"

namespace gpulua {

inline bool is_strong(const OperandView& operand) {
  return operand.array && !(*operand.array)->weak;
}

/// The dtypes of an operation. `of_numbers`: no operand is strong. It is then done in double precision, as in Lua.
/// `real`: the script's default dtype.
OpDTypes dtypes_of(const OpInfo& op, std::span<const OperandView> operands, bool of_numbers, DType real);

}  // namespace gpulua
