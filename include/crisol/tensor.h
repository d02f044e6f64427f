// The tensor: a cheap handle to strided elements on a device.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "crisol/device.h"
#include "crisol/dtype.h"
#include "crisol/export.h"
#include "crisol/hook.h"
#include "crisol/indexing.h"
#include "crisol/ops/pointwise_parameters.h"
#include "crisol/scalar.h"
#include "crisol/shape.h"

namespace crisol {

namespace nn {
class Buffer;
}
struct TensorImpl;
class Tensor;
struct ExtremeResult;
struct SortResult;

/// An operand of an elementwise function: a tensor or a number. It is valid only during the call, because it refers to
/// the tensor.
class Operand {
 public:
  Operand(const Tensor& tensor) noexcept : tensor_(&tensor) {}
  Operand(const Scalar& number) noexcept : number_(number) {}
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  Operand(Number number) noexcept : number_(number) {}

  const Tensor* tensor() const noexcept { return tensor_; }  ///< nullptr for a number.
  const Scalar& number() const noexcept { return number_; }  ///< 0 for a tensor.

 private:
  const Tensor* tensor_ = nullptr;
  Scalar number_ = 0;
};

/// Options of Tensor::backward().
struct BackwardOptions {
  bool retain_graph = false;  ///< Keeps the graph for another backward().
  bool create_graph = false;  ///< Records the gradients themselves, so that they have gradients. Keeps the graph too.
};

/// A handle to elements on a device, with shape, strides (in elements) and offset. Copies of a handle are the same
/// tensor: a write through one handle is visible through all. Reshapes, transposes, slices and expands are views of the
/// same memory. Work is queued. Only reads to the host and synchronize() wait for it.
///
/// `const` belongs to the handle, not to the elements. A const Tensor cannot become another tensor, and its members
/// that write do not compile. A copy of a tensor, or a view like x[0], is a new handle to the same elements and may
/// write them.
///
/// Axes count from 0, or from -1 backwards. Every function throws Error (invalid_argument) for arguments that break its
/// rules, and then leaves all tensors unchanged.
class CRISOL_API Tensor {
 public:
  /// The undefined tensor. defined() is false, and most other members throw.
  Tensor() noexcept = default;
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  /// A view of the elements that a module's buffer has now. The view keeps these elements when the buffer is assigned.
  Tensor(const nn::Buffer& buffer);
  /// Assignment to a named handle makes it a handle to another tensor: `auto r = x[0]; r = y;` writes no element.
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  Tensor& operator=(const nn::Buffer& buffer) &;  ///< Makes this handle a view of the buffer's elements.
  /// Assignment to a handle without a name writes elements, like copy_from: `x[0] = y` and `x[{0, Slice(1, 5)}] = 2.0`.
  /// The value is broadcast, cast, and moved to this device. If tensors of positions name an element several times, the
  /// last value stays.
  void operator=(const Operand& value) &&;  // NOLINT(misc-unconventional-assign-operator)

  /// Whether there is a tensor behind the handle.
  bool defined() const noexcept { return impl_ != nullptr; }
  /// Sizes, outermost axis first.
  const Shape& shape() const;
  /// Distances between neighbours along each axis, in elements. 0 along an expanded axis.
  const Shape& strides() const;
  /// Size of one axis.
  std::int64_t size(int axis) const;
  /// Number of axes.
  int dim() const { return shape().rank(); }
  /// Number of elements.
  std::int64_t numel() const { return shape().numel(); }
  /// The type of the elements.
  DType dtype() const;
  /// The device that holds the elements.
  Device device() const;
  /// Position of the first element in the storage.
  std::int64_t offset() const;
  /// Whether the elements are stored one after another, outermost axis first.
  bool is_contiguous() const;
  /// Whether both tensors use the same storage. They may be different parts of one storage.
  bool shares_storage_with(const Tensor& other) const;

  // --- To and from the host -------------------------------------------------------------------------------------

  /// Waits for all queued work and returns all elements, outermost axis first. T must be the tensor's element type:
  /// float, double, Half, BFloat16, a whole number of 8 to 64 bits or bool. uint8_t also reads booleans.
  template <class T>
  std::vector<T> to_vector() const {
    check_host_type(dtype_of<T>());
    if constexpr (std::is_same_v<T, bool>) {
      const std::vector<std::uint8_t> bytes = to_vector<std::uint8_t>();
      return {bytes.begin(), bytes.end()};
    } else {
      std::vector<T> values(static_cast<std::size_t>(numel()));
      read_bytes(values.data());
      return values;
    }
  }
  /// The value of a tensor with one element, converted to T. Waits.
  template <class T = float>
  T item() const {
    return std::is_integral_v<T> ? static_cast<T>(item_as_int()) : static_cast<T>(item_as_double());
  }
  /// Overwrites all elements with `values`, outermost axis first. There must be numel() values, and T must be the
  /// tensor's element type.
  template <class T>
  void copy_from(const std::vector<T>& values) {
    check_host_type(dtype_of<T>());
    if constexpr (std::is_same_v<T, bool>) {
      const std::vector<std::uint8_t> bytes(values.begin(), values.end());
      write_elements(bytes.data(), static_cast<std::int64_t>(bytes.size()));
    } else {
      write_elements(values.data(), static_cast<std::int64_t>(values.size()));
    }
  }
  /// Overwrites all elements with the elements of `source`, which are broadcast to this shape, cast to this dtype and
  /// moved to this device.
  void copy_from(const Tensor& source);
  /// Copies the elements to host memory as raw bytes, outermost axis first: numel() * size_of(dtype()) bytes. Waits.
  void read_bytes(void* bytes) const;

  // --- In place --------------------------------------------------------------------------------------------------
  //
  // These functions are recorded as in PyTorch: after x.mul_(w), x is the result of an op that depends on w. If x is a
  // view, its base and the base's other views follow. While ops are recorded, these functions refuse a leaf that wants
  // a gradient and a view of such a leaf. They also refuse a view that was made under NoGrad if the write would have to
  // be recorded. backward() throws if an op needs elements that were overwritten.

  /// Sets every element to a value, converted to the dtype. Returns *this. Whole numbers are exact in 64 bits.
  Tensor& fill_(const Scalar& value);
  /// fill_(0).
  Tensor& zero_() { return fill_(0); }

  /// x.add_(y), x.relu_(), x.clamp_(0, 1), …: replaces the elements by the result of the function without the
  /// underscore (crisol/functions/elementwise.h). All these functions have such a member, except comparisons, tests and
  /// where. The operands are broadcast to this tensor's shape. Refuses a result of a higher kind than this dtype
  /// (floating > whole > bool). An operand may be this tensor itself, but must not share only a part of its elements.
#define CRISOL_UNARY(name, x, scalars, rule, ...) CRISOL_IN_PLACE_##rule(Tensor& name##_(CRISOL_NUMBERS_##scalars);)
#define CRISOL_BINARY(name, a, b, scalars, rule, ...) \
  CRISOL_IN_PLACE_##rule(Tensor& name##_(const Operand& b CRISOL_AND_NUMBERS_##scalars);)
#define CRISOL_TERNARY(name, a, b, c, scalars, rule, ...) \
  CRISOL_IN_PLACE_##rule(Tensor& name##_(const Operand& b, const Operand& c CRISOL_AND_NUMBERS_##scalars);)
#include "crisol/ops/pointwise.def"

  /// Writes to the elements that index_get(*this, indices) reads: see index_put in crisol/functions/index.h. The value
  /// is moved to this device. Returns *this.
  Tensor& index_put_(const std::vector<Tensor>& indices, const Operand& value, bool accumulate = false);

  // --- Parts, views and copies; differentiable -------------------------------------------------------------------

  ///@{
  /// A part of this tensor: x[2], x[-1], x[Slice(1, 5)], x[{0, Slice(1, 5)}], x[{Ellipsis, 0}], x[{NewAxis, 3}]; see
  /// crisol/indexing.h. Axes without an entry stay whole. The result is a view of the same memory, so `x[0] = y` writes
  /// to x. Slices with a negative step, tensors of positions and masks give a copy instead. An assignment to the
  /// unnamed copy still writes to x. Tensors of positions and masks count as in index_get. Refuses a position outside
  /// its axis, more entries than axes, and more than one Ellipsis.
  Tensor operator[](const TensorIndex& index) const;
  Tensor operator[](std::initializer_list<TensorIndex> indices) const;
  ///@}
  /// The same elements in the same order, in another shape. One size may be -1, and is then computed. The result is a
  /// view if the strides allow it, otherwise a copy.
  Tensor reshape(const Shape& shape) const;
  /// Merges the axes first to last into one axis.
  Tensor flatten(int first = 0, int last = -1) const;
  /// Axis i of the result is axis axes[i] of this tensor.
  Tensor permute(const Shape& axes) const;
  /// Exchanges two axes. A scalar stays as it is, with 0 and -1 for its axes.
  Tensor transpose(int axis_a, int axis_b) const;
  /// The transposed matrix. A tensor of rank 0 or 1 stays as it is. Refuses higher ranks.
  Tensor t() const;
  /// A view with all axes in the opposite order.
  Tensor T() const;
  /// Elements start … start+length-1 along an axis.
  Tensor narrow(int axis, std::int64_t start, std::int64_t length) const;
  /// Element `index` along an axis. The result lacks the axis.
  Tensor select(int axis, std::int64_t index) const;
  /// Repeats axes of size 1 without copying. `shape` may have more axes in front. -1 keeps the size of an axis.
  Tensor expand(const Shape& shape) const;
  /// Removes an axis if its size is 1. Otherwise nothing changes. A scalar stays as it is, with 0 and -1 for its axes.
  Tensor squeeze(int axis) const;
  /// Inserts an axis of size 1 before `axis`. -1 adds it at the end.
  Tensor unsqueeze(int axis) const;
  /// This tensor if it is contiguous, otherwise a contiguous copy.
  Tensor contiguous() const;
  /// A contiguous copy.
  Tensor clone() const;
  /// This tensor if it is on the device, otherwise a copy there. A text names a device too: x.to("gpu:0").
  Tensor to(Device device) const;
  /// This tensor if it has the dtype, otherwise a converted copy. Floats become integers by rounding toward zero. An
  /// element becomes bool by `element != 0`.
  Tensor to(DType dtype) const;

  // --- Functions as members; differentiable ----------------------------------------------------------------------

  /// x.relu(), x.add(y), x.clamp(0, 1), …: the functions of crisol/functions/elementwise.h with this tensor as the
  /// first argument. Only where() is missing.
#define CRISOL_UNARY(name, x, scalars, ...) Tensor name(CRISOL_NUMBERS_##scalars) const;
#define CRISOL_BINARY(name, a, b, scalars, ...) Tensor name(const Operand& b CRISOL_AND_NUMBERS_##scalars) const;
#define CRISOL_TERNARY(name, a, b, c, scalars, rule, ...) \
  CRISOL_IN_PLACE_##rule(Tensor name(const Operand& b, const Operand& c CRISOL_AND_NUMBERS_##scalars) const;)
#include "crisol/ops/pointwise.def"

  ///@{
  /// The function of the same name in crisol/functions/reduce.h. One axis may be a plain number: x.sum(-1, true).
  Tensor sum(const Shape& axes = {}, bool keepdim = false) const;
  Tensor mean(const Shape& axes = {}, bool keepdim = false) const;
  Tensor prod(const Shape& axes = {}, bool keepdim = false) const;
  Tensor max(const Shape& axes = {}, bool keepdim = false) const;
  Tensor min(const Shape& axes = {}, bool keepdim = false) const;
  Tensor any(const Shape& axes = {}, bool keepdim = false) const;
  Tensor all(const Shape& axes = {}, bool keepdim = false) const;
  Tensor argmax(const Shape& axes = {}, bool keepdim = false) const;
  Tensor argmin(const Shape& axes = {}, bool keepdim = false) const;
  Tensor logsumexp(const Shape& axes = {}, bool keepdim = false) const;
  Tensor var(const Shape& axes = {}, bool keepdim = false, double correction = 1) const;
  Tensor stddev(const Shape& axes = {}, bool keepdim = false, double correction = 1) const;
  Tensor norm(double p = 2, const Shape& axes = {}, bool keepdim = false) const;
  ExtremeResult max_with_indices(int axis, bool keepdim = false) const;
  ExtremeResult min_with_indices(int axis, bool keepdim = false) const;
  Tensor cumsum(int axis) const;
  ///@}

  ///@{
  /// The function of the same name in crisol/functions/: matmul.h, softmax.h, sort.h, index.h, triangle.h, cat.h,
  /// arrange.h or compare.h.
  Tensor matmul(const Tensor& other) const;
  Tensor softmax(int axis) const;
  Tensor log_softmax(int axis) const;
  SortResult sort(int axis = -1, bool descending = false) const;
  Tensor argsort(int axis = -1, bool descending = false) const;
  SortResult topk(std::int64_t k, int axis = -1, bool largest = true) const;
  Tensor gather(int axis, const Tensor& index) const;
  Tensor index_select(int axis, const Tensor& index) const;
  Tensor tril(std::int64_t diagonal = 0) const;
  Tensor triu(std::int64_t diagonal = 0) const;
  std::vector<Tensor> split(std::int64_t size, int axis = 0) const;
  std::vector<Tensor> chunk(std::int64_t chunks, int axis = 0) const;
  Tensor flip(const Shape& axes) const;
  Tensor roll(const Shape& shifts, const Shape& axes = {}) const;
  Tensor repeat(const Shape& counts) const;
  Tensor tile(const Shape& counts) const;
  Tensor isclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) const;
  bool allclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) const;
  ///@}

  // --- Autograd; see crisol/autograd.h ---------------------------------------------------------------------------

  /// Whether this is a leaf that wants a gradient, or a result that depends on such a leaf.
  bool requires_grad() const noexcept;
  /// Makes a leaf want a gradient, or with `false` no longer want one. Returns *this.
  Tensor& requires_grad_(bool wanted = true);
  /// Whether this tensor is a leaf: not the result of a recorded op.
  bool is_leaf() const noexcept;
  /// The accumulated gradient; undefined before the first backward().
  Tensor grad() const;
  /// Computes the gradients of this tensor with respect to the leaves that it depends on, and adds them to the grad()
  /// of the leaves. `gradient` is the derivative of the final value with respect to this tensor. It may be left out if
  /// this tensor has one element. The graph is freed during the call, unless retain_graph is true.
  void backward(const Tensor& gradient = Tensor(), bool retain_graph = false) const;
  /// The same with options by name: `loss.backward({}, {.create_graph = true})`.
  void backward(const Tensor& gradient, const BackwardOptions& options) const;
  /// Makes backward() store the gradient of this result in its grad(), as it does for a leaf. No effect on a leaf.
  Tensor& retain_grad();
  /// Calls hook(gradient) in each backward() when this tensor's whole gradient is known, before anything uses it. A
  /// tensor that the hook returns replaces the gradient. Hooks run in the order in which they were registered.
  template <class Hook>
  HookHandle register_hook(Hook hook) const {
    if constexpr (std::is_void_v<std::invoke_result_t<Hook&, const Tensor&>>) {
      return add_hook([hook = std::move(hook)](const Tensor& gradient) mutable {
        hook(gradient);
        return Tensor();
      });
    } else {
      return add_hook(GradientHook(std::move(hook)));
    }
  }
  /// Calls hook(leaf) in each backward() as soon as the last part of this leaf's gradient was added to its grad(), and
  /// before backward() goes on to earlier ops. For leaves that want a gradient.
  HookHandle register_post_accumulate_grad_hook(std::function<void(const Tensor& leaf)> hook) const;
  /// The same elements, outside the graph.
  Tensor detach() const;

  /// Used by the library.
  explicit Tensor(std::shared_ptr<TensorImpl> impl) noexcept : impl_(std::move(impl)) {}
  /// Used by the library.
  const std::shared_ptr<TensorImpl>& impl() const noexcept { return impl_; }

 private:
  TensorImpl& get() const;
  HookHandle add_hook(GradientHook hook) const;
  void check_host_type(DType wanted) const;
  void write_elements(const void* values, std::int64_t count);
  double item_as_double() const;
  std::int64_t item_as_int() const;

  std::shared_ptr<TensorImpl> impl_;
};

/// The largest or smallest elements along an axis, and their positions.
struct ExtremeResult {
  Tensor values;   ///< The elements, with the dtype of the input.
  Tensor indices;  ///< Their positions along the axis, i64, in the shape of `values`.
};

/// Elements in order, and their positions before they were sorted.
struct SortResult {
  Tensor values;   ///< The elements, with the dtype of the input.
  Tensor indices;  ///< Their positions along the axis, i64, in the shape of `values`.
};

/// The dtype that operands are converted to before they are combined: PyTorch's torch.result_type. The kinds of dtypes
/// are ordered bool < whole < floating. A tensor of rank 0 changes the dtype only if its kind is higher than the kind
/// of the other tensors, and a number only if its kind is higher than the kind of all tensors.
CRISOL_API DType result_type(const Operand& a, const Operand& b);

/// A tensor with undefined contents. Sizes must not be negative. A size may be 0.
CRISOL_API Tensor empty(const Shape& shape, DType dtype = default_dtype(), Device device = Device());
/// A tensor of zeros.
CRISOL_API Tensor zeros(const Shape& shape, DType dtype = default_dtype(), Device device = Device());
/// A tensor of ones.
CRISOL_API Tensor ones(const Shape& shape, DType dtype = default_dtype(), Device device = Device());
/// A tensor with one value everywhere, converted to the dtype.
CRISOL_API Tensor full(const Shape& shape, const Scalar& value, DType dtype = default_dtype(),
                       Device device = Device());
/// The numbers start, start + step, … below end, or above end if the step is negative: ceil((end - start) / step)
/// elements. Integer dtypes drop the fractions of these numbers. PyTorch drops the fractions of start and step instead.
CRISOL_API Tensor arange(double start, double end, double step = 1, DType dtype = default_dtype(),
                         Device device = Device());

/// `count` numbers at equal distances from start to end, both included. One number is start. `count` must not be
/// negative. Integer dtypes drop the fractions of these numbers. PyTorch drops the fractions of start and end too.
CRISOL_API Tensor linspace(double start, double end, std::int64_t count, DType dtype = default_dtype(),
                           Device device = Device());
/// A matrix with 1 on its main diagonal and 0 elsewhere. Without `columns` it is square.
CRISOL_API Tensor eye(std::int64_t rows, std::optional<std::int64_t> columns = {}, DType dtype = default_dtype(),
                      Device device = Device());

/// A new tensor with undefined contents, with the shape, device and dtype of x. A given dtype replaces the dtype of x.
CRISOL_API Tensor empty_like(const Tensor& x, std::optional<DType> dtype = {});
/// The same with zeros.
CRISOL_API Tensor zeros_like(const Tensor& x, std::optional<DType> dtype = {});
/// The same with ones.
CRISOL_API Tensor ones_like(const Tensor& x, std::optional<DType> dtype = {});
/// The same with one value, converted to the dtype.
CRISOL_API Tensor full_like(const Tensor& x, const Scalar& value, std::optional<DType> dtype = {});

/// A tensor from host bytes in the dtype's layout, outermost axis first.
CRISOL_API Tensor from_bytes(const void* bytes, const Shape& shape, DType dtype, Device device = Device());

/// A tensor from host values, outermost axis first. Reads shape.numel() values.
template <class T>
Tensor from_span(const T* values, const Shape& shape, Device device = Device()) {
  return from_bytes(values, shape, dtype_of<T>(), device);
}

namespace detail {
CRISOL_API void check_count(std::size_t values, const Shape& shape);
/// Writes one element in the dtype's layout and returns its number of bytes. Floats become integers by rounding toward
/// zero. Integer dtypes keep the lowest bits, as on the device.
CRISOL_API std::size_t encode(const Scalar& value, DType dtype, void* bytes);
}  // namespace detail

/// A tensor from host values, outermost axis first, each converted to the dtype like in Tensor::to. There must be
/// shape.numel() values. T may be any arithmetic type: from_vector(values, shape, DType::f32) converts a vector of
/// any of them.
template <class T, class Type, class = std::enable_if_t<std::is_same_v<Type, DType>>>  // {} is no dtype.
Tensor from_vector(const std::vector<T>& values, const Shape& shape, Type dtype, Device device = Device()) {
  static_assert(std::is_arithmetic_v<T>, "from_vector converts numbers of C++'s arithmetic types");
  detail::check_count(values.size(), shape);
  std::vector<unsigned char> bytes(values.size() * size_of(dtype));
  unsigned char* to = bytes.data();
  for (const T value : values) to += detail::encode(value, dtype, to);
  return from_bytes(bytes.data(), shape, dtype, device);
}
/// A tensor of rank 1.
template <class T, class Type, class = std::enable_if_t<std::is_same_v<Type, DType>>>
Tensor from_vector(const std::vector<T>& values, Type dtype, Device device = Device()) {
  return from_vector(values, Shape{static_cast<std::int64_t>(values.size())}, dtype, device);
}

/// A tensor from host values, outermost axis first. There must be shape.numel() values. T determines the dtype, and
/// must be float, double, Half, BFloat16, a whole number of 8 to 64 bits or bool.
template <class T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape, Device device = Device()) {
  if constexpr (std::is_same_v<T, bool>) {
    return from_vector(values, shape, DType::boolean, device);
  } else {
    detail::check_count(values.size(), shape);
    return from_span(values.data(), shape, device);
  }
}
/// A tensor of rank 1.
template <class T>
Tensor from_vector(const std::vector<T>& values, Device device = Device()) {
  return from_vector(values, Shape{static_cast<std::int64_t>(values.size())}, device);
}

/// How operator<< prints tensors.
struct PrintOptions {
  int precision = 4;                    ///< Digits after the point.
  std::int64_t threshold = 1000;        ///< A tensor with more elements is shortened.
  std::int64_t edge_items = 3;          ///< The number of elements at each end of an axis of a shortened tensor.
  int line_width = 80;                  ///< Characters.
  std::optional<bool> scientific = {};  ///< Whether numbers have an exponent. Without a value, the elements decide.
};

/// The options of all threads.
CRISOL_API PrintOptions print_options();
/// Replaces them. Throws invalid_argument for a negative number, and for edge_items or line_width of 0.
CRISOL_API void set_print_options(const PrintOptions& options);

/// Prints a tensor as PyTorch does: nested brackets, aligned columns, large tensors shortened. Waits for the values.
CRISOL_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace crisol
