#include "src/device/cpu/runtime/resident_block.h"

#include <algorithm>
#include <bit>
#include <thread>

#include "src/base/error.h"
#include "src/device/cpu/abi/kernel_failure.h"
#include "src/device/cpu/runtime/fault_text.h"

namespace gpulua::cpu {
namespace {

constexpr unsigned warp_threads = 32;

// A block may wait for a block that another core runs. It spins for this many rounds, then it yields.
constexpr unsigned patience = 1000;

unsigned volume(Index3 size) {
  return size.x * size.y * size.z;
}

}  // namespace

// ---- fibers ---------------------------------------------------------------------------------------------------------

ResidentBlock::ThreadFiber::ThreadFiber(ResidentBlock& owner, std::size_t stack_bytes)
    : Fiber(stack_bytes, [this] { block.run_fiber(*this); }), block(owner) {}

void ResidentBlock::run_fiber(ThreadFiber& fiber) noexcept {
  fiber.frame = __builtin_frame_address(0);
  try {
    launch_.record->run_fiber(launch_.arguments, &fiber.context);
    exit_threads(fiber, fiber.threads);
  } catch (...) {
    failure_ = std::current_exception();
  }
  end_fiber(fiber);
}

void ResidentBlock::end_fiber(ThreadFiber& fiber) {
  fiber.running = false;
  --fibers_left_;
  progress_ = true;
  next_turn(fiber);
}

/// Lets the others run until the fiber is ready and has its turn.
void ResidentBlock::suspend(ThreadFiber& fiber) {
  next_turn(fiber);
}

void ResidentBlock::exit_threads(ThreadFiber& fiber, unsigned threads) {
  fiber.threads -= threads;
  alive_ -= threads;
  if (barrier_.arrived != 0 && barrier_.arrived == alive_) release_barrier();
  for (TileBarrier& tile : tile_barriers_) {
    if (tile.missing == 0 || !tile.has(fiber.context.linear)) continue;
    tile.missing -= threads;
    if (tile.missing == 0) release_tile(tile);
  }
  if (launch_.record->threads_per_fiber == 1)
    make_ready(fiber, warps_[fiber.context.linear / warp_threads].exit(fiber.context.linear % warp_threads));
}

// ---- the block ------------------------------------------------------------------------------------------------------

void ResidentBlock::start(const FiberLaunch& launch, Index3 index) {
  launch_ = launch;
  const Index3 size = launch.launch->block;
  const unsigned threads = volume(size), step = launch.record->threads_per_fiber;
  const std::size_t static_bytes = launch.record->shared_bytes;
  char* shared = shared_.reserve(static_bytes, launch.dynamic_shared_bytes);

  index_ = index;
  const unsigned count = (threads + step - 1) / step;
  while (fibers_.size() < count) fibers_.push_back(std::make_unique<ThreadFiber>(*this, stack_bytes_));
  fiber_count_ = fibers_left_ = count;
  alive_ = threads;
  failure_ = nullptr;
  barrier_.reset();
  grid_barrier_.reset();
  tile_barriers_.clear();
  next_round_.clear();
  for (unsigned i = 0, linear = 0; i < fiber_count_; ++i, linear += step) {
    if (fibers_[i]->unusable) fibers_[i] = std::make_unique<ThreadFiber>(*this, stack_bytes_);
    ThreadFiber& fiber = *fibers_[i];
    const Index3 thread{linear % size.x, linear / size.x % size.y, linear / size.x / size.y};
    fiber.threads = std::min(step, threads - linear);
    fiber.context = {thread, index,         size,  launch.launch->grid, shared, shared + static_bytes, launch.launch,
                     linear, fiber.threads, &fiber};
    fiber.running = fiber.spins = false;
    next_round_.push_back(&fiber);
  }
  if (step != 1) return;
  warps_.resize((threads + warp_threads - 1) / warp_threads);
  for (unsigned first = 0; first < threads; first += warp_threads)
    warps_[first / warp_threads].start(~0u >> (warp_threads - std::min(warp_threads, threads - first)));
}

void ResidentBlock::run_round() {
  std::swap(round_, next_round_);
  next_round_.clear();
  progress_ = false;
  turn_ = 0;
  const auto fault = call_kernel([this] { next_turn(thread_); }, this);
  if (fault) {
    thread_.jumped_back(*round_[turn_ - 1]);
    failure_ = std::make_exception_ptr(describe(*fault));
  }
  if (!failure_) return;
  round_[turn_ - 1]->give_up();
  std::rethrow_exception(failure_);
}

void ResidentBlock::next_turn(Fiber& from) {
  if (turn_ == round_.size() || failure_) return Fiber::switch_between(from, thread_);
  ThreadFiber& next = *round_[turn_++];
  next.running = true;
  Fiber::switch_between(from, next);
}

ResidentBlock::Pause ResidentBlock::run() {
  try {
    for (unsigned idle_rounds = 0; fibers_left_ != 0;) {
      if (next_round_.empty()) {
        if (grid_barrier_.arrived != alive_) throw_deadlock();
        return Pause::grid_barrier;
      }
      check_interrupt();
      run_round();
      if (progress_) {
        idle_rounds = 0;
        continue;
      }
      std::this_thread::yield();
      if (launch_.cooperative || ++idle_rounds == patience) return Pause::spinning;
    }
    shared_.check_end();
    return Pause::done;
  } catch (...) {
    cancel();
    throw;
  }
}

void ResidentBlock::cancel() noexcept {
  for (unsigned i = 0; i < fiber_count_; ++i)
    if (fibers_[i]->running) fibers_[i]->give_up();
  fibers_left_ = 0;
}

void ResidentBlock::check_interrupt() const {
  if (launch_.interrupted->load(std::memory_order_relaxed)) throw Error(ErrorKind::interrupted, "[launch] interrupted");
}

void ResidentBlock::throw_deadlock() const {
  std::string message;
  const unsigned exited = volume(launch_.launch->block) - alive_;
  const auto add_barrier = [&](const Barrier& barrier, const char* name) {
    if (barrier.arrived == 0) return;
    if (!message.empty()) message += "; ";
    message += place_text(barrier.file, barrier.line) + name + " was reached by " + std::to_string(barrier.arrived) +
               " of " + std::to_string(alive_) + " threads";
    if (exited != 0) message += " (" + std::to_string(exited) + " others have exited)";
  };
  add_barrier(barrier_, "__syncthreads()");
  add_barrier(grid_barrier_, "the grid's barrier");
  for (const TileBarrier& tile : tile_barriers_) {
    if (tile.missing == 0) continue;
    const unsigned alive = count_alive(tile);
    message += (message.empty() ? "" : "; ") + place_text(tile.file, tile.line) + "the barrier of a tile of " +
               std::to_string(tile.size) + " threads was reached by " + std::to_string(alive - tile.missing) + " of " +
               std::to_string(alive) + " threads";
  }
  const auto stuck = std::ranges::find_if(warps_, &Warp::stuck);
  if (launch_.record->threads_per_fiber == 1 && stuck != warps_.end())
    message += (message.empty() ? "" : "; ") + stuck->describe() + ", warp " + std::to_string(stuck - warps_.begin());
  throw KernelFailure{message + ", block " + to_text(index_)};
}

// A processor predicts where a function returns to by the calls that it saw, which after a switch are another fiber's:
// each return on the way back to the kernel is mispredicted. So what a service calls is inlined into it, switch and
// all.

// ---- barriers -------------------------------------------------------------------------------------------------------

void ResidentBlock::Barrier::arrive(unsigned threads, unsigned true_predicates, const char* from_file,
                                    unsigned from_line) {
  if (arrived == 0) {
    file = from_file;
    line = from_line;
  }
  arrived += threads;
  predicates += true_predicates;
}

void ResidentBlock::Barrier::reset() {
  arrived = predicates = 0;
  waiting.clear();
}

ResidentBlock::ThreadFiber& ResidentBlock::at_barrier(ThreadContext* context) {
  ThreadFiber& fiber = *static_cast<ThreadFiber*>(context->fiber);
  fiber.block.progress_ = true;
  fiber.spins = false;
  return fiber;
}

[[gnu::flatten]] unsigned ResidentBlock::barrier(ThreadContext* context, unsigned threads, unsigned predicates,
                                                 const char* file, unsigned line) {
  ThreadFiber& fiber = at_barrier(context);
  ResidentBlock& block = fiber.block;
  block.barrier_.arrive(threads, predicates, file, line);
  if (block.barrier_.arrived == block.alive_) {
    fiber.barrier_result = block.barrier_.predicates;
    block.release_barrier();
  } else {
    block.barrier_.waiting.push_back(&fiber);
    block.suspend(fiber);
  }
  return fiber.barrier_result;
}

void ResidentBlock::release_barrier() {
  check_interrupt();
  for (ThreadFiber* fiber : barrier_.waiting) {
    fiber->barrier_result = barrier_.predicates;
    next_round_.push_back(fiber);
  }
  barrier_.reset();
}

void ResidentBlock::leave(ThreadContext* context, unsigned threads) {
  ThreadFiber& fiber = *static_cast<ThreadFiber*>(context->fiber);
  fiber.block.exit_threads(fiber, threads);
}

void ResidentBlock::grid_barrier(ThreadContext* context, unsigned threads, const char* file, unsigned line) {
  ThreadFiber& fiber = at_barrier(context);
  ResidentBlock& block = fiber.block;
  if (!block.launch_.cooperative)
    throw KernelFailure{place_text(file, line) +
                        "a barrier of the whole grid needs a cooperative launch: {grid=, block=, cooperative=true}"};
  block.grid_barrier_.arrive(threads, 0, file, line);
  block.grid_barrier_.waiting.push_back(&fiber);
  block.suspend(fiber);
}

void ResidentBlock::pass_grid_barrier() {
  next_round_.insert(next_round_.end(), grid_barrier_.waiting.begin(), grid_barrier_.waiting.end());
  grid_barrier_.reset();
}

[[gnu::flatten]] void ResidentBlock::tile_barrier(ThreadContext* context, unsigned threads, unsigned size,
                                                  const char* file, unsigned line) {
  ThreadFiber& fiber = at_barrier(context);
  ResidentBlock& block = fiber.block;
  TileBarrier& tile = block.find_tile(context->linear / size * size, size);
  if (tile.missing == 0) {
    tile.missing = block.count_alive(tile);
    tile.file = file;
    tile.line = line;
  }
  tile.missing -= threads;
  if (tile.missing == 0) return block.release_tile(tile);
  tile.waiting.push_back(&fiber);
  block.suspend(fiber);
}

ResidentBlock::TileBarrier& ResidentBlock::find_tile(unsigned first, unsigned size) {
  for (TileBarrier& tile : tile_barriers_)
    if (tile.first == first && tile.size == size) return tile;
  return tile_barriers_.emplace_back(TileBarrier{first, size});
}

unsigned ResidentBlock::count_alive(const TileBarrier& tile) const {
  const unsigned step = launch_.record->threads_per_fiber;
  const unsigned end = std::min((tile.first + tile.size) / step, fiber_count_);
  unsigned count = 0;
  for (unsigned i = tile.first / step; i < end; ++i) count += fibers_[i]->threads;
  return count;
}

void ResidentBlock::release_tile(TileBarrier& tile) {
  check_interrupt();
  next_round_.insert(next_round_.end(), tile.waiting.begin(), tile.waiting.end());
  tile.waiting.clear();
}

[[gnu::flatten]] void ResidentBlock::yield(ThreadContext* context) {
  ThreadFiber& fiber = *static_cast<ThreadFiber*>(context->fiber);
  fiber.spins = true;
  fiber.block.next_round_.push_back(&fiber);
  fiber.block.suspend(fiber);
}

// ---- warps ----------------------------------------------------------------------------------------------------------

unsigned ResidentBlock::warp_operation(ThreadContext* context, const Warp::Call& call) {
  ThreadFiber& fiber = *static_cast<ThreadFiber*>(context->fiber);
  ResidentBlock& block = fiber.block;
  const unsigned lane = context->linear % warp_threads;
  Warp& warp = block.warps_[context->linear / warp_threads];
  if ((call.mask >> lane & 1) == 0) {
    throw KernelFailure{"a warp operation's mask does not name lane " + std::to_string(lane) +
                        " which calls it, block " + to_text(context->block) + ", thread " + to_text(context->thread)};
  }
  if (!fiber.spins) block.progress_ = true;  // loops that spin may vote on whether to go on
  const unsigned released = warp.arrive(lane, call);
  if (released == 0) {
    block.suspend(fiber);
  } else {
    block.check_interrupt();
    block.make_ready(fiber, released);
  }
  return warp.result(lane);
}

[[gnu::flatten]] void ResidentBlock::warp_barrier(ThreadContext* context, unsigned mask) {
  warp_operation(context, {WarpOperation::barrier, mask, 0, 0});
}

[[gnu::flatten]] unsigned ResidentBlock::shuffle(ThreadContext* context, unsigned mask, unsigned value,
                                                 unsigned source_lane) {
  return warp_operation(context, {WarpOperation::shuffle, mask, value, source_lane});
}

[[gnu::flatten]] unsigned ResidentBlock::ballot(ThreadContext* context, unsigned mask, unsigned predicate) {
  return warp_operation(context, {WarpOperation::ballot, mask, predicate, 0});
}

void ResidentBlock::make_ready(const ThreadFiber& running, unsigned lanes) {
  const unsigned linear = running.context.linear;
  for (lanes &= ~(1u << linear % warp_threads); lanes != 0; lanes &= lanes - 1)
    next_round_.push_back(
        fibers_[linear / warp_threads * warp_threads + static_cast<unsigned>(std::countr_zero(lanes))].get());
}

}  // namespace gpulua::cpu
