// The functions that run as vectors of SLEEF's.

#include "src/device/cpu/simd/math_library.h"

#include <llvm/IR/Intrinsics.h>

#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {

// What is an intrinsic depends on LLVM's version. One that the library does not know runs lane by lane.
TEST_CASE("math library: functions are known as calls and as the intrinsics that clang makes of them", "[simd]") {
  for (const std::string function :
       {"exp",  "exp2", "exp10", "expm1", "log",  "log1p", "asinh", "acosh", "log2", "log10", "sin",    "cos",   "tan",
        "asin", "acos", "atan",  "sinh",  "cosh", "tanh",  "atanh", "cbrt",  "erf",  "erfc",  "tgamma", "lgamma"}) {
    const bool is_intrinsic = llvm::Function::lookupIntrinsicID("llvm." + function) != llvm::Intrinsic::not_intrinsic;
    for (const std::string suffix : {"f", ""}) {
      const std::string type = suffix == "f" ? "float" : "double";
      const std::string intrinsic = "llvm." + function + (suffix == "f" ? ".f32" : ".f64");
      for (const std::string& name : {function + suffix, is_intrinsic ? intrinsic : function + suffix}) {
        Ir ir("declare " + type + " @" + name + "(" + type + ")\n define " + type + " @f(" + type +
              " %x) {\n %y = call " + type + " @" + name + "(" + type + " %x)\n ret " + type + " %y\n}");
        CHECK(MathLibrary::function_name(*all<llvm::CallInst>(ir.function()).front()) == function + suffix);
      }
    }
  }
}

}  // namespace gpulua::cpu::simd
