#include "bindings/lua/signature_texts.h"

#include <algorithm>

#include "library_file.h"

namespace gpulua {

namespace {

/// The first line for whose name, up to its parameters, `fits` is true.
template <class Fits>
std::string_view find_line(Fits fits) {
  std::string_view text = library_file("signatures.txt");
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (fits(line.substr(0, line.find_first_of("({")))) return line;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

std::string shortened(std::string_view line) {
  const std::size_t options = line.find(" [, {");
  return options == line.npos ? std::string(line) : std::string(line.substr(0, options)) + ")";
}

}  // namespace

std::string call_of(const std::string& op) {
  const std::string name = op.find(':') == op.npos ? "gpu." + op : op;
  return shortened(find_line([&](std::string_view function) { return function == name; }));
}

std::vector<std::string> arguments_of(const std::string& op) {
  const std::string call = call_of(op);
  std::string_view text = call;
  text.remove_prefix(std::min(text.find_first_of("({"), text.size()));
  text = text.substr(0, text.find('{'));
  constexpr std::string_view between = "()[], .";
  std::vector<std::string> names;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(between), text.size()));
    if (text.empty()) return names;
    const std::size_t end = std::min(text.find_first_of(between), text.size());
    names.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::string call_in_a_part(std::string_view name) {
  const std::string end = "." + std::string(name);
  return shortened(find_line([&](std::string_view function) {
    return function.starts_with("gpu.") && function.ends_with(end) && function.size() > end.size() + 3;
  }));
}

}  // namespace gpulua
