#include "src/user/user_scan.h"

#include "src/algorithms/scan.h"
#include "src/expressions/expression.h"
#include "src/user/user_binding.h"

namespace gpulua {

/// A scan for given types.
struct ScanFunction {
  UserFunction function;
  ScanCode code;
};

namespace {

std::shared_ptr<const ScanFunction> make_scan(const UserScan& scan, const TypeVariables& type_variables) {
  const DType dtype = dtype_of(scan.output, type_variables);
  const std::string identity =
      scan.neutral ? "  __device__ static _type identity() { return _type(" + placed(*scan.neutral) + "); }\n" : "";
  const std::string text = "using _type = " + type_name(dtype) +
                           ";\n"
                           "struct operation : gpulua_scan_operation {\n"
                           "  static constexpr bool commutes = false;\n" +
                           identity + "  __device__ static _type combine(const _type a, const _type b) {\n  return (" +
                           placed(scan.expression) + ");\n  }\n};\n";
  auto made = std::make_shared<ScanFunction>();
  made->function = make_function(scan.preamble, type_names(type_variables, std::nullopt) + text);
  const std::string operation = made->function.id + "::operation", type = type_name(dtype);
  const std::size_t bytes = type == "float" ? 4 : size_of(dtype);
  if (scan.neutral)
    made->code = {operation, type, bytes, &made->function};
  else
    made->code = {"gpulua_scan_without_identity<" + operation + ", " + type + ">", "gpulua_scan_maybe<" + type + ">",
                  2 * bytes, &made->function};
  return made;
}

}  // namespace

Array UserScan::operator()(const Array& array, std::optional<std::size_t> axis, const Array& out) const {
  UserCall call;
  if (out) call.out = {out};
  const Bound bound = bind_arguments(name, {input}, {output}, {array}, call);
  std::shared_ptr<const ScanFunction>& function = made[bound.type_variables];
  if (!function) function = make_scan(*this, bound.type_variables);
  Array result = scan(function->code, array, axis, exclusive, dtype_of(output, bound.type_variables));
  if (!out) return result;
  assign(out, std::move(result), name.c_str());
  return out;
}

}  // namespace gpulua
