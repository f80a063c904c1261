#include "src/device/cpu/cpu_blas.h"

#include <complex>
#include <limits>
#include <string>
#include <type_traits>

#include "src/base/error.h"
#include "src/device/cpu/openblas.h"
#include "src/device/cpu/runtime/cpu_stream.h"

namespace gpulua::cpu {
namespace {

// From the CBLAS standard; OpenBLAS's sizes are int in Debian's build.
enum CblasOrder { cblas_row_major = 101 };
enum CblasTranspose { cblas_no_trans = 111, cblas_trans = 112, cblas_conj_trans = 113 };
enum CblasTriangle { cblas_upper = 121, cblas_lower = 122 };
enum CblasDiagonal { cblas_non_unit = 131, cblas_unit = 132 };
enum CblasSide { cblas_left = 141, cblas_right = 142 };

template <class T>
constexpr bool is_complex = !std::is_floating_point_v<T>;
/// CBLAS passes a complex factor by its address.
template <class T>
using Factor = std::conditional_t<is_complex<T>, const void*, T>;
template <class T>
using Elements = std::conditional_t<is_complex<T>, void, T>;

template <class T>
struct Routines {
  void (*gemm)(CblasOrder, CblasTranspose, CblasTranspose, int m, int n, int k, Factor<T> alpha, const Elements<T>* a,
               int lda, const Elements<T>* b, int ldb, Factor<T> beta, Elements<T>* c, int ldc);
  void (*gemv)(CblasOrder, CblasTranspose, int rows, int columns, Factor<T> alpha, const Elements<T>* a, int lda,
               const Elements<T>* x, int step_x, Factor<T> beta, Elements<T>* y, int step_y);
  // trsm and trmm.
  using Triangular = void (*)(CblasOrder, CblasSide, CblasTriangle, CblasTranspose, CblasDiagonal, int m, int n,
                              Factor<T> alpha, const Elements<T>* a, int lda, Elements<T>* b, int ldb);
  Triangular trsm, trmm;
  void (*syrk)(CblasOrder, CblasTriangle, CblasTranspose, int n, int k, Factor<T> alpha, const Elements<T>* a, int lda,
               Factor<T> beta, Elements<T>* c, int ldc);
  void (*syr2k)(CblasOrder, CblasTriangle, CblasTranspose, int n, int k, Factor<T> alpha, const Elements<T>* a, int lda,
                const Elements<T>* b, int ldb, Factor<T> beta, Elements<T>* c, int ldc);
  void (*symm)(CblasOrder, CblasSide, CblasTriangle, int m, int n, Factor<T> alpha, const Elements<T>* a, int lda,
               const Elements<T>* b, int ldb, Factor<T> beta, Elements<T>* c, int ldc);
};

int to_int(std::int64_t size) {
  if (size > std::numeric_limits<int>::max())
    throw Error("[blas] expected sizes below 2^31 on the cpu device, got {}", size);
  return static_cast<int>(size);
}

CblasTranspose to_cblas(MatrixOp op) {
  if (op == MatrixOp::plain) return cblas_no_trans;
  return op == MatrixOp::transposed ? cblas_trans : cblas_conj_trans;
}

CblasTriangle to_cblas(Triangle triangle) {
  return triangle == Triangle::lower ? cblas_lower : cblas_upper;
}

template <class T>
T to_number(std::complex<double> value) {
  if constexpr (is_complex<T>)
    return T(value);
  else
    return static_cast<T>(value.real());
}

template <class T>
Factor<T> factor(const T& value) {
  if constexpr (is_complex<T>)
    return &value;
  else
    return value;
}

/// The matrices of one product of a batch.
template <class T>
struct Triple {
  const T *a, *b;
  T* c;
};

template <class T>
Triple<T> triple(const GemmProblem& p, std::int64_t i) {
  if (p.c_addresses != nullptr)
    return {static_cast<const T*>(p.a_addresses[i]), static_cast<const T*>(p.b_addresses[i]),
            static_cast<T*>(p.c_addresses[i])};
  return {static_cast<const T*>(p.a) + i * p.stride_a, static_cast<const T*>(p.b) + i * p.stride_b,
          static_cast<T*>(p.c) + i * p.stride_c};
}

/// One product, with sizes that fit CBLAS. A product with a vector is gemv's, which OpenBLAS's gemm does not find by
/// itself.
template <class T>
class Product {
 public:
  Product(const Routines<T>& call, const GemmProblem& p)
      : call_(call),
        op_a_(to_cblas(p.op_a)),
        op_b_(to_cblas(p.op_b)),
        m_(to_int(p.m)),
        n_(to_int(p.n)),
        k_(to_int(p.k)),
        lda_(to_int(p.lda)),
        ldb_(to_int(p.ldb)),
        ldc_(to_int(p.ldc)),
        alpha_(to_number<T>(p.alpha)),
        beta_(to_number<T>(p.beta)) {}

  void run(const Triple<T>& of) const {
    if (n_ == 1 && (op_b_ != cblas_conj_trans || !is_complex<T>))
      return multiply_vector(op_a_, op_a_ == cblas_no_trans ? m_ : k_, op_a_ == cblas_no_trans ? k_ : m_, of.a, lda_,
                             of.b, op_b_ == cblas_no_trans ? ldb_ : 1, of.c, ldc_);
    // The row c is B' a: B is read as its transpose.
    if (m_ == 1 && (!is_complex<T> || (op_a_ != cblas_conj_trans && op_b_ != cblas_conj_trans)))
      return multiply_vector(op_b_ == cblas_no_trans ? cblas_trans : cblas_no_trans, op_b_ == cblas_no_trans ? k_ : n_,
                             op_b_ == cblas_no_trans ? n_ : k_, of.b, ldb_, of.a, op_a_ == cblas_no_trans ? 1 : lda_,
                             of.c, 1);
    call_.gemm(cblas_row_major, op_a_, op_b_, m_, n_, k_, factor(alpha_), of.a, lda_, of.b, ldb_, factor(beta_), of.c,
               ldc_);
  }

 private:
  void multiply_vector(CblasTranspose op, int rows, int columns, const T* a, int lda, const T* x, int step_x, T* y,
                       int step_y) const {
    call_.gemv(cblas_row_major, op, rows, columns, factor(alpha_), a, lda, x, step_x, factor(beta_), y, step_y);
  }

  const Routines<T>& call_;
  CblasTranspose op_a_, op_b_;
  int m_, n_, k_, lda_, ldb_, ldc_;
  T alpha_, beta_;
};

template <class T>
void run_triangular(typename Routines<T>::Triangular function, const TriangularProblem& p, const void* a, void* b) {
  const T alpha = to_number<T>(p.alpha);
  function(cblas_row_major, p.right ? cblas_right : cblas_left, to_cblas(p.triangle), to_cblas(p.op),
           p.unit_diagonal ? cblas_unit : cblas_non_unit, to_int(p.m), to_int(p.n), factor(alpha),
           static_cast<const T*>(a), to_int(p.lda), static_cast<T*>(b), to_int(p.ldb));
}

class OpenBlas final : public Blas {
 public:
  OpenBlas() : library_("blas", "matrix products") {
    find(float_, 's'), find(double_, 'd'), find(complex_, 'c'), find(double_complex_, 'z');
  }

  bool takes(DType dtype) const override { return size_of(dtype) >= 4 && !is_integer(dtype); }

  void gemm(const GemmProblem& p, Stream& stream) override {
    queue_by_type(stream, p.dtype, [=, this]<class T>(const Routines<T>& call) {
      const Product<T> product(call, p);
      library_.each(p.batch, static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k),
                    [&](std::int64_t i) { product.run(triple<T>(p, i)); });
    });
  }

  void solve_triangular(const TriangularProblem& p, Stream& stream) override {
    queue_by_type(stream, p.dtype, [=, this]<class T>(const Routines<T>& call) {
      if (p.a_addresses == nullptr) return run_triangular<T>(call.trsm, p, p.a, p.b);
      const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n);
      library_.each(p.batch, m * n * (p.right ? n : m),
                    [&](std::int64_t i) { run_triangular<T>(call.trsm, p, p.a_addresses[i], p.b_addresses[i]); });
    });
  }

  void multiply_triangular(const TriangularProblem& p, Stream& stream) override {
    queue_by_type(stream, p.dtype,
                  [=, this]<class T>(const Routines<T>& call) { run_triangular<T>(call.trmm, p, p.a, p.b); });
  }

  void update(const RankUpdate& p, Stream& stream) override {
    queue_by_type(stream, p.dtype, [=, this]<class T>(const Routines<T>& call) {
      const T alpha = to_number<T>(p.alpha), beta = to_number<T>(p.beta);
      const CblasTranspose op = p.transposed ? cblas_trans : cblas_no_trans;
      const int n = to_int(p.n), k = to_int(p.k), lda = to_int(p.lda), ldb = to_int(p.ldb), ldc = to_int(p.ldc);
      const auto *a = static_cast<const T*>(p.a), *b = static_cast<const T*>(p.b);
      const CblasTriangle triangle = to_cblas(p.triangle);
      if (b == nullptr)
        call.syrk(cblas_row_major, triangle, op, n, k, factor(alpha), a, lda, factor(beta), static_cast<T*>(p.c), ldc);
      else
        call.syr2k(cblas_row_major, triangle, op, n, k, factor(alpha), a, lda, b, ldb, factor(beta),
                   static_cast<T*>(p.c), ldc);
    });
  }

  void multiply_symmetric(const SymmetricProduct& p, Stream& stream) override {
    queue_by_type(stream, p.dtype, [=, this]<class T>(const Routines<T>& call) {
      const T alpha = to_number<T>(p.alpha), beta = to_number<T>(p.beta);
      call.symm(cblas_row_major, p.right ? cblas_right : cblas_left, to_cblas(p.triangle), to_int(p.m), to_int(p.n),
                factor(alpha), static_cast<const T*>(p.a), to_int(p.lda), static_cast<const T*>(p.b), to_int(p.ldb),
                factor(beta), static_cast<T*>(p.c), to_int(p.ldc));
    });
  }

 private:
  template <class T>
  void find(Routines<T>& routines, char type) {
    const std::string prefix = std::string("cblas_") + type;
    library_.find(routines.gemm, prefix + "gemm"), library_.find(routines.gemv, prefix + "gemv");
    library_.find(routines.trsm, prefix + "trsm"), library_.find(routines.trmm, prefix + "trmm");
    library_.find(routines.syrk, prefix + "syrk"), library_.find(routines.syr2k, prefix + "syr2k");
    library_.find(routines.symm, prefix + "symm");
  }

  /// Calls with(routines) for the routines of the dtype, or records the call.
  template <class With>
  void queue_by_type(Stream& stream, DType dtype, const With& with) const {
    queue(stream, [=, this] { by_type(dtype, with); });
  }
  template <class With>
  void by_type(DType dtype, const With& with) const {
    switch (dtype) {
      case DType::float32:
        return with(float_);
      case DType::float64:
        return with(double_);
      case DType::complex64:
        return with(complex_);
      case DType::complex128:
        return with(double_complex_);
      default:
        throw Error("[blas] expected float32, float64, complex64 or complex128 on the cpu device, got {}", name(dtype));
    }
  }

  OpenBlasLibrary library_;
  Routines<float> float_{};
  Routines<double> double_{};
  Routines<std::complex<float>> complex_{};
  Routines<std::complex<double>> double_complex_{};
};

}  // namespace

std::unique_ptr<Blas> open_blas() {
  return std::make_unique<OpenBlas>();
}

}  // namespace gpulua::cpu
