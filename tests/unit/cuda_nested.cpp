#include <string>

#include "src/base/config.h"
#include "src/codegen/emit.h"
#include "src/eval/pipeline.h"
#include "src/eval/plan.h"
#include "src/eval/schedule.h"
#include "src/expressions/expression.h"
#include "src/runtime/context.h"
#include "tests/catch.h"
#include "tests/unit/cuda_own_kernels.h"

using namespace gpulua;

namespace {

struct GpuKernels {
  Context context{Config::from_environment(), make_evaluator};
  OpenDevice& device = *context.current();
  OwnKernels kernels{"sm_90"};

  Array leaf(Dims shape, DType dtype) { return empty(device, std::move(shape), dtype); }

  static Array apply(std::string_view name, std::initializer_list<Operand> operands) {
    return elementwise(op(name), {operands.begin(), operands.size()});
  }
  static Array reduced(const char* name, const Array& x, std::uint64_t axes) {
    return reduce(reducer(name), x, axes, false, reduction_dtypes(reducer(name), x->dtype));
  }

  /// The schedule of the only kernel for the array, on a GPU of 132 multiprocessors.
  static Schedule schedule_of(const Array& array) {
    const Root root{array.get()};
    const std::vector<Step> steps = plan({&root, 1}, collect({&root, 1}));
    REQUIRE(steps.size() == 1);
    DeviceInfo gpu;
    gpu.multiprocessors = 132;
    return choose_schedule(steps.front(), gpu);
  }

  std::string ptx(const KernelSpec& spec) { return kernels.compile(emit(spec), {"--gpu-architecture=compute_90"}); }
};

}  // namespace

TEST_CASE_METHOD(GpuKernels, "distances and their argmin are one kernel that loads points once", "[cuda][nvrtc]") {
  for (const DType dtype : {DType::float16, DType::float32, DType::float64}) {
    const Array x = leaf({200000, 1, 16}, dtype), c = leaf({64, 16}, dtype);
    const Array difference = apply("subtract", {x, c});
    const Array square = apply("multiply", {difference, difference});
    const Array nearest = reduced("argmin", reduced("sum", square, 4), 2);
    const Schedule schedule = schedule_of(nearest);
    const KernelSpec& spec = schedule.spec;
    CHECK(spec.as<ReductionSpec>()->lanes == 1);
    CHECK(spec.as<ReductionSpec>()->nested_vector == 16 / size_of(dtype));
    CHECK(spec.operands[0].held);
    CHECK(spec.operands[1].common);
    std::string text;
    if (!with_nvrtc([&] { text = ptx(spec); })) return;
    CHECK(text.find(".local") == text.npos);
    // The point's vectors ahead of the loop over centres, and the centre's in it.
    CHECK(count_of("ld.global", text) == 2 * 16 * size_of(dtype) / 16);
    CHECK(count_of("bar.sync", text) == 0);
  }
}

TEST_CASE_METHOD(GpuKernels, "rows of a short reduction are read in vectors, or through shared memory",
                 "[cuda][nvrtc]") {
  for (const DType dtype : {DType::uint8, DType::float16, DType::float32, DType::float64, DType::complex128})
    for (const unsigned length : {2u, 7u, 8u, 16u, 63u})
      for (const char* name : {"sum", "argmax", "var"}) {
        if (name != std::string("sum") && (dtype == DType::complex128 || dtype == DType::uint8)) continue;
        const Schedule schedule = schedule_of(reduced(name, leaf({300000, length}, dtype), 2));
        const KernelSpec& spec = schedule.spec;
        INFO(length << " elements of dtype " << static_cast<int>(dtype));
        CHECK(spec.as<ReductionSpec>()->lanes == 1);
        CHECK(spec.as<ReductionSpec>()->count == length);
        // A row has one or two vectors of 16 bytes.
        const auto width = std::min<std::size_t>(length % 16 == 0  ? 16
                                                 : length % 8 == 0 ? 8
                                                 : length % 2 == 0 ? 2
                                                                   : 1,
                                                 16 / size_of(dtype));
        CHECK(spec.operands[0].staged == (length > 2 * width));
        CHECK(spec.vector == (spec.operands[0].staged ? 1 : std::min<std::size_t>(width, 8)));
        std::string text;
        if (!with_nvrtc([&] { text = ptx(spec); })) return;
        CHECK(text.find(".local") == text.npos);
        CHECK(count_of("bar.sync", text) == spec.operands[0].staged);
        if (!spec.operands[0].staged) CHECK(count_of("ld.global", text) == length / spec.vector);
      }
  // Operands that broadcast stay where they are.
  const Array x = leaf({3000, 1, 16}, DType::float32), c = leaf({64, 16}, DType::float32);
  const Schedule schedule = schedule_of(reduced("sum", apply("multiply", {x, c}), 4));
  CHECK(schedule.spec.vector == 4);
  CHECK_FALSE((schedule.spec.operands[0].staged || schedule.spec.operands[1].staged));
}

TEST_CASE_METHOD(GpuKernels, "columns that wait for memory leave room for 2048 threads", "[cuda][nvrtc]") {
  const auto bounds_of = [&](const Array& array) {
    const std::string text = emit(schedule_of(array).spec);
    return text.find("__launch_bounds__(256, 8) gpulua_") != std::string::npos;
  };
  const Array x = leaf({4096, 4096}, DType::float32);
  CHECK(bounds_of(reduced("var", x, 1)));
  CHECK(bounds_of(reduced("sum", x, 1)));
  // What needs more registers has them.
  CHECK_FALSE(bounds_of(reduced("var", leaf({4096, 4096}, DType::float64), 1)));
  CHECK_FALSE(bounds_of(reduced("var", leaf({4096, 4096}, DType::float16), 1)));
  CHECK_FALSE(bounds_of(reduced("sum", apply("exp", {x}), 1)));
}

TEST_CASE_METHOD(GpuKernels, "expressions of several divisions of 64 bits compile", "[cuda][nvrtc]") {
  // Inlined divisions by numbers without a multiplier kept NVRTC busy without an end.
  Array sum = leaf({1000}, DType::int64);
  for (const double number : {7.0, 5.0, 3.0, 11.0}) {
    const Array quotient = apply("floor_divide", {sum, Scalar(number)});
    sum = apply("add", {apply("remainder", {quotient, Scalar(number + 1)}), quotient});
  }
  const KernelSpec spec = schedule_of(sum).spec;
  with_nvrtc([&] { CHECK(count_of("ld.global", ptx(spec)) > 0); });
}

TEST_CASE_METHOD(GpuKernels, "nested reductions of every schedule compile", "[cuda][nvrtc]") {
  const auto compiles = [&](const Array& array, unsigned lanes, const char* what) {
    INFO(what);
    KernelSpec spec = schedule_of(array).spec;
    CHECK(spec.as<ReductionSpec>()->lanes == lanes);
    for (const bool wide : {false, true}) {
      spec.wide = wide;
      std::string text;
      if (with_nvrtc([&] { text = ptx(spec); })) CHECK(text.find(".local") == text.npos);
    }
  };
  const auto products = [&](Dims x, Dims c) {
    return apply("multiply", {leaf(std::move(x), DType::float32), leaf(std::move(c), DType::float32)});
  };
  compiles(reduced("argmin", reduced("sum", products({200000, 1, 64}, {64, 64}), 4), 2), 1, "64 numbers held");
  compiles(reduced("argmin", reduced("sum", products({200000, 1, 3}, {64, 3}), 4), 2), 1, "no vectors");
  compiles(reduced("max", reduced("sum", products({100, 1, 4}, {5000, 4}), 4), 2), 256, "threads of a block share");
  compiles(reduced("sum", reduced("max", products({40, 1, 4}, {50, 4}), 4), 3), 256, "one result");
  compiles(reduced("sum", reduced("max", products({9000, 1, 4, 1}, {50, 4, 5}), 12), 2), 16, "two axes inside");
  compiles(reduced("var", reduced("sum", leaf({900, 40, 16}, DType::float32), 4), 2), 32,
           "an element at each position");
  // A short row whose operands need more shared memory than a block has.
  Array all = leaf({300000, 63}, DType::complex128);
  for (int i = 0; i < 4; ++i) all = apply("add", {all, leaf({300000, 63}, DType::complex128)});
  compiles(reduced("sum", all, 2), 1, "long rows of many operands");
}

TEST_CASE_METHOD(GpuKernels, "kernels have few copies of code that takes a compiler long", "[cuda]") {
  const auto chain = [&](const char* name, int count) {
    Array x = leaf({100000}, DType::float32), y = x;
    for (int i = 0; i < count; ++i) y = apply("add", {op(name).arity == 1 ? apply(name, {y}) : apply(name, {y, x}), x});
    return y;
  };
  const auto vector = [&](const Array& array) { return schedule_of(array).spec.vector; };
  const auto unrolled = [&](const Array& array) {
    const std::string text = emit(schedule_of(reduced("sum", array, 1)).spec);
    for (const char* times : {"4", "2", "1"})
      if (count_of(std::string("#pragma unroll ") + times + "\n  for (gpulua_index_t r", text) > 0)
        return times[0] - '0';
    return 0;
  };
  CHECK(vector(chain("multiply", 20)) == 4);
  CHECK(unrolled(chain("multiply", 20)) == 4);
  CHECK(vector(chain("exp", 4)) == 4);
  CHECK(unrolled(chain("exp", 4)) == 4);
  CHECK(unrolled(chain("divide", 10)) == 2);
  CHECK(vector(chain("sin", 4)) == 4);
  CHECK(unrolled(chain("sin", 4)) == 1);
  CHECK(vector(chain("sin", 10)) == 2);
  CHECK(vector(reduced("sum", chain("sin", 10), 1)) == 2);
}

TEST_CASE_METHOD(GpuKernels, "few results are spread over as many blocks as fill a GPU", "[cuda]") {
  const auto blocks = [&](Dims shape, std::uint64_t axes) {
    const Schedule schedule = schedule_of(reduced("sum", leaf(std::move(shape), DType::float32), axes));
    CHECK(schedule.chunk * schedule.chunks >= schedule.count);
    return schedule.chunks;
  };
  CHECK(blocks({4096}, 1) == 1);
  CHECK(blocks({65536}, 1) == 16);  // of 256 threads with 16 elements
  CHECK(blocks({1 << 20}, 1) == 256);
  CHECK(blocks({1 << 22}, 1) == 264);  // two for each of 132 multiprocessors
  CHECK(blocks({1 << 28}, 1) == 4096);
  CHECK(blocks({8, 65536}, 2) == 16);
  CHECK(blocks({100000, 64}, 2) == 1);
  CHECK(blocks({0, 64}, 2) == 1);
}
