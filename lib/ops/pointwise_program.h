// Elementwise ops as generated programs: one expression, one output, any strides.
//
//     const Snippet scaled_sum{"scaled_sum", "a b | factor", "a + factor * b"};
//     static PointwiseProgram program(scaled_sum, {DType::f32, DType::f32}, DType::f32);
//     Tensor y = program.run({&a, &b}, {0.5});
#pragma once

#include <array>
#include <atomic>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "crisol/tensor.h"
#include "runtime/launch.h"

namespace crisol::ops {

/// The text of an op: OpenCL C in which T stands for the type that is computed in, a scalar or a vector. Conditions
/// choose between values of type T: `x < 0.0f ? (T)(0.0f) : x`.
struct Snippet {
  const char* op;          ///< Name, for messages.
  const char* arguments;   ///< Names of the inputs, then '|' and those of the scalars: "a b | factor".
  const char* expression;  ///< One expression of these names.
};

/// The kernels of one snippet for given dtypes. Lives for the whole process; made without OpenCL, compiled on use.
class PointwiseProgram {
 public:
  static constexpr std::size_t max_inputs = 3, max_scalars = 3;

  /// in_place: the first argument is the old value of the output.
  PointwiseProgram(const Snippet& snippet, std::initializer_list<DType> inputs, DType output, bool in_place = false);
  PointwiseProgram(const PointwiseProgram&) = delete;
  PointwiseProgram& operator=(const PointwiseProgram&) = delete;

  using Inputs = std::span<const Tensor* const>;
  using Scalars = std::span<const double>;

  /// A new contiguous tensor; the inputs broadcast. Refuses, naming the op, undefined tensors, other dtypes, two
  /// devices and shapes that do not broadcast.
  Tensor run(Inputs inputs, Scalars scalars = {}) const;
  Tensor run(std::initializer_list<const Tensor*> inputs, std::initializer_list<double> scalars = {}) const {
    return run(Inputs(inputs.begin(), inputs.size()), Scalars(scalars.begin(), scalars.size()));
  }
  /// Writes to an existing tensor of any strides, to whose shape the inputs broadcast.
  void run_into(const Tensor& output, Inputs inputs, Scalars scalars = {}) const;
  void run_into(const Tensor& output, std::initializer_list<const Tensor*> inputs,
                std::initializer_list<double> scalars = {}) const {
    run_into(output, Inputs(inputs.begin(), inputs.size()), Scalars(scalars.begin(), scalars.size()));
  }

  /// Which kernel of cl_kernels/pointwise.cl under which defines; ranks are rounded up, so that few are compiled.
  enum class Form : std::uint8_t {
    flat_wide,
    rows,
    flat,
    flat_aligned,
    items_2,
    items_4,
    items_8,
    items_2_long,
    items_4_long,
    items_8_long,
    count
  };
  runtime::Kernel& kernel(runtime::DeviceState& device, Form form) const;
  const char* op() const noexcept { return op_; }
  /// What f and its scalars are: f32 where an operand is floating, else i64 where one is, else i32.
  DType computed() const noexcept { return computed_; }

 private:
  void check_inputs(Inputs inputs) const;
  void launch(const Tensor& output, Inputs inputs, Scalars scalars) const;

  static constexpr std::size_t cached_devices = 8;
  using Slots = std::array<std::atomic<runtime::Kernel*>, static_cast<std::size_t>(Form::count)>;

  const char* op_;
  std::vector<DType> inputs_;
  DType output_, computed_ = DType::f32;
  std::string prelude_;
  mutable std::array<Slots, cached_devices> slots_{};
};

/// One snippet for several dtypes: programs that are made when first asked for. `make(dtype)` gives a new program.
class ProgramsByDType {
 public:
  template <class Make>
  const PointwiseProgram& get(std::size_t index, Make make) {
    std::atomic<const PointwiseProgram*>& slot = slots_[index];
    if (const PointwiseProgram* known = slot.load(std::memory_order_acquire)) return *known;
    const PointwiseProgram* made = make();
    const PointwiseProgram* first = nullptr;
    if (slot.compare_exchange_strong(first, made, std::memory_order_acq_rel)) return *made;
    delete made;
    return *first;
  }

 private:
  std::array<std::atomic<const PointwiseProgram*>, 36> slots_{};
};

}  // namespace crisol::ops
