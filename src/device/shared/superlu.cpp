#include "src/device/shared/superlu.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "src/base/dynamic_library.h"
#include "src/base/error.h"
#include "src/device/shared/column_matching.h"

namespace gpulua {
namespace {

// The C interface of SuperLU 5 to 7, as its documentation describes it. Enumerations and int_t are int. Records that
// only the library reads are larger here than there.

struct SluMatrix {
  int storage = 0, dtype = 0, kind = 0;
  int rows = 0, columns = 0;
  void* store = nullptr;
};
constexpr int slu_columns = 0, slu_dense = 6, slu_general = 0;

struct SluColumns {
  int nonzeros = 0;
  void* values = nullptr;
  int* rows = nullptr;
  int* starts = nullptr;
};

struct SluDense {
  int leading = 0;
  void* values = nullptr;
};

/// The head of the factors' stores: how many elements they have.
struct SluFactor {
  int nonzeros;
};

template <std::size_t bytes>
struct SluRecord {
  alignas(16) std::array<char, bytes> content{};
};
using SluOptions = SluRecord<512>;
using SluStatistics = SluRecord<256>;
using SluWork = SluRecord<1024>;

constexpr int slu_colamd = 3;

/// The functions for one dtype.
struct SluRoutines {
  void (*factorise)(SluOptions*, SluMatrix* a, int relax, int panel, int* tree, void* work, int work_bytes,
                    int* column_order, int* row_order, SluMatrix* l, SluMatrix* u, SluWork*, SluStatistics*, int* info);
  void (*solve)(int op, SluMatrix* l, SluMatrix* u, int* column_order, int* row_order, SluMatrix* b, SluStatistics*,
                int* info);
};

struct SluLibrary {
  void (*set_default_options)(SluOptions*);
  void (*start_statistics)(SluStatistics*);
  void (*free_statistics)(SluStatistics*);
  void (*order_columns)(int method, SluMatrix* a, int* column_order);
  void (*permute_columns)(SluOptions*, SluMatrix* a, int* column_order, int* tree, SluMatrix* permuted);
  void (*free_permuted)(SluMatrix*);
  void (*free_supernodes)(SluMatrix*);
  void (*free_columns)(SluMatrix*);
  int (*tuning)(int);
  std::array<SluRoutines, 4> routines;
};

int number_of(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return 0;
    case DType::float64:
      return 1;
    case DType::complex64:
      return 2;
    default:
      return 3;
  }
}

/// What SuperLU counts while it works.
class Statistics {
 public:
  explicit Statistics(const SluLibrary& library) : library_(library) { library.start_statistics(&record_); }
  ~Statistics() { library_.free_statistics(&record_); }
  Statistics(const Statistics&) = delete;
  Statistics& operator=(const Statistics&) = delete;
  SluStatistics* get() { return &record_; }

 private:
  const SluLibrary& library_;
  SluStatistics record_;
};

/// A matrix in host memory, in compressed columns.
struct HostColumns {
  DType dtype = DType::float64;
  int n = 0;
  std::vector<char> values;
  std::vector<int> rows, starts;
};

template <class Real>
bool all_finite(const std::vector<char>& bytes) {
  const auto* first = reinterpret_cast<const Real*>(bytes.data());
  return std::all_of(first, first + bytes.size() / sizeof(Real), [](Real x) { return std::isfinite(x); });
}

/// SuperLU itself trusts what it gets.
void check(const HostColumns& a) {
  const bool is_double = a.dtype == DType::float64 || a.dtype == DType::complex128;
  if (!(is_double ? all_finite<double>(a.values) : all_finite<float>(a.values)))
    throw Error("[sparse.linalg] expected finite nonzeros in a matrix to factorise, got infinities or NaN");
  const auto in_range = [&](int row) { return row >= 0 && row < a.n; };
  if (!std::ranges::is_sorted(a.starts) || a.starts.front() != 0 || a.starts.back() > static_cast<int>(a.rows.size()) ||
      !std::ranges::all_of(a.rows, in_range))
    throw Error("[sparse.linalg] expected positions within a matrix to factorise");
}

class Factors final : public SparseFactors {
 public:
  Factors(const SluLibrary& library, Device& device, HostColumns a)
      : library_(library), device_(device), dtype_(a.dtype), n_(a.n) {
    // SuperLU reads beyond its lists where a column has no row left for a pivot.
    zero_pivot_ = unmatched_column(a.rows, a.starts) + 1;
    if (zero_pivot_ > 0) return;
    const auto n = static_cast<std::size_t>(n_);
    column_order_.resize(n), row_order_.resize(n);
    std::vector<int> tree(n);
    SluColumns columns{static_cast<int>(a.rows.size()), a.values.data(), a.rows.data(), a.starts.data()};
    SluMatrix matrix{slu_columns, number_of(dtype_), slu_general, n_, n_, &columns}, permuted;
    SluOptions options;
    library.set_default_options(&options);
    Statistics statistics(library);
    library.order_columns(slu_colamd, &matrix, column_order_.data());
    library.permute_columns(&options, &matrix, column_order_.data(), tree.data(), &permuted);
    SluWork work;
    int info = 0;
    routines().factorise(&options, &permuted, library.tuning(2), library.tuning(1), tree.data(), nullptr, 0,
                         column_order_.data(), row_order_.data(), &lower_, &upper_, &work, statistics.get(), &info);
    library.free_permuted(&permuted);
    has_factors_ = info <= n_;
    if (info > n_) throw Error("[sparse.linalg] no host memory for the factors of a sparse matrix");
    // The column of A that is the one of the factors.
    if (info > 0) zero_pivot_ = std::ranges::find(column_order_, info - 1) - column_order_.begin() + 1;
  }
  ~Factors() override {
    if (!has_factors_) return;
    library_.free_supernodes(&lower_);
    library_.free_columns(&upper_);
  }
  Factors(const Factors&) = delete;
  Factors& operator=(const Factors&) = delete;

  std::int64_t zero_pivot() const override { return zero_pivot_; }
  std::int64_t nonzeros() const override {
    if (!has_factors_) return 0;
    return std::int64_t{static_cast<const SluFactor*>(lower_.store)->nonzeros} +
           static_cast<const SluFactor*>(upper_.store)->nonzeros - n_;
  }

  void solve(MatrixOp op, void* b, std::int64_t columns, Stream& stream) override {
    if (columns > std::numeric_limits<int>::max())
      throw Error("[sparse.linalg] expected fewer than 2^31 right-hand sides, got {}", columns);
    std::vector<char> host(static_cast<std::size_t>(n_) * static_cast<std::size_t>(columns) * size_of(dtype_));
    device_.download(host.data(), b, host.size(), stream);
    SluDense dense{n_, host.data()};
    SluMatrix sides{slu_dense, number_of(dtype_), slu_general, n_, static_cast<int>(columns), &dense};
    Statistics statistics(library_);
    int info = 0;
    const bool is_complex = dtype_ == DType::complex64 || dtype_ == DType::complex128;
    const int transposition = op == MatrixOp::plain ? 0 : op == MatrixOp::conjugated && is_complex ? 2 : 1;
    routines().solve(transposition, &lower_, &upper_, column_order_.data(), row_order_.data(), &sides, statistics.get(),
                     &info);
    if (info != 0) throw Error("[sparse.linalg] SuperLU failed (info = {})", info);
    device_.upload(b, host.data(), host.size(), stream);
  }

 private:
  const SluRoutines& routines() const { return library_.routines[static_cast<std::size_t>(number_of(dtype_))]; }

  const SluLibrary& library_;
  Device& device_;
  DType dtype_;
  int n_;
  bool has_factors_ = false;
  std::int64_t zero_pivot_ = 0;
  std::vector<int> column_order_, row_order_;
  SluMatrix lower_, upper_;
};

class SuperLu final : public SparseSolver {
 public:
  explicit SuperLu(Device& device) : device_(device) {
    const OptionalLibrary file("sparse.linalg", "factors of sparse matrices need SuperLU",
                               {"libsuperlu.so.7", "libsuperlu.so.6", "libsuperlu.so.5"},
                               "apt-get install libsuperlu5, or libsuperlu7 on Debian 13");
    file.find(library_.set_default_options, "set_default_options");
    file.find(library_.start_statistics, "StatInit");
    file.find(library_.free_statistics, "StatFree");
    file.find(library_.order_columns, "get_perm_c");
    file.find(library_.permute_columns, "sp_preorder");
    file.find(library_.free_permuted, "Destroy_CompCol_Permuted");
    file.find(library_.free_supernodes, "Destroy_SuperNode_Matrix");
    file.find(library_.free_columns, "Destroy_CompCol_Matrix");
    file.find(library_.tuning, "sp_ienv");
    for (std::size_t i = 0; i < library_.routines.size(); ++i) {
      const std::string letter(1, "sdcz"[i]);
      file.find(library_.routines[i].factorise, letter + "gstrf");
      file.find(library_.routines[i].solve, letter + "gstrs");
    }
  }

  std::shared_ptr<SparseFactors> factorise(const SparseColumns& matrix, Stream& stream) override {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    if (matrix.n >= most || matrix.nonzeros >= most)
      throw Error("[sparse.linalg] expected fewer than 2^31 rows and nonzeros, got {} rows and {} entries", matrix.n,
                  matrix.nonzeros);
    HostColumns host{matrix.dtype, static_cast<int>(matrix.n), {}, {}, {}};
    const auto count = static_cast<std::size_t>(matrix.nonzeros);
    host.values.resize(count * size_of(matrix.dtype));
    host.rows.resize(count);
    host.starts.resize(static_cast<std::size_t>(matrix.n) + 1);
    if (count > 0) {
      device_.download(host.values.data(), matrix.values, host.values.size(), stream);
      device_.download(host.rows.data(), matrix.rows, count * sizeof(int), stream);
    }
    device_.download(host.starts.data(), matrix.starts, host.starts.size() * sizeof(int), stream);
    check(host);
    return std::make_shared<Factors>(library_, device_, std::move(host));
  }

 private:
  Device& device_;
  SluLibrary library_{};
};

}  // namespace

std::unique_ptr<SparseSolver> open_superlu(Device& device) {
  return std::make_unique<SuperLu>(device);
}

}  // namespace gpulua
