#include "bindings/kernels/stream.h"

#include "bindings/arrays/lua_device.h"
#include "bindings/kernels/kernel_parts.h"
#include "bindings/lua/bracket.h"
#include "bindings/lua/state.h"

namespace gpulua {

namespace {

/// gpu.stream([device])
/// A new queue of work on the device.
int new_stream(lua_State* L) {
  const auto device = check_device(L, 1, "stream");
  push(L, StreamHandle{device, device->create_stream()});
  return 1;
}

/// s:sync()
int stream_synchronize(lua_State* L) {
  const auto& handle = check<StreamHandle>(L, 1, "sync");
  evaluate_writes(bindings_of(L).context());
  evaluate_shared_reads(bindings_of(L).context());
  handle.device->synchronize(*handle.stream);
  return 0;
}

void check_same_device(const char* op, const char* what, const OpenDevice& expected, const OpenDevice& got) {
  if (&expected != &got) throw Error("[{}] expected {} of {}, got one of {}", op, what, expected.name(), got.name());
}

/// s:wait(event)
/// Later work on s starts after the event. An event that was never recorded does not delay it.
int stream_wait(lua_State* L) {
  const auto& stream = check<StreamHandle>(L, 1, "wait");
  const auto& event = check<EventHandle>(L, 2, "wait");
  check_same_device("wait", "an event", *stream.device, *event.device);
  stream.device->check_not_captured("waits for an event");
  stream.device->wait(*stream.stream, *event.event);
  return 0;
}

/// s:done()
int stream_done(lua_State* L) {
  const auto& handle = check<StreamHandle>(L, 1, "done");
  handle.device->check_not_captured("asks a stream");
  lua_pushboolean(L, handle.device->device().done(*handle.stream));
  return 1;
}

int stream_tostring(lua_State* L) {
  lua_pushfstring(L, "stream of %s: %p", check<StreamHandle>(L, 1, "tostring").device->name().c_str(),
                  lua_touserdata(L, 1));
  return 1;
}

/// gpu.event([device])
int new_event(lua_State* L) {
  const auto device = check_device(L, 1, "event");
  push(L, EventHandle{device, device->device().create_event()});
  return 1;
}

/// e:record([s])
/// Records the event on the stream, by default the current one.
int event_record(lua_State* L) {
  auto& event = check<EventHandle>(L, 1, "record");
  StreamRef stream = event.device->stream();
  if (!lua_isnoneornil(L, 2)) {
    const auto& handle = check<StreamHandle>(L, 2, "record");
    check_same_device("record", "a stream", *event.device, *handle.device);
    stream = handle.stream;
  }
  event.device->check_not_captured("records an event");
  evaluate_writes(bindings_of(L).context());
  event.device->device().record(*event.event, *stream);
  event.recorded = true;
  return 0;
}

/// e:sync()
int event_synchronize(lua_State* L) {
  const auto& handle = check<EventHandle>(L, 1, "sync");
  handle.device->synchronize(*handle.event);
  return 0;
}

/// e:done()
/// True when the work up to the event is done; true for an event that was never recorded.
int event_done(lua_State* L) {
  const auto& handle = check<EventHandle>(L, 1, "done");
  lua_pushboolean(L, handle.device->device().done(*handle.event));
  return 1;
}

/// e:elapsed(later)
/// Milliseconds between the events. Waits for both. Throws Error when `to` is the earlier one.
int event_elapsed(lua_State* L) {
  const auto& from = check<EventHandle>(L, 1, "elapsed");
  const auto& to = check<EventHandle>(L, 2, "elapsed");
  check_same_device("elapsed", "an event", *from.device, *to.device);
  if (!from.recorded || !to.recorded)
    throw Error(
        "[elapsed] expected two events that were recorded, as in start:elapsed(stop), got {}: e:record() takes the "
        "time",
        from.recorded ? "stop, the argument, unrecorded"
        : to.recorded ? "start, before the colon, unrecorded"
                      : "both unrecorded");
  from.device->synchronize(*from.event);
  to.device->synchronize(*to.event);
  const float milliseconds = from.device->device().elapsed(*from.event, *to.event);
  if (milliseconds < 0)
    throw Error(
        "[elapsed] expected the later event as the argument, as in start:elapsed(stop), got one that is {} ms earlier: "
        "swap the two",
        to_string(Scalar(double{-milliseconds})));
  lua_pushnumber(L, milliseconds);
  return 1;
}

int event_tostring(lua_State* L) {
  lua_pushfstring(L, "event of %s: %p", check<EventHandle>(L, 1, "tostring").device->name().c_str(),
                  lua_touserdata(L, 1));
  return 1;
}

/// gpu.with(s, fn, ...)
// gpu.with(s, fn, ...): enter(s, fn), then fn(...), then leave(the value of enter); see helpers.bracket.

int enter_stream(lua_State* L) {
  if (lua_type(L, 1) == LUA_TSTRING)
    throw Error(
        "[with] expected a stream, got {}; gpu.stream(name) makes one of a device, and gpu.device(name) the "
        "device current",
        describe(L, 1));
  const auto& handle = check<StreamHandle>(L, 1, "with");
  if (!lua_isfunction(L, 2)) fail("with", "a function to run", L, 2);
  if (is_recording(bindings_of(L).context()))
    throw Error(
        "[with] expected a call outside of a function that gpu.fuse or gpu.graph records: its work is on one stream");
  evaluate_writes(bindings_of(L).context());
  push(L, StreamHandle{handle.device, handle.device->stream()});
  handle.device->set_stream(handle.stream);
  return 1;
}

int leave_stream(lua_State* L) {
  const auto& previous = check<StreamHandle>(L, 1, "with");
  try {
    evaluate_writes(bindings_of(L).context());
  } catch (const Error&) {
    previous.device->set_stream(previous.stream);
    throw;
  }
  previous.device->set_stream(previous.stream);
  return 0;
}

}  // namespace

void open_streams(lua_State* L) {
  new_type<StreamHandle>(
      L, {{"__tostring", protect<stream_tostring>}},
      "s:", {{"sync", protect<stream_synchronize>}, {"wait", protect<stream_wait>}, {"done", protect<stream_done>}});
  new_type<EventHandle>(L, {{"__tostring", protect<event_tostring>}}, "e:",
                        {{"record", protect<event_record>},
                         {"sync", protect<event_synchronize>},
                         {"done", protect<event_done>},
                         {"elapsed", protect<event_elapsed>}});
  set_functions(L, {{"stream", protect<new_stream>}, {"event", protect<new_event>}});
  set_bracket(L, "with", protect<enter_stream>, protect<leave_stream>, 2);
}

}  // namespace gpulua
