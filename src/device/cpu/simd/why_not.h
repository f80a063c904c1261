#pragma once

#include <llvm/IR/Function.h>

#include <string>

namespace gpulua::cpu::simd {

/// The reason why the engine cannot run a prepared kernel (prepare.h); empty if it can.
std::string why_not(llvm::Function& prepared);

/// The reason for a kernel that ends with a trap or runs for ever.
inline constexpr const char* never_returns = "it never returns";

}  // namespace gpulua::cpu::simd
