#include "src/runtime/describe_diagnostic.h"

#include "src/runtime/buffer.h"

namespace gpulua {

std::string describe(const Finding& finding, const MemoryAccount& account) {
  std::string text = finding.text();
  if (const Buffer* buffer = account.find(finding.memory()); buffer != nullptr && buffer->origin().chunk != nullptr)
    text += ", made at " + std::string(buffer->origin().chunk) + ":" + std::to_string(buffer->origin().line);
  return text + finding.place();
}

}  // namespace gpulua
