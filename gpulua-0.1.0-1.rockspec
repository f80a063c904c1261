rockspec_format = "3.0"
package = "gpulua"
version = "0.1.0-1"
-- tools/rock.sh puts the sources beside this file into a rock; `luarocks make` takes those of its folder.
source = {
  url = "gpulua-0.1.0.tar.gz",
}
description = {
  summary = "GPU arrays and kernels for LuaJIT scripts",
  detailed = [[
The module `gpu`: arrays on an NVIDIA GPU or on the processor, expressions that fuse into kernels, kernels in CUDA C++ that are
compiled from strings, and NVIDIA's libraries. Needs LuaJIT 2.1, and the Debian packages that tools/install-dependencies.sh names.]],
  license = "MIT",
}
dependencies = { "lua == 5.1" }
-- The rock is the module with its plugins: in a tree of LuaRocks there is no place for the command and the headers.
build = {
  type = "command",
  build_command = "cmake -S . -B build/rock -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DBUILD_TESTING=OFF"
    .. " && cmake --build build/rock",
  install_command = "cmake --install build/rock --prefix $(PREFIX) --component rock",
}
