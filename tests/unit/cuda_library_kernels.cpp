// What the emitter gives, compiled by NVRTC.

#include "src/codegen/emit.h"
#include "tests/catch.h"
#include "tests/unit/cuda_own_kernels.h"

using namespace gpulua;

namespace {

ValueSpec operand_value(std::uint16_t operand, DType dtype) {
  ValueSpec value;
  value.dtype = value.compute = dtype;
  value.operand = operand;
  return value;
}

ValueSpec operation_value(const OpInfo& op, DType dtype) {
  ValueSpec value;
  value.kind = ValueSpec::Kind::operation;
  value.dtype = value.compute = dtype;
  value.op = &op;
  return value;
}

/// Random numbers by `op`, stored.
KernelSpec drawn(const OpInfo& op, DType dtype, unsigned width) {
  KernelSpec spec;
  const auto position = static_cast<std::uint16_t>(op.arity);
  ValueSpec numbers = operation_value(op, dtype);
  for (std::uint16_t i = 0; i < position; ++i) {
    spec.operands.push_back({DType::uint64, Access::value});
    spec.values.push_back(operand_value(i, DType::uint64));
    numbers.inputs.push_back(i);
  }
  spec.operands.push_back({DType::int64, Access::unit, false});
  spec.values.push_back(operand_value(position, DType::int64));
  numbers.inputs.push_back(position);
  spec.values.push_back(numbers);
  spec.outputs.push_back({dtype, Access::unit, static_cast<std::uint16_t>(position + 1)});
  spec.vector = width;
  return spec;
}

/// As drawn(), reduced by `name`.
KernelSpec reduced(const OpInfo& op, DType dtype, unsigned width, const char* name) {
  KernelSpec spec = drawn(op, dtype, width);
  ValueSpec reduction = operand_value(0, dtype);
  reduction.kind = ValueSpec::Kind::reduction;
  reduction.reducer = &reducer(name);
  reduction.inputs = {3};
  spec.values.push_back(reduction);
  spec.outputs = {{dtype, Access::unit, 4}};
  auto& family = spec.family.emplace<ReductionSpec>();
  family.split = family.in_runs = true;
  return spec;
}

}  // namespace

TEST_CASE("Kernels that draw random numbers compile for GPUs, old and new", "[cuda]") {
  for (const char* architecture : {"sm_75", "sm_90"}) {
    OwnKernels kernels(architecture);
    const auto compile = [&](const KernelSpec& spec) { kernels.compile(emit(spec)); };
    const bool ran = with_nvrtc([&] {
      for (DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
        compile(drawn(op("random_uniform"), dtype, 1));
        compile(drawn(op("random_normal"), dtype, 4));
      }
      compile(drawn(op("random_integers"), DType::uint64, 2));
      compile(reduced(op("random_normal"), DType::float32, 4, "sum"));
      compile(reduced(op("random_normal"), DType::float64, 2, "max"));
    });
    if (!ran) return;
  }
}
