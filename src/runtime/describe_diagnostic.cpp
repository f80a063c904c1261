#include "src/runtime/describe_diagnostic.h"

#include "src/runtime/buffer.h"

namespace gpulua {

std::string describe(const Diagnostic& diagnostic, const MemoryAccount& account) {
  std::string text = diagnostic.text();
  if (const Buffer* buffer = account.find(diagnostic.memory()); buffer != nullptr && buffer->origin().chunk != nullptr)
    text += ", made at " + line_text(buffer->origin().chunk, buffer->origin().line);
  return text + diagnostic.place();
}

}  // namespace gpulua
