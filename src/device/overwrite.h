#pragma once

namespace gpulua {

/// A write of a kernel beside an allocated block.
enum class Overwrite { none, before_start, past_end };

}  // namespace gpulua
