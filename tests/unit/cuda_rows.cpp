#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "src/codegen/emit.h"
#include "src/device/cuda/cuda_compiler.h"
#include "src/ops/op_table.h"
#include "src/ops/reduction_table.h"
#include "tests/unit/cuda_nvrtc.h"

using namespace gpulua;
using namespace gpulua::cuda;

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
  spec.reduces = spec.reduction.rows = true;
  spec.reduction.lanes = lanes;
  spec.reduction.results = std::max(1u, 128 / lanes);
  spec.reduction.items = items;
  return spec;
}

}  // namespace

TEST_CASE("row kernels keep their rows in the registers of GPUs", "[cuda][nvrtc]") {
  KernelCache cache{"", 0};
  Compiler compiler(Config::from_environment(), "sm_90", 13000);
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
        KernelSource source;
        source.text = emit(rows(dtype, values, lanes, items));
        source.options = {"--gpu-architecture=compute_90"};
        std::string text;
        if (!with_nvrtc([&] {
              const auto image = compiler.get(source, cache)->image;
              text.assign(image.begin(), image.end());
            }))
          return;
        INFO("lanes " << lanes << ", dtype " << static_cast<int>(dtype));
        CHECK(text.find(".local") == text.npos);
        const auto count_of = [&](const std::string& what) {
          std::size_t count = 0;
          for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
          return count;
        };
        // Each vector is loaded once and stored once.
        CHECK(count_of("ld.global") == items);
        CHECK(count_of("bar.sync") == (lanes > 32 ? 2 : 0));
      }
  }
}
