// What marks the declarations of functions for host programs, which host functions beside kernels call. A kernel that calls
// one does not compile. NVRTC has no host functions: there they have no definition. GPULUA_HOST_EMPTY declares the
// constructor without arguments: for NVRTC variables of the host are the device's, whose constructors have to be known.
#ifndef GPULUA_HOST
#ifdef GPULUA_CPU
#define GPULUA_HOST __host__
#define GPULUA_HOST_EMPTY(name) __host__ name();
#else
#define GPULUA_HOST __device__
#define GPULUA_HOST_EMPTY(name) __device__ constexpr name() {}
#endif
#endif
