#pragma once

#include "src/array/node.h"

namespace gpulua {

/// True when a write to `to` may change an element of `from`, seen by `source`, that belongs to another position.
bool overlaps(Node& to, Node& from, const Layout& source);

/// Throws Error for a layout in which several positions are one element.
void check_writable(Node& array, const char* op);

/// True when the two have elements in common, or may have.
bool may_overlap(Node& a, Node& b);

}  // namespace gpulua
