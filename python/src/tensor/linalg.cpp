// Functions of matrices and vectors.
#include "arguments.h"
#include "bindings.h"
#include "tensor/promote.h"

namespace crisol::python {

namespace {

using AxesOrCount = std::variant<std::int64_t, std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>>;

Tensor tensordot_of(const Tensor& a, const Tensor& b, const AxesOrCount& axes) {
  const DType dtype = promote_types(a.dtype(), b.dtype());
  const Tensor x = a.to(dtype), y = b.to(dtype);
  if (const std::int64_t* count = std::get_if<std::int64_t>(&axes)) return tensordot(x, y, static_cast<int>(*count));
  const auto& [of_a, of_b] = std::get<1>(axes);
  if (of_a.empty() && of_b.empty()) return tensordot(x, y, 0);
  return tensordot(x, y, Shape(of_a), Shape(of_b));
}

/// The axes of one operand as letters: [0, ..., 2] is "A...C".
std::string letters_of(nb::handle numbers) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::string text;
  for (const nb::handle number : numbers) {
    if (number.is(nb::ellipsis())) {
      text += "...";
      continue;
    }
    const auto index = nb::cast<std::int64_t>(number);
    if (index < 0 || index >= std::ssize(letters))
      raise("InvalidArgumentError", "[einsum] the number " + std::to_string(index) + " of an axis is not in [0, 52)");
    text += letters[static_cast<std::size_t>(index)];
  }
  return text;
}

/// einsum(a, [0, 1], b, [1, 2], [0, 2]): operands and the numbers of their axes, then the numbers of the result.
nb::object einsum_of_numbers(const Tensor& first, const nb::args& others) {
  std::vector<Tensor> tensors{first};
  std::string equation;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const bool is_operand = i % 2 == 1 && i + 1 < others.size();
    if (is_operand) {
      tensors.push_back(nb::cast<Tensor>(others[i]));
      equation += ',';
    } else {
      equation += (i % 2 == 1 ? "->" : "") + letters_of(others[i]);
    }
  }
  return nb::cast(unlocked([&] { return einsum(equation, tensors); }));
}

nb::object einsum_of(std::string_view equation, const nb::args& operands) {
  std::vector<Tensor> tensors;
  const bool listed = operands.size() == 1 && !nb::isinstance<Tensor>(operands[0]);  // One list of all operands.
  for (const nb::handle operand : listed ? nb::object(operands[0]) : nb::object(operands))
    tensors.push_back(nb::cast<Tensor>(operand));
  return nb::cast(unlocked([&] { return einsum(equation, tensors); }));
}

void bind_products(nb::module_& m, TensorClass& tensor) {
  const char* text =
      "The product of matrices (…, M, K) and (…, K, N). A vector counts as one row on the left and as one column on "
      "the "
      "right.";
  m.def("matmul", &multiply_matrices, "x1"_a, "x2"_a, Unlocked(), text);
  tensor.def("matmul", &multiply_matrices, "other"_a, Unlocked(), text);
  m.def(
      "tensordot", &tensordot_of, "x1"_a, "x2"_a, nb::kw_only(), "axes"_a = 2, Unlocked(),
      "The sum of products over the last `axes` axes of x1 and the first of x2, or over pairs of axes (of x1, of x2).");
  m.def("vecdot", &vecdot, "x1"_a, "x2"_a, nb::kw_only(), "axis"_a = -1, Unlocked(),
        "The sum of x1 x2 along an axis, counted from the end. The other axes broadcast.");
  m.def("outer", &outer, "x1"_a, "x2"_a, Unlocked(), "y[i, j] = x1[i] x2[j] for vectors.");
  m.def("cross", &cross, "x1"_a, "x2"_a, nb::kw_only(), "axis"_a = -1, Unlocked(),
        "The cross product of vectors of 3 elements along an axis.");
  m.def("einsum", &einsum_of, nb::sig("def einsum(equation: str, *operands: typing.Any) -> Tensor"),
        "Sums of products in Einstein's notation: einsum(\"bij,bjk->bik\", a, b) multiplies matrices.");
  m.def("einsum", &einsum_of_numbers, nb::sig("def einsum(operand: Tensor, *operands: typing.Any) -> Tensor"),
        "The same with numbers in place of letters: einsum(a, [0, 1], b, [1, 2], [0, 2]).");
}

void bind_square(nb::module_& m, TensorClass& tensor) {
  define(m, tensor, "det", &det, "The determinant of each matrix of x (…, n, n), in the shape (…).");
  m.def(
      "slogdet",
      [](const Tensor& x) {
        const SlogdetResult result = slogdet(x);
        return std::pair(result.sign, result.logabsdet);
      },
      "x"_a, Unlocked(), "The sign and the logarithm of the determinant of each matrix of x (…, n, n), as a pair.");
  m.def("solve", &promoted_tensors<&solve>, "x1"_a, "x2"_a, Unlocked(),
        "The solution x of x1 x = x2 for x1 (…, n, n) and x2 (…, n, k) or (n).");
  m.def("inv", &inv, "x"_a, Unlocked(), "The inverse of each matrix of x (…, n, n).");
  m.def("cholesky", &cholesky, "x"_a, nb::kw_only(), "upper"_a = false, Unlocked(),
        "The lower triangular L with x = L Lᵀ for symmetric positive definite x (…, n, n), or with `upper` Lᵀ.");
}

using Tolerance = std::variant<double, Tensor>;

/// Calls a function whose tolerance is None, a number or a tensor.
template <Tensor (*with_tensor)(const Tensor&, const Tensor&), Tensor (*with_number)(const Tensor&, double)>
Tensor with_tolerance(const Tensor& x, const std::optional<Tolerance>& rtol) {
  if (!rtol) return with_tensor(x, Tensor());
  if (const double* number = std::get_if<double>(&*rtol)) return with_number(x, *number);
  return with_tensor(x, std::get<Tensor>(*rtol));
}

using NameOrNumber = std::variant<std::string, double>;

/// The functions of crisol.linalg.
void bind_decompositions(nb::module_& extension) {
  nb::module_ m =
      extension.def_submodule("_linalg", "Decompositions of matrices. crisol.linalg gives the results names.");
  m.def(
      "qr",
      [](const Tensor& x, bool complete) {
        const QrResult y = qr(x, complete);
        return std::pair(y.q, y.r);
      },
      "x"_a, "complete"_a, Unlocked(), "Q and R.");
  m.def(
      "eigh",
      [](const Tensor& x) {
        const EighResult y = eigh(x);
        return std::pair(y.eigenvalues, y.eigenvectors);
      },
      "x"_a, Unlocked(), "The eigenvalues and eigenvectors.");
  m.def(
      "svd",
      [](const Tensor& x, bool full_matrices) {
        const SvdResult y = svd(x, full_matrices);
        return std::tuple(y.u, y.s, y.vh);
      },
      "x"_a, "full_matrices"_a, Unlocked(), "U, S and the transpose of V.");
  m.def("eigvalsh", &eigvalsh, "x"_a, Unlocked(), "The eigenvalues.");
  m.def("svdvals", &svdvals, "x"_a, Unlocked(), "The singular values.");
  m.def("pinv", &with_tolerance<&pinv, &pinv>, "x"_a, "rtol"_a.none(), Unlocked(), "The pseudo-inverses.");
  m.def("matrix_rank", &with_tolerance<&matrix_rank, &matrix_rank>, "x"_a, "rtol"_a.none(), Unlocked(), "The ranks.");
  m.def(
      "matrix_norm",
      [](const Tensor& x, const NameOrNumber& ord, bool keepdims) {
        const std::string* name = std::get_if<std::string>(&ord);
        return name != nullptr ? matrix_norm(x, *name, keepdims) : matrix_norm(x, std::get<double>(ord), keepdims);
      },
      "x"_a, "ord"_a, "keepdims"_a, Unlocked(), "The norms of matrices.");
  m.def("matrix_power", &matrix_power, "x"_a, "n"_a, Unlocked(), "The powers of matrices.");
}

}  // namespace

void bind_linalg(nb::module_& m, TensorClass& tensor) {
  bind_decompositions(m);
  bind_products(m, tensor);
  bind_square(m, tensor);
  define(m, tensor, "tril", static_cast<Tensor (*)(const Tensor&, std::int64_t)>(&tril),
         "A copy of x (…, R, C) with zeros above a diagonal.", nb::kw_only(), "k"_a = 0);
  define(m, tensor, "triu", static_cast<Tensor (*)(const Tensor&, std::int64_t)>(&triu),
         "A copy of x (…, R, C) with zeros below a diagonal.", nb::kw_only(), "k"_a = 0);
  m.def("matrix_transpose", &matrix_transpose, "x"_a, Unlocked(), "A view with the last two axes exchanged.");
  m.def("matrix_trace", &matrix_trace, "x"_a, nb::kw_only(), "offset"_a = 0, Unlocked(),
        "The sum of the diagonal of each matrix of x (…, R, C).");
  m.def(
      "diagonal", [](const Tensor& x, std::int64_t offset) { return diagonal(x, offset, -2, -1); }, "x"_a,
      nb::kw_only(), "offset"_a = 0, Unlocked(), "A view of the diagonal of each matrix of x (…, R, C).");
}

}  // namespace crisol::python
