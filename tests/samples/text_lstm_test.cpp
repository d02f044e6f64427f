// The text_lstm program: training and its files, resuming after a kill, writing text, the command line.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "crisol/device.h"
#include "crisol/io/checkpoint.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/program.h"
#include "support/skip.h"

namespace crisol {

namespace {

using testing::check_fails;
using testing::contains;
using testing::few_images_only;
using testing::ProcessResult;
using testing::read_file;
using testing::TemporaryFolder;
using testing::write_file;
using testing::operator+;
using Arguments = std::vector<std::string>;

ProcessResult run_text_lstm(const Arguments& arguments, const testing::Environment& environment = {}) {
  return testing::run_built("text_lstm", arguments, environment);
}

// This sentence is repeated, so that the text is predictable. It has 40 characters; two of them have more than one
// byte.
const std::string sentence = "Zwölf Boxkämpfer jagen Viktor im Kreis.\n";

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

int steps_of(int many) { return few_images_only() ? many / 5 : many; }

// A folder with a text, and the arguments of a small training on it.
struct Small {
  Small() { write_file(path("text"), repeated(sentence, 60)); }

  std::string path(const std::string& name) const { return folder.path() + "/" + name; }
  // `changed` replaces some of the values.
  Arguments training(int steps, const std::map<std::string, std::string>& changed = {}) const {
    std::map<std::string, std::string> options{
        {"--text", path("text")}, {"--steps", std::to_string(steps)}, {"--hidden", std::to_string(hidden)},
        {"--embedding", "8"},     {"--batch", std::to_string(batch)}, {"--window", std::to_string(window)},
        {"--lr", "0.03"}};
    for (const auto& [name, value] : changed) options[name] = value;
    Arguments all{"train"};
    for (const auto& [name, value] : options) all = all + Arguments{name, value};
    return all;
  }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      names.insert(entry.path().filename().string());
    return names;
  }

  TemporaryFolder folder;
  int hidden = few_images_only() ? 4 : 16, batch = few_images_only() ? 4 : 8, window = few_images_only() ? 4 : 16;
};

nlohmann::json losses_of(const std::string& path) {
  nlohmann::json losses = nlohmann::json::array();
  for (const nlohmann::json& v : nlohmann::json::parse(read_file(path))["validations"])
    losses.push_back({v["step"], v["train_loss"], v["validation_loss"]});
  return losses;
}

}  // namespace

TEST_CASE("text_lstm train writes metrics and weights, and the seed fixes every bit of them") {
  NEEDS_SAMPLE("text_lstm");
  const Small small;
  const int steps = steps_of(40), half = steps / 2;
  const Arguments training =
      small.training(steps) + Arguments{"--dropout", "0.1", "--validate-every", std::to_string(half)};
  const ProcessResult result =
      run_text_lstm(training + Arguments{"--weights", small.path("first"), "--json", small.path("json")});
  REQUIRE_MESSAGE(result.status == 0, result.output);
  for (const std::string& part : {std::string("2160 characters to train on, 240 to validate, 26 different ones"),
                                  "step " + std::to_string(half) + "/" + std::to_string(steps) + ": train loss ",
                                  std::string(" nats per character, ")})
    CHECK_MESSAGE(contains(result.output, part), result.output);
  CHECK(contains(result.output, "device: " + Device().name()));
  CHECK_FALSE(contains(result.output, "\r"));  // A pipe is no terminal.

  const nlohmann::json json = nlohmann::json::parse(read_file(small.path("json")));
  CHECK(json["device"] == Device().name());
  CHECK(json["characters"] == 2400);
  CHECK(json["vocabulary"] == 26);
  REQUIRE(json["validations"].size() == 2);
  const nlohmann::json &first = json["validations"][0], &last = json["validations"][1];
  CHECK(first["step"] == half);
  CHECK(last["step"] == steps);
  CHECK(first["train_loss"] < std::log(26.0) + 0.2);  // The loss of equal probabilities, with room for the first steps.
  CHECK(last["train_loss"] < first["train_loss"]);
  CHECK(last["validation_loss"] < first["validation_loss"]);
  const double characters = last["characters_per_second"].get<double>() * last["seconds"].get<double>();
  CHECK(characters == doctest::Approx(half * small.batch * small.window).epsilon(0.01));

  CHECK(run_text_lstm(training + Arguments{"--weights", small.path("again")}).status == 0);
  CHECK(read_file(small.path("again")) == read_file(small.path("first")));
  const ProcessResult piped =
      run_text_lstm(training + Arguments{"--weights", small.path("other"), "--seed", "1", "--json", "-"});
  CHECK(piped.status == 0);
  CHECK(nlohmann::json::parse(piped.out)["validations"].size() == 2);  // Standard output holds nothing else.
  CHECK(contains(piped.errors, "device: " + Device().name()));
  CHECK(read_file(small.path("other")) != read_file(small.path("first")));
  CHECK(small.files() == std::set<std::string>{"again", "first", "json", "other", "text"});
}

TEST_CASE("text_lstm learns more of Shakespeare than which character follows which" * doctest::test_suite("long")) {
  NEEDS_SAMPLE("text_lstm");
  const char* data = std::getenv("CRISOL_TEST_DATA");
  if (data == nullptr) CRISOL_SKIP("CRISOL_TEST_DATA is not set");
  if (few_images_only()) CRISOL_SKIP("a training takes too long here");
  const TemporaryFolder folder;
  const std::string json = folder.path() + "/json";
  const ProcessResult result =
      run_text_lstm({"train", "--text", data + std::string("/tinyshakespeare.txt"), "--hidden", "64", "--embedding",
                     "32", "--batch", "32", "--window", "32", "--steps", "150", "--lr", "0.02", "--json", json});
  REQUIRE_MESSAGE(result.status == 0, result.output);
  // Measured on PoCL with seeds 0 to 2: 2.24 to 2.28. The frequencies of character pairs alone give 2.48.
  CHECK(nlohmann::json::parse(read_file(json))["validations"].back()["validation_loss"] < 2.35);
}

namespace {

void check_resumed(const std::string& dtype) {
  const Small small;
  const Arguments training =
      small.training(steps_of(150), {{"--dtype", dtype}}) +
      Arguments{"--dropout", "0.2", "--validate-every", few_images_only() ? "15" : "25", "--checkpoint-every", "7"};
  const auto results = [&](const std::string& name) {
    return Arguments{"--weights", small.path(name), "--json", small.path(name + ".json")};
  };
  const ProcessResult whole = run_text_lstm(training + results("whole"));
  REQUIRE_MESSAGE(whole.status == 0, whole.output);

  const std::string checkpoint = small.path("checkpoint");
  const Arguments resumed = training + results("resumed") + Arguments{"--checkpoint", checkpoint, "--resume"};
  // Kills the training when it has written a checkpoint. A fast device can finish before the test sees this; then it
  // starts again.
  const auto killed_after = [&](const std::string& before) {
    ProcessResult result;
    for (int attempt = 0; attempt < 20 && result.status != 128 + 9; ++attempt) {
      std::filesystem::remove(checkpoint);
      if (!before.empty()) write_file(checkpoint, before);
      result = testing::run_built_and_kill(
          "text_lstm", resumed, [&] { return std::filesystem::exists(checkpoint) && read_file(checkpoint) != before; });
    }
    CHECK_MESSAGE(result.status == 128 + 9, result.output);
    return result;
  };
  CHECK(contains(killed_after("").output, "no checkpoint at " + checkpoint));
  killed_after(read_file(checkpoint));  // Kills the process that resumes from it.
  const ProcessResult last = run_text_lstm(resumed);
  REQUIRE_MESSAGE(last.status == 0, last.output);
  CHECK(contains(last.output, "resumed after step "));
  CHECK(read_file(small.path("resumed")) == read_file(small.path("whole")));
  CHECK(losses_of(small.path("resumed.json")) == losses_of(small.path("whole.json")));

  // A finished training only has to write its results.
  std::filesystem::remove(small.path("resumed"));
  CHECK(run_text_lstm(resumed).status == 0);
  CHECK(read_file(small.path("resumed")) == read_file(small.path("whole")));
}

}  // namespace

TEST_CASE("text_lstm train goes on after kill -9 as if nothing had happened, also in mixed precision") {
  NEEDS_SAMPLE("text_lstm");
  for (const char* dtype : {"f32", "f16"}) check_resumed(dtype);
}

TEST_CASE("text_lstm train refuses checkpoints of other trainings, and leaves them as they are") {
  NEEDS_SAMPLE("text_lstm");
  const Small small;
  const std::string checkpoint = small.path("checkpoint");
  const Arguments keep{"--checkpoint", checkpoint, "--resume"};
  REQUIRE(run_text_lstm(small.training(3) + keep).status == 0);
  const std::string before = read_file(checkpoint);

  check_fails(run_text_lstm(small.training(3, {{"--hidden", "12"}, {"--seed", "4"}}) + keep),
              {checkpoint, "hidden is 12, there " + std::to_string(small.hidden), "seed is 4, there 0"});
  check_fails(run_text_lstm(small.training(5) + keep), {checkpoint, "steps is 5, there 3"});
  write_file(small.path("text"), repeated(sentence, 61));
  check_fails(run_text_lstm(small.training(3) + keep),
              {checkpoint, "text is 2440 characters, hash ", ", there 2400 characters, hash "});
  CHECK(read_file(checkpoint) == before);

  write_file(small.path("text"), repeated(sentence, 60));
  for (const std::string& broken : {before.substr(0, before.size() / 2), std::string("no checkpoint")}) {
    write_file(checkpoint, broken);
    check_fails(run_text_lstm(small.training(3) + keep), {checkpoint, "[safetensors]"});
    CHECK(read_file(checkpoint) == broken);
  }
  io::save_safetensors(checkpoint, {{"w", ones({2})}});
  check_fails(run_text_lstm(small.training(3) + keep), {checkpoint, "no checkpoint"});
}

TEST_CASE("text_lstm sample writes what it learned") {
  NEEDS_SAMPLE("text_lstm");
  const Small small;
  const std::string weights = small.path("weights");
  REQUIRE(run_text_lstm(small.training(steps_of(150)) + Arguments{"--weights", weights}).status == 0);
  const Arguments sampling{"sample", "--weights", weights, "--length", "80"};
  const auto sampled = [&](const Arguments& more) {
    ProcessResult result = run_text_lstm(sampling + more);
    CHECK_MESSAGE(result.status == 0, result.output);
    return result.out;
  };
  // With the likeliest character at each step, the sentence repeats.
  if (!few_images_only())
    CHECK(sampled({"--prompt", "Zwölf Box", "--top-k", "1", "--temperature", "2"}) ==
          (repeated(sentence, 3).substr(0, 9 + 1 + 80 + 2 * 2) + "\n"));
  const Arguments warm{"--prompt", "Kreis", "--temperature", "1.5"};
  const std::string text = sampled(warm + Arguments{"--seed", "1"});
  CHECK(text.substr(0, 5) == "Kreis");
  CHECK(text == sampled(warm + Arguments{"--seed", "1"}));
  CHECK(text != sampled(warm + Arguments{"--seed", "2"}));

  check_fails(run_text_lstm(sampling + Arguments{"--prompt", "Quiz €"}),
              {"the prompt holds characters that the network does not know: 'Quz€'"});
#ifndef _WIN32  // There, arguments are UTF-16.
  check_fails(run_text_lstm(sampling + Arguments{"--prompt", "Zw\xf6lf"}), {"the prompt is not UTF-8: byte 2 of 5"});
#endif
  // Without a prompt, the text starts with a new line.
  if (!few_images_only()) CHECK(sampled({"--temperature", "0"}).substr(0, 43) == sentence + "Z");
}

TEST_CASE("text_lstm sample refuses weights that are missing, broken or another program's") {
  NEEDS_SAMPLE("text_lstm");
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/weights";
  const auto check = [&](std::initializer_list<std::string> parts) {
    const ProcessResult result = run_text_lstm({"sample", "--weights", path});
    check_fails(result, parts);
    CHECK(contains(result.output, path));
  };
  check({"no such file"});
  write_file(path, "this is no safetensors file");
  check({"[safetensors]"});
  io::save_safetensors(path, {{"w", ones({2})}}, {{"model", "cnn"}});
  check({"model is cnn"});
  io::Metadata metadata{
      {"model", "text_lstm"}, {"vocabulary", "ab"}, {"layers", "1"}, {"embedding", "2"}, {"hidden", "x"}};
  io::save_safetensors(path, {{"w", ones({2})}}, metadata);
  check({"hidden is 'x'"});
  metadata["hidden"] = "3";
  metadata["vocabulary"] = "";
  io::save_safetensors(path, {{"w", ones({2})}}, metadata);
  check({"holds no weights of text_lstm"});
  metadata["vocabulary"] = "ab";
  io::save_safetensors(path, {{"w", ones({2})}}, metadata);
  check({"missing: decoder.weight", "unexpected: w"});
  metadata.erase("vocabulary");
  io::save_safetensors(path, {{"w", ones({2})}}, metadata);
  check({"vocabulary is missing"});
}

TEST_CASE("text_lstm train refuses texts that it cannot learn, and outputs that cannot be, before it trains") {
  NEEDS_SAMPLE("text_lstm");
  const Small small;
  const auto check = [&](const std::map<std::string, std::string>& changed, std::initializer_list<std::string> parts) {
    const ProcessResult result = run_text_lstm(small.training(3, changed));
    check_fails(result, parts);
    CHECK_FALSE(contains(result.output, "loss"));
  };
  const std::string text = small.path("text");
  for (const char* option : {"--json", "--weights", "--checkpoint"})
    check({{option, small.path("missing/file")}}, {"cannot write " + small.path("missing/file")});
  check({{"--batch", "200"}, {"--window", "16"}},
        {text + " has 2400 characters: 2160 to train on", "--batch 200 and --window 16", "3201"});
  write_file(text, "");
  check({}, {text + " is empty"});
  write_file(text, "abc");
  check({{"--batch", "1"}, {"--window", "1"}}, {text + " has 3 characters", "at least 2"});
  write_file(text, repeated(sentence, 60) + "\xc3");
  check({}, {text + " is not UTF-8: byte 2520 of 2521"});
  std::filesystem::remove(text);
  check({}, {"cannot read " + text, "No such file"});
  std::filesystem::create_directory(text);
  check({}, {"cannot read " + text, "folder"});
}

TEST_CASE("text_lstm explains wrong command lines") {
  NEEDS_SAMPLE("text_lstm");
  const struct {
    Arguments arguments;
    std::string says;
  } wrong[] = {
      {{}, "subcommand is required"},
      {{"learn"}, "subcommand is required"},
      {{"train", "--steps", "0"}, "--steps"},
      {{"train", "--steps", "5", "--epochs", "5"}, "--steps excludes --epochs"},
      {{"train", "--hidden", "-1"}, "--hidden"},
      {{"train", "--lr", "nan"}, "nan is not a positive number"},
      {{"train", "--clip", "0"}, "0 is not a positive number"},
      {{"train", "--dropout", "1"}, "1 is not in [0, 1)"},
      {{"train", "--seed", "-1"}, "-1 is negative"},
      {{"train", "--resume"}, "--checkpoint"},
      {{"sample"}, "--weights is required"},
      {{"sample", "--weights", "file", "--temperature", "-1"}, "-1 is not a number from 0 up"},
      {{"sample", "--weights", "file", "--top-k", "-1"}, "--top-k"},
      {{"sample", "--weights", "file", "--length", "0"}, "--length"},
  };
  for (const auto& [arguments, says] : wrong) check_fails(run_text_lstm(arguments), {says, "--help"});
  ProcessResult result = run_text_lstm({"--help"});
  CHECK(result.status == 0);
  for (const char* part : {"train", "sample", "--device", "CRISOL_DEVICE"}) CHECK(contains(result.output, part));
}

TEST_CASE("text_lstm: --device wins over CRISOL_DEVICE, and there is a text to begin with") {
  NEEDS_SAMPLE("text_lstm");
  const Arguments training{"train", "--steps", "1", "--hidden", "8", "--batch", "2", "--window", "4"};
  const std::string here = Device().info().platform, nowhere = "no-such-device";
  ProcessResult result = run_text_lstm(training + Arguments{"--device", here}, {{"CRISOL_DEVICE", nowhere}});
  CHECK_MESSAGE(result.status == 0, result.output);
  CHECK(contains(result.output, "device: " + Device().name()));
  CHECK(contains(result.output, "crisol's README and docs"));
  check_fails(run_text_lstm(training + Arguments{"--device", nowhere}, {{"CRISOL_DEVICE", here}}),
              {"'no-such-device'", Device().name()});
}

}  // namespace crisol
