// The host memory of samples.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "crisol/io/dataset.h"

namespace crisol::io {

inline std::size_t bytes_of(const Field& field) {
  return static_cast<std::size_t>(field.shape.numel()) * size_of(field.dtype);
}

/// Memory for one sample that belongs to no batch. `fields` must outlive it.
class HostSample {
 public:
  HostSample(const std::vector<Field>& fields, std::uint64_t seed) : sample_(fields, nullptr, seed) {
    for (const Field& field : fields) {
      memory_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes_of(field)));
      places_.push_back(memory_.back().get());
    }
    sample_ = Sample(fields, places_.data(), seed);
  }
  HostSample(const HostSample&) = delete;
  HostSample& operator=(const HostSample&) = delete;

  const Sample& sample() const noexcept { return sample_; }

 private:
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<std::byte*> places_;
  Sample sample_;
};

}  // namespace crisol::io
