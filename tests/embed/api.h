#pragma once

// The C interface as a host program sees it: linked to libgpulua.so, with no other header of the library.

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "include/gpulua/gpulua.h"
#include "tests/catch.h"

inline gpulua_options options_with(unsigned flags) {
  gpulua_options options;
  gpulua_options_init(&options, sizeof options);
  options.flags = flags;
  return options;
}

inline gpulua_options on_cpu() {
  gpulua_options options = options_with(0);
  options.device = "cpu";
  return options;
}

/// A state of the C interface, with checks of the statuses.
class ApiState {
 public:
  explicit ApiState(gpulua_options options = options_with(0)) {
    REQUIRE(gpulua_create(&options, &state_) == GPULUA_OK);
    REQUIRE(state_ != nullptr);
  }
  ~ApiState() { gpulua_destroy(state_); }
  ApiState(const ApiState&) = delete;
  ApiState& operator=(const ApiState&) = delete;

  gpulua_state* get() const { return state_; }
  std::string error() const { return gpulua_error(state_); }

  gpulua_status run(const std::string& text, const char* name = "script.lua") {
    return gpulua_run(state_, text.data(), text.size(), name);
  }
  gpulua_function* function(const char* path) {
    gpulua_function* function = nullptr;
    REQUIRE(gpulua_get(state_, path, &function) == GPULUA_OK);
    return function;
  }
  double number(const char* path) {
    gpulua_value value;
    REQUIRE(gpulua_get_value(state_, path, &value) == GPULUA_OK);
    REQUIRE(value.kind == GPULUA_NUMBER);
    return value.as.number;
  }
  std::string text(const char* path) {
    gpulua_value value;
    REQUIRE(gpulua_get_value(state_, path, &value) == GPULUA_OK);
    REQUIRE(value.kind == GPULUA_TEXT);
    return {value.as.text.data, value.as.text.size};
  }

 private:
  gpulua_state* state_ = nullptr;
};

/// Stops the call that another thread makes in the state, until `has_ended`. A call that has taken the state may not
/// have begun to run: then an interrupt finds nothing to stop.
inline void interrupt_until(gpulua_state* state, const std::atomic<bool>& has_ended) {
  while (!has_ended) {
    gpulua_interrupt(state);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

inline gpulua_value number_value(double number) {
  gpulua_value value{};
  value.kind = GPULUA_NUMBER;
  value.as.number = number;
  return value;
}

inline gpulua_value array_value(gpulua_array* array) {
  gpulua_value value{};
  value.kind = GPULUA_ARRAY;
  value.as.array = array;
  return value;
}

inline gpulua_value text_value(const char* text) {
  gpulua_value value{};
  value.kind = GPULUA_TEXT;
  value.as.text = {text, std::strlen(text)};
  return value;
}
