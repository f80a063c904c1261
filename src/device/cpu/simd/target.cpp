#include "src/device/cpu/simd/target.h"

namespace gpulua::cpu::simd {

bool has_feature(const llvm::Function& function, llvm::StringRef feature) {
  const llvm::StringRef features = function.getFnAttribute("target-features").getValueAsString();
  return ("," + features + ",").str().find(("," + feature + ",").str()) != std::string::npos;
}

}  // namespace gpulua::cpu::simd
