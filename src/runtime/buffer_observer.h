#pragma once

namespace gpulua {

class Buffer;

/// Is notified before each use of a device's buffers. Throws Error to refuse it.
class BufferObserver {
 public:
  // For work that is about to be queued. True: it is to be ordered after earlier work on other streams, as usual.
  virtual bool reads(Buffer& buffer) = 0;
  virtual bool writes(Buffer& buffer) = 0;
  /// The script gives the memory back early.
  virtual void frees(Buffer& buffer) = 0;

 protected:
  ~BufferObserver() = default;
};

}  // namespace gpulua
