
#include <string>

#include "src/base/error.h"
#include "src/codegen/emit.h"
#include "src/ops/op_table.h"
#include "src/ops/promotion.h"
#include "src/ops/reduction_table.h"
#include "tests/catch.h"
#include "tests/unit/cuda_own_kernels.h"

using namespace gpulua;

namespace {

/// A kernel that computes every operation that takes operands of the dtype. Divisors are numbers.
KernelSpec all_operations(DType dtype) {
  KernelSpec spec;
  for (std::uint16_t i = 0; i < 2; ++i) {
    spec.operands.push_back({dtype, i == 0 ? Access::unit : Access::value});
    ValueSpec operand;
    operand.dtype = operand.compute = dtype;
    operand.operand = i;
    spec.values.push_back(operand);
  }
  for (const OpInfo& op : op_table()) {
    if (op.rule == DTypeRule::conversion) continue;
    ValueSpec value;
    try {
      const OpDTypes dtypes = op_dtypes(op, dtype, DType::float32);
      value.compute = dtypes.compute;
      value.dtype = dtypes.result;
    } catch (const Error&) {
      continue;
    }
    value.kind = ValueSpec::Kind::operation;
    value.op = &op;
    value.inputs.assign(static_cast<std::size_t>(op.arity), 0);
    if (op.divides) value.inputs[1] = 1;
    spec.outputs.push_back({value.dtype, Access::unit, static_cast<std::uint16_t>(spec.values.size())});
    spec.values.push_back(value);
  }
  spec.vector = 2;
  spec.family = ElementwiseSpec{.fast_path = true};
  return spec;
}

}  // namespace

TEST_CASE("what is used twice is no part of a sum that is rounded once", "[cuda][nvrtc]") {
  // The product and the difference would be one fused instruction, with another product than its second use has.
  OwnKernels kernels{"sm_75"};
  const auto number = [](std::uint16_t operand, DType dtype) {
    ValueSpec value;
    value.dtype = value.compute = dtype;
    value.operand = operand;
    return value;
  };
  const auto operation = [](const char* name, DType dtype, std::uint16_t x, std::uint16_t y) {
    ValueSpec value;
    value.kind = ValueSpec::Kind::operation;
    value.dtype = value.compute = dtype;
    value.op = &op(name);
    value.inputs = {x, y};
    return value;
  };
  for (const DType dtype : {DType::float32, DType::float64}) {
    const std::string suffix = dtype == DType::float32 ? "f32" : "f64";
    const auto ptx = [&](const KernelSpec& spec) {
      return kernels.compile(emit(spec), {"--gpu-architecture=compute_75"});
    };
    KernelSpec spec;
    for (int i = 0; i < 2; ++i) spec.operands.push_back({dtype, Access::unit});
    spec.values = {number(0, dtype), number(1, dtype), operation("multiply", dtype, 0, 0),
                   operation("subtract", dtype, 2, 1)};
    spec.outputs = {{dtype, Access::unit, 3}};
    const bool ran = with_nvrtc([&] {
      // The assembler may fuse what names no rounding, and leaves alone what does.
      CHECK(count_of("mul." + suffix, ptx(spec)) == 1);
      spec.values[2].rounded = true;
      const std::string text = ptx(spec);
      CHECK(count_of("mul.rn." + suffix, text) == 1);
      CHECK(count_of("mul." + suffix, text) == 0);
      // The variance of a product: the accumulator's differences are of the rounded one.
      KernelSpec reduction;
      for (int i = 0; i < 2; ++i) reduction.operands.push_back({dtype, Access::unit});
      reduction.values = {number(0, dtype), number(1, dtype), operation("multiply", dtype, 0, 1), number(0, dtype)};
      reduction.values[3].kind = ValueSpec::Kind::reduction;
      reduction.values[3].reducer = &reducer("var");
      reduction.values[3].inputs = {2};
      reduction.outputs = {{dtype, Access::unit, 3}};
      reduction.family = ReductionSpec{};
      const std::string variance = ptx(reduction);
      CHECK(count_of("mul." + suffix, variance) > 0);
      CHECK(count_of("sub.rn." + suffix, variance) >= 2);
    });
    if (!ran) return;
  }
}

TEST_CASE("every operation compiles for GPUs", "[cuda][nvrtc]") {
  OwnKernels kernels{"sm_75"};
  for (const DTypeInfo& row : dtype_table()) {
    INFO(row.name);
    // The optimiser takes most of the time and refuses nothing.
    std::vector<std::string> options = {"--device-debug"};
    // To PTX, which is quicker; but only an assembler reads the instructions that half precision takes.
    if (row.dtype != DType::float16) options.push_back("--gpu-architecture=compute_75");
    if (!with_nvrtc([&] { kernels.compile(emit(all_operations(row.dtype)), options); })) return;
  }
}

TEST_CASE("a thread takes elements of a slice a block apart, by addresses it computes once", "[cuda][nvrtc]") {
  OwnKernels kernels{"sm_90"};
  KernelSpec spec;
  spec.operands = {{DType::float32, Access::unit}, {DType::float32, Access::unit}};
  for (std::uint16_t i = 0; i < 2; ++i) {
    ValueSpec operand;
    operand.operand = i;
    spec.values.push_back(operand);
  }
  ValueSpec sum;
  sum.kind = ValueSpec::Kind::operation;
  sum.op = &op("add");
  sum.inputs = {0, 1};
  spec.values.push_back(sum);
  spec.outputs = {{DType::float32, Access::unit, 2}};
  spec.ndim = 2;
  spec.vector = 4;
  spec.family = ElementwiseSpec{.spread = true};
  with_nvrtc([&] {
    const std::string ptx = kernels.compile(emit(spec), {"--gpu-architecture=compute_90"});
    CHECK(count_of("ld.global", ptx) == 10);  // eight, and those of a row's end
    CHECK(count_of("st.global", ptx) == 5);
  });
}
