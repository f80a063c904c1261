#pragma once

#include "src/array/node.h"

namespace gpulua {

/// Whether NaN of an operand of the pending node gives NaN.
bool keeps_missing(const Node& node);

/// The function that has put missing values, NaN, into an input of the pending node, whose elements then have NaN too;
/// null where there is none, or the node's operation may leave them out.
inline const char* missing_after(const Node& node) {
  for (const Array& input : node.pending()->inputs)
    if (const char* function = input->missing_by(); function && keeps_missing(node)) return function;
  return nullptr;
}

}  // namespace gpulua
