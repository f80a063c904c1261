# kernels.sh BUILD CMAKE LUAJIT: the tools of `make kernels` note what a GPU would ask for, and compile it without one.
source "$(dirname "$0")/check.sh"

cat >"$scratch/script.lua" <<'LUA'
local gpu = require "gpu"
local x = gpu.arange(1000, "float32"):eval()
gpu.sort(x * 2 + 1):eval()
gpu.fft.fft(gpu.ones(14)):eval() -- radices that NVRTC has to take
local of_script = gpu.kernel([[__global__ void of_script(float* x) { x[threadIdx.x] = 1; }]], "of_script")
of_script:over(1000)(x)
assert(arg[1] == "argument" and ... == "argument")
LUA
mkdir "$scratch/texts"
(cd / && GPULUA_FFT=own "$build/bin/gpulua_note_kernels" "$scratch/texts" "$scratch/script.lua" argument)
count=$(ls "$scratch/texts" | wc -l)
expect 'texts with a kernel' "$count" "$(grep -l __global__ "$scratch"/texts/*.cu | wc -l)"
expect 'the text of the expression' 1 "$(grep -l 'gpulua_multiply_add_kernel' "$scratch"/texts/*.cu | wc -l)"
expect 'the text of the script' '' "$(grep -l of_script "$scratch"/texts/*.cu || true)"
# The CPU device sorts without a kernel.
grep -q 'gpulua_sort[a-z_]*_kernel' "$scratch"/texts/*.cu || expect 'a sort' 'a kernel of a GPU' 'none'

if ! message=$("$build/bin/gpulua_pack_kernels" "$scratch/texts" sm_90 "$scratch/pack" 2>&1); then
  case $message in *'libnvrtc was not found'*) echo "$message"; exit 77 ;; esac
fi
expect 'the kernels of the pack' "pack: $count kernels" "${message%%,*}"
