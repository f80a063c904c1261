#pragma once

// The passes of a row kernel. It goes over a row several times: a reduction's result is known after the pass that
// accumulates it, and later passes compute elements from it.

#include <cstddef>
#include <span>
#include <vector>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

struct RowPasses {
  static constexpr int never = -1;

  int count = 1;
  std::vector<int> ready;  // of each value: the first pass that can compute it, or for which its result is known
  std::vector<int> kept;   // of each value: the pass from which on threads keep it in registers; or never
  std::vector<int> last;   // of each value: the last pass that needs it; or never
  std::vector<std::vector<bool>> needed;  // for each pass: the values that it computes or takes from the registers
  std::size_t bytes = 0;                  // that the kept values of one element take, at most at once

  bool takes(int pass, std::size_t value) const { return kept[value] != never && kept[value] < pass; }
};

/// True for a value of each element; others are computed once for a row.
inline bool is_inner(const ValueSpec& value) {
  return !value.outer && value.kind != ValueSpec::Kind::reduction;
}

/// `outputs`: the values that are stored. `moves`: for each operand, whether it has several elements in a row. `keeps`:
/// threads keep values in registers; else each pass reads and computes what it needs.
RowPasses row_passes(std::span<const ValueSpec> values, std::span<const std::uint16_t> outputs,
                     const std::vector<bool>& moves, bool keeps = true);

/// The passes of the row kernel that `spec` describes.
RowPasses row_passes(const KernelSpec& spec, const RowSpec& family);

/// True for an inner operand with several elements in a row.
bool moves_in_row(const RowSpec& family, const OperandSpec& operand);

}  // namespace gpulua
