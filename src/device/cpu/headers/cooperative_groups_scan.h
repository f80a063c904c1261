#ifndef GPULUA_COOPERATIVE_GROUPS_SCAN_H
#define GPULUA_COOPERATIVE_GROUPS_SCAN_H
#include <cooperative_groups/reduce.h>
#pragma clang force_cuda_host_device begin
namespace cooperative_groups {

/// The values of the threads up to and with this one, combined.
template <class _Group, class _Tp, class _Operation = plus<_Tp>>
inline _Tp inclusive_scan(const _Group& group, _Tp value, _Operation combine = {}) {
  return group.combine_up_to(value, combine);
}
/// The same without this thread's own; the first gets a value of zero.
template <class _Group, class _Tp, class _Operation = plus<_Tp>>
inline _Tp exclusive_scan(const _Group& group, _Tp value, _Operation combine = {}) {
  return group.combine_before(value, combine);
}

}  // namespace cooperative_groups
#pragma clang force_cuda_host_device end
#endif
