#include "opencl.h"

namespace twins {

namespace {

class Network {
 public:
  Network(const Opencl& cl, const SimpleCnn& task)
      : cl_(cl),
        image_(cl.upload(task.image)),
        conv1_weight_(cl.upload(task.conv1_weight)),
        conv1_bias_(cl.upload(task.conv1_bias)),
        conv2_weight_(cl.upload(task.conv2_weight)),
        conv2_bias_(cl.upload(task.conv2_bias)),
        fc1_weight_(cl.upload(task.fc1_weight)),
        fc1_bias_(cl.upload(task.fc1_bias)),
        fc2_weight_(cl.upload(task.fc2_weight)),
        fc2_bias_(cl.upload(task.fc2_bias)),
        planes1_(cl.allocate(32 * 28 * 28)),
        pooled1_(cl.allocate(32 * 14 * 14)),
        planes2_(cl.allocate(64 * 14 * 14)),
        pooled2_(cl.allocate(64 * 7 * 7)),
        hidden_(cl.allocate(128)),
        logits_(cl.allocate(10)),
        conv_(cl.build("conv3x3.cl"), "conv3x3_relu") {
    const cl::Program layers = cl.build("layers.cl");
    pool_ = cl::Kernel(layers, "max_pool");
    linear_ = cl::Kernel(layers, "linear");
  }

  void run() {
    conv(image_, conv1_weight_, conv1_bias_, planes1_, 1, 32, 28);
    pool(planes1_, pooled1_, 32, 28);
    conv(pooled1_, conv2_weight_, conv2_bias_, planes2_, 32, 64, 14);
    pool(planes2_, pooled2_, 64, 14);
    linear(pooled2_, fc1_weight_, fc1_bias_, hidden_, 64 * 7 * 7, 128, true);
    linear(hidden_, fc2_weight_, fc2_bias_, logits_, 128, 10, false);
  }

  Floats logits() const { return cl_.download(logits_, 10); }

 private:
  void conv(const cl::Buffer& x, const cl::Buffer& weight, const cl::Buffer& bias, const cl::Buffer& y, int channels,
            int outputs, int side) {
    conv_.setArg(0, x);
    conv_.setArg(1, weight);
    conv_.setArg(2, bias);
    conv_.setArg(3, y);
    conv_.setArg(4, channels);
    conv_.setArg(5, outputs);
    conv_.setArg(6, side);
    conv_.setArg(7, side);
    const cl::NDRange range(rounded_up(side, 16), rounded_up(side, 16), static_cast<std::size_t>(outputs / 8));
    cl_.queue().enqueueNDRangeKernel(conv_, cl::NullRange, range, cl::NDRange(16, 16, 1));
  }

  void pool(const cl::Buffer& x, const cl::Buffer& y, int planes, int side) {
    pool_.setArg(0, x);
    pool_.setArg(1, y);
    pool_.setArg(2, planes);
    pool_.setArg(3, side);
    pool_.setArg(4, side);
    const cl::NDRange range(rounded_up(side / 2, 16), rounded_up(side / 2, 4), static_cast<std::size_t>(planes));
    cl_.queue().enqueueNDRangeKernel(pool_, cl::NullRange, range, cl::NDRange(16, 4, 1));
  }

  void linear(const cl::Buffer& x, const cl::Buffer& weight, const cl::Buffer& bias, const cl::Buffer& y, int inputs,
              int outputs, bool relu) {
    linear_.setArg(0, x);
    linear_.setArg(1, weight);
    linear_.setArg(2, bias);
    linear_.setArg(3, y);
    linear_.setArg(4, inputs);
    linear_.setArg(5, cl_int{relu});
    cl_.queue().enqueueNDRangeKernel(linear_, cl::NullRange, cl::NDRange(static_cast<std::size_t>(outputs) * 64),
                                     cl::NDRange(64));
  }

  const Opencl& cl_;
  cl::Buffer image_, conv1_weight_, conv1_bias_, conv2_weight_, conv2_bias_, fc1_weight_, fc1_bias_, fc2_weight_,
      fc2_bias_, planes1_, pooled1_, planes2_, pooled2_, hidden_, logits_;
  cl::Kernel conv_, pool_, linear_;
};

}  // namespace

Timed run_opencl(const Opencl& cl, const SimpleCnn& task) {
  Network network(cl, task);
  const double ms = cl.time([&] { network.run(); });
  return {network.logits(), ms};
}

}  // namespace twins
