#include "src/eval/schedule.h"

#include "src/eval/elementwise_schedule.h"
#include "src/eval/reduction_schedule.h"

namespace gpulua {

Schedule choose_schedule(const Step& step, const DeviceInfo& device) {
  Schedule schedule;
  KernelSpec& spec = schedule.spec;
  for (const StepOperand& operand : step.operands) {
    OperandSpec one;
    one.dtype = operand.dtype;
    one.memory = operand.node != nullptr;
    one.outer = operand.outer;
    one.nested = operand.nested;
    if (operand.gather) one.indexed = static_cast<std::uint16_t>(operand.indexed()->axes.size());
    spec.operands.push_back(one);
  }
  spec.values = step.values;
  for (const StepOutput& output : step.outputs)
    spec.outputs.push_back({output.target ? output.target->dtype : output.node->dtype, Access::unit, output.value,
                            output.indices, output.scatter && output.scatter->combine == Combine::add, output.mask});
  if (step.reduces())
    choose_reduction(step, device, schedule);
  else if (step.kind == Step::Kind::compression)
    choose_compression(step, device, schedule);
  else
    choose_elementwise(step, device, schedule);
  return schedule;
}

}  // namespace gpulua
