// Ops that run graphs: conditions and loops.
#include <algorithm>

#include "base/text.h"
#include "crisol/functions/arrange.h"
#include "crisol/functions/cat.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/control/loop_limit.h"
#include "onnx/ops/control/rows.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Datum;
using graph::Run;
using graph::RunBody;
using graph::Value;

/// The facts that are true for both values.
Value common(const Value& a, const Value& b) {
  Value value;
  value.is_sequence = a.is_sequence;
  value.is_optional = a.is_optional || b.is_optional;
  if (a.dtype == b.dtype) value.dtype = a.dtype;
  if (!a.shape || !b.shape || a.shape->size() != b.shape->size()) return value;
  value.shape = a.shape;
  for (std::size_t i = 0; i < a.shape->size(); ++i)
    if ((*a.shape)[i].size != (*b.shape)[i].size || (*a.shape)[i].name != (*b.shape)[i].name) (*value.shape)[i] = {};
  return value;
}

void require_same_kind(const Value& a, const Value& b, const char* what, std::size_t i) {
  require(a.is_sequence == b.is_sequence, "onnx", what, ' ', i, " is a sequence in one place, and a tensor in another");
}

bool condition_of(const Datum& datum) { return number_of(datum, "the condition") != 0; }

Run if_(Call& call) {
  call.takes_sequences();
  call.check_counts(1, 1, call.outputs());
  const Values yes = call.body("then_branch", {}), no = call.body("else_branch", {});
  require(call.outputs() <= std::min(yes.size(), no.size()), "onnx", call.outputs(), " outputs, the branches give ",
          yes.size(), " and ", no.size());
  for (std::size_t i = 0; i < call.outputs(); ++i) {
    require_same_kind(yes[i], no[i], "output", i);
    call.gives(i, common(yes[i], no[i]));
  }
  call.set_control(
      [](const Data& in, const RunBody& run_body, Device) { return run_body(condition_of(in[0]) ? 0 : 1, {}); });
  return {};
}

/// A value that a loop passes from iteration to iteration keeps its element type. Its shape may change.
Value carried(const Value& value) {
  Value open = value;
  open.shape.reset();
  return open;
}

/// The body's outputs are the condition, the values for the next iteration, and one row for each of the other outputs.
Run loop(Call& call) {
  call.takes_sequences();
  const std::size_t states = call.inputs() < 2 ? 0 : call.inputs() - 2;
  Values inputs{value_of(DType::i64, 0), value_of(DType::boolean, 0)};
  for (std::size_t i = 0; i < states; ++i) inputs.push_back(carried(call.input(2 + i)));
  const Values given = call.body("body", inputs);
  require(given.size() >= 1 + states, "onnx", "the body gives ", given.size(), " outputs, at least ", 1 + states,
          " expected");
  Values rows(given.begin() + 1 + static_cast<std::ptrdiff_t>(states), given.end());
  call.check_counts(0, call.inputs(), states + rows.size());
  for (std::size_t i = 0; i < states; ++i) {
    if (call.has_input(2 + i)) require_same_kind(call.input(2 + i), given[1 + i], "state", i);
    Value state = carried(given[1 + i]);
    state.is_optional = call.input(2 + i).is_optional;
    call.gives(i, state);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    call.gives(states + i, joined_value(rows[i]));
    add_declared_row(call.declared(states + i), 0, rows[i]);
  }
  call.set_control([=](const Data& in, const RunBody& run_body, Device device) {
    const std::int64_t most = has_input(in, 0) ? number_of(in[0], "the trip count") : INT64_MAX;
    bool goes_on = !has_input(in, 1) || condition_of(in[1]);
    Data state;
    for (std::size_t i = 0; i < states; ++i) state.push_back(in[2 + i]);
    std::vector<Data> found(rows.size());
    RunningLoop running;
    for (std::int64_t i = 0; i < most && goes_on; ++i) {
      running.count();
      Data arguments{Datum(Numbers{i}, Shape()), Datum(Numbers{1}, Shape(), DType::boolean)};
      std::move(state.begin(), state.end(), std::back_inserter(arguments));
      Data results = run_body(0, std::move(arguments));
      goes_on = condition_of(results[0]);
      state.assign(std::make_move_iterator(results.begin() + 1),
                   std::make_move_iterator(results.begin() + 1 + static_cast<std::ptrdiff_t>(states)));
      for (std::size_t k = 0; k < found.size(); ++k) found[k].push_back(std::move(results[1 + states + k]));
    }
    Values known = rows;
    if (!found.empty() && found[0].empty()) {
      Data arguments{Datum(Numbers{0}, Shape()), Datum(Numbers{1}, Shape(), DType::boolean)};
      arguments.insert(arguments.end(), state.begin(), state.end());
      known = rows_of_no_iterations(run_body, std::move(arguments), 1 + states, rows);
    }
    for (std::size_t k = 0; k < found.size(); ++k) state.push_back(joined(found[k], 0, known[k], device));
    return state;
  });
  return {};
}

/// The attributes of Scan. The axes are axes of whole inputs and outputs.
struct Scan {
  std::size_t states, scanned;
  Numbers input_axes, output_axes;
  std::vector<bool> input_reversed, output_reversed;
  Values rows;  ///< The facts about the rows that the body gives in each iteration.

  /// Runs the loop once, over `length` rows. `in` holds the states and the scanned inputs.
  Data run(const Data& in, std::int64_t length, const RunBody& run_body, Device device) const {
    Data state(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(states));
    std::vector<Data> found(rows.size());
    RunningLoop running;
    for (std::int64_t i = 0; i < length; ++i) {
      running.count();
      Data arguments = std::move(state);
      for (std::size_t k = 0; k < scanned; ++k) {
        const Datum& x = in[states + k];
        const int axis = axis_of(input_axes[k], x.shape().rank());
        arguments.push_back(row_of(x, axis, input_reversed[k] ? x.shape()[axis] - 1 - i : i, device));
      }
      Data results = run_body(0, std::move(arguments));
      state.assign(std::make_move_iterator(results.begin()),
                   std::make_move_iterator(results.begin() + static_cast<std::ptrdiff_t>(states)));
      for (std::size_t k = 0; k < found.size(); ++k) found[k].push_back(std::move(results[states + k]));
    }
    const Values known = length > 0 ? rows : rows_of_no_iterations(run_body, empty_arguments(in, device), states, rows);
    for (std::size_t k = 0; k < found.size(); ++k) {
      if (output_reversed[k]) std::reverse(found[k].begin(), found[k].end());
      state.push_back(joined(found[k], output_axes[k], known[k], device));
    }
    return state;
  }

  /// Arguments like those that the body would get if the scanned inputs had rows.
  Data empty_arguments(const Data& in, Device device) const {
    Data arguments(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(states));
    for (std::size_t k = 0; k < scanned; ++k) {
      Shape row = in[states + k].shape();
      row.erase(axis_of(input_axes[k], row.rank()));
      arguments.emplace_back(zeros(row, in[states + k].dtype(), device));
    }
    return arguments;
  }

  /// The number of rows. All scanned inputs must have the same number.
  std::int64_t length_of(const Data& in) const {
    std::int64_t length = 0;
    for (std::size_t k = 0; k < scanned; ++k) {
      const Shape& shape = in[states + k].shape();
      const std::int64_t size = shape[axis_of(input_axes[k], shape.rank())];
      require(k == 0 || size == length, "onnx", "scanned inputs have ", length, " and ", size, " rows");
      length = size;
    }
    return length;
  }
};

std::vector<bool> directions(Call& call, const char* name, std::size_t count) {
  const Numbers given = call.integers(name, Numbers(count, 0));
  require(given.size() == count, "onnx", name, " has ", given.size(), " numbers, ", count, " expected");
  std::vector<bool> reversed;
  for (const std::int64_t one : given) {
    require(one == 0 || one == 1, "onnx", name, " has ", one, ", 0 or 1 expected");
    reversed.push_back(one == 1);
  }
  return reversed;
}

Numbers axes(Call& call, const char* name, std::size_t count) {
  Numbers given = call.integers(name, Numbers(count, 0));
  require(given.size() == count, "onnx", name, " has ", given.size(), " numbers, ", count, " expected");
  return given;
}

/// Imports the body. `batch_axes` is 1 if states and scanned inputs have an axis for batches as the first axis.
Scan scan_of(Call& call, std::size_t first_input, std::int64_t batch_axes) {
  const std::int64_t count = call.integer("num_scan_inputs", 0);
  const std::size_t all = call.inputs() < first_input ? 0 : call.inputs() - first_input;
  require(count >= 1 && static_cast<std::uint64_t>(count) <= all, "onnx", "num_scan_inputs is ", count, " of ", all,
          " inputs");
  Scan scan;
  scan.scanned = static_cast<std::size_t>(count);
  scan.states = all - scan.scanned;
  scan.input_axes = batch_axes > 0 ? Numbers(scan.scanned, 0) : axes(call, "scan_input_axes", scan.scanned);
  scan.input_reversed = directions(call, batch_axes > 0 ? "directions" : "scan_input_directions", scan.scanned);
  Values inputs;
  for (std::size_t i = 0; i < all; ++i) {
    Value input = call.input(first_input + i);
    if (batch_axes > 0) input = without_axis(input, 0);
    inputs.push_back(i < scan.states ? carried(input) : without_axis(input, scan.input_axes[i - scan.states]));
  }
  const Values given = call.body("body", inputs);
  require(given.size() >= scan.states, "onnx", "the body gives ", given.size(), " outputs, at least ", scan.states,
          " expected");
  scan.rows.assign(given.begin() + static_cast<std::ptrdiff_t>(scan.states), given.end());
  call.check_counts(0, call.inputs(), given.size());
  scan.output_axes = batch_axes > 0 ? Numbers(scan.rows.size(), 0) : axes(call, "scan_output_axes", scan.rows.size());
  scan.output_reversed = batch_axes > 0 ? std::vector<bool>(scan.rows.size())
                                        : directions(call, "scan_output_directions", scan.rows.size());
  for (std::size_t i = 0; i < given.size(); ++i) call.gives(i, value_of(given[i].dtype));
  return scan;
}

Run scan(Call& call) {
  Scan scan = scan_of(call, 0, 0);
  for (std::size_t k = 0; k < scan.rows.size(); ++k) {
    call.gives(scan.states + k, joined_value(scan.rows[k], scan.output_axes[k]));
    add_declared_row(call.declared(scan.states + k), scan.output_axes[k], scan.rows[k]);
  }
  call.set_control([scan](const Data& in, const RunBody& run_body, Device device) {
    return scan.run(in, scan.length_of(in), run_body, device);
  });
  return {};
}

/// x with rows of zeros after its rows, so that it has `length` rows.
Tensor lengthened(const Tensor& x, std::int64_t length) {
  if (x.size(0) == length) return x;
  Shape rest = x.shape();
  rest[0] = length - x.size(0);
  return cat({x, zeros(rest, x.dtype(), x.device())}, 0);
}

/// In version 8, axis 0 of all inputs and outputs is for batches, and axis 1 is for rows. Another input has the number
/// of rows of each batch. The result's rows after this number are zeros.
Run scan_of_version_8(Call& call) {
  const Scan scan = scan_of(call, 1, 1);
  call.set_control([scan](const Data& in, const RunBody& run_body, Device device) {
    const std::size_t outputs = scan.states + scan.rows.size();
    const std::int64_t batches = in[1].shape()[axis_of(0, in[1].shape().rank())];
    require(batches > 0, "onnx", "there are no batches");
    const Numbers lengths = in[0].defined() ? in[0].numbers() : Numbers();
    require(lengths.empty() || static_cast<std::int64_t>(lengths.size()) == batches, "onnx", lengths.size(),
            " lengths for ", batches, " batches");
    std::vector<Data> found(outputs);
    for (std::int64_t b = 0; b < batches; ++b) {
      Data one;
      for (std::size_t i = 1; i < in.size(); ++i) one.push_back(row_of(in[i], 0, b, device));
      const std::int64_t most = scan.length_of(one);
      const std::int64_t length = lengths.empty() ? most : lengths[static_cast<std::size_t>(b)];
      require(length >= 0 && length <= most, "onnx", "a length is ", length, ", and there are ", most, " rows");
      Data results = scan.run(one, length, run_body, device);
      for (std::size_t k = 0; k < outputs; ++k)
        found[k].push_back(k < scan.states ? results[k] : Datum(lengthened(results[k].tensor(device), most)));
    }
    Data results;
    for (const Data& rows : found) results.push_back(joined(rows, 0, Value(), device));
    return results;
  });
  return {};
}

}  // namespace

std::vector<Row> control_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"If", 1, newest, if_},
      {"Loop", 1, newest, loop},
      {"Scan", 8, 8, scan_of_version_8},
      {"Scan", 9, newest, scan},
  };
}

}  // namespace crisol::onnx
