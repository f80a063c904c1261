// What the toolkit keeps from NVRTC of launches that begin before the kernel ahead of them has ended. A GPU without such
// launches has nothing to wait for.
#ifndef GPULUA_DEPENDENT_LAUNCH_H
#define GPULUA_DEPENDENT_LAUNCH_H
#if !defined(GPULUA_CPU) && !defined(__CUDACC_RDC__)  // NVRTC has them with -rdc, the cpu device always
__device__ inline void cudaGridDependencySynchronize() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ inline void cudaTriggerProgrammaticLaunchCompletion() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
#endif
#endif
