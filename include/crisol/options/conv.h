// Options of convolutions.
#pragma once

#include "crisol/options/int_pair.h"
#include "crisol/options/int_triple.h"

namespace crisol {

/// Options of conv2d and nn::Conv2d. Stride and dilation are positive, the padding is not negative, and the number of
/// groups divides the number of input channels and of output channels.
struct Conv2dOptions {
  IntPair stride = 1;    ///< Distance between windows, in elements of the input.
  IntPair padding = 0;   ///< Rows and columns of zeros that are added on each side.
  IntPair dilation = 1;  ///< Distance between the elements of a window.
  int groups = 1;        ///< Groups of channels. Each group has its own weights and sees only its own channels.
  bool bias = true;      ///< Gives nn::Conv2d a bias. conv2d ignores it: an undefined bias tensor means no bias.
};

/// Options of conv_transpose2d and nn::ConvTranspose2d. Stride, dilation and groups are as in Conv2dOptions.
struct ConvTranspose2dOptions {
  IntPair stride = 1;          ///< Distance between windows, in elements of the output.
  IntPair padding = 0;         ///< Rows and columns that the output loses on each side.
  IntPair output_padding = 0;  ///< Rows and columns that the output gains at its end; below the stride or the dilation.
  IntPair dilation = 1;        ///< Distance between the elements of a window.
  int groups = 1;              ///< Groups of channels. Each group has its own weights and sees only its own channels.
  bool bias = true;            ///< Gives nn::ConvTranspose2d a bias. conv_transpose2d ignores it.
};

/// Options of conv1d and nn::Conv1d, as in Conv2dOptions.
struct Conv1dOptions {
  int stride = 1;    ///< Distance between windows, in elements of the input.
  int padding = 0;   ///< Zeros that are added on each side.
  int dilation = 1;  ///< Distance between the elements of a window.
  int groups = 1;    ///< Groups of channels. Each group has its own weights and sees only its own channels.
  bool bias = true;  ///< Gives nn::Conv1d a bias. conv1d ignores it: an undefined bias tensor means no bias.
};

/// Options of conv_transpose1d and nn::ConvTranspose1d, as in ConvTranspose2dOptions.
struct ConvTranspose1dOptions {
  int stride = 1;          ///< Distance between windows, in elements of the output.
  int padding = 0;         ///< Elements that the output loses on each side.
  int output_padding = 0;  ///< Elements that the output gains at its end; below the stride or the dilation.
  int dilation = 1;        ///< Distance between the elements of a window.
  int groups = 1;          ///< Groups of channels. Each group has its own weights and sees only its own channels.
  bool bias = true;        ///< Gives nn::ConvTranspose1d a bias. conv_transpose1d ignores it.
};

/// Options of conv3d and nn::Conv3d, as in Conv2dOptions. A triple is (depth, height, width).
struct Conv3dOptions {
  IntTriple stride = 1;    ///< Distance between windows, in elements of the input.
  IntTriple padding = 0;   ///< Zeros that are added on each side.
  IntTriple dilation = 1;  ///< Distance between the elements of a window.
  int groups = 1;          ///< Groups of channels. Each group has its own weights and sees only its own channels.
  bool bias = true;        ///< Gives nn::Conv3d a bias. conv3d ignores it: an undefined bias tensor means no bias.
};

/// Options of conv_transpose3d and nn::ConvTranspose3d, as in ConvTranspose2dOptions. A triple is (depth, height,
/// width).
struct ConvTranspose3dOptions {
  IntTriple stride = 1;          ///< Distance between windows, in elements of the output.
  IntTriple padding = 0;         ///< Elements that the output loses on each side.
  IntTriple output_padding = 0;  ///< Elements that the output gains at its end; below the stride or the dilation.
  IntTriple dilation = 1;        ///< Distance between the elements of a window.
  int groups = 1;                ///< Groups of channels. Each group has its own weights and sees only its own channels.
  bool bias = true;              ///< Gives nn::ConvTranspose3d a bias. conv_transpose3d ignores it.
};

}  // namespace crisol
