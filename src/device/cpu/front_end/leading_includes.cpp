#include "src/device/cpu/front_end/leading_includes.h"

#include <algorithm>

#include "src/base/cxx_tokens.h"
#include "src/device/cpu/front_end/prelude.h"

namespace gpulua::cpu {
std::vector<std::string_view> leading_includes(const KernelSource& source, const CompileOptions& options) {
  if (!source.headers.empty() || !source.include_dirs.empty() || !options.include_dirs.empty() ||
      !options.forced_includes.empty())
    return {};
  std::vector<std::string_view> names;
  CxxTokens tokens(source.text);
  for (;;) {
    const CxxToken token = tokens.next();
    const std::string_view name =
        token.kind == CxxToken::Kind::directive ? CxxDirective(token).included() : std::string_view();
    if (std::ranges::find(prelude_headers(), name, &PreludeHeader::name) == prelude_headers().end()) return names;
    names.push_back(name);
  }
}

}  // namespace gpulua::cpu
