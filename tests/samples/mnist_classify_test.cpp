// mnist classify: pictures as users have them, and files that are no pictures.
#if __has_include(<stb/stb_image_write.h>)
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "crisol/autograd.h"
#include "crisol/functions/softmax.h"
#include "crisol/io/safetensors.h"
#include "crisol/nn/models/simple_cnn.h"
#include "digits/digits.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/program.h"
#include "support/skip.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb/stb_image_write.h>

namespace crisol {

namespace {

using testing::contains;
using testing::few_images_only;
using testing::ProcessResult;
using testing::TemporaryFolder;

ProcessResult run_mnist(const std::vector<std::string>& arguments, const testing::Environment& environment = {}) {
  return testing::run_built("mnist", arguments, environment);
}

struct Trained {
  explicit Trained(bool few) {
    result = run_mnist({"train", "--digits", few ? "20" : "6000", "--epochs", "1", "--batch", few ? "20" : "64",
                        "--weights", weights});
    REQUIRE_MESSAGE(result.status == 0, result.output);
  }

  TemporaryFolder folder;
  std::string weights = folder.path() + "/weights";
  ProcessResult result;
};

using Glyph = std::array<std::uint8_t, 784>;

// One image of each digit, out of 200 that the training did not see. The model is most confident about these images.
std::vector<Glyph> surest_digits(const std::string& weights) {
  const io::ImageSet images = samples::render_digits(200, 987654321);
  std::vector<float> input(images.pixels.size());
  std::transform(images.pixels.begin(), images.pixels.end(), input.begin(),
                 [](std::uint8_t pixel) { return (static_cast<float>(pixel) / 255 - 0.1307f) / 0.3081f; });
  nn::SimpleCNN model;
  model.load_state_dict(io::load_safetensors(weights));
  const NoGrad no_grad;
  const std::vector<float> p = softmax(model(from_vector(input, {200, 1, 28, 28})), 1).to_vector<float>();
  std::vector<Glyph> glyphs(10);
  std::vector<float> best(10, -1);
  for (std::size_t i = 0; i < 200; ++i) {
    const std::size_t label = images.labels[i];
    if (p[10 * i + label] <= best[label]) continue;
    best[label] = p[10 * i + label];
    std::copy_n(images.pixels.begin() + static_cast<std::ptrdiff_t>(784 * i), 784, glyphs[label].begin());
  }
  return glyphs;
}

struct Picture {
  const char* name;
  int width, height, glyph;  // The glyph is scaled to this many pixels, off centre.
  double paper, ink;
  int channels;  // 1 grey, 3 colours, 4 transparent paper.
  bool jpeg;
};

constexpr Picture pictures[] = {
    {"large, dark on light, grey PNG", 400, 560, 330, 255, 0, 1, false},
    {"large, light on dark, colour PNG", 640, 300, 250, 10, 240, 3, false},
    {"large, pale pencil on grey, JPEG", 500, 420, 300, 200, 90, 3, true},
    {"large, light on dark, JPEG", 300, 300, 280, 0, 255, 1, true},
    {"small, light on dark, PNG", 28, 28, 28, 0, 255, 1, false},
    {"small, dark on light, JPEG", 45, 36, 30, 255, 0, 3, true},
    {"large, dark on nothing, PNG", 350, 350, 300, 255, 0, 4, false},
};

// The glyph's ink at a point of 0 … 28 in each direction, interpolated linearly between pixel centres.
double ink_at(const Glyph& glyph, double x, double y) {
  const auto pixel = [&](double px, double py) {
    return px < 0 || py < 0 || px > 27 || py > 27 ? 0.0 : glyph[static_cast<std::size_t>(py * 28 + px)] / 255.0;
  };
  const double left = std::floor(x - 0.5), top = std::floor(y - 0.5), u = x - 0.5 - left, v = y - 0.5 - top;
  return (pixel(left, top) * (1 - u) + pixel(left + 1, top) * u) * (1 - v) +
         (pixel(left, top + 1) * (1 - u) + pixel(left + 1, top + 1) * u) * v;
}

void draw(const std::string& path, const Picture& picture, const Glyph& glyph) {
  std::vector<std::uint8_t> bytes;
  const double left = (picture.width - picture.glyph) * 0.6, top = (picture.height - picture.glyph) * 0.3;
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x) {
      const double ink = ink_at(glyph, (x + 0.5 - left) * 28 / picture.glyph, (y + 0.5 - top) * 28 / picture.glyph);
      if (picture.channels == 4) {  // Black; the ink sets the opacity.
        bytes.insert(bytes.end(), {0, 0, 0, static_cast<std::uint8_t>(std::lround(255 * ink))});
      } else {
        const double value = picture.paper + (picture.ink - picture.paper) * ink;
        bytes.insert(bytes.end(), static_cast<std::size_t>(picture.channels),
                     static_cast<std::uint8_t>(std::lround(value)));
      }
    }
  const int written =
      picture.jpeg ? stbi_write_jpg(path.c_str(), picture.width, picture.height, picture.channels, bytes.data(), 85)
                   : stbi_write_png(path.c_str(), picture.width, picture.height, picture.channels, bytes.data(), 0);
  REQUIRE(written != 0);
}

}  // namespace

TEST_CASE("mnist classify names the digit in pictures of every kind" * doctest::test_suite("long")) {
  NEEDS_SAMPLE("mnist");
  const TemporaryFolder folder;
  const Trained trained(few_images_only());
  std::vector<std::string> arguments{"classify", "--weights", trained.weights};
  // After few images the model only guesses. Then one picture is enough to show that the program runs.
  const std::size_t kinds = few_images_only() ? 1 : std::size(pictures), digits = few_images_only() ? 1 : 10;
  const std::vector<Glyph> glyphs = few_images_only() ? std::vector<Glyph>(1) : surest_digits(trained.weights);
  const auto path_of = [&](std::size_t kind, std::size_t digit) {
    return folder.path() + "/" + std::to_string(kind) + "-" + std::to_string(digit);
  };
  for (std::size_t kind = 0; kind < kinds; ++kind)
    for (std::size_t digit = 0; digit < digits; ++digit) {
      Glyph glyph = glyphs[digit];
      if (few_images_only()) std::fill_n(glyph.begin() + 300, 200, std::uint8_t{255});
      draw(path_of(kind, digit), pictures[kind], glyph);
      arguments.push_back(path_of(kind, digit));
    }
  const ProcessResult result = run_mnist(arguments);
  REQUIRE_MESSAGE(result.status == 0, result.output);
  for (std::size_t kind = 0; kind < kinds; ++kind)
    for (std::size_t digit = 0; digit < digits; ++digit) {
      const std::string begin = path_of(kind, digit) + ": ";
      const std::size_t at = result.output.find(begin);
      REQUIRE(at != std::string::npos);
      CAPTURE(pictures[kind].name);
      if (!few_images_only()) CHECK(result.output.substr(at + begin.size(), 2) == std::to_string(digit) + "\n");
    }
  CHECK(contains(result.output, " %  "));
  CHECK(contains(result.output, "@@@@"));  // The image that the network saw.
}

TEST_CASE("mnist classify names the file that is missing, broken or blank, and goes on with the others") {
  NEEDS_SAMPLE("mnist");
  const TemporaryFolder folder;
  const std::string good = folder.path() + "/good.png", missing = folder.path() + "/missing.png",
                    text = folder.path() + "/text.png", cut = folder.path() + "/cut.png",
                    blank = folder.path() + "/blank.jpg", single = folder.path() + "/single.png";
  Glyph glyph{};
  std::fill_n(glyph.begin() + 300, 200, std::uint8_t{255});
  draw(good, pictures[0], glyph);
  testing::write_file(text, "this is no picture");
  testing::write_file(cut, testing::read_file(good).substr(0, testing::read_file(good).size() / 2));
  draw(blank, pictures[2], Glyph{});
  const std::uint8_t pixel = 7;
  REQUIRE(stbi_write_png(single.c_str(), 1, 1, 1, &pixel, 0) != 0);

  const Trained trained(true);  // Any digit is a right answer here.
  const ProcessResult result =
      run_mnist({"classify", "--weights", trained.weights, missing, text, cut, blank, single, good});
  CHECK(result.status == 1);
  for (const std::string& part : {missing + ": No such file", text + ": no PNG or JPEG", cut + ": no PNG or JPEG",
                                  blank + ": no ink", single + ": no ink", good + ": "})
    CHECK_MESSAGE(contains(result.output, part), "\"" << part << "\" is not in: " << result.output);
}

TEST_CASE("mnist classify refuses weights that are missing, broken or another model's") {
  NEEDS_SAMPLE("mnist");
  const TemporaryFolder folder;
  const auto check = [&](const std::string& path, std::initializer_list<std::string> parts) {
    const ProcessResult result = run_mnist({"classify", "--weights", path, "picture.png"});
    CHECK(result.status == 1);
    CHECK(contains(result.output, path));
    for (const std::string& part : parts)
      CHECK_MESSAGE(contains(result.output, part), "\"" << part << "\" is not in: " << result.output);
  };
  check(folder.path() + "/missing", {"no such file"});
  testing::write_file(folder.path() + "/text", "this is no safetensors file");
  check(folder.path() + "/text", {"[safetensors]"});
  io::save_safetensors(folder.path() + "/other", {{"fc2.bias", zeros({3})}, {"fc3.bias", zeros({3})}});
  check(folder.path() + "/other", {"missing: conv1.weight", "different: fc2.bias", "unexpected: fc3.bias"});
}

}  // namespace crisol

#else
#include "doctest/doctest.h"
#include "support/skip.h"

TEST_CASE("mnist classify") { CRISOL_SKIP("stb_image_write.h is missing (Debian: libstb-dev)"); }
#endif
