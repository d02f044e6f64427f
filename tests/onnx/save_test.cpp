// onnx::save: a written model gives the same results in crisol and in ONNX Runtime, and a model that cannot be written
// is refused.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "crisol/crisol.h"
#include "crisol/ops.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;
using doctest::Contains;

namespace {

using Tensors = std::vector<Tensor>;

/// The worst difference, relative to the largest element.
double worst_difference(const Tensor& actual, const Tensor& expected) {
  const double largest = expected.numel() == 0 ? 0 : expected.abs().max().item<double>();
  if (actual.shape() != expected.shape()) return INFINITY;
  if (expected.numel() == 0) return 0;
  return (actual - expected).abs().max().item<double>() / std::max(largest, 1e-6);
}

/// Files for tests/onnx/programs/check_saved.py: NAME.onnx, and inputs and outputs in NAME.safetensors.
class Written {
 public:
  const std::string& path() const { return folder_.path(); }

  /// Writes a function of tensors with examples of batch 2, and its results for the other inputs.
  void add(const std::string& name, const onnx::Function& function, const Tensors& examples, const Tensors& inputs,
           const NamedTensors& state = {}, const onnx::SaveOptions& options = {}) {
    INFO(name);
    const NoGrad no_grad;
    REQUIRE_NOTHROW(onnx::save(file(name), function, examples, state, options));
    NamedTensors values;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      values.emplace_back(inputs.size() == 1 ? "input" : "input_" + std::to_string(i), inputs[i]);
    const Tensors outputs = function(inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      values.emplace_back(outputs.size() == 1 ? "output" : "output_" + std::to_string(i), outputs[i]);
    io::save_safetensors(path() + "/" + name + ".safetensors", values);
  }
  void add(const std::string& name, nn::Module& module, const Tensor& example, const Tensor& input) {
    module.eval();
    {
      const NoGrad no_grad;  // Otherwise the results would tell little about the layers.
      INFO(name);
      CHECK(worst_difference(module(input), module(input * 0)) > 0.05);
    }
    add(
        name, [&](const Tensors& in) { return Tensors{module(in[0])}; }, {example}, {input}, module.state_dict());
  }
  std::string file(const std::string& name) const { return path() + "/" + name + ".onnx"; }

  /// Loads a file again and compares.
  void check(const std::string& name, double tolerance = 1e-5) const {
    INFO(name);
    const onnx::Model model = onnx::load(file(name));
    NamedTensors inputs;
    const NamedTensors values = io::load_safetensors(path() + "/" + name + ".safetensors");
    for (const auto& [key, tensor] : values)
      if (key.rfind("input", 0) == 0) inputs.emplace_back(key, tensor);
    const NoGrad no_grad;
    const onnx::Outputs outputs = model(inputs);
    for (const auto& [key, tensor] : values)
      if (key.rfind("output", 0) == 0) CHECK(worst_difference(outputs[key], tensor) <= tolerance);
  }

 private:
  TemporaryFolder folder_;
};

/// Runs ONNX's checker and ONNX Runtime on all files of a folder.
void check_in_onnx_runtime(const Written& written) {
  std::string python = CRISOL_BINARY_DIR "/onnx/bin/python";
  if (!std::filesystem::exists(python)) python = "/usr/bin/python3";
  if (run_program("/usr/bin/env", {python, "-c", "import numpy, onnx, onnxruntime"}).status != 0)
    CRISOL_SKIP("the Python packages onnx and onnxruntime are missing; tests/onnx/run.sh installs them");
  const ProcessResult result =
      run_program("/usr/bin/env", {python, CRISOL_SOURCE_DIR "/tests/onnx/programs/check_saved.py", written.path()});
  INFO(result.output);
  CHECK(result.status == 0);
}

onnx::Function of_one(Tensor (*f)(const Tensor&)) {
  return [f](const Tensors& in) { return Tensors{f(in[0])}; };
}

/// Gives the norms the statistics of x. With the initial ones, values shrink from layer to layer until the result of a
/// deep network no longer depends on its input.
template <class Net>
void take_statistics(Net& net, const Tensor& x) {
  const NoGrad no_grad;
  NamedTensors statistics;
  for (const auto& [name, buffer] : net.named_buffers())
    if (name.find("running_") != std::string::npos) statistics.emplace_back(name, buffer);
  for (auto& [name, buffer] : statistics) buffer.fill_(0);
  net.train();
  net(x);
  for (auto& [name, buffer] : statistics) buffer.mul_(10);  // The momentum is 0.1.
}

}  // namespace

TEST_CASE("onnx::save: networks run in ONNX Runtime with another batch") {
  NEEDS_POSIX("Python");
  manual_seed(1);
  Written written;
  nn::SimpleCNN cnn;
  written.add("simple_cnn", cnn, randn({2, 1, 28, 28}), randn({5, 1, 28, 28}));
  written.check("simple_cnn");
  nn::ResNet resnet = nn::resnet18(10);
  take_statistics(resnet, randn({4, 3, 64, 64}));
  written.add("resnet18", resnet, randn({2, 3, 64, 64}), randn({1, 3, 64, 64}));
  written.check("resnet18", 1e-4);
  nn::Sequential volumes(nn::Conv3d(2, 4, 3, {.stride = {1, 2, 1}, .padding = 1}), nn::BatchNorm3d(4), nn::ReLU(),
                         nn::MaxPool3d(3, {.stride = 2, .padding = {1, 0, 1}}),
                         nn::Conv3d(4, 6, {3, 1, 1}, {.groups = 2}),
                         nn::AvgPool3d({1, 2, 2}, {.stride = 1, .padding = {0, 1, 1}, .count_include_pad = false}),
                         nn::AdaptiveAvgPool3d({1, 2, 1}), nn::Flatten());
  take_statistics(volumes, randn({2, 2, 6, 9, 8}));
  written.add("volumes", volumes, randn({2, 2, 6, 9, 8}), randn({3, 2, 6, 9, 8}));
  written.check("volumes");
  nn::Sequential sequences(nn::Conv1d(3, 8, 3, {.stride = 2, .padding = 1}), nn::GroupNorm(2, 8), nn::ReLU(),
                           nn::ConvTranspose1d(8, 4, 4, {.stride = 2, .padding = 1}),
                           nn::InstanceNorm1d(4, {.affine = true}), nn::Flatten());
  written.add("sequences", sequences, randn({2, 3, 20}), randn({3, 3, 20}));
  written.check("sequences");
  nn::Sequential ups(nn::ConvTranspose2d(2, 4, {3, 2}, {.stride = 2, .output_padding = {0, 1}, .groups = 2}),
                     nn::InstanceNorm2d(4), nn::Flatten());
  written.add("ups", ups, randn({2, 2, 5, 4}), randn({3, 2, 5, 4}));
  written.check("ups");
  nn::MobileNetV2 mobile(10);
  take_statistics(mobile, randn({4, 3, 64, 64}));
  written.add("mobilenet_v2", mobile, randn({1, 3, 64, 64}), randn({3, 3, 64, 64}));
  written.check("mobilenet_v2", 1e-4);
  nn::RowLSTM rows;
  written.add("row_lstm", rows, randn({2, 1, 28, 28}), randn({5, 1, 28, 28}));
  check_in_onnx_runtime(written);
}

TEST_CASE("onnx::save: AlexNet and VGG-16" * doctest::test_suite("long")) {
  NEEDS_POSIX("Python");
  if (slow_launches()) CRISOL_SKIP("networks of this size are too slow and too large here");
  manual_seed(2);
  Written written;
  nn::AlexNet alexnet(10);
  written.add("alexnet", alexnet, randn({1, 3, 224, 224}), randn({2, 3, 224, 224}));
  nn::VGG vgg = nn::vgg16(10);
  // The pictures of 2 × 2 before the adaptive pool become 7 × 7.
  written.add("vgg16", vgg, randn({1, 3, 64, 64}), randn({2, 3, 64, 64}));
  written.check("vgg16");
  check_in_onnx_runtime(written);
}

TEST_CASE("onnx::save: recurrent layers") {
  NEEDS_POSIX("Python");
  manual_seed(3);
  Written written;
  // As samples/text_lstm has it: characters (steps, batch), logits of all of them.
  nn::Embedding embedding(11, 6);
  nn::LSTM lstm(6, 8, {.num_layers = 2});
  nn::Linear decoder(8, 11);
  NamedTensors state;
  for (const auto& [prefix, module] :
       {std::pair<std::string, nn::Module*>{"embedding.", &embedding}, {"lstm.", &lstm}, {"decoder.", &decoder}})
    for (const auto& [name, tensor] : module->state_dict()) state.emplace_back(prefix + name, tensor);
  const auto text = [&](const Tensors& in) {
    const nn::LSTMOutput out = lstm(embedding(in[0]), nn::LSTMState());
    return Tensors{decoder(out.output.flatten(0, 1)), out.state.h, out.state.c};
  };
  const auto characters = [](const Shape& shape) { return (rand(shape) * 11).to(DType::i64); };
  written.add("text_lstm", text, {characters({7, 2})}, {characters({7, 5})}, state, {.batch_axis = 1});
  written.add("text_lstm_steps", text, {characters({7, 2})}, {characters({4, 2})}, state, {.batch_axis = 0});

  nn::GRU gru(4, 5, {.batch_first = true, .bidirectional = true});
  written.add(
      "gru",
      [&](const Tensors& in) {
        const nn::RNNOutput out = gru(in[0], in[1].transpose(0, 1));
        return Tensors{out.output, out.h_n.transpose(0, 1)};
      },
      {randn({2, 6, 4}), randn({2, 2, 5})}, {randn({3, 6, 4}), randn({3, 2, 5})}, gru.state_dict());
  nn::RNN rnn(4, 5, {.nonlinearity = nn::Nonlinearity::relu});
  written.add(
      "rnn", [&](const Tensors& in) { return Tensors{rnn(in[0].transpose(0, 1), Tensor()).output.transpose(0, 1)}; },
      {randn({2, 6, 4})}, {randn({3, 6, 4})}, rnn.state_dict());
  check_in_onnx_runtime(written);
}

TEST_CASE("onnx::save: functions one by one") {
  NEEDS_POSIX("Python");
  manual_seed(4);
  Written written;
  std::vector<std::string> names;
  const auto add = [&](const char* name, Tensor (*f)(const Tensor&)) {
    const Tensor example = rand({2, 3, 4, 6}) + 0.25, input = rand({5, 3, 4, 6}) + 0.25;
    written.add(name, of_one(f), {example}, {input});
    names.emplace_back(name);
  };
  add("arithmetic", [](const Tensor& x) { return (x * 2 - 1) / (x + 3) + pow(x, 2.5) - square(x) + rsqrt(x); });
  add("rounding",
      [](const Tensor& x) { return floor(x * 3) + ceil(x) + round(x) + trunc(neg(x * 2)) + remainder(x, 0.4); });
  add("logs", [](const Tensor& x) { return log(x) + log2(x) + log10(x) + exp2(x) + erf(x) + sqrt(x); });
  add("trigonometry",
      [](const Tensor& x) { return sin(x) + cos(x) + tan(x) + atan(x) + tanh(x) + sinh(x) + asinh(x); });
  add("activations", [](const Tensor& x) {
    const Tensor y = (x - 0.7) * 4;
    return relu(y) + leaky_relu(y, 0.2) + elu(y) + selu(y) + celu(y, 1.5);
  });
  add("gates", [](const Tensor& x) {
    const Tensor y = (x - 0.7) * 4;
    return cat({silu(y) + hard_swish(y), hard_sigmoid(y) + log_sigmoid(y)}, 1);
  });
  add("bounds", [](const Tensor& x) {
    const Tensor y = (x - 0.7) * 4;
    return cat({relu6(y) + hard_tanh(y), clamp(y, -0.5, 0.5), softplus(y, 2)}, 1);
  });
  add("newer_activations", [](const Tensor& x) { return gelu(x - 0.7) + gelu_tanh(x - 0.7) + mish(x - 0.7); });
  add("choices", [](const Tensor& x) {
    const Tensor y = where(logical_and(x.gt(0.5), logical_not(x.ge(1))), x, x * -1);
    return maximum(minimum(masked_fill(y, x.lt(0.3), 9.0), 2), -0.75);
  });
  add("views", [](const Tensor& x) {
    const Tensor y = x.transpose(1, 3).reshape({x.size(0), 2, 3, 12}).permute({0, 3, 1, 2});
    return y.narrow(1, 2, 7).unsqueeze(2).expand({x.size(0), 7, 2, 2, 3}).flatten(2);
  });
  add("indexing", [](const Tensor& x) {
    const Tensor y = x[{Ellipsis, Slice(1, 6, 2)}];
    return cat({y[{Slice(), 1}], y[{Slice(), -1, NewAxis}].squeeze(1), flip(y, {2})[{Slice(), 0}]}, 1);
  });
  add("parts", [](const Tensor& x) {
    const Tensors pieces = x.split(2, 3);
    return stack({pieces[0] + pieces[1], pieces[2]}, 1);
  });
  add("padding", [](const Tensor& x) { return pad(pad(x, {{1, 2}, {0, 1}}, 0.5), {{-1, 0}}, 0); });
  add("whole_batch", [](const Tensor& x) { return x - x.mean(0, true) + x.sum() + zeros({x.size(0), 1, 1, 1}); });
  add("reductions", [](const Tensor& x) {
    return cat(
        {x.sum({1, 2}, true) * x.max(-1, true) + x.min(3, true) - x.prod(3, true),
         x + x.logsumexp(3, true) + x.var({3}, true) - x.stddev({2, 3}, true, 0), x.norm(2, 1, true) + x.cumsum(1)},
        1);
  });
  add("places", [](const Tensor& x) {
    return (x.argmax(1) + x.argmin(1)).to(DType::f32) + x.topk(2, 3).values.sum({1, 3}).unsqueeze(-1);
  });
  add("truth", [](const Tensor& x) { return logical_or(x.gt(1.2).any(3), x.gt(0.3).all(3)).to(DType::f32); });
  add("small_numbers", [](const Tensor& x) {
    const Tensor y = (x - 0.7) * 1e-3;
    return cat({log1p(y) + expm1(y) * 0.5, (log1p(x * 5) + expm1(x * 3 - 2)) * 1e-3}, 1);
  });
  add("angles", [](const Tensor& x) {
    const Tensor y = (x - 0.7) * relu(x - 0.4);
    return cat({atan2(y, x - 0.6), atan2(x * 0, x - 0.7), hypot(y, x - 0.6), logaddexp(y * 9, x)}, 1);
  });
  add("quotients", [](const Tensor& x) {
    const Tensor whole = (x * 9 - 5).to(DType::i64);
    return cat({floor_divide(x - 0.7, 0.3), floor_divide(whole, 2).to(DType::f32)}, 1);
  });
  add("bits", [](const Tensor& x) {
    const Tensor whole = (x * 9 - 5).to(DType::i32), mask = whole.gt(0);
    return bitwise_or(bitwise_and(whole, 3), bitwise_xor(bitwise_not(whole), 5)) + trunc_divide(whole, 2) +
           mask.to(DType::i32);
  });
  add("picked", [](const Tensor& x) {
    const Tensor i = from_vector(std::vector<std::int64_t>{0, -1, 2}),
                 j = from_vector(std::vector<std::int64_t>{3, 1, -2});
    return index_get(x, {Tensor(), i, j}) + index_get(x, {Tensor(), i, Tensor(), j}).transpose(0, 1).sum(2, true);
  });
  add("in_place", [](const Tensor& x) {
    Tensor y = x * 2;
    y += x.mean(1, true);
    y.mul_(x).sub_(0.5).relu_();
    return y.clamp_(0.25, 1.5).flatten(1);
  });
  add("scattered", [](const Tensor& x) {
    const Tensor places = from_vector(std::vector<std::int64_t>{2, 0, 2}), slices = x.narrow(2, 0, 3) * 2;
    const Tensor at = places.reshape({1, 1, 3, 1}).expand({x.size(0), 3, 3, 6});
    Tensor y = index_add(x, 2, places, slices) + scatter_add(x, 2, at, x + 1) + scatter(x, 2, flip(at, {2}), x * 0);
    for (const auto reduction : {ScatterReduction::prod, ScatterReduction::amax, ScatterReduction::amin})
      y = y + scatter_reduce(x, 2, at, slices, reduction);
    return y + argsort(x, 1).to(DType::f32) - argsort(x, 3, true).to(DType::f32);
  });
  add("softmaxes", [](const Tensor& x) { return softmax(x, 1) + log_softmax(x, -1); });
  add("pools", [](const Tensor& x) {
    return cat({max_pool2d(x, {.kernel = 3, .stride = 2, .padding = 1}).flatten(1),
                avg_pool2d(x, {.kernel = {2, 3}, .padding = {1, 1}}).flatten(1),
                avg_pool2d(x, {.kernel = 3, .stride = 1, .padding = 1, .count_include_pad = false}).flatten(1),
                avg_pool2d(x, {.kernel = {2, 3}, .padding = 1, .divisor = 5}).flatten(1),
                max_pool2d(x, {.kernel = 2, .stride = 3, .ceil_mode = true}).flatten(1),
                avg_pool2d(x, {.kernel = 2, .stride = 3, .ceil_mode = true, .count_include_pad = false}).flatten(1),
                avg_pool2d(x, {.kernel = 2, .stride = {3, 2}, .ceil_mode = true}).flatten(1),
                adaptive_avg_pool2d(x, {3, 4}).flatten(1), adaptive_avg_pool2d(x, 1).flatten(1)},
               1);
  });
  add("batch_statistics", [](const Tensor& x) {
    return batch_norm2d(x, arange(1, 4), arange(0, 3), Tensor(), Tensor(), {.training = true});
  });
  add("places", [](const Tensor& x) { return (argmax(x, {3, 1}) + argmin(x, {1, 2, 3}, true)).to(DType::f32); });
  add("products",
      [](const Tensor& x) { return matmul(x, x.transpose(2, 3)) + x.matmul(arange(0, 6) * 0.1).unsqueeze(-1); });
  add("attention", [](const Tensor& x) {
    const Tensor y = scaled_dot_product_attention(x, x * 0.5, x, x[0][0].narrow(1, 0, 4), {.is_causal = true});
    return y + scaled_dot_product_attention(x, x, x, ones({4, 4}).tril().ne(0), {.scale = 0.3});
  });
  add("fused", [](const Tensor& x) {
    static const auto f = fuse([](const Expr& a, const Expr& b) { return sum(relu(a - 0.5) * b + exp(b)); });
    static const auto gate = fuse([](const Expr& a, const Expr& b) { return where(a.gt(b), tanh(a), b * 2); });
    return gate(x, x.mean(1, true)) + f(x, x);
  });
  add("constants", [](const Tensor& x) {
    return x * from_vector(std::vector<float>{1, 2, 3, 4, 5, 6}, {6}) + eye(4, 6) + tril(x, -1);
  });
  for (const std::string& name : names) written.check(name);
  check_in_onnx_runtime(written);
}

TEST_CASE("onnx::save: resized and sampled images") {
  NEEDS_POSIX("Python");
  manual_seed(6);
  Written written;
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, const Shape& shape, const onnx::Function& function) {
    Shape batch = shape;
    batch.insert(0, 5);
    Shape example = shape;
    example.insert(0, 2);
    written.add(name, function, {randn(example)}, {randn(batch)});
    names.push_back(name);
  };
  const auto resize = [&](const std::string& name, const Shape& shape, const InterpolateOptions& options) {
    add(name, shape, [=](const Tensors& in) { return Tensors{interpolate(in[0], options)}; });
  };
  using Mode = InterpolateMode;
  const std::pair<const char*, Mode> modes[] = {
      {"nearest", Mode::nearest}, {"exact", Mode::nearest_exact}, {"linear", Mode::linear}, {"cubic", Mode::cubic}};
  for (const auto& [name, mode] : modes) {
    const std::string of_mode = name;
    resize(of_mode + "_twice", {2, 5, 4}, {.scale_factor = {2}, .mode = mode});
    resize(of_mode + "_factors", {2, 10, 7}, {.scale_factor = {0.7, 1.6}, .mode = mode});
    resize(of_mode + "_size", {2, 5, 4}, {.size = {3, 9}, .mode = mode});
    resize(of_mode + "_row", {3, 7}, {.size = {11}, .mode = mode});
    resize(of_mode + "_volume", {1, 3, 4, 5}, {.size = {2, 6, 7}, .mode = mode});
    if (mode == Mode::nearest || mode == Mode::nearest_exact) continue;
    resize(of_mode + "_aligned", {2, 5, 4}, {.size = {3, 9}, .mode = mode, .align_corners = true});
    resize(of_mode + "_aligned_factor", {2, 5, 4}, {.scale_factor = {1.5}, .mode = mode, .align_corners = true});
    resize(of_mode + "_antialias", {2, 9, 12}, {.size = {4, 5}, .mode = mode, .antialias = true});
  }
  add("labels", {3, 4}, [](const Tensors& in) {
    const Tensor labels = (in[0] * 4).to(DType::i64).unsqueeze(1);
    return Tensors{interpolate(labels, {.scale_factor = {3, 2}}), interpolate(labels.to(DType::u8), {.size = {5, 6}})};
  });
  for (const auto mode : {GridSampleMode::bilinear, GridSampleMode::nearest, GridSampleMode::bicubic})
    for (const auto padding : {GridSamplePadding::zeros, GridSamplePadding::border, GridSamplePadding::reflection})
      add("sample_" + std::to_string(static_cast<int>(mode)) + std::to_string(static_cast<int>(padding)), {2, 5, 4},
          [=](const Tensors& in) {
            const Tensor grid = tanh(in[0].narrow(1, 0, 2).permute({0, 2, 3, 1})) * 1.2;
            return Tensors{grid_sample(in[0], grid, {mode, padding, mode == GridSampleMode::nearest})};
          });
  add("warp", {2, 5, 4}, [](const Tensors& in) {
    const Tensor theta = in[0].flatten(1).narrow(1, 0, 6).reshape({-1, 2, 3}) * 0.3;
    return Tensors{grid_sample(in[0], affine_grid(theta, in[0].shape()))};
  });
  for (const std::string& name : names) written.check(name);
  check_in_onnx_runtime(written);
}

TEST_CASE("onnx::save: results without a tensor are left out") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/net.onnx";
  onnx::save(path,
             [](const Tensors& in) {
               return Tensors{in[0] * 2, Tensor(), in[0] + 1};
             },
             {ones({2, 3})}, {}, {.outputs = {"twice", "more"}});
  const onnx::Model model = onnx::load(path);
  CHECK(worst_difference(model({{"input", ones({4, 3})}})["more"], full({4, 3}, 2)) == 0);
}

TEST_CASE("onnx::save: several inputs, integers, norms and tied weights") {
  NEEDS_POSIX("Python");
  manual_seed(5);
  Written written;
  nn::LayerNorm norm(Shape{4});
  nn::Embedding embedding(9, 4);
  NamedTensors state = norm.state_dict();
  state.emplace_back("table", embedding.weight);
  written.add(
      "two_inputs",
      [&](const Tensors& in) {
        const Tensor x = norm(embedding(in[0]) + in[1].unsqueeze(1));
        // The table is used twice, and is in the file once.
        return Tensors{linear(x, embedding.weight), one_hot(in[0], 9).to(DType::i32), in[0] * 3 + 1, in[1]};
      },
      {from_vector(std::vector<std::int64_t>{1, 2, 3, 4, 5, 6}, {2, 3}), randn({2, 4})},
      {from_vector(std::vector<std::int64_t>{8, 0, 7}, {1, 3}), randn({1, 4})}, state);
  written.check("two_inputs");
  const onnx::ModelInfo info = onnx::read_info(written.file("two_inputs"));
  CHECK(info.parameters == 4 + 4 + 36);
  CHECK(info.inputs[0].shape[0].name == "batch");
  CHECK(info.inputs[0].shape[1].size == 3);
  CHECK(info.outputs[0].shape[0].name == "batch");
  CHECK(info.operator_sets[0].version == 17);
  check_in_onnx_runtime(written);
}

TEST_CASE("onnx::save: names, modes, external data, and a model that was loaded") {
  manual_seed(6);
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/net.onnx";
  nn::Sequential net(nn::Conv2d(1, 4, 3, {.bias = false}), nn::BatchNorm2d(4), nn::ReLU(), nn::Dropout(0.5),
                     nn::Flatten(), nn::Linear(4 * 36, 3));
  net.module("3").eval();
  const Tensor x = randn({3, 1, 8, 8});
  onnx::save(path, net, {randn({1, 1, 8, 8})},
             {.inputs = {"images"}, .outputs = {"logits"}, .batch = "N", .max_bytes = 1000});
  CHECK(net.training());
  CHECK(net.module("1").training());
  CHECK(!net.module("3").training());
  REQUIRE(std::filesystem::file_size(path + ".data") >= 4 * 36 * 3 * 4);
  net.eval();
  const NoGrad no_grad;
  onnx::Model model = onnx::load(path);
  CHECK(model.inputs()[0].shape[0].name == "N");
  CHECK(worst_difference(model({{"images", x}})["logits"], net(x)) < 1e-5);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : model.state_dict()) names.push_back(name);
  for (const char* name : {"0.weight", "1.running_mean", "5.bias"})
    CHECK(std::find(names.begin(), names.end(), name) != names.end());

  const std::string again = folder.path() + "/again.onnx";
  onnx::save(again, model, {randn({2, 1, 8, 8})});
  CHECK(!std::filesystem::exists(again + ".data"));
  CHECK(worst_difference(onnx::load(again)(x), net(x)) < 1e-5);
}

TEST_CASE("onnx::save: refuses what a file cannot express") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/net.onnx";
  const auto refused = [&](const onnx::Function& f, const NamedTensors& state = {},
                           const onnx::SaveOptions& options = {}) {
    const doctest::String text = refusal(ErrorCode::invalid_argument, [&] {
      onnx::save(path, f, {ones({2, 3})}, state, options);
    });
    CHECK(!std::filesystem::exists(path));
    return text;
  };
  const auto one = [](auto f) { return [f](const Tensors& in) { return Tensors{f(in[0])}; }; };
  CHECK(refused(one([](const Tensor& x) { return lgamma(x); })) == Contains("comes from lgamma"));
  CHECK(refused(one([](const Tensor& x) { return cross_entropy(x, zeros({x.size(0)}, DType::i64)); })) ==
        Contains("comes from cross_entropy"));
  CHECK(refused(one([](const Tensor& x) { return cumprod(x, 1); })) == Contains("comes from cumprod"));
  const auto pooled = [&](IntPair stride, int divisor) {
    return refused(one([=](const Tensor& x) {
      const Tensor images = x.unsqueeze(1).unsqueeze(2).expand({x.size(0), 1, 5, 3});
      return avg_pool2d(images,
                        {.kernel = 2, .stride = stride, .padding = {1, 0}, .ceil_mode = true, .divisor = divisor});
    }));
  };
  CHECK(pooled({1, 2}, 3) == Contains("avg_pool2d with ceil_mode and divisor 3 has no form in ONNX"));
  CHECK(pooled({3, 2}, 0) ==
        Contains("avg_pool2d's ceil_mode gives an image of (2, 2) here, which ONNX computes as (3, 2)"));
  CHECK(refused(one([](const Tensor& x) { return dropout(x, 0.5, true); })) == Contains("comes from dropout"));
  CHECK(refused(one([](const Tensor& x) { return ops::relu(x); })) == Contains("comes from"));
  CHECK(refused(one([](const Tensor& x) { return ops::permute(x, {1, 0}); })) == Contains("a view that no"));
  CHECK(refused(one([](const Tensor& x) { return x * x.sum().item<float>(); })) == Contains("on the host"));
  CHECK(refused(one([](const Tensor& x) {
          Tensor y = x + 1;
          y.transpose(0, 1).mul_(2);
          return y;
        })) == Contains("was written to"));
  CHECK(refused(one([](const Tensor& x) {
          Tensor y = x;
          y += 1;
          return y * 2;
        })) == Contains("was written to"));
  CHECK(refused(one([](const Tensor& x) { return x * static_cast<double>(x.size(0)); })) ==
        Contains("depends on the size of the batch"));
  CHECK(refused(one([](const Tensor& x) { return x.narrow(0, x.size(0) - 1, 1); })) == Contains("neither fixed nor"));
  CHECK(refused(one([](const Tensor& x) { return x.size(0) == 2 ? x : relu(x); })) ==
        Contains("depends on the size of the batch"));
  // Tensors from before that the function changes are no constants.
  const Tensor mean = zeros({3}), count = zeros({1});
  CHECK(refused(one([&](const Tensor& x) {
          Tensor(mean).copy_from(x.mean(0));
          return x - mean;
        })) == Contains("comes from copy_from"));
  CHECK(refused(one([&](const Tensor& x) {
          const Tensor y = x + count;
          Tensor(count).add_(1);
          return y;
        })) == Contains("writes to it later"));
  CHECK(refused([](const Tensors&) { return Tensors{Tensor()}; }) == Contains("the function gives no tensor"));
  const auto same = one([](const Tensor& x) { return relu(x); });
  CHECK(refused(same, {}, {.outputs = {"input"}}) == Contains("two values of the graph have the name \"input\""));
  CHECK(refused(same, {}, {.inputs = {"a", "b"}}) == Contains("2 names for 1 inputs"));
  CHECK(refused(same, {}, {.batch_axis = 2}) == Contains("no axis 2 for the batch"));
}
