// cuda.h: the driver's types for host programs. Kernels may have objects of textures and maps of tensors as parameters.
#ifndef GPULUA_HOST_DRIVER_H
#define GPULUA_HOST_DRIVER_H
#ifndef CUDA_VERSION
#define CUDA_VERSION CUDART_VERSION
#endif
typedef enum { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_OUT_OF_MEMORY = 2 } CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUarray_st* CUarray;
typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;
typedef struct CUgraph_st* CUgraph;
typedef struct CUgraphExec_st* CUgraphExec;
typedef enum {
  CU_MEM_HANDLE_TYPE_NONE = 0,
  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1,
  CU_MEM_HANDLE_TYPE_WIN32 = 2,
  CU_MEM_HANDLE_TYPE_FABRIC = 8
} CUmemAllocationHandleType;
typedef struct {
  int type, id;
} CUmemLocation;
typedef struct {
  CUmemLocation location;
  int flags;
} CUmemAccessDesc;
typedef struct {
  int type;
  CUmemAllocationHandleType requestedHandleTypes;
  CUmemLocation location;
  void* win32HandleMetaData;
  unsigned char allocFlags[16];
} CUmemAllocationProp;
typedef struct alignas(128) CUtensorMap_st {
  unsigned long long opaque[16];
} CUtensorMap;
#endif
