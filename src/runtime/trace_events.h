#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "src/timeline/timeline.h"

namespace gpulua {

class Context;

/// What a trace has of a context's timeline.
struct TraceSpan {
  std::uint64_t first;      // number of an entry
  std::int64_t begin, end;  // of the host
};

/// The events of the trace as JSON, a line for each, with ",\n" between them, passed to `write` piece by piece.
void write_trace_events(Context& context, const TraceSpan& span, const std::function<void(const std::string&)>& write);

}  // namespace gpulua
