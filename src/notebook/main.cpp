// gpulua-kernel: what Jupyter starts for a notebook.

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <xeus/xkernel.hpp>
#include <xeus/xkernel_configuration.hpp>

#include "src/base/config.h"
#include "src/cli/environment.h"
#include "src/notebook/history.h"
#include "src/notebook/interpreter.h"
#include "src/notebook/server.h"

namespace {

constexpr const char* usage =
    "usage: gpulua-kernel -f connection_file.json [--device name]\n"
    "\n"
    "Jupyter starts this program for notebooks; gpulua --install-kernel tells Jupyter of it. By hand, the file names "
    "the\n"
    "ports and the key, as jupyter_client.connect.write_connection_file() writes them.\n";

struct Arguments {
  std::string connection;
  std::optional<std::string> device;
};

/// Throws an error for a command line that makes no sense.
Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (option != "-f" && option != "--device")
      throw std::invalid_argument("expected -f connection_file.json or --device name, got '" + option + "'");
    if (i + 1 == argc)
      throw std::invalid_argument("expected " + std::string(option == "-f" ? "a connection file" : "a device's name") +
                                  " after " + option + ", got none");
    if (option == "-f")
      arguments.connection = argv[i + 1];
    else
      arguments.device = argv[i + 1];
  }
  if (arguments.connection.empty()) throw std::invalid_argument("expected -f connection_file.json, got none");
  return arguments;
}

/// The ports and the key in the file. Throws an error that names the file.
xeus::xconfiguration read_connection(const std::string& path) {
  if (!std::ifstream(path).is_open())
    throw std::runtime_error("[-f] expected a connection file that can be read, got '" + path +
                             "': " + std::generic_category().message(errno));
  try {
    xeus::xconfiguration connection = xeus::load_configuration(path);
    if (connection.m_key.empty()) connection.m_signature_scheme = "none";  // as Jupyter has it: nothing is signed
    return connection;
  } catch (const std::exception& error) {
    throw std::runtime_error("[-f] expected a connection file, Jupyter's ports and key in JSON, got '" + path +
                             "': " + error.what());
  }
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
  if (argc == 2 && (std::string_view(argv[1]) == "--help" || std::string_view(argv[1]) == "-h"))
    return std::fputs(usage, stdout) < 0 ? 1 : 0;
  Arguments arguments;
  try {
    arguments = parse(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpulua-kernel: %s\n\n%s", error.what(), usage);
    return 1;
  }
  try {
    const xeus::xconfiguration connection = read_connection(arguments.connection);
    // Before the first thread is made: SIGINT is for the thread of the cells alone, and there for while one runs.
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, nullptr);

    if (gpulua::Environment::read().ends_with_jupyter) end_with_parent();

    gpulua::Config config = gpulua::Config::from_environment();
    if (arguments.device) config.device = *arguments.device;
    auto owned = std::make_unique<gpulua::Interpreter>(std::move(config));
    interpreter = owned.get();
    xeus::xkernel kernel(connection, xeus::get_user_name(), gpulua::make_context(), std::move(owned),
                         gpulua::make_server, std::make_unique<gpulua::History>(), nullptr, xeus::make_null_debugger,
                         nl::json::object(), nl::json::error_handler_t::replace);
    // When Jupyter asks the kernel to end, xeus calls exit().
    std::atexit([] { interpreter->close(); });
    kernel.start();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpulua-kernel: %s\n", error.what());
  }
  return 1;
}
