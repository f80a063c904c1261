#pragma once

#include <library_types.h>

#include <string>

#include "src/base/dtype.h"
#include "src/base/error.h"

namespace gpulua::cuda {

/// What cuBLAS and cuSOLVER call a floating or complex dtype. `op` is for the message of another one.
inline cudaDataType data_type(DType dtype, const char* op) {
  switch (dtype) {
    case DType::float16:
      return CUDA_R_16F;
    case DType::bfloat16:
      return CUDA_R_16BF;
    case DType::float32:
      return CUDA_R_32F;
    case DType::float64:
      return CUDA_R_64F;
    case DType::complex64:
      return CUDA_C_32F;
    case DType::complex128:
      return CUDA_C_64F;
    default:
      throw Error("[{}] expected a floating or complex dtype, got {}", op, name(dtype));
  }
}

}  // namespace gpulua::cuda
