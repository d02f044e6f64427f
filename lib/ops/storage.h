// The types of elements in memory, for problems and kernels (cl_kernels/common/element.h).
#pragma once

#include <initializer_list>
#include <utility>

#include "crisol/dtype_table.h"
#include "crisol/tensor.h"
#include "ops/check.h"
#include "runtime/launch.h"

namespace crisol::ops {

/// The DType of a tensor's elements as the member `type` of a problem. It is 0 for f32.
inline std::int64_t storage_of(const Tensor& x) noexcept { return static_cast<std::int64_t>(x.dtype()); }

/// Tells a kernel a type of elements. Kernels take f32 if nothing is said.
inline void define_type(runtime::Defines& defines, const char* name, std::int64_t type) {
  if (type != 0) defines.add({name, dtype_row(static_cast<DType>(type)).opencl});
}

/// The type of the elements that a kernel reads and stores.
inline void define_elements(runtime::Defines& defines, std::int64_t type) { define_type(defines, "STORED", type); }

/// The type of the results of products, of the bias and of the epilogue's operands (cl_kernels/product/epilogue.h).
inline void define_result_type(runtime::Defines& defines, std::int64_t type) { define_type(defines, "RESULT", type); }

/// Tells a kernel the type in which it computes (cl_kernels/common/real.h): f64 for elements of f64, else f32.
inline void define_real(runtime::Defines& defines, DType type) {
  if (computes_in_f32(type)) return;
  defines.add({"REAL", dtype_row(type).opencl});
  defines.add({"REAL_IS_DOUBLE", 1});
}

/// A number as an argument of a kernel that computes in this type, f32 or f64.
inline runtime::KernelArg real_arg(double number, DType type) {
  return type == DType::f64 ? runtime::KernelArg::of_f64(number) : runtime::KernelArg(static_cast<float>(number));
}

/// The defines of a kernel that needs no others.
inline runtime::Defines elements_of(std::int64_t type) {
  runtime::Defines defines;
  define_elements(defines, type);
  return defines;
}

/// Checks the operand whose elements have the type of a problem. Kernels read all types with which they compute in f32.
inline void require_storage(const char* op, const char* name, const Tensor& x) {
  require(computes_in_f32(x.dtype()), op, name, " must be ", TypesThat{computes_in_f32}, ", it is ", x.dtype());
}

/// Checks an operand of an op that takes all floating-point types.
inline void require_floating(const char* op, const char* name, const Tensor& x) {
  require(is_floating(x.dtype()), op, name, " must be ", TypesThat{is_floating}, ", it is ", x.dtype());
}

/// Checks the parameters of a layer, some of which may be undefined. All have the type of the input, or all are f32.
/// Returns their type, or f32 if there are none.
inline DType require_parameters(const char* op, const Tensor& x, const Shape& shape,
                                std::initializer_list<std::pair<const char*, const Tensor&>> parameters) {
  DType type = DType::f32;
  for (bool is_first = true; const auto& [name, p] : parameters) {
    if (!p.defined()) continue;
    if (is_first && p.dtype() == x.dtype()) type = x.dtype();
    is_first = false;
    require_operand(op, "the input", x, name, p, shape, type);
  }
  return type;
}

/// The types of a problem's elements and of its parameters in one number; 0 if all are f32.
constexpr std::int64_t types_with_parameters(std::int64_t type, std::int64_t parameter_type) noexcept {
  return parameter_type << 8 | type;
}

}  // namespace crisol::ops
