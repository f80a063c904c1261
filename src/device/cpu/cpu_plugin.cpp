#include "src/device/plugin.h"

#include "src/base/error.h"
#include "src/device/cpu/cpu_device.h"

namespace gpulua::cpu {
namespace {

class CpuPlugin : public DevicePlugin {
 public:
  std::string kind() const override { return "cpu"; }
  std::vector<std::string> list(std::string&) override { return {"cpu"}; }
  std::unique_ptr<Device> open(int ordinal, const DeviceEnvironment& environment) override {
    if (ordinal != 0)
      throw Error(ErrorKind::unavailable, "[device] there is one cpu device, 'cpu'; got ordinal {}", ordinal);
    return std::make_unique<CpuDevice>(environment);
  }
};

}  // namespace
}  // namespace gpulua::cpu

extern "C" GPULUA_PLUGIN_EXPORT const gpulua::DevicePluginEntry gpulua_device_plugin = {
    gpulua::plugin_version, []() -> gpulua::DevicePlugin* { return new gpulua::cpu::CpuPlugin; }};
