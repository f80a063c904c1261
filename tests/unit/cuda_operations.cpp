#include <catch2/catch.hpp>

#include <string>

#include "src/codegen/emit.h"
#include "src/core/error.h"
#include "src/core/op_table.h"
#include "src/core/promotion.h"
#include "src/device/cuda/compiler.h"

using namespace gpulua;
using namespace gpulua::cuda;

namespace {

/// A kernel that computes every operation that takes operands of the dtype.
KernelSpec all_operations(DType dtype) {
  KernelSpec spec;
  spec.operands.push_back({dtype, Access::unit});
  ValueSpec operand;
  operand.dtype = operand.compute = dtype;
  spec.values.push_back(operand);
  for (const OpInfo& op : op_table()) {
    if (op.rule == DTypeRule::conversion) continue;
    ValueSpec value;
    try {
      const OpDTypes dtypes = op_dtypes(op, dtype);
      value.compute = dtypes.compute;
      value.dtype = dtypes.result;
    } catch (const Error&) {
      continue;
    }
    value.kind = ValueSpec::Kind::operation;
    value.op = &op;
    value.inputs.assign(static_cast<std::size_t>(op.arity), 0);
    spec.outputs.push_back({value.dtype, Access::unit, static_cast<std::uint16_t>(spec.values.size())});
    spec.values.push_back(value);
  }
  spec.vector = 2;
  spec.quick = true;
  return spec;
}

}  // namespace

TEST_CASE("every operation compiles for GPUs", "[cuda][nvrtc]") {
  KernelCache cache{"", 0};
  Compiler compiler(Config::from_environment(), "sm_75", 13000);
  for (const DTypeInfo& row : dtype_table()) {
    INFO(row.name);
    KernelSource source;
    source.text = emit(all_operations(row.dtype));
    // To PTX, which is quicker; but only an assembler reads the instructions that half precision takes.
    if (row.dtype != DType::float16) source.options = {"--gpu-architecture=compute_75"};
    try {
      compiler.get(source, cache);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unavailable) throw;
      WARN("skipped: " << error.what());
      return;
    }
  }
}
