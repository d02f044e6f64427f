// Pooling windows that the tests and `crisol selftest` run.
#pragma once

#include "crisol/ops/pool.h"
#include "crisol/shape.h"

namespace crisol::reference {

struct MaxPoolCase {
  Shape shape;
  MaxPool2dOptions options;
};

inline const MaxPoolCase max_pool_cases[] = {
    {{2, 3, 8, 8}, {2}},
    {{1, 1, 1, 1}, {1}},
    {{2, 2, 7, 9}, {2}},                                     // The last row and column are left out.
    {{2, 2, 7, 9}, {2, 0, 0, 1, true}},                      // The last row and column are included.
    {{1, 2, 9, 70}, {{3, 2}, {2, 1}, {1, 0}}},               // Several vectors in each row.
    {{1, 2, 5, 40}, {{1, 3}, {1, 3}}},                       // A stride that no vector load supports.
    {{2, 1, 11, 38}, {3, 2, 1}},                             // The pooling of ResNet.
    {{1, 2, 10, 45}, {{3, 3}, {2, 2}, {1, 1}, {2, 3}}},      // Dilated, overlapping.
    {{1, 1, 6, 6}, {{2, 3}, {3, 2}, {1, 1}, {3, 2}, true}},  // Dilated: the taps skip elements.
    {{1, 1, 5, 3}, {5, 1, 2}},                               // A window wider than the input.
    {{1, 2, 4, 33}, {{4, 2}, {4, 2}}},
};

inline const AvgPool2dOptions avg_pool_options[] = {
    {2},
    {3, 2, 1},
    {3, 2, 1, true},
    {3, 2, 1, true, false},
    {{2, 3}, 1, {1, 1}, false, false},
    {2, 2, 0, true, true, 3},
    {{3, 2}, {3, 3}, {1, 0}, true},
};

struct MaxPool3dCase {
  Shape shape;
  MaxPool3dOptions options;
};

inline const MaxPool3dCase max_pool3d_cases[] = {
    {{2, 3, 4, 6, 8}, {2}},
    {{1, 1, 1, 1, 1}, {1}},
    {{2, 2, 5, 7, 9}, {2, 0, 0, 1, true}},
    {{1, 2, 5, 9, 40}, {{2, 3, 2}, {1, 2, 1}, {1, 1, 0}}},
    {{1, 2, 4, 6, 7}, {{1, 2, 3}}},                                         // Each slice is pooled by itself.
    {{1, 2, 6, 3, 5}, {{3, 1, 1}, {2, 1, 1}, {1, 0, 0}}},                   // A window along the depth alone.
    {{1, 1, 8, 6, 7}, {{2, 2, 3}, {3, 3, 2}, {1, 1, 1}, {3, 3, 2}, true}},  // Dilated: the taps skip elements.
    {{1, 1, 3, 5, 3}, {{3, 5, 5}, 1, {1, 2, 2}}},                           // A window wider than the input.
};

inline const AvgPool3dOptions avg_pool3d_options[] = {
    {2},
    {3, 2, 1},
    {3, 2, 1, true},
    {3, 2, 1, true, false},
    {{2, 3, 1}, 1, {1, 1, 0}, false, false},
    {2, 2, 0, true, true, 3},
    {{1, 3, 2}, {1, 3, 3}, {0, 1, 0}, true},
    {{1, 2, 2}, {1, 2, 2}, 0, false, true, 5},
    {1, 1, 0, false, true, 4},
};

}  // namespace crisol::reference
