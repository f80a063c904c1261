#include "src/device/shared/blanked_code.h"

#include "src/base/cxx_tokens.h"

namespace gpulua {

void BlankedCode::blank(std::size_t begin, std::size_t end) {
  CxxTokens tokens(text_.substr(begin, end - begin));
  for (CxxToken token = tokens.next(); token.kind != CxxToken::Kind::end; token = tokens.next()) {
    if (token.kind == CxxToken::Kind::directive) {
      const std::string_view name = CxxDirective(token).name;
      if (name != "include" && name != "pragma" && name != "error" && name != "warning") continue;
    }
    const auto first = static_cast<std::size_t>(token.text.data() - text_.data());
    for (std::size_t i = first; i < first + token.text.size(); ++i)
      if (result_[i] != '\n') result_[i] = ' ';
  }
}

std::string BlankedCode::text() const {
  std::string result;
  std::size_t done = 0;
  for (const auto& [place, code] : put_) {
    result.append(result_, done, place - done).append(code);
    done = place;
  }
  return result.append(result_, done);
}

}  // namespace gpulua
