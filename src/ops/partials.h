#pragma once

// The partial derivatives of the rows of the op table, as trees.
//
// Their texts are expressions in rows: the operands x, y, z, w; the result r; numbers; the names of rows as functions;
// + - * / and the unary minus, which are the rows add, subtract, multiply, divide and negative. Their readers are the
// reverse pass and, since a derivative consists of rows, the derivatives of derivatives.

#include <cstdint>
#include <vector>

#include "src/ops/op_table.h"

namespace gpulua {

struct Partial {
  enum class Kind : std::uint8_t { number, operand, result, call } kind = Kind::number;
  double number = 0;
  std::size_t operand = 0;
  const OpInfo* op = nullptr;
  std::vector<Partial> inputs{};
};

/// How the result of a row follows from an operand.
enum class Derivative : std::uint8_t {
  constant,  // it does not change continuously: no derivative is wanted
  none,      // it has a derivative for which there is no formula
  known
};
Derivative derivative_of(const OpInfo& op, std::size_t operand);

/// The partial derivative of the row by the operand. It is known.
const Partial& partial_of(const OpInfo& op, std::size_t operand);

/// The same where the other operand is a number: of two equal operands of a maximum or minimum the number has the whole
/// share, so the derivative of x:maximum(0) at 0 is 0.
const Partial& partial_beside_number(const OpInfo& op, std::size_t operand);

/// The tree of the text. Throws std::logic_error for another text.
Partial parse_partial(std::string_view text);

}  // namespace gpulua
