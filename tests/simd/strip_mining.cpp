// Strip mining of loops in which each lane walks along its own row.

#include "src/device/cpu/simd/strip_mining.h"

#include <llvm/IR/Verifier.h>

#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {
namespace {

/// for (j = 0; j < n; ++j): %from and %to are addresses in the lane's own rows.
std::string loop(const std::string& body) {
  return R"(
    declare i32 @gpulua.thread.x()
    define void @f(ptr %context, ptr %in, ptr %out, i64 %n, i64 %width) {
    entry:
      %x = call i32 @gpulua.thread.x()
      %wide = zext i32 %x to i64
      %first = mul i64 %wide, %width
      %row = getelementptr float, ptr %in, i64 %first
      %place = getelementptr float, ptr %out, i64 %first
      br label %turn
    turn:
      %j = phi i64 [0, %entry], [%next, %turn]
      %sum = phi float [0.0, %entry], [%more, %turn]
      %from = getelementptr float, ptr %row, i64 %j
      %to = getelementptr float, ptr %place, i64 %j
      )" +
         body + R"(
      %next = add i64 %j, 1
      %stays = icmp ult i64 %next, %n
      br i1 %stays, label %turn, label %end
    end:
      %total = phi float [%more, %turn]
      store float %total, ptr %out
      ret void
    })";
}

struct Counts {
  std::size_t loaded, stored, asked;
  bool operator==(const Counts&) const = default;
};

Counts strip_mine_loop(const std::string& body) {
  Ir ir(loop(body));
  const bool changed = strip_mine(ir.function(), WarpLayout::row);
  REQUIRE_FALSE(llvm::verifyFunction(ir.function(), &llvm::errs()));
  const Counts counts{calls(ir.function(), "gpulua.load_strip").size(),
                      calls(ir.function(), "gpulua.store_strip").size(),
                      calls(ir.function(), "gpulua.all_lanes").size()};
  CHECK(changed == (counts.loaded + counts.stored > 0));
  return counts;
}

}  // namespace

TEST_CASE("strip mining: lanes load from their rows", "[simd]") {
  CHECK(strip_mine_loop("%v = load float, ptr %from\n %more = fadd float %sum, %v") == Counts{1, 0, 0});
  // All lanes read the same, or a row.
  CHECK(
      strip_mine_loop(
          "%same = getelementptr float, ptr %in, i64 %j\n %v = load float, ptr %same\n %more = fadd float %sum, %v") ==
      Counts{0, 0, 0});
  CHECK(strip_mine_loop(
            "%at = add i64 %wide, %j\n %same = getelementptr float, ptr %in, i64 %at\n %v = load float, ptr %same\n"
            "%more = fadd float %sum, %v") == Counts{0, 0, 0});
  CHECK(strip_mine_loop("%v = load volatile float, ptr %from\n %more = fadd float %sum, %v") == Counts{0, 0, 0});
}

TEST_CASE("strip mining: lanes store to their rows, apart from what they load", "[simd]") {
  CHECK(strip_mine_loop("%v = load float, ptr %from\n %more = fadd float %sum, %v\n store float %more, ptr %to") ==
        Counts{1, 1, 1});
  CHECK(strip_mine_loop("%v = load float, ptr %to\n %more = fadd float %v, 1.0\n store float %more, ptr %to") ==
        Counts{1, 1, 1});
  // A later iteration may load it, at an unknown address.
  CHECK(strip_mine_loop(
            "%k = load i64, ptr %from\n %else = getelementptr float, ptr %in, i64 %k\n %v = load float, ptr %else\n"
            "%more = fadd float %sum, %v\n store float %more, ptr %to") == Counts{0, 0, 0});
  CHECK(strip_mine_loop("%v = load float, ptr %from\n %more = fadd float %sum, %v\n store float %more, ptr %out") ==
        Counts{0, 0, 0});
}

}  // namespace gpulua::cpu::simd
