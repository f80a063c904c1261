#include "src/codegen/emit.h"

#include <algorithm>

#include "src/codegen/body.h"
#include "src/codegen/compress.h"
#include "src/codegen/elementwise.h"
#include "src/codegen/reduction.h"
#include "src/codegen/rows.h"
#include "src/codegen/tiled.h"
#include "src/ops/user_function.h"

namespace gpulua {

namespace {

/// The functions of scripts that the kernel calls, each once.
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

std::string emit(const KernelSpec& spec) {
  const std::string width = spec.wide ? "#define GPULUA_WIDE\n" : "";
  const std::string body = emit_body(spec);
  return includes(spec) + width + headers(body) + body;
}

std::string emit_body(const KernelSpec& spec) {
  return functions(spec) + std::visit([&](const auto& family) { return emit_family(spec, family); }, spec.family);
}

}  // namespace gpulua
