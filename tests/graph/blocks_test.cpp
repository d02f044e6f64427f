// Channels in blocks: models with every kind of node give the same results as the walk over their nodes.
#include <algorithm>
#include <cmath>
#include <map>

#include "dispatch/target.h"
#include "graph/model_file.h"
#include "ops/conv/conv2d_blocks.h"
#include "support/skip.h"

namespace {

const Sizes around{1, 1, 1, 1};

Proto conv(const std::string& x, const std::string& w, const std::string& y,
           const std::vector<Proto>& attributes = {}) {
  return node("Conv", {x, w}, {y}, attributes);
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t times = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++times;
  return times;
}

/// Checks the results, and how many images go into blocks and come out of them.
void check(const ModelFile& file, const Tensor& x, std::size_t reorders_in, std::size_t reorders_out) {
  onnx::Model model = file.load();
  check_program(model, x);
  if (ops::channel_block(dispatch::target_of(Device().state())) == 0) return;
  const std::string nodes = model.optimized({{"x", x}});
  CAPTURE(nodes);
  CHECK(count(nodes, "ToBlocks") == reorders_in);
  CHECK(count(nodes, "FromBlocks") == reorders_out);
}

/// Layers as in MobileNetV3: a first layer, a depthwise layer, squeeze and excitation, a residual connection.
ModelFile mobile_net() {
  manual_seed(11);
  return ModelFile(
      {node("Conv", {"x", "w1", "b1"}, {"c1"}, {attribute("pads", around), attribute("strides", Sizes{2, 2})}),
       node("HardSwish", {"c1"}, {"h1"}),
       conv("h1", "w2", "c2", {attribute("pads", Sizes{2, 2, 2, 2}), attribute("group", std::int64_t{20})}),
       node("Relu", {"c2"}, {"r2"}), node("GlobalAveragePool", {"r2"}, {"g"}), node("Conv", {"g", "w3", "b3"}, {"c3"}),
       node("Relu", {"c3"}, {"r3"}), conv("r3", "w4", "c4"), node("HardSigmoid", {"c4"}, {"s4"}),
       node("Mul", {"r2", "s4"}, {"m"}), conv("m", "w5", "c5"), node("Add", {"c5", "h1"}, {"a"}), conv("a", "w6", "c6"),
       node("Softmax", {"c6"}, {"y"}, {attribute("axis", std::int64_t{1})})},
      {weight("w1", randn({20, 3, 3, 3})), weight("b1", randn({20})), weight("w2", randn({20, 1, 5, 5})),
       weight("w3", randn({3, 20, 1, 1})), weight("b3", randn({3})), weight("w4", randn({20, 3, 1, 1})),
       weight("w5", randn({20, 20, 1, 1})), weight("w6", randn({40, 20, 1, 1}))});
}

}  // namespace

TEST_CASE("blocks: squeeze and excitation, depthwise layers, residuals") {
  check(mobile_net(), randn({1, 3, 13, 11}), 1, 1);
  check(mobile_net(), randn({3, 3, 8, 9}), 1, 1);
}

TEST_CASE("blocks: pools, padding, joined channels and enlarged images") {
  if (slow_device()) CRISOL_SKIP("compiles many programs");
  manual_seed(12);
  const ModelFile file(
      {conv("x", "w1", "c1", {attribute("auto_pad", "SAME_UPPER"), attribute("strides", Sizes{2, 2})}),
       node("Pad", {"c1", "pads"}, {"p0"}), node("Pad", {"p0", "pads"}, {"p"}, {attribute("mode", "edge")}),
       node("MaxPool", {"p"}, {"m"},
            {attribute("kernel_shape", Sizes{3, 3}), attribute("strides", Sizes{2, 2}),
             attribute("ceil_mode", std::int64_t{1})}),
       conv("m", "w2", "c2", {attribute("auto_pad", "SAME_LOWER"), attribute("dilations", Sizes{1, 2})}),
       node("AveragePool", {"c2"}, {"v"},
            {attribute("kernel_shape", Sizes{3, 3}), attribute("pads", around),
             attribute("count_include_pad", std::int64_t{1})}),
       node("AveragePool", {"c2"}, {"u"},
            {attribute("kernel_shape", Sizes{2, 3}), attribute("pads", Sizes{1, 1, 0, 1})}),
       node("Concat", {"v", "u", "m"}, {"j"}, {attribute("axis", std::int64_t{1})}),
       node("Resize", {"j", "", "scales"}, {"z"},
            {attribute("mode", "nearest"), attribute("coordinate_transformation_mode", "asymmetric"),
             attribute("nearest_mode", "floor")}),
       conv("z", "w3", "c3"), node("ReduceMean", {"c3"}, {"y"}, {attribute("axes", Sizes{2, -1})})},
      {weight("w1", randn({24, 24, 3, 3})), weight("w2", randn({16, 24, 2, 3})), weight("w3", randn({20, 56, 1, 1})),
       of::raw_tensor<std::int64_t>("pads", of::i64, {8}, {0, 0, 0, 1, 0, 0, 2, 0}),
       weight("scales", from_vector(std::vector<float>{1, 1, 2, 3}))});
  check(file, randn({2, 24, 17, 14}), 1, 1);
}

TEST_CASE("blocks: values that are used in both layouts, and outputs") {
  manual_seed(13);
  // The transpose reads the first result in its own layout, and the sum needs the transposed one in blocks.
  const ModelFile file({conv("x", "w1", "c1", {attribute("pads", around)}),
                        node("Transpose", {"c1"}, {"t"}, {attribute("perm", Sizes{0, 1, 3, 2})}),
                        conv("c1", "w2", "c2"), node("Add", {"c2", "t"}, {"a"}), conv("a", "w2", "y")},
                       {weight("w1", randn({18, 9, 3, 3})), weight("w2", randn({18, 18, 1, 1}))});
  check(file, randn({1, 9, 6, 6}), 2, 2);
}

TEST_CASE("blocks: factors that are no whole numbers, and padding that counts for nothing") {
  manual_seed(16);
  const auto enlarged = [](float factor) {
    return ModelFile(
        {conv("x", "w", "c"), conv("c", "w", "d"),
         node("Resize", {"d", "", "scales"}, {"y"},
              {attribute("mode", "nearest"), attribute("coordinate_transformation_mode", "asymmetric"),
               attribute("nearest_mode", "floor")})},
        {weight("w", randn({18, 18, 1, 1})), weight("scales", from_vector(std::vector<float>{1, 1, factor, factor}))});
  };
  // Both give a multiple of the size, and repeat some pixels more often than others.
  check(enlarged(2.1f), randn({1, 18, 5, 5}), 1, 1);
  check(enlarged(1.1f), randn({1, 18, 5, 5}), 1, 1);
  check(enlarged(3), randn({1, 18, 5, 5}), 1, 1);
  const ModelFile valid({conv("x", "w", "c", {attribute("auto_pad", "VALID"), attribute("pads", around)}),
                         conv("c", "w", "y", {attribute("auto_pad", "VALID")})},
                        {weight("w", randn({18, 18, 3, 3}) * 0.2)});
  check(valid, randn({1, 18, 7, 6}), 1, 1);
}

TEST_CASE("blocks: a single number computed from images") {
  manual_seed(17);
  // A gate for all channels. Its number exists in blocks first.
  const ModelFile file(
      {conv("x", "w1", "c1"), conv("c1", "w1", "c2"), node("GlobalAveragePool", {"c2"}, {"g"}), conv("g", "w2", "n"),
       node("Sigmoid", {"n"}, {"s"}), node("Mul", {"c2", "s"}, {"m"}), node("Add", {"m", "n"}, {"y"})},
      {weight("w1", randn({18, 18, 1, 1}) * 0.2), weight("w2", randn({1, 18, 1, 1}))});
  onnx::Model model = file.load();
  check_program(model, randn({1, 18, 4, 5}));
  check_program(model, randn({2, 18, 4, 5}));
}

TEST_CASE("blocks: lanes without a channel do not matter") {
  manual_seed(14);
  // There is no channel 18: its lane is 0 / 0.
  const ModelFile file(
      {conv("x", "w1", "c1"), node("Div", {"c1", "d"}, {"q"}), node("Pow", {"q", "two"}, {"p"}), conv("p", "w2", "c2"),
       node("MaxPool", {"c2"}, {"m"}, {attribute("kernel_shape", Sizes{2, 2})}), conv("m", "w3", "y")},
      {weight("w1", randn({18, 18, 1, 1}) * 0.2), weight("w2", randn({19, 18, 1, 1}) * 0.2),
       weight("w3", randn({18, 19, 1, 1})), weight("d", rand({18, 1, 1}) + 0.5), weight("two", full({}, 2.0))});
  const Tensor x = randn({2, 18, 4, 5});
  check(file, x, 1, 1);
  CHECK(std::isfinite(file.load()(x).sum().item<float>()));
}

TEST_CASE("blocks: depthwise and pointwise convolutions in one pass") {
  manual_seed(18);
  // Two pairs: one with an activation between and a residual behind, one with nothing. The last depthwise result has
  // two users.
  const auto group = attribute("group", std::int64_t{18});
  const ModelFile file(
      {conv("x", "w1", "c1"), conv("c1", "d", "c2", {group, attribute("pads", around)}), node("Relu", {"c2"}, {"r2"}),
       conv("r2", "w1", "c3"), node("Add", {"c3", "c1"}, {"a"}), conv("a", "d", "c4", {group}), conv("c4", "w1", "c5"),
       conv("c5", "d", "c6", {group}), conv("c6", "w1", "c7"), node("Add", {"c6", "c7"}, {"y"})},
      {weight("w1", randn({18, 18, 1, 1}) * 0.2), weight("d", randn({18, 1, 3, 3}) * 0.3)});
  const auto target = dispatch::target_of(Device().state());
  const std::int64_t rows = 4 * std::int64_t{target.info.compute_units} + 4;  // Enough for all cores.
  const Tensor x = randn({1, 18, rows, 6});
  check(file, x, 1, 1);
  if (ops::channel_block(target) != 0) CHECK(file.changes(x).at("join_separable") == 2);
}

TEST_CASE("blocks: convolutions that stay as they are") {
  manual_seed(15);
  // One convolution alone, groups of several channels, a weight that is computed, and images with one axis.
  const ModelFile alone({conv("x", "w", "y")}, {weight("w", randn({18, 18, 3, 3}))});
  check(alone, randn({1, 18, 6, 5}), 0, 0);
  const ModelFile groups({conv("x", "w", "c", {attribute("group", std::int64_t{2})}),
                          conv("c", "w", "y", {attribute("group", std::int64_t{2})})},
                         {weight("w", randn({18, 9, 1, 1}))});
  check(groups, randn({1, 18, 6, 5}), 0, 0);
  const ModelFile computed({node("GlobalMaxPool", {"x"}, {"g"}), node("Expand", {"g", "s"}, {"w"}), conv("x", "w", "c"),
                            conv("c", "w", "y")},
                           {of::raw_tensor<std::int64_t>("s", of::i64, {4}, {18, 18, 1, 1})});
  check(computed, randn({1, 18, 2, 3}), 0, 0);
  // Winograd's filtering of the first and the last one saves more time than a reorder takes. The others go into blocks.
  const ModelFile squares({conv("x", "w", "c", {attribute("pads", around)}), conv("c", "v", "d"), conv("d", "v", "e"),
                           conv("e", "w", "y", {attribute("pads", around)})},
                          {weight("w", randn({64, 64, 3, 3}) * 0.05), weight("v", randn({64, 64, 1, 1}) * 0.1)});
  check(squares, randn({1, 64, 24, 24}), 1, 1);
  const ModelFile lines({conv("x", "w", "c"), conv("c", "w", "y")}, {weight("w", randn({18, 18, 1}))});
  check(lines, randn({1, 18, 6}), 0, 0);
}

TEST_CASE("blocks: modules of f16 run in blocks, and their norms become parts of weights") {
  manual_seed(19);
  const Conv2dOptions strided{.stride = 2, .padding = 1}, depthwise{.padding = 1, .groups = 20};
  nn::Sequential net(nn::Conv2d(3, 20, 3, strided), nn::BatchNorm2d(20), nn::ReLU(), nn::MaxPool2d(2),
                     nn::Conv2d(20, 20, 3, depthwise), nn::BatchNorm2d(20), nn::ReLU(), nn::Conv2d(20, 33, 1),
                     nn::ReLU(), nn::BatchNorm2d(33), nn::Conv2d(33, 21, 3, strided));
  const Tensor x = randn({2, 3, 29, 23}).to(DType::f16);
  net(x.to(DType::f32));  // Training changes the means and the variances of the norms.
  net.eval();
  net.to(DType::f16);
  nn::Sequential wide = nn::clone(net);
  wide.to(DType::f32);
  Compiled fast = compile(net, x);
  const NoGrad no_grad;
  const Tensor expected = wide(x.to(DType::f32));
  fast(x);
  const Profile profile;
  const Tensor y = fast(x);
  CHECK(y.dtype() == DType::f16);
  // Each of four layers rounds its weight, its bias and its result, and relative errors of terms below the maximum add.
  check_close(y, values_of(expected), {16});
  if (ops::channel_block(dispatch::target_of(Device().state())) == 0) return;
  std::map<std::string, std::int64_t> launches;
  for (const ProfileRow& row : profile.rows()) launches[row.kernel] += row.launches;
  CHECK(launches["conv2d_blocks"] + launches["conv2d_blocks_separable"] >= 3);
  CHECK(launches["max_pool_blocks"] == 1);
  CHECK(launches["batch_norm_apply"] == 0);
}

TEST_CASE("child: a model without channels in blocks" * doctest::skip()) {
  check(mobile_net(), randn({1, 3, 13, 11}), 0, 0);
}

TEST_CASE("blocks: CRISOL_PASSES turns them off") {
  if (slow_device()) CRISOL_SKIP("starts a process");
  CHECK_PASSED(run_child("child: a model without channels in blocks", {{"CRISOL_PASSES", "-block_channels"}}));
}
