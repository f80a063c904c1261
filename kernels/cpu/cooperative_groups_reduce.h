#ifndef GPULUA_COOPERATIVE_GROUPS_REDUCE_H
#define GPULUA_COOPERATIVE_GROUPS_REDUCE_H
#include "cooperative_groups.h"
#pragma clang force_cuda_host_device begin
namespace cooperative_groups {

#define GPULUA_OPERATION(name, value)                          \
  template <class _Tp>                                         \
  struct name {                                                \
    _Tp operator()(_Tp a, _Tp b) const { return value; }       \
  };
GPULUA_OPERATION(plus, a + b)
GPULUA_OPERATION(less, b < a ? b : a)
GPULUA_OPERATION(greater, a < b ? b : a)
GPULUA_OPERATION(bit_and, a& b)
GPULUA_OPERATION(bit_or, a | b)
GPULUA_OPERATION(bit_xor, a ^ b)
#undef GPULUA_OPERATION

/// The values of all threads of a group within a warp, combined in the order of a tree; every thread gets the result.
template <class _Group, class _Tp, class _Operation>
inline _Tp reduce(const _Group& group, _Tp value, _Operation&& combine) {
  const unsigned int count = group.num_threads(), rank = group.thread_rank();
  for (unsigned int step = 1; step < count; step *= 2) {
    _Tp other = group.shfl_down(value, step);
    if (rank + step < count) value = combine(value, other);
  }
  return group.shfl(value, 0);
}

}  // namespace cooperative_groups
#pragma clang force_cuda_host_device end
#endif
