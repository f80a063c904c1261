#pragma once

// The functions of libcusolver that are used.

#include <cusolverDn.h>

#include "src/base/config.h"

namespace gpulua::cuda {

// X(member, exported name)
#define GPULUA_CUSOLVER_FUNCTIONS(X)                               \
  X(create, cusolverDnCreate)                                      \
  X(destroy, cusolverDnDestroy)                                    \
  X(create_parameters, cusolverDnCreateParams)                     \
  X(destroy_parameters, cusolverDnDestroyParams)                   \
  X(set_stream, cusolverDnSetStream)                               \
  X(create_jacobi, cusolverDnCreateGesvdjInfo)                     \
  X(destroy_jacobi, cusolverDnDestroyGesvdjInfo)                   \
  X(lu_size, cusolverDnXgetrf_bufferSize)                          \
  X(lu, cusolverDnXgetrf)                                          \
  X(lu_solve, cusolverDnXgetrs)                                    \
  X(cholesky_size, cusolverDnXpotrf_bufferSize)                    \
  X(cholesky, cusolverDnXpotrf)                                    \
  X(reflectors_size, cusolverDnXgeqrf_bufferSize)                  \
  X(reflectors, cusolverDnXgeqrf)                                  \
  X(symmetric_eigen_size, cusolverDnXsyevd_bufferSize)             \
  X(symmetric_eigen, cusolverDnXsyevd)                             \
  X(symmetric_eigen_batch_size, cusolverDnXsyevBatched_bufferSize) \
  X(symmetric_eigen_batch, cusolverDnXsyevBatched)                 \
  X(eigen_size, cusolverDnXgeev_bufferSize)                        \
  X(eigen, cusolverDnXgeev)                                        \
  X(singular_values_size, cusolverDnXgesvd_bufferSize)             \
  X(singular_values, cusolverDnXgesvd)

struct Cusolver {
#define GPULUA_CUSOLVER_MEMBER(member, function) decltype(&::function) member = nullptr;
  GPULUA_CUSOLVER_FUNCTIONS(GPULUA_CUSOLVER_MEMBER)
#undef GPULUA_CUSOLVER_MEMBER
};

/// Routines for one type of elements, whose pointers to elements are declared without the type.
struct SolverFunctions {
  cusolverStatus_t (*cholesky_batch)(cusolverDnHandle_t, cublasFillMode_t, int n, void* const* a, int lda, int* info,
                                     int batch);
  // By Jacobi's method: u is m x m, v n x n.
  cusolverStatus_t (*singular_batch_size)(cusolverDnHandle_t, cusolverEigMode_t, int m, int n, const void* a, int lda,
                                          const void* values, const void* u, int ldu, const void* v, int ldv, int* size,
                                          gesvdjInfo_t, int batch);
  cusolverStatus_t (*singular_batch)(cusolverDnHandle_t, cusolverEigMode_t, int m, int n, void* a, int lda,
                                     void* values, void* u, int ldu, void* v, int ldv, void* work, int size, int* info,
                                     gesvdjInfo_t, int batch);
  cusolverStatus_t (*orthogonal_size)(cusolverDnHandle_t, int m, int n, int k, const void* a, int lda,
                                      const void* factors, int* size);
  cusolverStatus_t (*orthogonal)(cusolverDnHandle_t, int m, int n, int k, void* a, int lda, const void* factors,
                                 void* work, int size, int* info);
};

/// All that is used of libcusolver.
struct SolverLibrary {
  Cusolver call;
  SolverFunctions of_float, of_double, of_complex, of_double_complex;
};

/// Throws ErrorKind::unavailable, saying what to install, when libcusolver is not found.
SolverLibrary load_cusolver(const Config& config);

/// Throws Error for another status than success.
void check_cusolver(cusolverStatus_t status);

}  // namespace gpulua::cuda
