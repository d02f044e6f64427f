#include "ops/pointwise/pointwise.h"

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string_view>

#include "base/hash.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "ops/pointwise/pointwise_kernels.h"
#include "ops/result.h"
#include "tensor/impl.h"

namespace crisol::ops {

namespace {

using Graph = PointwiseGraph;

constexpr std::size_t most = 2 + PointwiseRow::max_inputs + PointwiseRow::max_scalars;  // The 2 are dy and y.

/// What tells the calls of a row apart: a byte for the type of each operand, two bits for its kind, the mode of the
/// call and the default dtype.
struct Signature {
  std::uint64_t types = 0, kinds = 0;
  bool operator==(const Signature&) const = default;
};
static_assert(sizeof(DType) == 1 && most <= sizeof Signature::types);

/// The kernels of each row, by the signatures of its calls. A look-up takes no lock, because entries are never changed
/// or removed.
class KnownKernels {
 public:
  static KnownKernels& of_process() {
    static auto& known = *new KnownKernels;  // Never destroyed, because threads may outlive static objects.
    return known;
  }

  const PointwiseKernels* find(const PointwiseRow& row, const Signature& signature) const noexcept {
    for (std::size_t at = first_slot(row, signature), end = at + max_probes; at < end; ++at) {
      const Entry* const entry = slots_[at].load(std::memory_order_acquire);
      if (entry == nullptr) return nullptr;
      if (entry->row == &row && entry->signature == signature) return entry->kernels;
    }
    return nullptr;
  }
  /// If all slots for the entry are taken, the entry is not stored. The next call then makes its graph again.
  const PointwiseKernels& add(const PointwiseRow& row, const Signature& signature, const PointwiseKernels& kernels) {
    auto entry = std::make_unique<const Entry>(Entry{&row, signature, &kernels});
    for (std::size_t at = first_slot(row, signature), end = at + max_probes; at < end; ++at) {
      const Entry* expected = nullptr;
      if (!slots_[at].compare_exchange_strong(expected, entry.get(), std::memory_order_acq_rel)) continue;
      static_cast<void>(entry.release());
      break;
    }
    return kernels;
  }

 private:
  struct Entry {
    const PointwiseRow* row;
    Signature signature;
    const PointwiseKernels* kernels;
  };
  static constexpr std::size_t max_probes = 16;

  static std::size_t first_slot(const PointwiseRow& row, const Signature& signature) noexcept {
    const std::uint64_t kinds = (reinterpret_cast<std::uintptr_t>(&row) ^ signature.kinds) * golden_ratio;
    return (kinds ^ signature.types) * golden_ratio >> 52;
  }

  std::array<std::atomic<const Entry*>, 4096 + max_probes> slots_{};
};

// Modes tell calls of a row with equal operands apart. They begin above the bits of the operands' kinds.
constexpr int mode_bit = 2 * static_cast<int>(most), default_bit = 56;

/// The operands of one call: the tensors, the numbers, and the signature.
class Call {
 public:
  Call(const PointwiseRow& row, std::uint64_t mode)
      : row_(row), signature_{.kinds = mode + (static_cast<std::uint64_t>(default_dtype()) << default_bit)} {}

  void add(const char* name, const Operand& operand) {
    if (operand.tensor() == nullptr) return add_number(operand.number());
    const Tensor& x = *operand.tensor();
    require(x.defined(), row_.name, name, " is undefined");
    tensors_[tensor_count_++] = &x;
    add_type(type_of(x));
  }
  void add_number(const Scalar& number) {
    numbers_[number_count_++] = number;
    add_type({number.dtype(), OperandKind::number});
  }
  /// Adds an operand that is not read.
  void add_nothing() { sign(0xff, 3); }

  std::span<const OperandType> types() const noexcept { return {types_.data(), count_}; }
  std::span<const Tensor* const> tensors() const noexcept { return {tensors_.data(), tensor_count_}; }
  std::span<const Scalar> numbers() const noexcept { return {numbers_.data(), number_count_}; }

  /// The kernels for this row and these types. If they do not exist yet, `make` gives their graph.
  template <class Make>
  const PointwiseKernels& kernels(Make make) const {
    if (const PointwiseKernels* const known = KnownKernels::of_process().find(row_, signature_)) return *known;
    return KnownKernels::of_process().add(row_, signature_, kernels_of(make()));
  }

 private:
  void add_type(OperandType type) {
    types_[count_++] = type;
    sign(static_cast<std::uint64_t>(type.dtype), static_cast<std::uint64_t>(type.kind));
  }
  void sign(std::uint64_t type, std::uint64_t kind) {
    signature_.types = signature_.types << 8 | type;
    signature_.kinds += kind << 2 * signed_count_++;
  }

  const PointwiseRow& row_;
  Signature signature_;
  std::array<OperandType, most> types_{};
  std::array<const Tensor*, most> tensors_{};
  std::array<Scalar, most> numbers_{0, 0, 0, 0, 0, 0, 0};
  std::size_t count_ = 0, tensor_count_ = 0, number_count_ = 0, signed_count_ = 0;
};

constexpr std::uint64_t forward_mode = 0;
std::uint64_t into_mode(DType output) { return (1 + static_cast<std::uint64_t>(output)) << mode_bit; }
std::uint64_t derivative_mode(std::size_t k) { return (1 + std::uint64_t{k}) << (mode_bit + 16); }

void add_forward(Call& call, const PointwiseRow& row, Operands inputs, Scalars scalars) {
  require(inputs.size() == row.input_count && scalars.size() == row.scalar_count, row.name, "takes ", row.input_count,
          " inputs and ", row.scalar_count, " numbers, ", inputs.size(), " and ", scalars.size(), " are given");
  for (std::size_t i = 0; i < inputs.size(); ++i) call.add(row.inputs[i], inputs[i]);
  for (const Scalar& scalar : scalars) call.add_number(scalar);
}

// The dtype of a number as an argument of the kernel: the dtype in which the row computes. So 2 and 2.0 use the same
// program.
DType number_dtype(const PointwiseRow& row, std::size_t i, DType own, DType computed) {
  if (row.rule == RowRule::logical || row.is_condition(i)) return own;
  return computed == DType::boolean ? computed : value_type(computed);
}

Graph forward_graph(const PointwiseRow& row, std::span<const OperandType> types, std::optional<DType> output) {
  const RowTypes row_types = types_of(row, types);
  Graph graph;
  std::array<int, most> nodes{};
  for (std::size_t i = 0; i < types.size(); ++i)
    nodes[i] = types[i].kind == OperandKind::number
                   ? graph.scalar(number_dtype(row, i, types[i].dtype, row_types.computed))
                   : graph.input(types[i].dtype, types[i].kind);
  const int result = graph.apply(row, {nodes.data(), types.size()});
  graph.output(output ? graph.convert(result, *output) : result);
  return graph;
}

// `types` has the types of dy and of the operands that the derivative reads.
Graph derivative_graph(const PointwiseRow& row, std::size_t k, std::span<const OperandType> types) {
  Graph graph;
  const unsigned read = row.derivative_operands(k);
  std::size_t next = 0;
  const OperandType dy = types[next++];
  const auto node = [&](unsigned bit) {
    if ((read & bit) == 0) return Graph::none;
    const OperandType type = types[next++];
    return type.kind == OperandKind::number ? graph.scalar(value_type(dy.dtype)) : graph.input(type.dtype, type.kind);
  };
  const int of_dy = graph.input(dy.dtype, dy.kind);
  std::array<int, PointwiseRow::max_inputs> inputs{};
  for (std::size_t i = 0; i < row.input_count; ++i) inputs[i] = node(1u << i);
  const int y = node(PointwiseRow::reads_y);
  std::array<int, PointwiseRow::max_scalars> scalars{};
  for (std::size_t i = 0; i < row.scalar_count; ++i) scalars[i] = node(PointwiseRow::reads_scalar << i);
  graph.output(
      graph.derivative(row, k, of_dy, {inputs.data(), row.input_count}, y, {scalars.data(), row.scalar_count}));
  return graph;
}

// The operands of a row with RowRule::channel. Its weight runs along axis 1.
struct Aligned {
  Tensor weight;
  std::array<Operand, 2> inputs{0, 0};
};

Operands aligned(const PointwiseRow& row, Operands inputs, Aligned& aligned) {
  if (row.rule != RowRule::channel || inputs.size() != 2) return inputs;
  const Tensor *x = inputs[0].tensor(), *weight = inputs[1].tensor();
  if (x == nullptr || weight == nullptr || !x->defined() || !weight->defined()) return inputs;
  const Shape shape = channel_shape(x->shape(), weight->shape());
  if (shape == weight->shape()) return inputs;
  Shape strides = Shape::filled(shape.rank(), 0);
  if (!shape.empty()) strides[0] = weight->strides()[0];
  aligned.weight = make_view(*weight, shape, strides, weight->offset());
  aligned.inputs = {inputs[0], aligned.weight};
  return aligned.inputs;
}

}  // namespace

void check_whole(const PointwiseRow& row, const Operand& x, std::int64_t number) {
  const bool divides = &row == &rows::floor_divide || &row == &rows::remainder || &row == &rows::fmod;
  if (number == 0 ? !divides : &row != &rows::pow) return;
  if (x.tensor() == nullptr || !x.tensor()->defined() || is_floating(x.tensor()->dtype())) return;
  require(number != 0, row.name, "whole numbers are divided by 0");
  fail(ErrorCode::invalid_argument, row.name, "whole numbers have no power ", number);
}

Shape channel_shape(const Shape& x, const Shape& weight) {
  if (x.empty() && weight == Shape{1}) return x;  // A scalar stays a scalar.
  if (weight.rank() != 1 || x.rank() < 3) return weight;
  Shape shape = Shape::filled(x.rank() - 1, 1);
  shape[0] = weight[0];
  return shape;
}

Tensor pointwise(const PointwiseRow& of, Operands operands, Scalars scalars, const Tensor* into) {
  const RowCall called = row_call(of, operands);
  const PointwiseRow& row = called.row;
  Aligned store;
  const Operands inputs = aligned(row, called.inputs, store);
  Call call(row, forward_mode);
  add_forward(call, row, inputs, scalars);
  const PointwiseKernels& kernels = call.kernels([&] { return forward_graph(row, call.types(), std::nullopt); });
  return kernels.run_once(row.name, call.tensors(), call.numbers(), into);
}

void pointwise_into(const char* op, const PointwiseRow& of, const Tensor& output, Operands operands, Scalars scalars) {
  require(output.defined(), op, "the tensor to be written is undefined");
  const RowCall called = row_call(of, operands);
  const PointwiseRow& row = called.row;
  Aligned store;
  const Operands inputs = aligned(row, called.inputs, store);
  Call call(row, into_mode(output.dtype()));
  add_forward(call, row, inputs, scalars);
  const PointwiseKernels& kernels = call.kernels([&] {
    const DType result = types_of(row, call.types()).result, into = output.dtype();
    require((!is_floating(result) || is_floating(into)) && (result == DType::boolean || into != DType::boolean), op,
            "the result is ", result, " and cannot be put into a tensor of ", into, " without loss");
    return forward_graph(row, call.types(), into);
  });
  kernels.run_into(op, call.tensors(), call.numbers(), {&output, 1});
}

Tensor pointwise_backward(const PointwiseRow& row, std::size_t k, const Tensor& dy, Operands operands, const Tensor& y,
                          Scalars scalars, const Tensor* into) {
  require(dy.defined() && is_floating(dy.dtype()), row.name, "the gradient of the result must be ",
          TypesThat{is_floating});
  require(row.has_derivative(k), row.name, "has no derivative by input ", k);
  if (const bool is_zero = row.is_zero(k); is_zero || row.passes_on(k)) {
    if (into == nullptr) return is_zero ? zeros(dy.shape(), dy.dtype(), dy.device()) : dy;
    Result result(row.name, into, dy.shape(), dy.dtype(), dy.device(), {&dy}, Result::Layout::any);
    is_zero ? fill_into(result.place(), 0) : copy_into(result.place(), dy);
    return result.done();
  }
  Aligned store;
  const Operands inputs = aligned(row, operands, store);
  Call call(row, derivative_mode(k));
  const unsigned read = row.derivative_operands(k);
  call.add("dy", dy);
  for (std::size_t i = 0; i < row.input_count; ++i)
    (read >> i & 1) != 0 ? call.add(row.inputs[i], inputs[i]) : call.add_nothing();
  (read & PointwiseRow::reads_y) != 0 ? call.add("y", y) : call.add_nothing();
  for (std::size_t i = 0; i < row.scalar_count; ++i)
    (read & PointwiseRow::reads_scalar << i) != 0 ? call.add_number(scalars[i]) : call.add_nothing();
  const PointwiseKernels& kernels = call.kernels([&] { return derivative_graph(row, k, call.types()); });
  return kernels.run_once(row.name, call.tensors(), call.numbers(), into);
}

}  // namespace crisol::ops
