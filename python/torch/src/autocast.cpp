// torch.autocast: products and convolutions in a type of two bytes, and functions that need digits in f32. PyTorch's
// lists say which ops these are.
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

namespace crisol_torch {

namespace {

constexpr auto device_type = at::kPrivateUse1;

// The names of a list: _(op) and _(op, overload).
#define CRISOL_NAME_1(op) #op
#define CRISOL_NAME_2(op, overload) #op "." #overload
#define CRISOL_PICK(_1, _2, name, ...) name
#define CRISOL_NAME(...) CRISOL_PICK(__VA_ARGS__, CRISOL_NAME_2, CRISOL_NAME_1, )(__VA_ARGS__),
constexpr const char* low_precision[] = {AT_FORALL_LOWER_PRECISION_FP(CRISOL_NAME)};
// Whole sequences, which PyTorch's list has only as cells.
constexpr const char* recurrent[] = {"lstm.input",     "lstm.data",     "gru.input",      "gru.data",
                                     "rnn_tanh.input", "rnn_tanh.data", "rnn_relu.input", "rnn_relu.data"};
constexpr const char* full_precision[] = {AT_FORALL_FP32(CRISOL_NAME) AT_FORALL_FP32_SET_OPT_DTYPE(CRISOL_NAME)};
constexpr const char* widest_precision[] = {AT_FORALL_PROMOTE(CRISOL_NAME)};

// Calls f for each tensor among the arguments, and replaces the tensor by the result.
template <class F>
void replace_tensors(torch::jit::Stack& stack, std::size_t count, F f) {
  for (std::size_t i = stack.size() - count; i < stack.size(); ++i) {
    c10::IValue& value = stack[i];
    if (value.isTensor()) {
      value = f(value.toTensor());
    } else if (value.isTensorList()) {
      std::vector<at::Tensor> list = value.toTensorVector();
      for (at::Tensor& x : list) x = f(x);
      value = list;
    }
  }
}

at::ScalarType widest(torch::jit::Stack& stack, std::size_t count) {
  at::ScalarType type = at::autocast::get_autocast_dtype(device_type);
  replace_tensors(stack, count, [&](const at::Tensor& x) {
    if (x.defined() && x.is_privateuseone() && x.scalar_type() == at::kFloat) type = at::kFloat;
    return x;
  });
  return type;
}

enum class Precision { low, full, widest };

template <Precision precision>
void call(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::DispatchKey::AutocastPrivateUse1);
  const std::size_t count = op.schema().arguments().size();
  const at::ScalarType type = precision == Precision::full  ? at::kFloat
                              : precision == Precision::low ? at::autocast::get_autocast_dtype(device_type)
                                                            : widest(*stack, count);
  replace_tensors(*stack, count, [&](const at::Tensor& x) {
    return x.defined() ? at::autocast::cached_cast(type, x, device_type) : x;
  });
  op.callBoxed(stack);
}

}  // namespace

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
  for (const char* name : low_precision)
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&call<Precision::low>>());
  for (const char* name : recurrent) m.impl(name, torch::CppFunction::makeFromBoxedFunction<&call<Precision::low>>());
  for (const char* name : full_precision)
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&call<Precision::full>>());
  for (const char* name : widest_precision)
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&call<Precision::widest>>());
}

}  // namespace crisol_torch
