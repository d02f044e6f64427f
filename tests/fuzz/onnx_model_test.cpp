// Damaged models keep the rules of the fuzzer of models. Each run damages the same bytes, so it takes the same time.
#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "doctest/doctest.h"
#include "fuzz/onnx_model_rules.h"
#include "support/files.h"
#include "support/processes/subprocess.h"

using namespace crisol;

namespace {

using Bytes = std::string;

/// Changes, removes or repeats a few bytes.
Bytes damaged(Bytes bytes, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::ptrdiff_t>(random() % n); };
  for (std::size_t changes = 1 + random() % 2; changes > 0 && bytes.size() > 8; --changes) {
    const auto at = bytes.begin() + below(bytes.size() - 8);
    const auto count = 1 + below(8);
    switch (random() % 8) {
      case 0: *at = static_cast<char>(random() % 256); break;
      case 1: bytes.erase(at, at + count); break;
      case 2: {
        const Bytes part(at, at + count);
        bytes.insert(bytes.begin() + below(bytes.size()), part.begin(), part.end());
        break;
      }
      default: *at = static_cast<char>(*at ^ static_cast<char>(1U << (random() % 7)));
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("onnx: damaged models are refused, or loaded and run") {
  std::vector<std::string> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(CRISOL_SOURCE_DIR "/tests/fuzz/seeds/onnx_model"))
    seeds.push_back(entry.path().string());
  std::sort(seeds.begin(), seeds.end());
  REQUIRE(seeds.size() >= 7);
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/net.onnx";
  std::mt19937 random(20);
  int loaded = 0, refused = 0;
  for (const std::string& seed : seeds) {
    CAPTURE(seed);
    const Bytes bytes = testing::read_file(seed);
    CHECK(fuzz::check_onnx_model(seed, bytes.size()));
    for (int i = 0; i < 200; ++i) {
      const Bytes other = damaged(bytes, random);
      testing::write_file(path, other);
      ++(fuzz::check_onnx_model(path, other.size()) ? loaded : refused);
    }
  }
  CHECK(loaded > 50);
  CHECK(refused > 50);
}
