#include "src/user/user_binding.h"

#include "src/base/error.h"
#include "src/ops/promotion.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

std::string bracketed(const std::string& name) {
  return "[" + name + "] ";
}

[[noreturn]] void refuse_dtype(const std::string& name, const UserParameter& parameter, DType wanted,
                               const std::string& why, const Node& array) {
  const std::string dtype(gpulua::name(wanted));
  throw Error("{}{}: expected {}{}, got an array {}; x:astype(\"{}\") converts it", bracketed(name), parameter.name,
              dtype, why, type_text(array), dtype);
}

/// A weak array in the parameter's dtype, which has to hold numbers of its kind.
Array converted(const std::string& name, const UserParameter& parameter, const Array& weak, DType dtype) {
  const DTypeKind kind = info(dtype).kind;
  const bool holds = weak->dtype == dtype || kind == DTypeKind::complex ||
                     (kind == DTypeKind::floating && info(weak->dtype).kind != DTypeKind::complex);
  if (!holds) refuse_dtype(name, parameter, dtype, "", *weak);
  return cast(weak, dtype);
}

class Binder {
 public:
  Binder(const std::string& name, const std::vector<UserParameter>& inputs, const std::vector<Operand>& arguments,
         const UserCall& call)
      : name_(name), inputs_(inputs), arguments_(arguments), call_(call) {}

  Bound bind(const std::vector<UserParameter>& outputs) {
    bound_.type_variables = call_.type_variables;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (const auto* array = std::get_if<Array>(&arguments_[i])) bind_array(inputs_[i], **array);
    for (std::size_t i = 0; i < inputs_.size(); ++i) bind_weak(inputs_[i], arguments_[i]);
    bound_.type_variables.insert(of_numbers_.begin(), of_numbers_.end());
    for (std::size_t k = 0; k < outputs.size(); ++k)
      bind_output(outputs[k], call_.out.empty() ? nullptr : call_.out[k].get());
    if (!bound_.device) bound_.device = call_.device;
    bound_.shape = shape();
    return std::move(bound_);
  }

 private:
  DType default_dtype() const {
    const OpenDevice& device = bound_.device       ? *bound_.device
                               : call_.out.empty() ? *call_.device
                                                   : call_.out.front()->device();
    return device.context().default_dtype;
  }

  [[noreturn]] void refuse(const UserParameter& parameter, const std::string& expected, const std::string& got) const {
    throw Error("{}{}: expected {}, got {}", bracketed(name_), parameter.name, expected, got);
  }

  void bind_device(const UserParameter& parameter, Node& array) {
    if (!bound_.device) bound_.device = array.device_ref();
    if (bound_.device.get() != &array.device())
      refuse(parameter, "an array on " + bound_.device->name(), array.device().name() + "; x:to(name) copies one over");
  }

  void bind_array(const UserParameter& parameter, Node& array) {
    bind_device(parameter, array);
    if (array.weak && !parameter.raw) return;
    const auto wrong = [&](DType wanted, const std::string& why) {
      refuse_dtype(name_, parameter, wanted, why, array);
    };
    if (parameter.type_variable == 0) {
      if (array.dtype != *parameter.dtype) wrong(*parameter.dtype, "");
      return;
    }
    const auto [entry, is_new] = bound_.type_variables.try_emplace(parameter.type_variable, array.dtype);
    if (!is_new && entry->second != array.dtype)
      wrong(entry->second, ", which " + std::string(1, parameter.type_variable) + " is by an earlier array");
  }

  /// Binds a type variable to the dtype of a number, or of a weak array. Other arrays take precedence.
  void bind_weak(const UserParameter& parameter, const Operand& argument) {
    const auto* array = std::get_if<Array>(&argument);
    if (array && (!(*array)->weak || parameter.raw)) return;
    const auto* number = std::get_if<Scalar>(&argument);
    if (number && parameter.raw) refuse(parameter, "an array, as it is raw", to_string(*number));
    if (parameter.type_variable == 0 || bound_.type_variables.count(parameter.type_variable) != 0) return;
    const DType dtype = number ? dtype_of_number(*number, default_dtype()) : (*array)->dtype;
    const auto [entry, is_new] = of_numbers_.try_emplace(parameter.type_variable, dtype);
    if (!is_new) entry->second = promote(entry->second, dtype);
  }

  void bind_output(const UserParameter& parameter, Node* out) {
    if (out) bind_device(parameter, *out);
    if (parameter.type_variable == 0 || bound_.type_variables.count(parameter.type_variable) != 0) return;
    if (!out)
      throw Error("{}{}: {} is not the type of an input; {{out = array}} settles it", bracketed(name_), parameter.name,
                  std::string(1, parameter.type_variable));
    bound_.type_variables[parameter.type_variable] = out->dtype;
  }

  Dims shape() const {
    boost::container::small_vector<const Dims*, 4> shapes;
    bool has_elements = false;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      has_elements = has_elements || !inputs_[i].raw;
      const auto* array = std::get_if<Array>(&arguments_[i]);
      if (array && !inputs_[i].raw) shapes.push_back(&(*array)->layout.shape);
    }
    if (!shapes.empty() && call_.size)
      throw Error("{}the option size is for calls whose arrays are all raw", bracketed(name_));
    if (!shapes.empty()) return broadcast_shapes(name_, {shapes.data(), shapes.size()});
    if (!call_.out.empty()) return call_.out.front()->layout.shape;
    if (call_.size) return {*call_.size};
    if (!has_elements)
      throw Error("{}all inputs are raw: {{size = n}} or {{out = array}} says how many results there are",
                  bracketed(name_));
    return {};
  }

  const std::string& name_;
  const std::vector<UserParameter>& inputs_;
  const std::vector<Operand>& arguments_;
  const UserCall& call_;
  Bound bound_;
  TypeVariables of_numbers_;
};

}  // namespace

Bound bind_arguments(const std::string& name, const std::vector<UserParameter>& inputs,
                     const std::vector<UserParameter>& outputs, const std::vector<Operand>& arguments,
                     const UserCall& call) {
  return Binder(name, inputs, arguments, call).bind(outputs);
}

Array operand_array(const std::string& name, const UserParameter& parameter, const Operand& operand,
                    const Bound& bound) {
  const auto* number = std::get_if<Scalar>(&operand);
  if (!number && (!std::get<Array>(operand)->weak || parameter.raw)) return std::get<Array>(operand);
  const DType dtype = dtype_of(parameter, bound.type_variables);
  if (!number) return converted(name, parameter, std::get<Array>(operand), dtype);
  try {
    return constant(*bound.device, {}, dtype, *number);
  } catch (const Error& error) {
    throw Error("{}{}: {}", bracketed(name), parameter.name, error.what());
  }
}

}  // namespace gpulua
