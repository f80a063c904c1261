// What marks the declarations of functions for host programs, which host functions beside kernels call. A kernel that calls
// one does not compile. NVRTC has no host functions: there they have no definition.
#ifndef GPULUA_HOST
#ifdef GPULUA_CPU
#define GPULUA_HOST __host__
#else
#define GPULUA_HOST __device__
#endif
#endif
