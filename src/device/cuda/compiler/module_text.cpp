#include "src/device/cuda/compiler/module_text.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "src/base/error.h"
#include "src/device/cuda/compiler/symbol_name.h"

namespace gpulua::cuda {
namespace {

/// Strings of printf, tables of virtual functions, tags of the toolkit's own headers: nobody asks for those by name.
bool is_internal(const std::string& symbol, const std::string& name) {
  return symbol.starts_with('$') || symbol.starts_with("__") || symbol.starts_with("_ZT") ||
         name.starts_with("cuda::") || name.starts_with("cooperative_groups::") || name.starts_with("thrust::") ||
         name.starts_with("cub::") || name.starts_with("std::");
}

/// "float, int" out of "void (float, int)".
std::optional<std::string> parameters_of(const std::string& function_type) {
  const std::size_t open = function_type.find('(');
  if (open == std::string::npos || !function_type.ends_with(')')) return std::nullopt;
  return function_type.substr(open + 1, function_type.size() - open - 2);
}

/// An enumeration looks like a struct in a C++ signature, but is passed as an integer and not as bytes.
void resolve_enumeration(const PtxParameter& layout, Parameter& parameter) {
  if (parameter.kind != ParameterKind::record || layout.array) return;
  static const std::map<std::string_view, DType> integers = {
      {".s8", DType::int8},  {".s16", DType::int16},  {".s32", DType::int32},  {".s64", DType::int64},
      {".u8", DType::uint8}, {".u16", DType::uint16}, {".u32", DType::uint32}, {".u64", DType::uint64},
      {".b8", DType::uint8}, {".b16", DType::uint16}, {".b32", DType::uint32}, {".b64", DType::uint64}};
  const auto found = integers.find(layout.type);
  if (found == integers.end()) return;
  parameter.kind = ParameterKind::scalar;
  parameter.dtype = found->second;
}

Signature untyped_signature(const PtxEntry& entry) {
  Signature signature;
  for (const PtxParameter& layout : entry.parameters) {
    Parameter parameter;
    parameter.size = layout.size;
    parameter.type = layout.array ? layout.type + "[" + std::to_string(layout.size) + "]" : layout.type;
    signature.parameters.push_back(std::move(parameter));
  }
  return signature;
}

Signature signature_of(const PtxEntry& entry, const std::optional<std::string>& parameters) {
  if (!parameters) return untyped_signature(entry);
  std::vector<std::uint32_t> sizes;
  for (const PtxParameter& layout : entry.parameters) sizes.push_back(layout.size);
  try {
    Signature signature = parse_signature(*parameters, sizes);
    for (std::size_t i = 0; i < sizes.size(); ++i) resolve_enumeration(entry.parameters[i], signature.parameters[i]);
    return signature;
  } catch (const Error&) {
    return untyped_signature(entry);  // types beyond what we read are still checked by size
  }
}

/// Names that differ in blanks alone are one name to find_kernel().
std::string without_blanks(std::string name) {
  std::erase_if(name, [](char c) { return c == ' ' || c == '\t' || c == '\n'; });
  return name;
}

}  // namespace

std::map<std::string, std::string> untyped_names(const PtxModule& ptx) {
  std::map<std::string, std::string> names;
  const auto add = [&names](const std::string& symbol) {
    const SymbolName name = read_symbol(symbol);
    if (!name.parameters && !is_internal(symbol, name.name) && is_qualified_identifier(name.name))
      names.emplace(symbol, name.name);
  };
  for (const PtxEntry& entry : ptx.entries) add(entry.symbol);
  for (const PtxGlobal& global : ptx.globals) add(global.symbol);
  return names;
}

void describe_module(const PtxModule& ptx, const SymbolTypes& types,
                     const std::vector<std::pair<std::string, std::string>>& spellings, CompiledModule& module) {
  const auto type_of = [&types](const std::string& symbol) {
    const auto found = types.find(symbol);
    return found != types.end() ? found->second : std::string();
  };
  for (const PtxEntry& entry : ptx.entries) {
    SymbolName name = read_symbol(entry.symbol);
    if (!name.parameters) name.parameters = parameters_of(type_of(entry.symbol));
    const Signature signature = signature_of(entry, name.parameters);
    module.kernels.push_back({name.name, entry.symbol, signature});
    std::vector<std::string> listed = {without_blanks(name.name)};
    for (const auto& [spelling, symbol] : spellings) {
      std::string compact = without_blanks(spelling);
      if (symbol != entry.symbol || std::ranges::find(listed, compact) != listed.end()) continue;
      module.kernels.push_back({spelling, symbol, signature});
      listed.push_back(std::move(compact));
    }
  }
  for (const PtxGlobal& global : ptx.globals) {
    SymbolName name = read_symbol(global.symbol);
    if (!is_internal(global.symbol, name.name))
      module.globals.push_back({std::move(name.name), global.symbol, type_of(global.symbol), global.bytes});
  }
}

}  // namespace gpulua::cuda
