#include "crisol/io/sampler.h"

#include "base/hash.h"
#include "base/text.h"
#include "io/shuffle.h"

namespace crisol::io {

namespace {

std::int64_t checked_count(const char* op, std::int64_t count) {
  require(count >= 0, op, "the number of samples is ", count);
  return count;
}

}  // namespace

Sampler::~Sampler() = default;

SequentialSampler::SequentialSampler(std::int64_t count) : count_(checked_count("SequentialSampler", count)) {}

std::vector<std::int64_t> SequentialSampler::order(std::int64_t) const { return in_order(count_); }

RandomSampler::RandomSampler(std::int64_t count, std::uint64_t seed)
    : count_(checked_count("RandomSampler", count)), seed_(seed) {}

std::vector<std::int64_t> RandomSampler::order(std::int64_t epoch) const {
  return shuffled(count_, seed_ * golden_ratio + static_cast<std::uint64_t>(epoch));
}

}  // namespace crisol::io
