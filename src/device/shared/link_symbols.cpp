#include "src/device/shared/link_symbols.h"

#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <memory>

#include "src/base/characters.h"
#include "src/base/error.h"
#include "src/base/near_name.h"

namespace gpulua {
namespace {

/// "f(float)" for "_Z1ff"; C's names are as they are.
std::string readable(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return symbol.starts_with("_Z") && status == 0 ? text.get() : symbol;
}

/// "f" for "ns::f(float)".
std::string_view unscoped_name(std::string_view readable) {
  readable = readable.substr(0, readable.find('('));
  const std::size_t scope = readable.rfind("::");
  return scope == readable.npos ? readable : readable.substr(scope + 2);
}

/// True when `text` has the name and no longer name there.
bool has_name(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_identifier(text[at - 1])) && (end == text.size() || !is_identifier(text[end]))) return true;
  }
  return false;
}

struct Sighting {
  const LinkPart* part;
  const LinkSymbol* symbol;
};

std::map<std::string_view, std::vector<Sighting>> sightings(std::span<const LinkPart> parts) {
  std::map<std::string_view, std::vector<Sighting>> result;
  for (const LinkPart& part : parts)
    for (const LinkSymbol& symbol : part.symbols) result[symbol.name].push_back({&part, &symbol});
  return result;
}

[[noreturn]] void refuse(const std::string& lines) {
  throw Error(ErrorKind::compile, "[link] the parts do not link:{}", lines);
}

/// What is wrong with the two uses of a symbol; empty when nothing is.
std::string fault_of(const Sighting& first, const Sighting& second) {
  const LinkSymbol &a = *first.symbol, &b = *second.symbol;
  const std::string name = "\n  " + readable(a.name);
  if (!a.type.empty() && !b.type.empty() && a.type != b.type)
    return name + " is " + a.type + " in " + first.part->name + ", and " + b.type + " in " + second.part->name;
  if (a.bytes != 0 && b.bytes != 0 && a.bytes != b.bytes)
    return name + " has " + std::to_string(a.bytes) + " bytes in " + first.part->name + ", and " +
           std::to_string(b.bytes) + " in " + second.part->name;
  if (a.is_defined && b.is_defined && !(a.is_shared && b.is_shared))
    return name + " is defined in " + first.part->name + ", and again in " + second.part->name +
           "; one part defines it, the others declare it, a variable with extern, or each has its own, static";
  return {};
}

/// A symbol of a name so near that it was probably meant.
std::string meant_instead(const std::string& missing,
                          const std::map<std::string_view, std::vector<Sighting>>& symbols) {
  const std::string wanted = readable(missing);
  NearName near(unscoped_name(wanted));
  for (const auto& [name, places] : symbols) {
    for (const Sighting& place : places) {
      if (!place.symbol->is_defined) continue;
      const std::string other = readable(place.symbol->name);
      if (unscoped_name(other) == unscoped_name(wanted)) {
        const bool one_is_c = missing.starts_with("_Z") != place.symbol->name.starts_with("_Z");
        return "; " + place.part->name + " defines " + other +
               (one_is_c ? ", and only one of the two is extern \"C\"" : ", with other parameters");
      }
      near.offer(unscoped_name(other), other);
    }
  }
  return near.question();
}

}  // namespace

void check_link(std::span<const LinkPart> parts) {
  std::string faults;
  for (const auto& [name, places] : sightings(parts))
    for (std::size_t i = 1; i < places.size(); ++i) {
      std::string fault;
      for (std::size_t k = 0; k < i && fault.empty(); ++k) fault = fault_of(places[k], places[i]);
      faults += fault;
    }
  if (!faults.empty()) refuse(faults);
}

void refuse_missing(std::span<const LinkPart> parts, std::string_view log) {
  std::string faults;
  const auto symbols = sightings(parts);
  for (const auto& [name, places] : symbols) {
    const std::string symbol(name), text = readable(symbol);
    if (!has_name(log, symbol) && !has_name(log, text)) continue;
    std::string users;
    bool is_defined = false;
    for (const Sighting& place : places) {
      is_defined |= place.symbol->is_defined;
      users += (users.empty() ? "" : ", ") + place.part->name;
    }
    if (!is_defined)
      faults += "\n  " + text + " is used in " + users + ", and no part defines it" + meant_instead(symbol, symbols);
  }
  if (!faults.empty()) refuse(faults);
}

}  // namespace gpulua
