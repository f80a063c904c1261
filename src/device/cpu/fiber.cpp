#include "src/device/cpu/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace gpulua::cpu {
namespace {

// Each guarded stack costs the process two of its memory mappings, of which Linux gives 65530. Past this number of
// stacks the rest goes without guards, and neighbours share a mapping.
constexpr std::size_t most_guards = 16'384;
std::atomic<std::size_t> guards{0};

// Fibers of a block touch the same depth of their stacks in turn. Were the stacks aligned alike, those lines would
// fight for the same few places of the cache; so each stack starts a bit lower than the one before.
constexpr std::size_t colour_step = 256, colours_end = 4096;
std::atomic<std::size_t> stacks_made{0};

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// boost::context's notion of a stack allocator.
class LazyStack {
 public:
  explicit LazyStack(std::size_t bytes)
      : bytes_((bytes + colours_end + page_bytes() - 1) / page_bytes() * page_bytes() + page_bytes()) {}

  boost::context::stack_context allocate() {
    void* memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    guarded_ = guards.fetch_add(1) < most_guards && mprotect(memory, page_bytes(), PROT_NONE) == 0;
    if (!guarded_) --guards;
    colour_ = stacks_made.fetch_add(1) * colour_step % colours_end;
    boost::context::stack_context stack;
    stack.size = bytes_ - colour_;
    stack.sp = static_cast<char*>(memory) + stack.size;
    return stack;
  }

  void deallocate(boost::context::stack_context& stack) noexcept {
    munmap(static_cast<char*>(stack.sp) - stack.size, bytes_);
    if (guarded_) --guards;
  }

 private:
  std::size_t bytes_;
  bool guarded_ = false;
  std::size_t colour_ = 0;
};

}  // namespace

Fiber::Fiber(std::size_t stack_bytes, std::function<void()> body)
    : body_(std::move(body)),
      context_(std::allocator_arg, LazyStack(stack_bytes), [this](boost::context::fiber&& suspended) {
        predecessor_->context_ = std::move(suspended);
        while (!closing_) body_();
        return std::move(predecessor_->context_);
      }) {}

Fiber::~Fiber() {
  if (!context_) return;
  closing_ = true;
  Fiber thread;
  predecessor_ = &thread;
  std::move(context_).resume();
}

}  // namespace gpulua::cpu
