#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "src/device/device.h"

namespace gpulua {

class OpenDevice;

/// Memory that arrays of one device borrow from the host program. Its owner is released, which tells the program, when
/// the last work that uses the memory is done, and within a call of the library.
class LentMemory {
 public:
  explicit LentMemory(OpenDevice& device) : device_(device) {}
  ~LentMemory() { wait(); }

  /// Called by Buffer, with the streams that have its last work. Needs no memory.
  void give_back(std::shared_ptr<void> owner, StreamRef writer, std::vector<StreamRef> readers) noexcept;

  /// Releases the owners whose memory no work uses any more.
  void let_go() noexcept {
    if (!returned_.empty()) [[unlikely]]
      let_go_done();
  }
  /// Waits for the work, and releases all owners.
  void wait() noexcept;

 private:
  struct Returned {
    std::shared_ptr<void> owner;
    StreamRef writer;
    std::vector<StreamRef> readers;
    std::vector<EventRef> ends = {};  // of the streams' work; empty until they are recorded

    template <class Function>
    void for_each_stream(const Function& function) const {
      function(*writer);
      for (const StreamRef& reader : readers) function(*reader);
    }
  };

  void let_go_done() noexcept;
  bool is_done(Returned& returned) noexcept;
  void wait_for(const Returned& returned) noexcept;

  OpenDevice& device_;
  std::deque<Returned> returned_;  // in the order in which they came
};

}  // namespace gpulua
