#pragma once

// The parameters of a kernel, described once. The emitter declares them; eval/step_arguments.cpp packs a value for
// each.

#include <string>
#include <vector>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

struct KernelParameter {
  enum class Role : std::uint8_t {
    // Numbers.
    inner,       // extent of the innermost axis
    row_blocks,  // blocks for one row of the innermost axis
    along,       // extent of the axis before the innermost
    size,        // number of elements
    rolls,       // gpulua_shifts, number `index`: of rolled operands along all axes but the innermost
    seams,       // gpulua_shifts: the shifts of operands that are rolled along the innermost axis
    results,     // of a reduction
    count,       // elements reduced to one result
    chunk,       // elements of a result that one block reduces
    chunks,      // blocks for one result
    // Extents of axes.
    inner_extent,     // the innermost axis
    outer_extents,    // all axes but the innermost; with tiles, in tiles along the last of them
    kept_extents,     // the axes of a reduction's results
    reduced_extents,  // the axes reduced
    // Memory that the blocks share.
    scratch,         // accumulators of the blocks of a reduction
    tickets,         // counters of finished blocks, 0 at first
    compress_state,  // a gpulua_compress_state
    // Of operand or output `index`.
    operand,  // its address, its number, or all of its elements (a gpulua_raw)
    operand_strides,
    operand_indexed,  // a gpulua_indexed: the axes that index arrays lead along
    output,           // its address
    output_strides,
    output_indexed,
  };
  Role role;
  std::size_t axes = 0;   // number of axes, for extents, strides and indexed
  std::size_t index = 0;  // of the operand or output
};

/// The parameters of the kernel, in order.
std::vector<KernelParameter> parameters_of(const KernelSpec& spec);

/// "(gpulua_index_t size, const float* in0, ...)": the parameters as the kernel's text declares them.
std::string parameter_list(const KernelSpec& spec);

}  // namespace gpulua
