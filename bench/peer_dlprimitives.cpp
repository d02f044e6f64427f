// DLPrimitives' side of compare.py, in f32 and NCHW. Its core computes convolutions. Its class Net computes pooling,
// norms, activations and networks, from a description that is written here.
#include <dlprim/core/conv.hpp>
#include <dlprim/json.hpp>
#include <dlprim/net.hpp>
#include <dlprim/solvers/adam.hpp>
#include <memory>

#include "peer.h"

namespace {

namespace dp = dlprim;
using peer::Keys;
using peer::Unsupported;
using peer::Work;

std::string device = "0:0";

dp::Context& context() {
  static dp::Context made(device);
  return made;
}

dp::ExecutionContext& queue() {
  static dp::ExecutionContext made = context().make_execution_context();
  return made;
}

/// A network's description: operators one after another. Each takes the previous operator's result.
class Description {
 public:
  explicit Description(const std::string& input_shape) : shape_(input_shape) {}

  std::string add(const std::string& type, const std::string& options, const std::string& second_input = "") {
    const std::string output = "t" + std::to_string(count_++);
    operators_ += std::string(operators_.empty() ? "" : ",") + R"({"name":")" + output + R"(","type":")" + type +
                  R"(","inputs":[")" + last_ + '"' + (second_input.empty() ? "" : ",\"" + second_input + '"') +
                  R"(],"outputs":[")" + output + R"("],"options":{)" + options + "}}";
    return last_ = output;
  }
  void conv(int inputs, int outputs, int kernel, int stride, int pad, bool bias, const char* activation = "identity") {
    add("Convolution2D", "\"channels_in\":" + std::to_string(inputs) + ",\"channels_out\":" + std::to_string(outputs) +
                             ",\"kernel\":" + std::to_string(kernel) + ",\"stride\":" + std::to_string(stride) +
                             ",\"pad\":" + std::to_string(pad) + ",\"bias\":" + (bias ? "true" : "false") +
                             ",\"activation\":\"" + activation + '"');
  }
  void linear(int inputs, int outputs, const char* activation = "identity") {
    add("InnerProduct", "\"inputs\":" + std::to_string(inputs) + ",\"outputs\":" + std::to_string(outputs) +
                            ",\"bias\":true,\"activation\":\"" + activation + '"');
  }
  void batch_norm(int features) { add("BatchNorm", "\"features\":" + std::to_string(features)); }
  void relu() { add("Activation", R"("activation":"relu")"); }
  void pool(const std::string& mode, int kernel, int stride, int pad) {
    add("Pooling2D", "\"mode\":\"" + mode + "\",\"kernel\":" + std::to_string(kernel) +
                         ",\"stride\":" + std::to_string(stride) + ",\"pad\":" + std::to_string(pad));
  }
  const std::string& last() const { return last_; }
  void go_on_from(const std::string& tensor) { last_ = tensor; }

  /// The whole description. For training it includes a loss and `labels` labels, one per image; 0: inference.
  std::string text(long labels) const {
    std::string inputs = R"({"shape":)" + shape_ + R"(,"name":"data"})", all = operators_, output = last_;
    if (labels > 0) {
      inputs += R"(,{"shape":[)" + std::to_string(labels) + R"(],"name":"label","dtype":"int"})";
      all += R"(,{"name":"loss","type":"SoftmaxWithLoss","inputs":[")" + last_ + R"(","label"],"outputs":["loss"]})";
      output = "loss";
    }
    return R"({"inputs":[)" + inputs + R"(],"outputs":[")" + output + R"("],"operators":[)" + all + "]}";
  }

 private:
  std::string shape_, operators_, last_ = "data";
  int count_ = 0;
};

std::shared_ptr<dp::Net> build(const Description& description, long labels) {
  auto net = std::make_shared<dp::Net>(context());
  net->mode(labels > 0 ? dp::CalculationsMode::train : dp::CalculationsMode::predict);
  dp::json::value v;
  std::istringstream text(description.text(labels));
  if (!v.load(text, true)) throw std::runtime_error("the network's description is no JSON");
  net->load_from_json(v);
  net->setup();
  net->initialize_parameters(queue());
  net->reshape();
  return net;
}

Work inference(const Description& description) {
  const auto net = build(description, 0);
  return {[net] { net->forward(queue()); }, [] { queue().finish(); }};
}

Work training(const Description& description, long images) {
  const auto net = build(description, images);
  const auto adam = std::make_shared<dp::solvers::Adam>(context());
  adam->init(*net, queue());
  dp::Tensor one = net->tensor_diffs()["loss"];
  one.data<float>()[0] = 1;
  one.to_device(queue());
  return {[net, adam] {
            adam->zero_grad(*net, queue());
            net->forward(queue());
            net->backward(queue());
            adam->apply(*net, queue());
          },
          [] { queue().finish(); }};
}

Description simplecnn(const std::string& batch) {
  Description d("[" + batch + ",1,28,28]");
  d.conv(1, 32, 3, 1, 1, true, "relu");
  d.pool("max", 2, 2, 0);
  d.conv(32, 64, 3, 1, 1, true, "relu");
  d.pool("max", 2, 2, 0);
  d.linear(64 * 49, 128, "relu");
  d.linear(128, 10);
  return d;
}

Description alexnet(const std::string& batch) {
  Description d("[" + batch + ",3,224,224]");
  d.conv(3, 64, 11, 4, 2, true, "relu");
  d.pool("max", 3, 2, 0);
  d.conv(64, 192, 5, 1, 2, true, "relu");
  d.pool("max", 3, 2, 0);
  d.conv(192, 384, 3, 1, 1, true, "relu");
  d.conv(384, 256, 3, 1, 1, true, "relu");
  d.conv(256, 256, 3, 1, 1, true, "relu");
  d.pool("max", 3, 2, 0);
  d.linear(9216, 4096, "relu");
  d.linear(4096, 4096, "relu");
  d.linear(4096, 1000);
  return d;
}

Description vgg16(const std::string& batch) {
  Description d("[" + batch + ",3,224,224]");
  int channels = 3;
  for (const int outputs : {64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0}) {
    if (outputs == 0) {
      d.pool("max", 2, 2, 0);
      continue;
    }
    d.conv(channels, outputs, 3, 1, 1, true, "relu");
    channels = outputs;
  }
  d.linear(25088, 4096, "relu");
  d.linear(4096, 4096, "relu");
  d.linear(4096, 1000);
  return d;
}

Description resnet18(const std::string& batch) {
  Description d("[" + batch + ",3,224,224]");
  d.conv(3, 64, 7, 2, 3, false);
  d.batch_norm(64);
  d.relu();
  d.pool("max", 3, 2, 1);
  int channels = 64;
  for (const int outputs : {64, 128, 256, 512})
    for (int block = 0; block < 2; ++block) {
      const int stride = outputs != 64 && block == 0 ? 2 : 1;
      std::string shortcut = d.last();
      if (stride == 2) {
        const std::string input = d.last();
        d.conv(channels, outputs, 1, 2, 0, false);
        d.batch_norm(outputs);
        shortcut = d.last();
        d.go_on_from(input);
      }
      d.conv(channels, outputs, 3, stride, 1, false);
      d.batch_norm(outputs);
      d.relu();
      d.conv(outputs, outputs, 3, 1, 1, false);
      d.batch_norm(outputs);
      d.add("Elementwise", R"("operation":"sum","activation":"relu")", shortcut);
      channels = outputs;
    }
  d.add("GlobalPooling", R"("mode":"avg")");
  d.linear(512, 1000);
  return d;
}

Work net(const Keys& k) {
  static const std::map<std::string, Description (*)(const std::string&)> nets{
      {"simplecnn", simplecnn}, {"alexnet", alexnet}, {"vgg16", vgg16}, {"resnet18", resnet18}};
  const auto found = nets.find(k.text("net"));
  if (found == nets.end()) throw Unsupported("no " + k.text("net"));
  const Description d = found->second(k.text("batch"));
  return k.is("mode", "infer") ? inference(d) : training(d, k.number("batch"));
}

/// A workspace of at least one byte. The caller passes the largest size that its algorithms need.
dp::Tensor workspace(std::size_t bytes) {
  return dp::Tensor(context(), dp::Shape(std::max<std::size_t>(1, bytes)), dp::uint8_data);
}

dp::Tensor tensor(const dp::Shape& shape) {
  dp::Tensor t(context(), shape);
  for (std::size_t i = 0; i < shape.total_size(); ++i)
    t.data<float>()[i] = static_cast<float>(i * 37 % 101) / 101 - 0.5f;
  t.to_device(queue());
  return t;
}

Work conv2d(const Keys& k) {
  if (k.is("bias", "1")) throw Unsupported("conv2d with a bias");
  dp::Convolution2DConfigBase config;
  config.channels_in = static_cast<int>(k.number("c"));
  config.channels_out = static_cast<int>(k.number("k"));
  config.groups = static_cast<int>(k.number("groups"));
  const int kernel[] = {static_cast<int>(k.number("r")), static_cast<int>(k.number("s"))};
  for (int i = 0; i < 2; ++i) {
    config.kernel[i] = kernel[i];
    config.stride[i] = static_cast<int>(k.number("stride"));
    config.pad[i] = static_cast<int>(k.number("pad"));
    config.dilate[i] = static_cast<int>(k.number("dilation"));
  }
  const dp::Shape shape(k.number("n"), k.number("c"), k.number("h"), k.number("w"));
  const dp::core::Conv2DSettings settings(config, shape, dp::float_data);
  const dp::Shape filter(k.number("k"), k.number("c") / k.number("groups"), k.number("r"), k.number("s"));
  dp::Tensor x = tensor(shape), w = tensor(filter);
  dp::Tensor y = tensor(dp::core::Conv2DBase::get_output_shape(config, shape));
  dp::Tensor dx = tensor(shape), dw = tensor(filter), dy = tensor(y.shape());
  const std::shared_ptr<dp::core::Conv2DForward> forward = dp::core::Conv2DForward::create(context(), settings, false);
  const std::shared_ptr<dp::core::Conv2DBackwardData> data = dp::core::Conv2DBackwardData::create(context(), settings);
  const std::shared_ptr<dp::core::Conv2DBackwardFilter> weights =
      dp::core::Conv2DBackwardFilter::create(context(), settings);
  dp::Tensor ws = workspace(std::max({forward->workspace(), data->workspace(), weights->workspace()}));
  const std::string direction = k.text("dir");
  const bool all = direction == "train";
  return {[=]() mutable {
            if (all || direction == "fwd") forward->enqueue(x, w, nullptr, y, ws, 0, queue());
            if (all || direction == "bwd_data") data->enqueue(dx, w, dy, ws, 0, queue());
            if (all || direction == "bwd_weights") weights->enqueue(x, dw, dy, ws, 0, queue());
          },
          [] { queue().finish(); }};
}

Work pool(const Keys& k) {
  if (!k.is("dir", "fwd")) throw Unsupported("pool's backward alone");
  Description d("[" + k.text("n") + ',' + k.text("c") + ',' + k.text("h") + ',' + k.text("w") + "]");
  d.pool(k.text("kind"), static_cast<int>(k.number("r")), static_cast<int>(k.number("stride")),
         static_cast<int>(k.number("pad")));
  return inference(d);
}

Work softmax(const Keys& k) {
  if (!k.is("dir", "fwd") || k.is("log", "1")) throw Unsupported("softmax's backward alone, log-softmax");
  Description d("[" + k.text("rows") + ',' + k.text("cols") + "]");
  d.add("Softmax", "");
  return inference(d);
}

Work gemm(const Keys& k) {
  if (k.number("batch") > 1 || k.is("transa", "1") || k.is("transb", "0")) throw Unsupported("products but transb=1");
  Description d("[" + k.text("m") + ',' + k.text("k") + "]");
  d.linear(static_cast<int>(k.number("k")), static_cast<int>(k.number("n")));
  return inference(d);
}

Work eltwise(const Keys& k) {
  if (!k.is("chain", "tanh") && !k.is("chain", "sigmoid")) throw Unsupported("the chain " + k.text("chain"));
  Description d("[1," + k.text("elements") + "]");
  d.add("Activation", "\"activation\":\"" + k.text("chain") + '"');
  return inference(d);
}

Work prepare(const std::string& name, const Keys& keys) {
  static const std::map<std::string, Work (*)(const Keys&)> cases{
      {"gemm", gemm}, {"conv2d", conv2d}, {"pool", pool}, {"softmax", softmax}, {"eltwise", eltwise}, {"net", net}};
  const auto found = cases.find(name);
  if (found == cases.end()) throw Unsupported("no " + name);
  return found->second(keys);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::stod(argv[1]) : 1;
  if (argc > 2) device = argv[2];
  peer::serve(seconds, "DLPrimitives on " + context().name(), prepare);
}
