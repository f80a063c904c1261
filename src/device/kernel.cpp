#include "src/device/kernel.h"

#include <algorithm>
#include <cctype>

#include "src/base/characters.h"
#include "src/base/error.h"
#include "src/base/near_name.h"
#include "src/device/device.h"

namespace gpulua {
namespace {

// ---- modules as bytes
// ------------------------------------------------------------------------------------------------- Integers are
// little-endian and 64 bits wide, strings and lists have their length in front.

constexpr std::uint64_t format_version = 5;
constexpr std::uint64_t no_dtype = ~std::uint64_t{0};

class Writer {
 public:
  void number(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(value >> shift));
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() {
    const std::string_view bytes = take(8);
    std::uint64_t value = 0;
    for (int i = 7; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
    return value;
  }
  /// A number of at most `most`, as the type that holds it.
  template <typename T>
  T number(std::uint64_t most) {
    const std::uint64_t value = number();
    if (value > most) fail();
    return static_cast<T>(value);
  }
  std::string text() { return std::string(take(number())); }
  void end() const {
    if (!rest_.empty()) fail();
  }
  [[noreturn]] static void fail() { throw Error("[module] expected a serialized module, got other bytes"); }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) fail();
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
};

void write(Writer& writer, const Parameter& parameter) {
  writer.number(static_cast<std::uint64_t>(parameter.kind));
  writer.number(parameter.dtype ? static_cast<std::uint64_t>(*parameter.dtype) : no_dtype);
  writer.number(parameter.lanes);
  writer.number(parameter.writable);
  writer.number(parameter.size);
  writer.text(parameter.type);
}

Parameter read_parameter(Reader& reader) {
  Parameter parameter;
  parameter.kind = reader.number<ParameterKind>(static_cast<std::uint64_t>(ParameterKind::unknown));
  if (const std::uint64_t dtype = reader.number(); dtype != no_dtype) {
    if (dtype >= dtype_table().size()) Reader::fail();
    parameter.dtype = static_cast<DType>(dtype);
  }
  parameter.lanes = reader.number<std::uint8_t>(4);
  parameter.writable = reader.number<bool>(1);
  parameter.size = reader.number<std::uint32_t>(UINT32_MAX);
  parameter.type = reader.text();
  return parameter;
}

// ---- names
// ------------------------------------------------------------------------------------------------------------

/// Without the spaces that mean nothing: "axpy< unsigned  long >" is "axpy<unsigned long>".
std::string canonical(std::string_view name) {
  std::string result;
  bool space = false;
  for (char c : name) {
    if (std::isspace(static_cast<unsigned char>(c))) {
      space = true;
      continue;
    }
    if (space && !result.empty() && is_identifier(result.back()) && is_identifier(c)) result += ' ';
    space = false;
    result += c;
  }
  return result.starts_with("::") ? result.substr(2) : result;
}

std::string without_template_arguments(const std::string& name) {
  if (!name.ends_with('>')) return name;
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == '>') ++depth;
    if (name[i] == '<' && --depth == 0) return name.substr(0, i);
  }
  return name;
}

/// True when `name` is `full` less some or all of its namespaces.
bool names(std::string_view name, std::string_view full) {
  if (name == full) return true;
  if (name.empty() || full.size() < name.size() + 2 || !full.ends_with(name)) return false;
  const std::string_view scopes = full.substr(0, full.size() - name.size());
  return scopes.ends_with("::") &&
         std::count(scopes.begin(), scopes.end(), '<') == std::count(scopes.begin(), scopes.end(), '>');
}

std::string describe(const KernelEntry& entry) {
  return to_string(entry.name, entry.signature);
}
std::string describe(const GlobalEntry& entry) {
  return entry.name;
}

template <typename Entry>
std::string describe(const std::vector<const Entry*>& entries) {
  constexpr std::size_t most = 20;
  std::string result;
  for (std::size_t i = 0; i < std::min(entries.size(), most); ++i)
    result += (i > 0 ? ", " : "") + describe(*entries[i]);
  if (entries.size() > most) result += ", and " + std::to_string(entries.size() - most) + " more";
  return result;
}

/// The name that was probably meant; empty when none is near.
template <typename Entry>
std::string suggest(const std::vector<Entry>& entries, const std::string& name) {
  NearName near(name);
  for (const Entry& entry : entries) {
    const std::string full = canonical(entry.name);
    const std::string base = without_template_arguments(full);
    near.offer(full, entry.name);
    near.offer(base, entry.name);
    near.offer(std::string_view(base).substr(base.rfind(':') + 1), entry.name);
  }
  return near.name();
}

template <typename Entry>
const Entry& find_entry(const std::vector<Entry>& entries, std::string_view wanted, const std::string& noun) {
  const std::string name = canonical(wanted);
  const auto unique = [&](auto&& matches) -> const Entry* {
    std::vector<const Entry*> found;
    for (const Entry& entry : entries)
      if (matches(entry)) found.push_back(&entry);
    if (found.size() > 1)
      throw Error(
          "[module] expected the name of one {}, got \"{}\", which may be any of {}: write it out as it stands here",
          noun, wanted, describe(found));
    return found.empty() ? nullptr : found.front();
  };

  // Each way to match is looser than the one before it. Written out with its parameters, each of several overloads has
  // a name.
  if (auto* entry = unique([&](const Entry& e) { return canonical(e.name) == name; })) return *entry;
  if (auto* entry = unique([&](const Entry& e) { return canonical(describe(e)) == name; })) return *entry;
  if (auto* entry = unique([&](const Entry& e) { return names(name, canonical(e.name)); })) return *entry;
  if (auto* entry = unique([&](const Entry& e) { return names(name, without_template_arguments(canonical(e.name))); }))
    return *entry;

  const std::string message = "[module] no " + noun + " \"" + std::string(wanted) + "\"";
  if (entries.empty()) throw Error("{}; this module has none", message);
  std::vector<const Entry*> all;
  for (const Entry& entry : entries) all.push_back(&entry);
  const std::string meant = suggest(entries, name);
  throw Error("{}{} module has: {}", message, meant.empty() ? "; this" : ", did you mean \"" + meant + "\"? This",
              describe(all));
}

// ---- launches
// -----------------------------------------------------------------------------------------------------------

std::string to_string(const Dim3& size) {
  return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " + std::to_string(size.z);
}

std::uint64_t volume(const Dim3& size) {
  return std::uint64_t{size.x} * size.y * size.z;
}

void check_not_empty(const Kernel& kernel, const char* what, const Dim3& size) {
  if (size.x == 0 || size.y == 0 || size.z == 0)
    throw Error("[launch] kernel '{}': {} is empty ({}): every dimension must be at least 1", kernel.entry().name, what,
                to_string(size));
}

void check_dimensions(const Kernel& kernel, const char* what, const Dim3& size, const Dim3& most) {
  if (size.x > most.x || size.y > most.y || size.z > most.z)
    throw Error("[launch] kernel '{}': {} is {}, the device takes at most {}", kernel.entry().name, what,
                to_string(size), to_string(most));
}

void check_threads(const DeviceInfo& device, const Kernel& kernel, const Dim3& block) {
  const std::uint64_t threads = volume(block);
  const std::string message =
      "[launch] kernel '" + kernel.entry().name + "': block has " + std::to_string(threads) + " threads, ";
  if (threads > device.max_threads_per_block)
    throw Error("{}the device takes at most {}", message, device.max_threads_per_block);
  const unsigned most = kernel.attributes().max_threads;
  if (threads > most)
    throw Error("{}the kernel takes at most {}: its registers or its __launch_bounds__ allow no more", message, most);
}

void check_shared_memory(const DeviceInfo& device, const Kernel& kernel, std::size_t dynamic_bytes) {
  const std::size_t static_bytes = kernel.attributes().shared_bytes;
  const std::size_t most = device.max_shared_bytes;
  if (static_bytes <= most && dynamic_bytes <= most - static_bytes) return;
  throw Error(
      "[launch] kernel '{}': a block needs {} bytes of static and {} bytes of dynamic shared memory, the device "
      "has {} bytes a block",
      kernel.entry().name, static_bytes, dynamic_bytes, most);
}

void check_cluster(const Kernel& kernel, const Dim3& grid, const Dim3& cluster) {
  if (cluster.x == 0 && cluster.y == 0 && cluster.z == 0) return;
  check_not_empty(kernel, "cluster", cluster);
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
    throw Error("[launch] kernel '{}': expected a grid that is a multiple of the cluster ({}), got {}",
                kernel.entry().name, to_string(cluster), to_string(grid));
}

void check_cooperative(const DeviceInfo& device, const Kernel& kernel, const LaunchConfig& config) {
  if (!config.cooperative) return;
  const int resident = kernel.occupancy(static_cast<unsigned>(volume(config.block)), config.shared_bytes);
  const std::uint64_t most = static_cast<std::uint64_t>(resident) * static_cast<std::uint64_t>(device.multiprocessors);
  // Each dimension is within its limit, yet three large ones could pass 64 bits.
  const bool fits =
      config.grid.x <= most && std::uint64_t{config.grid.x} * config.grid.y <= most && volume(config.grid) <= most;
  if (!fits)
    throw Error("[launch] kernel '{}': cooperative grid is {} blocks, the device holds at most {} of them at once",
                kernel.entry().name, to_string(config.grid), most);
}

}  // namespace

std::string part_name(const KernelSource& whole, std::size_t index) {
  const KernelSource& part = whole.parts[index];
  std::string name = "part " + std::to_string(index + 1);
  if (!part.file.empty()) name += " (" + part.file + (part.image.empty() ? ":" + std::to_string(part.line) : "") + ")";
  return name;
}

std::string serialize(const CompiledModule& module) {
  Writer writer;
  writer.number(format_version);
  writer.text(module.image);
  writer.text(module.ptx);
  writer.text(module.ir);
  writer.number(module.kernels.size());
  for (const KernelEntry& kernel : module.kernels) {
    writer.text(kernel.name);
    writer.text(kernel.symbol);
    writer.text(kernel.engine);
    writer.text(kernel.warning);
    writer.text(kernel.limits);
    writer.number(kernel.signature.parameters.size());
    for (const Parameter& parameter : kernel.signature.parameters) write(writer, parameter);
  }
  writer.number(module.globals.size());
  for (const GlobalEntry& global : module.globals) {
    writer.text(global.name);
    writer.text(global.symbol);
    writer.text(global.type);
    writer.number(global.bytes);
  }
  return writer.take();
}

CompiledModule deserialize(std::string_view bytes) {
  Reader reader(bytes);
  if (reader.number() != format_version) Reader::fail();
  CompiledModule module;
  module.image = reader.text();
  module.ptx = reader.text();
  module.ir = reader.text();
  // Lists grow item by item: a count that the bytes do not bear out fails at the first missing item.
  for (std::uint64_t kernels = reader.number(); kernels > 0; --kernels) {
    KernelEntry& kernel = module.kernels.emplace_back();
    kernel.name = reader.text();
    kernel.symbol = reader.text();
    kernel.engine = reader.text();
    kernel.warning = reader.text();
    kernel.limits = reader.text();
    for (std::uint64_t parameters = reader.number(); parameters > 0; --parameters)
      kernel.signature.parameters.push_back(read_parameter(reader));
  }
  for (std::uint64_t globals = reader.number(); globals > 0; --globals) {
    GlobalEntry& global = module.globals.emplace_back();
    global.name = reader.text();
    global.symbol = reader.text();
    global.type = reader.text();
    global.bytes = reader.number<std::size_t>(SIZE_MAX);
  }
  reader.end();
  return module;
}

const KernelEntry& find_kernel(const CompiledModule& module, std::string_view name) {
  return find_entry(module.kernels, name, "kernel");
}

const GlobalEntry& find_global(const CompiledModule& module, std::string_view name) {
  return find_entry(module.globals, name, "global");
}

Dim3 grid_of(std::int64_t blocks) {
  constexpr std::int64_t most = 2147483647;
  if (blocks > most)
    throw Error(
        "[launch] expected work for at most {} blocks of threads, got {}: the arrays have more elements than one "
        "kernel goes through",
        most, blocks);
  return {static_cast<unsigned>(blocks)};
}

void check_launch(const DeviceInfo& device, const Kernel& kernel, const LaunchConfig& config) {
  check_not_empty(kernel, "grid", config.grid);
  check_not_empty(kernel, "block", config.block);
  check_dimensions(kernel, "grid", config.grid, device.max_grid);
  // A block's threads come first: their number is what people count. A product past 64 bits has a dimension out of
  // bounds.
  check_threads(device, kernel, config.block);
  check_dimensions(kernel, "block", config.block, device.max_block);
  check_shared_memory(device, kernel, config.shared_bytes);
  check_cluster(kernel, config.grid, config.cluster);
  check_cooperative(device, kernel, config);
}

}  // namespace gpulua
