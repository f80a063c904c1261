// Copies for warps in one row, or in a few, of a flat number.

#include "src/device/cpu/simd/flat_numbers.h"

#include <llvm/IR/Verifier.h>

#include "src/device/cpu/simd/markers.h"
#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {
namespace {

const std::string declarations = R"(
    declare i32 @gpulua.thread.x()
    declare i32 @gpulua.block.x()
)";

/// if (i < n) { body }
std::string guarded(const std::string& body) {
  return declarations + R"(
    define void @f(i32 %n, i32 %width, i32 %other, ptr %in, ptr %out) {
    entry:
      %i = call i32 @gpulua.thread.x()
      %stays = icmp slt i32 %i, %n
      br i1 %stays, label %body, label %done
    body:
)" + body +
         R"(
      br label %done
    done:
      ret void
    })";
}

/// for (i = thread; i < n; i += blockDim.x) { body }, with a sum of %term.
std::string looped(const std::string& body) {
  return declarations + R"(
    define void @f(i32 %n, i32 %width, i32 %other, ptr %in, ptr %out) {
    entry:
      %thread = call i32 @gpulua.thread.x()
      %step = call i32 @gpulua.block.x()
      br label %body
    body:
      %i = phi i32 [ %thread, %entry ], [ %next, %body ]
      %sum = phi i32 [ 0, %entry ], [ %more, %body ]
)" + body +
         R"(
      %more = add i32 %sum, %v
      %next = add nsw i32 %i, %step
      %stays = icmp slt i32 %next, %n
      br i1 %stays, label %body, label %done
    done:
      %total = phi i32 [ %more, %body ]
      store i32 %total, ptr %out
      ret void
    })";
}

const std::string taken_apart = R"(
      %y = sdiv i32 %i, %width
      %x = srem i32 %i, %width
      %row = mul nsw i32 %y, %other
      %at = add nsw i32 %row, %x
      %wide = sext i32 %at to i64
      %place = getelementptr i32, ptr %in, i64 %wide
      %v = load i32, ptr %place
)";
const std::string stored = taken_apart + "%to = getelementptr i32, ptr %out, i32 %i\n store i32 %v, ptr %to\n";

struct Split {
  Ir ir;
  bool any;
  explicit Split(const std::string& text, WarpLayout layout = WarpLayout::row_chunk)
      : ir(text), any(split_flat_numbers(ir.function(), layout)) {
    std::string message;
    llvm::raw_string_ostream stream(message);
    const bool broken = llvm::verifyFunction(ir.function(), &stream);
    INFO(message);
    CHECK_FALSE(broken);
  }
  std::size_t count(const char* marker) { return calls(ir.function(), marker).size(); }
};

}  // namespace

TEST_CASE("flat numbers: a copy for one row, and one for a row after the other", "[simd]") {
  for (const std::string& text : {guarded(stored), looped(stored)}) {
    Split split(text);
    REQUIRE(split.any);
    CHECK(split.count("gpulua.whole_warp") == 1);
    CHECK(split.count("gpulua.first_running") == 1);
    CHECK(all<llvm::StoreInst>(split.ir.function()).size() == (text == guarded(stored) ? 3 : 4));
  }
}

TEST_CASE("flat numbers: in the copies, rows are contiguous", "[simd]") {
  Split split(guarded(stored));
  Divergence divergence(split.ir.function());
  const LanePatterns patterns(split.ir.function(), divergence, WarpLayout::row_chunk);
  for (const llvm::LoadInst* load : all<llvm::LoadInst>(split.ir.function())) {
    const bool is_copy = load->getName().contains(".");
    CHECK(patterns(load->getPointerOperand()).is_consecutive(4) == is_copy);
  }
}

TEST_CASE("flat numbers: what counts up through the loop stays outside", "[simd]") {
  Split split(looped(stored));
  Divergence divergence(split.ir.function());
  const LanePatterns patterns(split.ir.function(), divergence, WarpLayout::row_chunk);
  const llvm::PHINode* counter = nullptr;
  for (const llvm::PHINode* phi : all<llvm::PHINode>(split.ir.function()))
    if (phi->getName() == "i") counter = phi;
  REQUIRE(counter != nullptr);
  CHECK(patterns(counter).is_consecutive(1));
}

TEST_CASE("flat numbers: warps that may start anywhere end with a row", "[simd]") {
  for (const std::string& text : {guarded(stored), looped(stored)}) {
    CHECK(Split(text).count("gpulua.end_lanes") == 1);
    CHECK(Split(text, WarpLayout::row).count("gpulua.end_lanes") == 0);
  }
  // The width is read from memory.
  const std::string loaded = "%loaded = load i32, ptr %in\n %y = sdiv i32 %i, %loaded\n";
  const std::string access = "%place = getelementptr i32, ptr %in, i32 %y\n %v = load i32, ptr %place\n";
  Split split(guarded(loaded + access));
  CHECK(split.count("gpulua.end_lanes") == 0);
}

TEST_CASE("flat numbers: none without accesses, of widths that differ, or that are narrow", "[simd]") {
  const std::string access = "%place = getelementptr i32, ptr %in, i32 %y\n %v = load i32, ptr %place\n";
  CHECK(Split(guarded("%y = sdiv i32 %i, 24\n" + access)).any);
  CHECK_FALSE(Split(guarded("%y = sdiv i32 %i, 7\n" + access)).any);
  CHECK_FALSE(Split(guarded("%y = and i32 %i, 7\n" + access)).any);
  CHECK_FALSE(Split(guarded("%y = sdiv i32 %n, %i\n" + access)).any);
  CHECK_FALSE(Split(guarded("%w = mul i32 %i, 3\n %y = sdiv i32 %w, %width\n" + access)).any);
  CHECK_FALSE(Split(guarded("%y = sdiv i32 %i, %width\n store i32 %y, ptr %out\n")).any);
}

}  // namespace gpulua::cpu::simd
