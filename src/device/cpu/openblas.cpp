#include "src/device/cpu/openblas.h"

namespace gpulua::cpu {
namespace {

std::mutex& changing_threads() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

OpenBlasLibrary::OpenBlasLibrary(const char* op, const std::string& what)
    : OptionalLibrary(op, what + " on the cpu device need OpenBLAS", {"libopenblas.so.0"},
                      "apt-get install libopenblas0") {
  find(get_threads_, "openblas_get_num_threads"), find(set_threads_, "openblas_set_num_threads");
}

OpenBlasLibrary::OneThread::OneThread(const OpenBlasLibrary& library)
    : library_(library), lock_(changing_threads()), threads_(library.get_threads_()) {
  library_.set_threads_(1);
}

OpenBlasLibrary::OneThread::~OneThread() {
  library_.set_threads_(threads_);
}

}  // namespace gpulua::cpu
