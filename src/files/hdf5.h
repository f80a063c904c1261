#pragma once

// HDF5 files: datasets of numbers in groups, by the paths of their names.

#include <string>

#include "src/files/npz.h"

namespace gpulua {

/// Reads the dataset called `name`, "group/x"; with an empty name all datasets of numbers. Throws Error of kind `file`
/// for a file that cannot be opened; Error for a file that is not HDF5, an unknown name, and another type of elements.
NamedArrays read_hdf5(const std::string& path, const std::string& name, OpenDevice& device);

/// Writes the arrays as datasets, with the groups in their names. Booleans and complex numbers are as h5py has them.
/// Throws Error for bfloat16, and of kind `file` for a failed write.
void save_hdf5(const std::string& path, const NamedArrays& arrays);

}  // namespace gpulua
