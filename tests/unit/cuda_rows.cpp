#include <algorithm>
#include <string>
#include <vector>

#include "src/codegen/emit.h"
#include "src/ops/op_table.h"
#include "src/ops/reduction_table.h"
#include "tests/catch.h"
#include "tests/unit/cuda_own_kernels.h"

using namespace gpulua;

namespace {

ValueSpec value(ValueSpec::Kind kind, DType dtype, bool outer, std::initializer_list<std::uint16_t> inputs) {
  ValueSpec made;
  made.kind = kind;
  made.dtype = made.compute = dtype;
  made.outer = outer;
  made.inputs.assign(inputs.begin(), inputs.end());
  return made;
}

ValueSpec operation(const char* name, DType dtype, std::initializer_list<std::uint16_t> inputs) {
  ValueSpec made = value(ValueSpec::Kind::operation, dtype, false, inputs);
  made.op = &op(name);
  return made;
}

ValueSpec reduction(const char* name, DType dtype, std::uint16_t input) {
  ValueSpec made = value(ValueSpec::Kind::reduction, dtype, true, {input});
  made.reducer = &reducer(name);
  return made;
}

/// A kernel over rows of `dtype`, each kept by `lanes` threads.
KernelSpec rows(DType dtype, std::vector<ValueSpec> values, unsigned lanes, unsigned items) {
  KernelSpec spec;
  spec.operands = {{dtype, Access::unit}};
  spec.values = std::move(values);
  spec.outputs = {{dtype, Access::unit, static_cast<std::uint16_t>(spec.values.size() - 1)}};
  spec.vector = static_cast<unsigned>(16 / size_of(dtype));
  spec.family = RowSpec{.results = std::max(1u, 128 / lanes), .lanes = lanes, .items = items};
  return spec;
}

/// PTX; empty where NVRTC is not installed.
std::string compiled(const KernelSpec& spec) {
  OwnKernels kernels("sm_90");
  std::string text;
  with_nvrtc([&] { text = kernels.compile(emit(spec), {"--gpu-architecture=compute_90"}); });
  return text;
}

}  // namespace

TEST_CASE("row kernels keep their rows in the registers of GPUs", "[cuda][nvrtc]") {
  for (const DType dtype : {DType::float16, DType::float32, DType::float64}) {
    const ValueSpec x = value(ValueSpec::Kind::operand, dtype, false, {});
    const std::vector<ValueSpec> softmax{x,
                                         reduction("max", dtype, 0),
                                         operation("subtract", dtype, {0, 1}),
                                         operation("exp", dtype, {2}),
                                         reduction("sum", dtype, 3),
                                         operation("divide", dtype, {3, 4})};
    const std::vector<ValueSpec> standardised{x, reduction("var", dtype, 0), operation("multiply", dtype, {0, 1})};
    for (const auto& values : {softmax, standardised})
      for (const unsigned lanes : {4u, 32u, 64u, 512u}) {
        const unsigned items = dtype == DType::float16 ? 4 : 8;
        const std::string text = compiled(rows(dtype, values, lanes, items));
        if (text.empty()) return;
        INFO("lanes " << lanes << ", dtype " << static_cast<int>(dtype));
        CHECK(text.find(".local") == text.npos);
        // Each vector is loaded once and stored once.
        CHECK(count_of("ld.global", text) == items);
        CHECK(count_of("bar.sync", text) == (lanes > 32 ? 2 : 0));
      }
  }
}

TEST_CASE("row kernels of GPUs draw four numbers at a time, and keep what they gather", "[cuda][nvrtc]") {
  const DType dtype = DType::float32;
  const auto operand = [](DType of, std::uint16_t index, bool outer) {
    ValueSpec made = value(ValueSpec::Kind::operand, of, outer, {});
    made.operand = index;
    return made;
  };
  // x = source[index], a row each: (x - sum(x)) * uniform
  ValueSpec x = value(ValueSpec::Kind::gather, dtype, false, {0});
  x.operand = 1;
  ValueSpec drawn = operation("random_uniform", dtype, {4, 5, 6});
  KernelSpec spec =
      rows(dtype,
           {operand(DType::int64, 0, true), x, reduction("sum", dtype, 1), operation("subtract", dtype, {1, 2}),
            operand(DType::uint64, 2, false), operand(DType::uint64, 3, false), operand(DType::int64, 4, false), drawn,
            operation("multiply", dtype, {3, 7})},
           32, 8);
  OperandSpec index{DType::int64, Access::unit}, source{dtype, Access::unit}, position{DType::int64, Access::unit};
  index.outer = true;
  source.indexed = 1;
  position.memory = false;
  const OperandSpec number{DType::uint64, Access::value};
  spec.operands = {index, source, number, number, position};
  const std::string text = compiled(spec);
  if (text.empty()) return;
  CHECK(text.find(".local") == text.npos);
  CHECK(count_of("mul.wide.u32", text) == 20 * 8);  // ten rounds of two products for each vector
  CHECK(count_of("ld.global.nc.f32", text) + count_of("ld.global.f32", text) == 32);
}
