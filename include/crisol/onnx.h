// Models in ONNX files (https://onnx.ai).
//
// Files are not trusted. A file that is damaged, or that breaks a rule of the format, throws Error (ErrorCode::io) with
// the file, the place in it and the rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "crisol/device.h"
#include "crisol/export.h"
#include "crisol/named_tensors.h"
#include "crisol/nn/module.h"

namespace crisol::onnx {

namespace file {
class ModelFile;
}

/// One size of a shape: a number, a name, or neither.
struct Dimension {
  std::int64_t size = -1;  ///< -1 if the file does not fix the size.
  std::string name;        ///< For example "batch". Sizes with the same name are equal.
};

/// An input or output of a model.
struct ValueInfo {
  std::string name;              ///< The name of the input or output.
  std::string type;              ///< The element type: "f32", "i64", "string", …, "sequence(f32)", or "undefined".
  bool has_shape = false;        ///< False if even the number of axes is open.
  std::vector<Dimension> shape;  ///< Outermost axis first.
};

/// The version of a set of ops that a model uses.
struct OperatorSet {
  std::string domain;        ///< "ai.onnx" for ONNX's own ops.
  std::int64_t version = 0;  ///< At least 1.
};

/// How often a model uses an op.
struct OpCount {
  std::string domain;      ///< "ai.onnx" for ONNX's own ops.
  std::string name;        ///< Such as "Conv".
  std::int64_t nodes = 0;  ///< Nodes in the graph, in graphs within nodes, and in the bodies of functions.
};

/// An op that the model defines by other ops.
struct FunctionInfo {
  std::string domain;      ///< The domain, as in the nodes that call the function.
  std::string name;        ///< The name, as in the nodes that call the function.
  std::int64_t nodes = 0;  ///< The number of nodes in its body.
};

/// The initializers of one element type: the constants that a file stores, such as weights.
struct InitializerCount {
  std::string type;           ///< The type of the elements, such as "f32".
  std::int64_t tensors = 0;   ///< How many there are.
  std::int64_t elements = 0;  ///< The elements of all these tensors.
  std::uint64_t bytes = 0;    ///< The size of these elements.
};

/// A file beside the model that holds the elements of tensors.
struct ExternalFile {
  std::string location;      ///< Relative to the model's folder.
  std::int64_t tensors = 0;  ///< How many tensors it holds.
  std::uint64_t bytes = 0;   ///< The size of these tensors.
  std::string fault;         ///< Why a tensor cannot be read. Empty if all can be read.
};

/// The description of an ONNX file.
struct ModelInfo {
  std::string path;                             ///< The file.
  std::uint64_t file_bytes = 0;                 ///< Its size.
  std::int64_t ir_version = 0;                  ///< The version of the file format.
  std::string producer;                         ///< The program that wrote the file.
  std::string producer_version;                 ///< Its version.
  std::string domain;                           ///< The model's domain, by its author.
  std::int64_t model_version = 0;               ///< The model's version, by its author.
  std::vector<OperatorSet> operator_sets;       ///< In the order of the file.
  std::vector<ValueInfo> inputs;                ///< Inputs that are also initializers are left out.
  std::vector<ValueInfo> outputs;               ///< In the order of the file.
  std::vector<OpCount> ops;                     ///< The most frequent first.
  std::vector<FunctionInfo> functions;          ///< In the order of the file.
  std::vector<InitializerCount> initializers;   ///< The most bytes first.
  std::int64_t parameters = 0;                  ///< Elements of the initializers of floating-point numbers.
  std::vector<ExternalFile> external_files;     ///< By location.
  std::map<std::string, std::string> metadata;  ///< Free text by name.
  bool has_training = false;                    ///< The file also holds graphs for training, which crisol does not use.
};

/// Reads a file without its weights. External files are only checked. The `fault` of a file says what is wrong with it.
CRISOL_API ModelInfo read_info(const std::string& path);

/// The facts as JSON. A size that is not fixed is its name or null, and an open shape is null.
CRISOL_API std::string to_json(const ModelInfo& info);

/// The facts for people, as `crisol onnx info` prints them.
CRISOL_API std::ostream& operator<<(std::ostream& out, const ModelInfo& info);

/// The outputs of a model by name.
class CRISOL_API Outputs {
 public:
  /// Used by the library. `names` are the names of all outputs.
  Outputs(std::vector<std::string> names, NamedTensors tensors)
      : names_(std::move(names)), tensors_(std::move(tensors)) {}
  /// The output of that name. Throws invalid_argument if there is none, with all names. Also throws it for an optional
  /// output without a value, and for a sequence that does not have exactly one element.
  Tensor operator[](const std::string& name) const;
  /// The elements of an output that is a sequence. An output that is a tensor gives one element, and an optional output
  /// without a value gives none. Throws invalid_argument if there is no output of that name.
  std::vector<Tensor> sequence(const std::string& name) const;
  /// All outputs, in the order of the model. The elements of a sequence have the same name.
  const NamedTensors& tensors() const noexcept { return tensors_; }

 private:
  std::vector<std::string> names_;
  NamedTensors tensors_;
};

/// The time that the nodes of one op took in a run, in milliseconds.
struct OpTime {
  std::string op;             ///< The op with its domain. The domain "ai.onnx" is left out.
  std::int64_t nodes = 0;     ///< Nodes of this op that ran.
  double total_ms = 0;        ///< From the start of a node until the device has finished it, summed over the nodes.
  double kernel_ms = 0;       ///< The part of total_ms in which kernels ran, from OpenCL events.
  std::int64_t launches = 0;  ///< Kernels that were launched.
};

/// A list of objects, in the order of the rows.
CRISOL_API std::string to_json(const std::vector<OpTime>& rows);

/// A table for people: op, nodes, times and share of the time.
CRISOL_API std::ostream& operator<<(std::ostream& out, const std::vector<OpTime>& rows);

/// Gives memory for an output: a contiguous tensor of this shape and dtype on the model's device. An undefined tensor
/// leaves the choice to the library.
using OutputMemory = std::function<Tensor(const std::string& name, const Shape& shape, DType dtype)>;

/// A model from an ONNX file, as a module:
///
///     onnx::Model model = onnx::load("net.onnx");
///     Tensor logits = model({{"images", x}})["logits"];
///
/// Its parameters are the initializers of floating-point numbers, under their names in the file. Single numbers, and
/// the statistics of BatchNormalization, are buffers. Gradients flow to parameters and inputs, and NoGrad saves the
/// time of recording them. BatchNormalization and Dropout ignore the mode of the module. They compute as in evaluation,
/// unless training_mode of their nodes is 1.
class CRISOL_API Model : public nn::Module {
 public:
  /// The same model. Inside of nn::clone a deep copy.
  Model(const Model& other);
  ~Model() override;

  /// The model's inputs, in the order of the file.
  const std::vector<ValueInfo>& inputs() const noexcept;
  /// The model's outputs, in the order of the file.
  const std::vector<ValueInfo>& outputs() const noexcept;

  /// The texts of an output; empty for an output of numbers. The elements of an output of texts are i64: an element k
  /// stands for texts(name)[k]. An output that is a sequence of maps is one tensor (rows, keys) of f32 with the values
  /// of the maps, and the texts are the keys. Throws invalid_argument if there is no output of that name.
  std::vector<std::string> texts(const std::string& output) const;

  using Module::operator();
  /// The outputs for inputs by name. Every input must be there, with the element type and the fixed sizes of the file;
  /// sizes of one name must be equal. Throws invalid_argument otherwise. If an op refuses the sizes, the message names
  /// its node.
  ///
  /// A sequence is given as tensors of one name, in order. An optional input may be left out. An initializer that the
  /// file also lists as an input may be given, and replaces the initializer in this run.
  Outputs operator()(const NamedTensors& inputs) const;
  /// The same, with outputs in the caller's memory. The call asks for it, and uses it where a program for these inputs
  /// was made before. Other outputs, and those whose memory does not begin at a multiple of 64 bytes, are new tensors.
  Outputs operator()(const NamedTensors& inputs, const OutputMemory& memory) const;
  /// Compiles the kernels that a run without gradients needs for inputs of these shapes, so that the run finds them.
  /// Computes only if there are kernels that have not run in this process, and returns how many there are. For a
  /// model without a program for these inputs nothing is prepared. Throws like a run.
  std::size_t prepare(const NamedTensors& inputs) const;
  /// Runs the model and measures each node. Without gradients these are the nodes that are left after the passes (see
  /// optimized()). Returns a row for each op, the longest total_ms first. Every node waits for the device, so the sum
  /// is longer than an ordinary run. Throws like a run.
  std::vector<OpTime> profile(const NamedTensors& inputs) const;
  /// The program that runs for inputs of these shapes without gradients, as text: how many nodes were computed when the
  /// program was made (fold_constants), how many nodes each pass removed or joined, how many operands kernels read from
  /// packed copies (pack_weights), how many nodes were captured, and a line for each node that is left. If the model
  /// has no program for these inputs, the text says so, and lists all nodes of the file. Runs the model once.
  std::string optimized(const NamedTensors& inputs) const;
  /// For models with one input: the first output. Hooks see only calls with one tensor.
  Tensor forward(const Tensor& x) override;

 private:
  friend Model make_model(file::ModelFile& file, Device device);
  struct State;
  explicit Model(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

/// Loads a model to a device. Throws io for a file that is damaged or contradicts itself. Throws invalid_argument for a
/// model that the library does not support. The text lists all unsupported parts, with versions of ops and nodes.
///
/// Large weights stay in the file until somebody needs them. So the file may be removed or replaced, but not written in
/// place. After such a write, a call that needs a weight that is not yet in memory throws io.
CRISOL_API Model load(const std::string& path, Device device = Device());

/// Reads a file that holds one tensor (a TensorProto, mostly `.pb`). Returns the tensor and its name, which may be
/// empty. ONNX's model zoo stores example inputs and outputs in such files. Throws io for a damaged file, and
/// invalid_argument for elements that the library does not have.
CRISOL_API std::pair<std::string, Tensor> load_tensor(const std::string& path, Device device = Device());

/// An op that `load` accepts, in the versions `first` to `last` of its domain.
struct SupportedOp {
  std::string name;        ///< Ops of other domains than "ai.onnx" have the domain before their name.
  std::int64_t first = 0;  ///< The oldest version.
  std::int64_t last = 0;   ///< The newest version.
};

/// All ops that `load` accepts, by name.
CRISOL_API std::vector<SupportedOp> supported_ops();

/// A list of objects.
CRISOL_API std::string to_json(const std::vector<SupportedOp>& ops);

/// Settings of check().
struct CheckOptions {
  double rtol = 1e-3;  ///< The result may differ from the expected number y by atol + rtol |y|.
  double atol = 1e-7;  ///< See rtol.
};

/// How a run with test data ended.
enum class CheckState {
  passed,   ///< Every output has the expected element type, shape and values.
  wrong,    ///< An output differs.
  refused,  ///< The model did not run, or the data could not be read.
};

/// "passed", "wrong" or "refused".
CRISOL_API const char* name_of(CheckState state) noexcept;

/// A folder of test data, and the outcome of a model's run on it.
struct CheckedSet {
  std::string folder;                     ///< Its path.
  CheckState state = CheckState::passed;  ///< How the run ended.
  std::string reason;                     ///< Empty if it passed.
  double largest_difference = 0;          ///< The largest error of all floating-point outputs.
};

/// Loads the model of a folder and runs it with each set of test data there, as ONNX's own tests store them: a model
/// `*.onnx`, and folders `test_data_set_*` with `input_0.pb`, …, `output_0.pb`, …. A tensor belongs to the input or
/// output with its name. If there is no such name, its number in the file name counts. Whole numbers and bools must be
/// equal. Throws like load() if the model is not supported, and io if there are no data.
CRISOL_API std::vector<CheckedSet> check(const std::string& folder, const CheckOptions& options = {},
                                         Device device = Device());

/// A list of objects.
CRISOL_API std::string to_json(const std::vector<CheckedSet>& sets);
/// Settings of onnx::save.
struct SaveOptions {
  std::vector<std::string> inputs = {};   ///< Names of the inputs; if empty, "input", or "input_0", "input_1", ….
  std::vector<std::string> outputs = {};  ///< Names of the outputs; if empty, "output", or "output_0", "output_1", ….
  std::string batch = "batch";            ///< The name of the size that may change between calls.
  int batch_axis = 0;                     ///< The axis of all inputs that has this size.
  /// If the weights take more bytes, they are stored in a file beside the model: "net.onnx.data".
  std::uint64_t max_bytes = 2'000'000'000;
};

/// A function of several tensors.
using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;

/// Writes a module as an ONNX file, by running it on an example:
///
///     onnx::save("net.onnx", net, {randn({1, 3, 224, 224})});
///
/// The example gives the element type and the sizes of the input. Axis 0 is the batch: the model in the file takes any
/// size there. The initializers have the names of `state_dict`. The module runs in evaluation, and keeps its mode. The
/// file uses version 17 of ONNX's ops, or a newer one if an op needs it.
///
/// Throws invalid_argument, and writes nothing, for a function that a file cannot express: an op without a form in
/// ONNX, writing into tensors, values that the host reads, and sizes that depend on the batch but are no multiple of
/// it. Throws io if the file cannot be written.
CRISOL_API void save(const std::string& path, nn::Module& module, const std::vector<Tensor>& examples,
                     const SaveOptions& options = {});
/// The same for any function of tensors, such as a module with several inputs. `state` names the tensors that it uses
/// (`net.state_dict()`). Undefined results are left out. Call `eval()` of modules first.
CRISOL_API void save(const std::string& path, const Function& function, const std::vector<Tensor>& examples,
                     const NamedTensors& state, const SaveOptions& options = {});

}  // namespace crisol::onnx
