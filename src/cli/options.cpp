#include "src/cli/options.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <utility>

#include "src/base/near_name.h"

namespace gpulua {

const char* const usage_text =
    "usage: gpulua [options] [script [args]]\n"
    "\n"
    "  -e code         run the code\n"
    "  -l module       require the module\n"
    "  -i              read commands after the script has run\n"
    "  -j command      as luajit: on, off, flush, v, dump[=flags[,file]], p, ...\n"
    "  -O[options]     as luajit: a level, +name, -name, name=value\n"
    "  --device name   the device that new arrays go to: cpu, cuda:0, ...\n"
    "  --default-dtype name\n"
    "                  the dtype of real numbers where nothing says which: float32, or float64 as NumPy has it\n"
    "  --check         run on the CPU device, and search kernels for mistakes while they run\n"
    "  --profile       print the kernels that ran, with their times, when the script ends\n"
    "  --trace file    write what the host and the devices did when to the file, for ui.perfetto.dev\n"
    "  --ranks n       run the script in n processes, the ranks of gpu.comm\n"
    "  --install-kernel\n"
    "                  tell Jupyter of gpulua, for notebooks; --prefix folder for folder/share/jupyter\n"
    "  -v, --version   print the version\n"
    "  -h, --help      print this text\n"
    "  --              end of the options\n"
    "  -               the script is the standard input\n"
    "\n"
    "Without a script, gpulua reads commands from the terminal, or a script from the standard input.\n";

namespace {

constexpr std::string_view long_options[] = {"--check",  "--default-dtype", "--device", "--help",  "--install-kernel",
                                             "--prefix", "--profile",       "--ranks",  "--trace", "--version"};

/// Options of other interpreters, and what to write.
constexpr std::pair<std::string_view, std::string_view> options_elsewhere[] = {
    {"-c", "-e code"},
    {"--timeline", "--trace file"},
    {"--eval", "-e code"},
    {"--execute", "-e code"},
    {"-p", "-e 'print(value)'"},
    {"-m", "-l module"},
    {"--require", "-l module"},
    {"-f", "the script's name alone"},
    {"--file", "the script's name alone"},
    {"--interactive", "-i"},
    {"-V", "--version"},
    {"-?", "--help"},
    {"-H", "--help"},
    {"-d", "--device name"},
    {"--backend", "--device name"},
    {"--cpu", "--device cpu"},
    {"--gpu", "--device cuda:0"},
    {"--cuda", "--device cuda:0"},
    {"--devices", "-e 'print(gpu.devices())', which lists them"},
    {"--list-devices", "-e 'print(gpu.devices())', which lists them"},
    {"--dtype", "--default-dtype float32 or float64"},
    {"--float32", "--default-dtype float32"},
    {"--float64", "--default-dtype float64"},
    {"--debug", "--check"},
    {"-n", "--ranks n"},
    {"-np", "--ranks n"},
};

class Parser {
 public:
  Parser(int argc, char** argv) : argc_(argc), argv_(argv) {}

  Options parse() {
    for (position_ = 1; position_ < argc_; ++position_) {
      const std::string_view word = argv_[position_];
      if (word.empty() || word[0] != '-' || word == "-") break;
      if (word == "--") {
        ++position_;
        break;
      }
      if (word.starts_with("--"))
        long_option(word.substr(2));
      else
        short_option(word);
    }
    options_.script = std::min(position_, argc_);
    check_installation();
    return std::move(options_);
  }

 private:
  using Kind = Action::Kind;

  void short_option(std::string_view word) {
    const std::string_view rest = word.substr(2);
    switch (word[1]) {
      case 'e':
        return add(Kind::execute, argument(rest, "-e", "code"));
      case 'l':
        return add(Kind::require, argument(rest, "-l", "a module"));
      case 'j':
        return add(Kind::jit_command, argument(rest, "-j", "a command"));
      case 'O':
        return add(Kind::optimise, std::string(rest));
      default:
        return flags(word);
    }
  }

  /// Options without an argument may share a word: -vi.
  void flags(std::string_view word) {
    for (const char flag : word.substr(1)) {
      switch (flag) {
        case 'i':
          options_.interactive = true;
          break;
        case 'v':
          options_.version = true;
          break;
        case 'h':
          options_.help = true;
          break;
        default:
          unknown_option(word, word.substr(1));
      }
    }
  }

  [[noreturn]] static void unknown_option(std::string_view word, std::string_view name) {
    for (const auto& [elsewhere, here] : options_elsewhere)
      if (word.substr(0, word.find('=')) == elsewhere)
        throw OptionError("unknown option '" + std::string(word) + "'; use " + std::string(here));
    NearName near(name);
    for (std::string_view option : long_options) near.offer(option.substr(2), option);
    if (!near.name().empty()) throw OptionError("unknown option '" + std::string(word) + "'" + near.question());
    throw UnknownOption("unknown option '" + std::string(word) + "'");
  }

  void long_option(std::string_view word) {
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const auto value = [&](const char* option, const char* what) {
      if (equals == word.npos) return argument({}, option, what);
      if (equals + 1 == word.size()) throw OptionError(std::string("option '") + option + "' expects " + what);
      return std::string(word.substr(equals + 1));
    };
    if (name == "device") {
      options_.device = value("--device", "a device");
    } else if (name == "default-dtype") {
      const std::string dtype = value("--default-dtype", "float32 or float64");
      options_.default_dtype = find_default_dtype(dtype);
      if (!options_.default_dtype)
        throw OptionError("option '--default-dtype' expects float32 or float64, got '" + dtype + "'");
    } else if (name == "ranks") {
      if (options_.ranks) throw OptionError("option '--ranks' is given twice");
      const int position = position_;
      const int count = rank_count(value("--ranks", "a number of processes"));
      options_.ranks = RanksOption{count, position, position_ - position + 1};
    } else if (name == "prefix") {
      options_.prefix = value("--prefix", "a folder");
    } else if (word == "install-kernel") {
      options_.install_kernel = true;
    } else if (word == "check") {
      options_.check = true;
    } else if (word == "profile") {
      options_.profile = true;
    } else if (name == "trace") {
      if (options_.trace) throw OptionError("option '--trace' is given twice");
      options_.trace = value("--trace", "a file");
      if (options_.trace->empty()) throw OptionError("option '--trace' expects a file");
    } else if (word == "version") {
      options_.version = true;
    } else if (word == "help") {
      options_.help = true;
    } else {
      unknown_option("--" + std::string(word), name);
    }
  }

  /// --install-kernel runs nothing.
  void check_installation() const {
    if (options_.prefix && !options_.install_kernel)
      throw OptionError("option '--prefix' says where --install-kernel installs; add --install-kernel");
    const bool runs = options_.script < argc_ || !options_.actions.empty() || options_.interactive || options_.check ||
                      options_.profile || options_.trace || options_.version || options_.ranks;
    if (options_.install_kernel && runs)
      throw OptionError(
          "option '--install-kernel' runs no script: of the others it takes --prefix, --device and --default-dtype "
          "alone");
  }

  static int rank_count(const std::string& text) {
    constexpr int most = 1024;
    int count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{} || end != text.data() + text.size() || count < 1 || count > most)
      throw OptionError("option '--ranks' expects a number of processes from 1 to " + std::to_string(most) + ", got '" +
                        text + "'");
    return count;
  }

  /// What is attached to the option, else the next word.
  std::string argument(std::string_view attached, const char* option, const char* what) {
    if (!attached.empty()) return std::string(attached);
    if (position_ + 1 >= argc_) throw OptionError(std::string("option '") + option + "' expects " + what);
    return argv_[++position_];
  }

  void add(Kind kind, std::string text) { options_.actions.push_back({kind, std::move(text)}); }

  int argc_;
  char** argv_;
  int position_ = 1;
  Options options_;
};

}  // namespace

bool Options::nothing_named() const {
  return !version && std::none_of(actions.begin(), actions.end(),
                                  [](const Action& action) { return action.kind == Action::Kind::execute; });
}

Options parse_options(int argc, char** argv) {
  return Parser(argc, argv).parse();
}

bool is_long_option(std::string_view word) {
  return std::ranges::find(long_options, word.substr(0, word.find('='))) != std::end(long_options);
}

}  // namespace gpulua
