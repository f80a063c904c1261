#include "src/codegen/parameters.h"

#include "src/codegen/body.h"

namespace gpulua {

namespace {

using Role = KernelParameter::Role;

using Parameters = std::vector<KernelParameter>;

// The parameters ahead of the operands: the kernel's iteration and the memory that its blocks share.

KernelParameter outer_extents(const KernelSpec& spec) {
  return {Role::outer_extents, spec.ndim - 1};
}

Parameters iteration_parameters(const KernelSpec& spec, const ElementwiseSpec& family) {
  Parameters parameters =
      family.rows ? Parameters{{Role::inner}, {Role::row_blocks}} : Parameters{{Role::size}, {Role::inner_extent, 1}};
  if (spec.ndim > 1) parameters.push_back(outer_extents(spec));
  for (std::size_t i = 0; i < family.rolls; ++i) parameters.push_back({Role::rolls, spec.ndim - 1, i});
  if (family.seams > 0) parameters.push_back({Role::seams, family.seams});
  return parameters;
}

Parameters iteration_parameters(const KernelSpec& spec, const TiledSpec&) {
  return {{Role::inner}, {Role::row_blocks}, {Role::along}, outer_extents(spec)};
}

Parameters iteration_parameters(const KernelSpec& spec, const ReductionSpec& family) {
  Parameters parameters{{Role::results}, {Role::count}};
  if (family.split) parameters.insert(parameters.end(), {{Role::chunk}, {Role::chunks}});
  parameters.push_back({Role::kept_extents, spec.ndim});
  parameters.push_back({Role::reduced_extents, family.ndim});
  if (family.split) parameters.insert(parameters.end(), {{Role::scratch}, {Role::tickets}});
  return parameters;
}

Parameters iteration_parameters(const KernelSpec& spec, const RowSpec& family) {
  return {{Role::results}, {Role::count}, {Role::kept_extents, spec.ndim}, {Role::reduced_extents, family.ndim}};
}

Parameters iteration_parameters(const KernelSpec& spec, const CompressSpec&) {
  Parameters parameters{{Role::size}};
  if (spec.ndim > 1) parameters.insert(parameters.end(), {{Role::inner_extent, 1}, outer_extents(spec)});
  parameters.push_back({Role::compress_state});
  return parameters;
}

std::string declaration(const KernelSpec& spec, const KernelParameter& parameter) {
  const std::string axes = "<" + std::to_string(parameter.axes) + "> ";
  const auto extents = [&](const char* name) { return "gpulua_extents" + axes + name; };
  switch (parameter.role) {
    case Role::inner:
      return "gpulua_index_t inner";
    case Role::row_blocks:
      return "gpulua_index_t row_blocks";
    case Role::along:
      return "gpulua_index_t along";
    case Role::size:
      return "gpulua_index_t size";
    case Role::results:
      return "gpulua_index_t results";
    case Role::count:
      return "gpulua_index_t count";
    case Role::chunk:
      return "gpulua_index_t chunk";
    case Role::chunks:
      return "gpulua_index_t chunks";
    case Role::rolls:
      return "gpulua_shifts" + axes + "roll" + std::to_string(parameter.index);
    case Role::seams:
      return "gpulua_shifts" + axes + "seams";
    case Role::inner_extent:
      return "gpulua_extent inner_extent";
    case Role::outer_extents:
      return extents("outer");
    case Role::kept_extents:
      return extents("kept");
    case Role::reduced_extents:
      return extents("reduced");
    case Role::scratch:
      return "gpulua_accumulators* scratch";
    case Role::tickets:
      return "unsigned int* tickets";
    case Role::compress_state:
      return "gpulua_compress_state state";
    case Role::operand: {
      const OperandSpec& operand = spec.operands[parameter.index];
      const std::string type = element_type(operand.dtype);
      return (operand.access == Access::raw       ? "const gpulua_raw<" + type + ">"
              : is_divisor(spec, parameter.index) ? "const gpulua_divisor<" + type + ">"
              : operand.access == Access::value   ? type
                                                  : "const " + type + "*") +
             " " + operand_name(parameter.index);
    }
    case Role::operand_strides:
      return "gpulua_strides" + axes + operand_name(parameter.index) + "_strides";
    case Role::operand_indexed:
      return "gpulua_indexed" + axes + operand_name(parameter.index) + "_at";
    case Role::output:
      return element_type(spec.outputs[parameter.index].dtype) + "* " + output_name(parameter.index);
    case Role::output_strides:
      return "gpulua_strides" + axes + output_name(parameter.index) + "_strides";
    case Role::output_indexed:
      return "gpulua_indexed" + axes + output_name(parameter.index) + "_at";
  }
  return {};
}

}  // namespace

std::vector<KernelParameter> parameters_of(const KernelSpec& spec) {
  Parameters parameters =
      std::visit([&](const auto& family) { return iteration_parameters(spec, family); }, spec.family);
  const auto* reduction = spec.as<ReductionSpec>();
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    const OperandSpec& operand = spec.operands[i];
    const std::size_t axes = spec.ndim + (operand.outer ? 0 : spec.reduced_ndim()) +
                             (operand.nested && reduction ? reduction->nested.size() : 0);
    if (operand.memory || is_whole(operand)) parameters.push_back({Role::operand, 0, i});
    if (has_strides(operand.access, axes)) parameters.push_back({Role::operand_strides, axes, i});
    if (operand.indexed > 0) parameters.push_back({Role::operand_indexed, operand.indexed, i});
  }
  for (std::size_t i = 0; i < spec.outputs.size(); ++i) {
    const OutputSpec& output = spec.outputs[i];
    parameters.push_back({Role::output, 0, i});
    // The results of a reduction are row-major, and a compression writes a vector.
    const bool has_layout = spec.as<ElementwiseSpec>() || spec.as<TiledSpec>();
    if (has_layout && has_strides(output.access, spec.ndim)) parameters.push_back({Role::output_strides, spec.ndim, i});
    if (!output.indices.empty()) parameters.push_back({Role::output_indexed, output.indices.size(), i});
  }
  return parameters;
}

std::string parameter_list(const KernelSpec& spec) {
  std::string text;
  for (const KernelParameter& parameter : parameters_of(spec))
    text += (text.empty() ? "(" : ", ") + declaration(spec, parameter);
  return text + ")";
}

}  // namespace gpulua
