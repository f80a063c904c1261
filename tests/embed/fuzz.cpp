// gpulua_fuzz [programs [first seed [milliseconds]]]: runs the programs of fuzz_programs.lua in sandboxes. Each must
// end at most that many milliseconds (1200) after its deadline, stay within its budgets and leave a state that works;
// the process must live. Worker processes run them, so that one that dies ends no others. Reports go to the standard
// error with the seed; gpulua_fuzz -p seed prints a program.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

#include "include/gpulua/gpulua.h"

namespace {

constexpr long programs_of_a_worker = 1000, programs_of_a_state = 40;
constexpr long most_growth_mb = 700;

/// What a worker tells the first process.
struct Shared {
  long seed;  // of the program that runs
  long late, large, broken;
  long status[16];
};

double now_ms(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

long resident_mb() {
  long pages = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident * sysconf(_SC_PAGESIZE) >> 20;
}

void print_nothing(void*, const char*, size_t) {}

[[noreturn]] void give_up(const char* what, const char* why) {
  std::fprintf(stderr, "fuzz: %s: %s\n", what, why);
  std::_Exit(99);
}

/// A trusted state that writes the programs.
class Writer {
 public:
  Writer() {
    gpulua_options options;
    gpulua_options_init(&options, sizeof options);
    options.device = "cpu";
    if (gpulua_create(&options, &state_) != GPULUA_OK) give_up("writer", gpulua_error(nullptr));
    std::ifstream file(GPULUA_ROOT "/tests/embed/fuzz_programs.lua");
    const std::string text = "generate = (function(...) " + std::string(std::istreambuf_iterator<char>(file), {}) +
                             "\nend)('" GPULUA_ROOT "')";
    if (gpulua_run(state_, text.data(), text.size(), "fuzz_programs.lua") != GPULUA_OK ||
        gpulua_get(state_, "generate", &generate_) != GPULUA_OK)
      give_up("writer", gpulua_error(state_));
  }
  ~Writer() {
    gpulua_function_release(generate_);
    gpulua_destroy(state_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  std::string program(long seed) {
    gpulua_value in{}, out{};
    in.kind = GPULUA_NUMBER;
    in.as.number = static_cast<double>(seed);
    size_t count = 1;
    if (gpulua_call(generate_, &in, 1, &out, &count, 0) != GPULUA_OK) give_up("writer", gpulua_error(state_));
    return {out.as.text.data, out.as.text.size};
  }

 private:
  gpulua_state* state_ = nullptr;
  gpulua_function* generate_ = nullptr;
};

gpulua_state* open_sandbox(long number) {
  gpulua_options options;
  gpulua_options_init(&options, sizeof options);
  options.flags = GPULUA_SANDBOX | (number % 4 == 0 ? GPULUA_KERNELS : 0);
  options.device = "cpu";
  options.print = print_nothing;
  options.lua_memory = std::size_t{32} << 20;
  options.device_memory = std::size_t{64} << 20;
  options.launches = 2000;
  options.compilations = number % 3 == 0 ? 3 : 1;
  gpulua_state* state = nullptr;
  if (gpulua_create(&options, &state) != GPULUA_OK) give_up("sandbox", gpulua_error(nullptr));
  return state;
}

bool run(gpulua_state* state, const char* text) {
  return gpulua_run(state, text, std::strlen(text), "check") == GPULUA_OK;
}

void run_program(gpulua_state* state, const std::string& text, long seed, double most_late_ms, Shared& shared) {
  const double deadline = 20 + static_cast<double>(seed % 7) * 40;
  const long before = resident_mb();
  const double start = now_ms(CLOCK_MONOTONIC), cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID);
  gpulua_function* function = nullptr;
  int status = gpulua_load(state, text.data(), text.size(), "script.lua", &function);
  if (status == GPULUA_OK) {
    gpulua_value out[4];
    size_t count = 4;
    status = gpulua_call(function, nullptr, 0, out, &count, deadline);
    if (status == GPULUA_OK)
      for (size_t i = 0; i < (count < 4 ? count : 4); ++i) {
        if (out[i].kind == GPULUA_FUNCTION || out[i].kind == GPULUA_OBJECT) gpulua_function_release(out[i].as.function);
        if (out[i].kind == GPULUA_ARRAY) gpulua_array_release(out[i].as.array);
      }
    gpulua_function_release(function);
  }
  // Other processes may have the processors: what counts is the time that this one took.
  const double wall = now_ms(CLOCK_MONOTONIC) - start, own = now_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  ++shared.status[status & 15];
  if (wall - deadline > most_late_ms && own - deadline > most_late_ms) {
    ++shared.late;
    std::fprintf(stderr, "seed %ld: late: %.0f ms, %.0f of them of the processor, deadline %.0f\n", seed, wall, own,
                 deadline);
  }
  if (resident_mb() - before > most_growth_mb) {
    ++shared.large;
    std::fprintf(stderr, "seed %ld: the process grew by %ld MB\n", seed, resident_mb() - before);
  }
}

[[noreturn]] void work(long first, long count, double most_late_ms, Shared& shared) {
  {
    Writer writer;
    gpulua_state* state = nullptr;
    for (long seed = first; seed < first + count; ++seed) {
      shared.seed = seed;
      if (state == nullptr) {
        state = open_sandbox(seed / programs_of_a_state);
        if (!run(state, "gpu.ones(3):sum():item()")) give_up("sandbox", gpulua_error(state));
      }
      const std::string program = writer.program(seed);
      run_program(state, program, seed, most_late_ms, shared);
      // A program whose mutation has taken the word `local` away keeps the memory that it has filled: its host ends
      // such a state.
      const bool is_full = program.find("\n t, s = {}") != program.npos;
      if (!is_full && !run(state, "local n = 0 for i = 1, 10 do n = n + i end assert(n == 55)")) {
        ++shared.broken;
        std::fprintf(stderr, "seed %ld: the state does not work afterwards: %s\n", seed, gpulua_error(state));
      }
      if (is_full || seed % programs_of_a_state == programs_of_a_state - 1) {
        if (gpulua_destroy(state) != GPULUA_OK) give_up("destroy", gpulua_error(nullptr));
        state = nullptr;
      }
    }
    if (state != nullptr) gpulua_destroy(state);
  }
  std::exit(0);  // with the look for leaks of a sanitizer
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "-p") == 0) return std::puts(Writer().program(std::atol(argv[2])).c_str()) < 0;
  const long programs = argc > 1 ? std::atol(argv[1]) : 300, first = argc > 2 ? std::atol(argv[2]) : 1;
  const double most_late_ms = argc > 3 ? std::atof(argv[3]) : 1200;
  auto& shared =
      *static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  long dead = 0, done = 0;
  for (long at = first; at < first + programs;) {
    const long count = std::min(programs_of_a_worker, first + programs - at);
    const pid_t worker = fork();
    if (worker < 0) give_up("fork", "no process");
    if (worker == 0) work(at, count, most_late_ms, shared);
    int ended = 0;
    waitpid(worker, &ended, 0);
    if (ended != 0) {
      ++dead;
      std::fprintf(stderr, "seed %ld: the process has ended with %s %d\n", shared.seed,
                   WIFSIGNALED(ended) ? "signal" : "status", WIFSIGNALED(ended) ? WTERMSIG(ended) : WEXITSTATUS(ended));
    }
    done += shared.seed - at + 1;
    at = ended != 0 ? shared.seed + 1 : at + count;
  }
  std::printf(
      "%ld programs: %ld good, %ld syntax, %ld errors, %ld memory, %ld deadline; dead %ld, late %ld, large %ld, broken "
      "%ld\n",
      done, shared.status[GPULUA_OK], shared.status[GPULUA_SYNTAX],
      shared.status[GPULUA_RUNTIME] + shared.status[GPULUA_DEVICE] + shared.status[GPULUA_UNAVAILABLE],
      shared.status[GPULUA_MEMORY], shared.status[GPULUA_DEADLINE], dead, shared.late, shared.large, shared.broken);
  return dead + shared.late + shared.large + shared.broken != 0;
}
