// What scripts and their kernels print, and functions of the host program where a device has none.

#include <string>
#include <vector>

#include "tests/embed/api.h"

namespace {

void keep_line(void* user, const char* text, size_t size) {
  static_cast<std::vector<std::string>*>(user)->emplace_back(text, size);
}

gpulua_options printing_to(std::vector<std::string>& lines, unsigned flags) {
  gpulua_options options = options_with(flags);
  options.device = "cpu";
  options.print = &keep_line;
  options.user = &lines;
  return options;
}

}  // namespace

TEST_CASE("print is known in functions for a device, whoever has put it there", "[cpu]") {
  const unsigned flags = GENERATE(0U, unsigned{GPULUA_SANDBOX | GPULUA_KERNELS});
  std::vector<std::string> lines;
  ApiState state(printing_to(lines, flags));
  CHECK(state.run("local x = gpu.zeros(1)\n"
                  "local show = gpu.jit(function(x) if gpu.i == 1 then print('x is', x[1]) end end)\n"
                  "print(tostring(show))") == GPULUA_OK);
  INFO(state.error());
  CHECK(state.run("local function square(x) return x * x end\n"
                  "y = gpu.vectorize(function(x) return math.abs(square(x)) end)(gpu.ones(2)):sum():item()") ==
        GPULUA_OK);
}

TEST_CASE("a function of the host program in a function for a device is named", "[cpu]") {
  ApiState state(on_cpu());
  const auto nothing = [](gpulua_state*, void*, const gpulua_value*, size_t, gpulua_value*, size_t* count) {
    *count = 0;
    return GPULUA_OK;
  };
  REQUIRE(gpulua_register(state.get(), "host.f", nothing, nullptr) == GPULUA_OK);
  CHECK(state.run("gpu.vectorize(function(x) return host.f(x) end)(gpu.ones(2)):item()") == GPULUA_RUNTIME);
  CHECK_THAT(state.error(), Catch::Matchers::ContainsSubstring("host.f is a function of the host program") &&
                                Catch::Matchers::ContainsSubstring("which a device cannot call"));
}

TEST_CASE("charts are shown by the program's print", "[cpu]") {
  std::vector<std::string> lines;
  ApiState state(printing_to(lines, 0));
  REQUIRE(state.run("gpu.plot.show(gpu.plot.line(gpu.arange(5)), {width = 40, height = 6})") == GPULUA_OK);
  CHECK_FALSE(lines.empty());
}
