// LuaJIT's machine code on x86-64, as asm_exitstub_gen and asm_guardcc (lj_asm_x86.h) lay it out.
//
// The code lies in anonymous mappings, executable, within the reach of a 32-bit jump from LuaJIT's own functions.
//
// A guard is a conditional jump, `0F 8x rel32`, to an exit stub; the guard at the end of a loop may be inverted: a jump
// back to the loop's start, then `E9 rel32` to the stub. When a side trace begins at an exit, its guard jumps there
// instead.
//
// An exit stub pushes the low byte of its exit's number. Stubs come in groups of 32, which all traces share:
//     6A nn  EB xx      push nn; jmp to the end of the group         (31 times, 4 bytes apart)
//     6A nn             push nn
//     6A hh  E9 rel32   push the high byte; jmp lj_vm_exit_handler
//
// The exit handler learns the trace from a field of the global state, which a trace sets where it begins:
//     41 C7 86 disp32 imm32   mov dword [r14+disp32], imm32
// All machine code keeps the address of the state's dispatch table in r14. LuaJIT allocates that table together with
// the state's main thread (GG_State in lj_dispatch.h).

#include "src/cli/machine_code.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace gpulua {
namespace {

using Address = MachineCode::Address;

constexpr std::size_t group_size = 32;
constexpr std::size_t stub_bytes = 4;
constexpr std::size_t group_bytes = (group_size - 1) * stub_bytes + 2 + 2 + 5;

constexpr std::uint8_t push_byte = 0x6A;
constexpr std::uint8_t jump_short = 0xEB;
constexpr std::uint8_t jump_near = 0xE9;
constexpr std::uint8_t two_bytes = 0x0F;

const std::uint8_t* bytes_at(Address address) {
  return reinterpret_cast<const std::uint8_t*>(address);
}

/// Where a jump whose 32-bit displacement ends at `next` goes to.
Address near_target(Address next) {
  std::int32_t displacement;
  std::memcpy(&displacement, bytes_at(next - sizeof displacement), sizeof displacement);
  return next + static_cast<Address>(static_cast<std::intptr_t>(displacement));
}

/// A jump instruction: how long it is and where it goes; 0 bytes: another instruction.
struct Jump {
  std::size_t length = 0;
  Address target = 0;
};

Address short_target(Address next) {
  return next + static_cast<Address>(static_cast<std::intptr_t>(static_cast<std::int8_t>(bytes_at(next)[-1])));
}

Jump conditional_jump(Address address, Address end) {
  const std::uint8_t* code = bytes_at(address);
  if (end - address >= 6 && code[0] == two_bytes && (code[1] & 0xF0) == 0x80) return {6, near_target(address + 6)};
  if (end - address >= 2 && (code[0] & 0xF0) == 0x70) return {2, short_target(address + 2)};
  return {};
}

Jump unconditional_jump(Address address, Address end) {
  const std::uint8_t* code = bytes_at(address);
  if (end - address >= 5 && code[0] == jump_near) return {5, near_target(address + 5)};
  if (end - address >= 2 && code[0] == jump_short) return {2, short_target(address + 2)};
  return {};
}

/// True iff a whole group of exit stubs stands at `begin`, where group_bytes can be read.
bool is_stub_group(Address begin) {
  const std::uint8_t* code = bytes_at(begin);
  const std::uint8_t first = code[1];
  if (code[0] != push_byte || first % group_size != 0) return false;
  for (std::size_t i = 0; i < group_size; ++i, code += stub_bytes) {
    if (code[0] != push_byte || code[1] != static_cast<std::uint8_t>(first + i)) return false;
    if (i + 1 == group_size) return code[2] == push_byte && code[4] == jump_near;
    if (code[2] != jump_short || code[3] != stub_bytes * (group_size - 1 - i) - 2) return false;
  }
  return false;
}

std::uint8_t high_byte(Address group) {
  return bytes_at(group)[(group_size - 1) * stub_bytes + 3];
}

/// Reads /proc/self/maps without a heap or a lock: "begin-end perms offset device inode path".
class MapsReader {
 public:
  MapsReader() : file_(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
  ~MapsReader() {
    if (file_ >= 0) close(file_);
  }
  MapsReader(const MapsReader&) = delete;
  MapsReader& operator=(const MapsReader&) = delete;

  struct Line {
    Address begin = 0;
    Address end = 0;
    bool executable = false;
    bool anonymous = false;
  };

  bool next(Line& line) {
    line.begin = hexadecimal();
    line.end = hexadecimal();
    if (line.end == 0) return false;
    line.executable = get() == 'r' && get() == '-' && get() == 'x';
    int fields = 0;
    bool in_field = true;
    for (int c = get(); c != '\n' && c >= 0; c = get()) {
      if (c != ' ' && !in_field) ++fields;
      in_field = c != ' ';
    }
    line.anonymous = fields == 3;  // offset, device, inode, but no path
    return true;
  }

 private:
  /// The number up to the next character that is no digit, which is taken too.
  Address hexadecimal() {
    Address value = 0;
    for (;;) {
      const int c = get();
      if (c >= '0' && c <= '9')
        value = value * 16 + static_cast<Address>(c - '0');
      else if (c >= 'a' && c <= 'f')
        value = value * 16 + static_cast<Address>(c - 'a' + 10);
      else
        return value;
    }
  }

  int get() {
    if (position_ == size_) {
      const ssize_t got = file_ < 0 ? 0 : read(file_, buffer_, sizeof buffer_);
      if (got <= 0) return -1;
      size_ = static_cast<std::size_t>(got);
      position_ = 0;
    }
    return static_cast<unsigned char>(buffer_[position_++]);
  }

  int file_;
  char buffer_[1024];
  std::size_t size_ = 0;
  std::size_t position_ = 0;
};

}  // namespace

void MachineCode::locate() noexcept {
  constexpr Address reach = Address{1} << 31;
  const Address luajit = reinterpret_cast<Address>(&lua_sethook);
  count_ = 0;
  MapsReader maps;
  MapsReader::Line line;
  while (count_ < regions_.size() && maps.next(line)) {
    const bool near = line.begin < luajit ? luajit - line.begin < reach : line.end - luajit < reach;
    if (line.executable && line.anonymous && near) regions_[count_++] = {line.begin, line.end};
  }
}

const MachineCode::Region* MachineCode::find(Address address) const noexcept {
  for (std::size_t i = 0; i < count_; ++i)
    if (address >= regions_[i].begin && address < regions_[i].end) return &regions_[i];
  return nullptr;
}

bool MachineCode::is_exit_stub(Address address) const noexcept {
  const Region* region = find(address);
  if (region == nullptr || region->end - address < 2) return false;
  const Address before = stub_bytes * (bytes_at(address)[1] % group_size);
  if (address - region->begin < before) return false;
  const Address group = address - before;
  return region->end - group >= group_bytes && is_stub_group(group);
}

Address MachineCode::guard_exit(Address address) const noexcept {
  const Region* region = find(address);
  if (region == nullptr) return 0;
  Jump jump = conditional_jump(address, region->end);
  if (jump.length != 0 && is_exit_stub(jump.target)) return jump.target;
  if (jump.length != 0 && jump.target >= address) return 0;
  // Either the loop's jump back, which the jump to the stub follows, or no conditional jump at all.
  jump = unconditional_jump(address + jump.length, region->end);
  return jump.length != 0 && is_exit_stub(jump.target) ? jump.target : 0;
}

bool MachineCode::enters_trace(Address address) const noexcept {
  const Region* region = find(address);
  if (region == nullptr || region->end - address < 11) return false;
  const std::uint8_t* code = bytes_at(address);
  return code[0] == 0x41 && code[1] == 0xC7 && code[2] == 0x86;
}

bool MachineCode::jumps_back(Address address) const noexcept {
  const Region* region = find(address);
  if (region == nullptr) return false;
  const Jump jump = unconditional_jump(address, region->end);
  return jump.length != 0 && jump.target <= address;
}

Address MachineCode::first_exit() const noexcept {
  for (std::size_t i = 0; i < count_; ++i)
    for (Address group = regions_[i].begin; group + group_bytes <= regions_[i].end; ++group)
      if (bytes_at(group)[0] == push_byte && bytes_at(group)[1] == 0 && is_stub_group(group) && high_byte(group) == 0)
        return group;
  return 0;
}

}  // namespace gpulua
