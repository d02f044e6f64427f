// Ops of ONNX Runtime on images with channels in blocks of a vector. ONNX Runtime writes them into models that it
// optimises for one kind of processor.
//
// In this library, such images are in the usual layout. They have all channels of their blocks, including the zeros
// that fill the last block. Only the weights of convolutions are in blocks in the file.
#include <algorithm>

#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/pad.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/domains/fused.h"
#include "onnx/ops/network/convolution.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

/// The channels of a block that ONNX Runtime chooses on this kind of processor.
std::int64_t usual_block() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports("avx512f") ? 16 : 8;
#else
  return 16;
#endif
}

/// Whether a weight (O, I, …) may have blocks of 16 channels. O must fill whole blocks. I must fill whole blocks, or be
/// a part of one block.
bool fits_16(const std::vector<std::int64_t>& weight) {
  return weight.size() != 4 || (weight[0] % 16 == 0 && (weight[1] < 16 || weight[1] % 16 == 0));
}

/// Converts a weight to the usual layout. In the file it has the axes (O / block, I / block, H, W, I in a block, O in a
/// block). If I is only a part of a block, the axes are (O / block, I, H, W, O in a block).
Tensor from_blocks(const Tensor& weight, std::int64_t block) {
  const Shape& shape = weight.shape();
  require(shape.rank() == 4 && shape[0] % block == 0, "onnx", "a weight of shape ", shape, " has no blocks of ", block,
          " channels");
  const std::int64_t outer = shape[0] / block;
  if (shape[1] % block != 0)
    return weight.reshape({outer, shape[1], shape[2], shape[3], block}).permute({0, 4, 1, 2, 3}).reshape(shape);
  return weight.reshape({outer, shape[1] / block, shape[2], shape[3], block, block})
      .permute({0, 5, 1, 4, 2, 3})
      .reshape(shape);
}

Run conv_of_blocks(Call& call) {
  call.check_counts(2, 4);
  const FusedActivation activation = activation_of_convolution(call);
  const std::int64_t groups = call.integer("group", 1);
  std::int64_t block = usual_block();
  const auto& weights = call.weights_of(nchwc_domain, "Conv");
  if (!std::all_of(weights.begin(), weights.end(), fits_16)) block = 8;
  const Run conv = convolution(call);
  return [=](const Data& in, Device device) {
    Tensor x = in[0].tensor(device);
    const Tensor weight = from_blocks(in[1].tensor(device), block);
    require(x.dim() == 4, "onnx", "an input of shape ", x.shape(), ", (N, C, H, W) expected");
    const std::int64_t more = weight.size(1) * groups - x.size(1);
    if (more > 0) x = pad(x, {{0, 0}, {0, 0}, {0, more}});
    Tensor y = conv({x, weight, input_of(in, 2, device)}, device)[0].tensor(device);
    if (has_input(in, 3)) y = y + in[3].tensor(device);
    return Data{activation(y)};
  };
}

Run reorder_input(Call& call) {
  call.check_counts(1, 1);
  call.gives_type_of(0);
  const bool channels_last = call.integer("channels_last", 0) != 0;
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    return Data{channels_last ? x.permute({0, 3, 1, 2}) : x};
  };
}

Run reorder_output(Call& call) {
  call.check_counts(1, 1);
  call.gives_type_of(0);
  const bool channels_last = call.integer("channels_last", 0) != 0;
  const std::int64_t channels = call.integer("channels", 0);
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    require(x.dim() == 4 && channels > 0 && channels <= x.size(1), "onnx", channels, " channels of shape ", x.shape());
    const Tensor y = x.narrow(1, 0, channels);
    return Data{channels_last ? y.permute({0, 2, 3, 1}) : y};
  };
}

Run max_pool(Call& call) { return build_as("MaxPool", call); }
Run average_pool(Call& call) { return build_as("AveragePool", call); }
Run global_max_pool(Call& call) { return build_as("GlobalMaxPool", call); }
Run global_average_pool(Call& call) { return build_as("GlobalAveragePool", call); }

}  // namespace

std::vector<Row> nchwc_rows() {
  return {
      {"AveragePool", 1, 1, average_pool, nchwc_domain},
      {"Conv", 1, 1, conv_of_blocks, nchwc_domain},
      {"GlobalAveragePool", 1, 1, global_average_pool, nchwc_domain},
      {"GlobalMaxPool", 1, 1, global_max_pool, nchwc_domain},
      {"MaxPool", 1, 1, max_pool, nchwc_domain},
      {"ReorderInput", 1, 1, reorder_input, nchwc_domain},
      {"ReorderOutput", 1, 1, reorder_output, nchwc_domain},
  };
}

}  // namespace crisol::onnx
