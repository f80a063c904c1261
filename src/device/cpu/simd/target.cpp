#include "src/device/cpu/simd/target.h"

#include <llvm/IR/InlineAsm.h>

namespace gpulua::cpu::simd {

bool has_feature(const llvm::Function& function, llvm::StringRef feature) {
  const llvm::StringRef features = function.getFnAttribute("target-features").getValueAsString();
  return ("," + features + ",").str().find(("," + feature + ",").str()) != std::string::npos;
}

bool has_masked_bytes(const llvm::Function& function) {
  return has_feature(function, "+avx512bw") && has_feature(function, "+bmi2");
}

llvm::Value* hide_origin(llvm::IRBuilder<>& builder, llvm::Value* value) {
  llvm::Type* type = value->getType();
  auto* same = llvm::InlineAsm::get(llvm::FunctionType::get(type, {type}, false), "", "=r,0", false);
  return builder.CreateCall(same, {value});
}

}  // namespace gpulua::cpu::simd
