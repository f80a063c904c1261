#include "src/device/cuda/cuda_driver.h"

#include <unistd.h>

#include <initializer_list>
#include <mutex>
#include <optional>

#include "src/base/dynamic_library.h"

namespace gpulua::cuda {
namespace {

// What the kernel driver leaves in the file system: on PCs and servers, on Jetson, under WSL.
constexpr std::initializer_list<const char*> device_files = {"/dev/nvidiactl", "/proc/driver/nvidia/version",
                                                             "/dev/nvmap", "/dev/dxg"};

bool has_device_file() {
  for (const char* file : device_files)
    if (access(file, F_OK) == 0) return true;
  return false;
}

std::optional<Driver> load(std::string& why) {
  if (!has_device_file()) {
    why = "no NVIDIA device was found (neither /dev/nvidiactl nor /dev/nvmap nor /dev/dxg is there)";
    return std::nullopt;
  }
  std::string loader_text;
  const DynamicLibrary library = DynamicLibrary::open("libcuda.so.1", loader_text);
  if (!library) {
    why = "the NVIDIA driver's library libcuda.so.1 could not be loaded (" + loader_text +
          "); install the NVIDIA driver: e.g. apt-get install nvidia-driver";
    return std::nullopt;
  }

  Driver driver;
  const char* missing = nullptr;
#define GPULUA_DRIVER_LOAD(member, function)                                            \
  driver.member = reinterpret_cast<decltype(driver.member)>(library.symbol(#function)); \
  if (driver.member == nullptr && missing == nullptr) missing = #function;
  GPULUA_DRIVER_REQUIRED(GPULUA_DRIVER_LOAD)
#undef GPULUA_DRIVER_LOAD
#define GPULUA_DRIVER_LOAD(member, function) \
  driver.member = reinterpret_cast<decltype(driver.member)>(library.symbol(#function));
  GPULUA_DRIVER_OPTIONAL(GPULUA_DRIVER_LOAD)
  GPULUA_DRIVER_GRAPHICS(GPULUA_DRIVER_LOAD)
#undef GPULUA_DRIVER_LOAD
  if (missing != nullptr) {
    why = "the NVIDIA driver is too old: its libcuda.so.1 has no " + std::string(missing) +
          "; install a driver for CUDA 11.2 or later";
    return std::nullopt;
  }

  if (const CUresult result = driver.init(0); result != CUDA_SUCCESS) {
    why = "cannot initialise the NVIDIA driver: " + driver.describe(result);
    return std::nullopt;
  }
  driver.driver_get_version(&driver.version);
  return driver;
}

}  // namespace

const Driver* Driver::find(std::string& why) {
  static std::mutex mutex;
  static std::optional<Driver> driver;
  const std::lock_guard lock(mutex);
  if (!driver) driver = load(why);
  return driver ? &*driver : nullptr;
}

bool Driver::shares_with_opengl() const {
#define GPULUA_DRIVER_IS_THERE(member, function) &&member != nullptr
  return true GPULUA_DRIVER_GRAPHICS(GPULUA_DRIVER_IS_THERE);
#undef GPULUA_DRIVER_IS_THERE
}

std::string Driver::describe(CUresult result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  get_error_name(result, &name);
  get_error_string(result, &text);
  return std::string(name != nullptr ? name : "CUDA error " + std::to_string(result)) + ": " +
         (text != nullptr ? text : "the driver has no description");
}

bool is_sticky(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
      return true;
    default:
      return false;
  }
}

}  // namespace gpulua::cuda
