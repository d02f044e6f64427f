#include <bit>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/system.h"
#include "base/text.h"
#include "crisol/training.h"
#include "tensor/named_tensors.h"

namespace crisol::training {

namespace {

constexpr const char* value_key = "crisol.best";

double worst(bool maximize) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return maximize ? -infinity : infinity;
}

bool is_better(double value, double best, double min_delta, bool maximize) {
  return maximize ? value > best + min_delta : value < best - min_delta;
}

}  // namespace

EarlyStopping::EarlyStopping(const EarlyStoppingOptions& options) : options_(options), best_(worst(options.maximize)) {
  require(options.patience >= 1, "EarlyStopping", "patience ", options.patience, " must be at least 1");
  require(options.min_delta >= 0 && std::isfinite(options.min_delta), "EarlyStopping", "min_delta ", options.min_delta,
          " must be 0 or more, and finite");
}

bool EarlyStopping::update(double value) {
  ++values_;
  if (!is_better(value, best_, options_.min_delta, options_.maximize)) {
    ++waited_;
    return false;
  }
  best_ = value;
  best_at_ = values_;
  waited_ = 0;
  return true;
}

NamedTensors EarlyStopping::state_dict() const {
  return {{"best", whole_number(std::bit_cast<std::int64_t>(best_))},
          {"values", whole_number(values_)},
          {"best_at", whole_number(best_at_)},
          {"waited", whole_number(waited_)}};
}

void EarlyStopping::load_state_dict(const NamedTensors& state) {
  const auto given = match_state("load_state_dict", state_dict(), state);
  const auto count = [&](const char* name) { return given.at(name).item<std::int64_t>(); };
  const std::int64_t values = count("values"), best_at = count("best_at"), waited = count("waited");
  require(best_at >= 0 && waited >= 0 && best_at <= values && waited == values - best_at, "load_state_dict",
          "early stopping after ", values, " values, the best at ", best_at, ", and ", waited, " without improvement");
  best_ = std::bit_cast<double>(count("best"));
  values_ = values;
  best_at_ = best_at;
  waited_ = waited;
}

BestCheckpoint::BestCheckpoint(std::string path, bool maximize, bool resume)
    : path_(std::move(path)), maximize_(maximize), best_(worst(maximize)) {
  if (!resume || !std::filesystem::exists(system::path_of(path_))) return;
  const io::Metadata metadata = io::parse_safetensors(path_).metadata;
  const auto found = metadata.find(value_key);
  const std::string text = found == metadata.end() ? std::string() : found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), best_);
  if (error != std::errc() || end != text.data() + text.size())
    fail(ErrorCode::io, "BestCheckpoint", path_, ": its metadata has no value ", value_key);
}

bool BestCheckpoint::update(double value, const NamedTensors& state, io::Metadata metadata) {
  if (!is_better(value, best_, 0, maximize_)) return false;
  char text[32];
  metadata[value_key] = std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
  io::save_safetensors(path_, state, metadata);
  best_ = value;
  return true;
}

NamedTensors BestCheckpoint::load(Device device) const { return io::load_safetensors(path_, device); }

}  // namespace crisol::training
