#include "src/device/cpu/cpu_fft.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "src/base/dynamic_library.h"
#include "src/device/cpu/runtime/cpu_stream.h"
#include "src/device/cpu/runtime/shared_loops.h"

namespace gpulua::cpu {
namespace {

// FFTW 3's C interface for one precision. Its planner is not safe for threads; executions of plans are.
struct Fftw {
  using Plan = void*;
  Plan (*plan_complex)(int rank, const int* n, int count, void* in, const int* in_embed, int in_step, int in_distance,
                       void* out, const int* out_embed, int out_step, int out_distance, int sign, unsigned flags);
  using PlanReal = Plan (*)(int rank, const int* n, int count, void* in, const int* in_embed, int in_step,
                            int in_distance, void* out, const int* out_embed, int out_step, int out_distance,
                            unsigned flags);
  PlanReal plan_real, plan_to_real;
  using Execute = void (*)(Plan, void* in, void* out);
  Execute execute_complex, execute_real, execute_to_real;
  void (*destroy)(Plan);
  void (*set_threads)(int) = nullptr;  // null: plans run on one thread
};
constexpr unsigned estimate = 1U << 6, unaligned = 1U << 1, destroy_input = 1U << 0;

std::mutex& planner_mutex() {
  static std::mutex planner;
  return planner;
}

/// The plans for a part of a batch, and for the last part, which may be shorter.
class FftwPlan final : public FftPlan {
 public:
  FftwPlan(const Fftw& call, const FftProblem& problem) : call_(call), problem_(problem) {
    element_bytes_ = problem.is_double ? 8 : 4;
    std::int64_t points = 1;
    for (int i = 0; i < problem.rank; ++i) points *= problem.n[static_cast<std::size_t>(i)];
    const std::int64_t cores = sharing_threads();
    constexpr std::int64_t worth_sharing = 1 << 14;  // points
    const bool shared = points * problem.batch >= 2 * worth_sharing && problem.batch >= 2;
    part_ =
        shared ? std::max((problem.batch + 4 * cores - 1) / (4 * cores), worth_sharing / points + 1) : problem.batch;
    const bool alone = part_ >= problem.batch && points >= 4 * worth_sharing;
    const std::lock_guard lock(planner_mutex());
    if (call.set_threads != nullptr) call.set_threads(alone ? static_cast<int>(cores) : 1);
    main_ = make(std::min(part_, problem.batch));
    if (const std::int64_t rest = problem.batch % part_; rest > 0 && problem.batch > part_) rest_ = make(rest);
    if (call.set_threads != nullptr) call.set_threads(1);
  }
  ~FftwPlan() override {
    const std::lock_guard lock(planner_mutex());
    for (const Fftw::Plan plan : {main_, rest_})
      if (plan != nullptr) call_.destroy(plan);
  }
  bool complete() const { return main_ != nullptr && (rest_ != nullptr || !has_rest()); }

  std::size_t work_bytes() const override { return 0; }

  void run(const void* in, void* out, void*, Stream& stream) override {
    queue(stream, [in, out, self = std::static_pointer_cast<FftwPlan>(shared_from_this())] { self->execute(in, out); });
  }

 private:
  bool has_rest() const { return problem_.batch > part_ && problem_.batch % part_ > 0; }

  Fftw::Plan make(std::int64_t count) const {
    std::array<int, 3> n{}, in_embed{}, out_embed{};
    const auto last = static_cast<std::size_t>(problem_.rank - 1);
    for (std::size_t i = 0; i <= last; ++i) n[i] = in_embed[i] = out_embed[i] = static_cast<int>(problem_.n[i]);
    if (problem_.kind == FftKind::real) out_embed[last] = n[last] / 2 + 1;
    if (problem_.kind == FftKind::to_real) in_embed[last] = n[last] / 2 + 1;
    // Planning by estimates reads no elements; only whether the two are one array matters.
    alignas(64) static std::array<char, 128> somewhere;
    void *const in = somewhere.data(), *const out = somewhere.data() + 64;
    const auto to_int = [](std::int64_t value) { return static_cast<int>(value); };
    const unsigned flags = estimate | unaligned | (problem_.kind == FftKind::to_real ? destroy_input : 0);
    if (problem_.kind == FftKind::complex)
      return call_.plan_complex(problem_.rank, n.data(), to_int(count), in, in_embed.data(), to_int(problem_.in_step),
                                to_int(problem_.in_distance), out, out_embed.data(), to_int(problem_.out_step),
                                to_int(problem_.out_distance), problem_.inverse ? 1 : -1, flags);
    const Fftw::PlanReal plan = problem_.kind == FftKind::real ? call_.plan_real : call_.plan_to_real;
    return plan(problem_.rank, n.data(), to_int(count), in, in_embed.data(), to_int(problem_.in_step),
                to_int(problem_.in_distance), out, out_embed.data(), to_int(problem_.out_step),
                to_int(problem_.out_distance), flags);
  }

  void execute(const void* in, void* out) const {
    const Fftw::Execute function = problem_.kind == FftKind::complex ? call_.execute_complex
                                   : problem_.kind == FftKind::real  ? call_.execute_real
                                                                     : call_.execute_to_real;
    const std::int64_t in_bytes = problem_.in_distance * element_bytes_ * (problem_.kind == FftKind::real ? 1 : 2);
    const std::int64_t out_bytes = problem_.out_distance * element_bytes_ * (problem_.kind == FftKind::to_real ? 1 : 2);
    const auto run_part = [&](std::int64_t part) {
      const std::int64_t first = part * part_;
      const bool is_rest = first + part_ > problem_.batch;
      function(is_rest && rest_ != nullptr ? rest_ : main_,
               static_cast<char*>(const_cast<void*>(in)) + first * in_bytes,
               static_cast<char*>(out) + first * out_bytes);
    };
    const std::int64_t parts = (problem_.batch + part_ - 1) / part_;
    share_each(parts, run_part);
  }

  const Fftw call_;
  const FftProblem problem_;
  std::int64_t element_bytes_, part_;
  Fftw::Plan main_ = nullptr, rest_ = nullptr;
};

class FftwLibrary final : public Fft {
 public:
  FftwLibrary(std::string library, std::optional<Fftw> of_float, std::optional<Fftw> of_double)
      : library_(std::move(library)), float_(of_float), double_(of_double) {}
  std::string_view library() const override { return library_; }

  std::shared_ptr<FftPlan> plan(const FftProblem& problem) override {
    const std::optional<Fftw>& call = problem.is_double ? double_ : float_;
    if (!call || !fits(problem) || (library_ == "FFTW" && !pays(problem))) return nullptr;
    auto plan = std::make_shared<FftwPlan>(*call, problem);
    return plan->complete() ? plan : nullptr;
  }

 private:
  /// Contiguous rows, in sizes that are int's. Along other axes our kernels are several times faster.
  static bool fits(const FftProblem& p) {
    if (p.rank > 1 || p.in_step > 1 || p.out_step > 1) return false;
    const auto fits_int = [](std::int64_t value) { return value <= std::numeric_limits<int>::max(); };
    return std::ranges::all_of(p.n, fits_int) && fits_int(p.in_step) && fits_int(p.out_step) &&
           fits_int(p.in_distance) && fits_int(p.out_distance) && fits_int(p.batch);
  }

  /// Where the plans that FFTW estimates take less time than our kernels, which need a second pass from here on.
  static bool pays(const FftProblem& p) {
    const auto n = static_cast<std::uint64_t>(p.n[0]);
    return std::has_single_bit(n) && n >= 4096 && n <= 65536 && p.batch > 1;
  }

  std::string library_;
  std::optional<Fftw> float_, double_;
};

/// The interface of one precision, if the library has all of it. `threads`: a library with the functions for threads.
std::optional<Fftw> resolve(const DynamicLibrary& library, const DynamicLibrary& threads, const std::string& prefix) {
  Fftw call{};
  bool complete = true;
  const auto find = [&]<class Function>(Function& function, const char* name) {
    function = reinterpret_cast<Function>(library.symbol((prefix + name).c_str()));
    complete = complete && function != nullptr;
  };
  find(call.plan_complex, "_plan_many_dft");
  find(call.plan_real, "_plan_many_dft_r2c");
  find(call.plan_to_real, "_plan_many_dft_c2r");
  find(call.execute_complex, "_execute_dft");
  find(call.execute_real, "_execute_dft_r2c");
  find(call.execute_to_real, "_execute_dft_c2r");
  find(call.destroy, "_destroy_plan");
  if (!complete) return std::nullopt;
  const auto start = reinterpret_cast<int (*)()>(threads.symbol((prefix + "_init_threads").c_str()));
  const auto set = reinterpret_cast<void (*)(int)>(threads.symbol((prefix + "_plan_with_nthreads").c_str()));
  if (start != nullptr && set != nullptr && start() != 0) call.set_threads = set;
  return call;
}

}  // namespace

std::unique_ptr<Fft> open_fft() {
  std::string why;
  const auto open = [&](const char* file) { return DynamicLibrary::open(file, why); };
  const auto of_float = resolve(open("libfftw3f.so.3"), open("libfftw3f_threads.so.3"), "fftwf");
  const auto of_double = resolve(open("libfftw3.so.3"), open("libfftw3_threads.so.3"), "fftw");
  if (of_float || of_double) return std::make_unique<FftwLibrary>("FFTW", of_float, of_double);
  constexpr std::array<std::array<const char*, 2>, 2> others{
      {{"libmkl_rt.so.2", "MKL"}, {"libnvpl_fftw.so.0", "NVPL"}}};
  for (const auto& [file, name] : others) {
    const DynamicLibrary library = open(file);
    const auto narrow = resolve(library, library, "fftwf"), wide = resolve(library, library, "fftw");
    if (narrow || wide) return std::make_unique<FftwLibrary>(name, narrow, wide);
  }
  return nullptr;
}

}  // namespace gpulua::cpu
