// Convolution on matrix units, its operands gathered from the tensors as they lie (conv2d_matrix.cl,
// conv2d_matrix_weight.cl).
#pragma once

#include <span>

#include "ops/conv/conv2d_problem.h"
#include "ops/product/matrix_plan.h"

namespace crisol::ops {

const char* refuse_matrix(const Conv2dProblem& problem, const DeviceInfo& info);
void run_matrix(const Conv2dProblem& problem);
const char* refuse_matrix_data(const Conv2dProblem& problem, const DeviceInfo& info);
void run_matrix_data(const Conv2dProblem& problem);
const char* refuse_matrix_weight(const Conv2dProblem& problem, const DeviceInfo& info);
void run_matrix_weight(const Conv2dProblem& problem);

std::uint64_t matrix_workspace(const Conv2dProblem& problem, const DeviceInfo& info);
std::uint64_t matrix_data_workspace(const Conv2dProblem& problem, const DeviceInfo& info);
std::uint64_t matrix_weight_workspace(const Conv2dProblem& problem, const DeviceInfo& info);

/// The tiles.
extern const Settings<Conv2dProblem> conv2d_matrix_settings, conv2d_matrix_data_settings, conv2d_matrix_weight_settings;

/// The same with one of these tiles.
void run_matrix(const Conv2dProblem& problem, std::span<const MatrixTile> tiles);
void run_matrix_data(const Conv2dProblem& problem, std::span<const MatrixTile> tiles);
void run_matrix_weight(const Conv2dProblem& problem, std::span<const MatrixTile> tiles);

/// Those that forward and data choose from, for a unit and a precision.
std::vector<MatrixTile> gathered_matrix_tiles(const MatrixUnit& unit, Precision precision);

}  // namespace crisol::ops
