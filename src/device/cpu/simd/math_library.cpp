#include "src/device/cpu/simd/math_library.h"

#include <dlfcn.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <limits>

#include "src/device/cpu/simd/target.h"

namespace gpulua::cpu::simd {
namespace {

struct MathRow {
  const char* name;      // the C function in double precision
  const char* accuracy;  // SLEEF's suffix: error in tenths of a unit in the last place
  unsigned arguments;
  double largest = 0, largest_single = 0;  // argument with a finite result where SLEEF's may be infinite; 0: it is not
};

constexpr double any = std::numeric_limits<double>::max(), any_single = std::numeric_limits<float>::max();

// Their errors are within the bounds that CUDA documents.
constexpr MathRow math_rows[] = {
    {"exp", "u10", 1, 709.7827128933841},
    {"exp2", "u10", 1},
    {"exp10", "u10", 1},
    {"expm1", "u10", 1},
    {"log", "u10", 1},
    {"log1p", "u10", 1, any, any_single},
    {"log2", "u10", 1},
    {"log10", "u10", 1},
    {"sin", "u10", 1},
    {"cos", "u10", 1},
    {"tan", "u10", 1},
    {"asin", "u10", 1},
    {"acos", "u10", 1},
    {"atan", "u10", 1},
    {"sinh", "u10", 1, 710.475860073944, 89.4159851},
    {"cosh", "u10", 1, 710.475860073944, 89.4159851},
    {"tanh", "u10", 1},
    {"asinh", "u10", 1, any, any_single},
    {"acosh", "u10", 1, any, any_single},
    {"atanh", "u10", 1},
    {"cbrt", "u10", 1},
    {"erf", "u10", 1},
    {"erfc", "u15", 1},
    {"tgamma", "u10", 1},
    {"lgamma", "u10", 1},
    {"pow", "u10", 2, any},
    {"atan2", "u10", 2},
    {"hypot", "u05", 2},
};

const MathRow* find_row(llvm::StringRef name, bool is_float) {
  if (is_float && !name.consume_back("f")) return nullptr;
  for (const MathRow& row : math_rows)
    if (name == row.name) return &row;
  return nullptr;
}

}  // namespace

bool has_sleef() {
  static const bool found = dlopen("libsleef.so.3", RTLD_LAZY | RTLD_LOCAL) != nullptr;
  return found;
}

MathLibrary::MathLibrary(const llvm::Function& function) {
  if (!has_sleef()) return;
  if (has_feature(function, "+avx512f") && has_feature(function, "+avx512dq"))
    vector_bits_ = 512;
  else if (has_feature(function, "+avx2") && has_feature(function, "+fma"))
    vector_bits_ = 256;
  else if (has_feature(function, "+neon"))
    vector_bits_ = 128;
}

std::string MathLibrary::function_name(const llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr || callee->arg_empty()) return "";
  llvm::Type* type = call.getType();
  if (!type->isFloatTy() && !type->isDoubleTy()) return "";
  // clang makes intrinsics of calls of some functions, of more with each version of LLVM.
  if (callee->isIntrinsic()) {
    llvm::StringRef name = llvm::Intrinsic::getBaseName(callee->getIntrinsicID());
    if (!name.consume_front("llvm.") || find_row(name, false) == nullptr) return "";
    return name.str() + (type->isDoubleTy() ? "" : "f");
  }
  return callee->isDeclaration() && find_row(callee->getName(), type->isFloatTy()) ? callee->getName().str() : "";
}

bool MathLibrary::has(const llvm::CallInst& call) const {
  return vector_bits_ != 0 && !function_name(call).empty();
}

llvm::Value* MathLibrary::call(llvm::IRBuilder<>& builder, const llvm::CallInst& scalar,
                               const std::vector<llvm::Value*>& arguments) const {
  llvm::Type* element = scalar.getType();
  const bool is_float = element->isFloatTy();
  const MathRow& row = *find_row(function_name(scalar), is_float);
  const unsigned width = vector_bits_ / (is_float ? 32 : 64);
  auto* part_type = llvm::FixedVectorType::get(element, width);
  // "Sleef_expf16_u10", "Sleef_hypotd8_u05".
  std::string name =
      std::string("Sleef_") + row.name + (is_float ? "f" : "d") + std::to_string(width) + "_" + row.accuracy;
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  llvm::FunctionCallee function = module.getOrInsertFunction(
      name, llvm::FunctionType::get(part_type, std::vector<llvm::Type*>(row.arguments, part_type), false));
  auto* declaration = llvm::cast<llvm::Function>(function.getCallee());
  declaration->setDoesNotAccessMemory();
  declaration->setDoesNotThrow();
  declaration->setWillReturn();

  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(arguments.front()->getType())->getNumElements();
  std::vector<llvm::Value*> parts;
  for (unsigned first = 0; first < lanes; first += width) {
    std::vector<llvm::Value*> part_arguments;
    for (llvm::Value* argument : arguments) {
      llvm::SmallVector<int> lane_list;
      for (unsigned i = 0; i < width; ++i) lane_list.push_back(static_cast<int>(first + i));
      part_arguments.push_back(builder.CreateShuffleVector(argument, lane_list));
    }
    parts.push_back(builder.CreateCall(function, part_arguments));
  }
  while (parts.size() > 1) {
    std::vector<llvm::Value*> wider;
    for (std::size_t i = 0; i < parts.size(); i += 2) {
      const unsigned half = llvm::cast<llvm::FixedVectorType>(parts[i]->getType())->getNumElements();
      llvm::SmallVector<int> lane_list;
      for (unsigned lane = 0; lane < 2 * half; ++lane) lane_list.push_back(static_cast<int>(lane));
      wider.push_back(builder.CreateShuffleVector(parts[i], parts[i + 1], lane_list));
    }
    parts = std::move(wider);
  }
  return parts.front();
}

llvm::Value* MathLibrary::overflowed(llvm::IRBuilder<>& builder, const llvm::CallInst& scalar,
                                     const std::vector<llvm::Value*>& arguments, llvm::Value* result) {
  const bool is_float = scalar.getType()->isFloatTy();
  const MathRow& row = *find_row(function_name(scalar), is_float);
  const double largest = is_float ? row.largest_single : row.largest;
  if (largest == 0) return nullptr;
  llvm::Type* type = result->getType();
  const auto size = [&](llvm::Value* number) { return builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, number); };
  llvm::Value* lanes = builder.CreateFCmpOEQ(size(result), llvm::ConstantFP::getInfinity(type));
  for (llvm::Value* argument : arguments)
    lanes = builder.CreateAnd(lanes, builder.CreateFCmpOLE(size(argument), llvm::ConstantFP::get(type, largest)));
  return lanes;
}

}  // namespace gpulua::cpu::simd
