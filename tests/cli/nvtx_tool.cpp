// A tool that follows NVTX ranges, as NVIDIA's tools do: NVTX loads it into the process that NVTX_INJECTION64_PATH
// names it to. It prints the ranges on the standard error, indented by their depth.

#include <nvtx3/nvToolsExt.h>

#include <cstddef>
#include <cstdio>

namespace {

int depth = 0;

int push(const char* name) {
  std::fprintf(stderr, "%*s%s {\n", 2 * depth, "", name);
  return depth++;
}

int pop() {
  --depth;
  std::fprintf(stderr, "%*s}\n", 2 * depth, "");
  return depth;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable functions = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &functions, &size) == 0) return 0;
  *functions[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(&push);
  *functions[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(&pop);
  return 1;
}
