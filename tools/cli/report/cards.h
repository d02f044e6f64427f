// Numbers that vendors and databases state about cards; none of them was measured.
#pragma once

#include <span>

namespace crisol::cli::report {

enum class CardSource : unsigned char { techpowerup, vendor_matrix, vendor };

struct Card {
  const char* name;
  int year;
  const char* memory_type;
  double memory_gb, gbps, fp32_tflops;
  double fp16_tflops;  ///< Without sparsity; 0: none stated.
  bool fp16_in_matrix_units;
  CardSource source;
};

/// The rows of cards.def.
std::span<const Card> cards();

/// The document and its year.
const char* text_of(CardSource source);

}  // namespace crisol::cli::report
