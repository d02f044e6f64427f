// Made by make_torchvision_states.py; not to be changed by hand.
#pragma once

#include <cstdint>

namespace crisol::testing {

/// A network of torchvision: its parameters' elements, an input's shape, logits 0, 125, 250 … of the last image of the
/// input and the largest of all, in double, with the weights of models_test.cpp; and a line for each entry of its state
/// dict: name and sizes.
struct TorchvisionNetwork {
  std::int64_t parameters;
  std::int64_t image[4];
  double logits[8];
  double largest;
  const char* state;
};

inline constexpr TorchvisionNetwork alexnet{
    61100840,
    {1, 3, 64, 64},
    {-1.9295850003715436, -4.123898351878128, 0.49506216888085275, 5.574112246464081, -1.242088955510115,
     3.19022346027219, 5.4757455487597895, -7.635367050922078},
    16.07731929797433,
    R"(features.0.weight 64 3 11 11
features.0.bias 64
features.3.weight 192 64 5 5
features.3.bias 192
features.6.weight 384 192 3 3
features.6.bias 384
features.8.weight 256 384 3 3
features.8.bias 256
features.10.weight 256 256 3 3
features.10.bias 256
classifier.1.weight 4096 9216
classifier.1.bias 4096
classifier.4.weight 4096 4096
classifier.4.bias 4096
classifier.6.weight 1000 4096
classifier.6.bias 1000)"};

inline constexpr TorchvisionNetwork resnet18{
    11689512,
    {2, 3, 32, 32},
    {11.719680900489596, 8.364231826499685, 15.15143037938064, -9.858638858028671, 30.9027523247977,
     -12.254023001055693, -6.420754764723693, -9.452048096190763},
    42.95005685122368,
    R"(conv1.weight 64 3 7 7
bn1.weight 64
bn1.bias 64
bn1.running_mean 64
bn1.running_var 64
bn1.num_batches_tracked
layer1.0.conv1.weight 64 64 3 3
layer1.0.bn1.weight 64
layer1.0.bn1.bias 64
layer1.0.bn1.running_mean 64
layer1.0.bn1.running_var 64
layer1.0.bn1.num_batches_tracked
layer1.0.conv2.weight 64 64 3 3
layer1.0.bn2.weight 64
layer1.0.bn2.bias 64
layer1.0.bn2.running_mean 64
layer1.0.bn2.running_var 64
layer1.0.bn2.num_batches_tracked
layer1.1.conv1.weight 64 64 3 3
layer1.1.bn1.weight 64
layer1.1.bn1.bias 64
layer1.1.bn1.running_mean 64
layer1.1.bn1.running_var 64
layer1.1.bn1.num_batches_tracked
layer1.1.conv2.weight 64 64 3 3
layer1.1.bn2.weight 64
layer1.1.bn2.bias 64
layer1.1.bn2.running_mean 64
layer1.1.bn2.running_var 64
layer1.1.bn2.num_batches_tracked
layer2.0.conv1.weight 128 64 3 3
layer2.0.bn1.weight 128
layer2.0.bn1.bias 128
layer2.0.bn1.running_mean 128
layer2.0.bn1.running_var 128
layer2.0.bn1.num_batches_tracked
layer2.0.conv2.weight 128 128 3 3
layer2.0.bn2.weight 128
layer2.0.bn2.bias 128
layer2.0.bn2.running_mean 128
layer2.0.bn2.running_var 128
layer2.0.bn2.num_batches_tracked
layer2.0.downsample.0.weight 128 64 1 1
layer2.0.downsample.1.weight 128
layer2.0.downsample.1.bias 128
layer2.0.downsample.1.running_mean 128
layer2.0.downsample.1.running_var 128
layer2.0.downsample.1.num_batches_tracked
layer2.1.conv1.weight 128 128 3 3
layer2.1.bn1.weight 128
layer2.1.bn1.bias 128
layer2.1.bn1.running_mean 128
layer2.1.bn1.running_var 128
layer2.1.bn1.num_batches_tracked
layer2.1.conv2.weight 128 128 3 3
layer2.1.bn2.weight 128
layer2.1.bn2.bias 128
layer2.1.bn2.running_mean 128
layer2.1.bn2.running_var 128
layer2.1.bn2.num_batches_tracked
layer3.0.conv1.weight 256 128 3 3
layer3.0.bn1.weight 256
layer3.0.bn1.bias 256
layer3.0.bn1.running_mean 256
layer3.0.bn1.running_var 256
layer3.0.bn1.num_batches_tracked
layer3.0.conv2.weight 256 256 3 3
layer3.0.bn2.weight 256
layer3.0.bn2.bias 256
layer3.0.bn2.running_mean 256
layer3.0.bn2.running_var 256
layer3.0.bn2.num_batches_tracked
layer3.0.downsample.0.weight 256 128 1 1
layer3.0.downsample.1.weight 256
layer3.0.downsample.1.bias 256
layer3.0.downsample.1.running_mean 256
layer3.0.downsample.1.running_var 256
layer3.0.downsample.1.num_batches_tracked
layer3.1.conv1.weight 256 256 3 3
layer3.1.bn1.weight 256
layer3.1.bn1.bias 256
layer3.1.bn1.running_mean 256
layer3.1.bn1.running_var 256
layer3.1.bn1.num_batches_tracked
layer3.1.conv2.weight 256 256 3 3
layer3.1.bn2.weight 256
layer3.1.bn2.bias 256
layer3.1.bn2.running_mean 256
layer3.1.bn2.running_var 256
layer3.1.bn2.num_batches_tracked
layer4.0.conv1.weight 512 256 3 3
layer4.0.bn1.weight 512
layer4.0.bn1.bias 512
layer4.0.bn1.running_mean 512
layer4.0.bn1.running_var 512
layer4.0.bn1.num_batches_tracked
layer4.0.conv2.weight 512 512 3 3
layer4.0.bn2.weight 512
layer4.0.bn2.bias 512
layer4.0.bn2.running_mean 512
layer4.0.bn2.running_var 512
layer4.0.bn2.num_batches_tracked
layer4.0.downsample.0.weight 512 256 1 1
layer4.0.downsample.1.weight 512
layer4.0.downsample.1.bias 512
layer4.0.downsample.1.running_mean 512
layer4.0.downsample.1.running_var 512
layer4.0.downsample.1.num_batches_tracked
layer4.1.conv1.weight 512 512 3 3
layer4.1.bn1.weight 512
layer4.1.bn1.bias 512
layer4.1.bn1.running_mean 512
layer4.1.bn1.running_var 512
layer4.1.bn1.num_batches_tracked
layer4.1.conv2.weight 512 512 3 3
layer4.1.bn2.weight 512
layer4.1.bn2.bias 512
layer4.1.bn2.running_mean 512
layer4.1.bn2.running_var 512
layer4.1.bn2.num_batches_tracked
fc.weight 1000 512
fc.bias 1000)"};

inline constexpr TorchvisionNetwork vgg16{
    138357544,
    {1, 3, 32, 32},
    {1.761266799185965, -2.1778753109893625, -0.706426454743863, 0.7923414275970114, 3.763782804280068,
     1.0523076924433061, 1.46389434669637, -4.050540855527236},
    5.680869888173139,
    R"(features.0.weight 64 3 3 3
features.0.bias 64
features.2.weight 64 64 3 3
features.2.bias 64
features.5.weight 128 64 3 3
features.5.bias 128
features.7.weight 128 128 3 3
features.7.bias 128
features.10.weight 256 128 3 3
features.10.bias 256
features.12.weight 256 256 3 3
features.12.bias 256
features.14.weight 256 256 3 3
features.14.bias 256
features.17.weight 512 256 3 3
features.17.bias 512
features.19.weight 512 512 3 3
features.19.bias 512
features.21.weight 512 512 3 3
features.21.bias 512
features.24.weight 512 512 3 3
features.24.bias 512
features.26.weight 512 512 3 3
features.26.bias 512
features.28.weight 512 512 3 3
features.28.bias 512
classifier.0.weight 4096 25088
classifier.0.bias 4096
classifier.3.weight 4096 4096
classifier.3.bias 4096
classifier.6.weight 1000 4096
classifier.6.bias 1000)"};

inline constexpr TorchvisionNetwork mobilenet_v2{
    3504872,
    {2, 3, 32, 32},
    {0.7144422555457974, 2.441076010307226, 1.7629013174007877, -0.43829573475299455, 0.22249219271244236,
     0.8543546687847652, -0.37335601073727764, -0.1257874282692577},
    8.432597812600505,
    R"(features.0.0.weight 32 3 3 3
features.0.1.weight 32
features.0.1.bias 32
features.0.1.running_mean 32
features.0.1.running_var 32
features.0.1.num_batches_tracked
features.1.conv.0.0.weight 32 1 3 3
features.1.conv.0.1.weight 32
features.1.conv.0.1.bias 32
features.1.conv.0.1.running_mean 32
features.1.conv.0.1.running_var 32
features.1.conv.0.1.num_batches_tracked
features.1.conv.1.weight 16 32 1 1
features.1.conv.2.weight 16
features.1.conv.2.bias 16
features.1.conv.2.running_mean 16
features.1.conv.2.running_var 16
features.1.conv.2.num_batches_tracked
features.2.conv.0.0.weight 96 16 1 1
features.2.conv.0.1.weight 96
features.2.conv.0.1.bias 96
features.2.conv.0.1.running_mean 96
features.2.conv.0.1.running_var 96
features.2.conv.0.1.num_batches_tracked
features.2.conv.1.0.weight 96 1 3 3
features.2.conv.1.1.weight 96
features.2.conv.1.1.bias 96
features.2.conv.1.1.running_mean 96
features.2.conv.1.1.running_var 96
features.2.conv.1.1.num_batches_tracked
features.2.conv.2.weight 24 96 1 1
features.2.conv.3.weight 24
features.2.conv.3.bias 24
features.2.conv.3.running_mean 24
features.2.conv.3.running_var 24
features.2.conv.3.num_batches_tracked
features.3.conv.0.0.weight 144 24 1 1
features.3.conv.0.1.weight 144
features.3.conv.0.1.bias 144
features.3.conv.0.1.running_mean 144
features.3.conv.0.1.running_var 144
features.3.conv.0.1.num_batches_tracked
features.3.conv.1.0.weight 144 1 3 3
features.3.conv.1.1.weight 144
features.3.conv.1.1.bias 144
features.3.conv.1.1.running_mean 144
features.3.conv.1.1.running_var 144
features.3.conv.1.1.num_batches_tracked
features.3.conv.2.weight 24 144 1 1
features.3.conv.3.weight 24
features.3.conv.3.bias 24
features.3.conv.3.running_mean 24
features.3.conv.3.running_var 24
features.3.conv.3.num_batches_tracked
features.4.conv.0.0.weight 144 24 1 1
features.4.conv.0.1.weight 144
features.4.conv.0.1.bias 144
features.4.conv.0.1.running_mean 144
features.4.conv.0.1.running_var 144
features.4.conv.0.1.num_batches_tracked
features.4.conv.1.0.weight 144 1 3 3
features.4.conv.1.1.weight 144
features.4.conv.1.1.bias 144
features.4.conv.1.1.running_mean 144
features.4.conv.1.1.running_var 144
features.4.conv.1.1.num_batches_tracked
features.4.conv.2.weight 32 144 1 1
features.4.conv.3.weight 32
features.4.conv.3.bias 32
features.4.conv.3.running_mean 32
features.4.conv.3.running_var 32
features.4.conv.3.num_batches_tracked
features.5.conv.0.0.weight 192 32 1 1
features.5.conv.0.1.weight 192
features.5.conv.0.1.bias 192
features.5.conv.0.1.running_mean 192
features.5.conv.0.1.running_var 192
features.5.conv.0.1.num_batches_tracked
features.5.conv.1.0.weight 192 1 3 3
features.5.conv.1.1.weight 192
features.5.conv.1.1.bias 192
features.5.conv.1.1.running_mean 192
features.5.conv.1.1.running_var 192
features.5.conv.1.1.num_batches_tracked
features.5.conv.2.weight 32 192 1 1
features.5.conv.3.weight 32
features.5.conv.3.bias 32
features.5.conv.3.running_mean 32
features.5.conv.3.running_var 32
features.5.conv.3.num_batches_tracked
features.6.conv.0.0.weight 192 32 1 1
features.6.conv.0.1.weight 192
features.6.conv.0.1.bias 192
features.6.conv.0.1.running_mean 192
features.6.conv.0.1.running_var 192
features.6.conv.0.1.num_batches_tracked
features.6.conv.1.0.weight 192 1 3 3
features.6.conv.1.1.weight 192
features.6.conv.1.1.bias 192
features.6.conv.1.1.running_mean 192
features.6.conv.1.1.running_var 192
features.6.conv.1.1.num_batches_tracked
features.6.conv.2.weight 32 192 1 1
features.6.conv.3.weight 32
features.6.conv.3.bias 32
features.6.conv.3.running_mean 32
features.6.conv.3.running_var 32
features.6.conv.3.num_batches_tracked
features.7.conv.0.0.weight 192 32 1 1
features.7.conv.0.1.weight 192
features.7.conv.0.1.bias 192
features.7.conv.0.1.running_mean 192
features.7.conv.0.1.running_var 192
features.7.conv.0.1.num_batches_tracked
features.7.conv.1.0.weight 192 1 3 3
features.7.conv.1.1.weight 192
features.7.conv.1.1.bias 192
features.7.conv.1.1.running_mean 192
features.7.conv.1.1.running_var 192
features.7.conv.1.1.num_batches_tracked
features.7.conv.2.weight 64 192 1 1
features.7.conv.3.weight 64
features.7.conv.3.bias 64
features.7.conv.3.running_mean 64
features.7.conv.3.running_var 64
features.7.conv.3.num_batches_tracked
features.8.conv.0.0.weight 384 64 1 1
features.8.conv.0.1.weight 384
features.8.conv.0.1.bias 384
features.8.conv.0.1.running_mean 384
features.8.conv.0.1.running_var 384
features.8.conv.0.1.num_batches_tracked
features.8.conv.1.0.weight 384 1 3 3
features.8.conv.1.1.weight 384
features.8.conv.1.1.bias 384
features.8.conv.1.1.running_mean 384
features.8.conv.1.1.running_var 384
features.8.conv.1.1.num_batches_tracked
features.8.conv.2.weight 64 384 1 1
features.8.conv.3.weight 64
features.8.conv.3.bias 64
features.8.conv.3.running_mean 64
features.8.conv.3.running_var 64
features.8.conv.3.num_batches_tracked
features.9.conv.0.0.weight 384 64 1 1
features.9.conv.0.1.weight 384
features.9.conv.0.1.bias 384
features.9.conv.0.1.running_mean 384
features.9.conv.0.1.running_var 384
features.9.conv.0.1.num_batches_tracked
features.9.conv.1.0.weight 384 1 3 3
features.9.conv.1.1.weight 384
features.9.conv.1.1.bias 384
features.9.conv.1.1.running_mean 384
features.9.conv.1.1.running_var 384
features.9.conv.1.1.num_batches_tracked
features.9.conv.2.weight 64 384 1 1
features.9.conv.3.weight 64
features.9.conv.3.bias 64
features.9.conv.3.running_mean 64
features.9.conv.3.running_var 64
features.9.conv.3.num_batches_tracked
features.10.conv.0.0.weight 384 64 1 1
features.10.conv.0.1.weight 384
features.10.conv.0.1.bias 384
features.10.conv.0.1.running_mean 384
features.10.conv.0.1.running_var 384
features.10.conv.0.1.num_batches_tracked
features.10.conv.1.0.weight 384 1 3 3
features.10.conv.1.1.weight 384
features.10.conv.1.1.bias 384
features.10.conv.1.1.running_mean 384
features.10.conv.1.1.running_var 384
features.10.conv.1.1.num_batches_tracked
features.10.conv.2.weight 64 384 1 1
features.10.conv.3.weight 64
features.10.conv.3.bias 64
features.10.conv.3.running_mean 64
features.10.conv.3.running_var 64
features.10.conv.3.num_batches_tracked
features.11.conv.0.0.weight 384 64 1 1
features.11.conv.0.1.weight 384
features.11.conv.0.1.bias 384
features.11.conv.0.1.running_mean 384
features.11.conv.0.1.running_var 384
features.11.conv.0.1.num_batches_tracked
features.11.conv.1.0.weight 384 1 3 3
features.11.conv.1.1.weight 384
features.11.conv.1.1.bias 384
features.11.conv.1.1.running_mean 384
features.11.conv.1.1.running_var 384
features.11.conv.1.1.num_batches_tracked
features.11.conv.2.weight 96 384 1 1
features.11.conv.3.weight 96
features.11.conv.3.bias 96
features.11.conv.3.running_mean 96
features.11.conv.3.running_var 96
features.11.conv.3.num_batches_tracked
features.12.conv.0.0.weight 576 96 1 1
features.12.conv.0.1.weight 576
features.12.conv.0.1.bias 576
features.12.conv.0.1.running_mean 576
features.12.conv.0.1.running_var 576
features.12.conv.0.1.num_batches_tracked
features.12.conv.1.0.weight 576 1 3 3
features.12.conv.1.1.weight 576
features.12.conv.1.1.bias 576
features.12.conv.1.1.running_mean 576
features.12.conv.1.1.running_var 576
features.12.conv.1.1.num_batches_tracked
features.12.conv.2.weight 96 576 1 1
features.12.conv.3.weight 96
features.12.conv.3.bias 96
features.12.conv.3.running_mean 96
features.12.conv.3.running_var 96
features.12.conv.3.num_batches_tracked
features.13.conv.0.0.weight 576 96 1 1
features.13.conv.0.1.weight 576
features.13.conv.0.1.bias 576
features.13.conv.0.1.running_mean 576
features.13.conv.0.1.running_var 576
features.13.conv.0.1.num_batches_tracked
features.13.conv.1.0.weight 576 1 3 3
features.13.conv.1.1.weight 576
features.13.conv.1.1.bias 576
features.13.conv.1.1.running_mean 576
features.13.conv.1.1.running_var 576
features.13.conv.1.1.num_batches_tracked
features.13.conv.2.weight 96 576 1 1
features.13.conv.3.weight 96
features.13.conv.3.bias 96
features.13.conv.3.running_mean 96
features.13.conv.3.running_var 96
features.13.conv.3.num_batches_tracked
features.14.conv.0.0.weight 576 96 1 1
features.14.conv.0.1.weight 576
features.14.conv.0.1.bias 576
features.14.conv.0.1.running_mean 576
features.14.conv.0.1.running_var 576
features.14.conv.0.1.num_batches_tracked
features.14.conv.1.0.weight 576 1 3 3
features.14.conv.1.1.weight 576
features.14.conv.1.1.bias 576
features.14.conv.1.1.running_mean 576
features.14.conv.1.1.running_var 576
features.14.conv.1.1.num_batches_tracked
features.14.conv.2.weight 160 576 1 1
features.14.conv.3.weight 160
features.14.conv.3.bias 160
features.14.conv.3.running_mean 160
features.14.conv.3.running_var 160
features.14.conv.3.num_batches_tracked
features.15.conv.0.0.weight 960 160 1 1
features.15.conv.0.1.weight 960
features.15.conv.0.1.bias 960
features.15.conv.0.1.running_mean 960
features.15.conv.0.1.running_var 960
features.15.conv.0.1.num_batches_tracked
features.15.conv.1.0.weight 960 1 3 3
features.15.conv.1.1.weight 960
features.15.conv.1.1.bias 960
features.15.conv.1.1.running_mean 960
features.15.conv.1.1.running_var 960
features.15.conv.1.1.num_batches_tracked
features.15.conv.2.weight 160 960 1 1
features.15.conv.3.weight 160
features.15.conv.3.bias 160
features.15.conv.3.running_mean 160
features.15.conv.3.running_var 160
features.15.conv.3.num_batches_tracked
features.16.conv.0.0.weight 960 160 1 1
features.16.conv.0.1.weight 960
features.16.conv.0.1.bias 960
features.16.conv.0.1.running_mean 960
features.16.conv.0.1.running_var 960
features.16.conv.0.1.num_batches_tracked
features.16.conv.1.0.weight 960 1 3 3
features.16.conv.1.1.weight 960
features.16.conv.1.1.bias 960
features.16.conv.1.1.running_mean 960
features.16.conv.1.1.running_var 960
features.16.conv.1.1.num_batches_tracked
features.16.conv.2.weight 160 960 1 1
features.16.conv.3.weight 160
features.16.conv.3.bias 160
features.16.conv.3.running_mean 160
features.16.conv.3.running_var 160
features.16.conv.3.num_batches_tracked
features.17.conv.0.0.weight 960 160 1 1
features.17.conv.0.1.weight 960
features.17.conv.0.1.bias 960
features.17.conv.0.1.running_mean 960
features.17.conv.0.1.running_var 960
features.17.conv.0.1.num_batches_tracked
features.17.conv.1.0.weight 960 1 3 3
features.17.conv.1.1.weight 960
features.17.conv.1.1.bias 960
features.17.conv.1.1.running_mean 960
features.17.conv.1.1.running_var 960
features.17.conv.1.1.num_batches_tracked
features.17.conv.2.weight 320 960 1 1
features.17.conv.3.weight 320
features.17.conv.3.bias 320
features.17.conv.3.running_mean 320
features.17.conv.3.running_var 320
features.17.conv.3.num_batches_tracked
features.18.0.weight 1280 320 1 1
features.18.1.weight 1280
features.18.1.bias 1280
features.18.1.running_mean 1280
features.18.1.running_var 1280
features.18.1.num_batches_tracked
classifier.1.weight 1000 1280
classifier.1.bias 1000)"};

}  // namespace crisol::testing
