// Convolutions that the tests and `crisol selftest` run, and the allowed error.
#pragma once

#include "crisol/ops/conv.h"
#include "crisol/shape.h"
#include "reference/compare.h"

namespace crisol::reference {

struct Conv2dCase {
  Shape x, weight;
  Conv2dOptions options;
};

inline const Conv2dCase small_conv2d_cases[] = {
    {{1, 1, 1, 1}, {1, 1, 1, 1}, {}},
    {{2, 3, 5, 7}, {4, 3, 3, 3}, {1, 1}},
    {{2, 3, 5, 7}, {4, 3, 1, 1}, {}},
    {{3, 2, 6, 5}, {5, 2, 2, 3}, {{2, 1}, {0, 2}}},
    {{1, 2, 9, 8}, {3, 2, 3, 2}, {{3, 2}, {1, 0}, {2, 1}}},
    {{2, 4, 4, 6}, {6, 2, 3, 3}, {1, 1, 1, 2}},
    {{2, 4, 5, 5}, {4, 1, 3, 3}, {2, 1, 1, 4}},              // Depthwise.
    {{2, 1, 2, 2}, {2, 1, 5, 5}, {1, 2}},                    // A kernel larger than the image.
    {{1, 2, 3, 3}, {2, 2, 2, 2}, {{1, 4}, 3, {3, 2}}},       // Some columns of the output have no tap inside of the
                                                             // image.
    {{1, 1, 7, 7}, {1, 1, 1, 1}, {3}},                       // Most of dx is 0.
    {{2, 1, 8, 9}, {2, 1, 3, 3}, {{2, 6}, {2, 1}, {2, 4}}},  // Stride and dilation with common divisors.
    {{5, 2, 1, 1}, {3, 2, 1, 1}, {}},                        // Every image has one pixel.
    {{2, 2, 1, 40}, {2, 2, 1, 5}, {1, {0, 2}}},
    {{2, 2, 40, 1}, {2, 2, 5, 1}, {1, {2, 0}}},
    {{2, 3, 9, 7}, {6, 1, 2, 3}, {{1, 2}, {0, 3}, {2, 1}, 3}},  // Depthwise, two outputs for each channel.
};

inline const Conv2dCase large_conv2d_cases[] = {
    {{4, 3, 28, 28}, {32, 3, 3, 3}, {1, 1}},
    {{3, 32, 14, 14}, {64, 32, 3, 3}, {1, 1}},
    {{2, 16, 19, 23}, {24, 16, 5, 3}, {2, 2}},
    {{2, 64, 7, 7}, {40, 64, 3, 3}, {1, 1}},
    {{2, 48, 13, 13}, {36, 12, 3, 3}, {1, 1, 1, 4}},
    {{1, 3, 64, 50}, {10, 3, 11, 11}, {4, 2}},
    {{2, 130, 9, 9}, {20, 130, 1, 1}, {2}},
    {{3, 8, 33, 47}, {9, 8, 3, 3}, {1, 2, 2}},
    {{1, 2, 70, 200}, {3, 2, 4, 4}, {1, {2, 1}}},
    {{3, 16, 12, 12}, {24, 16, 3, 3}, {1, 1}},
    {{2, 24, 9, 30}, {17, 24, 3, 3}, {1, {0, 2}}},
    {{1, 12, 5, 70}, {16, 12, 3, 3}, {1, {2, 1}}},
    {{5, 40, 8, 8}, {33, 40, 3, 3}, {1, 1}},
    {{2, 70, 9, 13}, {130, 70, 3, 3}, {1, 1}},
    {{17, 33, 3, 3}, {20, 33, 3, 3}, {1, 2}},
    {{2, 40, 21, 34}, {40, 1, 3, 3}, {1, 1, 1, 40}},
    {{3, 6, 40, 19}, {12, 1, 5, 5}, {2, 2, 1, 6}},
    {{1, 150, 12, 23}, {140, 150, 1, 1}, {}},
    {{2, 72, 14, 14}, {160, 36, 3, 2}, {{2, 1}, {1, 0}, 1, 2}},
};

struct Conv3dCase {
  Shape x, weight;
  Conv3dOptions options;
};

inline const Conv3dCase conv3d_cases[] = {
    {{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {}},
    {{2, 3, 4, 5, 7}, {4, 3, 3, 3, 3}, {1, 1}},
    {{2, 3, 5, 4, 3}, {4, 3, 1, 1, 1}, {}},
    {{3, 2, 6, 5, 4}, {5, 2, 2, 3, 1}, {{2, 1, 3}, {0, 2, 1}}},
    {{1, 2, 9, 8, 7}, {3, 2, 3, 2, 3}, {{3, 2, 1}, {1, 0, 2}, {2, 1, 3}}},
    {{2, 4, 5, 4, 6}, {6, 2, 3, 3, 2}, {1, 1, 1, 2}},
    {{2, 4, 5, 5, 5}, {4, 1, 3, 3, 3}, {2, 1, 1, 4}},               // Depthwise.
    {{1, 1, 2, 3, 2}, {2, 1, 5, 3, 5}, {1, 2}},                     // A kernel larger than the volume.
    {{2, 3, 7, 4, 5}, {4, 3, 3, 1, 1}, {{2, 1, 1}, {1, 0, 0}}},     // A kernel along the depth, which needs no copies.
    {{2, 3, 7, 4, 5}, {2, 3, 2, 1, 1}, {{2, 1, 2}, 0, {3, 1, 1}}},  // The same kernel with a stride in the width.
    {{2, 3, 4, 9, 8}, {5, 3, 1, 3, 3}, {{1, 2, 2}, {0, 1, 1}}},     // A kernel of depth 1.
    {{2, 3, 7, 6, 5}, {5, 3, 1, 3, 3}, {{3, 1, 1}, {1, 1, 1}}},  // A kernel of depth 1 that skips slices, with padding.
    {{1, 8, 6, 13, 17}, {12, 8, 3, 3, 3}, {1, 1}},
};

/// `terms` products of at most 1 are added, so no partial sum exceeds `terms`. A variant with transforms adds numbers
/// that are up to `growth` times as large. With few channels, the transforms' own errors matter too.
inline Tolerance conv2d_tolerance(std::int64_t terms, double growth = 1) {
  const auto n = static_cast<double>(terms + 1);
  return {2 * growth, growth == 1 ? n : n + 16};
}

/// conv3d may use any variant of conv2d. Their largest growth is 8.
inline Tolerance conv3d_tolerance(std::int64_t terms) { return conv2d_tolerance(terms, 8); }

}  // namespace crisol::reference
