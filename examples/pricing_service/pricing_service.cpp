// A service that prices options with formulas of its customers. It trusts no formula: each worker has a sandbox, a
// deadline holds for each request, and one customer's mistake is that customer's error. Usage: pricing_service
// [requests]
#include <gpulua/gpulua.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr double deadline_ms = 30000;  // the first call of a formula compiles its kernels
constexpr double short_deadline_ms = 10;
constexpr int workers = 4;

struct Formula {
  const char* customer;
  const char* text;  // gets spot, strike, volatility, time; returns a price
  gpulua_status expected;
};

const Formula formulas[] = {
    {"closed form",
     "local s, k, v, t = ...\n"
     "local spots = gpu.full(1, s, {dtype = 'float64'})\n"
     "local d = (gpu.log(spots / k) + v * v / 2 * t) / (v * t ^ 0.5)\n"
     "return (spots * gpu.normcdf(d) - k * gpu.normcdf(d - v * t ^ 0.5)):item()",
     GPULUA_OK},
    {"Monte Carlo",
     "local s, k, v, t = ...\n"
     "local z = gpu.randn(100000, {dtype = 'float64'})\n"
     "return gpu.maximum(s * gpu.exp(v * t ^ 0.5 * z - v * v * t / 2) - k, 0):mean():item()",
     GPULUA_OK},
    {"endless", "while true do pcall(function() while true do end end) end", GPULUA_DEADLINE},
    {"curious", "return io.open('/etc/passwd'):read('*a')", GPULUA_RUNTIME},
    {"greedy", "local t = {} while true do t[#t + 1] = ('x'):rep(1e6) .. #t end", GPULUA_MEMORY},
};

/// A sandbox, with the formulas' functions.
class Worker {
 public:
  Worker() {
    gpulua_options options;
    gpulua_options_init(&options, sizeof options);
    options.flags = GPULUA_SANDBOX;
    options.lua_memory = std::size_t{32} << 20;
    options.device_memory = std::size_t{256} << 20;
    options.launches = 1000;
    if (gpulua_create(&options, &state_) != GPULUA_OK) fail(gpulua_error(nullptr));
    for (const Formula& formula : formulas) {
      gpulua_function* function = nullptr;
      if (gpulua_load(state_, formula.text, std::strlen(formula.text), formula.customer, &function) != GPULUA_OK)
        fail(gpulua_error(state_));
      functions_.push_back(function);
    }
  }
  ~Worker() {
    for (gpulua_function* function : functions_) gpulua_function_release(function);
    gpulua_destroy(state_);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  gpulua_status price(std::size_t formula, double spot, double& price) {
    const double numbers[] = {spot, 100, 0.2, 1};
    gpulua_value in[4] = {}, out = {};
    for (int i = 0; i < 4; ++i) {
      in[i].kind = GPULUA_NUMBER;
      in[i].as.number = numbers[i];
    }
    size_t count = 1;
    const double ms = formulas[formula].expected == GPULUA_DEADLINE ? short_deadline_ms : deadline_ms;
    const gpulua_status status = gpulua_call(functions_[formula], in, 4, &out, &count, ms);
    price = out.as.number;
    return status;
  }

  std::string error() const { return gpulua_error(state_); }

 private:
  [[noreturn]] static void fail(const char* message) {
    std::fprintf(stderr, "%s\n", message);
    std::exit(1);
  }

  gpulua_state* state_ = nullptr;
  std::vector<gpulua_function*> functions_;
};

}  // namespace

int main(int argc, char** argv) {
  const int requests = argc > 1 ? std::atoi(argv[1]) : 200;
  const std::size_t count = sizeof formulas / sizeof *formulas;
  std::atomic<int> next{0}, unexpected{0};
  std::atomic<int> served[sizeof formulas / sizeof *formulas] = {};
  std::mutex printing;

  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; ++i)
    threads.emplace_back([&] {
      Worker worker;
      for (int request = next++; request < requests; request = next++) {
        const std::size_t formula = static_cast<std::size_t>(request) % count;
        double price = 0;
        const gpulua_status status = worker.price(formula, 90 + request % 20, price);
        // A call at the money is worth 7.97.
        const bool good = status == formulas[formula].expected && (status != GPULUA_OK || (price > 2 && price < 20));
        ++served[formula];
        if (good) continue;
        ++unexpected;
        const std::lock_guard<std::mutex> lock(printing);
        std::fprintf(stderr, "%s: %s, price %g: %s\n", formulas[formula].customer, gpulua_status_name(status), price,
                     worker.error().c_str());
      }
    });
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;

  for (std::size_t i = 0; i < count; ++i)
    std::printf("%-12s %4d requests, each %s\n", formulas[i].customer, served[i].load(),
                gpulua_status_name(formulas[i].expected));
  std::printf("%d workers, %d requests in %.2f s, %d unexpected\n", workers, requests, time.count(), unexpected.load());
  return unexpected == 0 ? 0 : 1;
}
