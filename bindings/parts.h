#pragma once

// The parts of the module `gpu`, and of the methods of arrays. Each part is defined in the file named after it; these
// are the exceptions: open_arrays, open_devices and open_random are in lua_array.cpp, lua_device.cpp and
// lua_random.cpp, open_kernels in module.cpp. open.cpp calls the parts of the module,
// lua_array.cpp those of the methods.

#include <lua.hpp>

namespace gpulua {

// Each of these adds its functions and types to the `gpu` table at the top of the stack.
void open_arrays(lua_State* L);
void open_check(lua_State* L);
void open_creation(lua_State* L);
void open_devices(lua_State* L);
void open_exchange(lua_State* L);
void open_evaluation(lua_State* L);
void open_images(lua_State* L);
void open_indexing(lua_State* L);
/// gpu.jit, in jit_kernel.cpp.
void open_jit_kernels(lua_State* L);
void open_kernels(lua_State* L);
void open_linear_algebra(lua_State* L);
/// gpu.vectorize, in vectorize.cpp.
void open_lua_functions(lua_State* L);
/// Adds the C++ functions for all of the library's Lua files to the table at the top of the stack.
void add_core_functions(lua_State* L);
/// These add gpu.elementwise, gpu.module and gpu.kernel for sources of the library's own Lua files, which scripts in a
/// sandbox may run too, to the table at the top of the stack. In user_operation.cpp and module.cpp.
void add_own_operations(lua_State* L);
void add_own_kernels(lua_State* L);
/// Adds the C++ functions for blas.lua and blas_matrices.lua to the table at the top of the stack.
void add_blas_functions(lua_State* L);
/// Adds the C++ functions for fft.lua and fft_own.lua to the table at the top of the stack.
void add_fft_functions(lua_State* L);
/// Adds the C++ functions for the files linalg*.lua to the table at the top of the stack.
void add_linalg_functions(lua_State* L);
/// Adds the C++ functions for the files sparse*.lua to the table at the top of the stack.
void add_sparse_functions(lua_State* L);
/// Adds the C++ functions for sparse_linalg_direct.lua to the table at the top of the stack.
void add_sparse_factors(lua_State* L);
/// Stores the function of profile_report_key.
void open_measuring(lua_State* L);
/// Adds the C++ functions for measure.lua to the table at the top of the stack.
void add_measuring(lua_State* L);
/// Adds the C++ functions for terminal.lua to the table at the top of the stack.
void add_terminal(lua_State* L);
/// Adds the C++ functions for fuse.lua to the table at the top of the stack.
void add_fusing(lua_State* L);
/// Adds the C++ functions for guvectorize.lua to the table at the top of the stack.
void add_function_helpers(lua_State* L);
/// Adds the C++ functions for graph.lua to the table at the top of the stack.
void add_graphs(lua_State* L);
/// Adds the C++ functions for the files comm*.lua to the table at the top of the stack.
void add_ranks(lua_State* L);
/// These add the C++ functions for files.lua to the table at the top of the stack.
void add_array_files(lua_State* L);
void add_tables(lua_State* L);
/// Adds the C++ functions for arrow.lua to the table at the top of the stack.
void add_arrow(lua_State* L);
/// Adds the C++ functions for text_files.lua and files.lua to the table at the top of the stack.
void add_plain_files(lua_State* L);
void open_memory(lua_State* L);
void open_operations(lua_State* L);
void open_random(lua_State* L);
void open_reductions(lua_State* L);
void open_shapes(lua_State* L);
void open_scans(lua_State* L);
void open_sorting(lua_State* L);
void open_streams(lua_State* L);
void open_transfer(lua_State* L);
void open_user_operations(lua_State* L);
/// gpu.reduction, in user_reduction.cpp.
void open_user_reductions(lua_State* L);

// Each of these adds methods to the method table of arrays, at the top of the stack.
void open_array_transfer_methods(lua_State* L);
void open_linear_algebra_methods(lua_State* L);
void open_evaluation_methods(lua_State* L);
void open_exchange_methods(lua_State* L);
void open_indexing_methods(lua_State* L);
void open_operation_methods(lua_State* L);
void open_reduction_methods(lua_State* L);
void open_shape_methods(lua_State* L);
void open_scan_methods(lua_State* L);
void open_sorting_methods(lua_State* L);
/// Adds the arithmetic metamethods to the metatable at the top of the stack.
void set_operators(lua_State* L);

}  // namespace gpulua
