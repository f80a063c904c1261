#pragma once

// Finds the names and types of the source from the symbols of a compiled module.

#include <optional>
#include <string>
#include <string_view>

namespace gpulua::cuda {

struct SymbolName {
  std::string name;  // "ns::axpy<float>"
  std::optional<std::string>
      parameters;  // "float, float*"; none where the symbol carries no types (extern "C", variables)
};

/// "_ZN2ns4axpyIfEEvT_PS1_" -> {"ns::axpy<float>", "float, float*"}; "coef" -> {"coef", none}. The compiler's names for
/// anonymous namespaces are left out, as the source does not have them.
SymbolName read_symbol(const std::string& symbol);

/// True when `decltype(name)` is valid syntax: identifiers joined by `::`.
bool is_qualified_identifier(std::string_view name);

/// The template argument of a function template's symbol: "float [4]" for that of `signature<float [4]>`.
std::string template_argument(const std::string& symbol);

}  // namespace gpulua::cuda
