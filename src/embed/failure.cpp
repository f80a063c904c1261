#include "src/embed/failure.h"

#include <new>
#include <string>

namespace gpulua::embed {
namespace {

thread_local std::string thread_failure;
thread_local void* thread_cause = nullptr;
thread_local gpulua_status thread_status = GPULUA_OK;

void note(std::string& where, std::string_view text) noexcept {
  try {
    where = text;
    // The program reads it up to the first byte of 0.
    for (std::size_t at = where.find('\0'); at != where.npos; at = where.find('\0', at + 2))
      where.replace(at, 1, "\\0");
  } catch (...) {
    where.clear();  // no room for the text: the status has to do
  }
}

}  // namespace

gpulua_status fail(ScriptState* state, gpulua_status status, std::string_view text, void* cause) noexcept {
  thread_cause = cause;
  thread_status = status;
  note(thread_failure, text);
  if (state != nullptr) note(state->error, text);
  return status;
}

const char* last_failure() noexcept {
  return thread_failure.c_str();
}

void* last_cause() noexcept {
  return thread_cause;
}

gpulua_status last_status() noexcept {
  return thread_status;
}
void forget_status() noexcept {
  thread_status = GPULUA_OK;
}

std::string text_of(const std::exception& error) {
  std::string text = error.what();
  const auto* const nested = dynamic_cast<const std::nested_exception*>(&error);
  if (nested == nullptr || !nested->nested_ptr()) return text;
  try {
    nested->rethrow_nested();
  } catch (const std::exception& cause) {
    text += "\ncaused by: " + text_of(cause);
  } catch (...) {  // which has no text
  }
  return text;
}

gpulua_status fail_handle(const char* op, const char* expected, const void* got) noexcept {
  try {
    const auto* const state = static_cast<const ScriptState*>(find_object(got, HandleKind::state));
    std::string text = "[" + std::string(op) + "] expected " + expected + ", got " + describe_handle(got);
    if (state != nullptr && state->lua_is_closed())
      text += " whose lua_State the program has closed; call gpulua_destroy before lua_close";
    return fail(nullptr, GPULUA_ARGUMENT, text);
  } catch (...) {
    return GPULUA_ARGUMENT;
  }
}

gpulua_status fail_busy(const char* op, const std::string& why) noexcept {
  try {
    return fail(nullptr, GPULUA_BUSY, "[" + std::string(op) + "] " + why);
  } catch (...) {
    return fail_with_current(nullptr);
  }
}

gpulua_status status_of(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::argument:
      return GPULUA_ARGUMENT;
    case ErrorKind::memory:
      return GPULUA_MEMORY;
    case ErrorKind::compile:
    case ErrorKind::file:
    case ErrorKind::budget:
      return GPULUA_RUNTIME;
    case ErrorKind::unavailable:
      return GPULUA_UNAVAILABLE;
    case ErrorKind::device:
      return GPULUA_DEVICE;
    case ErrorKind::device_lost:
      return GPULUA_LOST;
    case ErrorKind::interrupted:
      return GPULUA_INTERRUPTED;
  }
  return GPULUA_RUNTIME;
}

gpulua_status fail_with_current(ScriptState* state) noexcept {
  try {
    throw;
  } catch (const ScriptState::Failure& failure) {
    return fail(state, failure.status, failure.text, failure.cause);
  } catch (const Error& error) {
    return fail(state, status_of(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    return fail(state, GPULUA_MEMORY, "[memory] the host is out of memory");
  } catch (const std::exception& error) {
    return fail(state, GPULUA_RUNTIME, error.what());
  } catch (...) {
    return fail(state, GPULUA_RUNTIME, "an exception without a text");
  }
}

}  // namespace gpulua::embed
