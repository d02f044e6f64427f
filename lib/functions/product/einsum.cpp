// einsum, made of permutations, reshapes, products and sums.
#include "crisol/functions/einsum.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include "autograd/autocast.h"
#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/reduce.h"
#include "crisol/indexing.h"

namespace crisol {

namespace {

constexpr const char* op = "einsum";

/// Labels of axes: letters, and for the axes of "..." numbers that no letter has. The last axis of "..." has the same
/// number in all terms.
using Labels = std::vector<int>;
constexpr int ellipsis = 1000;

bool has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

/// The labels of one term, where "..." stands for `hidden` axes.
Labels labels_of(std::string_view equation, std::string_view term, int hidden) {
  Labels labels;
  bool found = false;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(term[i])) != 0) {
      labels.push_back(term[i]);
      continue;
    }
    require(!found && term.substr(i, 3) == "...", op, "the equation \"", equation, "\" has '", term[i],
            "' where a letter or one \"...\" belongs");
    found = true;
    i += 2;
    for (int k = hidden; k > 0; --k) labels.push_back(ellipsis - k);
  }
  return labels;
}

/// An operand, or a product of operands, with the labels of its axes.
struct Labelled {
  Tensor tensor;
  Labels labels;

  int axis_of(int label) const {
    return static_cast<int>(std::find(labels.begin(), labels.end(), label) - labels.begin());
  }
  std::int64_t size_of(int label) const { return tensor.size(axis_of(label)); }

  /// The axes in the order of `wanted`, which has the labels of all axes. A label that no axis has becomes an axis of
  /// size 1.
  Tensor in_order(const Labels& wanted) const {
    Shape order;
    for (const int label : wanted)
      if (has(labels, label)) order.push_back(axis_of(label));
    Tensor x = tensor.permute(order);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (!has(labels, wanted[i])) x = x.unsqueeze(static_cast<int>(i));
    return x;
  }
};

Tensor summed(const Tensor& x, const Shape& axes) { return axes.rank() == 0 ? x : sum(x, axes).to(x.dtype()); }

/// Sums x over the labels that are not in `kept`.
Labelled summed_to(const Labelled& x, const Labels& kept) {
  Labelled result;
  Shape axes;
  for (std::size_t i = 0; i < x.labels.size(); ++i)
    if (has(kept, x.labels[i]))
      result.labels.push_back(x.labels[i]);
    else
      axes.push_back(static_cast<std::int64_t>(i));
  // As in PyTorch, this sum has sum()'s own result type: i64 for whole numbers.
  result.tensor = axes.rank() == 0 ? x.tensor : sum(x.tensor, axes);
  return result;
}

/// Takes the diagonal of each label that appears twice.
Labelled without_repeats(std::string_view equation, Labelled x) {
  for (std::size_t b = 1; b < x.labels.size(); ++b) {
    const int label = x.labels[b], a = x.axis_of(label), rank = x.tensor.dim();
    if (a == static_cast<int>(b)) continue;
    const std::int64_t size = x.tensor.size(a);
    require(size == x.tensor.size(static_cast<int>(b)), op, "'", static_cast<char>(label), "' of \"", equation,
            "\" names axes ", a, " and ", b, " of shape ", x.tensor.shape());
    Shape order, sizes;
    for (int axis = 0; axis < rank; ++axis)
      if (axis != a && axis != static_cast<int>(b)) order.push_back(axis), sizes.push_back(x.tensor.size(axis));
    order.push_back(a);
    order.push_back(static_cast<std::int64_t>(b));
    sizes.push_back(size * size);
    x.tensor = x.tensor.permute(order).reshape(sizes)[{Ellipsis, Slice({}, {}, size + 1)}];
    x.labels.erase(x.labels.begin() + static_cast<std::ptrdiff_t>(b));
    x.labels.erase(x.labels.begin() + a);
    x.labels.push_back(label);
    b = 0;
  }
  return x;
}

/// The axes of x that `labels` name, expanded to the sizes that both operands have together.
Tensor expanded(const Labelled& x, const Labelled& other, const Labels& labels) {
  Shape sizes;
  for (const int label : labels)
    sizes.push_back(x.size_of(label) == 1 && has(other.labels, label) ? other.size_of(label) : x.size_of(label));
  return x.in_order(labels).expand(sizes);
}

std::int64_t numel_of(const Tensor& x, std::size_t first, std::size_t end) {
  std::int64_t product = 1;
  for (std::size_t i = first; i < end; ++i) product *= x.size(static_cast<int>(i));
  return product;
}

Labels joined(Labels a, const Labels& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The product of two operands, summed over the labels that are not in `kept`.
Labelled product(const Labelled& left, const Labelled& right, const Labels& kept) {
  const Labelled a = summed_to(left, joined(kept, right.labels)), b = summed_to(right, joined(kept, left.labels));
  Labels batch, contracted, of_a, of_b;
  for (const int label : a.labels)
    (!has(b.labels, label) ? of_a : has(kept, label) ? batch : contracted).push_back(label);
  for (const int label : b.labels)
    if (!has(a.labels, label)) of_b.push_back(label);
  const Labels result = joined(joined(batch, of_a), of_b), all = joined(result, contracted);
  const bool floating = is_floating(a.tensor.dtype());
  if ((contracted.empty() || !floating) && all.size() <= Shape::max_rank) {
    Shape axes;
    for (std::size_t i = result.size(); i < all.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    return {summed(a.in_order(all) * b.in_order(all), axes), result};
  }
  require(floating, op, "a product of ", a.tensor.dtype(), " with ", all.size(), " letters, at most ", Shape::max_rank,
          " allowed");
  const Tensor x = expanded(a, b, joined(joined(batch, of_a), contracted));
  const Tensor y = expanded(b, a, joined(joined(batch, contracted), of_b));
  const std::size_t rows = batch.size(), columns = rows + contracted.size();
  Shape sizes;
  for (std::size_t i = 0; i < rows + of_a.size(); ++i) sizes.push_back(x.size(static_cast<int>(i)));
  for (std::size_t i = columns; i < columns + of_b.size(); ++i) sizes.push_back(y.size(static_cast<int>(i)));
  const std::int64_t depth = numel_of(y, rows, columns), batches = numel_of(x, 0, rows);
  const DType wide = promote_types(a.tensor.dtype(), DType::f32);
  const Tensor z = matmul(x.reshape({batches, numel_of(x, rows, rows + of_a.size()), depth}).to(wide),
                          y.reshape({batches, depth, numel_of(y, columns, columns + of_b.size())}).to(wide));
  return {z.reshape(sizes).to(a.tensor.dtype()), result};
}

/// The terms of an equation, and whether it names the result.
struct Equation {
  std::string text;
  std::vector<std::string> terms;
  bool has_result = false;
  std::string result;

  explicit Equation(std::string_view given) {
    for (const char c : given)
      if (c != ' ') text += c;
    const std::size_t arrow = text.find("->");
    has_result = arrow != std::string::npos;
    if (has_result) result = text.substr(arrow + 2);
    terms.emplace_back();
    for (const char c : text.substr(0, arrow)) {
      if (c == ',')
        terms.emplace_back();
      else
        terms.back() += c;
    }
  }
};

std::vector<Labelled> labelled(const Equation& equation, const std::vector<Tensor>& operands, int& hidden) {
  require(!operands.empty() && equation.terms.size() == operands.size(), op, "the equation \"", equation.text,
          "\" has ", equation.terms.size(), " terms, there are ", operands.size(), " operands");
  std::vector<Labelled> all;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Tensor& x = operands[i];
    require(x.defined(), op, "operand ", i, " is undefined");
    require(x.dtype() == operands[0].dtype() && x.device() == operands[0].device(), op, "operand ", i, " is ",
            x.dtype(), " on ", x.device(), ", operand 0 is ", operands[0].dtype(), " on ", operands[0].device());
    const auto letters = static_cast<int>(labels_of(equation.text, equation.terms[i], 0).size());
    const bool open = equation.terms[i].find("...") != std::string::npos;
    require(open ? letters <= x.dim() : letters == x.dim(), op, "operand ", i, " of \"", equation.text, "\" has ",
            letters, " letters, its shape is ", x.shape());
    const int behind = x.dim() - letters;
    hidden = std::max(hidden, behind);
    all.push_back(without_repeats(equation.text, {x, labels_of(equation.text, equation.terms[i], behind)}));
  }
  std::map<int, std::int64_t> sizes;
  for (const Labelled& x : all)
    for (const int label : x.labels) {
      std::int64_t& size = sizes.emplace(label, 1).first->second;
      const std::int64_t own = x.size_of(label);
      require(own == 1 || size == 1 || own == size, op, "an axis of \"", equation.text, "\" has the sizes ", size,
              " and ", own);
      if (own != 1) size = own;
    }
  return all;
}

/// The labels of the result.
Labels result_of(const Equation& equation, const std::vector<Labelled>& operands, int hidden) {
  std::map<int, int> counts;
  for (const std::string& term : equation.terms)
    for (const int label : labels_of(equation.text, term, 0)) ++counts[label];
  if (equation.has_result) {
    const Labels labels = labels_of(equation.text, equation.result, hidden);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const bool is_known =
          std::any_of(operands.begin(), operands.end(), [&](const Labelled& x) { return has(x.labels, labels[i]); });
      require(is_known && std::find(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(i), labels[i]) ==
                              labels.begin() + static_cast<std::ptrdiff_t>(i),
              op, "the result of \"", equation.text, "\" has '", static_cast<char>(labels[i]),
              is_known ? "' twice" : "', which no operand has");
    }
    return labels;
  }
  Labels labels = labels_of(equation.text, hidden > 0 ? "..." : "", hidden);
  for (const auto& [label, count] : counts)
    if (count == 1) labels.push_back(label);
  return labels;
}

}  // namespace

Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands) {
  if (const autograd::Autocasts casts("einsum"); casts) return einsum(equation, casts(operands));
  const Equation parsed(equation);
  int hidden = 0;
  const std::vector<Labelled> terms = labelled(parsed, operands, hidden);
  const Labels wanted = result_of(parsed, terms, hidden);
  Labelled all = terms[0];
  for (std::size_t i = 1; i < terms.size(); ++i) {
    Labels kept = wanted;
    for (std::size_t later = i + 1; later < terms.size(); ++later) kept = joined(kept, terms[later].labels);
    all = product(all, terms[i], kept);
  }
  return summed_to(all, wanted).in_order(wanted);
}

}  // namespace crisol
