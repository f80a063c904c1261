// Functions that are split at barriers, run phase by phase.

#include "src/device/cpu/simd/barrier_splitting.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <cstring>
#include <vector>

#include "src/device/cpu/abi/abi.h"
#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {
namespace {

constexpr unsigned done = ~0u;

/// As gpulua_warps.h has it.
struct Frame {
  unsigned state = 0, predicates = 0;
  const unsigned* sum = nullptr;
};

/// A function void(ptr context, ptr data), compiled, with the frame of one warp.
class Warp {
 public:
  explicit Warp(const std::string& body) {
    Ir ir("declare i32 @gpulua.arrive(i32, i32, ptr, i32)\ndeclare void @gpulua.leave(i32)\n" + body);
    const auto frames = split_at_barriers(ir.function(), 4096);
    REQUIRE(frames);
    std::string problems;
    llvm::raw_string_ostream stream(problems);
    const bool broken = llvm::verifyFunction(ir.function(), &stream);
    INFO(problems);
    REQUIRE_FALSE(broken);
    memory_.resize(frames->warp_bytes / sizeof(Line));
    frame() = Frame{0, 0, &sum};
    context_.fiber = memory_.data();

    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    jit_ = llvm::cantFail(llvm::orc::LLJITBuilder().create());
    ir.module->setDataLayout(jit_->getDataLayout());
    llvm::cantFail(jit_->addIRModule(llvm::orc::ThreadSafeModule(std::move(ir.module), std::move(ir.context))));
    run_ = llvm::cantFail(jit_->lookup("f")).toPtr<void(ThreadContext*, int*)>();
  }

  /// Runs one phase; true if another one follows.
  bool run_phase(int* data) {
    run_(&context_, data);
    return frame().state != done;
  }
  Frame& frame() { return *reinterpret_cast<Frame*>(memory_.data()); }

  unsigned sum = 0;

 private:
  struct alignas(64) Line {
    char bytes[64];
  };
  std::vector<Line> memory_;
  ThreadContext context_{};
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  void (*run_)(ThreadContext*, int*) = nullptr;
};

}  // namespace

TEST_CASE("barrier splitting: values that live across a barrier are stored", "[simd]") {
  Warp warp(R"(
    define void @f(ptr %context, ptr %data) {
      %a = load i32, ptr %data
      %slot = getelementptr i32, ptr %data, i64 1
      %first_stop = call i32 @gpulua.arrive(i32 32, i32 0, ptr null, i32 1)
      %b = load i32, ptr %data
      %c = mul i32 %a, %b
      store i32 %c, ptr %slot
      ret void
    })");
  int data[2] = {6, 0};
  CHECK(warp.run_phase(data));
  CHECK(data[1] == 0);
  data[0] = 7;
  CHECK_FALSE(warp.run_phase(data));
  CHECK(data[1] == 42);
}

TEST_CASE("barrier splitting: a barrier in a loop, values that change in each iteration", "[simd]") {
  // Adds data[0], which the caller changes, five times; the vector is doubled each time.
  Warp warp(R"(
    define void @f(ptr %context, ptr %data) {
    entry:
      %slot = getelementptr i32, ptr %data, i64 1
      br label %loop
    loop:
      %k = phi i32 [ 0, %entry ], [ %next, %loop ]
      %total = phi i32 [ 0, %entry ], [ %more, %loop ]
      %v = phi <4 x i32> [ <i32 1, i32 2, i32 3, i32 4>, %entry ], [ %w, %loop ]
      %first_stop = call i32 @gpulua.arrive(i32 32, i32 0, ptr null, i32 1)
      %a = load i32, ptr %data
      %more = add i32 %total, %a
      %w = add <4 x i32> %v, %v
      %next = add i32 %k, 1
      %again = icmp ult i32 %next, 5
      br i1 %again, label %loop, label %end
    end:
      store i32 %more, ptr %slot
      %there = getelementptr i32, ptr %data, i64 2
      store <4 x i32> %w, ptr %there, align 4
      ret void
    })");
  int data[6] = {};
  int phases = 0;
  do data[0] = ++phases;
  while (warp.run_phase(data));
  CHECK(phases == 6);
  CHECK(data[1] == 2 + 3 + 4 + 5 + 6);
  CHECK(std::vector<int>(data + 2, data + 6) == std::vector<int>{32, 64, 96, 128});
}

TEST_CASE("barrier splitting: memory of a lane's own outlives barriers", "[simd]") {
  Warp warp(R"(
    define void @f(ptr %context, ptr %data) {
      %own = alloca [4 x i32], align 64
      %first = load i32, ptr %data
      %third = getelementptr i32, ptr %own, i64 2
      store i32 %first, ptr %third
      %first_stop = call i32 @gpulua.arrive(i32 32, i32 0, ptr null, i32 1)
      %second_stop = call i32 @gpulua.arrive(i32 32, i32 0, ptr null, i32 2)
      %again = load i32, ptr %third
      %slot = getelementptr i32, ptr %data, i64 1
      store i32 %again, ptr %slot
      ret void
    })");
  int data[2] = {5, 0};
  CHECK(warp.run_phase(data));
  data[0] = 0;
  CHECK(warp.run_phase(data));
  CHECK_FALSE(warp.run_phase(data));
  CHECK(data[1] == 5);
}

TEST_CASE("barrier splitting: the sum of the predicates comes from the block", "[simd]") {
  Warp warp(R"(
    define void @f(ptr %context, ptr %data) {
      %sum = call i32 @gpulua.arrive(i32 32, i32 3, ptr null, i32 1)
      %first_stop = call i32 @gpulua.arrive(i32 32, i32 0, ptr null, i32 2)
      store i32 %sum, ptr %data
      ret void
    })");
  int data[1] = {};
  CHECK(warp.run_phase(data));
  CHECK(warp.frame().predicates == 3);
  warp.sum = 11;
  CHECK(warp.run_phase(data));
  warp.sum = 0;
  CHECK_FALSE(warp.run_phase(data));
  CHECK(data[0] == 11);
}

TEST_CASE("barrier splitting: cheap values of the arguments take no room", "[simd]") {
  const std::string text = R"(
    declare i32 @gpulua.arrive(i32, i32, ptr, i32)
    define void @f(ptr %context, ptr %data, i32 %n) {
      %wide = zext i32 %n to i64
      %place = getelementptr i32, ptr %data, i64 %wide
      VALUE
      %first_stop = call i32 @gpulua.arrive(i32 32, i32 0, ptr null, i32 1)
      store i32 %value, ptr %place
      ret void
    })";
  auto bytes_with = [&](const std::string& value) {
    std::string whole = text;
    whole.replace(whole.find("VALUE"), 5, value);
    Ir ir(whole);
    return split_at_barriers(ir.function(), 4096).value().warp_bytes;
  };
  CHECK(bytes_with("%value = add i32 %n, 1") == 64);
  CHECK(bytes_with("%value = load i32, ptr %data") == 128);
}

TEST_CASE("barrier splitting: the output does not depend on where instructions lie in the heap", "[simd]") {
  constexpr int count = 8;
  std::string text =
      "declare i32 @gpulua.arrive(i32, i32, ptr, i32)\ndeclare void @use(ptr)\n"
      "define void @f(ptr %context) {\n";
  for (int i = 0; i < count; ++i) text += "%v" + std::to_string(i) + " = alloca i32\n";
  text += "%stop = call i32 @gpulua.arrive(i32 32, i32 0, ptr null, i32 1)\n";
  for (int i = 0; i < count; ++i) text += "call void @use(ptr %v" + std::to_string(i) + ")\n";
  text += "ret void }";

  auto output = [&](bool reversed) {
    Ir ir(text);
    std::vector<llvm::AllocaInst*> originals = all<llvm::AllocaInst>(ir.function());
    if (reversed) {
      // The later a variable stands, the earlier its copy is allocated.
      for (auto original = originals.rbegin(); original != originals.rend(); ++original) {
        llvm::Instruction* copy = (*original)->clone();
        copy->insertAfter(*original);
        copy->takeName(*original);
        (*original)->replaceAllUsesWith(copy);
      }
      for (llvm::AllocaInst* original : originals) original->eraseFromParent();
    }
    REQUIRE(split_at_barriers(ir.function(), 4096));
    std::string result;
    llvm::raw_string_ostream stream(result);
    ir.function().print(stream);
    return result;
  };
  CHECK(output(true) == output(false));
}

TEST_CASE("barrier splitting: frames have a limit", "[simd]") {
  Ir ir(R"(
    declare i32 @gpulua.arrive(i32, i32, ptr, i32)
    define void @f(ptr %context, ptr %data) {
      %own = alloca [1000 x i32]
      %first_stop = call i32 @gpulua.arrive(i32 32, i32 0, ptr null, i32 1)
      store ptr %own, ptr %data
      ret void
    })");
  CHECK_FALSE(split_at_barriers(ir.function(), 2048));
}

}  // namespace gpulua::cpu::simd
