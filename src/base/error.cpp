// The one file with the code of {fmt}: no program needs its library.
#define FMT_HEADER_ONLY
#include "src/base/error.h"

#include <fmt/format.h>

namespace gpulua {

std::string Error::formatted(fmt::string_view text, fmt::format_args arguments) {
  return fmt::vformat(text, arguments);
}

}  // namespace gpulua
