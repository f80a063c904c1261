#pragma once

// What holds an array.

#include <boost/smart_ptr/intrusive_ptr.hpp>

namespace gpulua {

struct Node;

/// What a script holds. Copies are the same array; views share the buffer and write through. The node counts its
/// handles by a plain number, because a context works on one thread at a time.
using Array = boost::intrusive_ptr<Node>;

}  // namespace gpulua
