#include "crisol/training.h"

#include <cmath>
#include <filesystem>
#include <limits>

#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/files.h"
#include "support/processes/subprocess.h"

using namespace crisol;
using doctest::Contains;
using testing::read_file;
using testing::TemporaryFolder;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("metrics go to JSON lines and CSV, row by row") {
  const TemporaryFolder folder;
  const std::string json = folder.path() + "/m.jsonl", csv = folder.path() + "/m.csv";
  {
    training::MetricsFile a(json), b(csv);
    for (training::MetricsFile* file : {&a, &b}) {
      file->write({{"epoch", 1}, {"the \"loss\"", 0.1f}, {"rate", 0.1}, {"done", false}});
      file->write({{"epoch", std::int64_t{1} << 60}, {"the \"loss\"", nan_value}, {"rate", 1e-300}, {"done", true}});
    }
    // The rows are in the file before it is closed.
    CHECK(read_file(json) ==
          "{\"epoch\": 1, \"the \\\"loss\\\"\": 0.1, \"rate\": 0.1, \"done\": false}\n"
          "{\"epoch\": 1152921504606846976, \"the \\\"loss\\\"\": null, \"rate\": 1e-300, \"done\": true}\n");
  }
  CHECK(read_file(csv) ==
        "epoch,\"the \"\"loss\"\"\",rate,done\n1,0.1,0.1,false\n1152921504606846976,nan,1e-300,true\n");
  training::MetricsFile more(csv, true);
  testing::check_error([&] { more.write({{"epoch", 3}}); }, {"[MetricsFile]", "other columns"});
  more.write({{"epoch", 3}, {"the \"loss\"", 2}, {"rate", infinity}, {"done", true}});
  CHECK(read_file(csv).ends_with("true\n3,2,inf,true\n"));
  training::MetricsFile again(csv);
  CHECK(read_file(csv).empty());
  testing::check_error([&] { again.write({{"a", 1}, {"a", 2}}); }, {"\"a\" is there twice"});
  testing::check_error([&] { again.write({}); }, {"an empty row"});
  testing::check_error([&] { training::MetricsFile(folder.path() + "/m.txt"); },
                       {"[MetricsFile]", "neither with .jsonl"});
  CHECK(testing::refusal(ErrorCode::io, [&] { training::MetricsFile(folder.path() + "/none/m.csv"); }) ==
        Contains("m.csv cannot be written: "));
}

TEST_CASE("early stopping waits for an improvement") {
  training::EarlyStopping stopping({.patience = 2, .min_delta = 0.1});
  CHECK(stopping.best() == infinity);
  CHECK(stopping.update(1.0));
  CHECK_FALSE(stopping.update(0.95));  // Too small an improvement.
  CHECK_FALSE(stopping.stop());
  CHECK(stopping.update(0.85));
  CHECK_FALSE(stopping.update(nan_value));
  CHECK_FALSE(stopping.stop());
  CHECK_FALSE(stopping.update(0.85));
  CHECK(stopping.stop());
  CHECK(stopping.best() == 0.85);
  CHECK(stopping.best_at() == 3);

  training::EarlyStopping highest({.patience = 1, .maximize = true});
  CHECK(highest.update(-5));
  CHECK(highest.update(-4));
  CHECK_FALSE(highest.update(-4));
  CHECK(highest.stop());
  testing::check_error([] { training::EarlyStopping({.patience = 0}); }, {"[EarlyStopping]", "patience 0"});
  testing::check_error([] { training::EarlyStopping({.min_delta = -1}); }, {"min_delta -1"});
  testing::check_error([] { training::EarlyStopping({.min_delta = nan_value}); }, {"min_delta nan"});
}

TEST_CASE("early stopping goes on from its state") {
  training::EarlyStopping a({.patience = 2}), b({.patience = 2});
  b.load_state_dict(a.state_dict());  // Before the first value the best is infinity.
  CHECK(b.update(1e300));
  CHECK(a.update(1.0 / 3));
  CHECK_FALSE(a.update(0.5));
  b.load_state_dict(a.state_dict());
  CHECK(b.best() == 1.0 / 3);
  CHECK(b.best_at() == 1);
  CHECK_FALSE(b.stop());
  CHECK_FALSE(b.update(0.5));
  CHECK(b.stop());
  NamedTensors state = a.state_dict();
  state[3].second = full({}, 7, DType::i64);
  testing::check_error([&] { b.load_state_dict(state); }, {"[load_state_dict]", "7 without improvement"});
  state.pop_back();
  testing::check_error([&] { b.load_state_dict(state); }, {"[load_state_dict]", "waited"});
  CHECK(b.best_at() == 1);
}

TEST_CASE("the best checkpoint keeps the best state, also over a restart") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/best.safetensors";
  const auto state = [](float value) { return NamedTensors{{"w", full({2}, value)}}; };
  {
    training::BestCheckpoint best(path);
    CHECK_FALSE(best.update(nan_value, state(0)));
    CHECK_FALSE(std::filesystem::exists(path));
    CHECK(best.update(1.0 / 3, state(1), {{"epoch", "1"}}));
    CHECK_FALSE(best.update(0.4, state(2)));
    CHECK(best.load()[0].second.to_vector<float>() == std::vector<float>{1, 1});
  }
  training::BestCheckpoint resumed(path, false, true);
  CHECK(resumed.best() == 1.0 / 3);
  CHECK_FALSE(resumed.update(1.0 / 3, state(3)));
  CHECK(io::parse_safetensors(path).metadata.at("epoch") == "1");
  CHECK(resumed.update(0.25, state(4)));
  CHECK(resumed.load()[0].second.to_vector<float>() == std::vector<float>{4, 4});
  training::BestCheckpoint fresh(path, true);
  CHECK(fresh.best() == -infinity);
  CHECK(fresh.update(-7, state(5)));
  CHECK(training::BestCheckpoint(folder.path() + "/new", false, true).best() == infinity);
  io::save_safetensors(path, state(1));
  CHECK(testing::refusal(ErrorCode::io, [&] { training::BestCheckpoint(path, false, true); }) ==
        Contains("has no value crisol.best"));
}

TEST_CASE("progress counts steps and says when a line is due") {
  training::Progress progress("epoch 1/1", 20, "images");
  int due = 0;
  for (int i = 0; i < 20; ++i)
    if (progress.step(3)) {
      ++due;
      progress.show({{"loss", 0.25}, {"correct", i}});
    }
  CHECK(due >= 2);
  CHECK(due <= 20);
  CHECK(progress.units() == 60);
  CHECK(progress.seconds() >= 0);
  training::Progress none("nothing", 0);
  testing::check_error([] { training::Progress("x", -1); }, {"[Progress]", "steps -1"});
}
