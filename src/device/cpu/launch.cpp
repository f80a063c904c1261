#include "src/device/cpu/launch.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>

#include "src/core/error.h"

namespace gpulua::cpu {
namespace {

using Clock = std::chrono::steady_clock;

// Waking the other cores costs some microseconds: less work than this is done sooner on one.
constexpr std::chrono::nanoseconds worth_spreading{20'000};
// Blocks run in chunks of up to about this long, between which a core looks for an interrupt.
constexpr std::chrono::nanoseconds chunk_time{50'000};

std::string to_text(Index3 index) {
  return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," + std::to_string(index.z) + ")";
}

/// What a kernel throws; run_launch adds the kernel's name.
struct KernelFailure {
  std::string message;
};

[[noreturn]] void fail(const char* message, const char* file, unsigned line, Index3 block, Index3 thread) {
  throw KernelFailure{std::string(file) + ":" + std::to_string(line) + ": " + message + ", block " + to_text(block) +
                      ", thread " + to_text(thread)};
}

constexpr Services services{&fail, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};

/// The shared memory of the block that a core runs; it grows to the most that was asked for.
class SharedArena {
 public:
  char* reserve(std::size_t bytes) {
    if (bytes > bytes_) {
      std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
      memory_.reset(static_cast<char*>(std::aligned_alloc(alignment, rounded)));
      bytes_ = memory_ ? rounded : 0;
      if (!memory_)
        throw Error(ErrorKind::memory, "[launch] no room for " + std::to_string(bytes) + " bytes of shared memory");
    }
    return memory_.get();
  }

 private:
  static constexpr std::size_t alignment = 128;
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  std::unique_ptr<char, Free> memory_;
  std::size_t bytes_ = 0;
};

class Run {
 public:
  Run(const KernelRecord& record, const LaunchConfig& config, void** arguments, std::atomic<bool>& interrupted)
      : run_(record.run),
        launch_{
            {config.grid.x, config.grid.y, config.grid.z}, {config.block.x, config.block.y, config.block.z}, &services},
        static_bytes_(record.shared_bytes),
        shared_bytes_(static_bytes_ + config.shared_bytes),
        arguments_(arguments),
        interrupted_(interrupted) {}

  /// One block tells how long the others may take, and with it who runs them.
  void all() {
    const std::uint64_t blocks = std::uint64_t{launch_.grid.x} * launch_.grid.y * launch_.grid.z;
    if (blocks == 1) return chunk(0, 1);
    const Clock::time_point start = Clock::now();
    chunk(0, 1);
    const auto block_time = std::max(Clock::now() - start, Clock::duration(1));
    // Divided rather than multiplied: there may be 2^63 blocks.
    if (blocks - 1 <= static_cast<std::uint64_t>(worth_spreading / block_time)) return chunk(1, blocks);
    tbb::parallel_for(tbb::blocked_range<std::uint64_t>(1, blocks),
                      [this](const tbb::blocked_range<std::uint64_t>& part) { in_chunks(part.begin(), part.end()); });
  }

 private:
  /// Blocks differ and the first, which meets cold caches, says little; so chunks grow until they are long enough.
  void in_chunks(std::uint64_t first, std::uint64_t last) const {
    for (std::uint64_t size = 1; first < last;) {
      const std::uint64_t end = first + std::min(size, last - first);
      const Clock::time_point start = Clock::now();
      chunk(first, end);
      first = end;
      if (Clock::now() - start < chunk_time / 2) size *= 2;
    }
  }

  void chunk(std::uint64_t first, std::uint64_t last) const {
    if (interrupted_.load(std::memory_order_relaxed)) throw Error(ErrorKind::interrupted, "[launch] interrupted");
    thread_local SharedArena arena;
    char* shared = shared_bytes_ == 0 ? nullptr : arena.reserve(shared_bytes_);
    run_(arguments_, &launch_, first, last, shared, shared + static_bytes_);
  }

  RunBlocks run_;
  Launch launch_;
  std::size_t static_bytes_, shared_bytes_;
  void** arguments_;
  std::atomic<bool>& interrupted_;
};

}  // namespace

void run_launch(CpuKernel& kernel, const LaunchConfig& config, void** arguments, std::atomic<bool>& interrupted) {
  try {
    Run(kernel.record(config.block), config, arguments, interrupted).all();
  } catch (const KernelFailure& failure) {
    throw Error(ErrorKind::device, "[launch] kernel '" + kernel.entry().name + "': " + failure.message);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) interrupted.store(false);
    throw;
  }
}

}  // namespace gpulua::cpu
