#pragma once

// gpu.explain: the plans of an evaluation as text. Nothing is evaluated.

#include <span>
#include <string>

#include "src/array/array_handle.h"

namespace gpulua {

/// The kernels that evaluating the nodes would launch, and the copies that it would make.
std::string explain(std::span<Node* const> nodes);

}  // namespace gpulua
