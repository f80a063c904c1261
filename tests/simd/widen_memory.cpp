// Memory accesses of a warp, against loops over the lanes.

#include <array>
#include <numeric>

#include "src/device/cpu/simd/widen_address_rows.h"
#include "src/device/cpu/simd/widen_atomics.h"
#include "src/device/cpu/simd/widen_lane_loop.h"
#include "src/device/cpu/simd/widen_strided_access.h"
#include "tests/simd/warp_function.h"

namespace gpulua::cpu::simd {
namespace {

constexpr unsigned masks[] = {~0u, 0x0000ffffu, 0xffff0000u, 0x1u, 0x80000000u, 0xa5a5c3c3u};

using Lanes = std::array<int, warp_size>;

template <std::size_t size>
std::array<int, size> numbered() {
  std::array<int, size> result{};
  std::iota(result.begin(), result.end(), 1000);
  return result;
}

std::string for_processor(const std::string& features) {
  return "\"target-features\"=\"" + features + "\"";
}

/// Whether %p, for elements of `bytes` bytes, is a row always ("row"), under a condition ("if"), or never ("no").
std::string row_at(const std::string& body, unsigned bytes = 4, const std::string& features = "+avx") {
  WarpFunction function(body + "\n %end = add i32 0, 0", WarpLayout::row, for_processor(features));
  function.widen_up_to("end");
  AddressRows rows(function.warp());
  const auto row = rows.find(&function.instruction("p"), bytes);
  if (!row) return "no";
  return row->holds == nullptr ? "row" : "if";
}

const std::string address = "%i = zext i32 %x to i64\n %p = getelementptr i32, ptr %in, i64 %i\n";

}  // namespace

TEST_CASE("address rows: contiguous addresses are found", "[simd]") {
  CHECK(row_at(address) == "row");
  CHECK(row_at("%p = getelementptr i32, ptr %in, i32 %n") == "row");
  CHECK(row_at("%a = mul i32 %x, 2\n %i = zext i32 %a to i64\n %p = getelementptr i32, ptr %in, i64 %i") == "no");
  CHECK(row_at("%a = mul i32 %x, %x\n %i = zext i32 %a to i64\n %p = getelementptr i32, ptr %in, i64 %i") == "no");
  // Where nothing wraps.
  CHECK(row_at("%a = add i32 %x, %n\n %i = sext i32 %a to i64\n %p = getelementptr i32, ptr %in, i64 %i") == "if");
}

TEST_CASE("address rows: masks need the processor's instructions, or all lanes", "[simd]") {
  const std::string bytes = "%i = zext i32 %x to i64\n %p = getelementptr i8, ptr %in, i64 %i\n";
  CHECK(row_at(bytes, 1, "+avx2") == "if");
  CHECK(row_at(bytes, 1, "+avx512bw") == "row");
  CHECK(row_at(address, 4, "+sse2") == "if");
}

TEST_CASE("address rows: only active lanes are loaded and stored", "[simd]") {
  for (const WarpLayout layout : {WarpLayout::row, WarpLayout::half_rows}) {
    const bool halves = layout == WarpLayout::half_rows;
    WarpFunction function(halves ? "%a = mul i32 %y, 100\n %b = add i32 %a, %x\n %i = zext i32 %b to i64\n"
                                   "%p = getelementptr i32, ptr %in, i64 %i\n %end = add i32 0, 0"
                                 : address + "%end = add i32 0, 0",
                          layout);
    function.widen_up_to("end");
    AddressRows rows(function.warp());
    const auto row = rows.find(&function.instruction("p"), 4);
    REQUIRE(row);
    llvm::Value* loaded = rows.load(function.builder().getInt32Ty(), *row, llvm::Align(4));
    function.output(loaded);
    rows.store(function.builder().CreateNeg(loaded), *row, llvm::Align(4));
    for (const unsigned mask : masks) {
      auto memory = numbered<200>(), wanted = memory;
      Lanes out{};
      function.run(memory.data(), out.data(), mask);
      for (unsigned lane = 0; lane < warp_size; ++lane) {
        if ((mask >> lane & 1) == 0) continue;
        int& element = wanted[halves ? lane / 16 * 100 + lane % 16 : lane];
        CHECK(out[lane] == element);
        element = -element;
      }
      CHECK(memory == wanted);
    }
  }
}

TEST_CASE("address rows: private rows are accessed whole, without branches, with AVX2", "[simd]") {
  // Of an array of four bytes, the second row.
  const std::string body = "%own = call ptr @gpulua.private(i64 4, i64 1)\n %p = getelementptr i8, ptr %own, i64 32\n";
  for (const bool avx2 : {true, false}) {
    WarpFunction function(body + "%end = add i32 0, 0", WarpLayout::row,
                          for_processor(avx2 ? "+avx2" : "+avx512f,+avx512bw"));
    WarpBuilder& warp = function.warp();
    warp.set_scalar(&function.instruction("own"), function.argument(1));
    function.widen_up_to("end");
    AddressRows rows(warp);
    const auto row = rows.find(&function.instruction("p"), 1);
    REQUIRE(row);
    CHECK(row->holds == nullptr);
    CHECK(row->own == avx2);
    if (!avx2) continue;
    const std::size_t blocks = function.function().size();
    llvm::Value* loaded = rows.load(function.builder().getInt8Ty(), *row, llvm::Align(1));
    rows.store(function.builder().CreateNeg(loaded), *row, llvm::Align(1));
    CHECK(function.function().size() == blocks);
    for (const unsigned mask : masks) {
      std::array<signed char, 128> memory{};
      std::iota(memory.begin(), memory.end(), static_cast<signed char>(0));
      auto wanted = memory;
      for (unsigned lane = 0; lane < warp_size; ++lane)
        if ((mask >> lane & 1) != 0) wanted[32 + lane] = static_cast<signed char>(-wanted[32 + lane]);
      int out = 0;
      function.run(memory.data(), &out, mask);
      CHECK(memory == wanted);
    }
  }
}

TEST_CASE("lane loops: all have their rows in the same memory", "[simd]") {
  WarpFunction function(address +
                        "%end = add i32 0, 0\n store volatile i32 %x, ptr %p\n store volatile i32 %x, ptr %p");
  function.widen_up_to("end");
  LaneLoop lanes(function.warp());
  const auto locals = [&] { return all<llvm::AllocaInst>(function.function()).size(); };
  std::size_t first = 0;
  for (llvm::Instruction& instruction : llvm::instructions(*function.instruction("x").getFunction())) {
    if (!llvm::isa<llvm::StoreInst>(instruction)) continue;
    lanes.emit(instruction);
    if (first == 0) first = locals();
    CHECK(locals() == first);
  }
  CHECK(first != 0);
}

TEST_CASE("address rows: the condition of a bounds check is tested at run time", "[simd]") {
  WarpFunction function(
      "%last = call i32 @llvm.smin.i32(i32 %x, i32 %n)\n %i = zext i32 %last to i64\n"
      "%p = getelementptr i32, ptr %in, i64 %i\n %end = add i32 0, 0");
  // The minimum is no arithmetic, so the test widens it.
  llvm::Instruction& least = function.instruction("last");
  WarpBuilder& warp = function.warp();
  warp.set_vector(&least,
                  function.builder().CreateBinaryIntrinsic(llvm::Intrinsic::smin, warp.vector(least.getOperand(0)),
                                                           warp.vector(least.getOperand(1))));
  AddressRows rows(warp);
  const auto row = rows.find(&function.instruction("p"), 4);
  REQUIRE(row);
  REQUIRE(row->holds != nullptr);
  function.output(function.builder().CreateZExt(row->holds, function.builder().getInt32Ty()));
  int holds = -1;
  for (const auto& [mask, bound, wanted] :
       {std::tuple{~0u, 40, 1}, {~0u, 31, 1}, {~0u, 30, 0}, {0xffffu, 15, 1}, {0xffffu, 14, 0}}) {
    function.run(static_cast<int*>(nullptr), &holds, mask, bound);
    CHECK(holds == wanted);
  }
}

TEST_CASE("strided access: distances that rows and permutations serve", "[simd]") {
  auto stride = [](int factor, const std::string& type, const std::string& features, bool loads = true) {
    WarpFunction function("%a = mul i32 %x, " + std::to_string(factor) + "\n %i = zext i32 %a to i64\n" +
                              "%p = getelementptr " + type + ", ptr %in, i64 %i\n %end = add i32 0, 0",
                          WarpLayout::row, for_processor(features));
    function.warp().set_mask(function.warp().mask(), /*is_full=*/loads);
    llvm::Type* element = type == "i32" ? function.builder().getInt32Ty() : function.builder().getInt64Ty();
    return StridedAccess(function.warp()).stride(&function.instruction("p"), element, loads);
  };
  const std::string avx512 = "+avx512bw,+bmi2";
  CHECK(stride(1, "i32", avx512) == 0);
  CHECK(stride(2, "i32", avx512) == 2);
  CHECK(stride(4, "i32", avx512) == 4);
  CHECK(stride(5, "i32", avx512) == 0);
  CHECK(stride(2, "i64", avx512) == 2);
  CHECK(stride(3, "i64", avx512) == 0);  // more than 512 bytes
  CHECK(stride(2, "i32", avx512, false) == 2);
  CHECK(stride(2, "i32", "+avx2,+bmi2") == 2);         // all lanes run
  CHECK(stride(2, "i32", "+avx2,+bmi2", false) == 0);  // a store may not write between
}

TEST_CASE("lane loop: one scalar instruction for each active lane", "[simd]") {
  WarpFunction function(
      "%a = mul i32 %x, 3\n %i = zext i32 %a to i64\n %p = getelementptr i32, ptr %in, i64 %i\n"
      "%v = load volatile i32, ptr %p\n store i32 %v, ptr %out");
  const llvm::Instruction& load = function.widen_up_to("v");
  function.output(LaneLoop(function.warp()).emit(load));
  auto memory = numbered<96>();
  for (const unsigned mask : masks) {
    Lanes out{};
    function.run(memory.data(), out.data(), mask);
    for (unsigned lane = 0; lane < warp_size; ++lane)
      if ((mask >> lane & 1) != 0) CHECK(out[lane] == memory[3 * lane]);
  }
}

TEST_CASE("atomics: lanes of one address get what they would get one after the other", "[simd]") {
  for (const char* operation : {"add", "sub", "xor", "or", "and", "max", "umin"}) {
    WarpFunction function("%a = mul i32 %x, 5\n %b = sub i32 %a, 40\n %v = atomicrmw " + std::string(operation) +
                          " ptr %in, i32 %b monotonic\n store i32 %v, ptr %out");
    LaneLoop lanes(function.warp());
    const auto& atomic = llvm::cast<llvm::AtomicRMWInst>(function.widen_up_to("v"));
    function.output(Atomics(function.warp(), lanes).emit(atomic));
    CHECK(all<llvm::AtomicRMWInst>(function.function()).size() == 1);
    for (const unsigned mask : masks) {
      int memory = 7, wanted = 7;
      Lanes out{};
      function.run(&memory, out.data(), mask);
      for (unsigned lane = 0; lane < warp_size; ++lane) {
        if ((mask >> lane & 1) == 0) continue;
        INFO(operation << ", lane " << lane);
        CHECK(out[lane] == wanted);
        const int value = 5 * static_cast<int>(lane) - 40;
        const std::string name = operation;
        wanted = name == "add"   ? wanted + value
                 : name == "sub" ? wanted - value
                 : name == "xor" ? wanted ^ value
                 : name == "or"  ? wanted | value
                 : name == "and" ? wanted & value
                 : name == "max"
                     ? std::max(wanted, value)
                     : static_cast<int>(std::min(static_cast<unsigned>(wanted), static_cast<unsigned>(value)));
      }
      CHECK(memory == wanted);
    }
  }
}

}  // namespace gpulua::cpu::simd
