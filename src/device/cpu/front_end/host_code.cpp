#include "src/device/cpu/front_end/host_code.h"

#include <clang/AST/Attr.h>
#include <clang/AST/Decl.h>
#include <clang/AST/DeclTemplate.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace gpulua::cpu {
namespace {

/// Headers of C++, of the system and of CUDA's libraries that have nothing for kernels.
constexpr std::string_view host_headers[] = {
    "any",
    "arpa/inet.h",
    "assert.h",
    "bitset",
    "cctype",
    "cerrno",
    "cfenv",
    "chrono",
    "clocale",
    "concepts",
    "condition_variable",
    "coroutine",
    "csignal",
    "cstdarg",
    "ctype.h",
    "cublas.h",
    "cublasLt.h",
    "cublas_v2.h",
    "cuda_egl_interop.h",
    "cuda_gl_interop.h",
    "cudnn.h",
    "cufft.h",
    "cufftXt.h",
    "cusolverDn.h",
    "cusolverSp.h",
    "cusolver_common.h",
    "cusparse.h",
    "deque",
    "dirent.h",
    "dlfcn.h",
    "errno.h",
    "exception",
    "fcntl.h",
    "fenv.h",
    "filesystem",
    "format",
    "fstream",
    "future",
    "getopt.h",
    "helper_cuda.h",
    "helper_functions.h",
    "helper_image.h",
    "helper_string.h",
    "helper_timer.h",
    "iomanip",
    "ios",
    "iosfwd",
    "iostream",
    "istream",
    "list",
    "locale",
    "locale.h",
    "map",
    "memory",
    "mpi.h",
    "mutex",
    "nccl.h",
    "netinet/in.h",
    "npp.h",
    "numbers",
    "nvJitLink.h",
    "nvToolsExt.h",
    "nvToolsExtCudaRt.h",
    "nvjpeg.h",
    "nvrtc.h",
    "nvtx3/nvToolsExt.h",
    "nvtx3/nvToolsExtCudaRt.h",
    "omp.h",
    "ostream",
    "pthread.h",
    "queue",
    "random",
    "ranges",
    "regex",
    "sched.h",
    "semaphore.h",
    "set",
    "shared_mutex",
    "signal.h",
    "source_location",
    "sstream",
    "stack",
    "stdarg.h",
    "stdexcept",
    "streambuf",
    "string_view",
    "strings.h",
    "sys/mman.h",
    "sys/resource.h",
    "sys/socket.h",
    "sys/stat.h",
    "sys/time.h",
    "sys/types.h",
    "sys/utsname.h",
    "sys/wait.h",
    "system_error",
    "thread",
    "typeinfo",
    "unistd.h",
    "unordered_map",
    "unordered_set",
    "variant",
    "wchar.h",
};

class HostBodies : public clang::ASTConsumer {
  bool shouldSkipFunctionBody(clang::Decl* declaration) override {
    const clang::FunctionDecl* function = declaration->getAsFunction();
    return function != nullptr && !function->hasAttr<clang::CUDADeviceAttr>() &&
           !function->hasAttr<clang::CUDAGlobalAttr>();
  }
};

/// Folders of such headers.
constexpr std::string_view host_folders[] = {"EGL/",   "GL/",     "GLES2/", "GLES3/", "GLFW/",  "X11/",
                                             "boost/", "gflags/", "glog/",  "gtest/", "vulkan/"};

class HostHeaders : public clang::PPCallbacks {
  bool FileNotFound(llvm::StringRef name) override {
    if (std::ranges::any_of(host_folders, [&](std::string_view folder) { return name.starts_with(folder); }))
      return true;
    return std::ranges::find(host_headers, std::string_view(name)) != std::end(host_headers);
  }
};

}  // namespace

std::unique_ptr<clang::ASTConsumer> skip_host_bodies() {
  return std::make_unique<HostBodies>();
}

std::unique_ptr<clang::PPCallbacks> skip_host_headers() {
  return std::make_unique<HostHeaders>();
}

}  // namespace gpulua::cpu
