// The contents of the C handles, and the conversion of exceptions to statuses.
#pragma once

#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "c_api/guarded.h"
#include "crisol/c/crisol.h"
#include "crisol/io/safetensors.h"
#include "crisol/nn/module.h"
#include "crisol/optim.h"
#include "crisol/random.h"
#include "crisol/tensor.h"

struct crisol_tensor {
  crisol::Tensor value;
};

struct crisol_model {
  using Copy = std::unique_ptr<crisol::nn::Module> (*)(const crisol::nn::Module& module);

  std::shared_ptr<crisol::nn::Module> module;
  crisol::NamedTensors parameters;
  Copy copy;         ///< Makes a deep copy.
  std::string text;  ///< The text that crisol_model_text gave last.
};

struct crisol_named_tensors {
  crisol::NamedTensors value;
};

struct crisol_metadata {
  crisol::io::Metadata value;
};

struct crisol_optimizer {
  std::unique_ptr<crisol::optim::Optimizer> value;
};

struct crisol_ema {
  std::unique_ptr<crisol::optim::EMA> value;
};

struct crisol_grad_scaler {
  std::unique_ptr<crisol::optim::GradScaler> value;
};

/// Either `value` or `plateau` is set.
struct crisol_schedule {
  std::shared_ptr<crisol::optim::LRScheduler> value;
  std::unique_ptr<crisol::optim::ReduceLROnPlateau> plateau;
};

namespace crisol::c_api {

/// Stores the text of the current exception as this thread's message. Returns its status.
crisol_status status_of_exception() noexcept;

/// The row with this name in a table. `thing` says what the table holds, for example "model". If there is no such row,
/// the error lists all names.
template <class Table>
const auto& row_named(const Table& table, std::string_view name, const char* op, const char* thing) {
  std::string names;
  for (const auto& row : table) {
    if (row.name == name) return row;
    names.append(names.empty() ? "" : ", ").append(row.name);
  }
  fail(ErrorCode::invalid_argument, op, "there is no ", thing, " '", name, "'; there are: ", names);
}

inline const Tensor& tensor_of(const crisol_tensor* x, const char* op, const char* name) {
  return need(x, op, name).value;
}
/// The undefined tensor for null.
inline Tensor optional_tensor(const crisol_tensor* x) { return x == nullptr ? Tensor() : x->value; }

std::vector<Tensor> tensors_of(const crisol_tensor* const* list, int count, const char* op, const char* name);

std::vector<std::int64_t> numbers_of(const std::int64_t* numbers, std::int64_t count, const char* op, const char* name);

/// `count` sizes or axes.
Shape shape_of(const std::int64_t* numbers, int count, const char* op, const char* name);

/// C passes every number as a double. A whole double becomes a whole number.
Scalar scalar_of(double number);
/// Refers to the tensor of `operand`, or holds its number.
inline Operand operand_of(const crisol_operand& operand) {
  return operand.tensor != nullptr ? Operand(operand.tensor->value) : Operand(scalar_of(operand.number));
}

Device device_of(crisol_device device, const char* op);
DType dtype_of(crisol_dtype dtype, const char* op);

/// Makes a handle from the result of `make` and gives it to the caller.
template <class Handle, class Make>
crisol_status give(Handle** result, const char* op, const Make& make) noexcept {
  return guarded([&] {
    Handle*& place = need(result, op, "result");
    place = new Handle{make()};
  });
}

/// Makes a handle from the result of `make`, an op of one tensor, and gives it to the caller.
template <class Make>
crisol_status give_from(const crisol_tensor* x, crisol_tensor** result, const char* op, const Make& make) noexcept {
  return give(result, op, [&] { return make(tensor_of(x, op, "x")); });
}

/// Gives the name of a tensor and a handle to it to the caller. A null pointer means that the caller does not want it.
/// `what` names the tensor in the error.
inline void give_item(const NamedTensors& all, std::int32_t index, const char** name, crisol_tensor** result,
                      const char* op, const char* what) {
  require(index >= 0 && static_cast<std::size_t>(index) < all.size(), op, what, ' ', index, " of ", all.size());
  const auto& [its_name, value] = all[static_cast<std::size_t>(index)];
  if (result != nullptr) *result = new crisol_tensor{value};
  if (name != nullptr) *name = its_name.c_str();
}

inline const NamedTensors& state_of(const crisol_named_tensors* state, const char* op) {
  return need(state, op, "state").value;
}

inline void give_generator_state(const GeneratorState& state, std::uint64_t* seed, std::uint64_t* counter,
                                 const char* op) {
  std::uint64_t& place = need(seed, op, "seed");
  need(counter, op, "counter") = state.counter;
  place = state.seed;
}

/// The caller's data for a function. All copies of the function share it, and the last one releases it.
inline std::shared_ptr<void> owned(void* user_data, void (*release)(void*)) {
  return {user_data, [release](void* data) {
            if (release != nullptr) release(data);
          }};
}

/// Gives two results to the caller. A null pointer means that the caller does not want that result.
inline void give_both(crisol_tensor** first, const Tensor& a, crisol_tensor** second, const Tensor& b) {
  std::unique_ptr<crisol_tensor> one(first == nullptr ? nullptr : new crisol_tensor{a});
  std::unique_ptr<crisol_tensor> two(second == nullptr ? nullptr : new crisol_tensor{b});
  if (first != nullptr) *first = one.release();
  if (second != nullptr) *second = two.release();
}

}  // namespace crisol::c_api
