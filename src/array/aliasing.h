#pragma once

#include "src/array/node.h"

namespace gpulua {

/// True when writing position i of `to` may change the element of `from` at another position. `source` is the layout of
/// `from` over the shape of `to`.
bool overlaps(Node& to, Node& from, const Layout& source);

/// Throws Error for a layout in which several positions share one element, and where the context's observer cannot
/// follow a write to the array. `value`: what `op` writes; null: something that depends on no other array.
void check_writable(Node& array, const char* op, Node* value = nullptr);

/// Tells the context's observer, right before all elements of `array` become those of `value`, or constants where that
/// is null.
void note_write(Node& array, Node* value = nullptr);

/// True when the two may have elements in common.
bool may_overlap(Node& a, Node& b);

}  // namespace gpulua
