// Ops on images in ONNX files: the meaning of their attributes, and refusals.
#include "onnx/models.h"
#include "support/onnx_op.h"

using doctest::Contains;

namespace {

Proto floats(const std::string& name, const std::vector<float>& values) {
  return of::raw_tensor<float>(name, of::f32, {static_cast<std::int64_t>(values.size())}, values);
}

/// one_node() of a version that has all ops on images.
Proto image_node(const Proto& node, const std::vector<Proto>& initializers = {}, std::int64_t opset = 20) {
  return one_node(node, initializers, opset);
}

bool close_to(const Tensor& a, const Tensor& b) { return a.shape() == b.shape() && a.allclose(b, 1e-5, 1e-5); }

}  // namespace

TEST_CASE("onnx Resize: PyTorch's forms, factors of the file, and gradients") {
  const Tensor x = randn({2, 3, 5, 6});
  const auto resize = [&](const char* mode, const char* places, const std::vector<Proto>& more = {}) {
    std::vector<Proto> attributes{attribute("mode", mode), attribute("coordinate_transformation_mode", places)};
    attributes.insert(attributes.end(), more.begin(), more.end());
    return image_node(node("Resize", {"x", "", "scales"}, {"y"}, attributes), {floats("scales", {1, 1, 2, 1.5f})});
  };
  const InterpolateOptions by_factors{.scale_factor = {2, 1.5}};
  const auto with = [&](InterpolateMode mode) {
    InterpolateOptions o = by_factors;
    o.mode = mode;
    return o;
  };
  CHECK(close_to(result(resize("nearest", "asymmetric", {attribute("nearest_mode", "floor")}), x),
                 interpolate(x, by_factors)));
  CHECK(close_to(result(resize("linear", "pytorch_half_pixel"), x), interpolate(x, with(InterpolateMode::linear))));
  CHECK(close_to(result(resize("cubic", "half_pixel"), x), interpolate(x, with(InterpolateMode::cubic))));
  onnx::Model model = loaded(resize("linear", "half_pixel"));
  CHECK(model.parameters().empty());  // An optimiser must not move the factors.
  REQUIRE(model.named_buffers().size() == 1);
  Tensor leaf = x.clone();
  leaf.requires_grad_();
  model({{"x", leaf}})["y"].sum().backward();
  CHECK(leaf.grad().shape() == x.shape());
  CHECK(leaf.grad().sum().item() == doctest::Approx(2 * 3 * 10 * 9).epsilon(1e-4));
}

TEST_CASE("onnx Resize: sizes, axes, proportions, parts, and older versions") {
  const Tensor x = randn({1, 2, 6, 4});
  const auto sized = [&](const std::vector<Proto>& attributes, const std::vector<std::int64_t>& sizes) {
    return result(image_node(node("Resize", {"x", "", "", "sizes"}, {"y"}, attributes), {numbers("sizes", sizes)}), x);
  };
  CHECK(sized({attribute("axes", Sizes{-1, 2})}, {8, 3}).shape() == Shape{1, 2, 3, 8});
  CHECK(sized({attribute("axes", Sizes{2, 3}), attribute("keep_aspect_ratio_policy", "not_larger")}, {12, 6}).shape() ==
        Shape{1, 2, 9, 6});
  CHECK(
      sized({attribute("axes", Sizes{2, 3}), attribute("keep_aspect_ratio_policy", "not_smaller")}, {12, 6}).shape() ==
      Shape{1, 2, 12, 8});
  const Proto crop =
      image_node(node("Resize", {"x", "roi", "", "sizes"}, {"y"},
                      {attribute("mode", "linear"), attribute("coordinate_transformation_mode", "tf_crop_and_resize"),
                       attribute("axes", Sizes{2, 3}), attribute("extrapolation_value", 7.f)}),
                 {floats("roi", {0.2f, 0, 0.6f, 2}), numbers("sizes", {3, 7})});
  const Tensor y = result(crop, x);  // Rows 1 to 3, and columns 0, 1, 2, 3 and then three outside.
  CHECK(close_to(y.narrow(3, 0, 4), x.narrow(2, 1, 3)));
  CHECK(close_to(y.narrow(3, 4, 3), full({1, 2, 3, 3}, 7)));
  const Tensor row = from_vector(std::vector<float>{1, 2, 3, 4}, {1, 1, 1, 4});
  const auto by_scales = [&](const char* op, std::int64_t opset, float scale) {
    return result(image_node(node(op, {"x", "scales"}, {"y"}), {floats("scales", {1, 1, 1, scale})}, opset), row)
        .to_vector<float>();
  };
  CHECK(by_scales("Resize", 10, 0.6f) == std::vector<float>{1, 3});
  CHECK(by_scales("Upsample", 9, 1.5f) == std::vector<float>{1, 1, 2, 3, 3, 4});
  CHECK(result(image_node(node("Upsample", {"x"}, {"y"}, {attribute("scales", std::vector<float>{1, 1, 2, 1})}), {}, 7),
               row)
            .shape() == Shape{1, 1, 2, 4});
}

TEST_CASE("onnx Resize: what is not supported is refused at load, what does not fit when it runs") {
  const auto refused_with = [&](const std::vector<Proto>& attributes) {
    return refused(
        image_node(node("Resize", {"x", "", "scales"}, {"y"}, attributes), {floats("scales", {1, 1, 2, 2})}));
  };
  CHECK(refused_with({attribute("mode", "lanczos")}) ==
        Contains("mode is \"lanczos\"; supported are: nearest, linear, cubic"));
  CHECK(refused_with({attribute("antialias", std::int64_t{1})}) == Contains("antialias with mode nearest"));
  CHECK(refused(image_node(node("Resize", {"x"}, {"y"}))) == Contains("there are no scales and no sizes"));
  const auto fails = [&](const std::vector<float>& scales) {
    return refusal(ErrorCode::invalid_argument, [&] {
      result(image_node(node("Resize", {"x", "", "scales"}, {"y"}), {floats("scales", scales)}), zeros({1, 1, 4, 4}));
    });
  };
  CHECK(fails({1, 2}) == Contains("2 scales or sizes for 4 axes of an input of shape (1, 1, 4, 4)"));
  CHECK(fails({1, 1, -1, 1}) == Contains("a scale is -1"));
  CHECK(refusal(ErrorCode::invalid_argument, [&] {
          result(image_node(node("Resize", {"x", "", "scales"}, {"y"},
                                 {attribute("coordinate_transformation_mode", "tf_crop_and_resize")}),
                            {floats("scales", {1, 1, 2, 2})}),
                 zeros({1, 1, 4, 4}));
        }) == Contains("roi has 0 numbers, 8 expected"));
}

TEST_CASE("onnx ConvTranspose: paddings that differ, sizes that are given, rows") {
  const Tensor x = randn({2, 3, 4, 5}), w = randn({3, 2, 3, 3}), b = randn({2});
  const auto transposed = [&](const std::vector<Proto>& attributes) {
    return result(
        image_node(node("ConvTranspose", {"x", "w", "b"}, {"y"}, attributes), {weight("w", w), weight("b", b)}), x);
  };
  const Proto strides = attribute("strides", Sizes{2, 2});
  const Tensor all = conv_transpose2d(x, w, b, {.stride = 2});  // (2, 2, 9, 11)
  CHECK(close_to(transposed({strides}), all));
  CHECK(close_to(transposed({strides, attribute("pads", Sizes{0, 1, 1, 2})}), all.narrow(2, 0, 8).narrow(3, 1, 8)));
  CHECK(close_to(transposed({strides, attribute("auto_pad", "SAME_UPPER")}), all.narrow(2, 0, 8).narrow(3, 0, 10)));
  CHECK(close_to(transposed({strides, attribute("auto_pad", "SAME_LOWER")}), all.narrow(2, 1, 8).narrow(3, 1, 10)));
  CHECK(close_to(transposed({strides, attribute("output_padding", Sizes{1, 0}), attribute("pads", Sizes{1, 1, 1, 1})}),
                 conv_transpose2d(x, w, b, {.stride = 2, .padding = 1, .output_padding = {1, 0}})));
  const Tensor larger = transposed({strides, attribute("output_shape", Sizes{11, 12})});
  CHECK(larger.shape() == Shape{2, 2, 11, 12});
  CHECK(close_to(larger.narrow(2, 0, 9).narrow(3, 0, 11), all));
  CHECK(close_to(larger.narrow(2, 9, 2), b.reshape({2, 1, 1}).expand({2, 2, 2, 12})));
  const Tensor row = randn({1, 2, 6}), v = randn({2, 4, 3});
  CHECK(close_to(
      result(image_node(node("ConvTranspose", {"x", "v"}, {"y"}, {attribute("strides", Sizes{2})}), {weight("v", v)}),
             row),
      conv_transpose2d(row.unsqueeze(2), v.unsqueeze(2), Tensor(), {.stride = {1, 2}}).squeeze(2)));
}

TEST_CASE("onnx MaxPool: positions in the whole tensor, and MaxUnpool puts them back") {
  const Tensor x = randn({2, 3, 5, 6});
  const auto pooled = [&](const std::vector<Proto>& more) {
    std::vector<Proto> attributes{attribute("kernel_shape", Sizes{2, 3}), attribute("strides", Sizes{2, 3})};
    attributes.insert(attributes.end(), more.begin(), more.end());
    return loaded(of::model(of::graph({.nodes = {node("MaxPool", {"x"}, {"y", "i"}, attributes)},
                                       .inputs = {value("x", of::f32, {"", "", "", ""})},
                                       .outputs = {value("y", of::f32, {}), value("i", of::i64, {})}})))({{"x", x}});
  };
  const std::vector<float> elements = x.to_vector<float>();
  const auto check = [&](const onnx::Outputs& outputs, bool by_columns) {
    const std::vector<float> values = outputs["y"].to_vector<float>();
    const std::vector<std::int64_t> places = outputs["i"].to_vector<std::int64_t>();
    REQUIRE(values.size() == places.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::int64_t at = places[i];
      if (by_columns) at = at / 30 * 30 + at % 5 * 6 + at % 30 / 5;
      CHECK(values[i] == elements.at(static_cast<std::size_t>(at)));
    }
  };
  check(pooled({}), false);
  check(pooled({attribute("pads", Sizes{0, 1, 1, 2})}), false);
  check(pooled({attribute("pads", Sizes{1, 1, 1, 1})}), false);
  check(pooled({attribute("storage_order", std::int64_t{1})}), true);
  check(pooled({attribute("ceil_mode", std::int64_t{1}), attribute("pads", Sizes{0, 0, 1, 0})}), false);

  const std::vector<Proto> windows{attribute("kernel_shape", Sizes{2, 3}), attribute("strides", Sizes{2, 3})};
  const Proto back = of::model(of::graph(
      {.nodes = {node("MaxPool", {"x"}, {"p", "i"}, windows), node("MaxUnpool", {"p", "i", "shape"}, {"y"}, windows)},
       .initializers = {numbers("shape", {1, 2, 5, 7})},
       .inputs = {value("x", of::f32, {"", "", "", ""})},
       .outputs = {value("y", of::f32, {})}}));
  const Tensor even = rand({1, 2, 4, 6}) + 1;
  const Tensor y = result(back, even);
  REQUIRE(y.shape() == Shape{1, 2, 5, 7});
  const Tensor kept = y.narrow(2, 0, 4).narrow(3, 0, 6);
  CHECK(y.sum().item() == doctest::Approx(max_pool2d(even, {.kernel = {2, 3}}).sum().item()));
  CHECK(close_to(max_pool2d(kept, {.kernel = {2, 3}}), max_pool2d(even, {.kernel = {2, 3}})));
  CHECK(refused(image_node(node("MaxUnpool", {"x", "x"}, {"y"}, {attribute("kernel_shape", Sizes{2, 2})}))) ==
        Contains("windows that overlap are not supported"));
}

TEST_CASE("onnx LpPool, AveragePool and LRN: the general forms") {
  const Tensor x = randn({2, 3, 7, 6});
  const Tensor lp =
      result(image_node(node("LpPool", {"x"}, {"y"},
                             {attribute("kernel_shape", Sizes{3, 2}), attribute("p", std::int64_t{3}),
                              attribute("dilations", Sizes{2, 1}), attribute("pads", Sizes{1, 0, 0, 1})})),
             x);
  const Tensor around = pad(x.abs().pow(3), {{0, 1}, {1, 0}});
  Tensor sums = zeros({2, 3, 4, 6});
  for (int r = 0; r < 3; ++r)
    for (int s = 0; s < 2; ++s) sums = sums + around.narrow(2, 2 * r, 4).narrow(3, s, 6);
  CHECK(close_to(lp, sums.pow(1.0 / 3)));
  const auto averaged = [&](std::int64_t counts) {
    return result(image_node(node("AveragePool", {"x"}, {"y"},
                                  {attribute("kernel_shape", Sizes{2, 2}), attribute("strides", Sizes{2, 2}),
                                   attribute("pads", Sizes{0, 1, 0, 0}), attribute("ceil_mode", std::int64_t{1}),
                                   attribute("count_include_pad", counts)})),
                  x);
  };
  // The last row of windows lies half behind the image, and the first column half in the padding.
  const Tensor corner = x.narrow(2, 6, 1).narrow(3, 0, 1);
  for (const std::int64_t counts : {0, 1}) {
    const Tensor y = averaged(counts);
    REQUIRE(y.shape() == Shape{2, 3, 4, 4});
    CHECK(close_to(y.narrow(2, 3, 1).narrow(3, 0, 1), counts == 1 ? corner / 2 : corner));
  }
  const Tensor lrn = result(image_node(node("LRN", {"x"}, {"y"},
                                            {attribute("size", std::int64_t{2}), attribute("alpha", 0.5f),
                                             attribute("beta", 0.6f), attribute("bias", 2.f)})),
                            x);
  const Tensor squares = x.square();
  const Tensor near = squares + pad(squares.narrow(1, 1, 2), {{0, 0}, {0, 0}, {0, 1}});
  CHECK(close_to(lrn, x / (near * 0.25 + 2).pow(0.6)));
}

TEST_CASE("onnx: sampling and rearranging") {
  const Tensor x = randn({1, 8, 4, 6}), grid = rand({1, 3, 5, 2}) * 2.4 - 1.2;
  CHECK(
      close_to(result(image_node(node("GridSample", {"x", "grid"}, {"y"},
                                      {attribute("mode", "cubic"), attribute("padding_mode", "reflection")}),
                                 {weight("grid", grid)}),
                      x),
               grid_sample(x, grid, {.mode = GridSampleMode::bicubic, .padding_mode = GridSamplePadding::reflection})));
  CHECK(refused(image_node(node("GridSample", {"x", "x"}, {"y"}, {attribute("mode", "bilinear")}))) ==
        Contains("mode is \"bilinear\"; supported are: linear, nearest, cubic"));
  const Tensor volume = randn({1, 2, 3, 4, 5}), inside = rand({1, 2, 2, 3, 3}) * 2.4 - 1.2;
  CHECK(close_to(result(one_node(node("GridSample", {"x", "grid"}, {"y"}, {attribute("padding_mode", "border")}),
                                 {weight("grid", inside)}, 20),
                        volume),
                 grid_sample(volume, inside, {.padding_mode = GridSamplePadding::border})));
  CHECK(refused(one_node(node("GridSample", {"x", "grid"}, {"y"}, {attribute("mode", "cubic")}),
                         {weight("grid", inside)}, 20)) == Contains("GridSample: input 1"));
  const Tensor theta = randn({1, 3, 4});
  CHECK(close_to(
      result(one_node(node("AffineGrid", {"x", "size"}, {"y"}), {numbers("size", {1, 2, 3, 4, 5})}, 20), theta),
      affine_grid(theta, {1, 2, 3, 4, 5})));
  CHECK(refused(one_node(node("AffineGrid", {"x", "size"}, {"y"}), {numbers("size", {1, 2, 3})}, 20)) ==
        Contains("AffineGrid: size has shape (3)"));
  const Proto block = attribute("blocksize", std::int64_t{2});
  CHECK(close_to(result(image_node(node("DepthToSpace", {"x"}, {"y"}, {block, attribute("mode", "CRD")})), x),
                 pixel_shuffle(x, 2)));
  const Tensor far = result(image_node(node("DepthToSpace", {"x"}, {"y"}, {block})), x);
  CHECK(far[{0, 1, 2, 1}].item() == x[{0, 3, 1, 0}].item());  // Channel (0 · 2 + 1) · 2 + 1.
  CHECK(close_to(result(image_node(node("SpaceToDepth", {"x"}, {"y"}, {block})), far), x));
  const Tensor cropped =
      result(image_node(node("CenterCropPad", {"x", "sizes"}, {"y"}, {attribute("axes", Sizes{-1, 2})}),
                        {numbers("sizes", {3, 7})}),
             x);
  CHECK(close_to(cropped, pad(x.narrow(3, 1, 3), {{0, 0}, {1, 2}})));
}

TEST_CASE("onnx: transposed, deformed and sampled images of f16 are computed in f32") {
  manual_seed(4);
  const auto half = [](const Tensor& t) { return t.to(DType::f16); };
  const auto agrees = [&](const char* op, const std::vector<Tensor>& inputs, std::int64_t version) {
    std::vector<Tensor> narrow, wide;
    for (const Tensor& t : inputs) {
      narrow.push_back(half(t));
      wide.push_back(narrow.back().to(DType::f32));
    }
    const Tensor y = run_op({op, {}, version}, narrow)[0];
    CHECK(y.dtype() == DType::f16);
    CHECK(allclose(y.to(DType::f32), run_op({op, {}, version}, wide)[0], 2e-3, 2e-3));
  };
  agrees("ConvTranspose", {randn({1, 3, 4, 5}), randn({3, 2, 2, 3}), randn({2})}, 11);
  agrees("ConvTranspose", {randn({1, 3, 6}), randn({3, 2, 3})}, 11);
  agrees("GridSample", {randn({1, 2, 5, 4}), rand({1, 3, 3, 2}) - 0.5}, 16);
  agrees("DeformConv", {randn({1, 2, 4, 4}), randn({3, 2, 2, 2}), randn({1, 8, 3, 3})}, 19);
}
