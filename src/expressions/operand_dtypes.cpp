#include "src/expressions/operand_dtypes.h"

#include <complex>
#include <optional>

#include "src/ops/promotion.h"

namespace gpulua {

namespace {

/// The dtype of an array of the weak operand alone.
DType dtype_of_weak(const OperandView& weak, DType real) {
  if (!weak.array) return dtype_of_number(weak.number, real);
  const DType dtype = (*weak.array)->dtype;
  return dtype == DType::float64 ? real : dtype == DType::complex128 ? complex_of(real) : dtype;
}

/// The common dtype of `dtype` and a weak operand. The value of a weak array is not known: it may have a fraction, and
/// an integer may not fit another integer's dtype.
DType promote_operand(DType dtype, const OperandView& weak, DType real) {
  if (!weak.array) return promote_weak(dtype, weak.number, real);
  const DType own = (*weak.array)->dtype;
  switch (info(own).kind) {
    case DTypeKind::floating:
      return promote_weak(dtype, Scalar(0.5), real);
    case DTypeKind::complex:
      return promote_weak(dtype, Scalar(std::complex<double>()), real);
    default:
      return dtype == DType::boolean || is_integer(dtype) ? promote(dtype, own) : dtype;
  }
}

/// The common dtype of the operands. The condition of `where` and the exponent of `ldexp` do not count.
DType promoted_dtype(const OpInfo& op, std::span<const OperandView> operands, DType real) {
  if (op.rule == DTypeRule::select) operands = operands.subspan(1);
  if (op.rule == DTypeRule::scaled) operands = operands.first(1);
  std::optional<DType> dtype;
  for (const OperandView& operand : operands)
    if (is_strong(operand)) {
      const DType own = (*operand.array)->dtype;
      dtype = !dtype || *dtype == own ? own : promote(*dtype, own);
    }
  for (const bool of_arrays : {true, false})
    for (const OperandView& operand : operands)
      if (!is_strong(operand) && (operand.array != nullptr) == of_arrays)
        dtype = dtype ? promote_operand(*dtype, operand, real) : dtype_of_weak(operand, real);
  return *dtype;
}

}  // namespace

OpDTypes dtypes_of(const OpInfo& op, std::span<const OperandView> operands, bool of_numbers, DType real) {
  DType dtype = promoted_dtype(op, operands, real);
  if (of_numbers) {
    const OpDTypes narrow = op_dtypes(op, dtype, real);
    // Integers and bool stay, unless the operation makes floating-point numbers of them.
    if (narrow.compute != dtype && info(narrow.compute).kind == DTypeKind::floating) dtype = narrow.compute;
    dtype = in_double(dtype);
  }
  return op_dtypes(op, dtype, real);
}

}  // namespace gpulua
