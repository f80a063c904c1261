// new and delete for device code. Not __host__ ones: those would be the program's own.
#pragma once

__device__ inline void* operator new(size_t bytes) { return malloc(bytes); }
__device__ inline void* operator new[](size_t bytes) { return malloc(bytes); }
__device__ inline void* operator new(size_t, void* place) noexcept { return place; }
__device__ inline void* operator new[](size_t, void* place) noexcept { return place; }
__device__ inline void operator delete(void* memory) noexcept { free(memory); }
__device__ inline void operator delete[](void* memory) noexcept { free(memory); }
__device__ inline void operator delete(void* memory, size_t) noexcept { free(memory); }
__device__ inline void operator delete[](void* memory, size_t) noexcept { free(memory); }
