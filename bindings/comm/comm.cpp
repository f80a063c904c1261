// gpu.comm: arrays between the ranks of a job. comm.lua has the functions that scripts call; the functions here take
// the ranks first, as comm_open or comm_split has given them, and then the caller's name.

#include <algorithm>
#include <utility>

#include "bindings/arrays/lua_array.h"
#include "bindings/comm/comm.h"
#include "bindings/lua/caller.h"
#include "bindings/lua/state.h"
#include "src/algorithms/array_collectives.h"
#include "src/comm/mpi.h"
#include "src/comm/rank_devices.h"
#include "src/device/take_interrupt.h"
#include "src/exchange/shared_arrays.h"

namespace gpulua {

template <>
struct LuaType<std::shared_ptr<Ranks>> {
  static constexpr const char* name = "ranks";
};

namespace {

/// The arguments that all functions begin with.
struct Call {
  explicit Call(lua_State* L)
      : bindings(bindings_of(L)),
        ranks(check<std::shared_ptr<Ranks>>(L, 1, "comm")),
        name(check_string(L, 2, "comm", "a name")) {}

  const char* op() const { return name.c_str(); }
  Transport& transport() const { return *ranks->transport(); }
  /// Begins a call for arrays like this one. `of_all`: all ranks make it, not only a sender and a receiver.
  Communicator& begin(const Array& like, bool of_all = true) const {
    if (is_recording(bindings.context()))
      throw Error(
          "[{}] expected a call outside of gpu.fuse and gpu.graph, which run their function again without its calls of "
          "gpu.comm",
          name);
    if (bindings.library_work) bindings.library_work->begin(op(), of_all && ranks == bindings.ranks);
    return ranks->communicator(like->device().device());
  }

  Bindings& bindings;
  std::shared_ptr<Ranks> ranks;
  std::string name;
};

/// The ranks of the job, connected by the first call.
const std::shared_ptr<Ranks>& connected(Bindings& bindings) {
  Context& context = bindings.context();
  if (!context.rights.trusted)
    throw Error("[comm] expected a trusted script for calls between processes, got one in a sandbox");
  if (bindings.ranks) return bindings.ranks;
  const auto check_interrupt = [&interrupted = context.interrupted()] { take_interrupt(interrupted, "comm"); };
  const Job& job = context.config().job;
  auto ranks = std::make_shared<Ranks>(connect(job, check_interrupt));
  if (ranks->transport()->size() > 1) {
    bindings.library_work = std::make_shared<LibraryWork>(ranks->transport(), job.timeout, check_interrupt);
    ranks->connect_devices(bindings.device().device(), bindings.library_work);
    context.while_waiting = [work = bindings.library_work] { work->watch(); };
  }
  return bindings.ranks = std::move(ranks);
}

/// comm_launch(): rank, size, local rank and local size, from the environment.
int launch_numbers(lua_State* L) {
  const Job& job = bindings_of(L).context().config().job;
  for (const int number : {job.rank, job.size, job.local_rank, job.local_size}) lua_pushinteger(L, number);
  return 4;
}

/// comm_open(): the ranks of the job.
int open_ranks(lua_State* L) {
  push<std::shared_ptr<Ranks>>(L, connected(bindings_of(L)));
  return 1;
}

/// comm_numbers(ranks): this rank, and how many there are.
int rank_and_size(lua_State* L) {
  const Transport& ranks = *check<std::shared_ptr<Ranks>>(L, 1, "comm")->transport();
  lua_pushinteger(L, ranks.rank());
  lua_pushinteger(L, ranks.size());
  return 2;
}

/// comm_way(ranks): how elements on the ranks' devices move and, if no library of the devices moves them, why not.
int way(lua_State* L) {
  const Ranks& ranks = *check<std::shared_ptr<Ranks>>(L, 1, "comm");
  const std::string way = ranks.way();
  lua_pushlstring(L, way.data(), way.size());
  if (ranks.reason().empty()) return 1;
  lua_pushlstring(L, ranks.reason().data(), ranks.reason().size());
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
  auto ranks = std::make_shared<Ranks>(make_subgroup(call.ranks->transport(), std::move(members)));
  if (ranks->transport()->size() > 1)
    ranks->connect_devices(call.bindings.device().device(), call.bindings.library_work);
  push<std::shared_ptr<Ranks>>(L, std::move(ranks));
  return 1;
}

/// comm_all_reduce(ranks, op, x, reduction, out or nil): an array, or for a number a number.
int comm_all_reduce(lua_State* L) {
  const Call call(L);
  const std::string_view reduction = check_string(L, 4, call.op(), "sum, prod, max, min or mean");
  if (lua_type(L, 3) == LUA_TNUMBER) {
    double number = lua_tonumber(L, 3);
    call.transport().all_reduce(call.op(), &number, 1, DType::float64,
                                parse_reduction(reduction, DType::float64, call.op()));
    lua_pushnumber(L, number);
    return 1;
  }
  const Array array = check<Array>(L, 3, call.op());
  const Reduction kind = parse_reduction(reduction, array->dtype, call.op());
  if (lua_isnoneornil(L, 5)) {
    push_array(L, all_reduce(call.begin(array), call.op(), array, kind));
    return 1;
  }
  all_reduce(call.begin(array), call.op(), array, kind, check<Array>(L, 5, call.op()));
  lua_pushvalue(L, 5);
  return 1;
}

/// comm_reduce_scatter(ranks, op, x, reduction): this rank's part along the first axis, whose extent is a multiple of
/// the number of ranks.
int comm_reduce_scatter(lua_State* L) {
  const Call call(L);
  const Array array = check<Array>(L, 3, call.op());
  const Reduction kind = parse_reduction(check_string(L, 4, call.op(), "a name"), array->dtype, call.op());
  push_array(L, reduce_scatter(call.begin(array), call.op(), array, kind));
  return 1;
}

/// comm_all_gather(ranks, op, x): the arrays of all ranks, which have one shape, concatenated along the first
/// axis.
int comm_all_gather(lua_State* L) {
  const Call call(L);
  const Array array = check<Array>(L, 3, call.op());
  push_array(L, all_gather(call.begin(array), call.op(), array));
  return 1;
}

/// comm_broadcast(ranks, op, x, root): x gets the root's elements.
int comm_broadcast(lua_State* L) {
  const Call call(L);
  const Array array = check<Array>(L, 3, call.op());
  broadcast(call.begin(array), call.op(), array, static_cast<int>(lua_tointeger(L, 4)));
  return 0;
}

/// The list of {array, rank} at the index.
std::vector<ArrayAndRank> check_messages(lua_State* L, int index, const char* op) {
  std::vector<ArrayAndRank> messages;
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
int comm_transfer(lua_State* L) {
  const Call call(L);
  const auto sent = check_messages(L, 3, call.op()), received = check_messages(L, 4, call.op());
  if (sent.empty() && received.empty()) return 0;
  const Array& first = (sent.empty() ? received : sent).front().first;
  for (const auto& messages : {sent, received})
    for (const auto& [array, rank] : messages)
      if (&array->device() != &first->device())
        throw Error("[{}] expected arrays on one device, got some on {} and {}", call.name, first->device().name(),
                    array->device().name());
  const bool of_two = call.name == "send" || call.name == "recv_" || call.name == "exchange" || call.name == "group";
  transfer(call.begin(first, !of_two), call.op(), sent, received);
  return 0;
}

/// comm_texts(ranks, op, text): the texts of all ranks.
int gather_texts(lua_State* L) {
  const Call call(L);
  const std::string text(check_string(L, 3, call.op(), "a text"));
  const std::vector<std::string> texts = call.transport().gather_texts(call.op(), text);
  lua_createtable(L, static_cast<int>(texts.size()), 0);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    lua_pushlstring(L, texts[i].data(), texts[i].size());
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  return 1;
}

/// comm_barrier(ranks, op). Afterwards another rank may read or write memory that this one shares.
int barrier(lua_State* L) {
  const Call call(L);
  finish_shared_work(call.bindings.context());
  call.transport().barrier(call.op());
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
  connected(bindings_of(L))->transport()->fail(std::string(check_string(L, 1, "abort", "a message")));
  return 0;
}

}  // namespace

void report_failure(lua_State* L, const std::string& message) {
  Bindings* const bindings = find_bindings(L);
  if (bindings == nullptr) return;
  if (!bindings->ranks) return abort_unconnected(bindings->context().config().job);
  bindings->ranks->transport()->fail(message.substr(0, message.find('\n')));
  if (bindings->library_work) bindings->library_work->abort();
}

void add_ranks(lua_State* L) {
  new_type<std::shared_ptr<Ranks>>(L, {}, "", {});
  set_functions(L, {{"comm_all_gather", protect<comm_all_gather>},
                    {"comm_all_reduce", protect<comm_all_reduce>},
                    {"comm_barrier", protect<barrier>},
                    {"comm_broadcast", protect<comm_broadcast>},
                    {"comm_fail", protect<fail_rank>},
                    {"comm_launch", protect<launch_numbers>},
                    {"comm_line", protect<debug_line>},
                    {"comm_numbers", protect<rank_and_size>},
                    {"comm_open", protect<open_ranks>},
                    {"comm_reduce_scatter", protect<comm_reduce_scatter>},
                    {"comm_split", protect<split>},
                    {"comm_texts", protect<gather_texts>},
                    {"comm_transfer", protect<comm_transfer>},
                    {"comm_way", protect<way>}});
}

}  // namespace gpulua
