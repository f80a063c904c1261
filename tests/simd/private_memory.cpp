// Where the elements of a thread's own arrays are among those of a warp.

#include "src/device/cpu/simd/private_memory.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Verifier.h>

#include <set>

#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {
namespace {

constexpr const char* private_memory = "gpulua.private";

class Kernel {
 public:
  explicit Kernel(const std::string& body)
      : ir_("declare void @escape(ptr)\ndeclare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"
            "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
            "define void @f(ptr %in, i64 %i, i32 %j, i8 %byte) {\n" +
            body + "\n ret void }") {
    lay_out_private_memory(function());
    REQUIRE_FALSE(llvm::verifyFunction(function(), &llvm::errs()));
    CHECK(all<llvm::AllocaInst>(function()).empty());
  }

  llvm::Function& function() { return ir_.function(); }
  /// "bytes stride" of the n-th array.
  std::string memory(unsigned n = 0) {
    const llvm::CallInst* call = calls(function(), private_memory).at(n);
    return std::to_string(number(call->getArgOperand(0))) + " " + std::to_string(number(call->getArgOperand(1)));
  }
  /// Where the first load or store of the kind goes: "constant + scale * index".
  template <class Access>
  std::string place() {
    llvm::APInt constant(64, 0);
    std::string text;
    const llvm::Value* pointer = llvm::getLoadStorePointerOperand(all<Access>(function()).at(0));
    while (const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer)) {
      const llvm::Value* offset = address->getOperand(1);
      REQUIRE(address->getNumIndices() == 1);
      REQUIRE(address->getSourceElementType()->isIntegerTy(8));
      text += add(offset, constant);
      pointer = address->getPointerOperand();
    }
    CHECK(pointer == calls(function(), private_memory).at(0));
    return std::to_string(constant.getSExtValue()) + text;
  }

 private:
  std::string add(const llvm::Value* offset, llvm::APInt& constant) {
    if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(offset)) {
      constant += known->getValue();
      return "";
    }
    const auto* binary = llvm::cast<llvm::BinaryOperator>(offset);
    if (binary->getOpcode() == llvm::Instruction::Add)
      return add(binary->getOperand(0), constant) + add(binary->getOperand(1), constant);
    REQUIRE(binary->getOpcode() == llvm::Instruction::Mul);
    const llvm::Value* index = binary->getOperand(0);
    if (const auto* cast = llvm::dyn_cast<llvm::SExtInst>(index)) index = cast->getOperand(0);
    return " + " + std::to_string(number(binary->getOperand(1))) + " * " + index->getName().str();
  }

  Ir ir_;
};

const std::string array = "%t = alloca [8 x i32], align 16\n";
const std::string element = array + "%p = getelementptr [8 x i32], ptr %t, i64 0, i64 %i\n";

}  // namespace

TEST_CASE("private memory: elements of all lanes together", "[simd]") {
  Kernel kernel(element + "store i32 1, ptr %p");
  CHECK(kernel.memory() == "32 4");
  CHECK(kernel.place<llvm::StoreInst>() == "0 + 128 * i");
  CHECK(Kernel(array + "%p = getelementptr i8, ptr %t, i64 20\n %v = load i32, ptr %p").place<llvm::LoadInst>() ==
        "640");
  CHECK(Kernel(array + "%p = getelementptr i32, ptr %t, i32 %j\n %v = load float, ptr %p").place<llvm::LoadInst>() ==
        "0 + 128 * j");
  // Structures of one size of element; addresses that build on others, and go back.
  Kernel nested(
      "%t = alloca [4 x {double, [2 x i64]}]\n"
      "%r = getelementptr {double, [2 x i64]}, ptr %t, i64 %i, i32 1\n"
      "%p = getelementptr i64, ptr %r, i64 -1\n %v = load i64, ptr %p");
  CHECK(nested.memory() == "96 8");
  CHECK(nested.place<llvm::LoadInst>() == "0 + 768 * i");
}

TEST_CASE("private memory: a lane's array in one piece", "[simd]") {
  for (const char* use :
       {"call void @escape(ptr %p)", "%v = ptrtoint ptr %p to i64", "store ptr %p, ptr %in",
        "atomicrmw add ptr %p, i32 1 monotonic", "%v = icmp eq ptr %p, %in", "%v = select i1 true, ptr %p, ptr %in"}) {
    Kernel kernel(element + "store i32 1, ptr %p\n" + use);
    CHECK(kernel.memory() == "32 32");
    CHECK(all<llvm::GetElementPtrInst>(kernel.function())[0]->getSourceElementType()->isArrayTy());
  }
  // Elements of several sizes, and ones that lie across others.
  CHECK(Kernel(element + "store i32 1, ptr %p\n store i16 1, ptr %t").memory() == "32 32");
  CHECK(Kernel(array + "%p = getelementptr i8, ptr %t, i64 %i\n store i32 1, ptr %p").memory() == "32 32");
  CHECK(Kernel(array + "%p = getelementptr i8, ptr %t, i64 2\n store i32 1, ptr %p").memory() == "32 32");
  CHECK(Kernel("%t = alloca [3 x i24]\n store i24 1, ptr %t").memory() == "12 12");
  // Lanes' arrays are as aligned as one is.
  CHECK(Kernel("%t = alloca [5 x i32], align 16\n call void @escape(ptr %t)").memory() == "32 32");
}

TEST_CASE("private memory: filled element by element", "[simd]") {
  Kernel set(element + "call void @llvm.memset.p0.i64(ptr %t, i8 3, i64 32, i1 false)\n %v = load i32, ptr %p");
  CHECK(set.memory() == "32 4");
  CHECK(all<llvm::MemIntrinsic>(set.function()).empty());
  std::set<std::int64_t> places;
  for (const llvm::StoreInst* store : all<llvm::StoreInst>(set.function())) {
    llvm::APInt offset(64, 0);
    store->getPointerOperand()->stripAndAccumulateConstantOffsets(set.function().getParent()->getDataLayout(), offset,
                                                                  true);
    places.insert(offset.getSExtValue());
    CHECK(number(store->getValueOperand()) == 0x03030303);
  }
  CHECK(places == std::set<std::int64_t>{0, 128, 256, 384, 512, 640, 768, 896});

  const std::string copy = "call void @llvm.memcpy.p0.p0.i64(ptr align 4 %t, ptr align 2 %in, i64 8, i1 false)\n";
  Kernel copied(element + copy + "%v = load i32, ptr %p");
  CHECK(copied.memory() == "32 4");
  CHECK(all<llvm::MemIntrinsic>(copied.function()).empty());
  CHECK(all<llvm::StoreInst>(copied.function()).size() == 2);
  CHECK(all<llvm::LoadInst>(copied.function())[0]->getAlign() == llvm::Align(2));

  // Copied from, filled by halves of an element, or longer than is worth it.
  auto filled = [&](const std::string& fill) { return Kernel(element + fill + "\n store i32 1, ptr %p").memory(); };
  CHECK(filled("call void @llvm.memcpy.p0.p0.i64(ptr %in, ptr %t, i64 8, i1 false)") == "32 32");
  CHECK(filled("call void @llvm.memset.p0.i64(ptr %t, i8 0, i64 6, i1 false)") == "32 32");
  CHECK(filled("call void @llvm.memset.p0.i64(ptr %t, i8 0, i64 %i, i1 false)") == "32 32");
  CHECK(filled("call void @llvm.memset.p0.i64(ptr %t, i8 0, i64 32, i1 true)") == "32 32");
  CHECK(Kernel("%t = alloca [65 x i32]\n call void @llvm.memset.p0.i64(ptr %t, i8 0, i64 260, i1 false)\n"
               "%v = load i32, ptr %t")
            .memory() == "260 260");
}

}  // namespace gpulua::cpu::simd
