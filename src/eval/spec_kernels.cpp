#include "src/eval/spec_kernels.h"

#include <algorithm>
#include <bit>

#include "src/codegen/emit.h"

namespace gpulua {

namespace {

/// True for a spec with a row of a script's: when that is gone, another row may have its address.
bool is_of_script(const KernelSpec& spec) {
  return std::any_of(spec.values.begin(), spec.values.end(), [](const ValueSpec& value) {
    return (value.op && value.op->function) || (value.reducer && value.reducer->function);
  });
}

std::shared_ptr<Kernel> kernel_of(std::string text, OpenDevice& device) {
  if (std::shared_ptr<Kernel> known = device.find_kernel(text)) return known;
  return device.compile_kernel(text, text);
}

}  // namespace

/// Of some of the fields: specs are equal when all of them are.
std::size_t SpecKernels::Hash::operator()(const KernelSpec& spec) const {
  std::uint64_t hash = spec.ndim << 16 | spec.vector << 4 | spec.family.index() << 1 | spec.wide;
  const auto add = [&](std::uint64_t word) { hash = (std::rotl(hash, 23) ^ word) * 0x9e3779b97f4a7c15; };
  for (const OperandSpec& operand : spec.operands)
    add(static_cast<std::uint64_t>(operand.dtype) << 8 | static_cast<std::uint64_t>(operand.access));
  for (const ValueSpec& value : spec.values) {
    add(value.op ? std::bit_cast<std::uintptr_t>(value.op) : std::bit_cast<std::uintptr_t>(value.reducer));
    for (const std::uint16_t input : value.inputs) add(input);
  }
  for (const OutputSpec& output : spec.outputs) add(static_cast<std::uint64_t>(output.dtype) << 16 | output.value);
  return hash;
}

std::shared_ptr<Kernel> SpecKernels::get(const KernelSpec& spec, OpenDevice& device) {
  if (is_of_script(spec)) return kernel_of(emit(spec), device);
  if (const auto known = kernels_.find(spec); known != kernels_.end()) return known->second;
  return kernels_[spec] = kernel_of(emit(spec), device);
}

}  // namespace gpulua
