#include <cstdio>
#include <exception>
#include <optional>

#include "src/base/config.h"
#include "src/cli/environment.h"
#include "src/cli/install_kernel.h"
#include "src/cli/options.h"
#include "src/cli/ranks.h"
#include "src/cli/session.h"
#include "src/cli/trace_parts.h"

int main(int argc, char** argv) {
  using namespace gpulua;
  try {
    const Options options = parse_options(argc, argv);
    if (options.help) {
      std::fputs(usage_text, stdout);
      return 0;
    }
    if (options.install_kernel) {
      const auto spec = install_kernel(options, Environment::read());
      std::printf("Jupyter starts gpulua by %s\n", spec.c_str());
      return 0;
    }
    if (options.ranks) {
      std::optional<TraceParts> parts;
      if (options.trace) parts.emplace(*options.trace, options.ranks->count);
      const int status = run_ranks(*options.ranks, argc, argv);
      if (parts) parts->join();
      return status;
    }
    Config config = Config::from_environment();
    if (options.check) {
      config.check = true;
      config.device = "cpu";
    }
    config.profile = options.profile;
    if (options.device) config.device = *options.device;
    if (options.default_dtype) config.default_dtype = *options.default_dtype;
    return run_session(options, Environment::read(), std::move(config), argc, argv);
  } catch (const UnknownOption& error) {
    std::fprintf(stderr, "gpulua: %s\n%s", error.what(), usage_text);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpulua: %s\n", error.what());
  }
  return 1;
}
