#include <vector>

#include "src/base/config.h"
#include "src/codegen/emit.h"
#include "src/eval/executable_step.h"
#include "src/eval/pipeline.h"
#include "src/expressions/expression.h"
#include "src/expressions/roll.h"
#include "src/expressions/transfer.h"
#include "src/runtime/context.h"
#include "tests/catch.h"

using namespace gpulua;

namespace {

/// The kernels that GPUs get for rolled arrays, on the device that is there.
struct RolledKernels {
  Context context{Config::from_environment(), make_evaluator};
  OpenDevice& device = *context.current();

  template <class T>
  Array filled(Dims shape, DType dtype) {
    const Array array = empty(device, std::move(shape), dtype);
    std::vector<T> elements(static_cast<std::size_t>(array->layout.size()));
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<T>(i * 7 % 11);
    upload(*array, elements.data());
    return array;
  }

  /// The sum of 1, 2, 3, ... times the array rolled by the shifts.
  static Array sum_of_rolls(const Array& array, const std::vector<Dims>& shifts) {
    Array sum;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      const Operand product[] = {roll(array, shifts[i]), Scalar(static_cast<double>(i + 1))};
      const Array term = elementwise(op("multiply"), product);
      const Operand operands[] = {sum ? sum : term, term};
      sum = sum ? elementwise(op("add"), operands) : term;
    }
    return sum;
  }

  /// The elements by the kernel of a GPU.
  template <class T>
  std::vector<T> computed(const Array& array, bool wide, KernelSpec& spec) {
    const Root root{array.get()};
    const NodeNumbers nodes = collect({&root, 1});
    const std::vector<Step> steps = plan({&root, 1}, nodes);
    REQUIRE(steps.size() == 1);
    Schedule schedule = choose_schedule(steps.front(), DeviceInfo{});
    schedule.spec.wide = wide;
    spec = schedule.spec;
    const auto kernel = device.compile_kernel(emit(spec), emit(spec));
    ExecutableStep step(steps.front(), {&root, 1}, nodes, kernel, lay_out(steps.front(), schedule, nodes));
    const ExecutableStep::Memory memory = step.allocate(device);
    step.run(StepNodes(nodes), {&root, 1}, memory, device);
    array->resolve(memory.made.front());
    std::vector<T> elements(static_cast<std::size_t>(array->layout.size()));
    download(*array, elements.data());
    return elements;
  }

  template <class T>
  void check(std::int64_t rows, std::int64_t columns, DType dtype, const std::vector<Dims>& shifts, unsigned vector,
             bool spread) {
    for (const bool wide : {false, true}) {
      const Array array = filled<T>({rows, columns}, dtype);
      KernelSpec spec;
      const std::vector<T> elements = computed<T>(sum_of_rolls(array, shifts), wide, spec);
      CHECK(spec.vector == vector);
      CHECK(spec.as<ElementwiseSpec>()->spread == spread);
      CHECK_FALSE(spec.as<ElementwiseSpec>()->walks);
      std::size_t wrong = 0;
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns; ++column) {
          T sum{};
          for (std::size_t i = 0; i < shifts.size(); ++i) {
            const std::int64_t from =
                (row + rows - shifts[i][0]) % rows * columns + (column + columns - shifts[i][1]) % columns;
            sum = static_cast<T>(sum + static_cast<T>(i + 1) * static_cast<T>(from * 7 % 11));
          }
          wrong += sum != elements[static_cast<std::size_t>(row * columns + column)];
        }
      INFO(rows << " x " << columns << (wide ? ", wide" : ""));
      CHECK(wrong == 0);
    }
  }
};

}  // namespace

TEST_CASE_METHOD(RolledKernels, "kernels of GPUs read rolled operands: in vectors, spread, and one by one", "[cpu]") {
  const std::vector<Dims> neighbours{{0, 1}, {1, 1}, {2, 4098}, {2, 0}};
  check<unsigned char>(3, 4099, DType::uint8, neighbours, 8, true);
  check<float>(3, 4099, DType::float32, neighbours, 4, true);
  check<float>(3, 2100, DType::float32, {{0, 1050}, {1, 700}, {2, 1400}, {0, 1025}}, 4, true);
  check<float>(5, 4096, DType::float32, {{1, 4}, {4, 4092}, {0, 2048}}, 4, false);
  check<float>(5, 4096, DType::float32, {{1, 0}, {4, 0}}, 4, false);
  check<float>(9, 100, DType::float32, {{1, 1}, {8, 99}, {0, 50}}, 1, false);
  check<float>(50, 7, DType::float32, {{1, 1}, {49, 6}}, 1, false);
}
