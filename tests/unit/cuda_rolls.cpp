#include <string>

#include "src/base/config.h"
#include "src/codegen/emit.h"
#include "src/eval/pipeline.h"
#include "src/eval/schedule.h"
#include "src/expressions/expression.h"
#include "src/expressions/roll.h"
#include "src/runtime/context.h"
#include "tests/catch.h"
#include "tests/unit/cuda_own_kernels.h"

using namespace gpulua;

TEST_CASE("a stencil of rolled arrays compiles for GPUs without local memory", "[cuda][nvrtc]") {
  Context context{Config::from_environment(), make_evaluator};
  OwnKernels kernels{"sm_90"};
  for (const std::int64_t columns : {20, 500, 4096}) {
    const Array x = empty(*context.current(), {64, columns}, DType::uint8);
    Array sum = x;
    for (const std::int64_t down : {0, 1, 63})
      for (const std::int64_t right : {std::int64_t{0}, std::int64_t{1}, columns - 1}) {
        const Operand operands[] = {sum, roll(x, {down, right})};
        sum = elementwise(op("add"), operands);
      }
    const Root root{sum.get()};
    const std::vector<Step> steps = plan({&root, 1}, collect({&root, 1}));
    REQUIRE(steps.size() == 1);
    KernelSpec spec = choose_schedule(steps.front(), DeviceInfo{}).spec;
    CHECK(spec.as<ElementwiseSpec>()->seams == 2);
    CHECK(spec.as<ElementwiseSpec>()->spread == (columns == 4096));
    for (const bool wide : {false, true}) {
      spec.wide = wide;
      if (!with_nvrtc(
              [&] { CHECK(count_of(".local", kernels.compile(emit(spec), {"--gpu-architecture=compute_90"})) == 0); }))
        return;
    }
  }
}
