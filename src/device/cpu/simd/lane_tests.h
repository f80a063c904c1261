#pragma once

#include <llvm/IR/Function.h>

namespace gpulua::cpu::simd {

/// A comparison with a bound makes a mask of the first n lanes, ~(~0 << n) (widen_arithmetic.h). Tests whether it is
/// empty become tests of the bound, so that the mask is made only where lanes run. And the last lane of a mask that has
/// one lane at most is that one: it stores (widen_memory_access.h), and nothing else is computed of what it stores.
void simplify_lane_tests(llvm::Function& function);

}  // namespace gpulua::cpu::simd
