// Programs that update buffers in place: caches of keys and values, positions, running statistics.
#include <vector>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/subprocess.h"

using namespace crisol;
using namespace crisol::testing;
using doctest::Contains;

namespace {

bool close(const Tensor& a, const Tensor& b) { return a.shape() == b.shape() && a.allclose(b, 1e-4, 1e-5); }

constexpr std::int64_t longest = 104, heads = 2, width = 12, symbols = 29;

struct Layer : nn::Module {
  nn::LayerNorm first{Shape{width}}, second{Shape{width}};
  nn::Linear qkv{width, 3 * width}, out{width, width}, up{width, 2 * width}, down{2 * width, width};
  nn::Buffer keys, values;

  explicit Layer(std::int64_t batch)
      : keys(zeros({batch, heads, longest, width / heads})), values(zeros({batch, heads, longest, width / heads})) {
    register_module("first", first);
    register_module("second", second);
    register_module("qkv", qkv);
    register_module("out", out);
    register_module("up", up);
    register_module("down", down);
    register_buffer("keys", keys);
    register_buffer("values", values);
  }
  Tensor run(const Tensor& x, const Tensor& places) {
    const std::int64_t batch = x.size(0), length = x.size(1);
    const Tensor parts = qkv(first(x)).reshape({batch, length, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
    keys.index_put_({Tensor(), Tensor(), places}, parts[1]);
    values.index_put_({Tensor(), Tensor(), places}, parts[2]);
    const Tensor seen = arange(0, longest, 1, DType::i64).le(places.unsqueeze(1));
    const Tensor y = scaled_dot_product_attention(parts[0], keys, values, seen);
    const Tensor sum = x + out(y.transpose(1, 2).reshape({batch, length, width}));
    return sum + down(gelu(up(second(sum))));
  }
};

/// Symbols (N, L), which follow the symbols of earlier calls, give the scores of the next symbols.
struct Gpt : nn::Module {
  nn::Embedding embedding{symbols, width}, of_places{longest, width};
  Layer a, b;
  nn::Linear out{width, symbols};
  nn::Buffer position{zeros({1}, DType::i64)};
  int calls = 0;  ///< Of forward.

  explicit Gpt(std::int64_t batch) : a(batch), b(batch) {
    register_module("embedding", embedding);
    register_module("of_places", of_places);
    register_module("a", a);
    register_module("b", b);
    register_module("out", out);
    register_buffer("position", position);
  }
  Tensor forward(const Tensor& x) override {
    ++calls;
    const Tensor places = position + arange(0, static_cast<double>(x.size(1)), 1, DType::i64);
    const Tensor y = b.run(a.run(embedding(x) + of_places(places), places), places);
    position.add_(x.size(1));
    return out(y);
  }
};

/// A module with two buffers, whose forward() a test gives.
struct WithBuffers : nn::Module {
  using Function = std::function<Tensor(WithBuffers& own, const Tensor& x)>;
  nn::Buffer a, b;
  Function function;

  WithBuffers(const Tensor& of_a, const Tensor& of_b, Function f) : a(of_a), b(of_b), function(std::move(f)) {
    register_buffer("a", a);
    register_buffer("b", b);
  }
  Tensor forward(const Tensor& x) override { return function(*this, x); }
};

/// Compares some runs of the compiled module with runs of its copy.
void check_runs(const Tensor& a, const Tensor& b, const WithBuffers::Function& function, const Shape& shape,
                std::size_t programs = 1) {
  WithBuffers eager(a.clone(), b.clone(), function);
  const auto net = std::make_shared<WithBuffers>(a.clone(), b.clone(), function);
  net->eval();
  Compiled fast = compile(std::shared_ptr<nn::Module>(net), randn(shape));
  CHECK(close(net->a, eager.a));  // compile() leaves them.
  CHECK(close(net->b, eager.b));
  for (int i = 0; i < 5; ++i) {
    const Tensor x = randn(shape);
    const Tensor expected = eager(x).clone(), y = fast(x);
    CHECK(close(y, expected));
    CHECK(close(net->a, eager.a));
    CHECK(close(net->b, eager.b));
    CHECK(fast.programs() == programs);
  }
}

}  // namespace

TEST_CASE("states: a hundred steps of a decoder run one program, and give the values of the module") {
  const NoGrad no_grad;
  for (const std::int64_t batch : {1, 2}) {
    CAPTURE(batch);
    manual_seed(5);
    const auto net = std::make_shared<Gpt>(batch);
    net->eval();
    Compiled step = compile(std::shared_ptr<nn::Module>(net), zeros({batch, 1}, DType::i64));
    Gpt twin = clone(*net);
    const auto generate = [&] {
      const Tensor start = randint(0, symbols, {batch, 4}, DType::i64);
      Tensor next = (*net)(start).narrow(1, 3, 1).argmax({-1});  // Several symbols are no step: the module runs.
      twin(start);
      net->calls = 0;
      for (int i = 0; i < 100; ++i) {
        const Tensor y = step(next);
        const Tensor expected = twin(next);
        REQUIRE(close(y, expected));
        next = expected.argmax({-1});
      }
      CHECK(net->calls == 0);
      CHECK(net->position.item<int>() == 104);
      CHECK(close(net->b.keys, twin.b.keys));
    };
    generate();
    net->position.zero_();  // Another text.
    twin.position.zero_();
    generate();
    CHECK(step.programs() == 1);
    net->position.zero_();
    net->a.keys.fill_(0);
    net->a.keys = zeros({batch, heads, longest, width / heads});  // Other memory.
    step(zeros({batch, 1}, DType::i64));
    CHECK(step.programs() == 2);
  }
}

TEST_CASE("states: running statistics, counters and assigned buffers, for every batch") {
  const NoGrad no_grad;
  manual_seed(6);
  const auto function = [](WithBuffers& own, const Tensor& x) {
    own.a.mul_(0.9).add_(x.mean(0) * 0.1);
    own.b = own.b + 1;
    return x - own.a + own.b;
  };
  check_runs(randn({3}), zeros({1}), function, {5, 3});
  WithBuffers eager(ones({3}), zeros({1}), function), net(ones({3}), zeros({1}), function);
  net.eval();
  Compiled fast = compile(net, zeros({1, 3}));
  for (const std::int64_t batch : {4, 2, 4, 1}) {
    const Tensor x = randn({batch, 3});
    CHECK(close(fast(x), eager(x)));
    CHECK(close(net.a, eager.a));
  }
  CHECK(fast.programs() == 3);
  CHECK(net.b.item<int>() == 4);
}

TEST_CASE("states: running statistics of norms") {
  const NoGrad no_grad;
  manual_seed(7);
  const Tensor weight = randn({4}), bias = randn({4});
  check_runs(zeros({4}), ones({4}),
             [&](WithBuffers& own, const Tensor& x) {
               return batch_norm2d(x, weight, bias, own.a, own.b, {.training = true, .momentum = 0.3});
             },
             {3, 4, 5});
  check_runs(zeros({4}), ones({4}),
             [&](WithBuffers& own, const Tensor& x) {
               return instance_norm(x, weight, bias, own.a, own.b, {.training = true, .momentum = 0.3});
             },
             {3, 4, 5});
}

TEST_CASE("states: values from before a write stay, and states may exchange their elements") {
  const NoGrad no_grad;
  manual_seed(7);
  const Tensor a = randn({4, 3}), b = randn({4, 3}), at = from_vector<std::int64_t>({-1, 0});
  check_runs(a, b,
             [](WithBuffers& own, const Tensor& x) {
               const Tensor before = own.a.clone();
               own.a.copy_from(own.b);
               own.b.copy_from(before);
               own.b.mul_(0.5);
               return before + x;
             },
             {4, 3});
  check_runs(a, b,
             [](WithBuffers& own, const Tensor& x) {
               const Tensor before = own.a.clone();
               own.a.fill_(2);
               own.a.add_(x);
               return before;
             },
             {4, 3});
  check_runs(a, b,
             [](WithBuffers& own, const Tensor& x) {
               own.a.copy_from(x.mean(0));
               own.b.copy_from(own.a);
               return own.a.clone();
             },
             {4, 3});
  // Slices replace others, and are added: in place, with the old elements read too, and several times.
  check_runs(a, b,
             [&](WithBuffers& own, const Tensor& x) {
               own.a.index_put_({at}, x.narrow(0, 1, 2));
               own.a.index_put_({at}, x.narrow(0, 0, 2), true);
               const Tensor before = own.b * 2;
               own.b.index_put_({Tensor(), at}, x.narrow(1, 0, 2));
               return own.a + own.b + before;
             },
             {4, 3});
  check_runs(a, b,
             [&](WithBuffers& own, const Tensor& x) {
               const Tensor before = own.a.transpose(0, 1);
               const Tensor sums = before.sum(0);
               own.a[{at, Ellipsis}] = own.a.narrow(0, 1, 2) + x.narrow(0, 0, 2);
               own.b.index_put_({own.b.gt(0.5)}, 0.0);
               return sums + own.a.sum(1);
             },
             {4, 3});
}

TEST_CASE("states: slices are written") {
  const NoGrad no_grad;
  const Tensor a = randn({2, 3, 4}), b = randn({4});
  using Function = WithBuffers::Function;
  const std::vector<Function> functions{
      [](WithBuffers& own, const Tensor& x) {
        own.a[0] = x[0];
        return own.a + 1;
      },
      [](WithBuffers& own, const Tensor& x) {
        own.a[{Ellipsis, Slice(1, 3)}] = x[{Ellipsis, Slice(0, 2)}] * 2;
        own.a[{Ellipsis, 3}] = 5.0;
        return x + own.a;
      },
      // Several axes, steps, missing and added axes; a view from before the write is read after it.
      [](WithBuffers& own, const Tensor& x) {
        const Tensor before = own.a[{1, Slice(1, {})}];
        own.a[{Slice(0, 2), Slice({}, {}, 2), Slice(1, 4, 2)}] = x[{Slice(), Slice(0, 2), Slice(0, 2)}];
        own.b[Slice({}, {}, -2)] = x[{0, 0, Slice(0, 2)}];
        own.a.unsqueeze(1)[{0, 0, 1}].add_(own.b);
        return before + own.a[{1, Slice(1, {})}] + own.b;
      },
      // All elements by a view of another shape.
      [](WithBuffers& own, const Tensor& x) {
        own.a.reshape({-1}).mul_(2.0);
        own.b[Slice(1, 1)] = 7.0;
        return own.a * x;
      },
      // A tensor that the function made.
      [](WithBuffers& own, const Tensor& x) {
        Tensor y = zeros({x.size(0), 3, 5});
        y[{Ellipsis, Slice(0, 4)}] = x;
        y[{Ellipsis, 4}] = own.b[0];
        Tensor scores = x * 2;
        scores[{Slice(), 1}] = 0.0;
        return y[{Ellipsis, Slice(1, 5)}] + scores;
      }};
  for (std::size_t i = 0; i < functions.size(); ++i) {
    CAPTURE(i);
    check_runs(a, b, functions[i], {2, 3, 4});
  }
}

TEST_CASE("trace: what a function writes to its own tensors is stored") {
  const NoGrad no_grad;
  const TemporaryFolder folder;
  WithBuffers net(randn({3, 4}), ones({1}), [](WithBuffers& own, const Tensor& x) {
    Tensor y = zeros_like(x);
    y[{Ellipsis, Slice(0, 2)}] = x[{Ellipsis, Slice(2, 4)}] * 3;
    y[{Ellipsis, 3}] = own.a[{0, 1}];
    return y + 1;
  });
  const Tensor x = randn({5, 3, 4});
  onnx::save(folder.path() + "/x.onnx", net, {x});
  onnx::Model model = onnx::load(folder.path() + "/x.onnx");
  CHECK(close(model.forward(x), net(x)));
}

TEST_CASE("states: what no program updates") {
  const NoGrad no_grad;
  const Tensor outside = zeros({3});
  const auto refused = [](const WithBuffers::Function& function) {
    const WithBuffers net(zeros({3}), ones({1}, DType::i64), function);
    const doctest::String text = refusal(ErrorCode::invalid_argument, [&] { compile(net, zeros({2, 3})); });
    CHECK(net.a.sum().item() == 0);
    CHECK(net.b.item<int>() == 1);
    return text;
  };
  CHECK(refused([](WithBuffers& own, const Tensor& x) {
          const auto i = own.b.item<std::int64_t>();
          own.b.add_(1);
          return x + static_cast<double>(i);
        }) == Contains("add_ writes to b, whose elements the function reads on the host"));
  CHECK(refused([](WithBuffers& own, const Tensor& x) {
          own.b.add_(1);
          return x + static_cast<double>(own.b.item<std::int64_t>());
        }) == Contains("reads the elements of a tensor of shape (1) on the host"));
  CHECK(refused([&](WithBuffers&, const Tensor& x) {
          const Tensor y = x + outside;
          Tensor(outside).add_(1);
          return y;
        }) == Contains("writes to it later"));
  // A file has no state.
  const TemporaryFolder folder;
  WithBuffers net(zeros({3}), zeros({1}), [](WithBuffers& own, const Tensor& x) {
    own.b.add_(1);
    return x * own.b;
  });
  CHECK(refusal(ErrorCode::invalid_argument, [&] {
          onnx::save(folder.path() + "/x.onnx", net, {zeros({2, 3})});
        }) == Contains("the function reads b and writes to it later"));
}
