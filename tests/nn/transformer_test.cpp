// Attention and transformers as layers. Expected numbers are PyTorch's, in f64, for parameters and inputs that are
// sines and cosines: p_i = sin(0.7 i + 0.3) / 2 over all parameters in their order, x_i = cos(0.9 i + seed).
#include "crisol/nn/transformer.h"

#include <cmath>
#include <limits>

#include "crisol/functions/arrange.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/random_tensor.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

/// Gives a module the parameters that the expected numbers are for, and switches dropout off.
template <class M>
M& with_sines(M& module) {
  module.eval();
  NamedTensors state;
  double at = 0;
  for (const auto& [name, parameter] : module.named_parameters()) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < parameter.numel(); ++i) values.push_back(std::sin(0.7 * at++ + 0.3) / 2);
    state.emplace_back(name, tensor_of(values, parameter.shape()));
  }
  module.load_state_dict(state);
  return module;
}

Tensor cosines(const Shape& shape, double seed) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < shape.numel(); ++i) values.push_back(std::cos(0.9 * static_cast<double>(i) + seed));
  return tensor_of(values, shape);
}

/// The expected numbers have seven digits, and f32 rounds about as much.
void check_digits(const Tensor& actual, const Shape& shape, const std::vector<double>& expected) {
  check_close(actual, shape, expected, {64});
}

nn::TransformerLayerOptions small_layer(bool norm_first) {
  nn::TransformerLayerOptions options{.dim_feedforward = 6, .batch_first = true, .norm_first = norm_first};
  if (norm_first) options.activation = &gelu;
  return options;
}

}  // namespace

TEST_CASE("MultiheadAttention has PyTorch's parameters and first values") {
  nn::MultiheadAttention plain(6, 2), other(6, 3, {.add_bias_kv = true, .kdim = 4, .vdim = 5});
  std::vector<std::string> names;
  for (const auto& [name, parameter] : plain.named_parameters()) names.push_back(name);
  CHECK(names == std::vector<std::string>{"in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"});
  CHECK(plain.in_proj_weight.shape() == Shape{18, 6});
  const double bound = std::sqrt(6.0 / 24);
  for (const double value : values_of(plain.in_proj_weight)) CHECK(std::abs(value) <= bound);
  check_close(plain.in_proj_bias, std::vector<double>(18, 0), {0});
  check_close(plain.out_proj.bias, std::vector<double>(6, 0), {0});
  CHECK_FALSE(other.in_proj_weight.defined());
  CHECK(other.k_proj_weight.shape() == Shape{6, 4});
  CHECK(other.v_proj_weight.shape() == Shape{6, 5});
  CHECK(other.bias_k.shape() == Shape{1, 1, 6});
  CHECK(nn::MultiheadAttention(4, 2, {.bias = false}).parameters().size() == 2);
  check_error([] { nn::MultiheadAttention(6, 4); }, {"[MultiheadAttention]", "4 heads", "6"});
  check_error([] { nn::MultiheadAttention(6, 2, {.dropout = 2}); }, {"[MultiheadAttention]", "dropout 2"});
  check_error([] { nn::MultiheadAttention(6, 2, {.kdim = 0}); }, {"[MultiheadAttention]", "kdim 0"});
}

TEST_CASE("MultiheadAttention computes PyTorch's outputs and weights") {
  nn::MultiheadAttention attention(4, 2, {.add_bias_kv = true, .add_zero_attn = true, .kdim = 3, .vdim = 5});
  with_sines(attention);
  const MultiHeadResult result = attention(cosines({3, 2, 4}, 1), cosines({2, 2, 3}, 2), cosines({2, 2, 5}, 3));
  check_digits(result.output, {3, 2, 4},
               {0.03661244,  0.105154,  -0.4217262, -0.5465328, -0.01137406, 0.1675319,  -0.4912874, -0.4778264,
                0.01864493,  0.1156633, -0.4235629, -0.5535809, 0.02334929,  0.1310302,  -0.4572253, -0.5055129,
                -0.03377043, 0.1667709, -0.4674568, -0.5219728, 0.06015068,  0.09402931, -0.4243005, -0.5305569});
  check_digits(result.weights, {2, 3, 4},
               {0.1607211, 0.2142838, 0.321582,  0.303413,  0.1677917, 0.2372373, 0.3003146, 0.2946564,
                0.2187246, 0.2583864, 0.2505455, 0.2723436, 0.1690914, 0.2518743, 0.2629642, 0.3160701,
                0.2228765, 0.2691381, 0.2397561, 0.2682292, 0.3054025, 0.2601266, 0.2146683, 0.2198026});
}

TEST_CASE("TransformerEncoderLayer computes PyTorch's results, with norms behind or before its parts") {
  nn::TransformerEncoderLayer behind(4, 2, small_layer(false)), before(4, 2, small_layer(true));
  with_sines(behind);
  with_sines(before);
  const Tensor x = cosines({2, 3, 4}, 1);
  const Tensor padding = tensor_of({0, 0, 0, 0, 0, 1}, {2, 3}, DType::boolean);
  check_digits(behind(x, {.key_padding_mask = padding}), {2, 3, 4},
               {-1.147368, -0.463483,  -0.1893302, 0.007925173, -1.252297, -0.3090989, -0.1792271, 0.1523728,
                -1.036218, -0.3784561, -0.2356528, 0.418231,    -1.216393, -0.4019778, -0.1343206, -0.1390649,
                -1.129486, -0.2900918, -0.212818,  0.411575,    -1.176704, -0.4478467, -0.153437,  -0.1174119});
  check_digits(before(x, {.is_causal = true}), {2, 3, 4},
               {-0.07472803, -0.2544544, -0.85326,    -0.8617543, -0.9847708, 1.092133,  0.9403052,  0.3908621,
                -1.093434,   -0.7588268, -0.8088288,  -0.1323324, 0.06141134, 1.184165,  0.4823782,  -0.3454052,
                -1.804368,   -0.5304016, -0.07454973, 0.6205908,  0.276768,   0.6793452, -0.3740782, -0.9430971});
  // A mask of the same meaning, and one sequence alone.
  const Tensor later = arange(3) > arange(3).unsqueeze(1);
  check_close(before(x, {.attn_mask = later}), values_of(before(x, {.is_causal = true})), {64});
  check_close(behind(x[0]), values_of(behind(x)[0]), {64});
  check_error([] { nn::TransformerEncoderLayer(4, 3); }, {"[MultiheadAttention]", "3 heads"});
  check_error([] { nn::TransformerEncoderLayer(4, 2, {.activation = nullptr}); }, {"activation is null"});
}

TEST_CASE("TransformerDecoderLayer computes PyTorch's results") {
  nn::TransformerDecoderLayer behind(4, 2, small_layer(false)), before(4, 2, small_layer(true));
  with_sines(behind);
  with_sines(before);
  const Tensor x = cosines({2, 3, 4}, 1), memory = cosines({2, 5, 4}, 2);
  check_digits(behind(x, memory, {.is_causal = true}), {2, 3, 4},
               {-0.7650888, -0.06162247, -0.3697758, -0.2033744, -0.7659667, -0.081766,   -0.3667164, -0.1979777,
                -0.7555596, -0.1057104,  -0.4234995, -0.1752076, -0.7697584, -0.08602858, -0.3335569, -0.206776,
                -0.7619527, -0.1093206,  -0.3906788, -0.1829229, -0.7683083, -0.08778681, -0.3483171, -0.2016481});
  check_digits(before(x, memory, {.is_causal = true}), {2, 3, 4},
               {-0.6116061, -0.02732273, -1.970468, -1.057231, -1.444464,  1.141052,  -0.113424, 0.3624901,
                -1.649304,  -0.5239763,  -1.90609,  -0.349781, -0.4840747, 1.315517,  -0.536065, -0.533348,
                -2.362086,  -0.2901014,  -1.230983, 0.5045834, -0.2789951, 0.8817463, -1.462999, -1.128166});
}

TEST_CASE("Transformer joins an encoder and a decoder, with PyTorch's names and result") {
  nn::Transformer net({.d_model = 4,
                       .num_heads = 2,
                       .num_encoder_layers = 2,
                       .num_decoder_layers = 2,
                       .layer = {.dim_feedforward = 6}});
  CHECK(net.parameters().size() == 64);
  CHECK(net.named_parameters()[0].first == "encoder.layers.0.self_attn.in_proj_weight");
  CHECK(net.state_dict().contains("decoder.norm.bias"));
  with_sines(net);
  check_digits(net(cosines({5, 2, 4}, 2), cosines({3, 2, 4}, 1), {}, {.is_causal = true}), {3, 2, 4},
               {-1.070456, -0.415908,  -0.2942767, -0.1705309, -1.074379, -0.4080414, -0.2897412, -0.1699159,
                -1.068777, -0.4193277, -0.2960268, -0.1707796, -1.075226, -0.4062909, -0.2887363, -0.1697778,
                -1.071275, -0.4142973, -0.293344,  -0.1704056, -1.073822, -0.4091484, -0.290425,  -0.1700063});
}

TEST_CASE("TransformerEncoder copies its layer, trains, and is cloned") {
  nn::TransformerEncoderLayer layer(4, 2, {.dim_feedforward = 6, .dropout = 0});
  nn::TransformerEncoder encoder(layer, 2, nn::LayerNorm(4)), bare(layer, 1);
  CHECK(encoder.parameters().size() == 26);
  CHECK(bare.parameters().size() == 12);
  auto& first = encoder.layers.at<nn::TransformerEncoderLayer>(0);
  CHECK_FALSE(first.linear1.weight.shares_storage_with(layer.linear1.weight));
  check_close(first.linear1.weight, values_of(layer.linear1.weight), {0});
  const Tensor x = cosines({3, 2, 4}, 1);
  nn::TransformerEncoder copy = nn::clone(encoder);
  check_close(copy(x), values_of(encoder(x)), {0});
  sum(square(encoder(x))).backward();
  for (const auto& [name, parameter] : encoder.named_parameters()) {
    CAPTURE(name);
    CHECK(parameter.grad().defined());
  }
  CHECK_FALSE(copy.layers.at<nn::TransformerEncoderLayer>(1).linear2.weight.grad().defined());
  int calls = 0;
  encoder.register_forward_hook([&](nn::Module&, const Tensor&, Tensor&) { ++calls; });
  encoder(x);
  encoder(x, {.is_causal = true});
  CHECK(calls == 2);
  check_error([&] { nn::TransformerEncoder(layer, 0); }, {"[TransformerEncoder]", "num_layers", "0"});
}

TEST_CASE("multi_head_attention: gradients of inputs and weights, and equal results of all its ways") {
  const Tensor x = random_tensor(1, {2, 3, 4}), y = random_tensor(2, {2, 5, 4});
  const Tensor weight = random_tensor(3, {12, 4}), bias = random_tensor(4, {12}), out = random_tensor(5, {4, 4});
  const auto attend = [&](const Tensor& query, const Tensor& key, const Tensor& w, bool need, const AttentionMasks& m) {
    return multi_head_attention(query, key, key, {.in_proj_weight = w, .in_proj_bias = bias, .out_proj_weight = out},
                                {.num_heads = 2, .batch_first = true, .need_weights = need}, m);
  };
  for (const bool need : {true, false}) {
    CAPTURE(need);
    check_gradients([&](const std::vector<Tensor>& in) { return attend(in[0], in[1], in[2], need, {}).output; },
                    {x, y, weight});
    check_gradients([&](const std::vector<Tensor>& in) { return attend(in[0], in[0], in[1], need, {}).output; },
                    {x, weight});
    CHECK(attend(x, y, weight, need, {}).weights.defined() == need);
  }
  const Tensor padding = tensor_of({0, 0, 1, 0, 0, 0}, {2, 3}, DType::boolean);
  const AttentionMasks masks{Tensor(), padding, true};
  // x and its clone are multiplied by the weights apart, x and x together.
  const MultiHeadResult apart = multi_head_attention(
      x, x.clone(), x.clone(), {.in_proj_weight = weight, .in_proj_bias = bias, .out_proj_weight = out},
      {.num_heads = 2, .batch_first = true}, masks);
  check_close(attend(x, x, weight, true, masks).output, values_of(apart.output), {64});
  check_close(attend(x, x, weight, false, masks).output, values_of(apart.output), {64});
  check_close(apart.weights.select(1, 0), {1, 0, 0, 1, 0, 0}, {64});
  CHECK(values_of(apart.weights)[8] == 0);  // The key that the padding leaves out, for the last query.
  // A query that sees no key.
  const AttentionMasks blind{Tensor(), tensor_of({1, 0, 0, 0, 0, 0}, {2, 3}, DType::boolean), true};
  check_close(attend(x, x, weight, false, blind).output[{0, 0}], {0, 0, 0, 0}, {0});
  for (const double value : values_of(attend(x, x, weight, true, blind).output[{0, 0}])) CHECK(std::isnan(value));
  const AttentionMasks of_heads{zeros({4, 3, 3}), Tensor(), true}, added{zeros({3, 3}), Tensor(), true};
  check_close(attend(x, x, weight, true, of_heads).output, values_of(attend(x, x, weight, false, added).output), {64});
}

TEST_CASE("multi_head_attention: what is refused") {
  const Tensor x = ones({2, 3, 4}), weight = ones({12, 4}), out = ones({4, 4});
  const auto attend = [&](const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                          const AttentionMasks& m) {
    multi_head_attention(q, k, v, {.in_proj_weight = weight, .out_proj_weight = out}, {.num_heads = heads}, m);
  };
  check_error([&] { attend(x, x, x, 3, {}); }, {"[multi_head_attention]", "3 heads", "4"});
  check_error([&] { attend(x, x[0], x, 2, {}); }, {"[multi_head_attention]", "(2, 3, 4)", "(3, 4)"});
  check_error([&] { attend(x, ones({2, 1, 4}), x, 2, {}); }, {"[multi_head_attention]", "sequences"});
  check_error([&] { attend(x, ones({5, 3, 4}), x, 2, {}); }, {"[multi_head_attention]", "keys and values"});
  check_error([&] { attend(Tensor(), x, x, 2, {}); }, {"[multi_head_attention]", "undefined"});
  check_error([&] { attend(x, x, x, 2, {.attn_mask = ones({3, 2})}); }, {"attn_mask", "(2, 2)", "(6, 2, 2)", "(3, 2)"});
  check_error([&] { attend(x, x, x, 2, {.key_padding_mask = ones({2, 2})}); }, {"key_padding_mask", "(3, 2)"});
}
