#pragma once

// Loops whose steps the cores share, by oneTBB. They run in turn on this thread where `sharing_threads()` is 1.

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "src/device/cpu/runtime/worker_threads.h"

namespace gpulua::cpu {

/// Calls work(i) for each i < count.
template <class Index, class Work>
void share_each(Index count, const Work& work) {
  if (count > 1 && sharing_threads() > 1) return tbb::parallel_for(Index{0}, count, work);
  for (Index i = 0; i < count; ++i) work(i);
}

/// Calls work(begin, end) for parts of first to last that have `least` steps or more, but for the last.
template <class Index, class Work>
void share_ranges(Index first, Index last, Index least, const Work& work) {
  if (last - first <= least || sharing_threads() == 1) return work(first, last);
  tbb::parallel_for(tbb::blocked_range<Index>(first, last, static_cast<std::size_t>(least)),
                    [&](const tbb::blocked_range<Index>& part) { work(part.begin(), part.end()); });
}

}  // namespace gpulua::cpu
