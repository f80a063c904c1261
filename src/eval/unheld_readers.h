#pragma once

// Pending nodes whose elements nobody can ask for any more.

#include "src/array/array.h"
#include "src/array/pending_nodes.h"

namespace gpulua {

/// Takes those readers off the list that only the expression of `value` holds. The caller has given `value` up: nobody
/// else holds it.
void drop_unheld(PendingNodes::List& readers, const Array& value);

}  // namespace gpulua
