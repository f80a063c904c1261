#include "src/codegen/emit.h"

#include <algorithm>

#include "src/codegen/body.h"
#include "src/codegen/compress.h"
#include "src/codegen/elementwise.h"
#include "src/codegen/parameters.h"
#include "src/codegen/reduction.h"
#include "src/codegen/tiled.h"
#include "src/ops/user_function.h"

namespace gpulua {

namespace {

void append(std::string& key, std::size_t number) {
  // Few numbers have more than one digit.
  do key += static_cast<char>('0' + number % 10);
  while ((number /= 10) > 0);
  key += ',';
}

/// The script's functions in the kernel, each once.
std::vector<const UserFunction*> functions_of(const KernelSpec& spec) {
  std::vector<const UserFunction*> functions;
  for (const ValueSpec& value : spec.values) {
    const UserFunction* function = nullptr;
    if (value.kind == ValueSpec::Kind::call) function = value.op->function;
    if (value.kind == ValueSpec::Kind::reduction) function = value.reducer->function;
    const auto same = [&](const UserFunction* other) { return other->id == function->id; };
    if (function && std::none_of(functions.begin(), functions.end(), same)) functions.push_back(function);
  }
  return functions;
}

std::string includes(const KernelSpec& spec) {
  std::string text;
  for (const UserFunction* function : functions_of(spec)) text += function->includes;
  return text;
}

std::string functions(const KernelSpec& spec) {
  std::string text;
  for (const UserFunction* function : functions_of(spec)) text += function->text;
  return text;
}

}  // namespace

std::string KernelSpec::key() const {
  std::string key = reduces ? "r" : compresses ? "c" : "e";
  key.reserve(16 * (operands.size() + values.size() + outputs.size()));
  append(key, ndim * 8 + wide * 4 + rows * 2 + quick);
  append(key, vector);
  append(key, tile == 0 ? 0 : tile + lines);
  if (reduces) {
    append(key, reduction.results);
    append(key, reduction.lanes);
    append(key, reduction.ndim * 16 + reduction.in_runs * 8 + reduction.vector_results * 4 +
                    reduction.lanes_adjacent * 2 + reduction.several_blocks);
  }
  if (compresses) {
    append(key, compress.threads);
    append(key, compress.items);
  }
  for (const OperandSpec& operand : operands) {
    key += 'o';
    append(key, static_cast<std::size_t>(operand.dtype));
    append(key, static_cast<std::size_t>(operand.access) * 8 + operand.along_results * 4 + operand.memory * 2 +
                    operand.outer);
    if (operand.indexed > 0) append(key.append("@"), operand.indexed);
  }
  for (const ValueSpec& value : values) {
    switch (value.kind) {
      case ValueSpec::Kind::operand:
        key += '=';
        append(key, value.operand);
        continue;
      case ValueSpec::Kind::gather:
        append(key.append("g"), value.operand);
        break;
      case ValueSpec::Kind::call:
        key.append(value.op->function->id).append("{");
        break;
      case ValueSpec::Kind::operation:
        key.append(value.op->function ? value.op->expression : value.op->name).append("(");
        break;
      case ValueSpec::Kind::reduction:
        key.append(value.reducer->function ? value.reducer->function->id : value.reducer->name).append("[");
        break;
    }
    append(key, static_cast<std::size_t>(value.dtype) * 4 + value.rounded * 2 + value.outer);
    append(key, static_cast<std::size_t>(value.compute));
    for (std::size_t input : value.inputs) append(key, input);
  }
  for (const OutputSpec& output : outputs) {
    key += '>';
    append(key, static_cast<std::size_t>(output.dtype) * 8 + static_cast<std::size_t>(output.access));
    append(key, output.value);
    if (output.mask) append(key.append("?"), *output.mask);
    if (!output.indices.empty()) key += output.adds ? "+" : "@";
    for (std::size_t index : output.indices) append(key, index);
  }
  return key;
}

std::string operand_parameters(const KernelSpec& spec) {
  std::string text;
  const auto add = [&](const std::string& pointer, const std::string& name, Access access, std::size_t ndim) {
    text += ", " + pointer + " " + name;
    if (has_strides(access, ndim)) text += ", gpulua_strides<" + std::to_string(ndim) + "> " + name + "_strides";
  };
  const auto add_indexed = [&](const std::string& name, std::size_t axes) {
    if (axes > 0) text += ", gpulua_indexed<" + std::to_string(axes) + "> " + name + "_at";
  };
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    const OperandSpec& operand = spec.operands[i];
    const std::size_t reduced = spec.reduces && !operand.outer ? spec.reduction.ndim : 0;
    if (operand.access == Access::raw) {
      add("const gpulua_raw<" + element_type(operand.dtype) + ">", operand_name(i), operand.access, spec.ndim);
    } else if (operand.access == Access::value) {
      add(element_type(operand.dtype), operand_name(i), operand.access, spec.ndim);
    } else if (operand.memory) {
      add("const " + element_type(operand.dtype) + "*", operand_name(i), operand.access, spec.ndim + reduced);
    } else if (has_strides(operand.access, spec.ndim + reduced)) {
      text += ", gpulua_strides<" + std::to_string(spec.ndim + reduced) + "> " + operand_name(i) + "_strides";
    }
    add_indexed(operand_name(i), operand.indexed);
  }
  // A reduction's results are row-major, and what a compression keeps lies in a row.
  for (std::size_t i = 0; i < spec.outputs.size(); ++i) {
    add(element_type(spec.outputs[i].dtype) + "*", output_name(i),
        spec.reduces || spec.compresses ? Access::fixed : spec.outputs[i].access, spec.ndim);
    add_indexed(output_name(i), spec.outputs[i].indices.size());
  }
  return text;
}

std::string emit(const KernelSpec& spec) {
  const std::string width = spec.wide ? "#define GPULUA_WIDE\n" : "";
  const std::string body = emit_body(spec);
  return includes(spec) + width + headers(body) + body;
}

std::string emit_body(const KernelSpec& spec) {
  const std::string text = functions(spec);
  if (spec.reduces) return text + emit_reduction(spec);
  if (spec.compresses) return text + emit_compress(spec);
  return text + (spec.tile != 0 ? emit_tiled(spec) : emit_elementwise(spec));
}

}  // namespace gpulua
