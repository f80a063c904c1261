// Operations between the threads of a block. The serial engine refuses a kernel that uses one, with these messages.
#pragma once

#define GPULUA_REFUSED(name) \
  __attribute__((error(name "() is not supported by the CPU device yet: its threads run one after another")))

extern "C" {
GPULUA_REFUSED("__syncthreads") void __syncthreads();
GPULUA_REFUSED("__syncthreads_count") int __syncthreads_count(int);
GPULUA_REFUSED("__syncthreads_and") int __syncthreads_and(int);
GPULUA_REFUSED("__syncthreads_or") int __syncthreads_or(int);
GPULUA_REFUSED("__activemask") unsigned int __activemask();
GPULUA_REFUSED("__all_sync") int __all_sync(unsigned int, int);
GPULUA_REFUSED("__any_sync") int __any_sync(unsigned int, int);
GPULUA_REFUSED("__ballot_sync") unsigned int __ballot_sync(unsigned int, int);
}
GPULUA_REFUSED("__syncwarp") void __syncwarp(unsigned int = 0xffffffffu);

template <class T>
GPULUA_REFUSED("__shfl_sync") T __shfl_sync(unsigned int, T, int, int = 32);
template <class T>
GPULUA_REFUSED("__shfl_up_sync") T __shfl_up_sync(unsigned int, T, unsigned int, int = 32);
template <class T>
GPULUA_REFUSED("__shfl_down_sync") T __shfl_down_sync(unsigned int, T, unsigned int, int = 32);
template <class T>
GPULUA_REFUSED("__shfl_xor_sync") T __shfl_xor_sync(unsigned int, T, int, int = 32);
template <class T>
GPULUA_REFUSED("__match_any_sync") unsigned int __match_any_sync(unsigned int, T);
template <class T>
GPULUA_REFUSED("__match_all_sync") unsigned int __match_all_sync(unsigned int, T, int*);
template <class T>
GPULUA_REFUSED("__reduce_add_sync") T __reduce_add_sync(unsigned int, T);
template <class T>
GPULUA_REFUSED("__reduce_min_sync") T __reduce_min_sync(unsigned int, T);
template <class T>
GPULUA_REFUSED("__reduce_max_sync") T __reduce_max_sync(unsigned int, T);
template <class T>
GPULUA_REFUSED("__reduce_and_sync") T __reduce_and_sync(unsigned int, T);
template <class T>
GPULUA_REFUSED("__reduce_or_sync") T __reduce_or_sync(unsigned int, T);
template <class T>
GPULUA_REFUSED("__reduce_xor_sync") T __reduce_xor_sync(unsigned int, T);

#undef GPULUA_REFUSED
