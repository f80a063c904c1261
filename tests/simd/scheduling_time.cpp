// Modules that LLVM's scheduler after register allocation takes long for.

#include "src/device/cpu/ir/scheduling_time.h"

#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {
namespace {

/// `blocks` blocks of `length` additions each.
bool takes_long(unsigned blocks, unsigned length, const std::string& type) {
  std::string text = "define void @f(" + type + " %v) {\n";
  for (unsigned block = 0; block < blocks; ++block) {
    text += "b" + std::to_string(block) + ":\n";
    for (unsigned i = 0; i < length; ++i) text += "  add " + type + " %v, %v\n";
    text += block + 1 < blocks ? "  br label %b" + std::to_string(block + 1) + "\n" : "  ret void\n}\n";
  }
  const Ir ir(text);
  return takes_long_to_schedule(*ir.module);
}

}  // namespace

TEST_CASE("scheduling time: grows with the square of a block's length", "[simd]") {
  CHECK_FALSE(takes_long(1, 4000, "i32"));
  CHECK(takes_long(1, 5000, "i32"));
  CHECK_FALSE(takes_long(10, 500, "i32"));
  CHECK_FALSE(takes_long(1, 1500, "<32 x i32>"));  // two registers
  CHECK(takes_long(1, 2500, "<32 x i32>"));
}

}  // namespace gpulua::cpu::simd
