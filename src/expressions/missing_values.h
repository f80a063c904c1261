#pragma once

#include "src/array/node.h"

namespace gpulua {

/// The function that has put missing values, NaN, into an input of the pending node, whose elements then have NaN too;
/// null where there is none, or the node's operation may leave them out.
const char* missing_after(const Node& node);

}  // namespace gpulua
