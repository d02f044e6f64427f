// Calls of PyTorch's ops. An op is a row: its name, and a function that reads the arguments from PyTorch's stack and
// returns the results. If the function throws a Refusal, or if the library refuses the arguments, the op runs on the
// CPU. This is safe, because a call of the library that throws has changed nothing.
#pragma once

#include <ATen/ATen.h>
#include <torch/library.h>

#include <functional>
#include <initializer_list>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "crisol/autograd.h"
#include "crisol/error.h"
#include "crisol/ops.h"
#include "memory.h"

namespace crisol_torch {

/// Thrown by a row for arguments that the device does not take. The op then runs on the CPU.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Refuses the arguments unless a condition holds.
inline void need(bool holds, const char* what) {
  if (!holds) throw Refusal(what);
}

/// Throws PyTorch's exception for an error of the library.
[[noreturn]] void rethrow(const crisol::Error& error);

/// Calls f, and throws PyTorch's exceptions.
template <class F>
decltype(auto) guarded(F&& f) {
  try {
    return f();
  } catch (const crisol::Error& error) {
    rethrow(error);
  }
}

/// An operand of an elementwise op: a tensor, or a number.
class Argument {
 public:
  Argument(crisol::Tensor tensor) : tensor_(std::move(tensor)) {}
  Argument(crisol::Scalar number) : number_(number) {}
  operator crisol::Operand() const { return tensor_.defined() ? crisol::Operand(tensor_) : crisol::Operand(number_); }
  /// The dtype of the tensor, or of the number.
  crisol::DType dtype() const { return tensor_.defined() ? tensor_.dtype() : number_.dtype(); }

 private:
  crisol::Tensor tensor_;
  crisol::Scalar number_ = 0;
};

/// The arguments of a call.
class Call {
 public:
  explicit Call(at::ArrayRef<c10::IValue> arguments) noexcept : arguments_(arguments) {}

  std::size_t size() const noexcept { return arguments_.size(); }
  const c10::IValue& value(std::size_t i) const { return arguments_[i]; }
  bool is_none(std::size_t i) const { return arguments_[i].isNone(); }
  /// An argument of PyTorch. An optional one may be undefined.
  at::Tensor torch(std::size_t i) const { return is_none(i) ? at::Tensor() : arguments_[i].toTensor(); }
  std::vector<at::Tensor> torch_list(std::size_t i) const { return arguments_[i].toTensorVector(); }
  /// The library's tensor over an argument. It is undefined if an optional argument is.
  crisol::Tensor tensor(std::size_t i) const;
  std::vector<crisol::Tensor> tensors(std::size_t i) const;
  /// An argument that may be a number, or a tensor of one element on the CPU.
  Argument operand(std::size_t i) const;
  crisol::Scalar scalar(std::size_t i) const;
  crisol::Scalar scalar(std::size_t i, crisol::Scalar otherwise) const { return is_none(i) ? otherwise : scalar(i); }
  double number(std::size_t i) const { return scalar(i).as_double(); }
  std::int64_t whole(std::size_t i) const { return arguments_[i].toInt(); }
  int axis(std::size_t i) const { return static_cast<int>(whole(i)); }
  bool flag(std::size_t i) const { return arguments_[i].toBool(); }
  std::vector<std::int64_t> wholes(std::size_t i) const {
    return is_none(i) ? std::vector<std::int64_t>() : arguments_[i].toIntVector();
  }
  crisol::Shape shape(std::size_t i) const { return wholes(i); }
  std::optional<at::ScalarType> type(std::size_t i) const { return arguments_[i].toOptional<at::ScalarType>(); }
  std::optional<at::Generator> generator(std::size_t i) const { return arguments_[i].toOptional<at::Generator>(); }

 private:
  at::ArrayRef<c10::IValue> arguments_;
};

/// The library's number for a number of PyTorch. Refuses complex numbers.
crisol::Scalar scalar_of(const at::Scalar& number);

/// The library's number for the only element of a tensor on the CPU.
crisol::Scalar number_of(const at::Tensor& x);

using Results = std::vector<c10::IValue>;
using Run = std::function<Results(const Call&)>;

/// An op on the device.
struct Row {
  const char* name;  ///< Such as "add.out".
  Run run;
  Run on_cpu = nullptr;  ///< Replaces PyTorch's call on the CPU, for ops that PyTorch's CPU does not have.
};
using Rows = std::vector<Row>;

/// A row for "NAME.out": its last argument is the result. `run` writes it.
template <class F>
Run into(F run) {
  return [run](const Call& call) {
    run(call, call.tensor(call.size() - 1));
    return Results{call.value(call.size() - 1)};
  };
}
/// A row for an op in place: its first argument is the result.
template <class F>
Run in_place(F run) {
  return [run](const Call& call) {
    run(call, call.tensor(0));
    return Results{call.value(0)};
  };
}
/// A row for an op that gives a new tensor of the library.
template <class F>
Run gives(F run) {
  return [run](const Call& call) { return Results{wrap(run(call))}; };
}

/// A tensor of PyTorch, or an undefined one for an undefined tensor.
c10::IValue wrap_or_none(const crisol::Tensor& x);

/// The gradients of f's inputs by the library's autograd, which calls f again. For functions whose backward is no op of
/// the library.
std::vector<crisol::Tensor> gradients(const crisol::ForwardFunction& f, std::vector<crisol::Tensor> inputs,
                                      const crisol::Tensor& dy);

/// The rows of a family. Each function is in a file of its own.
Rows pointwise_rows();
Rows reduction_rows();
Rows product_rows();
Rows layer_rows();
Rows cell_rows();
Rows loss_rows();
Rows index_rows();
Rows counting_rows();
Rows bag_rows();
Rows layout_rows();
Rows random_rows();
Rows optimizer_rows();
Rows vision_rows();
Rows quantization_rows();
Rows complex_rows();

/// What to do when an op runs on the CPU: an error, a warning for the first call of each op (the default), or nothing.
enum class Fallback { error, warn, silent };
void set_fallback(Fallback mode) noexcept;

/// The ops that ran on the CPU so far, with the numbers of calls and the last reasons.
struct FallbackNote {
  std::int64_t calls = 0;
  std::string reason;
};
std::map<std::string, FallbackNote> fallback_notes();
void clear_fallback_notes();
/// The names of all rows.
std::vector<std::string> row_names();

/// Whether recurrent layers run over whole sequences. Otherwise PyTorch calls a cell for each step, which has second
/// gradients.
void set_whole_sequences(bool whole) noexcept;

/// Registers all ops with PyTorch.
void register_rows();
/// Gives the storage of a tensor of the device another size. The elements stay.
void resize_storage(const c10::Storage& storage, std::size_t bytes);

}  // namespace crisol_torch
