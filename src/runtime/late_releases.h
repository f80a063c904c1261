#pragma once

#include <atomic>
#include <memory>
#include <mutex>

namespace gpulua {

/// Objects of a context that other threads have released. A context works on one thread at a time, so the next call
/// into it destroys them; after the last call, they are destroyed where they come in, one at a time.
class LateReleases {
 public:
  class Object {
   public:
    virtual ~Object() = default;

   private:
    friend class LateReleases;
    Object* next_ = nullptr;
  };

  ~LateReleases() { close(); }

  /// Any thread. The context outlives the call.
  void add(std::unique_ptr<Object> object) noexcept;
  bool any() const noexcept { return any_.load(std::memory_order_relaxed); }
  /// Destroys what has come in; on the thread that works with the context.
  void drop() noexcept;
  /// No more calls follow.
  void close() noexcept;

 private:
  std::mutex lock_;
  Object* objects_ = nullptr;  // a list: a release needs no memory
  std::atomic<bool> any_{false};
  bool closed_ = false;
};

}  // namespace gpulua
