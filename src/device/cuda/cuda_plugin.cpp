// The plugin's one exported symbol, and which CUDA devices there are.

#include "src/device/plugin.h"

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

  std::unique_ptr<Device> open(int ordinal, const DeviceEnvironment& environment) override {
    std::string why;
    const std::vector<std::string> names = list(why);
    const std::string wanted = "cuda:" + std::to_string(ordinal);
    if (names.empty()) throw Error(ErrorKind::unavailable, "[device] " + wanted + " is not available: " + why);
    if (ordinal < 0 || ordinal >= static_cast<int>(names.size()))
      throw Error(ErrorKind::unavailable,
                  "[device] expected an ordinal from 0 to " + std::to_string(names.size() - 1) + ", got " + wanted);
    return std::make_unique<CudaDevice>(*Driver::find(why), ordinal, environment);
  }
};

DevicePlugin* create() {
  return new CudaPlugin;
}

}  // namespace
}  // namespace gpulua::cuda

extern "C" GPULUA_PLUGIN_EXPORT const gpulua::DevicePluginEntry gpulua_device_plugin = {gpulua::plugin_version,
                                                                                        &gpulua::cuda::create};
