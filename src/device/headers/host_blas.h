// cuBLAS's headers: the types for host code, and those of numbers.
#ifndef GPULUA_HOST_BLAS_H
#define GPULUA_HOST_BLAS_H
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "gpulua/host_types.h"
#endif
