// silero-vad: a module that is written with nn gives the results of the ONNX model. The test takes the weights of the
// ONNX file, and then the weights of the safetensors file beside it.
#include <filesystem>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

struct Speech {
  Tensor probability, h, c;
};

/// A convolution over the last axis, with the weight (out, in, 1, kernel).
nn::Conv2d convolution(std::int64_t in, std::int64_t out, int kernel, int stride, int padding, bool bias = true) {
  return nn::Conv2d(in, out, {1, kernel}, {.stride = {1, stride}, .padding = {0, padding}, .bias = bias});
}

/// The probability of speech in 512 samples behind 64 earlier ones.
struct SileroVad : nn::Module {
  nn::Conv2d stft_conv = convolution(1, 258, 256, 128, 0, false);  ///< Real parts, then imaginary parts.
  nn::Conv2d conv1 = convolution(129, 128, 3, 1, 1);
  nn::Conv2d conv2 = convolution(128, 64, 3, 2, 1);
  nn::Conv2d conv3 = convolution(64, 64, 3, 2, 1);
  nn::Conv2d conv4 = convolution(64, 128, 3, 1, 1);
  nn::LSTMCell lstm_cell{128, 128};
  nn::Conv2d final_conv = convolution(128, 1, 1, 1, 0);

  SileroVad() {
    register_module("stft_conv", stft_conv);
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("conv3", conv3);
    register_module("conv4", conv4);
    register_module("lstm_cell", lstm_cell);
    register_module("final_conv", final_conv);
  }

  /// x: (N, 576).
  Speech operator()(const Tensor& x, const nn::LSTMState& state) {
    const Tensor mirrored = flip(x.narrow(1, x.size(1) - 65, 64), {1});
    const Tensor spectrum = stft_conv(cat({x, mirrored}, 1).unsqueeze(1).unsqueeze(1));
    Tensor y = sqrt(square(spectrum.narrow(1, 0, 129)) + square(spectrum.narrow(1, 129, 129)));
    for (nn::Conv2d* conv : {&conv1, &conv2, &conv3, &conv4}) y = relu((*conv)(y));
    const nn::LSTMState next = lstm_cell(y.flatten(1), state);
    const Tensor logits = final_conv(relu(next.h).unsqueeze(-1).unsqueeze(-1));
    return {sigmoid(logits).flatten(1), next.h, next.c};
  }
};

/// The beginnings of the names of the model's weights, and of the module's weights.
const std::vector<std::pair<std::string, std::string>> parts{{"model.stft.forward_basis_buffer", "stft_conv.weight"},
                                                             {"model.encoder.0.reparam_conv", "conv1"},
                                                             {"model.encoder.1.reparam_conv", "conv2"},
                                                             {"model.encoder.2.reparam_conv", "conv3"},
                                                             {"model.encoder.3.reparam_conv", "conv4"},
                                                             {"model.decoder.rnn", "lstm_cell"},
                                                             {"model.decoder.decoder.2", "final_conv"}};

/// Weights for the module, by its names. The weights of its convolutions have one more axis.
NamedTensors weights_of(const NamedTensors& file) {
  NamedTensors weights;
  for (const auto& [name, tensor] : file) weights.emplace_back(name, tensor.dim() == 3 ? tensor.unsqueeze(2) : tensor);
  return weights;
}

NamedTensors renamed(const NamedTensors& of_model) {
  NamedTensors weights;
  for (const auto& [name, tensor] : of_model)
    for (const auto& [theirs, own] : parts)
      if (name.rfind(theirs, 0) == 0) weights.emplace_back(own + name.substr(theirs.size()), tensor);
  return weights;
}

}  // namespace

TEST_CASE("onnx: a model of silero-vad gives what a module gives, with the weights of its file and with others") {
  const std::string folder = CRISOL_BINARY_DIR "/onnx/models/silero-vad==6.2.3/";
  if (!std::filesystem::exists(folder + "silero_vad_16k.safetensors"))
    CRISOL_SKIP("silero-vad is not there; tests/onnx/run.sh --real downloads it");
  manual_seed(1);
  onnx::Model model = onnx::load(folder + "silero_vad_16k_op15.onnx");
  SileroVad net;
  const NoGrad no_grad;
  const auto compare = [&] {
    Tensor state = zeros({2, 3, 128});
    for (int step = 0; step < 3; ++step) {
      const Tensor x = randn({3, 576}) * 0.3;
      const Speech expected = net(x, {state.select(0, 0), state.select(0, 1)});
      const onnx::Outputs found = model({{"input", x}, {"state", state}, {"sr", full({}, 16000, DType::i64)}});
      state = found["stateN"];
      CHECK(found["output"].allclose(expected.probability, 1e-4, 1e-6));
      CHECK(state.allclose(stack({expected.h, expected.c}, 0), 1e-4, 1e-5));
    }
  };
  const NamedTensors own = renamed(model.state_dict());
  net.load_state_dict(weights_of(own));
  compare();
  // The file of weights in the same package comes from another training.
  const NamedTensors others = io::load_safetensors(folder + "silero_vad_16k.safetensors");
  net.load_state_dict(weights_of(others));
  for (const auto& [name, tensor] : own) Tensor(tensor).copy_from(others[name]);
  compare();
}
