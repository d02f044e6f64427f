#include "ops/into.h"

#include <algorithm>
#include <cstddef>

#include "crisol/ops.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol::testing {

namespace {

std::vector<std::byte> bytes_of(const Tensor& x) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(x.numel()) * size_of(x.dtype()));
  x.read_bytes(bytes.data());
  return bytes;
}

/// A tensor for a result, inside a memory that is full of sevens.
struct Place {
  Tensor memory, view;

  bool rest_is_unchanged() const {
    ops::fill_into(view, 7);
    return bytes_of(memory) == bytes_of(full(memory.shape(), 7, memory.dtype()));
  }
};

enum class Form { offset, contiguous, transposed, stepped };

Place place_of(const Tensor& like, Form form) {
  const Shape& shape = like.shape();
  const int rank = shape.rank();
  Shape size = shape, strides = shape;
  for (int i = 0; i < rank; ++i) {
    if (form == Form::transposed) size[i] = shape[rank - 1 - i];
    if (form == Form::stepped) size[i] = 2 * shape[i] + 1;
  }
  const std::int64_t begin = form == Form::offset ? 3 : form == Form::stepped ? 1 : 0;
  std::int64_t step = 1;
  for (int i = rank; i-- > 0; step *= size[i])
    strides[form == Form::transposed ? rank - 1 - i : i] = form == Form::stepped ? 2 * step : step;
  const Tensor memory = full({size.numel() + 2 * begin}, 7, like.dtype());
  return {memory, ops::as_strided(memory, shape, strides, begin)};
}

Tensors views(const std::vector<Place>& places) {
  Tensors all;
  for (const Place& place : places) all.push_back(place.view);
  return all;
}

// An input that is out itself, and an input that shares only a part with out.
void check_overlap(const IntoCase& c, const Tensors& expected) {
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    CAPTURE(i);
    const Tensor& x = c.inputs[i];
    if (i > 0 && !c.reads_all) break;
    if (!x.defined() || x.dtype() != expected[0].dtype() || x.numel() == 0 || expected[0].numel() == 0) continue;
    Tensors in = c.inputs, out;
    for (const Tensor& one : expected) out.push_back(empty_like(one));
    if (c.every_layout && x.shape() == expected[0].shape()) {
      out[0] = in[i] = x.clone();
      c.into(out, in);
      check_bits(out, expected);
    }
    const std::int64_t most = std::max(x.numel(), expected[0].numel());
    const Tensor memory = full({most + 1}, 7, x.dtype());
    in[i] = ops::reshape(ops::narrow(memory, 0, 1, x.numel()), x.shape());
    ops::copy_into(in[i], x);
    out[0] = ops::reshape(ops::narrow(memory, 0, expected[0].numel() == 1 ? 1 : 0, expected[0].numel()),
                          expected[0].shape());
    if (x.numel() == 1 && expected[0].numel() == 1) continue;
    const auto before = bytes_of(memory);
    check_error([&] { c.into(out, in); }, {"share a part"});
    CHECK(bytes_of(memory) == before);
  }
}

void check_refusals(const IntoCase& c, const Tensors& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    Tensors out;
    for (const Tensor& one : expected) out.push_back(full(one.shape(), 7, one.dtype()));
    const auto refused = [&](const Tensor& wrong, std::initializer_list<std::string_view> parts) {
      Tensors given = out;
      given[i] = wrong;
      check_error([&] { c.into(given, c.inputs); }, parts);
      for (std::size_t k = 0; k < out.size(); ++k)
        CHECK(bytes_of(out[k]) == bytes_of(full(out[k].shape(), 7, out[k].dtype())));
    };
    Shape larger = expected[i].shape();
    larger.insert(0, 2);
    refused(Tensor(), {"undefined"});
    refused(full(larger, 7, expected[i].dtype()),
            {"must have shape", to_string(expected[i].shape()), to_string(larger)});
    const DType other = expected[i].dtype() == DType::u8 ? DType::f16 : DType::u8;
    refused(full(expected[i].shape(), 7, other), {"out must be", name_of(expected[i].dtype()), name_of(other)});
    if (expected[i].numel() > 1)
      refused(
          full({1}, 7, expected[i].dtype()).reshape(Shape::filled(expected[i].dim(), 1)).expand(expected[i].shape()),
          {"expanded"});
  }
  if (expected.size() > 1 && expected[0].dtype() == expected[1].dtype() && expected[0].shape() == expected[1].shape()) {
    Tensors out;
    for (const Tensor& one : expected) out.push_back(empty_like(one));
    out[1] = out[0];
    check_error([&] { c.into(out, c.inputs); }, {"share elements"});
  }
}

}  // namespace

void check_bits(const Tensors& results, const Tensors& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(bytes_of(results[i]) == bytes_of(expected[i]));
  }
}

void check_layouts(const IntoCase& c, const Tensors& expected) {
  for (const Form form : {Form::offset, Form::contiguous, Form::transposed, Form::stepped}) {
    if (form != Form::offset && !c.every_layout) continue;
    CAPTURE(static_cast<int>(form));
    std::vector<Place> places;
    for (const Tensor& one : expected) places.push_back(place_of(one, form));
    c.into(views(places), c.inputs);
    check_bits(views(places), expected);
    for (const Place& place : places) CHECK(place.rest_is_unchanged());
  }
}

void check_into(const std::vector<IntoCase>& cases) {
  for (const IntoCase& c : cases) {
    CAPTURE(c.name);
    const Tensors expected = c.plain(c.inputs);
    check_layouts(c, expected);
    check_overlap(c, expected);
    check_refusals(c, expected);
  }
}

}  // namespace crisol::testing
