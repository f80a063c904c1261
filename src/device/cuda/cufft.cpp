#include "src/device/cuda/cufft.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "src/base/dynamic_library.h"
#include "src/base/error.h"
#include "src/device/cuda/context_guard.h"
#include "src/device/cuda/cuda_graph.h"
#include "src/device/cuda/cuda_stream.h"

namespace gpulua::cuda {
namespace {

// cuFFT's C interface, declared here so that the build needs no header of it. The names of the values are NVIDIA's.
using Result = int;
using Handle = int;

struct ResultName {
  Result result;
  const char* name;
};
constexpr ResultName result_names[] = {
    {1, "CUFFT_INVALID_PLAN"},       {2, "CUFFT_ALLOC_FAILED"},        {3, "CUFFT_INVALID_TYPE"},
    {4, "CUFFT_INVALID_VALUE"},      {5, "CUFFT_INTERNAL_ERROR"},      {6, "CUFFT_EXEC_FAILED"},
    {7, "CUFFT_SETUP_FAILED"},       {8, "CUFFT_INVALID_SIZE"},        {9, "CUFFT_UNALIGNED_DATA"},
    {11, "CUFFT_INVALID_DEVICE"},    {13, "CUFFT_NO_WORKSPACE"},       {14, "CUFFT_NOT_IMPLEMENTED"},
    {16, "CUFFT_NOT_SUPPORTED"},     {17, "CUFFT_MISSING_DEPENDENCY"}, {18, "CUFFT_NVRTC_FAILURE"},
    {19, "CUFFT_NVJITLINK_FAILURE"},
};
constexpr Result success = 0, allocation_failed = 2, invalid_size = 8, not_implemented = 14, not_supported = 16;
constexpr int forward = -1, backward = 1;
// cudaDataType: CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F
constexpr int real_float = 0, real_double = 1, complex_float = 4, complex_double = 5;

struct Cufft {
  Result (*create)(Handle*);
  Result (*destroy)(Handle);
  Result (*set_auto_allocation)(Handle, int);
  Result (*make_plan)(Handle, int rank, long long* n, long long* in_embed, long long in_step, long long in_distance,
                      int in_type, long long* out_embed, long long out_step, long long out_distance, int out_type,
                      long long batch, std::size_t* work_bytes, int execution_type);
  Result (*set_stream)(Handle, CUstream);
  Result (*set_work_area)(Handle, void*);
  Result (*execute)(Handle, void* in, void* out, int direction);
};

[[noreturn]] void fail(Result result, const char* call) {
  std::string name = "result " + std::to_string(result);
  for (const ResultName& row : result_names)
    if (row.result == result) name = row.name;
  throw Error(result == allocation_failed ? ErrorKind::memory : ErrorKind::device,
              "[fft] expected {} to succeed, got {}", call, name);
}

void check(Result result, const char* call) {
  if (result != success) fail(result, call);
}

class CufftPlan final : public FftPlan {
 public:
  CufftPlan(std::shared_ptr<Context> context, const Cufft& call, int direction)
      : context_(std::move(context)), call_(call), direction_(direction) {
    const ContextGuard guard(*context_);
    check(call_.create(&handle_), "cufftCreate");
    has_handle_ = true;
  }
  ~CufftPlan() override {
    if (has_handle_) context_->retire([destroy = call_.destroy, handle = handle_](const Driver&) { destroy(handle); });
  }

  /// False where cuFFT does not take the problem.
  bool make(const FftProblem& p) {
    const ContextGuard guard(*context_);
    check(call_.set_auto_allocation(handle_, 0), "cufftSetAutoAllocation");
    const int complex_type = p.is_double ? complex_double : complex_float;
    const int real_type = p.is_double ? real_double : real_float;
    std::array<long long, 3> n{}, in_embed{}, out_embed{};
    for (std::size_t i = 0; i < static_cast<std::size_t>(p.rank); ++i) n[i] = in_embed[i] = out_embed[i] = p.n[i];
    const auto last = static_cast<std::size_t>(p.rank - 1);
    if (p.kind == FftKind::real) out_embed[last] = n[last] / 2 + 1;
    if (p.kind == FftKind::to_real) in_embed[last] = n[last] / 2 + 1;
    const Result result = call_.make_plan(
        handle_, p.rank, n.data(), in_embed.data(), p.in_step, p.in_distance,
        p.kind == FftKind::real ? real_type : complex_type, out_embed.data(), p.out_step, p.out_distance,
        p.kind == FftKind::to_real ? real_type : complex_type, p.batch, &work_bytes_, complex_type);
    if (result == invalid_size || result == not_implemented || result == not_supported) return false;
    check(result, "cufftXtMakePlanMany");
    return true;
  }

  std::size_t work_bytes() const override { return work_bytes_; }

  void run(const void* in, void* out, void* work, Stream& stream) override {
    const ContextGuard guard(*context_);
    auto& of_stream = static_cast<CudaStream&>(stream);
    check(call_.set_stream(handle_, of_stream.handle()), "cufftSetStream");
    if (work_bytes_ > 0) check(call_.set_work_area(handle_, work), "cufftSetWorkArea");
    check(call_.execute(handle_, const_cast<void*>(in), out, direction_), "cufftXtExec");
    if (of_stream.captured) of_stream.captured->hold(shared_from_this());
  }

 private:
  std::shared_ptr<Context> context_;
  const Cufft call_;
  int direction_;
  Handle handle_ = 0;
  bool has_handle_ = false;
  std::size_t work_bytes_ = 0;
};

class CufftLibrary final : public Fft {
 public:
  CufftLibrary(std::shared_ptr<Context> context, const Cufft& call) : context_(std::move(context)), call_(call) {}
  std::string_view library() const override { return "cuFFT"; }

  std::shared_ptr<FftPlan> plan(const FftProblem& problem) override {
    const bool backwards = problem.kind == FftKind::to_real || (problem.kind == FftKind::complex && problem.inverse);
    auto plan = std::make_shared<CufftPlan>(context_, call_, backwards ? backward : forward);
    return plan->make(problem) ? plan : nullptr;
  }

 private:
  std::shared_ptr<Context> context_;
  const Cufft call_;
};

/// Nothing where the library lacks a function.
std::optional<Cufft> resolve(const DynamicLibrary& library) {
  Cufft cufft{};
  bool complete = true;
  const auto find = [&]<class Function>(Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(library.symbol(symbol));
    complete = complete && function != nullptr;
  };
  find(cufft.create, "cufftCreate");
  find(cufft.destroy, "cufftDestroy");
  find(cufft.set_auto_allocation, "cufftSetAutoAllocation");
  find(cufft.make_plan, "cufftXtMakePlanMany");
  find(cufft.set_stream, "cufftSetStream");
  find(cufft.set_work_area, "cufftSetWorkArea");
  find(cufft.execute, "cufftXtExec");
  return complete ? std::optional(cufft) : std::nullopt;
}

}  // namespace

std::unique_ptr<Fft> open_fft(const Config& config, std::shared_ptr<Context> context) {
  // Of CUDA 13 and 12; that of the driver's version first.
  constexpr std::array<std::string_view, 2> newest_first{"libcufft.so.12", "libcufft.so.11"};
  constexpr std::array<std::string_view, 2> oldest_first{"libcufft.so.11", "libcufft.so.12"};
  const bool has_new_driver = context->driver().version >= 13000;
  const auto file = find_cuda_library(config, has_new_driver ? newest_first : oldest_first);
  if (!file) return nullptr;
  std::string why;
  const DynamicLibrary library = DynamicLibrary::open(file->string(), why);
  const std::optional<Cufft> cufft = resolve(library);
  return cufft ? std::make_unique<CufftLibrary>(std::move(context), *cufft) : nullptr;
}

}  // namespace gpulua::cuda
