// Reading and adding by index, copies, and one elementwise op that represents all others.
#include <cmath>

#include "crisol/ops/elementwise.h"
#include "crisol/ops/index.h"
#include "reference/indexing.h"
#include "rerun/rerun.h"

namespace crisol::rerun {

namespace {

/// Positions along the axis of (outer, size, inner): one for each slice, or one for each element.
struct Indexed {
  Shape shape, picked_shape, index_shape;
  Values x, src, index;
  Tensor tensor, added, positions;

  explicit Indexed(const Problem& p)
      : shape{p["outer"], p["size"], p["inner"]},
        picked_shape{p["outer"], p["picked"], p["inner"]},
        index_shape(p["slices"] != 0 ? Shape{p["picked"]} : picked_shape),
        x(values_for(1, shape.numel())),
        src(values_for(2, picked_shape.numel())),
        index(reference::random_integers(3, index_shape.numel(), 0, p["size"] - 1)),
        tensor(p.stored(x, shape)),
        added(p.stored(src, picked_shape)),
        positions(p.tensor(index, index_shape, DType::i64)) {}
};

bool has_places(const Problem& p) {
  return p["dtype"] == static_cast<std::int64_t>(DType::f32) && p["size"] > 0 && p["picked"] > 0;
}

std::optional<Rerun> make_gather(const Problem& p) {
  if (!has_places(p)) return std::nullopt;
  const Indexed i(p);
  const bool slices = p["slices"] != 0;
  return Rerun{.run =
                   [=] {
                     return std::vector<Tensor>{slices ? ops::index_select(i.tensor, 1, i.positions)
                                                       : ops::gather(i.tensor, 1, i.positions)};
                   },
               .reference =
                   [=] {
                     const reference::Values x{i.shape, i.x};
                     return std::vector<Values>{(slices ? reference::index_select(x, 1, i.index)
                                                        : reference::gather(x, 1, {i.index_shape, i.index}))
                                                    .values};
                   },
               .operations = static_cast<double>(i.src.size()),
               .tolerance = within(0)};
}

/// Makes a rerun of an op that scatters elements or whole slices.
template <class Elements, class Slices>
std::optional<Rerun> make_scatter(const Problem& p, std::optional<ScatterReduction> reduction, Elements elements,
                                  Slices slices) {
  if (!has_places(p)) return std::nullopt;
  const Indexed i(p);
  const bool whole = p["slices"] != 0;
  const double most = static_cast<double>(p["picked"]) + 1;
  const bool rounds = reduction == ScatterReduction::sum || reduction == ScatterReduction::prod;
  return Rerun{
      .run =
          [=] {
            return std::vector<Tensor>{whole ? slices(i.tensor, 1, i.positions, i.added)
                                             : elements(i.tensor, 1, i.positions, i.added)};
          },
      .reference =
          [=] {
            const reference::Values x{i.shape, i.x}, src{i.picked_shape, i.src};
            return std::vector<Values>{(whole ? reference::scatter_slices(x, 1, i.index, src, reduction)
                                              : reference::scatter(x, 1, {i.index_shape, i.index}, src, reduction))
                                           .values};
          },
      .operations = static_cast<double>(i.src.size()),
      .tolerance = rounds ? within(std::sqrt(most), most) : within(0)};
}

std::optional<Rerun> make_add(const Problem& p) {
  return make_scatter(p, ScatterReduction::sum, ops::scatter_add, ops::index_add);
}

std::optional<Rerun> make_replace(const Problem& p) {
  return make_scatter(p, std::nullopt, ops::scatter, ops::index_copy);
}

std::optional<Rerun> make_index_reduce(const Problem& p) {
  const std::int64_t kind = p["kind"];
  if (kind < 1 || kind > 3) return std::nullopt;
  const auto reduction = static_cast<ScatterReduction>(kind);
  const auto with = [reduction](auto* op) {
    return [=](const Tensor& x, int axis, const Tensor& index, const Tensor& src) {
      return op(x, axis, index, src, reduction);
    };
  };
  return make_scatter(p, reduction, with(&ops::scatter_reduce), with(&ops::index_reduce));
}

void resize_indexed(Problem& p, const Sizes& sizes) {
  resize(p, sizes, {{"outer", 3}, {"size", 23}, {"inner", 35}, {"picked", 29}});
  p.values["dtype"] = static_cast<std::int64_t>(DType::f32);
}

std::optional<Rerun> make_transpose_copy(const Problem& p) {
  // Neighbouring rows of the problem are neighbouring elements in the source, and neighbouring columns in the copy.
  const std::int64_t batch = p["batch"], rows = p["columns"], columns = p["rows"];
  Values values = values_for(1, batch * rows * columns);
  const Tensor x = p.stored(values, {batch, rows, columns});
  return Rerun{.run = [=] { return std::vector<Tensor>{x.transpose(1, 2).contiguous()}; },
               .reference =
                   [=] {
                     Values transposed;
                     for (std::int64_t b = 0; b < batch; ++b)
                       for (std::int64_t j = 0; j < columns; ++j)
                         for (std::int64_t i = 0; i < rows; ++i)
                           transposed.push_back(values[static_cast<std::size_t>((b * rows + i) * columns + j)]);
                     return std::vector<Values>{transposed};
                   },
               .operations = static_cast<double>(values.size()),
               .tolerance = within(0)};
}

void resize_transpose_copy(Problem& p, const Sizes& sizes) {
  resize(p, sizes, {{"batch", 3}, {"rows", 37}, {"columns", 53}});
}

// The rerun takes one simple expression, because the compiler handles all expressions alike. It checks how the kernel
// walks through the elements.
std::optional<Rerun> make_pointwise(const Problem& p) {
  const std::int64_t rows = 37, columns = 43;
  const Values x = values_for(1, rows * columns), y = values_for(2, rows);
  const Tensor a = p.tensor(x, {rows, columns}), b = p.tensor(y, {rows, 1});
  return Rerun{.run =
                   [=] {
                     return std::vector<Tensor>{ops::add(a, b), ops::add(a, a)};
                   },
               .reference =
                   [=] {
                     Values across = x, twice = x;
                     for (std::size_t i = 0; i < x.size(); ++i) {
                       across[i] += y[i / static_cast<std::size_t>(columns)];
                       twice[i] += x[i];
                     }
                     return std::vector<Values>{across, twice};
                   },
               .operations = static_cast<double>(x.size()),
               .tolerance = within(1, 2)};
}

void keep(Problem&, const Sizes&) {}

}  // namespace

const std::vector<Maker> movement_makers{{"gather", make_gather, resize_indexed},
                                         {"index_select", make_gather, resize_indexed},
                                         {"scatter_add", make_add, resize_indexed},
                                         {"index_add", make_add, resize_indexed},
                                         {"scatter", make_replace, resize_indexed},
                                         {"index_copy", make_replace, resize_indexed},
                                         {"scatter_reduce", make_index_reduce, resize_indexed},
                                         {"index_reduce", make_index_reduce, resize_indexed},
                                         {"transpose_copy", make_transpose_copy, resize_transpose_copy},
                                         {"pointwise", make_pointwise, keep}};

}  // namespace crisol::rerun
