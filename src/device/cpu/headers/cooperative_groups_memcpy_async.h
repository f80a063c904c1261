// cooperative_groups::memcpy_async. The copy is made at once; a wait makes all threads of the group see it.
#pragma once
#include "cooperative_groups.h"

namespace cooperative_groups {
template <class Group, class T, class U>
__device__ inline void memcpy_async(const Group& group, T* to, const U* from, size_t bytes) {
  char* target = reinterpret_cast<char*>(to);
  const char* source = reinterpret_cast<const char*>(from);
  const bool by_words = ((size_t)target | (size_t)source | bytes) % 4 == 0;
  const size_t rank = group.thread_rank(), threads = group.size();
  if (by_words)
    for (size_t i = rank; i < bytes / 4; i += threads) reinterpret_cast<unsigned*>(target)[i] = reinterpret_cast<const unsigned*>(source)[i];
  else
    for (size_t i = rank; i < bytes; i += threads) target[i] = source[i];
}
/// At most as many elements as both have.
template <class Group, class T, class U>
__device__ inline void memcpy_async(const Group& group, T* to, size_t to_count, const U* from, size_t from_count) {
  memcpy_async(group, to, from, (to_count < from_count ? to_count : from_count) * sizeof(T));
}
template <class Group>
__device__ inline void wait(const Group& group) {
  group.sync();
}
template <unsigned stages, class Group>
__device__ inline void wait_prior(const Group& group) {
  group.sync();
}
}  // namespace cooperative_groups
