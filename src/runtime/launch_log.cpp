#include "src/runtime/launch_log.h"

#include <vector>

namespace gpulua {

void LaunchLog::clear(const Stream& stream) {
  const std::size_t known = std::min(count_, entries_.size());
  bool any_left = false;
  for (std::size_t i = 0; i < known; ++i) {
    Entry& entry = entries_[i];
    if (entry.stream == &stream) entry.kernel.reset();
    any_left = any_left || entry.kernel;
  }
  if (!any_left) count_ = 0;
}

std::string LaunchLog::describe() const {
  std::vector<std::string> calls;
  const std::size_t known = std::min(count_, entries_.size());
  for (std::size_t i = count_ - known; i < count_; ++i) {
    const Entry& entry = entries_[i % entries_.size()];
    if (!entry.kernel) continue;
    std::string call = entry.kernel->entry().name;
    if (entry.origin.chunk) call += " at " + line_text(entry.origin.chunk, entry.origin.line);
    if (std::find(calls.begin(), calls.end(), call) == calls.end()) calls.push_back(std::move(call));
  }
  if (calls.empty()) return {};
  if (calls.size() == 1) return "launched: " + calls.front();
  std::string text = "launched since the last synchronisation, the culprit among them:";
  for (const std::string& call : calls) text += "\n  " + call;
  if (known < count_) text += "\n  and " + std::to_string(count_ - known) + " earlier ones";
  return text + "\ngpu.debug(true) synchronises after each launch and so names the one";
}

}  // namespace gpulua
