#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/name_row.h"

namespace gpulua {

/// The equivalent of a function, method or constant of NumPy, CuPy, PyTorch, PyCUDA, Numba or Lua: `x:table()` for
/// "tolist". Empty for a name that is not listed. Used only in messages about unknown names.
std::string_view name_elsewhere(std::string_view name);

/// True where the message expects numbers to compute with an array. A text given for one of these is explained.
inline bool takes_number_beside(std::string_view expected) {
  return expected.starts_with("an array or a number") || expected.starts_with("a number, a boolean or a complex") ||
         expected.starts_with("numbers for column");
}

/// What errors say of a text in place of a number beside an array: "Monday" may be meant as a part of dates.
std::string about_text_operand(std::string_view text);

/// The same of names in finance, statistics, signals, images and plots, of methods of sparse matrices, "A:dot", and of
/// names in one part of gpu alone, "plot.pie".
std::string_view name_of_subject(std::string_view name);

// What messages say of functions that no call has asked for: from the text of all signatures.

/// The call of `gpu.` + op, or of a method, "A:sum", without its options: "gpu.clip(x, low, high)". Empty without a
/// line of its own.
std::string call_of(const std::string& op);

/// "; the call is gpu.rolling(x, n)", for arguments in another order; empty without a line.
std::string about_call(const std::string& op);

/// Whether the call has more than one argument that cannot be left out, whose order may be mistaken.
bool takes_several(const std::string& op);

/// The names of the arguments before the options; empty without a line.
std::vector<std::string> arguments_of(const std::string& op);

/// The call of the function of that name in a part of gpu, "gpu.ndimage.sobel(x [, axis])"; empty when no part has it.
std::string call_in_a_part(std::string_view name);

/// The call of the function of that name, gpu's own or a part's; empty where there is none.
std::string call_in_gpu(const std::string& name);

/// What takes the sparse matrix that the function `op` of arrays got: "use gpu.sparse.linalg.spsolve(A, b)".
std::string instead_of_sparse(std::string_view op);

}  // namespace gpulua
