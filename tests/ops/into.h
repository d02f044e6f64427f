// Tests of NAME_into, which writes the result of NAME to a given tensor.
#pragma once

#include <functional>
#include <vector>

#include "crisol/tensor.h"

namespace crisol::testing {

using Tensors = std::vector<Tensor>;

struct IntoCase {
  const char* name;
  Tensors inputs;
  std::function<Tensors(const Tensors& in)> plain;
  std::function<void(const Tensors& out, const Tensors& in)> into;
  bool every_layout = true;  ///< Else the offset one, whose kernels other tests compile too.
  bool reads_all = true;     ///< Some derivatives read less than they get.
};

// The calls with one, two and three results. `in` are the inputs.
// clang-format off
#define ONE(inputs, name, ...)                                                       \
  crisol::testing::IntoCase{#name, inputs,                                                                \
       [](const Tensors& in) { return Tensors{ops::name(__VA_ARGS__)}; },            \
       [](const Tensors& out, const Tensors& in) { ops::name##_into(out[0], __VA_ARGS__); }}
#define TWO(inputs, name, first, second, ...)                                        \
  crisol::testing::IntoCase{#name, inputs,                                                                \
       [](const Tensors& in) {                                                       \
         const auto made = ops::name(__VA_ARGS__);                                   \
         return Tensors{made.first, made.second};                                    \
       },                                                                            \
       [](const Tensors& out, const Tensors& in) { ops::name##_into(out[0], out[1], __VA_ARGS__); }}
#define THREE(inputs, name, first, second, third, ...)                               \
  crisol::testing::IntoCase{#name, inputs,                                                                \
       [](const Tensors& in) {                                                       \
         const auto made = ops::name(__VA_ARGS__);                                   \
         return Tensors{made.first, made.second, made.third};                        \
       },                                                                            \
       [](const Tensors& out, const Tensors& in) { ops::name##_into(out[0], out[1], out[2], __VA_ARGS__); }}
// clang-format on

/// The part of check_into about layouts. `expected` are the results of NAME.
void check_layouts(const IntoCase& c, const Tensors& expected);

/// NAME_into gives the same bits as NAME in every layout of out, writes nothing else, and refuses what it cannot write.
void check_into(const std::vector<IntoCase>& cases);

/// Whether tensors have the same bits as others.
void check_bits(const Tensors& results, const Tensors& expected);

}  // namespace crisol::testing
