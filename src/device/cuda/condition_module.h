#pragma once

namespace gpulua::cuda {

/// PTX with a kernel, set_condition(handle, go_on), which gives a conditional node the bool at `go_on`. It is no CUDA
/// C++ because the driver alone knows the function that it calls.
inline constexpr const char* condition_module = R"(
.version 6.0
.target sm_50
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry set_condition(.param .u64 handle, .param .u64 go_on)
{
  .reg .b64 %handle, %address;
  .reg .b32 %value;
  ld.param.u64 %handle, [handle];
  ld.param.u64 %address, [go_on];
  cvta.to.global.u64 %address, %address;
  ld.global.u8 %value, [%address];
  {
    .param .b64 first;
    .param .b32 second;
    st.param.b64 [first], %handle;
    st.param.b32 [second], %value;
    call.uni cudaGraphSetConditional, (first, second);
  }
  ret;
}
)";

}  // namespace gpulua::cuda
