#include "src/core/index_faults.h"

#include <cstring>
#include <string>

#include "src/core/error.h"

namespace gpulua {

IndexFaults::~IndexFaults() {
  if (word_) device_.free_pinned(const_cast<IndexFault*>(word_));
}

IndexFault* IndexFaults::word() {
  if (!word_) {
    void* memory = device_.allocate_pinned(sizeof(IndexFault));
    if (!memory) throw Error(ErrorKind::memory, "[index] the host has no room for a word of pinned memory");
    std::memset(memory, 0, sizeof(IndexFault));
    word_ = static_cast<IndexFault*>(memory);
  }
  return const_cast<IndexFault*>(word_);
}

void IndexFaults::check() {
  if (!word_ || word_->found == 0) return;
  const std::int64_t index = word_->index;
  std::string text = "[index] ";
  text += index == 0 ? "indices start at 1, got 0 in an index array for axis " + std::to_string(word_->axis) +
                           "; a mask of 0 and 1 is i:astype(\"bool\")"
                     : std::to_string(index) + " in an index array is out of range for axis " +
                           std::to_string(word_->axis) + " of " + std::to_string(word_->extent) + " elements";
  if (word_->chunk) text += "; queued at " + std::string(word_->chunk) + ":" + std::to_string(word_->line);
  word_->found = 0;
  throw Error(text);
}

}  // namespace gpulua
