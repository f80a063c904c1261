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

/// The values of all threads of the group, combined; every thread gets the result.
template <class _Group, class _Tp, class _Operation>
inline _Tp reduce(const _Group& group, _Tp value, _Operation&& combine) {
  return group.combine_all(value, combine);
}

}  // namespace cooperative_groups
#pragma clang force_cuda_host_device end
#endif
