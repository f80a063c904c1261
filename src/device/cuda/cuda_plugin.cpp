// The plugin's one exported symbol, and which CUDA devices there are.

#include "src/device/plugin.h"

#include <nvtx3/nvToolsExt.h>

#include <memory>
#include <string>
#include <vector>

#include "src/device/cuda/cuda_device.h"
#include "src/device/cuda/cuda_driver.h"

namespace gpulua::cuda {
namespace {

class CudaPlugin final : public DevicePlugin {
 public:
  std::string kind() const override { return "cuda"; }

  std::vector<std::string> list(std::string& why) override {
    const Driver* driver = Driver::find(why);
    if (driver == nullptr) return {};
    int count = 0;
    if (const CUresult result = driver->device_get_count(&count); result != CUDA_SUCCESS)
      why = driver->describe(result);
    else if (count == 0)
      why = "the NVIDIA driver lists no device (is CUDA_VISIBLE_DEVICES set?)";
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.push_back("cuda:" + std::to_string(i));
    return names;
  }

  std::string device_of(void* native_context) override {
    std::string why;
    const Driver* driver = Driver::find(why);
    return driver == nullptr ? "" : "cuda:" + std::to_string(ordinal_of(*driver, native_context));
  }

  std::unique_ptr<Device> open(int ordinal, const DeviceEnvironment& environment) override {
    std::string why;
    const std::vector<std::string> names = list(why);
    const std::string wanted = "cuda:" + std::to_string(ordinal);
    if (names.empty()) throw Error(ErrorKind::unavailable, "[device] {} is not available: {}", wanted, why);
    if (ordinal < 0 || ordinal >= static_cast<int>(names.size()))
      throw Error(ErrorKind::unavailable, "[device] expected an ordinal from 0 to {}, got {}", names.size() - 1,
                  wanted);
    void* const programs = environment.config.cuda_context;
    if (programs != nullptr && ordinal_of(*Driver::find(why), programs) != ordinal)
      throw Error("[device] expected {}, the device of the host program's context, got {}", device_of(programs),
                  wanted);
    return std::make_unique<CudaDevice>(*Driver::find(why), ordinal, environment);
  }

  // NVTX loads the library of the tool that has started this process, and does nothing where none has.
  void push_range(const char* name) noexcept override { nvtxRangePushA(name); }
  void pop_range() noexcept override { nvtxRangePop(); }

 private:
  /// The device of a context of the host program's.
  static int ordinal_of(const Driver& driver, void* native_context) {
    CUcontext before = nullptr;
    CUdevice device = -1;
    driver.context_get_current(&before);
    const CUresult result = driver.context_set_current(static_cast<CUcontext>(native_context));
    if (result == CUDA_SUCCESS) driver.context_get_device(&device);
    driver.context_set_current(before);
    if (device < 0) throw Error("[device] expected a CUcontext of the host program, got another address");
    return device;
  }
};

DevicePlugin* create() {
  return new CudaPlugin;
}

}  // namespace
}  // namespace gpulua::cuda

extern "C" GPULUA_PLUGIN_EXPORT const gpulua::DevicePluginEntry gpulua_device_plugin = {gpulua::plugin_version,
                                                                                        &gpulua::cuda::create};
