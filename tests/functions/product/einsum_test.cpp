// einsum against loops over all letters, and determinants.
#include "crisol/functions/einsum.h"

#include <cmath>
#include <map>

#include "crisol/functions/elementwise.h"
#include "crisol/functions/linalg.h"
#include "crisol/functions/matmul.h"
#include "doctest/doctest.h"
#include "reference/index_loop.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/random_tensor.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;
using testing::check_gradients;
using testing::random_integers;
using testing::random_tensor;
using testing::tensor_of;
using Inputs = std::vector<Tensor>;

struct Case {
  std::string equation;
  /// The same with letters for "..." and with a result.
  std::string plain;
  std::vector<Shape> shapes;
};

/// The sum over all positions of all letters.
std::vector<double> expect(const Case& c, const std::vector<std::vector<double>>& values, Shape& shape) {
  std::vector<std::string> terms{""};
  for (const char letter : c.plain.substr(0, c.plain.find("->")))
    if (letter == ',')
      terms.emplace_back();
    else
      terms.back() += letter;
  const std::string result = c.plain.substr(c.plain.find("->") + 2);
  std::map<char, std::int64_t> sizes;
  for (std::size_t t = 0; t < terms.size(); ++t)
    for (std::size_t i = 0; i < terms[t].size(); ++i)
      sizes[terms[t][i]] = std::max(sizes[terms[t][i]], c.shapes[t][static_cast<int>(i)]);
  Shape all;
  for (const auto& [letter, size] : sizes) all.push_back(size);
  const auto place = [&](const std::string& letters, const Shape& index, const Shape& own) {
    Shape at;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const auto of_letter = static_cast<int>(std::distance(sizes.begin(), sizes.find(letters[i])));
      at.push_back(own[static_cast<int>(i)] == 1 ? 0 : index[of_letter]);
    }
    return reference::position(at, own);
  };
  for (const char letter : result) shape.push_back(sizes[letter]);
  std::vector<double> sums(static_cast<std::size_t>(shape.numel()), 0);
  reference::for_each_index(all, [&](const Shape& index) {
    double product = 1;
    for (std::size_t t = 0; t < terms.size(); ++t) product *= values[t][place(terms[t], index, c.shapes[t])];
    sums[place(result, index, shape)] += product;
  });
  return sums;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> list{{"ij->ji", "ij->ji", {{3, 5}}},
                                      {"ij->", "ij->", {{3, 5}}},
                                      {"ij->i", "ij->i", {{3, 5}}},
                                      {"ba", "ba->ab", {{3, 5}}},
                                      {"ii", "ii->", {{4, 4}}},
                                      {"...ii->...i", "abii->abi", {{2, 3, 4, 4}}},
                                      {"iji->ji", "iji->ji", {{3, 5, 3}}},
                                      {"i,i", "i,i->", {{7}, {7}}},
                                      {"i,j->ij", "i,j->ij", {{3}, {4}}},
                                      {"ij,jk->ik", "ij,jk->ik", {{3, 5}, {5, 2}}},
                                      {"ij,jk", "ij,jk->ik", {{3, 5}, {5, 2}}},
                                      {" bij , bjk -> bik ", "bij,bjk->bik", {{2, 3, 5}, {2, 5, 4}}},
                                      {"...ij,...jk->...ik", "abij,bjk->abik", {{2, 3, 2, 5}, {3, 5, 4}}},
                                      {"...ij,...jk", "abij,bjk->abik", {{2, 3, 2, 5}, {3, 5, 4}}},
                                      {"bhqd,bkhd->bhqk", "bhqd,bkhd->bhqk", {{2, 3, 4, 5}, {2, 6, 3, 5}}},
                                      {"ij,ij,jk->ik", "ij,ij,jk->ik", {{3, 4}, {3, 4}, {4, 2}}},
                                      {"ijk,jil,kl->", "ijk,jil,kl->", {{2, 3, 4}, {3, 2, 5}, {4, 5}}},
                                      {"ij,kl->ki", "ij,kl->ki", {{2, 3}, {4, 5}}},
                                      {"ij,ij->ij", "ij,ij->ij", {{3, 4}, {1, 4}}},
                                      {"ij,ij->", "ij,ij->", {{3, 4}, {3, 1}}},
                                      {"ij,jk->ik", "ij,jk->ik", {{3, 0}, {0, 2}}},
                                      {"ij,jk->ik", "ij,jk->ik", {{0, 3}, {3, 2}}},
                                      {",ij->ij", ",ij->ij", {{}, {2, 3}}}};
  return list;
}

}  // namespace

TEST_CASE("einsum: f32, f16 and whole numbers against loops") {
  for (const Case& c : cases()) {
    CAPTURE(c.equation);
    std::vector<std::vector<double>> values;
    for (std::size_t i = 0; i < c.shapes.size(); ++i)
      values.push_back(random_integers(1 + i, c.shapes[i].numel(), -3, 3));
    Shape shape;
    const std::vector<double> expected = expect(c, values, shape);
    for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i64}) {
      CAPTURE(dtype);
      std::vector<Tensor> operands;
      for (std::size_t i = 0; i < values.size(); ++i) operands.push_back(tensor_of(values[i], c.shapes[i], dtype));
      const Tensor y = einsum(c.equation, operands);
      CHECK(is_floating(dtype) == is_floating(y.dtype()));
      check_close(y, shape, expected, {0});
    }
  }
}

TEST_CASE("einsum: sums of one operand do not wrap, products have its dtype, as in PyTorch") {
  const Tensor x = full({2, 3}, 200, DType::u8), y = full({3}, 3, DType::u8);
  const auto check = [](const Tensor& result, DType dtype, double expected) {
    CHECK(result.dtype() == dtype);
    check_close(result, result.shape(), std::vector<double>(static_cast<std::size_t>(result.numel()), expected), {0});
  };
  check(einsum("ij->i", {x}), DType::i64, 600);
  check(einsum("ij->ji", {x}), DType::u8, 200);
  check(einsum("ij,j->j", {x, y}), DType::i64, 1200);
  check(einsum("ij,k->ik", {x, y}), DType::i64, 1800);
  check(einsum("ij,j->", {x, y}), DType::i64, 3600);
  check(einsum("ij,j->i", {x, y}), DType::u8, 8);
  check(einsum("ij,ij->", {x, x}), DType::u8, 128);
  check(einsum("ij->i", {x.to(DType::i32)}), DType::i64, 600);
  check(einsum("ij->i", {x.to(DType::boolean)}), DType::i64, 3);
  check(einsum("ij,j->ij", {x.to(DType::boolean), y.to(DType::boolean)}), DType::boolean, 1);
}

TEST_CASE("einsum: gradients") {
  for (const Case& c : cases()) {
    CAPTURE(c.equation);
    Inputs inputs;
    for (std::size_t i = 0; i < c.shapes.size(); ++i) inputs.push_back(random_tensor(5 + i, c.shapes[i]));
    bool has_elements = true;
    for (const Tensor& x : inputs) has_elements = has_elements && x.numel() > 0;
    if (has_elements) check_gradients([&](const Inputs& in) { return einsum(c.equation, in); }, inputs);
  }
}

TEST_CASE("einsum: what is refused") {
  const Tensor a = zeros({2, 3}), b = zeros({4, 5});
  check_error([&] { einsum("ij,jk->ik", {a, b}); }, {"[einsum]", "ij,jk->ik", "3", "4"});
  check_error([&] { einsum("ij", {a, b}); }, {"[einsum]", "1 terms", "2 operands"});
  check_error([&] { einsum("ijk->i", {a}); }, {"[einsum]", "3 letters", "(2, 3)"});
  check_error([&] { einsum("i->i", {a}); }, {"[einsum]", "1 letters", "(2, 3)"});
  check_error([&] { einsum("ij->k", {a}); }, {"[einsum]", "'k'", "no operand"});
  check_error([&] { einsum("ij->ii", {a}); }, {"[einsum]", "'i'", "twice"});
  check_error([&] { einsum("ii->i", {a}); }, {"[einsum]", "'i'", "(2, 3)"});
  check_error([&] { einsum("i1->i", {a}); }, {"[einsum]", "'1'"});
  check_error([&] { einsum("i..->i", {a}); }, {"[einsum]", "'.'"});
  check_error([&] { einsum("ij->i->j", {a}); }, {"[einsum]", "'-'"});
  check_error([&] { einsum("ij,kl->il", {a, b.to(DType::f16)}); }, {"[einsum]", "f16", "f32"});
  check_error([&] { einsum("ij->i", {Tensor()}); }, {"[einsum]", "undefined"});
  check_error([] { einsum("", {}); }, {"[einsum]", "0 operands"});
}

TEST_CASE("det: small matrices, batches, singular ones, gradients") {
  check_close(det(tensor_of({1, 2, 3, 4}, {2, 2})), {}, {-2}, {4});
  check_close(det(tensor_of({0, 1, 0, 0, 0, 2, 3, 0, 0}, {3, 3})), {}, {6}, {4});
  check_close(det(zeros({4, 4})), {}, {0}, {0});
  check_close(det(ones({3, 3})), {}, {0}, {0});
  CHECK(det(zeros({2, 0, 0})).to_vector<float>() == std::vector<float>{1, 1});
  CHECK(det(zeros({0, 3, 3})).shape() == Shape{0});
  const Tensor a = random_tensor(9, {2, 3, 4, 4}), b = random_tensor(10, {4, 4});
  CHECK(det(matmul(a, b)).allclose(det(a) * det(b), 1e-4, 1e-5));
  CHECK(det(a.transpose(-2, -1)).allclose(det(a), 1e-4, 1e-5));
  check_gradients([](const Inputs& in) { return det(in[0]); }, {random_tensor(11, {3, 3, 3})});
  // The gradient of a singular matrix consists of its cofactors.
  Tensor singular = tensor_of({1, 2, 3, 2, 4, 6, 1, 0, 1}, {3, 3}).requires_grad_();
  det(singular).backward();
  check_close(singular.grad(), {3, 3}, {4, 4, -4, -2, -2, 2, 0, 0, 0}, {8, 8});
  Tensor of_rank_1 = ones({3, 3}).requires_grad_();
  det(of_rank_1).backward();
  check_close(of_rank_1.grad(), {3, 3}, std::vector<double>(9, 0), {0});
  CHECK(det(tensor_of({2, 0, 0, 2}, {2, 2}, DType::f16)).dtype() == DType::f16);
  check_error([] { det(zeros({2, 3})); }, {"[det]", "(2, 3)"});
  check_error([] { det(zeros({3})); }, {"[det]", "(3)"});
  check_error([] { det(zeros({2, 2}, DType::i64)); }, {"[det]", "i64"});
}

}  // namespace crisol
