#include "bindings/lua/warning.h"

#include "src/runtime/context.h"
#include "src/runtime/host.h"

namespace gpulua {

void warn_at(Context& context, const Origin& origin, const std::string& text) {
  context.warn((origin.chunk ? std::string(origin.chunk) + ":" + std::to_string(origin.line) + ": " : "") + text);
}

}  // namespace gpulua
