// gpulua-kernel: what Jupyter starts for a notebook.

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <xeus/xkernel.hpp>

#include "src/base/config.h"
#include "src/cli/environment.h"
#include "src/notebook/history.h"
#include "src/notebook/interpreter.h"
#include "src/notebook/server.h"

namespace {

constexpr const char* usage =
    "usage: gpulua-kernel -f connection-file [--device name]\n"
    "\n"
    "Jupyter starts this program for notebooks; gpulua --install-kernel tells Jupyter of it.\n";

struct Arguments {
  std::string connection;
  std::optional<std::string> device;
};

/// Nothing for a command line that makes no sense.
std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "-f")
      arguments.connection = argv[i + 1];
    else if (option == "--device")
      arguments.device = argv[i + 1];
    else
      return std::nullopt;
  }
  if (argc % 2 == 0 || arguments.connection.empty()) return std::nullopt;
  return arguments;
}

gpulua::Interpreter* interpreter = nullptr;

/// A Jupyter that was killed leaves no kernel running, which would keep a GPU's memory.
void end_with_parent() {
  std::thread([parent = getppid()] {
    while (getppid() == parent) std::this_thread::sleep_for(std::chrono::seconds(1));
    _exit(1);
  }).detach();
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = parse(argc, argv);
  if (!arguments) {
    std::fputs(usage, stderr);
    return 1;
  }
  try {
    // Before the first thread is made: SIGINT is for the thread of the cells alone, and there for while one runs.
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, nullptr);

    if (gpulua::Environment::read().ends_with_jupyter) end_with_parent();

    gpulua::Config config = gpulua::Config::from_environment();
    if (arguments->device) config.device = *arguments->device;
    auto owned = std::make_unique<gpulua::Interpreter>(std::move(config));
    interpreter = owned.get();
    xeus::xkernel kernel(xeus::load_configuration(arguments->connection), xeus::get_user_name(), gpulua::make_context(),
                         std::move(owned), gpulua::make_server, std::make_unique<gpulua::History>(), nullptr,
                         xeus::make_null_debugger, nl::json::object(), nl::json::error_handler_t::replace);
    // When Jupyter asks the kernel to end, xeus calls exit().
    std::atexit([] { interpreter->close(); });
    kernel.start();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpulua-kernel: %s\n", error.what());
  }
  return 1;
}
