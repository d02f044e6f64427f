// Matrix products, also with batch axes, and the product of the linear layer.
#include "crisol/ops/matmul.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/view.h"
#include "ops/check.h"
#include "ops/collapse.h"
#include "ops/contiguous.h"
#include "ops/product/gemm.h"
#include "ops/product/gemm_whole.h"
#include "ops/product/leading_axes.h"
#include "ops/product/with_epilogue.h"
#include "ops/result.h"
#include "ops/storage.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

// Whether neighbouring rows of x all have the same distance, so that all axes except for the last can be merged into
// one.
bool is_matrix(const Tensor& x) {
  if (x.dim() <= 2 || x.is_contiguous()) return true;
  Shape shape = x.shape(), strides[] = {x.strides()};
  shape.erase(x.dim() - 1);
  strides[0].erase(x.dim() - 1);
  return collapse(shape, strides).shape.rank() == 1;
}

Matrix matrix_of(const Tensor& x, runtime::BufferView first) {
  return {first, x.strides()[x.dim() - 2], x.strides()[x.dim() - 1], 0, x.dtype()};
}

// Products with several batch axes. The innermost batch axis is the kernels' batch. There is one plan for each index of
// the other axes. All plans are prepared before the first one is launched. Returns whether the epilogue was run.
bool run_batches(Gemm product, const Loop& loop) {
  const int inner = loop.shape.rank() - 1;
  product.batch = loop.shape[inner];
  const std::int64_t outer = loop.shape.numel() / std::max<std::int64_t>(1, product.batch);
  const bool has_epilogue = product.epilogue != nullptr;
  if (outer != 1) product.epilogue = nullptr;  // An epilogue's operands have only one distance between products.
  Matrix Gemm::*const matrices[] = {&Gemm::a, &Gemm::b, &Gemm::c};
  std::vector<std::pair<Gemm, PreparedGemm>> calls;
  for (std::int64_t index = 0; index < outer; ++index) {
    Gemm one = product;
    for (std::size_t i = 0; i < 3; ++i) {
      Matrix& matrix = one.*matrices[i];
      matrix.batch = product.batch == 1 ? 0 : loop.strides[i][inner];
      std::int64_t rest = index;
      for (int axis = inner - 1; axis >= 0; --axis) {
        matrix.first.offset += static_cast<std::uint64_t>(rest % loop.shape[axis] * loop.strides[i][axis]);
        rest /= loop.shape[axis];
      }
    }
    calls.emplace_back(one, prepare_gemm(one));
  }
  for (const auto& [one, prepared] : calls) launch_gemm(*prepared.plan, one, prepared.b);
  return !has_epilogue || outer == 1;
}

// Whether, in every operand of the epilogue, the rows of product p + 1 follow the rows of product p.
bool rows_continue(const ProductEpilogue* f, std::int64_t m) {
  if (f == nullptr) return true;
  return std::all_of(f->layout.operands.begin(), f->layout.operands.begin() + f->layout.operand_count,
                     [m](const EpilogueLayout::Operand& e) { return e.batch == m * e.row; });
}

void require_one_type(const Tensor& a, const Tensor& b) {
  require(a.defined() && b.defined(), gemm_table.op, "an operand is undefined");
  require(a.dtype() == b.dtype() && a.dtype() != DType::boolean, gemm_table.op,
          "both operands must have one dtype, any but bool; they are ", a.dtype(), " and ", b.dtype());
}

/// Whether products are computed by multiply_whole(), which has one type for operands, sums and results.
bool is_of_one_type(DType dtype) { return !computes_in_f32(dtype); }

/// The product of two defined tensors of floating-point types, with a result of `type`, or of two tensors of one type.
ProductResult multiply(const Tensor& a, const Tensor& b, const ProductEpilogue* f, DType type,
                       const Tensor* into = nullptr) {
  const char* const op = gemm_table.op;
  require(a.dim() >= 2 && b.dim() >= 2, op, "both operands must have at least 2 axes, their shapes are ", a.shape(),
          " and ", b.shape());
  require_device(op, "the left operand", a, "the right one", b);
  const std::int64_t m = a.size(-2), k = a.size(-1), n = b.size(-1);
  require(b.size(-2) == k, op, "shapes ", a.shape(), " and ", b.shape(), " do not fit: the left has ", k,
          " columns, the right ", b.size(-2), " rows");
  const Shape batch = broadcast_shape(op, leading_axes(a.shape()), leading_axes(b.shape()));
  Shape shape = batch;
  shape.push_back(m);
  shape.push_back(n);
  if (is_of_one_type(a.dtype())) return {multiply_whole(a, b, shape), false};
  Result result(op, into, shape, type, a.device(), {&a, &b}, Result::Layout::matrix);
  const Tensor& y = result.place();
  if (y.numel() == 0) return {result.done(), true};

  const Contiguous left_operand = with_unit_stride(a), right_operand = with_unit_stride(b);
  const Tensor &left = left_operand.layout(), &right = right_operand.layout();
  Gemm product{state_of(y), m, n, k, 1, matrix_of(left, in(left)), matrix_of(right, in(right)), matrix_of(y, out(y))};
  product.epilogue = f;
  product.copies = {&left_operand, &right_operand};
  const Shape strides[] = {leading_strides(left, batch), leading_strides(right, batch), leading_strides(y, batch)};
  Loop loop = collapse(batch, strides);
  // If all products have the same right matrix and the left matrices follow each other in memory, the left matrices
  // become one taller matrix.
  const int last = loop.shape.rank() - 1;
  if (loop.shape[last] > 1 && loop.strides[1][last] == 0 && loop.strides[0][last] == m * product.a.row &&
      loop.strides[2][last] == m * product.c.row && rows_continue(product.epilogue, m)) {
    product.m *= loop.shape[last];
    loop.shape[last] = 1;
  }
  const bool has_epilogue = run_batches(product, loop);
  return {result.done(), has_epilogue};
}

ProductResult multiply_weight(const Tensor& x, const Tensor& weight, const Tensor& bias, const ProductEpilogue* f,
                              const Tensor* into = nullptr) {
  constexpr const char* op = "linear";
  require(is_floating(x.dtype()), op, "the input must be ", TypesThat{is_floating}, ", it is ", x.dtype());
  require_dtype(op, "the weight", weight, x.dtype());
  require(x.dim() >= 1, op, "the input must have at least 1 axis");
  require(weight.dim() == 2, op, "the weight must have 2 axes, its shape is ", weight.shape());
  require_device(op, "the input", x, "the weight", weight);
  const std::int64_t k = weight.size(1), n = weight.size(0);
  require(x.size(-1) == k, op, "the input's last axis has size ", x.size(-1), ", the weight ", weight.shape(),
          " takes ", k);
  if (bias.defined()) require_operand(op, "the input", x, "the bias", bias, {n}, x.dtype());
  Shape shape = x.shape();
  shape[shape.rank() - 1] = n;
  Result result(op, into, shape, x.dtype(), x.device(), {&x, &weight, &bias});
  const Tensor& y = result.place();
  if (y.numel() == 0) return {result.done(), true};
  if (is_of_one_type(x.dtype())) {
    const Tensor rows = reshape(contiguous(x), {y.numel() / n, k});
    const Tensor product = reshape(multiply_whole(rows, transpose(weight, 0, 1), {y.numel() / n, n}), shape);
    copy_into(y, bias.defined() ? add(product, bias) : product);
    return {result.done(), false};
  }

  const Contiguous input = is_matrix(x) ? Contiguous::as_is(x) : Contiguous(x);
  const Contiguous row_operand = with_unit_stride(k == 0 ? empty({y.numel() / n, 0}, x.dtype(), x.device())
                                                         : reshape(input.layout(), {x.numel() / k, k}));
  const Contiguous column_operand = with_unit_stride(weight), shift(bias);
  const Tensor &rows = row_operand.layout(), &columns = column_operand.layout();
  const bool has_bias = bias.defined();
  gemm({.device = state_of(y),
        .m = rows.size(0),
        .n = n,
        .k = k,
        .a = matrix_of(rows, in(rows)),
        .b = matrix_of(columns, in(columns)).transposed(),
        .c = {out(y), n, 1, 0, x.dtype()},
        .flags = has_bias ? bias_per_column : 0,
        .bias = has_bias ? in(shift.layout()) : runtime::BufferView{nullptr, 0},
        .epilogue = f,
        .b_storage = columns.impl()->storage.get(),
        .copies = {&input, &row_operand, &column_operand, &shift}});
  return {result.done(), true};
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  require_one_type(a, b);
  return multiply(a, b, nullptr, a.dtype()).y;
}

Tensor matmul_as(const Tensor& a, const Tensor& b, DType dtype) { return multiply(a, b, nullptr, dtype).y; }

void matmul_into(const Tensor& y, const Tensor& a, const Tensor& b) {
  require_one_type(a, b);
  if (!is_of_one_type(a.dtype()))
    multiply(a, b, nullptr, a.dtype(), &y);
  else
    deliver(gemm_table.op, {&y}, {&a, &b}, [&] { return std::array{matmul(a, b)}; });
}

ProductResult matmul(const Tensor& a, const Tensor& b, const ProductEpilogue& f) {
  require_one_type(a, b);
  return multiply(a, b, &f, a.dtype());
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return multiply_weight(x, weight, bias, nullptr).y;
}

void linear_into(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  multiply_weight(x, weight, bias, nullptr, &y);
}

ProductResult linear(const Tensor& x, const Tensor& weight, const Tensor& bias, const ProductEpilogue& f) {
  return multiply_weight(x, weight, bias, &f);
}

}  // namespace crisol::ops
