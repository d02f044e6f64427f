// The option --dtype of the samples: training in f32, or in mixed precision.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "crisol/autocast.h"
#include "crisol/optim/grad_scaler.h"

namespace samples {

inline void add_dtype(CLI::App& app, std::string& dtype) {
  app.add_option("--dtype", dtype, "f32, or mixed precision: layers compute in f16 or bf16, parameters stay f32")
      ->capture_default_str()
      ->check(CLI::IsMember({"f32", "f16", "bf16"}));
}

/// A training step in this type computes its loss under autocast(), and steps by the scaler.
class MixedPrecision {
 public:
  explicit MixedPrecision(const std::string& dtype)
      : is_half_(dtype != "f32"),
        type_(dtype == "bf16" ? crisol::DType::bf16 : crisol::DType::f16),
        scaler_({.enabled = is_half_}) {}

  crisol::Autocast autocast() const { return crisol::Autocast(type_, is_half_); }
  crisol::optim::GradScaler& scaler() { return scaler_; }

 private:
  bool is_half_;
  crisol::DType type_;
  crisol::optim::GradScaler scaler_;
};

}  // namespace samples
