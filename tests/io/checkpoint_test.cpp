// Checkpoints: resuming a training, here and in another process, and files that are no checkpoints.
#include "crisol/io/checkpoint.h"

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>

#include "base/text.h"
#include "crisol/functions/loss.h"
#include "crisol/nn/activation.h"
#include "crisol/nn/dropout.h"
#include "crisol/nn/linear.h"
#include "crisol/nn/sequential.h"
#include "crisol/optim.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/files.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"
#include "support/small_disk.h"

namespace crisol {

namespace {

using doctest::Contains;
using io::Checkpoint;
using testing::read_file;
using testing::refusal;
using testing::TemporaryFolder;

constexpr const char* optimizers[] = {"sgd", "adam", "adamw", "rmsprop"};

std::unique_ptr<optim::Optimizer> make_optimizer(const std::string& name, const std::vector<Tensor>& parameters) {
  if (name == "adam") return std::make_unique<optim::Adam>(parameters, optim::AdamOptions{0.01});
  if (name == "adamw") return std::make_unique<optim::AdamW>(parameters, optim::AdamWOptions{0.01});
  if (name == "rmsprop")
    return std::make_unique<optim::RMSprop>(parameters, optim::RMSpropOptions{0.01, 0.9, 1e-8, 0.1, 0.5, true});
  return std::make_unique<optim::SGD>(parameters, optim::SGDOptions{0.1, 0.9, 0, 0, true});
}

// A network with dropout, a schedule that changes rate and momentum, and batches. All random numbers come from one
// generator.
struct Training {
  Training(const std::string& optimizer_name, std::uint64_t seed)
      : seeded((manual_seed(seed), true)),
        model(nn::Linear(6, 16), nn::ReLU(), nn::Dropout(0.3), nn::Linear(16, 3)),
        optimizer(make_optimizer(optimizer_name, model.parameters())),
        schedule(*optimizer, 0.02, 20) {}

  void train(int steps) {
    for (int i = 0; i < steps; ++i) {
      const Tensor x = randn({10, 6});
      const Tensor loss = cross_entropy(model(x), randint(0, 3, {10}));
      optimizer->zero_grad();
      loss.backward();
      optimizer->step();
      schedule.step();
    }
  }

  void save(const std::string& path) const {
    io::save_checkpoint(path, {model.state_dict(),
                               optimizer->state_dict(),
                               schedule.state_dict(),
                               {},
                               default_generator().state(),
                               {{"steps", std::to_string(schedule.steps())}}});
  }

  void load(const std::string& path) {
    const Checkpoint checkpoint = io::load_checkpoint(path);
    model.load_state_dict(checkpoint.model);
    optimizer->load_state_dict(checkpoint.optimizer);
    schedule.load_state_dict(checkpoint.schedule);
    default_generator().set_state(checkpoint.generator);
    CHECK(checkpoint.metadata == io::Metadata{{"steps", std::to_string(schedule.steps())}});
  }

  bool seeded;  // Set before the layers draw their initial weights.
  nn::Sequential model;
  std::unique_ptr<optim::Optimizer> optimizer;
  optim::OneCycleLR schedule;
};

void go_on(const std::string& optimizer, const std::string& from, const std::string& to) {
  Training training(optimizer, 999);
  training.load(from);
  training.train(4);
  training.save(to);
}

Checkpoint small_checkpoint() {
  return {{{"w", ones({2})}}, {{"lr", ones({3})}}, {}, {{"h", zeros({1, 2})}}, {7, 9}, {{"step", "3"}}};
}

}  // namespace

TEST_CASE("training goes on from a checkpoint bit for bit, here and in another process") {
  const TemporaryFolder folder;
  const auto path = [&](const char* optimizer, const char* what) {
    return concat(folder.path(), '/', optimizer, what);
  };
  for (const char* optimizer : optimizers) {
    CAPTURE(optimizer);
    Training whole(optimizer, 1);
    whole.train(3);
    whole.save(path(optimizer, "-middle"));
    whole.train(4);
    whole.save(path(optimizer, "-whole"));
    go_on(optimizer, path(optimizer, "-middle"), path(optimizer, "-here"));
    CHECK(read_file(path(optimizer, "-here")) == read_file(path(optimizer, "-whole")));
    CHECK(read_file(path(optimizer, "-middle")) != read_file(path(optimizer, "-whole")));
  }
  const testing::ProcessResult child =
      testing::run_child("child: goes on from checkpoints", {{"CRISOL_TEST_CHILD_FOLDER", folder.path()}});
  REQUIRE_MESSAGE(child.status == 0, child.output);
  for (const char* optimizer : optimizers)
    CHECK(read_file(path(optimizer, "-child")) == read_file(path(optimizer, "-whole")));
}

TEST_CASE("child: goes on from checkpoints" * doctest::skip()) {
  const std::string folder = std::getenv("CRISOL_TEST_CHILD_FOLDER");
  for (const char* optimizer : optimizers)
    go_on(optimizer, concat(folder, '/', optimizer, "-middle"), concat(folder, '/', optimizer, "-child"));
}

TEST_CASE("a checkpoint comes back in its parts") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/c";
  io::save_checkpoint(path, small_checkpoint());
  const Checkpoint loaded = io::load_checkpoint(path);
  REQUIRE(loaded.model.size() == 1);
  CHECK(loaded.model[0].first == "w");
  testing::check_close(loaded.model[0].second, {1, 1}, {0});
  REQUIRE(loaded.optimizer.size() == 1);
  CHECK(loaded.optimizer[0].first == "lr");
  CHECK(loaded.schedule.empty());
  REQUIRE(loaded.carried.size() == 1);
  CHECK(loaded.carried[0].second.shape() == Shape{1, 2});
  CHECK(loaded.generator == GeneratorState{7, 9});
  CHECK(loaded.metadata == io::Metadata{{"step", "3"}});
  // Seeds use all their bits.
  Checkpoint other = small_checkpoint();
  other.generator = {0xfedcba9876543210u, 1};
  io::save_checkpoint(path, other);
  CHECK(io::load_checkpoint(path).generator == other.generator);
}

TEST_CASE("files that are no checkpoints are refused by their path and what is wrong") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/c";
  const Tensor generator = from_vector(std::vector<std::int64_t>{1, 2});
  const io::Metadata mark{{"crisol.checkpoint", "1"}};
  const auto refused = [&](const NamedTensors& tensors, const io::Metadata& metadata) {
    io::save_safetensors(path, tensors, metadata);
    doctest::String text = refusal(ErrorCode::io, [&] { io::load_checkpoint(path); });
    CHECK(text == Contains((path + ": ").c_str()));
    return text;
  };
  CHECK(refused({{"w", ones({2})}}, {}) == Contains("no checkpoint"));
  CHECK(refused({{"generator", generator}}, {{"crisol.checkpoint", "2"}}) == Contains("of version 2"));
  CHECK(refused({{"generator", generator}, {"weight", ones({2})}}, mark) == Contains("\"weight\" belongs to no part"));
  CHECK(refused({{"model.w", ones({2})}}, mark) == Contains("no tensor \"generator\""));
  CHECK(refused({{"generator", ones({2})}}, mark) == Contains("generator is (2) f32, (2) i64 expected"));
  CHECK(refusal(ErrorCode::io, [&] { io::load_checkpoint(folder.path() + "/none"); }) == Contains("no such file"));
}

TEST_CASE("a checkpoint that cannot be saved leaves the one before") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/c";
  io::save_checkpoint(path, small_checkpoint());
  const std::string before = read_file(path);
  Checkpoint marked = small_checkpoint();
  marked.metadata["crisol.checkpoint"] = "x";
  CHECK(refusal(ErrorCode::invalid_argument, [&] { io::save_checkpoint(path, marked); }) ==
        Contains("crisol.checkpoint"));
  Checkpoint broken = small_checkpoint();
  broken.carried.emplace_back("h", Tensor());
  CHECK(refusal(ErrorCode::invalid_argument, [&] { io::save_checkpoint(path, broken); }) == Contains("carried.h"));
  CHECK(read_file(path) == before);
}

TEST_CASE("a checkpoint that a full or read-only disk cannot take leaves the one before, and nothing else") {
  const testing::SmallDisk disk(64);
  if (!disk.mounted()) CRISOL_SKIP(testing::no_small_disk);
  const std::string path = disk.path() + "/c";
  io::save_checkpoint(path, small_checkpoint());
  const std::string before = read_file(path);
  Checkpoint large = small_checkpoint();
  large.model[0].second = ones({1 << 16});
  const auto only_file = [&] {
    const auto files = std::filesystem::directory_iterator(disk.path());
    return std::distance(begin(files), end(files)) == 1;
  };
  CHECK(refusal(ErrorCode::io, [&] { io::save_checkpoint(path, large); }) ==
        Contains((path + " cannot be written: No space left").c_str()));
  CHECK(read_file(path) == before);
  CHECK(only_file());
  disk.make_read_only();
  CHECK(refusal(ErrorCode::io, [&] { io::save_checkpoint(path, small_checkpoint()); }) ==
        Contains((path + " cannot be created: Read-only").c_str()));
  CHECK(read_file(path) == before);
  CHECK(only_file());
}

TEST_CASE("child: trains and saves a checkpoint each step" * doctest::skip()) {
  const std::string folder = std::getenv("CRISOL_TEST_CHILD_FOLDER");
  Training training("adam", 1);
  for (int step = 1;; ++step) {
    training.train(1);
    training.save(folder + "/checkpoint");
    testing::write_file(concat(folder, "/saved-", step), "");
  }
}

TEST_CASE("kill -9 while checkpoints are written loses nothing that was saved") {
  if (testing::slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  for (const int steps : {1, 2, 4, 9}) {
    CAPTURE(steps);
    const TemporaryFolder folder;
    const auto saved = [&](int step) { return std::filesystem::exists(concat(folder.path(), "/saved-", step)); };
    // Killed during the next step, or while its checkpoint is written.
    const testing::ProcessResult killed = testing::run_program_and_kill(
        testing::own_program(), {"--no-skip", "--test-case=child: trains and saves a checkpoint each step"},
        {{"CRISOL_TEST_CHILD_FOLDER", folder.path()}, {"CRISOL_DEVICE", Device().info().platform}},
        [&] { return saved(steps); });
    CHECK_MESSAGE(killed.status == 128 + 9, killed.output);
    int last = steps;
    while (saved(last + 1)) ++last;
    const Checkpoint checkpoint = io::load_checkpoint(folder.path() + "/checkpoint");
    const int reached = std::stoi(checkpoint.metadata.at("steps"));
    CHECK((reached == last || reached == last + 1));  // The last one may be complete but not yet noted.
    // It is a valid checkpoint of this training: resuming gives the same result as training without a break.
    Training whole("adam", 1);
    whole.train(reached + 1);
    whole.save(folder.path() + "/whole");
    Training resumed("adam", 2);
    resumed.load(folder.path() + "/checkpoint");
    resumed.train(1);
    resumed.save(folder.path() + "/resumed");
    CHECK(read_file(folder.path() + "/resumed") == read_file(folder.path() + "/whole"));
  }
}

}  // namespace crisol
