// Texts that are known before a run: labels of classes, keys of maps, and encoders between texts and numbers.
#include "../models.h"

using doctest::Contains;

namespace {

using Texts = std::vector<std::string>;
using Reals = std::vector<float>;

constexpr int text_type = of::string;

Proto tensor_of_type(int type) { return Proto().message(1, Proto().integer(1, type)); }
Proto maps_of_texts() {
  const Proto map = Proto().integer(1, text_type).message(2, tensor_of_type(of::f32));
  return Proto().message(4, Proto().message(1, Proto().message(5, map)));
}
Proto texts(const std::string& name, const Sizes& sizes, const Texts& values) {
  return of::tensor(name, text_type, sizes).texts(6, values);
}

/// A linear classifier of "x" (rows, 1): "label" is no below 0, yes above it. "scores" are (-x, x).
Proto classifier(const Texts& labels = {"no", "yes"}) {
  return node("LinearClassifier", {"x"}, {"label", "scores"},
              {attribute("coefficients", Reals{-1, 1}), attribute("classlabels_strings", labels)}, "ai.onnx.ml");
}

/// A model of x (rows, 1) that begins with the classifier.
Proto model_of(std::vector<Proto> nodes, const std::vector<Proto>& outputs,
               const std::vector<Proto>& initializers = {}) {
  nodes.insert(nodes.begin(), classifier());
  Proto file = of::model(of::graph(
      {.nodes = nodes, .initializers = initializers, .inputs = {value("x", of::f32, {"N", "1"})}, .outputs = outputs}));
  return file.message(8, of::operator_set("ai.onnx.ml", 4));
}

Texts read(const onnx::Model& model, const std::string& output, const Tensor& x) {
  const Texts all = model.texts(output);
  Texts found;
  for (const std::int64_t position : model({{"x", x}})[output].to_vector<std::int64_t>())
    found.push_back(all.at(static_cast<std::size_t>(position)));
  return found;
}

Proto encoder(const std::string& from, const std::vector<Proto>& attributes) {
  return node("LabelEncoder", {from}, {"y"}, attributes, "ai.onnx.ml");
}

const Proto a_text = value("y", tensor_of_type(text_type)), a_number = value("y", tensor_of_type(of::i64));

}  // namespace

TEST_CASE("onnx texts: labels, and maps of scores by label") {
  const Proto zip =
      node("ZipMap", {"scores"}, {"maps"}, {attribute("classlabels_strings", Texts{"no", "yes"})}, "ai.onnx.ml");
  const onnx::Model model =
      loaded(model_of({node("Identity", {"label"}, {"y"}), zip},
                      {a_text, value("maps", maps_of_texts()), value("scores", of::f32, {"N", "2"})}));
  const Tensor x = tensor_of({2, -3, 4}, {3, 1});
  for (const bool recording : {true, false}) {
    const std::optional<NoGrad> no_grad = recording ? std::nullopt : std::optional<NoGrad>(std::in_place);
    CHECK(read(model, "y", x) == Texts{"yes", "no", "yes"});
    check_close(model({{"x", x}})["maps"], {3, 2}, {-2, 2, 3, -3, -4, 4}, {0});
  }
  CHECK(model.texts("maps") == Texts{"no", "yes"});
  CHECK(model.texts("scores").empty());
  check_error([&] { model.texts("z"); }, {"there is no output \"z\"", "\"y\", \"maps\", \"scores\""});
  const Proto wide = node("ZipMap", {"scores"}, {"y"}, {attribute("classlabels_int64s", Sizes{4, 5, 6})}, "ai.onnx.ml");
  CHECK_THROWS_WITH_AS(loaded(model_of({wide}, {value("y", maps_of_texts())}))({{"x", x}}),
                       Contains("3 columns expected"), Error);
}

TEST_CASE("onnx texts: elements are moved and picked") {
  const Tensor x = tensor_of({2, -3, 4}, {3, 1});
  const std::vector<Proto> moved{node("Unsqueeze", {"label", "one"}, {"a"}), node("Transpose", {"a"}, {"b"}),
                                 node("Gather", {"b", "places"}, {"y"}, {attribute("axis", std::int64_t{1})})};
  CHECK(read(loaded(model_of(moved, {a_text}, {numbers("one", {1}), numbers("places", {1, 0})})), "y", x) ==
        Texts{"no", "yes"});
  // A list of texts in the file, from which numbers pick.
  const Proto picked = node("ArrayFeatureExtractor", {"names", "best"}, {"y"}, {}, "ai.onnx.ml");
  const Proto best = node("ArgMax", {"scores"}, {"best"},
                          {attribute("axis", std::int64_t{1}), attribute("keepdims", std::int64_t{0})});
  CHECK(read(loaded(model_of({best, picked}, {a_text}, {texts("names", {3}, {"z", "a", "z"})})), "y", x) ==
        Texts{"a", "z", "a"});
}

TEST_CASE("onnx texts: encoders and casts") {
  const Tensor x = tensor_of({2, -3, 4}, {3, 1});
  const auto whole = [&](const Proto& file) { return loaded(file)({{"x", x}})["y"].to_vector<std::int64_t>(); };
  CHECK(whole(model_of({encoder("label", {attribute("keys_strings", Texts{"maybe", "yes"}),
                                          attribute("values_int64s", Sizes{5, 7})})},
                       {a_number})) == std::vector<std::int64_t>{7, -1, 7});
  const std::vector<Proto> both{attribute("keys_strings", Texts{"yes"}), attribute("values_strings", Texts{"oui"}),
                                attribute("default_string", "non")};
  CHECK(read(loaded(model_of({encoder("label", both)}, {a_text})), "y", x) == Texts{"oui", "non", "oui"});
  const Proto keys = of::tensor_attribute("keys_tensor", texts("", {2}, {"no", "yes"})),
              values = of::tensor_attribute("values_tensor", texts("", {2}, {"nein", "ja"}));
  CHECK(read(loaded(model_of({encoder("label", {keys, values})}, {a_text})), "y", x) == Texts{"ja", "nein", "ja"});
  const Proto best = node("ArgMax", {"scores"}, {"best"}, {attribute("axis", std::int64_t{1})});
  CHECK(read(loaded(model_of({best, encoder("best", {attribute("keys_int64s", Sizes{1}),
                                                     attribute("values_strings", Texts{"one"})})},
                             {a_text})),
             "y", x) == Texts{"one", "_Unused", "one"});
  // Texts of numbers become numbers.
  const Proto picked = node("ArrayFeatureExtractor", {"names", "best"}, {"text"}, {}, "ai.onnx.ml");
  const auto cast = [&](const Texts& names) {
    return model_of({node("ArgMax", {"scores"}, {"best"},
                          {attribute("axis", std::int64_t{1}), attribute("keepdims", std::int64_t{0})}),
                     picked, node("Cast", {"text"}, {"y"}, {attribute("to", std::int64_t{of::i64})})},
                    {a_number}, {texts("names", {2}, names)});
  };
  CHECK(whole(cast({"-12", "34"})) == std::vector<std::int64_t>{34, -12, 34});
  CHECK(refused(cast({"1", "2x"})) == Contains("\"2x\" is no number of i64"));
}

TEST_CASE("onnx texts: refusals") {
  CHECK(refused(model_of({node("Neg", {"label"}, {"y"})}, {a_text})) == Contains("input 0 is text, numbers expected"));
  CHECK(refused(model_of({node("Add", {"scores", "label"}, {"y"})}, {a_text})) == Contains("input 1 is text"));
  CHECK(refused(model_of({node("Neg", {"scores"}, {"y"})}, {a_text})) ==
        Contains("texts that are not known before the run are not supported: \"y\""));
  CHECK(refused(
            model_of({encoder("scores", {attribute("keys_strings", Texts{"a"}), attribute("values_int64s", Sizes{1})})},
                     {a_number})) == Contains("the keys are texts"));
  Proto file = of::model(
      of::graph({.nodes = {node("LinearClassifier", {"x"}, {"y"}, {attribute("coefficients", Reals{1})}, "ai.onnx.ml")},
                 .inputs = {value("x", of::f32, {"N", "1"})},
                 .outputs = {a_text}}));
  CHECK(refused(file.message(8, of::operator_set("ai.onnx.ml", 4))) ==
        Contains("classlabels_ints has 0 labels, classlabels_strings has 0; one of them must be empty"));
}
