// Whole numbers of a graph, which stay on the host where they are constants, and which the device computes where they
// are inputs. Random small graphs of them run in both ways, and are compared with loops over single numbers.
#include <algorithm>
#include <functional>
#include <random>

#include "onnx/models.h"

using doctest::Contains;

namespace {

using Numbers = std::vector<std::int64_t>;

struct Whole {
  Shape shape;
  DType dtype;
  Numbers numbers;
};

int type_number(DType dtype) { return dtype == DType::i64 ? of::i64 : dtype == DType::i32 ? of::i32 : of::boolean; }

std::int64_t as(DType dtype, std::int64_t n) {
  return dtype == DType::boolean ? n != 0 : dtype == DType::i32 ? static_cast<std::int32_t>(n) : n;
}

/// The number of `x` that stands at a place of a larger shape.
std::int64_t at(const Whole& x, const Shape& shape, std::int64_t place) {
  std::int64_t from = 0, stride = 1;
  for (int i = shape.rank() - 1, k = x.shape.rank() - 1; k >= 0; --i, --k) {
    if (x.shape[k] != 1) from += place % shape[i] * stride;
    stride *= x.shape[k];
    place /= shape[i];
  }
  return x.numbers[static_cast<std::size_t>(from)];
}

/// The shape of both by NumPy's rule; nothing if they do not fit.
std::optional<Shape> common(const Shape& a, const Shape& b) {
  Shape shape = Shape::filled(std::max(a.rank(), b.rank()), 1);
  for (const Shape* one : {&a, &b})
    for (int i = 0; i < one->rank(); ++i) {
      std::int64_t& size = shape[shape.rank() - one->rank() + i];
      if ((*one)[i] == 1) continue;
      if (size != 1 && size != (*one)[i]) return {};
      size = (*one)[i];
    }
  return shape;
}

using Function = std::function<std::int64_t(std::int64_t, std::int64_t)>;

struct Binary {
  const char* op;
  bool on_bools, gives_bools;
  Function f;
};

std::int64_t floored(std::int64_t a, std::int64_t b) {
  if (b == 0 || b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

const std::vector<Binary>& binaries() {
  using i = std::int64_t;
  static const std::vector<Binary> all{
      {"Add", false, false, [](i a, i b) { return a + b; }},
      {"Sub", false, false, [](i a, i b) { return a - b; }},
      {"Mul", false, false, [](i a, i b) { return a * b; }},
      {"Div", false, false, [](i a, i b) { return b == 0 ? 0 : a / b; }},
      {"Mod", false, false, floored},
      {"Max", false, false, [](i a, i b) { return std::max(a, b); }},
      {"Min", false, false, [](i a, i b) { return std::min(a, b); }},
      {"Equal", false, true, [](i a, i b) { return a == b; }},
      {"Less", false, true, [](i a, i b) { return a < b; }},
      {"LessOrEqual", false, true, [](i a, i b) { return a <= b; }},
      {"Greater", false, true, [](i a, i b) { return a > b; }},
      {"GreaterOrEqual", false, true, [](i a, i b) { return a >= b; }},
      {"And", true, true, [](i a, i b) { return a && b; }},
      {"Or", true, true, [](i a, i b) { return a || b; }},
      {"Xor", true, true, [](i a, i b) { return a != b; }},
  };
  return all;
}

/// A random graph, with the right value of each result.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {
    for (int i = 0; i < 6; ++i) add_start();
    while (nodes.size() < 24) add_node();
  }

  std::vector<Whole> values;  ///< The first ones are constants or inputs.
  std::vector<Proto> nodes, shapes;
  std::size_t starts = 0;

  static std::string name(std::size_t i) { return "v" + std::to_string(i); }

 private:
  std::int64_t below(std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random_); }

  void add_start() {
    const DType dtypes[] = {DType::i64, DType::i64, DType::i32, DType::boolean};
    Whole x{below(4) == 0 ? Shape() : Shape(below(7) == 0 ? 0 : below(2) == 0 ? 1 : 3), dtypes[below(4)], {}};
    // Bools stay on the host if they are one number.
    if (x.dtype == DType::boolean) x.shape = below(2) == 0 ? Shape() : Shape(1);
    for (std::int64_t i = 0; i < x.shape.numel(); ++i) x.numbers.push_back(as(x.dtype, below(9) - 4));
    values.push_back(x);
    ++starts;
  }

  std::size_t pick(const std::function<bool(const Whole&)>& fits) {
    for (int i = 0; i < 50; ++i)
      if (const auto at = static_cast<std::size_t>(below(static_cast<std::int64_t>(values.size()))); fits(values[at]))
        return at;
    return values.size();
  }

  void add(const Proto& node, Whole value) {
    nodes.push_back(node);
    values.push_back(std::move(value));
  }
  std::string next() const { return name(values.size()); }
  /// A constant of the graph in both runs, such as the new shape of a Reshape.
  std::string constant(const Numbers& list) {
    const std::string own = "s" + std::to_string(shapes.size());
    shapes.push_back(numbers(own, list));
    return own;
  }

  void add_node() {
    switch (below(6)) {
      case 0: return add_where();
      case 1: return add_shape_op();
      case 2: return add_cast();
      default: return add_binary();
    }
  }

  void add_binary() {
    const Binary& op = binaries()[static_cast<std::size_t>(below(static_cast<std::int64_t>(binaries().size())))];
    const auto fits = [&](const Whole& x) { return (x.dtype == DType::boolean) == op.on_bools; };
    const std::size_t a = pick(fits);
    if (a == values.size()) return;
    const std::size_t b = pick([&](const Whole& y) {
      const auto shape = common(values[a].shape, y.shape);
      return y.dtype == values[a].dtype && shape && shape->numel() <= 100 && shape->rank() <= 4;
    });
    if (b == values.size()) return;
    Whole y{*common(values[a].shape, values[b].shape), op.gives_bools ? DType::boolean : values[a].dtype, {}};
    for (std::int64_t i = 0; i < y.shape.numel(); ++i)
      y.numbers.push_back(as(y.dtype, op.f(at(values[a], y.shape, i), at(values[b], y.shape, i))));
    add(node(op.op, {name(a), name(b)}, {next()}), y);
  }

  void add_where() {
    const std::size_t c = pick([](const Whole& x) { return x.dtype == DType::boolean; });
    const std::size_t a = pick([](const Whole& x) { return x.dtype != DType::boolean; });
    if (c == values.size() || a == values.size()) return;
    const auto first = common(values[c].shape, values[a].shape);
    if (!first) return;
    const std::size_t b = pick([&](const Whole& y) {
      const auto shape = common(*first, y.shape);
      return y.dtype == values[a].dtype && shape && shape->numel() <= 100 && shape->rank() <= 4;
    });
    if (b == values.size()) return;
    Whole y{*common(*first, values[b].shape), values[a].dtype, {}};
    for (std::int64_t i = 0; i < y.shape.numel(); ++i)
      y.numbers.push_back(at(values[at(values[c], y.shape, i) != 0 ? a : b], y.shape, i));
    add(node("Where", {name(c), name(a), name(b)}, {next()}), y);
  }

  void add_cast() {
    const std::size_t a = pick([](const Whole&) { return true; });
    const DType dtypes[] = {DType::i64, DType::i32, DType::boolean};
    Whole y = values[a];
    y.dtype = dtypes[below(3)];
    for (std::int64_t& n : y.numbers) n = as(y.dtype, n);
    add(node("Cast", {name(a)}, {next()}, {attribute("to", std::int64_t{type_number(y.dtype)})}), y);
  }

  void add_shape_op() {
    const std::size_t a = pick([](const Whole& x) { return x.shape.rank() < 4; });
    if (a == values.size()) return;
    Whole y = values[a];
    const int rank = y.shape.rank();
    const std::int64_t kind = below(4);
    if (kind == 0) {
      const std::int64_t axis = below(rank + 1);
      y.shape.insert(static_cast<int>(axis), 1);
      add(node("Unsqueeze", {name(a), constant({below(2) == 0 ? axis : axis - rank - 1})}, {next()}), y);
    } else if (kind == 1) {
      y.shape = Shape(y.shape.numel());
      add(node("Reshape", {name(a), constant({-1})}, {next()}), y.shape.numel() == 0 ? values[a] : y);
      if (y.shape.numel() == 0) drop_last();
    } else if (kind == 2) {
      y.numbers = Numbers(y.shape.begin(), y.shape.end());
      y.shape = Shape(static_cast<std::int64_t>(y.numbers.size()));
      y.dtype = DType::i64;
      add(node("Shape", {name(a)}, {next()}), y);
    } else {
      const Shape wanted{below(2) + 1, rank == 0 || y.shape.back() == 1 ? 2 : 1};
      y.shape = *common(y.shape, wanted);
      y.numbers.clear();
      for (std::int64_t i = 0; i < y.shape.numel(); ++i) y.numbers.push_back(at(values[a], y.shape, i));
      if (y.numbers.size() > 100 || !common(values[a].shape, wanted)) return;
      add(node("Expand", {name(a), constant({wanted[0], wanted[1]})}, {next()}), y);
    }
  }

  void drop_last() {
    nodes.pop_back();
    values.pop_back();
  }

  std::mt19937 random_;
};

Tensor tensor_of(const Whole& x) { return from_vector(x.numbers, x.shape, x.dtype); }

/// The graph with its first values as constants or as inputs.
Proto file_of(const RandomGraph& g, bool constants) {
  of::GraphParts parts{.nodes = g.nodes, .initializers = g.shapes};
  parts.inputs.push_back(value("unused", of::f32, {}));
  for (std::size_t i = 0; i < g.values.size(); ++i) {
    const Whole& x = g.values[i];
    const std::string name = RandomGraph::name(i);
    const Proto type = Proto().message(1, Proto().integer(1, type_number(x.dtype)));
    if (i >= g.starts) {
      parts.outputs.push_back(value(name, type));
      continue;
    }
    if (!constants) {
      parts.inputs.push_back(value(name, type));
      continue;
    }
    const Sizes sizes(x.shape.begin(), x.shape.end());
    const auto list = [&](auto kind) { return std::vector<decltype(kind)>(x.numbers.begin(), x.numbers.end()); };
    parts.initializers.push_back(x.dtype == DType::i64   ? of::raw_tensor(name, of::i64, sizes, x.numbers)
                                 : x.dtype == DType::i32 ? of::raw_tensor(name, of::i32, sizes, list(std::int32_t{}))
                                                         : of::raw_tensor(name, of::boolean, sizes, list(char{})));
  }
  return of::model(of::graph(parts));
}

void check_all(const RandomGraph& g, const onnx::Outputs& found) {
  for (std::size_t i = g.starts; i < g.values.size(); ++i) {
    CAPTURE(i);
    const Tensor y = found[RandomGraph::name(i)];
    CHECK(y.dtype() == g.values[i].dtype);
    REQUIRE(y.shape() == g.values[i].shape);
    CHECK(y.to(DType::i64).to_vector<std::int64_t>() == g.values[i].numbers);
  }
}

}  // namespace

TEST_CASE("onnx: whole numbers on the host are what the device computes, in random graphs") {
  for (unsigned seed = 0; seed < 12; ++seed) {
    CAPTURE(seed);
    const RandomGraph g(seed);
    NamedTensors inputs{{"unused", zeros({})}};
    check_all(g, loaded(file_of(g, true))(inputs));
    for (std::size_t i = 0; i < g.starts; ++i) inputs.emplace_back(RandomGraph::name(i), tensor_of(g.values[i]));
    const onnx::Model by_inputs = loaded(file_of(g, false));
    onnx::Model model = by_inputs;
    check_all(g, model(inputs));
    const NoGrad no_grad;
    check_all(g, model(inputs));
  }
}

TEST_CASE("onnx: sizes of 1 and other ranks broadcast, as slices that a batch of 1 is written to need it") {
  const auto indices = [](const char* left, const char* right) {
    return of::model(
        of::graph({.nodes = {node("Shape", {"x"}, {"s"}), node("Gather", {"s", "zero"}, {"n"}),
                             node("Range", {"zero", "n", "one"}, {"rows"}),
                             node("Unsqueeze", {"rows", "last"}, {"column"}), node("Add", {left, right}, {"y"})},
                   .initializers = {stored_number("zero", 0), stored_number("one", 1), numbers("last", {1}),
                                    numbers("columns", {0, 10, 20, 30})},
                   .inputs = {value("x", of::f32, {"N"})},
                   .outputs = {value("y", Proto().message(1, Proto().integer(1, of::i64)))}}));
  };
  for (const auto& [left, right] : {std::pair{"column", "columns"}, std::pair{"columns", "column"}})
    for (const std::int64_t n : {1, 2, 0}) {
      const Tensor y = loaded(indices(left, right))({{"x", zeros({n})}})["y"];
      CHECK(y.shape() == Shape{n, 4});
      Numbers expected;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t k = 0; k < 4; ++k) expected.push_back(i + 10 * k);
      CHECK(y.to_vector<std::int64_t>() == expected);
    }
}

TEST_CASE("onnx: a shape that does not fit numbers on the host is refused") {
  const auto fails = [](const std::vector<std::int64_t>& sizes) {
    return refusal(ErrorCode::invalid_argument, [&] {
      loaded(of::model(of::graph({.nodes = {node("Reshape", {"list", "sizes"}, {"y"}), node("Relu", {"x"}, {"z"})},
                                  .initializers = {numbers("list", {1, 2, 3}), numbers("sizes", sizes)},
                                  .inputs = {value("x", of::f32, {})},
                                  .outputs = {value("y", of::i64, {})}})))({{"x", zeros({})}});
    });
  };
  CHECK(fails({2, 2}) == Contains("an input of shape (3) does not fit the shape (2, 2)"));
  CHECK(fails({2, -1}) == Contains("an input of shape (3) does not fit the shape"));
}

TEST_CASE("onnx Range: without numbers, backwards, and with large bounds") {
  const auto range = [](const Tensor& start, const Tensor& limit, const Tensor& step) {
    return loaded(of::model(of::graph(
        {.nodes = {node("Range", {"a", "b", "c"}, {"y"})},
         .inputs = {value("a", Proto().message(1, Proto().integer(1, start.dtype() == DType::f32 ? of::f32 : of::i64))),
                    value("b", Proto().message(1, Proto())), value("c", Proto().message(1, Proto()))},
         .outputs = {value("y", Proto().message(1, Proto()))}})))({{"a", start}, {"b", limit}, {"c", step}})["y"];
  };
  const auto real = [](float x) { return full({}, x); };
  const auto whole = [](std::int64_t x) { return from_vector(Numbers{x}, Shape()); };
  CHECK(range(real(5), real(2), real(1)).shape() == Shape{0});
  CHECK(range(real(1), real(1), real(-0.5f)).shape() == Shape{0});
  CHECK(range(real(1), real(-0.2f), real(-0.5f)).to_vector<float>() == std::vector<float>{1, 0.5f, 0});
  CHECK(range(whole(5), whole(2), whole(1)).shape() == Shape{0});
  CHECK(range(whole(5), whole(-2), whole(-3)).to_vector<std::int64_t>() == Numbers{5, 2, -1});
  const std::int64_t far = std::int64_t{1} << 40;
  CHECK(range(whole(far), whole(far + 5), whole(2)).to_vector<std::int64_t>() == Numbers{far, far + 2, far + 4});
  const Tensor many = range(whole(far), whole(far + 3 * 5000), whole(3));
  CHECK(many.shape() == Shape{5000});
  CHECK(many.select(0, 4999).item<std::int64_t>() == far + 3 * 4999);
}
