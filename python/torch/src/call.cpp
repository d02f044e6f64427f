#include "call.h"

#include <ATen/native/CPUFallback.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "crisol/captured_function.h"
#include "memory.h"

namespace crisol_torch {

void rethrow(const crisol::Error& error) {
  if (error.code() == crisol::ErrorCode::out_of_memory) TORCH_CHECK_WITH(OutOfMemoryError, false, error.what());
  if (error.code() == crisol::ErrorCode::invalid_argument &&
      std::string(error.what()).find("index") != std::string::npos)
    TORCH_CHECK_INDEX(false, error.what());
  TORCH_CHECK(false, error.what());
}

crisol::Scalar scalar_of(const at::Scalar& number) {
  if (number.isBoolean()) return number.toBool();
  if (number.isIntegral(false)) return number.toLong();
  need(number.isFloatingPoint(), "a number is complex");
  return number.toDouble();
}

crisol::Tensor Call::tensor(std::size_t i) const {
  const at::Tensor x = torch(i);
  return x.defined() ? tensor_of(x) : crisol::Tensor();
}

std::vector<crisol::Tensor> Call::tensors(std::size_t i) const {
  std::vector<crisol::Tensor> list;
  for (const at::Tensor& x : torch_list(i)) list.push_back(tensor_of(x));
  return list;
}

crisol::Scalar number_of(const at::Tensor& x) {
  need(x.is_cpu() && x.numel() == 1, "a tensor is not on the device");
  return scalar_of(x.item());
}

Argument Call::operand(std::size_t i) const {
  if (arguments_[i].isScalar()) return scalar(i);
  const at::Tensor x = torch(i);
  if (x.is_cpu() && x.dim() == 0) return number_of(x);
  return tensor_of(x);
}

c10::IValue wrap_or_none(const crisol::Tensor& x) { return x.defined() ? wrap(x) : at::Tensor(); }

std::vector<crisol::Tensor> gradients(const crisol::ForwardFunction& f, std::vector<crisol::Tensor> inputs,
                                      const crisol::Tensor& dy) {
  for (crisol::Tensor& x : inputs) x = x.detach().requires_grad_();
  const crisol::EnableGrad recording;
  return crisol::grad({f(inputs)}, inputs, {.grad_outputs = {dy}});
}

crisol::Scalar Call::scalar(std::size_t i) const { return scalar_of(arguments_[i].toScalar()); }

namespace {

std::atomic<Fallback> mode = [] {
  const char* const text = std::getenv("CRISOL_TORCH_FALLBACK");
  const std::string name = text == nullptr ? "" : text;
  return name == "error" ? Fallback::error : name == "silent" ? Fallback::silent : Fallback::warn;
}();

std::mutex notes_mutex;
std::map<std::string, FallbackNote>& notes() {
  static std::map<std::string, FallbackNote>& map = *new std::map<std::string, FallbackNote>;
  return map;
}

// The ops whose first call warned.
bool is_first(const std::string& name, const char* reason) {
  static std::map<std::string, bool>& warned = *new std::map<std::string, bool>;
  const std::lock_guard lock(notes_mutex);
  FallbackNote& note = notes()[name];
  ++note.calls;
  note.reason = reason;
  return !std::exchange(warned[name], true);
}

void note_fallback(const c10::OperatorHandle& op, const char* reason) {
  const std::string name = c10::toString(op.schema().operator_name());
  TORCH_CHECK(!crisol::detail::is_capturing(), "crisol: a graph with ", name, " is not captured: ", reason);
  const bool first = is_first(name, reason);
  TORCH_CHECK_NOT_IMPLEMENTED(mode != Fallback::error, "crisol: ", name, " does not run on the device: ", reason,
                              ". CRISOL_TORCH_FALLBACK=error forbids that it runs on the CPU");
  if (mode == Fallback::warn && first)
    TORCH_WARN("crisol: ", name, " runs on the CPU (", reason, "). CRISOL_TORCH_FALLBACK=silent hides this warning");
}

// Throws PyTorch's error if the tensors of a call are on several devices. A tensor on the CPU may be a single number,
// or one of several indices.
void check_devices(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const at::ArrayRef<c10::IValue> arguments = torch::jit::last(stack, op.schema().arguments().size());
  std::optional<at::Device> common;
  const auto check = [&](const at::Tensor& x) {
    if (!x.defined() || (x.is_cpu() && x.dim() == 0)) return;
    TORCH_CHECK(!common || *common == x.device(), "Expected all tensors to be on the same device, but found at least ",
                "two devices, ", *common, " and ", x.device(), "! (", op.schema().operator_name(), ")");
    common = x.device();
  };
  for (const c10::IValue& value : arguments) {
    if (value.isTensor()) check(value.toTensor());
    if (value.isTensorList())
      for (const at::Tensor& x : value.toTensorVector()) check(x);
  }
}

void fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  check_devices(op, *stack);
  note_fallback(op, "it has no kernel on the device");
  at::native::cpu_fallback(op, stack);
}

// Layouts that the device does not have.
void refuse_sparse(const c10::OperatorHandle& op, torch::jit::Stack*) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "crisol: ", op.schema().operator_name(),
                              " needs a sparse tensor, and there are none on the device. Use dense tensors, or sparse "
                              "ones on the CPU");
}
void refuse_quantized(const c10::OperatorHandle& op, torch::jit::Stack*) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "crisol: ", op.schema().operator_name(),
                              " needs a quantized tensor, and there are none on the device. Use tensors of int8 with "
                              "scales of their own, or quantized tensors on the CPU");
}

// Whether an earlier op found a wrong index, which a read of this op reports.
bool is_of_earlier_op(const crisol::Error& error) {
  return std::string_view(error.what()).find("CRISOL_CHECK_INDICES") != std::string_view::npos;
}

class Kernel final : public c10::OperatorKernel {
 public:
  explicit Kernel(Row row) : row_(std::move(row)) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
    const std::size_t count = op.schema().arguments().size();
    try {
      run(row_.run, stack, count);
    } catch (const Refusal& refusal) {
      leave(op, stack, count, refusal.what());
    } catch (const crisol::Error& error) {
      // PyTorch's op on the CPU computes what the device does not, or throws PyTorch's error.
      if (error.code() != crisol::ErrorCode::invalid_argument || is_of_earlier_op(error)) rethrow(error);
      leave(op, stack, count, error.what());
    }
  }

 private:
  static void run(const Run& function, torch::jit::Stack* stack, std::size_t count) {
    Results results = function(Call(torch::jit::last(*stack, count)));
    torch::jit::drop(*stack, count);
    for (c10::IValue& result : results) stack->push_back(std::move(result));
  }
  void leave(const c10::OperatorHandle& op, torch::jit::Stack* stack, std::size_t count, const char* reason) const {
    check_devices(op, *stack);
    note_fallback(op, reason);
    if (row_.on_cpu)
      run(row_.on_cpu, stack, count);
    else
      at::native::cpu_fallback(op, stack);
  }

  const Row row_;
};

Rows all_rows() {
  Rows rows;
  for (const auto family :
       {pointwise_rows, reduction_rows, product_rows, layer_rows, loss_rows, index_rows, counting_rows, bag_rows,
        layout_rows, random_rows, optimizer_rows, vision_rows, quantization_rows, complex_rows})
    for (Row& row : family()) rows.push_back(std::move(row));
  return rows;
}

std::vector<std::string>& names() {
  static std::vector<std::string>& list = *new std::vector<std::string>;
  return list;
}

}  // namespace

void set_fallback(Fallback wanted) noexcept { mode = wanted; }

std::map<std::string, FallbackNote> fallback_notes() {
  const std::lock_guard lock(notes_mutex);
  return notes();
}

void clear_fallback_notes() {
  const std::lock_guard lock(notes_mutex);
  notes().clear();
}

std::vector<std::string> row_names() { return names(); }

void register_rows() {
  static torch::Library ops(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  for (Row& row : all_rows()) {
    names().emplace_back(row.name);
    ops.impl(row.name, torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Kernel>(std::move(row))));
  }
  static torch::Library others(torch::Library::IMPL, "_", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  others.fallback(torch::CppFunction::makeFromBoxedFunction<&fall_back>());
  static std::vector<std::unique_ptr<torch::Library>>& refusals = *new std::vector<std::unique_ptr<torch::Library>>;
  const auto refuse = [](c10::DispatchKey key, torch::CppFunction function) {
    refusals.push_back(std::make_unique<torch::Library>(torch::Library::IMPL, "_", key, __FILE__, __LINE__));
    refusals.back()->fallback(std::move(function));
  };
  refuse(c10::DispatchKey::SparsePrivateUse1, torch::CppFunction::makeFromBoxedFunction<&refuse_sparse>());
  refuse(c10::DispatchKey::SparseCsrPrivateUse1, torch::CppFunction::makeFromBoxedFunction<&refuse_sparse>());
  refuse(c10::DispatchKey::QuantizedPrivateUse1, torch::CppFunction::makeFromBoxedFunction<&refuse_quantized>());
}

}  // namespace crisol_torch
