#include "src/device/collectives.h"

#include <algorithm>

#include "src/base/error.h"

namespace gpulua {

void copy_own(const char* op, int rank, std::span<const Outgoing> outgoing, std::span<const Incoming> incoming,
              const std::function<void(void*, const void*, std::size_t)>& copy) {
  const auto is_own = [rank](const Incoming& message) { return message.from == rank; };
  auto input = std::ranges::find_if(incoming, is_own);
  for (const Outgoing& message : outgoing) {
    if (message.to != rank) continue;
    if (input == incoming.end() || input->bytes != message.bytes)
      throw Error("[{}] expected this rank to receive as many bytes from itself as it sends, {}, got {}", op,
                  message.bytes, input == incoming.end() ? "no receive" : std::to_string(input->bytes));
    // Addresses of nothing may be null.
    if (message.bytes > 0 && input->memory != message.memory) copy(input->memory, message.memory, message.bytes);
    input = std::find_if(input + 1, incoming.end(), is_own);
  }
  if (input != incoming.end())
    throw Error("[{}] expected this rank to send to itself what it receives from itself", op);
}

}  // namespace gpulua
