#pragma once

// From pending nodes to elements in memory. pipeline.cpp has the stages, one after the other.

#include <memory>

#include "src/array/evaluator.h"

namespace gpulua {

/// The evaluator of one device's arrays, for Context.
std::shared_ptr<Evaluator> make_evaluator();

/// Evaluates the pending writes of all open devices, and waits for all work.
void finish_work(Context& context);

}  // namespace gpulua
