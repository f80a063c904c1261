#pragma once

// The CUDA driver library, libcuda.so.1, found when the program runs: nothing links against it.

#include <cuda.h>
#include <cudaProfiler.h>

#include <string>

#include "src/base/error.h"

// The driver's functions of cudaGL.h, which would need OpenGL's headers.
extern "C" {
CUresult CUDAAPI cuGLGetDevices_v2(unsigned* count, CUdevice* devices, unsigned most, int list);
CUresult CUDAAPI cuGraphicsGLRegisterBuffer(CUgraphicsResource* resource, unsigned buffer, unsigned flags);
CUresult CUDAAPI cuGraphicsGLRegisterImage(CUgraphicsResource* resource, unsigned image, unsigned target,
                                           unsigned flags);
}

namespace gpulua::cuda {

// X(member, exported name). The types come from cuda.h; a versioned name is spelled out, so what is looked up in the
// driver does not change with the headers.
#define GPULUA_DRIVER_REQUIRED(X)                                      \
  X(get_error_name, cuGetErrorName)                                    \
  X(get_error_string, cuGetErrorString)                                \
  X(init, cuInit)                                                      \
  X(driver_get_version, cuDriverGetVersion)                            \
  X(device_get_count, cuDeviceGetCount)                                \
  X(device_get, cuDeviceGet)                                           \
  X(device_get_name, cuDeviceGetName)                                  \
  X(device_get_attribute, cuDeviceGetAttribute)                        \
  X(device_get_uuid, cuDeviceGetUuid_v2)                               \
  X(device_total_memory, cuDeviceTotalMem_v2)                          \
  X(device_can_access_peer, cuDeviceCanAccessPeer)                     \
  X(primary_context_retain, cuDevicePrimaryCtxRetain)                  \
  X(primary_context_release, cuDevicePrimaryCtxRelease_v2)             \
  X(primary_context_get_state, cuDevicePrimaryCtxGetState)             \
  X(context_get_current, cuCtxGetCurrent)                              \
  X(context_set_current, cuCtxSetCurrent)                              \
  X(context_get_device, cuCtxGetDevice)                                \
  X(memory_allocate, cuMemAlloc_v2)                                    \
  X(memory_free, cuMemFree_v2)                                         \
  X(memory_allocate_from_pool, cuMemAllocFromPoolAsync)                \
  X(memory_free_async, cuMemFreeAsync)                                 \
  X(pool_create, cuMemPoolCreate)                                      \
  X(pool_destroy, cuMemPoolDestroy)                                    \
  X(pool_set_attribute, cuMemPoolSetAttribute)                         \
  X(pool_get_attribute, cuMemPoolGetAttribute)                         \
  X(pool_set_access, cuMemPoolSetAccess)                               \
  X(pool_trim, cuMemPoolTrimTo)                                        \
  X(host_allocate, cuMemHostAlloc)                                     \
  X(host_free, cuMemFreeHost)                                          \
  X(pointer_get_attributes, cuPointerGetAttributes)                    \
  X(ipc_get_memory_handle, cuIpcGetMemHandle)                          \
  X(ipc_open_memory, cuIpcOpenMemHandle_v2)                            \
  X(ipc_close_memory, cuIpcCloseMemHandle)                             \
  X(copy_host_to_device, cuMemcpyHtoDAsync_v2)                         \
  X(copy_device_to_host, cuMemcpyDtoHAsync_v2)                         \
  X(copy_device_to_device, cuMemcpyDtoDAsync_v2)                       \
  X(copy_peer, cuMemcpyPeerAsync)                                      \
  X(copy_3d, cuMemcpy3DAsync_v2)                                       \
  X(array_create, cuArray3DCreate_v2)                                  \
  X(array_destroy, cuArrayDestroy)                                     \
  X(texture_create, cuTexObjectCreate)                                 \
  X(texture_destroy, cuTexObjectDestroy)                               \
  X(surface_create, cuSurfObjectCreate)                                \
  X(surface_destroy, cuSurfObjectDestroy)                              \
  X(fill_8, cuMemsetD8Async)                                           \
  X(fill_16, cuMemsetD16Async)                                         \
  X(fill_32, cuMemsetD32Async)                                         \
  X(stream_create, cuStreamCreate)                                     \
  X(stream_destroy, cuStreamDestroy_v2)                                \
  X(stream_query, cuStreamQuery)                                       \
  X(stream_wait_event, cuStreamWaitEvent)                              \
  X(stream_begin_capture, cuStreamBeginCapture_v2)                     \
  X(stream_end_capture, cuStreamEndCapture)                            \
  X(graph_create, cuGraphCreate)                                       \
  X(graph_instantiate, cuGraphInstantiateWithFlags)                    \
  X(graph_launch, cuGraphLaunch)                                       \
  X(graph_destroy, cuGraphDestroy)                                     \
  X(graph_destroy_executable, cuGraphExecDestroy)                      \
  X(event_create, cuEventCreate)                                       \
  X(event_destroy, cuEventDestroy_v2)                                  \
  X(event_record, cuEventRecord)                                       \
  X(event_query, cuEventQuery)                                         \
  X(event_elapsed_time, cuEventElapsedTime)                            \
  X(module_load, cuModuleLoadDataEx)                                   \
  X(module_unload, cuModuleUnload)                                     \
  X(module_get_function, cuModuleGetFunction)                          \
  X(module_get_global, cuModuleGetGlobal_v2)                           \
  X(function_get_attribute, cuFuncGetAttribute)                        \
  X(function_set_attribute, cuFuncSetAttribute)                        \
  X(occupancy_max_blocks, cuOccupancyMaxActiveBlocksPerMultiprocessor) \
  X(occupancy_max_block_size, cuOccupancyMaxPotentialBlockSize)        \
  X(launch_kernel, cuLaunchKernel)                                     \
  X(profiler_start, cuProfilerStart)                                   \
  X(profiler_stop, cuProfilerStop)

// Null in drivers older than the CUDA version given.
#define GPULUA_DRIVER_OPTIONAL(X)                                               \
  X(launch_kernel_ex, cuLaunchKernelEx)                              /* 11.8 */ \
  X(module_function_count, cuModuleGetFunctionCount)                 /* 12.4 */ \
  X(module_enumerate_functions, cuModuleEnumerateFunctions)          /* 12.4 */ \
  X(function_get_name, cuFuncGetName)                                /* 12.3 */ \
  X(function_get_parameter, cuFuncGetParamInfo)                      /* 12.4 */ \
  X(graph_add_node, cuGraphAddNode_v2)                               /* 12.3 */ \
  X(graph_conditional_handle_create, cuGraphConditionalHandleCreate) /* 12.4 */

// What shares memory with OpenGL. Null in drivers for systems without it.
#define GPULUA_DRIVER_GRAPHICS(X)                                \
  X(gl_get_devices, cuGLGetDevices_v2)                           \
  X(gl_register_buffer, cuGraphicsGLRegisterBuffer)              \
  X(gl_register_image, cuGraphicsGLRegisterImage)                \
  X(graphics_unregister, cuGraphicsUnregisterResource)           \
  X(graphics_map, cuGraphicsMapResources)                        \
  X(graphics_unmap, cuGraphicsUnmapResources)                    \
  X(graphics_get_pointer, cuGraphicsResourceGetMappedPointer_v2) \
  X(graphics_get_array, cuGraphicsSubResourceGetMappedArray)

struct Driver {
#define GPULUA_DRIVER_MEMBER(member, function) decltype(&::function) member = nullptr;
  GPULUA_DRIVER_REQUIRED(GPULUA_DRIVER_MEMBER)
  GPULUA_DRIVER_OPTIONAL(GPULUA_DRIVER_MEMBER)
  GPULUA_DRIVER_GRAPHICS(GPULUA_DRIVER_MEMBER)
#undef GPULUA_DRIVER_MEMBER

  /// The newest CUDA version the driver runs: 13000 for 13.0.
  int version = 0;

  /// The initialised driver; null where there is none, and `why` then says what is missing. A machine without NVIDIA
  /// hardware pays a few stat() calls. A process opens the driver once; after a failure each call tries again.
  static const Driver* find(std::string& why);

  /// Whether it has all of GPULUA_DRIVER_GRAPHICS.
  bool shares_with_opengl() const;
  /// "CUDA_ERROR_INVALID_VALUE: invalid argument".
  std::string describe(CUresult result) const;
};

/// True for errors after which the context answers every call with that same error.
bool is_sticky(CUresult result);

}  // namespace gpulua::cuda
