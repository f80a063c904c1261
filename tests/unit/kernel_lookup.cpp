#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/device/device.h"
#include "src/device/kernel.h"
#include "tests/catch.h"

using namespace gpulua;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;

namespace {

KernelEntry make_entry(const std::string& name, const std::string& parameters) {
  return {name, "_Z" + name, parse_signature(parameters)};
}

CompiledModule make_module() {
  CompiledModule module;
  module.image = std::string(
      "\x7f"
      "ELF\0image",
      10);
  module.ptx = ".version 9.0";
  module.kernels = {make_entry("saxpy", "float, float const*, float*, unsigned long"),
                    make_entry("ns::axpy<float>", "float*"),
                    make_entry("ns::scale<float>", "float*"),
                    make_entry("ns::scale<unsigned long>", "unsigned long*"),
                    make_entry("a::copy", "int*"),
                    make_entry("b::copy", "int*"),
                    make_entry("fill", "float*, float"),
                    make_entry("fill", "float3*, float3")};
  module.globals = {{"coef", "_coef", "float [4]", 16}, {"ns::table", "_table", "", 1024}};
  return module;
}

class TestKernel : public Kernel {
 public:
  explicit TestKernel(const KernelAttributes& attributes) : Kernel(make_entry("big", "float*")) {
    attributes_ = attributes;
  }
  int occupancy(unsigned, std::size_t) const override { return 2; }
  unsigned suggested_block(std::size_t) const override { return 128; }
};

void check_rejected(const LaunchConfig& config, const std::string& message,
                    const KernelAttributes& attributes = {.max_threads = 1024}) {
  DeviceInfo device;
  device.max_shared_bytes = 101376;
  device.multiprocessors = 10;
  CHECK_THROWS_MATCHES(check_launch(device, TestKernel(attributes), config), Error, Message(message));
}

}  // namespace

TEST_CASE("a kernel is found by its full name", "[kernel]") {
  const CompiledModule module = make_module();
  CHECK(&find_kernel(module, "saxpy") == &module.kernels[0]);
  CHECK(&find_kernel(module, "ns::axpy<float>") == &module.kernels[1]);
  CHECK(&find_kernel(module, "::ns::axpy< float >") == &module.kernels[1]);
  CHECK(&find_kernel(module, "ns::scale<unsigned  long>") == &module.kernels[3]);
}

TEST_CASE("a kernel is found by a shorter name that only it has", "[kernel]") {
  const CompiledModule module = make_module();
  CHECK(&find_kernel(module, "axpy<float>") == &module.kernels[1]);
  CHECK(&find_kernel(module, "axpy") == &module.kernels[1]);
  CHECK(&find_kernel(module, "ns::axpy") == &module.kernels[1]);
  CHECK(&find_kernel(module, "scale<unsigned long>") == &module.kernels[3]);
  CHECK(&find_kernel(module, "b::copy") == &module.kernels[5]);
}

TEST_CASE("a name that several kernels have", "[kernel]") {
  const CompiledModule module = make_module();
  CHECK_THROWS_MATCHES(find_kernel(module, "scale"), Error,
                       Message("[module] expected the name of one kernel, got \"scale\", which may be any of "
                               "ns::scale<float>(float*), ns::scale<unsigned long>(unsigned long*): write it out as it "
                               "stands here"));
  CHECK_THROWS_WITH(find_kernel(module, "copy"), ContainsSubstring("a::copy(int*), b::copy(int*)"));
  CHECK_THROWS_WITH(find_kernel(module, "fill"), ContainsSubstring("fill(float*, float), fill(float3*, float3)"));
  CHECK(&find_kernel(module, "fill(float3*, float3)") == &module.kernels[7]);
}

TEST_CASE("a name that no kernel has", "[kernel]") {
  CompiledModule module = make_module();
  CHECK_THROWS_WITH(find_kernel(module, "reduce"),
                    ContainsSubstring("[module] no kernel \"reduce\"; this module has: saxpy("));
  CHECK_THROWS_WITH(find_kernel(module, "axpi"), ContainsSubstring("did you mean \"ns::axpy<float>\"?"));
  CHECK_THROWS_AS(find_kernel(module, ""), Error);
  CHECK_THROWS_AS(find_kernel(module, "py"), Error);
  module.kernels.resize(1);
  CHECK_THROWS_MATCHES(
      find_kernel(module, "saxpi"), Error,
      Message("[module] no kernel \"saxpi\", did you mean \"saxpy\"? This module has: saxpy(float, const "
              "float*, float*, unsigned long)"));
  module.kernels.clear();
  CHECK_THROWS_MATCHES(find_kernel(module, "saxpy"), Error,
                       Message("[module] no kernel \"saxpy\"; this module has none"));
}

TEST_CASE("globals are found as kernels are", "[kernel]") {
  const CompiledModule module = make_module();
  CHECK(&find_global(module, "coef") == &module.globals[0]);
  CHECK(&find_global(module, "table") == &module.globals[1]);
  CHECK_THROWS_MATCHES(
      find_global(module, "coeff"), Error,
      Message("[module] no global \"coeff\", did you mean \"coef\"? This module has: coef, ns::table"));
}

TEST_CASE("a module survives the way to bytes and back", "[kernel]") {
  CompiledModule module = make_module();
  module.kernels[0].engine = "scalar: recursion";
  module.kernels[0].warning = "is slow";
  const std::string bytes = serialize(module);
  const CompiledModule again = deserialize(bytes);
  CHECK(serialize(again) == bytes);
  CHECK(again.image == module.image);
  REQUIRE(again.kernels.size() == module.kernels.size());
  CHECK(to_string("k", again.kernels[0].signature) == to_string("k", module.kernels[0].signature));
  CHECK(again.kernels[0].engine == "scalar: recursion");
  CHECK(again.kernels[0].warning == "is slow");
  CHECK(again.kernels[1].engine.empty());
  CHECK(again.kernels[1].warning.empty());
  CHECK(again.kernels[7].signature.parameters[0].lanes == 3);
  CHECK(again.kernels[7].signature.parameters[0].writable);
  CHECK(again.globals[0].type == "float [4]");
  CHECK(again.globals[1].bytes == 1024);
}

TEST_CASE("damaged bytes are refused or read within bounds", "[kernel]") {
  const std::string bytes = serialize(make_module());
  for (std::size_t size = 0; size < bytes.size(); ++size) REQUIRE_THROWS_AS(deserialize(bytes.substr(0, size)), Error);
  CHECK_THROWS_AS(deserialize(bytes + "x"), Error);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    try {
      deserialize(damaged);
    } catch (const Error&) {
    }
  }
}

TEST_CASE("launches that the device cannot run", "[kernel]") {
  check_rejected({.grid = {0, 1, 1}, .block = {1, 1, 1}},
                 "[launch] kernel 'big': grid is empty (0 x 1 x 1): every dimension must be at least 1");
  check_rejected({.grid = {1, 1, 1}, .block = {32, 0, 1}},
                 "[launch] kernel 'big': block is empty (32 x 0 x 1): every dimension must be at least 1");
  check_rejected({.grid = {1, 70000, 1}, .block = {1, 1, 1}},
                 "[launch] kernel 'big': grid is 1 x 70000 x 1, the device takes at most 2147483647 x 65535 x 65535");
  check_rejected({.grid = {}, .block = {2048, 1, 1}},
                 "[launch] kernel 'big': block has 2048 threads, the device takes at most 1024");
  check_rejected({.grid = {}, .block = {1, 1, 128}},
                 "[launch] kernel 'big': block is 1 x 1 x 128, the device takes at most 1024 x 1024 x 64");
  check_rejected({.grid = {}, .block = {512, 1, 1}},
                 "[launch] kernel 'big': block has 512 threads, the kernel takes at most 256: its registers or its "
                 "__launch_bounds__ allow no more",
                 {.max_threads = 256});
  check_rejected({.grid = {}, .block = {32, 1, 1}, .shared_bytes = 100000},
                 "[launch] kernel 'big': a block needs 4096 bytes of static and 100000 bytes of dynamic shared "
                 "memory, the device has 101376 bytes a block",
                 {.shared_bytes = 4096, .max_threads = 1024});
  check_rejected({.grid = {3, 1, 1}, .block = {32, 1, 1}, .cluster = {2, 1, 1}},
                 "[launch] kernel 'big': expected a grid that is a multiple of the cluster (2 x 1 x 1), got 3 x 1 x 1");
  check_rejected(
      {.grid = {21, 1, 1}, .block = {32, 1, 1}, .cooperative = true},
      "[launch] kernel 'big': cooperative grid is 21 x 1 x 1 blocks, the device holds at most 20 of them at once");
}

TEST_CASE("launches at the limits pass", "[kernel]") {
  DeviceInfo device;
  device.max_shared_bytes = 101376;
  device.multiprocessors = 10;
  const TestKernel kernel({.shared_bytes = 4096, .max_threads = 1024});
  check_launch(device, kernel, {.grid = {2147483647, 65535, 65535}, .block = {1024, 1, 1}});
  check_launch(device, kernel, {.grid = {}, .block = {1, 16, 64}, .shared_bytes = 101376 - 4096});
  check_launch(device, kernel, {.grid = {20, 1, 1}, .block = {32, 1, 1}, .cooperative = true, .cluster = {2, 1, 1}});
}
