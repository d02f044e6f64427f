// The cost of a launch and of a copy.
#include "cli/bench/groups.h"
#include "crisol/functions/conv.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/rnn.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/profile.h"
#include "crisol/random.h"

namespace crisol::cli::bench {

namespace {

// ---- Calls so small that the host's time is most of theirs

using Run = std::function<void()>;

Run add() {
  const Tensor a = ones({16}), b = ones({16});
  return [=] { ops::add(a, b); };
}

Run product() {
  const Tensor x = ones({16, 32}), weight = ones({32, 32}), bias = ones({32});
  return [=] { linear(x, weight, bias); };
}

/// A layer of 4 channels; `train`: with its gradients.
Run convolution(bool train) {
  const Tensor x = ones({1, 4, 8, 8}), dy = ones({1, 4, 8, 8});
  Tensor weight = ones({4, 4, 3, 3}), bias = ones({4});
  weight.requires_grad_(train);
  bias.requires_grad_(train);
  return [=] {
    const Tensor y = conv2d(x, weight, bias, {.padding = 1});
    if (train) y.backward(dy);
  };
}

/// A layer of 16 units over 4 steps; `train`: with its gradients.
Run recurrence(RnnCell cell, bool train) {
  constexpr std::int64_t steps = 4, batch = 2, inputs = 8, units = 16;
  const std::int64_t rows = gates_of(cell) * units;
  const Tensor x = ones({steps, batch, inputs}), dy = ones({steps, batch, units});
  RnnWeights weights{ones({rows, inputs}), ones({rows, units}), ones({rows}), ones({rows}), {}};
  for (Tensor* const weight : {&weights.weight_ih, &weights.weight_hh, &weights.bias_ih, &weights.bias_hh})
    weight->requires_grad_(train);
  return [=] {
    const RnnOutput out = rnn({x, {}, {}, {}}, weights, {cell});
    if (train) out.y.backward(dy);
  };
}

struct Small {
  const char* name;
  Run (*make)();
};

const Small small_calls[] = {
    {"kernel", [] { return Run([] { launch_empty(); }); }},
    {"op", add},
    {"product", product},
    {"conv2d", [] { return convolution(false); }},
    {"conv2d_train", [] { return convolution(true); }},
    {"lstm", [] { return recurrence(RnnCell::lstm, false); }},
    {"lstm_train", [] { return recurrence(RnnCell::lstm, true); }},
    {"gru", [] { return recurrence(RnnCell::gru, false); }},
};

Work prepare_launch(const Values& v) {
  Work work;
  work.run = entry_of(small_calls, v.text("what")).make();
  return work;
}

// ---- Copies

Work prepare_copy(const Values& v) {
  const std::int64_t bytes = v.number("bytes");
  Tensor x = zeros({bytes}, DType::u8);
  const auto host = std::make_shared<std::vector<std::uint8_t>>(static_cast<std::size_t>(bytes));
  Work work;
  work.bytes = static_cast<double>(bytes);
  if (v.is("dir", "h2d")) {
    work.run = [=]() mutable { x.copy_from(*host); };
  } else if (v.is("dir", "d2h")) {
    work.run = [=] { x.read_bytes(host->data()); };
  } else {
    const Tensor y = zeros({bytes}, DType::u8);
    work.bytes *= 2;
    work.run = [=] { ops::copy_into(y, x); };
  }
  return work;
}

}  // namespace

const Case launch_case{"launch",
                       "the cost of a launch: with wait=0 of one among many queued, with wait=1 until it is done",
                       {{"what", "kernel", names_of(small_calls),
                         "an empty kernel, an eager sum of 16 elements, or a tiny layer; train: with its gradients"}},
                       prepare_launch};

const Case copy_case{"copy",
                     "copies between the host and the device; within the device both reading and writing count",
                     {{"bytes", "67108864", ">=1", ""}, {"dir", "d2d", "h2d|d2h|d2d", "h is the host, d the device"}},
                     prepare_copy};

}  // namespace crisol::cli::bench
