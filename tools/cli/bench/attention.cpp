#include "crisol/functions/attention.h"
#include "cli/bench/groups.h"
#include "crisol/autograd.h"

namespace crisol::cli::bench {

namespace {

Work prepare_attention(const Values& v) {
  const std::int64_t batch = v.number("batch"), heads = v.number("heads"), depth = v.number("depth");
  const bool trains = v.is("dir", "train");
  // (N, L, H, D) in memory, as layers make them.
  const auto operand = [&](std::int64_t length) {
    Tensor x = numbers(v, {batch, length, heads, depth}).transpose(1, 2);
    return trains ? x.requires_grad_() : x;
  };
  const std::int64_t rows = v.number("rows"), keys = v.number("keys");
  const Tensor query = operand(rows), key = operand(keys), value = operand(keys), gradient = numbers(v, query.shape());
  const AttentionOptions options{.is_causal = v.on("causal")};
  Work work;
  work.flops = (trains ? 14.0 : 4.0) * static_cast<double>(batch * heads * depth) * static_cast<double>(rows * keys);
  work.run = in_precision(precision_of(v), [=] {
    const Tensor y = scaled_dot_product_attention(query, key, value, Tensor(), options);
    if (trains) grad({y}, {query, key, value}, {.grad_outputs = {gradient}});
  });
  return work;
}

}  // namespace

const Case attention_case{"attention",
                          "scaled_dot_product_attention; a causal one counts the operations of all keys",
                          {{"batch", "8", ">=1", ""},
                           {"heads", "12", ">=1", ""},
                           {"rows", "128", ">=1", "queries of a head"},
                           {"keys", "128", ">=1", "keys of a head"},
                           {"depth", "64", ">=1", "elements of a query, a key and a value"},
                           {"causal", "0", "0|1", "1: query i sees the keys 0 to i"},
                           precision_key(),
                           dtype_key(),
                           {"dir", "fwd", "fwd|train", ""}},
                          prepare_attention};

}  // namespace crisol::cli::bench
