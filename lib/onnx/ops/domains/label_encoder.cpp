// LabelEncoder of the domain ai.onnx.ml: a table from keys to values.
#include <algorithm>
#include <map>
#include <numeric>

#include "base/text.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/sort.h"
#include "onnx/ops/domains/device_parts.h"
#include "onnx/ops/domains/labels.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

using graph::Data;
using graph::Datum;
using graph::Run;
using graph::Texts;
using Strings = std::vector<std::string>;

namespace {

/// The keys or the values of a LabelEncoder. They are whole numbers, real numbers, texts, or a tensor (since version
/// 4).
struct LabelList {
  struct Names {
    const char *whole, *reals, *texts, *tensor;
  };
  Numbers whole;
  std::vector<double> reals;
  Strings texts;
  Datum stored;

  LabelList(Call& call, const Names& names)
      : whole(call.integers(names.whole)), reals(call.reals(names.reals)), texts(call.texts(names.texts)) {
    Strings more = call.texts_of_tensor(names.tensor);
    if (more.empty()) stored = call.tensor(names.tensor);
    require((whole.empty() ? 0 : 1) + (reals.empty() ? 0 : 1) + (texts.empty() ? 0 : 1) + (more.empty() ? 0 : 1) +
                    (stored.defined() ? 1 : 0) ==
                1,
            "onnx", "one of ", names.whole, ", ", names.reals, ", ", names.texts, " and ", names.tensor,
            " must have elements");
    if (!more.empty()) texts = std::move(more);
  }
  bool is_text() const { return !texts.empty(); }
  std::int64_t size() const {
    return stored.defined() ? stored.shape().numel()
                            : static_cast<std::int64_t>(whole.size() + reals.size() + texts.size());
  }
  /// The type, if they are numbers.
  DType dtype() const { return stored.defined() ? stored.dtype() : whole.empty() ? DType::f32 : DType::i64; }
  /// The numbers on a device.
  Tensor tensor(Device device) const {
    if (stored.defined()) return stored.tensor(device).reshape({size()});
    return whole.empty() ? from_vector(reals, DType::f32, device) : from_vector(whole, device);
  }
};

/// The values that a LabelEncoder gives: numbers, or positions in a list of texts. `otherwise` is for elements that are
/// no key.
struct Results {
  LabelList list;
  Scalar otherwise = std::int64_t{0};
  Texts texts;        ///< The list of texts. Null for numbers.
  Numbers positions;  ///< The positions of the values' texts.

  explicit Results(Call& call) : list(call, {"values_int64s", "values_floats", "values_strings", "values_tensor"}) {
    const Strings text_tensor = call.texts_of_tensor("default_tensor");
    const std::int64_t whole = call.integer("default_int64", -1);
    const double real = call.real("default_float", -0.0);
    std::string text = call.text("default_string", "_Unused");
    if (!list.is_text()) {
      const Datum stored = call.tensor("default_tensor");
      otherwise = is_floating(list.dtype()) ? Scalar(real) : Scalar(whole);
      if (!stored.defined()) return;
      require(stored.shape().numel() == 1 && stored.dtype() == list.dtype(), "onnx", "default_tensor has shape ",
              stored.shape(), " and is ", stored.dtype(), ", one number of type ", list.dtype(), " expected");
      otherwise = is_floating(list.dtype()) ? Scalar(stored.number()) : Scalar(stored.numbers()[0]);
      return;
    }
    if (!text_tensor.empty()) text = text_tensor.front();
    Strings all;
    std::map<std::string, std::int64_t> known;
    const auto position_of = [&](const std::string& one) {
      const auto [at, is_new] = known.try_emplace(one, static_cast<std::int64_t>(all.size()));
      if (is_new) all.push_back(one);
      return at->second;
    };
    for (const std::string& one : list.texts) positions.push_back(position_of(one));
    otherwise = Scalar(position_of(text));
    texts = std::make_shared<const Strings>(std::move(all));
  }
  DType dtype() const { return texts ? DType::i64 : list.dtype(); }
  Tensor tensor(Device device) const { return texts ? from_vector(positions, device) : list.tensor(device); }
};

/// For each text, its position in the list of keys. For a text that is no key, it is the number of keys.
Numbers places_of_keys(const Strings& texts, const Strings& keys) {
  std::map<std::string_view, std::int64_t> place;
  for (std::size_t i = 0; i < keys.size(); ++i) place.try_emplace(keys[i], static_cast<std::int64_t>(i));
  Numbers places;
  for (const std::string& text : texts) {
    const auto at = place.find(text);
    places.push_back(at == place.end() ? static_cast<std::int64_t>(keys.size()) : at->second);
  }
  return places;
}

/// Finds the values of keys that are numbers. The time for an element is constant, or grows with the logarithm of the
/// number of keys.
class KeyTable {
 public:
  KeyTable(const LabelList& keys, const Results& results)
      : results_(results), dtype_(is_floating(keys.dtype()) ? keys.dtype() : DType::i64) {
    if (is_floating(dtype_)) {
      sort(keys.stored.defined() ? reals_of(keys.stored, Device()) : keys.reals, reals_);
      return;
    }
    sort(keys.stored.defined() ? keys.stored.numbers() : keys.whole, whole_);
    constexpr std::int64_t exact = std::int64_t{1} << 52;  // Bounds of clamp are f64.
    const std::int64_t first = whole_.front(), last = whole_.back();
    is_dense_ = first > -exact && last < exact && last - first <= 8 * keys.size() + 1024;
  }

  /// The tensors of a device.
  struct Parts {
    Tensor keys;    ///< The keys in ascending order. Undefined if the table is dense.
    Tensor values;  ///< A value for each key. If the table is dense, for each number from the least to the greatest
                    ///< key. The default is the last value, and the first one too if the table is dense.
  };

  Parts on(Device device) const {
    const auto count = static_cast<std::int64_t>(order_.size());
    Numbers places = order_;
    if (is_dense_) {
      places.assign(static_cast<std::size_t>(whole_.back() - whole_.front()) + 2, default_place());
      for (std::size_t i = 0; i < whole_.size(); ++i)
        places[static_cast<std::size_t>(whole_[i] - whole_.front()) + 1] = order_[i];
    }
    places.push_back(default_place());
    const Tensor all = cat({results_.tensor(device), full({1}, results_.otherwise, results_.dtype(), device)}, 0);
    const Tensor values = index_select(all, 0, from_vector(places, device));
    if (is_dense_) return {Tensor(), values};
    return {is_floating(dtype_) ? from_vector(reals_, {count}, dtype_, device) : from_vector(whole_, device), values};
  }

  Tensor find(const Tensor& x, const Parts& parts) const {
    const Tensor elements = x.reshape({x.numel()}).to(dtype_);
    const auto values = [&](const Tensor& places) { return index_select(parts.values, 0, places).reshape(x.shape()); };
    if (is_dense_) return values(clamp(elements, whole_.front() - 1, whole_.back() + 1) - (whole_.front() - 1));
    const std::int64_t count = parts.keys.numel();
    const Tensor place = searchsorted(parts.keys, elements);
    const Tensor nearest = index_select(parts.keys, 0, clamp(place, 0, count - 1));
    return values(where(is_same(elements, nearest), place, count));
  }

 private:
  /// Sorts the keys. The first one of equal keys stays. NaN is the last key.
  template <class T>
  void sort(const std::vector<T>& keys, std::vector<T>& sorted) {
    const auto is_less = [&](std::size_t a, std::size_t b) {
      return keys[a] < keys[b] || (keys[b] != keys[b] && keys[a] == keys[a]);
    };
    std::vector<std::size_t> order(keys.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), is_less);
    order.erase(std::unique(order.begin(), order.end(), [&](auto a, auto b) { return !is_less(a, b); }), order.end());
    for (const std::size_t i : order) {
      sorted.push_back(keys[i]);
      order_.push_back(static_cast<std::int64_t>(i));
    }
  }

  /// The position of the default behind the values of the node's list.
  std::int64_t default_place() const { return results_.list.size(); }

  Results results_;
  DType dtype_;
  bool is_dense_ = false;  ///< Whether the whole numbers between the keys are so few that a table has all of them.
  Numbers whole_, order_;  ///< For each sorted key, its position in the node's list.
  std::vector<double> reals_;
};

/// For each element, the value of the key that equals it, or the default.
Run label_encoder(Call& call) {
  call.check_counts(1, 1);
  const LabelList keys(call, {"keys_int64s", "keys_floats", "keys_strings", "keys_tensor"});
  const Results results(call);
  require(keys.size() == results.list.size(), "onnx", keys.size(), " keys and ", results.list.size(), " values");
  require(keys.size() > 0, "onnx", "there are no keys");
  graph::Value y = value_of(results.dtype(), call.rank_of(0));
  y.texts = results.texts;
  call.gives(0, y);
  if (keys.is_text()) {
    const Texts texts = call.texts_of_input();
    require(texts != nullptr, "onnx", "the keys are texts, the input is numbers or texts that only the run knows");
    return [=, places = places_of_keys(*texts, keys.texts)](const Data& in, Device device) {
      const Tensor otherwise = full({1}, results.otherwise, results.dtype(), device);
      const Tensor x = in[0].tensor(device), all = cat({results.tensor(device), otherwise}, 0);
      const Tensor table = index_select(all, 0, from_vector(places, device));
      return Data{index_select(table, 0, x.reshape({x.numel()})).reshape(x.shape())};
    };
  }
  call.require_dtype(0, keys.dtype());
  const KeyTable table(keys, results);
  const DeviceParts<KeyTable::Parts> parts([=](Device device) { return table.on(device); });
  return [=](const Data& in, Device device) { return Data{table.find(in[0].tensor(device), parts.on(device))}; };
}

}  // namespace

std::vector<Row> label_encoder_rows() { return {{"LabelEncoder", 2, newest_ml_version, label_encoder, ml_domain}}; }

}  // namespace crisol::onnx
