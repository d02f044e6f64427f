// Attention with heads: softmax(q kᵀ) v, with masks, and with keys and values of earlier calls.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "crisol/functions/attention.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/pad.h"
#include "crisol/functions/reduce.h"
#include "crisol/functions/softmax.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/element_types.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// f32 queries (N, Hq, L, D), keys (N, H, S, D) and values (N, H, S, E).
struct Heads {
  Tensor q, k, v;

  void check() const {
    for (const Tensor& x : {q, k, v})
      require(x.dim() == 4, "onnx", "an input of shape ", x.shape(), ", (N, heads, length, size) expected");
    require(k.size(1) > 0 && q.size(1) % k.size(1) == 0, "onnx", q.size(1), " heads of queries for ", k.size(1),
            " heads of keys");
    require(k.size(1) == v.size(1) && k.size(2) == v.size(2), "onnx", "keys of shape ", k.shape(),
            " and values of shape ", v.shape());
  }
};

/// Converts (N, L, heads · D) to (N, heads, L, D). An input with four axes does not change.
Tensor split_heads(const Tensor& x, std::int64_t heads) {
  if (x.dim() == 4) {
    require(heads == 0 || heads == x.size(1), "onnx", "an input of shape ", x.shape(), " with ", heads, " heads");
    return x;
  }
  require(x.dim() == 3 && heads > 0 && x.size(2) % heads == 0, "onnx", "an input of shape ", x.shape(), " with ", heads,
          " heads");
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

/// a (N, Hq, L, D) times b (N, H, D, S). Consecutive groups of Hq / H heads of a use the same head of b.
Tensor grouped_product(const Tensor& a, const Tensor& b) {
  const std::int64_t batch = a.size(0), heads = a.size(1), rows = a.size(2), groups = b.size(1);
  if (heads == groups) return matmul(a, b);
  return matmul(a.reshape({batch, groups, heads / groups * rows, a.size(3)}), b)
      .reshape({batch, heads, rows, b.size(3)});
}

/// The products of all queries with all keys. The default scale is 1 / sqrt(D).
Tensor scores_of(const Heads& h, const std::optional<double>& scale) {
  const double factor = scale ? *scale : 1 / std::sqrt(static_cast<double>(h.q.size(3)));
  return grouped_product(h.q * factor, h.k.transpose(2, 3));
}

/// The rule for which keys a query sees. A key is hidden if the mask hides it, if it comes after the query (causal), if
/// it is outside of a window around the query, or if it is padding.
struct Visibility {
  bool causal;
  std::int64_t left, right;  ///< The bounds of the window. -1 means no bound.

  bool has_positions() const { return causal || has_window(); }
  bool has_window() const { return left >= 0 || right >= 0; }
};

Tensor both(const Tensor& a, const Tensor& b) { return a.defined() ? logical_and(a, b) : b; }

/// Whether each query may see each key. The result broadcasts to (N, Hq, L, S), and is undefined if all queries see all
/// keys. `past` is the number of keys before the first query, or a tensor (N, 1, 1, 1) of such numbers.
Tensor allowed_keys(const Visibility& v, const Operand& past, const Tensor& lengths, std::int64_t rows,
                    std::int64_t keys, Device device) {
  const Tensor key = arange(0, static_cast<double>(keys), 1, DType::i64, device);
  Tensor allowed;
  if (lengths.defined()) allowed = key.lt(lengths);
  if (!v.has_positions()) return allowed;
  const Tensor query = add(arange(0, static_cast<double>(rows), 1, DType::i64, device).unsqueeze(1), past);
  if (v.causal) allowed = both(allowed, key.le(query));
  if (v.left >= 0) allowed = both(allowed, key.ge(query - v.left));
  if (v.right >= 0) allowed = both(allowed, key.le(query + v.right));
  return allowed;
}

/// The term that is added to the scores: the mask, and -inf for hidden keys. Undefined if nothing must be added.
Tensor bias_of(Tensor mask, Tensor allowed, std::int64_t keys) {
  if (mask.defined()) {
    const bool is_condition = mask.dtype() == DType::boolean;
    require(is_condition || is_floating(mask.dtype()), "onnx", "a mask of ", mask.dtype(), ", bool or floats expected");
    const std::int64_t missing = keys - mask.size(-1);
    if (missing > 0) mask = pad(mask, {{0, missing}}, is_condition ? 0 : -infinity);
    if (is_condition) {
      allowed = both(allowed, mask);
      mask = Tensor();
    }
  }
  if (!allowed.defined()) return mask.defined() ? mask.to(DType::f32) : mask;
  const Tensor added = mask.defined() ? mask.to(DType::f32) : zeros(Shape(), DType::f32, allowed.device());
  return where(allowed, added, -infinity);
}

/// The attributes of Attention.
struct Settings {
  explicit Settings(Call& call) {
    if (call.has("scale")) scale = call.real("scale", 1);
    softcap = call.real("softcap", 0);
    q_heads = call.integer("q_num_heads", 0);
    kv_heads = call.integer("kv_num_heads", 0);
    visibility.causal = call.integer("is_causal", 0) != 0;
    const bool has_window = call.version() >= 25;
    visibility.left = has_window ? call.integer("left_window_size", -1) : -1;
    visibility.right = has_window ? call.integer("right_window_size", -1) : -1;
    require(visibility.left >= -1 && visibility.right >= -1, "onnx", "a window from ", visibility.left, " to ",
            visibility.right);
    constexpr std::int64_t most = std::int64_t{1} << 40;  // The sum of a position and a bound must not overflow.
    visibility.left = std::min(visibility.left, most);
    visibility.right = std::min(visibility.right, most);
    const std::int64_t type = call.integer("softmax_precision", 0);
    if (type != 0) precision = dtype_of_number(type);
    require(is_floating(precision), "onnx", "softmax_precision is ", precision);
    wanted_scores = call.integer("qk_matmul_output_mode", 0);
    require(wanted_scores >= 0 && wanted_scores <= 3, "onnx", "qk_matmul_output_mode is ", wanted_scores);
    if (!call.has_output(3)) wanted_scores = -1;
  }

  std::optional<double> scale;
  double softcap;
  std::int64_t q_heads, kv_heads;
  std::int64_t wanted_scores;  ///< The stage at which the scores are an output, or -1.
  Visibility visibility{};
  DType precision = DType::f32;
};

/// Puts the keys and values of earlier calls before those of this call. Returns the number of earlier
/// keys.
std::int64_t join_past(Heads& h, const Data& in, Device device) {
  const Tensor key = input_of(in, 4, device), value = input_of(in, 5, device);
  if (!key.defined()) return 0;
  h.k = cat({key.to(h.k.dtype()), h.k}, 2);
  h.v = cat({value.to(h.v.dtype()), h.v}, 2);
  return key.size(2);
}

/// Converts the heads' result (N, Hq, L, E) to the layout of q.
Tensor like_queries(const Tensor& y, const Tensor& q) {
  const Tensor result = y.to(q.dtype());
  if (q.dim() != 3) return result;
  return result.transpose(1, 2).reshape({y.size(0), y.size(2), y.size(1) * y.size(3)});
}

/// The result if nothing changes the scores on the way.
Tensor plain_result(const Heads& h, const Tensor& bias, bool causal, const std::optional<double>& scale) {
  return scaled_dot_product_attention(h.q, h.k, h.v, bias, {.is_causal = causal, .scale = scale, .enable_gqa = true});
}

/// The four outputs: values for the queries, all keys, all values, and the scores at the wanted stage.
Data attend(const Data& in, const Settings& s, Device device) {
  const Tensor q = in[0].tensor(device);
  Heads h{split_heads(q, s.q_heads), split_heads(in[1].tensor(device), s.kv_heads),
          split_heads(in[2].tensor(device), s.kv_heads)};
  const std::int64_t past = join_past(h, in, device);
  const Tensor all_keys = h.k, all_values = h.v;
  h = {h.q.to(DType::f32), h.k.to(DType::f32), h.v.to(DType::f32)};
  h.check();

  const std::int64_t rows = h.q.size(2), keys = h.k.size(2);
  Tensor lengths = input_of(in, 6, device), allowed;
  // scaled_dot_product_attention() itself can hide the keys after their query. Windows and earlier keys need a mask.
  const bool is_plain = s.softcap <= 0 && s.wanted_scores < 0 && s.precision == DType::f32;
  const bool causal = is_plain && s.visibility.causal && !s.visibility.has_window() && past == 0 && !lengths.defined();
  if (lengths.defined()) {
    lengths = lengths.reshape({lengths.numel(), 1, 1, 1});
    const Tensor before = lengths - rows;
    allowed = allowed_keys(s.visibility, before, lengths, rows, keys, device);
  } else if (!causal) {
    allowed = allowed_keys(s.visibility, past, lengths, rows, keys, device);
  }
  const Tensor bias = bias_of(input_of(in, 3, device), allowed, keys);
  if (is_plain) return {like_queries(plain_result(h, bias, causal, s.scale), q), all_keys, all_values, {}};

  Tensor scores = scores_of(h, s.scale), kept;
  const auto keep = [&](int stage) {
    if (s.wanted_scores == stage) kept = scores.to(q.dtype());
  };
  keep(0);
  if (s.softcap > 0) scores = tanh(scores / s.softcap) * s.softcap;
  keep(1);
  if (bias.defined()) scores = scores + bias;
  keep(2);
  scores = softmax(scores.to(s.precision), -1).to(DType::f32);
  // The result is 0 for a query that sees no key.
  if (bias.defined()) scores = where(bias.max(-1, true).eq(-infinity), 0, scores);
  keep(3);

  return {like_queries(grouped_product(scores, h.v), q), all_keys, all_values, kept};
}

Run attention(Call& call) {
  call.check_counts(3, call.version() < 24 ? 6 : 7, 4);
  call.all_give_type_of(0);
  require(call.has_input(4) == call.has_input(5), "onnx", "past_key and past_value belong together");
  require(!call.has_input(4) || !call.has_input(6), "onnx", "past_key and nonpad_kv_seqlen exclude each other");
  const Settings settings(call);
  return [=](const Data& in, Device device) { return attend(in, settings, device); };
}

/// FlexAttention without the graphs that may change scores and probabilities.
Run flex_attention(Call& call) {
  call.check_counts(3, 3);
  call.gives_type_of(0);
  std::optional<double> scale;
  if (call.has("scale")) scale = call.real("scale", 1);
  const DType precision = dtype_of_number(call.integer("softmax_precision", 1));
  require(is_floating(precision), "onnx", "softmax_precision is ", precision);
  return [=](const Data& in, Device device) {
    const Tensor q = in[0].tensor(device);
    const Heads h{q.to(DType::f32), in[1].tensor(device).to(DType::f32), in[2].tensor(device).to(DType::f32)};
    h.check();
    if (precision == DType::f32) return Data{plain_result(h, Tensor(), false, scale).to(q.dtype())};
    const Tensor probabilities = softmax(scores_of(h, scale).to(precision), -1).to(DType::f32);
    return Data{grouped_product(probabilities, h.v).to(q.dtype())};
  };
}

}  // namespace

std::vector<Row> attention_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"Attention", 23, newest, attention},
      {"FlexAttention", 1, 1, flex_attention, "ai.onnx.preview"},
  };
}

}  // namespace crisol::onnx
