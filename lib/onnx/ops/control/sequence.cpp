// Sequences of tensors, and optional values.
#include <algorithm>

#include "base/text.h"
#include "crisol/functions/cat.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/control/rows.h"
#include "onnx/ops/element_types.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Datum;
using graph::Run;
using graph::RunBody;
using graph::Value;

Value sequence_of(Value element) {
  element.is_sequence = true;
  element.is_optional = false;
  return element;
}

Value element_of(Value sequence) {
  sequence.is_sequence = sequence.is_optional = false;
  return sequence;
}

/// The known facts about the elements of a sequence, after one more element is added.
Value with(const Value& sequence, const Value& element) {
  return sequence_of(value_of(sequence.dtype ? sequence.dtype : element.dtype));
}

/// The position that input i gives, in a sequence of `count` elements. Negative positions count from the end.
std::size_t place_of(const Data& in, std::size_t i, std::size_t count, const char* what) {
  const std::int64_t place = number_of(in[i], "the position"), size = static_cast<std::int64_t>(count);
  require(place >= -size && place < size, "onnx", "position ", place, " of ", count, ' ', what);
  return static_cast<std::size_t>(place < 0 ? place + size : place);
}

Run sequence_empty(Call& call) {
  call.check_counts(0, 0);
  call.gives(0, sequence_of(value_of(dtype_of_number(call.integer("dtype", 1)))));
  return [](const Data&, Device) { return Data{Datum::sequence({})}; };
}

Run sequence_construct(Call& call) {
  call.check_counts(std::max<std::size_t>(call.inputs(), 1), call.inputs());
  call.gives(0, sequence_of(value_of(call.dtype_of(0))));
  return [](const Data& in, Device) { return Data{Datum::sequence(in)}; };
}

Run sequence_insert(Call& call) {
  call.takes_sequences();
  call.check_counts(2, 3);
  call.require_sequence(0);
  const auto dtype = call.dtype_of(0);
  if (dtype) call.require_dtype(1, *dtype);
  call.gives(0, with(call.input(0), call.input(1)));
  return [](const Data& in, Device) {
    Data elements = in[0].elements();
    const std::int64_t size = static_cast<std::int64_t>(elements.size());
    std::int64_t place = size;
    if (has_input(in, 2)) place = number_of(in[2], "the position");
    require(place >= -size && place <= size, "onnx", "position ", place, " of ", size, " elements");
    elements.insert(elements.begin() + (place < 0 ? place + size : place), in[1]);
    return Data{Datum::sequence(std::move(elements))};
  };
}

Run sequence_erase(Call& call) {
  call.takes_sequences();
  call.check_counts(1, 2);
  call.require_sequence(0);
  call.gives(0, sequence_of(call.input(0)));
  return [](const Data& in, Device) {
    Data elements = in[0].elements();
    require(!elements.empty(), "onnx", "the sequence is empty");
    const std::size_t place = has_input(in, 1) ? place_of(in, 1, elements.size(), "elements") : elements.size() - 1;
    elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(place));
    return Data{Datum::sequence(std::move(elements))};
  };
}

Run sequence_at(Call& call) {
  call.takes_sequences();
  call.check_counts(2, 2);
  call.require_sequence(0);
  call.gives(0, element_of(call.input(0)));
  return [](const Data& in, Device) {
    const Data& elements = in[0].elements();
    return Data{elements[place_of(in, 1, elements.size(), "elements")]};
  };
}

Run sequence_length(Call& call) {
  call.takes_sequences();
  call.check_counts(1, 1);
  call.require_sequence(0);
  call.gives(0, value_of(DType::i64, 0));
  return [](const Data& in, Device) {
    return Data{Datum(Numbers{static_cast<std::int64_t>(in[0].elements().size())}, Shape())};
  };
}

/// Splits a tensor into parts of the given sizes, or into parts of one size with a smaller last part, or into single
/// rows. Single rows may lose the axis.
Run split_to_sequence(Call& call) {
  call.check_counts(1, 2);
  const std::int64_t along = call.integer("axis", 0);
  const bool keeps = call.integer("keepdims", 1) != 0;
  check_axis(along, call.rank_of(0));
  call.gives(0, sequence_of(value_of(call.dtype_of(0))));
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    const int axis = axis_of(along, x.dim());
    Data parts;
    if (!has_input(in, 1)) {
      for (std::int64_t i = 0; i < x.size(axis); ++i)
        parts.emplace_back(keeps ? x.narrow(axis, i, 1) : x.select(axis, i));
      return Data{Datum::sequence(std::move(parts))};
    }
    const Numbers sizes = in[1].numbers();
    const bool is_one = in[1].shape().rank() == 0;
    for (const Tensor& part : is_one ? split(x, sizes[0], axis) : split(x, sizes, axis)) parts.emplace_back(part);
    return Data{Datum::sequence(std::move(parts))};
  };
}

Run concat_from_sequence(Call& call) {
  call.takes_sequences();
  call.check_counts(1, 1);
  call.require_sequence(0);
  require(call.has("axis"), "onnx", "attribute axis is missing");
  const std::int64_t axis = call.integer("axis", 0), new_axis = call.integer("new_axis", 0);
  require(new_axis == 0 || new_axis == 1, "onnx", "new_axis is ", new_axis, ", 0 or 1 expected");
  const auto rank = call.rank_of(0);
  if (rank) axis_of(axis, *rank + static_cast<int>(new_axis));
  call.gives_type_of(0, rank ? std::optional<int>(*rank + static_cast<int>(new_axis)) : std::nullopt);
  return [=](const Data& in, Device device) -> Data {
    const Data& elements = in[0].elements();
    require(!elements.empty(), "onnx", "the sequence is empty");
    if (new_axis == 1) return {joined(elements, axis, Value(), device)};
    std::vector<Tensor> tensors;
    for (const Datum& element : elements) tensors.push_back(element.tensor(device));
    return {cat(tensors, axis_of(axis, tensors[0].dim()))};
  };
}

/// Runs its body for each element of the first sequence. Each other input is a sequence of the same length, or a tensor
/// that every iteration gets.
Run sequence_map(Call& call) {
  call.takes_sequences();
  call.check_counts(1, call.inputs(), call.outputs());
  call.require_sequence(0);
  Values inputs;
  std::vector<bool> is_mapped;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    is_mapped.push_back(call.input(i).is_sequence);
    inputs.push_back(element_of(call.input(i)));
  }
  const Values given = call.body("body", inputs);
  require(call.outputs() <= given.size(), "onnx", call.outputs(), " outputs, the body gives ", given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    require(!given[i].is_sequence, "onnx", "the body gives a sequence as output ", i);
    call.gives(i, sequence_of(given[i]));
  }
  const std::size_t outputs = given.size();
  call.set_control([=](const Data& in, const RunBody& run_body, Device) {
    const std::size_t length = in[0].elements().size();
    std::vector<Data> found(outputs);
    for (std::size_t k = 0; k < in.size(); ++k)
      require(!is_mapped[k] || in[k].elements().size() == length, "onnx", "sequences have ", length, " and ",
              is_mapped[k] ? in[k].elements().size() : 0, " elements");
    for (std::size_t i = 0; i < length; ++i) {
      Data arguments;
      for (std::size_t k = 0; k < in.size(); ++k) arguments.push_back(is_mapped[k] ? in[k].elements()[i] : in[k]);
      Data results = run_body(0, std::move(arguments));
      for (std::size_t k = 0; k < outputs; ++k) found[k].push_back(std::move(results[k]));
    }
    Data sequences;
    for (Data& elements : found) sequences.push_back(Datum::sequence(std::move(elements)));
    return sequences;
  });
  return {};
}

Run optional(Call& call) {
  call.takes_sequences();
  call.check_counts(0, 1);
  const file::Type* type = call.type("type");
  require(call.has_input(0) || type != nullptr, "onnx", "there is neither an input nor attribute type");
  Value value = call.has_input(0) ? call.input(0) : value_of_type(*type);
  value.is_optional = true;
  call.gives(0, value);
  return [](const Data& in, Device) { return Data{in.empty() ? Datum() : in[0]}; };
}

Run optional_has_element(Call& call) {
  call.takes_sequences();
  call.check_counts(0, 1);
  call.gives(0, value_of(DType::boolean, 0));
  return [](const Data& in, Device) { return Data{Datum(Numbers{has_input(in, 0) ? 1 : 0}, Shape(), DType::boolean)}; };
}

Run optional_get_element(Call& call) {
  call.takes_sequences();
  call.check_counts(1, 1);
  Value value = call.input(0);
  value.is_optional = false;
  call.gives(0, value);
  return [](const Data& in, Device) {
    require(in[0].defined(), "onnx", "the optional value is empty");
    return Data{in[0]};
  };
}

}  // namespace

std::vector<Row> sequence_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"ConcatFromSequence", 11, newest, concat_from_sequence},
      {"Optional", 15, newest, optional},
      {"OptionalGetElement", 15, newest, optional_get_element},
      {"OptionalHasElement", 15, newest, optional_has_element},
      {"SequenceAt", 11, newest, sequence_at},
      {"SequenceConstruct", 11, newest, sequence_construct},
      {"SequenceEmpty", 11, newest, sequence_empty},
      {"SequenceErase", 11, newest, sequence_erase},
      {"SequenceInsert", 11, newest, sequence_insert},
      {"SequenceLength", 11, newest, sequence_length},
      {"SequenceMap", 17, newest, sequence_map},
      {"SplitToSequence", 11, newest, split_to_sequence},
  };
}

}  // namespace crisol::onnx
