// gpu.comm: arrays between the ranks of a job. comm.lua has the functions that scripts call; the functions here take
// the ranks first, as comm_open or comm_split has given them, and then the caller's name.

#include "src/comm/transport.h"

#include <algorithm>
#include <utility>

#include "bindings/lua_array.h"
#include "bindings/open.h"
#include "bindings/parts.h"
#include "bindings/state.h"
#include "src/expressions/transfer.h"

namespace gpulua {

using Ranks = std::shared_ptr<Transport>;

template <>
struct LuaType<Ranks> {
  static constexpr const char* name = "ranks";
};

namespace {

/// The arguments that all functions begin with.
struct Call {
  explicit Call(lua_State* L) : ranks(check<Ranks>(L, 1, "comm")), name(check_string(L, 2, "comm", "a name")) {}

  const char* op() const { return name.c_str(); }

  Ranks ranks;
  std::string name;
};

std::vector<char> elements(Node& array) {
  std::vector<char> bytes(array.nbytes());
  if (!bytes.empty()) download(array, bytes.data());
  return bytes;
}

void set_elements(const Array& array, const std::vector<char>& bytes) {
  if (bytes.empty()) return;
  if (array->contiguous) return upload(*array, bytes.data());
  const Array row_major = empty(array->device(), array->layout.shape, array->dtype);
  upload(*row_major, bytes.data());
  copy_into(array, row_major);
}

Array array_of(OpenDevice& device, Dims shape, DType dtype, const std::vector<char>& bytes) {
  Array array = empty(device, std::move(shape), dtype);
  set_elements(array, bytes);
  return array;
}

/// The ranks of the job, connected by the first call.
const Ranks& connected(Bindings& bindings) {
  if (!bindings.context().rights.trusted)
    throw Error("[comm] expected a trusted script for calls between processes, got one in a sandbox");
  if (!bindings.ranks) {
    std::atomic<bool>& interrupted = bindings.context().interrupted();
    bindings.ranks = connect(bindings.context().config().job, [&interrupted] {
      if (interrupted.exchange(false)) throw Error(ErrorKind::interrupted, "[comm] interrupted");
    });
  }
  return bindings.ranks;
}

/// comm_launch(): rank, size, local rank and local size, from the environment.
int launch_numbers(lua_State* L) {
  const Job& job = bindings_of(L).context().config().job;
  for (const int number : {job.rank, job.size, job.local_rank, job.local_size}) lua_pushinteger(L, number);
  return 4;
}

/// comm_open(): the ranks of the job.
int open_ranks(lua_State* L) {
  push<Ranks>(L, connected(bindings_of(L)));
  return 1;
}

/// comm_numbers(ranks): this rank, and how many there are.
int rank_and_size(lua_State* L) {
  const Ranks& ranks = check<Ranks>(L, 1, "comm");
  lua_pushinteger(L, ranks->rank());
  lua_pushinteger(L, ranks->size());
  return 2;
}

/// comm_split(ranks, op, {member, ...}): those ranks.
int split(lua_State* L) {
  const Call call(L);
  std::vector<int> members;
  for (int i = 1; i <= static_cast<int>(lua_objlen(L, 3)); ++i) {
    lua_rawgeti(L, 3, i);
    members.push_back(static_cast<int>(lua_tointeger(L, -1)));
    lua_pop(L, 1);
  }
  push<Ranks>(L, make_subgroup(call.ranks, std::move(members)));
  return 1;
}

/// comm_all_reduce(ranks, op, x, reduction): an array, or for a number a number.
int all_reduce(lua_State* L) {
  const Call call(L);
  const std::string_view reduction = check_string(L, 4, call.op(), "sum, prod, max, min or mean");
  if (lua_type(L, 3) == LUA_TNUMBER) {
    double number = lua_tonumber(L, 3);
    call.ranks->all_reduce(call.op(), &number, 1, DType::float64,
                           parse_reduction(reduction, DType::float64, call.op()));
    lua_pushnumber(L, number);
    return 1;
  }
  const Array array = check<Array>(L, 3, call.op());
  const Reduction kind = parse_reduction(reduction, array->dtype, call.op());
  std::vector<char> bytes = elements(*array);
  call.ranks->all_reduce(call.op(), bytes.data(), static_cast<std::size_t>(array->layout.size()), array->dtype, kind);
  push_array(L, array_of(array->device(), array->layout.shape, array->dtype, bytes));
  return 1;
}

/// comm_reduce_scatter(ranks, op, x, reduction): this rank's part along the first axis, whose extent is a multiple of
/// the number of ranks.
int reduce_scatter(lua_State* L) {
  const Call call(L);
  const Array array = check<Array>(L, 3, call.op());
  const Reduction kind = parse_reduction(check_string(L, 4, call.op(), "a name"), array->dtype, call.op());
  const std::vector<char> bytes = elements(*array);
  const auto size = static_cast<std::size_t>(call.ranks->size());
  Dims shape = array->layout.shape;
  shape[0] /= static_cast<std::int64_t>(size);
  std::vector<char> part(bytes.size() / size);
  call.ranks->reduce_scatter(call.op(), bytes.data(), part.data(), part.size() / array->itemsize(), array->dtype, kind);
  push_array(L, array_of(array->device(), std::move(shape), array->dtype, part));
  return 1;
}

/// comm_all_gather(ranks, op, x): the arrays of all ranks, which have one shape, behind one another along the first
/// axis.
int all_gather(lua_State* L) {
  const Call call(L);
  const Array array = check<Array>(L, 3, call.op());
  const std::vector<char> part = elements(*array);
  Dims shape = array->layout.shape;
  shape[0] *= call.ranks->size();
  std::vector<char> all(part.size() * static_cast<std::size_t>(call.ranks->size()));
  call.ranks->all_gather(call.op(), part.data(), all.data(), part.size());
  push_array(L, array_of(array->device(), std::move(shape), array->dtype, all));
  return 1;
}

/// comm_broadcast(ranks, op, x, root): x gets the root's elements.
int broadcast(lua_State* L) {
  const Call call(L);
  const Array array = check<Array>(L, 3, call.op());
  const int root = static_cast<int>(lua_tointeger(L, 4));
  const bool sends = call.ranks->rank() == root;
  std::vector<char> bytes = sends ? elements(*array) : std::vector<char>(array->nbytes());
  call.ranks->broadcast(call.op(), bytes.data(), bytes.size(), root);
  if (!sends) set_elements(array, bytes);
  return 0;
}

/// The list of {array, rank} at the index.
std::vector<std::pair<Array, int>> check_messages(lua_State* L, int index, const char* op) {
  std::vector<std::pair<Array, int>> messages;
  for (int i = 1; i <= static_cast<int>(lua_objlen(L, index)); ++i) {
    lua_rawgeti(L, index, i);
    lua_rawgeti(L, -1, 1);
    lua_rawgeti(L, -2, 2);
    messages.emplace_back(check<Array>(L, -2, op), static_cast<int>(lua_tointeger(L, -1)));
    lua_pop(L, 3);
  }
  return messages;
}

/// comm_transfer(ranks, op, {{x, to}, ...}, {{y, from}, ...}): sends and receives arrays, all at once.
int transfer(lua_State* L) {
  const Call call(L);
  const auto sent = check_messages(L, 3, call.op()), received = check_messages(L, 4, call.op());
  std::vector<std::vector<char>> memory;
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    // An array that goes to several ranks is downloaded once.
    const bool again = i > 0 && sent[i].first == sent[i - 1].first;
    if (!again) memory.push_back(elements(*sent[i].first));
    outgoing.push_back({sent[i].second, memory.back().data(), memory.back().size()});
  }
  const std::size_t first = memory.size();
  for (const auto& [array, from] : received) {
    memory.emplace_back(array->nbytes());
    incoming.push_back({from, memory.back().data(), memory.back().size()});
  }
  call.ranks->transfer(call.op(), outgoing, incoming);
  for (std::size_t i = 0; i < received.size(); ++i) set_elements(received[i].first, memory[first + i]);
  return 0;
}

/// comm_texts(ranks, op, text): the texts of all ranks.
int gather_texts(lua_State* L) {
  const Call call(L);
  const std::string text(check_string(L, 3, call.op(), "a text"));
  const std::vector<std::string> texts = call.ranks->gather_texts(call.op(), text);
  lua_createtable(L, static_cast<int>(texts.size()), 0);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    lua_pushlstring(L, texts[i].data(), texts[i].size());
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  return 1;
}

/// comm_barrier(ranks, op).
int barrier(lua_State* L) {
  const Call call(L);
  call.ranks->barrier(call.op());
  return 0;
}

/// comm_line(): "script.lua:12" under gpu.debug(true), else nil.
int debug_line(lua_State* L) {
  if (!bindings_of(L).context().debug) return 0;
  std::string position = caller_position(L);
  position.resize(position.size() - std::min<std::size_t>(position.size(), 2));  // the colon and the space
  lua_pushlstring(L, position.data(), position.size());
  return 1;
}

/// comm_fail(message): tells the other ranks.
int fail_rank(lua_State* L) {
  connected(bindings_of(L))->fail(std::string(check_string(L, 1, "abort", "a message")));
  return 0;
}

}  // namespace

void report_failure(lua_State* L, const std::string& message) {
  if (const Ranks ranks = ranks_of(L)) ranks->fail(message.substr(0, message.find('\n')));
}

void add_ranks(lua_State* L) {
  new_type<Ranks>(L, {}, "", {});
  set_functions(L, {{"comm_all_gather", protect<all_gather>},
                    {"comm_all_reduce", protect<all_reduce>},
                    {"comm_barrier", protect<barrier>},
                    {"comm_broadcast", protect<broadcast>},
                    {"comm_fail", protect<fail_rank>},
                    {"comm_launch", protect<launch_numbers>},
                    {"comm_line", protect<debug_line>},
                    {"comm_numbers", protect<rank_and_size>},
                    {"comm_open", protect<open_ranks>},
                    {"comm_reduce_scatter", protect<reduce_scatter>},
                    {"comm_split", protect<split>},
                    {"comm_texts", protect<gather_texts>},
                    {"comm_transfer", protect<transfer>}});
}

}  // namespace gpulua
