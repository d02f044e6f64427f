// Numbers of 4 bits in ONNX files.
#include <cstdint>
#include <vector>

#include "onnx/models.h"

TEST_CASE("onnx: stored numbers of 4 bits are dequantised; other nodes refuse them") {
  using Packed = std::vector<std::uint8_t>;
  const Packed numbers{0x80, 0x7F, 0x31}, zeros_of_blocks{0x21, 0x0F};
  const std::vector<float> scales{0.5, 2, 3, 0.25};  // Of two blocks in each of two rows.
  const Proto scale = of::raw_tensor<float>("s", of::f32, {2, 2}, scales);
  for (const bool has_sign : {false, true}) {
    const int type = has_sign ? 22 : 21;
    const Proto zero = of::raw_tensor("z", type, {2, 2}, zeros_of_blocks);
    const Proto dequantise = node("DequantizeLinear", {"w", "s", "z"}, {"d"},
                                  {attribute("axis", std::int64_t{1}), attribute("block_size", std::int64_t{2})});
    const Proto file = of::model(of::graph({.nodes = {dequantise, node("Add", {"x", "d"}, {"y"})},
                                            .initializers = {of::raw_tensor("w", type, {2, 3}, numbers), scale, zero},
                                            .inputs = {value("x", of::f32, {"2", "3"})},
                                            .outputs = {value("y", of::f32, {"2", "3"})}}),
                                 21);
    const std::vector<float> codes =
        has_sign ? std::vector<float>{0, -8, -1, 7, 1, 3} : std::vector<float>{0, 8, 15, 7, 1, 3};
    const std::vector<float> points = has_sign ? std::vector<float>{1, 2, -1, 0} : std::vector<float>{1, 2, 15, 0};
    std::vector<double> expected;
    for (std::size_t i = 0; i < 6; ++i) {
      const std::size_t block = i / 3 * 2 + i % 3 / 2;
      expected.push_back(scales[block] * (codes[i] - points[block]));
    }
    check_close(result(file, zeros({2, 3})), {2, 3}, expected, {0});
    const Proto one = of::raw_tensor("z", type, {}, Packed{3});
    CHECK(refused(one_node(node("QuantizeLinear", {"x", "s", "z"}, {"y"}), {weight("s", full({}, 0.5)), one}, 21)) ==
          doctest::Contains(has_sign ? "i4" : "u4"));
  }
}
