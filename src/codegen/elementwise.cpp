#include "src/codegen/elementwise.h"

#include "kernel_text.h"

namespace gpulua {

namespace {

std::string device_type(DType dtype) {
  return std::string(info(dtype).device);
}

}  // namespace

std::string emit(const ElementwiseSpec& spec) {
  const std::string dims = "gpulua_dims<" + std::to_string(spec.ndim) + ">";
  std::string parameters =
      "long long size, " + dims + " shape, " + device_type(spec.out) + "* out, " + dims + " out_strides";
  std::string loads;
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
    const std::string id = std::to_string(i);
    const std::string type = device_type(spec.inputs[i]);
    parameters += ", const " + type + "* input" + id + ", " + dims + " strides" + id;
    loads += "    const " + type + " in" + id + " = input" + id + "[gpulua_offset(position, strides" + id + ")];\n";
  }
  for (std::size_t i = 0; i < spec.scalars.size(); ++i)
    parameters += ", " + device_type(spec.scalars[i]) + " s" + std::to_string(i);

  const std::string index = spec.wide ? "unsigned long long" : "unsigned int";
  std::string text(kernel_text("elements.cuh"));
  text += "\nextern \"C\" __global__ void " + std::string(elementwise_kernel_name) + "(" + parameters + ") {\n";
  text += "  const long long step = (long long)gridDim.x * blockDim.x;\n";
  text += "  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < size; i += step) {\n";
  text += "    " + index + " position[" + std::to_string(spec.ndim) + "];\n";
  text += "    gpulua_unravel<" + index + ">((" + index + ")i, shape, position);\n";
  text += loads;
  text += "    out[gpulua_offset(position, out_strides)] = gpulua_convert<" + device_type(spec.out) + ">::from(" +
          spec.expression + ");\n";
  text += "  }\n}\n";
  return text;
}

}  // namespace gpulua
