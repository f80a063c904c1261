#pragma once

#include <string>

namespace gpulua {

class Context;
struct Origin;

/// Passes `text` to the context's warnings with the script's line before it, so that a line warns once.
void warn_at(Context& context, const Origin& origin, const std::string& text);

}  // namespace gpulua
