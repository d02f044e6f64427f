// Expression graphs of several rows: their text, shared nodes, and their kernels on all layouts.
#include "ops/pointwise/pointwise_graph.h"

#include <cmath>
#include <string>

#include "doctest/doctest.h"
#include "ops/pointwise/pointwise_kernels.h"
#include "ops/pointwise/pointwise_source.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::ops;
using namespace crisol::testing;

namespace {

// relu(a * b + s) and a < b.
PointwiseGraph two_results(DType dtype = DType::f32) {
  PointwiseGraph graph;
  const int a = graph.input(dtype), b = graph.input(dtype), s = graph.scalar(DType::f32);
  graph.output(graph.apply(rows::relu, {graph.apply(rows::add, {graph.apply(rows::mul, {a, b}), s})}));
  graph.output(graph.apply(rows::lt, {a, b}));
  return graph;
}

std::vector<Tensor> run(const PointwiseGraph& graph, const std::vector<Tensor>& inputs,
                        const std::vector<Scalar>& scalars) {
  std::vector<const Tensor*> pointers;
  for (const Tensor& x : inputs) pointers.push_back(&x);
  std::vector<Tensor> outputs(graph.outputs().size());
  kernels_of(graph).run("graph", pointers, scalars, outputs);
  return outputs;
}

}  // namespace

TEST_CASE("pointwise graph: its text for single elements, vectors and macros") {
  const PointwiseGraph graph = two_results();
  CHECK(function_of(graph, "f", "") ==
        "INLINE void f(const float x0, const float x1, const float s0, float* y0, int* y1) {\n"
        "  const float v3 = x0 * x1;\n"
        "  const float v4 = v3 + (float)(s0);\n"
        "  const float v5 = v4 < 0 ? (float)(0) : v4;\n"
        "  const int v6 = (x0 < x1) & 1;\n"
        "  *y0 = v5;\n"
        "  *y1 = v6;\n"
        "}\n");
  const std::string macro = function_of(graph, "NAME", "##W");
  CHECK(macro.find("const float##W v3 = x0 * x1; \\\n") != std::string::npos);
  CHECK(macro.back() == '\n');
  CHECK(macro.substr(macro.size() - 2) == "}\n");
  CHECK(function_of(two_results(DType::f16), "f", "16") == function_of(graph, "f", "16"));
  // Helper functions get the type's name, and are included once.
  PointwiseGraph exps;
  const int x = exps.input(DType::i32);
  exps.output(exps.apply(rows::exp, {exps.apply(rows::exp, {x})}));
  CHECK(
      function_of(exps, "f", "4").find("const float4 v1 = convert_float4(x0);\n  const float4 v2 = exp_float4(v1);") !=
      std::string::npos);
  CHECK(includes_of(exps) == "#include \"common/vector.h\"\n#include \"common/math/exp.h\"\n");
}

TEST_CASE("pointwise graph: equal nodes are one, equal graphs share their kernels") {
  PointwiseGraph graph;
  const int a = graph.input(DType::f32), b = graph.input(DType::f32);
  CHECK(a != b);
  CHECK(graph.apply(rows::add, {a, b}) == graph.apply(rows::add, {a, b}));
  CHECK(graph.apply(rows::add, {a, b}) != graph.apply(rows::add, {b, a}));
  CHECK(graph.convert(a, DType::f32) == a);
  CHECK(&kernels_of(two_results()) == &kernels_of(two_results()));
  CHECK(&kernels_of(two_results()) != &kernels_of(two_results(DType::f16)));
}

TEST_CASE("pointwise graph: several results, broadcasting and layouts, both kinds of kernel") {
  const std::vector<double> a = random_values(1, 3 * 5 * 36), b = random_values(2, 5);
  std::vector<double> first, second;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double other = b[i / 36 % 5];
    first.push_back(std::fmax(0, a[i] * other + 0.25));
    second.push_back(a[i] < other);
  }
  const MustRun variants("pointwise", {on_cpus("chunks"), "items"});
  for_each_variant(variants, [&] {
    for (const Layout layout : all_layouts) {
      CAPTURE(name_of(layout));
      const std::vector<Tensor> y =
          run(two_results(), {view_of(a, {3, 5, 36}, layout), view_of(b, {5, 1}, Layout::strided)}, {0.25});
      check_close(y[0], {3, 5, 36}, first, {2});
      check_close(y[1], {3, 5, 36}, second, {0});
      CHECK(y[1].dtype() == DType::boolean);
    }
  });
}

TEST_CASE("pointwise graph: as many tensors as there may be, of rank eight") {
  // If each tensor had strides, the kernel would need more parameters than OpenCL guarantees.
  PointwiseGraph graph;
  int sum = graph.input(DType::f32);
  for (std::size_t i = 1; i < PointwiseGraph::max_inputs; ++i)
    sum = graph.apply(rows::add, {sum, graph.input(DType::f32)});
  for (int i = 0; i < 4; ++i) graph.output(graph.apply(rows::mul, {sum, graph.scalar(DType::f32)}));
  const Shape shape{2, 1, 2, 3, 2, 2, 2, 2};
  std::vector<Tensor> inputs;
  std::vector<double> expected(static_cast<std::size_t>(shape.numel()));
  for (std::size_t k = 0; k < PointwiseGraph::max_inputs; ++k) {
    const int axis = static_cast<int>(k % 8);
    Shape own = Shape::filled(8, 1);
    own[axis] = shape[axis];
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape[axis]; ++i) values.push_back(static_cast<double>((i + 1) * (axis + 1)));
    inputs.push_back(view_of(values, own, Layout::strided));
    std::int64_t step = 1;
    for (int inner = axis + 1; inner < 8; ++inner) step *= shape[inner];
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] += values[i / static_cast<std::size_t>(step) % values.size()];
  }
  const std::vector<Tensor> y = run(graph, inputs, {1, 2, 3, 4});
  for (std::size_t k = 0; k < 4; ++k) {
    std::vector<double> scaled = expected;
    for (double& value : scaled) value *= static_cast<double>(k + 1);
    check_close(y[k], shape, scaled, {4});
  }
}

TEST_CASE("pointwise graph: what does not fit is refused") {
  PointwiseGraph inputs, numbers, results, graph;
  for (std::size_t i = 0; i <= PointwiseGraph::max_inputs; ++i) inputs.input(DType::f32);
  check_error([&] { kernels_of(inputs); }, {"12 tensors", "13 are given"});
  for (std::size_t i = 0; i <= PointwiseGraph::max_scalars; ++i) numbers.scalar(DType::f32);
  check_error([&] { kernels_of(numbers); }, {"12 numbers", "13 are given"});
  results.input(DType::f32);
  for (std::size_t i = 0; i <= PointwiseGraph::max_outputs; ++i) results.output(0);
  check_error([&] { kernels_of(results); }, {"16 results", "17 are given"});
  graph.input(DType::f32);
  check_error([&] { graph.apply(rows::add, {0}); }, {"[add]", "2 inputs", "1 are given"});
  graph.input(DType::f32);
  check_error(
      [&] {
        graph.derivative(rows::lt, 0, 0, std::vector<int>{0, 1}, PointwiseGraph::none, {});
      },
      {"[lt]", "no derivative"});
  const Tensor x = ones({2}), whole = ones({2}, DType::i32);
  check_error([&] { run(two_results(), {x}, {1}); }, {"[graph]", "2 tensors and 1 numbers", "1 and 1 given"});
  check_error([&] { run(two_results(), {x, whole}, {1}); }, {"[graph]", "input 1", "i32", "f32"});
}
