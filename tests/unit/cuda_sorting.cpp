// The device code of reductions, scans, sorts, counts, products and Fourier transforms compiles for a GPU, too.

#include <string>

#include "kernel_text.h"
#include "tests/catch.h"
#include "tests/unit/cuda_own_kernels.h"

using namespace gpulua;

namespace {

/// The headers with a kernel that calls each of the functions, instantiated by `kernel`.
void compile(std::initializer_list<const char*> headers, const std::string& kernel) {
  std::string text;
  for (const char* header : headers) text += kernel_text(header);
  for (const char* architecture : {"sm_75", "sm_90"}) {
    OwnKernels kernels(architecture);
    if (!with_nvrtc([&] { kernels.compile(text + kernel); })) return;
  }
}

}  // namespace

TEST_CASE("reductions compile with NVRTC", "[cuda][nvrtc]") {
  compile({"elements.cuh", "arithmetic.cuh", "indexing.cuh", "reduce.cuh"}, R"(
__global__ void k(const float* x, float* y) {
  gpulua_max<float> most = gpulua_max<float>::identity();
  gpulua_min<double> least = gpulua_min<double>::identity();
  most.add(*x, 0);
  least.add(*x, 0);
  *y = most.result() + least.result();
})");
}

TEST_CASE("scans compile with NVRTC", "[cuda][nvrtc]") {
  std::string text;
  const auto add = [&](const std::string& name, const std::string& call) {
    text += "extern \"C\" __global__ void " + name +
            "(const float* x, float* y, const float* t, long long n, unsigned* c, unsigned long long* m) {" + call +
            "}\n";
  };
  const std::string types = "<gpulua_scan_max<float>, float, float, float, false";
  add("one_pass", "gpulua_scan_in_one_pass" + types + ", 256, 4, 4>(x, y, n, 1, c, m, m);");
  add("rows", "gpulua_scan_rows" + types + ", 256, 32, 4, 4>(x, y, t, n, n, n, n);");
  add("columns", "gpulua_scan_columns" + types + ">(x, y, n, n, n);");
  text += R"(
__global__ void complex(const gpulua_complex128* x, gpulua_complex128* y, unsigned* c, unsigned long long* m) {
  using product = gpulua_marked_prod<gpulua_complex128>;
  gpulua_scan_in_one_pass<gpulua_scan_prod<product>, gpulua_complex128, product, gpulua_complex128, true, 256, 4, 1>(
      x, y, 1, 1, c, m, m);
})";
  compile({"elements.cuh", "arithmetic.cuh", "indexing.cuh", "reduce.cuh", "scan.cuh", "scan_sweep.cuh"}, text);
}

TEST_CASE("complex elements of scripts' code compile with NVRTC", "[cuda][nvrtc]") {
  compile({"elements.cuh", "arithmetic.cuh", "functions.cuh", "complex.cuh", "complex_elements.cuh", "indexing.cuh",
           "reduce.cuh"},
          R"(
__global__ void k(const gpulua_complex_element64* x, gpulua_complex_element128* y, float* size) {
  gpulua_complex_element64 z = 2 * conj(*x) + x->x * 0.5 - gpulua_complex_element64(make_float2(1, 2));
  z /= 3u;
  *size = abs(z) + z.y + real(z) * z.imag() + norm(z) + arg(z) + (z == 0 || isnan(pow(z, 2)));
  *y *= gpulua_complex_element128(make_double2(z.x, z.y));
})");
}

TEST_CASE("sorts, searches and counts compile with NVRTC", "[cuda][nvrtc]") {
  std::string text = R"(
using order = gpulua_sort_order<unsigned int, gpulua_sort_floating, 0x7f800000, false>;
using wide = gpulua_sort_order<unsigned long long, gpulua_sort_signed, 0, true>;
__global__ void sort(const unsigned int* x, unsigned int* y, unsigned int* p, long long n) {
  gpulua_sort_short_rows<order, 256, 2048>(x, y, p, p, 2048);
  gpulua_sort_histogram<order, 256>(x, p, n, n, 1);
}
__global__ void move(const unsigned int* x, unsigned int* y, unsigned int* p, long long n) {
  gpulua_sort_by_digit<gpulua_sort_sweep<order, unsigned int, 256, 32, false>>(x, y, p, p, p, p, p, n, 1, 0);
}
__global__ void wide_move(const unsigned long long* x, unsigned long long* y, unsigned int* p, long long n) {
  gpulua_sort_by_digit<gpulua_sort_sweep<wide, unsigned long long, 256, 12, true>>(x, y, p, p, p, p, y, n, 1, 0);
}
__global__ void first(const unsigned int* x, unsigned int* y, unsigned int* p, unsigned long long* k, long long n) {
  gpulua_partition_count<order, 256, 1>(x, k, p, p, n, n, 1, 24);
  gpulua_partition_choose<1>(p, k, p);
  gpulua_partition_count_classes<order, false>(x, k, p, n, n, n, 1);
  gpulua_partition_move<order, false>(x, k, p, y, p, n, n, n, 1, n);
}
__global__ void parts(const unsigned long long* x, unsigned long long* y, unsigned int* p, long long n) {
  gpulua_partition_count<wide, 32, 2>(x, y, p, nullptr, n, n, 1, 24);
  gpulua_partition_choose<2>(p, y, p);
  gpulua_partition_count_classes<wide, true>(x, y, p, n, n, n, 1);
  gpulua_partition_move<wide, true>(x, y, p, y, p, n, n, n, 1, n);
}
__global__ void ranks(const unsigned int* x, unsigned int* y, const long long* r, unsigned long long* k, long long n) {
  gpulua_order_statistics_of_row<order, 32, 2>(x, r, y, n, 3, true);
  gpulua_order_statistics_write<order>(k, y, y, n, 2, 3, 0);
}
__global__ void wide_ranks(const unsigned long long* x, unsigned long long* y, const long long* r, long long n) {
  gpulua_order_statistics_of_row<wide, 256, 2>(x, r, y, n, 3, true);
}
__global__ void permutation(unsigned long long* p, unsigned long long n) {
  p[threadIdx.x] = gpulua_permutation(1, 2, threadIdx.x, n);
}
__global__ void search(const gpulua_half* x, const bool* v, const double* w, long long n, long long* p) {
  gpulua_search_sorted<gpulua_half, bool, int, true, true, 4>(x, 9, v, n, p, 1, 3, 2);
  gpulua_search_sorted<double, float, int, false, true, 4>(w, 9, (const float*)w, n, p, 1, 3, 2);
  gpulua_search_sorted<bool, bool, long long, false, false, 1>(v, n, v, n, p, 1, 0, 0);
}
__global__ void bincount(const signed char* x, const long long* wide, long long n, unsigned long long* c) {
  gpulua_bincount_few<signed char, 16, 8>(x, n, c, 10);
  gpulua_bincount_few<long long, 1, 8>(wide, n, c, 50000);
  gpulua_bincount_many<long long>(wide, n, c, 100000);
}
__global__ void weighted_bins(const bool* x, const unsigned long long* wide, const gpulua_half* w, long long n, double* t) {
  gpulua_weighted_bins<bool, gpulua_half, 5, 4>(x, w, n, t, 2, 2, 7);
  gpulua_weighted_bins<unsigned long long, long long, 10, 4>(wide, (const long long*)wide, n, t, 1000, 1000, 7);
  gpulua_add_weights<unsigned long long, gpulua_half>(wide, w, n, t, 100000);
}
__global__ void __launch_bounds__(96) many_weighted_bins(const int* x, const float* w, long long n, double* t) {
  gpulua_weighted_bins<int, float, 14, 8>(x, w, n, t, 65536, 16384, 7);
}
__global__ void histogram_of_few(const gpulua_half* x, long long n, unsigned long long* c) {
  gpulua_histogram_even<gpulua_half, gpulua_half, 32, 8>(x, n, x, 256, 2, -0.5f, 0.49f, c);
}
__global__ void histogram_by_bytes(const float* x, long long n, unsigned long long* c) {
  gpulua_histogram_bytes<float, float>(x, n, x, 256, 2, -0.5f, 0.49f, c);
}
__global__ void histogram_of_many(const int* x, long long n, const double* edges, unsigned long long* c) {
  gpulua_histogram_even<int, double, 1, 1>(x, n, edges, 8192, 2, -0.5f, 0.49f, c);
})";
  compile(
      {"elements.cuh", "arithmetic.cuh", "indexing.cuh", "search.cuh", "sort.cuh", "sort_sweep.cuh", "partition.cuh",
       "order_statistics.cuh", "philox.cuh", "permutation.cuh", "bincount.cuh", "weighted_bins.cuh"},
      text);
}

TEST_CASE("products of integers compile with NVRTC", "[cuda][nvrtc]") {
  std::string text;
  for (const std::string type : {"bool", "signed char", "unsigned short", "int", "long long", "unsigned long long"}) {
    const std::string name = "k" + std::to_string(text.size());
    text += "extern \"C\" __global__ void " + name + "(const " + type + "* a, const " + type + "* b, " + type +
            "* c, long long n, const long long* at) {\n  gpulua_matmul_tiles<" + type +
            ">(a, b, c, n, n, n, n, 1, n, 1, n, n, n, n, at, at, at);\n}\n";
  }
  compile({"elements.cuh", "arithmetic.cuh", "matmul.cuh"}, text);
}

TEST_CASE("Fourier transforms compile with NVRTC", "[cuda][nvrtc]") {
  const std::string axes = ", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1";
  std::string text;
  for (const std::string type : {"float", "double"}) {
    const std::string parameters = "(const " + type + "* x, " + type + "* y, const int* p)";
    for (const std::string variant :
         {"0xdb724835u, 0, gpulua_fft_along, gpulua_fft_along", "0x248u, 1, gpulua_fft_across, gpulua_fft_apart",
          "0x248u, 2, gpulua_fft_along, gpulua_fft_across", "0x248u, 3, gpulua_fft_apart, gpulua_fft_along"})
      text += "extern \"C\" __global__ void rows_" + std::to_string(text.size()) + parameters + " { gpulua_fft<" +
              type + ", " + variant + ", false>(x, y, y, x, p, x, x, 5, 0x8d, 104, 1, false" + axes + "); }\n";
    text += "extern \"C\" __global__ void chirp_" + type + parameters + " { gpulua_fft_chirp<" + type +
            ", 0x24835u, gpulua_fft_along, gpulua_fft_apart, false>(x, y, y, x, x, x, 0x53, 15, 7, 1, true" + axes +
            "); }\n";
    text += "extern \"C\" __global__ void halves_" + type + parameters + " { gpulua_fft_halves<" + type +
            ">(x, y, x, x, 5, 9, 9, 10, 5, false); }\n";
  }
  compile({"elements.cuh", "arithmetic.cuh", "indexing.cuh", "butterflies.cuh", "fft.cuh"}, text);
}

TEST_CASE("checks of decompositions compile with NVRTC", "[cuda][nvrtc]") {
  compile({"elements.cuh", "arithmetic.cuh", "indexing.cuh", "indexed.cuh", "decompositions.cuh"}, R"(
__global__ void floats(const int* info, const float* w, float* x, gpulua_index_fault* fault, const void* op) {
  gpulua_check_decomposition<float>(info, 7, 2, w, 3, x, 9, x, 9, x, 0, fault, op, 1, op);
}
__global__ void doubles(const int* info, double* x, gpulua_index_fault* fault, const void* op) {
  gpulua_check_decomposition<double>(info, 7, 2, x, 0, x, 9, x, 0, x, 0, fault, op, 1, op);
}
__global__ void rows(const int* pivots, int* rows) { gpulua_permutation(pivots, rows, 7, 3, 5); })");
}

TEST_CASE("checks of parameters compile with NVRTC", "[cuda][nvrtc]") {
  std::string text;
  for (const std::string type : {"bool", "long long", "unsigned long long", "gpulua_half", "gpulua_bfloat16", "double"})
    text += "extern \"C\" __global__ void check_" + std::to_string(text.size()) + "(const " + type +
            "* x, bool* done, gpulua_index_fault* fault, const void* op) { gpulua_check_numbers<" + type +
            ">(x, 7, 0, true, 1, false, true, done, 2, 11, fault, op, 1, op); }\n";
  compile({"elements.cuh", "arithmetic.cuh", "indexing.cuh", "indexed.cuh", "valid_numbers.cuh"}, text);
}

TEST_CASE("filters of windows compile with NVRTC", "[cuda][nvrtc]") {
  std::string text;
  const auto add = [&](const std::string& from, const std::string& to, const std::string& call) {
    text += "extern \"C\" __global__ void k" + std::to_string(text.size()) + "(const " + from + "* x, const " + to +
            "* w, " + from + "* y, " + to + "* z, const bool* b, int n) {" + call + "}\n";
  };
  for (const std::string near : {"0", "1", "3"}) {
    add("float", "float", "gpulua_window_sums<float, float, 5, 4, " + near + ">(x, w, y, n, n, n, n, n, n, 0.5, n);");
    add("gpulua_half", "float",
        "gpulua_window_sums<gpulua_half, float, 15, 15, " + near + ">(x, w, z, n, n, n, n, n, n, 0.5, n);");
  }
  add("bool", "double",
      "gpulua_window_sums_of_any<bool, double, true, 8>(x, w, z, n, n, n, n, n, n, 0.5, n, n, n, n, n);"
      "gpulua_window_sums_of_any<bool, double, false, 1>(x, w, z, n, n, n, n, n, n, 0.5, n, n, n, n, n);");
  add("gpulua_bfloat16", "int",
      "gpulua_window_ranks<gpulua_bfloat16, float, 3, 3, 1, 4>(x, y, n, n, n, n, n, n, 0.5, n);"
      "gpulua_window_extremes<gpulua_bfloat16, float, true, true, false, 8>(x, b, y, n, n, n, n, n, n, 0.5, n, n, n, "
      "n, n);");
  add("unsigned long long", "int",
      "gpulua_window_ranks<unsigned long long, unsigned long long, 4, 1, 0, 2>(x, y, n, n, n, n, n, n, 0.5, n);"
      "gpulua_window_extremes<unsigned long long, unsigned long long, false, false, true, 8>(x, b, y, n, n, n, n, n, "
      "n, 0.5, n, "
      "n, "
      "n, n, n);");
  compile({"elements.cuh", "arithmetic.cuh", "indexing.cuh", "window_filter.cuh", "window_ranks.cuh"}, text);
}

TEST_CASE("small systems compile with NVRTC", "[cuda][nvrtc]") {
  compile({"elements.cuh", "arithmetic.cuh", "indexing.cuh", "complex.cuh", "small_systems.cuh"}, R"(
__global__ void solve(const float* a, float* x, int* info) {
  gpulua_solve_small<float, 32>(a, a, x, info, 7, 30, 1, 900, 30);
}
__global__ void complex_solve(const gpulua_complex128* a, gpulua_complex128* x, int* info) {
  gpulua_solve_small<gpulua_complex128, 8>(a, nullptr, x, info, 7, 8, 8, 64, 0);
}
__global__ void determinant(const double* a, double* x) { gpulua_determinant_small<double, 16>(a, x, 7, 9); }
__global__ void cholesky(const gpulua_complex64* a, gpulua_complex64* x, int* info) {
  gpulua_cholesky_small<gpulua_complex64, 4>(a, x, info, 7, 3);
  gpulua_qr_small<gpulua_complex64, 32>(a, x, x, 7, 20, 31, 20);
})");
}

TEST_CASE("eigenvalues and singular values of small matrices compile with NVRTC", "[cuda][nvrtc]") {
  std::string text;
  const auto add = [&](const std::string& type, const std::string& real, const std::string& variant,
                       const std::string& extents) {
    const std::string name = "k" + std::to_string(text.size());
    text += "extern \"C\" __global__ void " + name + "(const " + type + "* a, " + real + "* w, " + type +
            "* v, int* info) { gpulua_eigen_small<" + type + ", " + variant + ">(a, w, v, info, 7, 3, 0);" +
            "gpulua_singular_small<" + type + ", " + extents + ">(a, w, info, 7, 3, 2, 2, 1); }\n";
  };
  add("float", "float", "2, true", "32, 2");
  add("float", "float", "32, true", "32, 32");
  add("double", "double", "4, false", "2, 2");
  add("gpulua_complex64", "float", "16, false", "16, 8");
  add("gpulua_complex128", "double", "8, true", "8, 8");
  compile({"elements.cuh", "arithmetic.cuh", "indexing.cuh", "complex.cuh", "small_systems.cuh", "small_jacobi.cuh"},
          text);
}

TEST_CASE("products of sparse matrices compile with NVRTC", "[cuda][nvrtc]") {
  std::string text;
  for (const std::string index : {"int", "long long"}) {
    const std::string suffix = index == "int" ? "_int" : "_long";
    const auto add = [&](const std::string& name, const std::string& call) {
      text += "extern \"C\" __global__ void " + name + suffix + "(const gpulua_complex128* v, const " + index +
              "* i, const " + index + "* s, const long long* list, long long* counts, " + index +
              "* places, gpulua_complex128* y, int* found, long long n) {" + call + "}\n";
    };
    add("count", "gpulua_count_pair<" + index + ", 16>(i, s, i, s, counts, n, true);");
    add("count_small", "gpulua_count_sorted<" + index + ", 512, 64>(i, s, i, s, list, counts);");
    add("count_large", "gpulua_count_sorted<" + index + ", 4096, 256>(i, s, i, s, list, counts);");
    add("multiply",
        "gpulua_multiply_pair<gpulua_complex128, " + index + ", 8>(v, i, s, v, i, s, list, s, places, y, n);");
    add("multiply_large",
        "gpulua_multiply_sorted<gpulua_complex128, " + index + ", 4096, 256>(v, i, s, v, i, s, list, s, places, y);");
    add("descent", "gpulua_find_descent<" + index + ">(i, s, n, n, found);");
  }
  compile({"elements.cuh", "arithmetic.cuh", "indexing.cuh", "complex.cuh", "indexed.cuh", "sparse.cuh",
           "sparse_pairs.cuh"},
          text);
}
