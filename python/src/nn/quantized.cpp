// Weights in 8 and 4 bits, and the layer that multiplies with them.
#include "arguments.h"
#include "crisol/dtype_table.h"
#include "nn/module.h"
#include "programs/topics.h"

namespace crisol::python {

namespace {

using WeightClass = nb::class_<QuantizedWeight>;
using FromBlocks = QuantizedWeight (*)(const void*, std::size_t, const Shape&, Device);

QuantizeOptions format_of(int bits, std::int64_t block, bool symmetric) { return {bits, block, symmetric}; }

/// Binds a constructor that reads blocks of llama.cpp. They are bytes, or any object that shows its memory.
void bind_blocks(WeightClass& weight, const char* name, FromBlocks read, const char* text) {
  weight.def_static(
      name,
      [read](nb::handle blocks, const Shape& shape, const std::optional<Device>& device) {
        const nb::bytes bytes = nb::steal<nb::bytes>(PyBytes_FromObject(blocks.ptr()));
        if (!bytes.is_valid()) throw nb::python_error();
        const nb::gil_scoped_release free;
        return read(bytes.data(), bytes.size(), shape, or_default(device));
      },
      "blocks"_a, "shape"_a, "device"_a = nb::none(), text);
}

[[noreturn]] void refuse(const std::string& reason) {
  throw Error(ErrorCode::invalid_argument, "[from_codes] " + reason);
}

/// The elements of codes or zero points.
std::vector<std::uint8_t> codes_of(const Tensor& x, const std::string& name) {
  if (x.dtype() != DType::u8) refuse(name + " must be uint8, they are " + name_in_python(x.dtype()));
  return x.to_vector<std::uint8_t>();
}

std::vector<float> scales_of(const Tensor& x) {
  if (!is_floating(x.dtype())) refuse("scales must be floating-point, they are " + name_in_python(x.dtype()));
  return x.detach().to(DType::f32).to_vector<float>();
}

void bind_weight(nb::module_& m) {
  WeightClass weight(m, "QuantizedWeight",
                     "A matrix (rows, columns) in codes of 8 or 4 bits. Element (j, k) is scale · (code - zero point). "
                     "linear() multiplies with it. It is not a tensor, and has no gradient.");
  weight
      .def(
          "__init__",
          [](QuantizedWeight* self, const Tensor& codes, const Tensor& scales, const std::optional<Tensor>& zero_points,
             std::int64_t columns, int bits, std::int64_t block) {
            new (self) QuantizedWeight(codes, scales, or_undefined(zero_points), columns, bits, block);
          },
          "codes"_a, "scales"_a, "zero_points"_a.none(), "columns"_a, "bits"_a, "block"_a,
          "Makes a weight of its parts: codes u8 (rows, bytes), scales float32 (rows, blocks), zero points u8 (rows, "
          "blocks) or None.")
      .def_prop_ro("rows", &QuantizedWeight::rows, "Outputs of the product.")
      .def_prop_ro("columns", &QuantizedWeight::columns, "Inputs of the product.")
      .def_prop_ro("bits", &QuantizedWeight::bits, "8 or 4.")
      .def_prop_ro("block", &QuantizedWeight::block, "Columns that share a scale. 0 means a whole row.")
      .def_prop_ro("codes", &QuantizedWeight::codes, "uint8 (rows, bytes), in groups of 32 columns.")
      .def_prop_ro("scales", &QuantizedWeight::scales, "float32 (rows, blocks).")
      .def_prop_ro(
          "zero_points", [](const QuantizedWeight& self) { return if_defined(self.zero_points()); },
          "uint8 (rows, blocks), or None if all are 128 or 8.")
      .def("dequantize", &QuantizedWeight::dequantize, Unlocked(), "The matrix in float32.")
      .def("__repr__",
           [](const QuantizedWeight& self) {
             return nb::str("QuantizedWeight(rows={}, columns={}, bits={}, block={}, symmetric={})")
                 .format(self.rows(), self.columns(), self.bits(), self.block(), !self.zero_points().defined());
           })
      .def("__reduce__", [](nb::handle self) {
        const QuantizedWeight& w = nb::cast<const QuantizedWeight&>(self);
        return nb::make_tuple(self.type(), nb::make_tuple(w.codes(), w.scales(), if_defined(w.zero_points()),
                                                          w.columns(), w.bits(), w.block()));
      });
  bind_blocks(weight, "from_q8_0", &QuantizedWeight::from_q8_0,
              "Reads the bytes of a tensor of llama.cpp's type Q8_0. `shape` is (rows, columns).");
  bind_blocks(weight, "from_q4_0", &QuantizedWeight::from_q4_0,
              "Reads the bytes of a tensor of llama.cpp's type Q4_0. `shape` is (rows, columns).");
  weight.def_static(
      "from_codes",
      [](const Tensor& codes, const Tensor& scales, const std::optional<Tensor>& zero_points, int bits,
         std::int64_t block) {
        return QuantizedWeight::from_codes(
            codes_of(codes, "codes"), scales_of(scales),
            zero_points ? codes_of(*zero_points, "zero points") : std::vector<std::uint8_t>(), codes.shape(), bits,
            block, codes.device());
      },
      "codes"_a, "scales"_a, "zero_points"_a = nb::none(), "bits"_a = 8, "block"_a = 0, Unlocked(),
      "Reads codes in the order of columns: uint8 (rows, columns). Scales and zero points are (rows, blocks). Scales "
      "become float32, and zero points are uint8.");
}

void bind_layer_of_weight(nb::module_& m) {
  auto layer = bind_layer<nn::QuantizedLinear>(
      m, "QuantizedLinear",
      "y = x · weightᵀ + bias, with a weight in 8 or 4 bits that is not trained. crisol.quantize() makes it of a "
      "Linear. A new layer's weight is zero.");
  layer.def(
      "__init__",
      [](nb::pointer_and_handle<nn::QuantizedLinear> self, std::int64_t in_features, std::int64_t out_features,
         int bits, std::int64_t block, bool symmetric, Truth bias, nb::handle, nb::handle) {
        construct(self, in_features, out_features, format_of(bits, block, symmetric), static_cast<bool>(bias));
      },
      "in_features"_a, "out_features"_a, "bits"_a = 8, "block"_a = 0, "symmetric"_a = true, "bias"_a.none() = true,
      "device"_a = nb::none(), "dtype"_a = nb::none(), kept_and_moved<6>);
  layer.def("_made_with", [](const nn::QuantizedLinear& self) {
    const QuantizedWeight weight = self.weight();
    return nb::make_tuple(weight.columns(), weight.rows(), weight.bits(), weight.block(),
                          !weight.zero_points().defined(), self.bias.defined());
  });
  layer.def("weight", &nn::QuantizedLinear::weight, "The weight, made of the buffers.");
  bind_parameter<&nn::QuantizedLinear::bias>(layer, "bias", "(out_features), or None.");
}

}  // namespace

void bind_quantized(nb::module_& m, nb::module_& modules) {
  bind_weight(m);
  bind_layer_of_weight(modules);
  m.def(
      "quantize",
      [](const Tensor& weight, int bits, std::int64_t block, bool symmetric) {
        return quantize(weight, format_of(bits, block, symmetric));
      },
      "weight"_a, "bits"_a = 8, "block"_a = 0, "symmetric"_a = true, Unlocked(),
      "The nearest codes of a matrix. `block` columns of a row share a scale: 16, a multiple of 32, or 0 for the whole "
      "row. Without `symmetric`, each block has a zero point.");
  m.def(
      "quantize",
      [](const nn::Linear& linear, int bits, std::int64_t block, bool symmetric) {
        return std::make_shared<nn::QuantizedLinear>(nn::quantize(linear, format_of(bits, block, symmetric)));
      },
      "linear"_a, "bits"_a = 8, "block"_a = 0, "symmetric"_a = true, Unlocked(),
      "A layer with the nearest codes of the weight, and a copy of the bias.");
}

}  // namespace crisol::python
