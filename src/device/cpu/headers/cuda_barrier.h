#ifndef GPULUA_CUDA_BARRIER_H
#define GPULUA_CUDA_BARRIER_H
// cuda/barrier and cuda/pipeline for the threads of a block. Copies are made at once: what waits for them waits for the threads that
// make them.
#include "cuda/atomic"

namespace cuda {
template <thread_scope scope, class Completion = void>
class barrier {
  unsigned expected_, missing_;  // arrivals of the next phases, and those that this one lacks
  unsigned phase_;

 public:
  typedef unsigned arrival_token;
  __device__ barrier() {}
  __device__ explicit barrier(ptrdiff_t expected) { init(this, expected); }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;
  friend __device__ void init(barrier* b, ptrdiff_t expected) {
    b->expected_ = b->missing_ = (unsigned)expected;
    b->phase_ = 0;
  }
  static constexpr ptrdiff_t max() { return (1 << 20) - 1; }

  [[nodiscard]] __device__ arrival_token arrive(ptrdiff_t count = 1) {
    // The phase ends with the last arrival, which is not before this one.
    const unsigned phase = *(volatile unsigned*)&phase_;
    __threadfence();
    if (atomicSub(&missing_, (unsigned)count) == (unsigned)count) {
      missing_ = *(volatile unsigned*)&expected_;
      __threadfence();
      atomicAdd(&phase_, 1u);
    }
    return phase;
  }
  __device__ void wait(arrival_token phase) const {
    while (*(volatile const unsigned*)&phase_ == phase) {
    }
    __threadfence();
  }
  __device__ bool try_wait(arrival_token phase) const { return *(volatile const unsigned*)&phase_ != phase; }
  /// Returns once the phase of that parity has ended.
  __device__ void wait_parity(bool parity) const {
    while ((*(volatile const unsigned*)&phase_ & 1) == (unsigned)parity) {
    }
    __threadfence();
  }
  __device__ void arrive_and_wait() { wait(arrive()); }
  __device__ void arrive_and_drop() {
    atomicSub(&expected_, 1u);
    (void)arrive();
  }
};

// ---- copies -------------------------------------------------------------------------------------------------------------------------------
template <size_t alignment>
struct aligned_size_t {
  static constexpr size_t align = alignment;
  size_t value;
  __device__ explicit constexpr aligned_size_t(size_t size) : value(size) {}
  __device__ constexpr operator size_t() const { return value; }
};

enum class pipeline_role { producer, consumer };
template <thread_scope scope, unsigned char stages>
struct pipeline_shared_state {
  barrier<thread_scope_block> produced[stages], consumed[stages];
  unsigned producers;
  __device__ pipeline_shared_state() {}
};

/// Of one thread, or of a group, whose threads fill and empty the stages in turn.
template <thread_scope scope>
class pipeline {
  barrier<thread_scope_block>*produced_ = nullptr, *consumed_ = nullptr;  // null: of one thread, which waits for nobody
  unsigned stages_ = 0, head_ = 0, tail_ = 0;
  bool head_round_ = true, tail_round_ = false;

  static __device__ void step(unsigned& stage, bool& round, unsigned stages) {
    if (++stage < stages) return;
    stage = 0;
    round = !round;
  }

 public:
  __device__ pipeline() {}
  __device__ pipeline(barrier<thread_scope_block>* produced, barrier<thread_scope_block>* consumed, unsigned stages)
      : produced_(produced), consumed_(consumed), stages_(stages) {}
  __device__ void producer_acquire() {
    if (consumed_) consumed_[head_].wait_parity(head_round_);
  }
  __device__ void producer_commit() {
    if (!produced_) return;
    (void)produced_[head_].arrive();
    step(head_, head_round_, stages_);
  }
  __device__ void consumer_wait() {
    if (produced_) produced_[tail_].wait_parity(tail_round_);
  }
  __device__ void consumer_release() {
    if (!consumed_) return;
    (void)consumed_[tail_].arrive();
    step(tail_, tail_round_, stages_);
  }
  __device__ bool quit() { return true; }
};
template <unsigned char prior>
__device__ inline void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>&) {}

__device__ inline pipeline<thread_scope_thread> make_pipeline() { return {}; }
template <class Group, thread_scope scope, unsigned char stages>
__device__ pipeline<scope> gpulua_make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state, bool is_producer,
                                                bool is_consumer) {
  if (group.thread_rank() == 0) state->producers = 0;
  group.sync();
  const unsigned both = (unsigned)is_producer | (unsigned)is_consumer << 16;
  atomicAdd(&state->producers, both);
  group.sync();
  if (group.thread_rank() == 0)
    for (unsigned i = 0; i < stages; ++i) {
      init(&state->produced[i], state->producers & 0xffff);
      init(&state->consumed[i], state->producers >> 16);
    }
  group.sync();
  return {state->produced, state->consumed, stages};
}
template <class Group, thread_scope scope, unsigned char stages>
__device__ pipeline<scope> make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state) {
  return gpulua_make_pipeline(group, state, true, true);
}
template <class Group, thread_scope scope, unsigned char stages>
__device__ pipeline<scope> make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state, pipeline_role role) {
  return gpulua_make_pipeline(group, state, role == pipeline_role::producer, role == pipeline_role::consumer);
}
/// The first `producers` threads of the group are producers.
template <class Group, thread_scope scope, unsigned char stages>
__device__ pipeline<scope> make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state, size_t producers) {
  const bool is_producer = group.thread_rank() < producers;
  return gpulua_make_pipeline(group, state, is_producer, !is_producer);
}

/// By one thread, for a pipeline or a barrier.
template <class T, class Size, class Waiter>
__device__ inline void memcpy_async(T* to, const T* from, Size bytes, Waiter&) {
  for (size_t i = 0; i < (size_t)bytes / sizeof(T); ++i) to[i] = from[i];
}
/// By the threads of a group.
template <class Group, class T, class Size, class Waiter>
__device__ inline void memcpy_async(const Group& group, T* to, const T* from, Size bytes, Waiter&) {
  for (size_t i = group.thread_rank(); i < (size_t)bytes / sizeof(T); i += group.size()) to[i] = from[i];
}
}  // namespace cuda
#endif
