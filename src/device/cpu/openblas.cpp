#include "src/device/cpu/openblas.h"

#include <mutex>

#include "src/base/error.h"

namespace gpulua::cpu {
namespace {

std::mutex& changing_threads() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

OpenBlasLibrary::OpenBlasLibrary(const char* op, const char* what) : op_(op) {
  std::string why;
  library_ = DynamicLibrary::open("libopenblas.so.0", why);
  if (!library_)
    throw Error(ErrorKind::unavailable, "[" + op_ + "] " + what + " on the cpu device need OpenBLAS (" + why +
                                            "); install it with: apt-get install libopenblas0");
  find(get_threads_, "openblas_get_num_threads"), find(set_threads_, "openblas_set_num_threads");
}

void* OpenBlasLibrary::address(const std::string& symbol) const {
  void* const found = library_.symbol(symbol.c_str());
  if (found == nullptr)
    throw Error(ErrorKind::unavailable, "[" + op_ + "] libopenblas.so.0 has no " + symbol +
                                            "; install one that does with: apt-get install libopenblas0");
  return found;
}

OpenBlasLibrary::OneThread::OneThread(const OpenBlasLibrary& library, int threads)
    : library_(library), threads_(threads) {
  changing_threads().lock();
  library_.set_threads_(1);
}

OpenBlasLibrary::OneThread::~OneThread() {
  library_.set_threads_(threads_);
  changing_threads().unlock();
}

}  // namespace gpulua::cpu
