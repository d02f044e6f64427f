// Errors of compiled and of loaded functions name the op that the user called.
#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "graph/model_file.h"

namespace {

using Function = std::function<Tensor(const Tensor& x)>;

struct Calls : nn::Module {
  Function function;

  explicit Calls(Function f) : function(std::move(f)) {}
  Tensor forward(const Tensor& x) override { return function(x); }
};

/// The text of the error that a read of the result throws.
template <class F>
std::string text_of(const F& f) {
  try {
    f().to(DType::f32).template to_vector<float>();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("graph: a wrong index in a compiled module has the same error as in the module") {
  const NoGrad no_grad;
  const Tensor table = randn({7, 3});
  const struct {
    const char* name;
    Function function;
  } cases[] = {
      {"embedding", [&](const Tensor& x) { return embedding(table, x); }},
      {"index_select", [&](const Tensor& x) { return index_select(table, 0, x); }},
      {"gather", [&](const Tensor& x) { return gather(table, 0, x.unsqueeze(1)); }},
      {"index_get", [&](const Tensor& x) { return index_get(table, {x}); }},
      {"take_along_axis", [&](const Tensor& x) { return take_along_axis(table, x.unsqueeze(1), 0); }},
      {"index_put", [&](const Tensor& x) { return index_put(table * 1, {x}, 0); }},
      {"index_add", [&](const Tensor& x) { return index_add(table * 1, 0, x, table.narrow(0, 0, x.size(0))); }}};
  for (const auto& [name, function] : cases) {
    CAPTURE(name);
    Calls net(function);
    net.eval();
    Compiled fast = compile(net, zeros({2}, DType::i64));
    const Tensor good = from_vector<std::int64_t>({6, 0, 1}), wrong = from_vector<std::int64_t>({2, 7, 0});
    CHECK(text_of([&] { return fast(good); }).empty());
    const std::string text = text_of([&] { return fast(wrong); });
    CHECK(text == text_of([&] { return net(wrong); }));
    CHECK(text.find('[' + std::string(name) + ']') == 0);
    CHECK(fast.programs() == 1);
  }
}

TEST_CASE("graph: positions along several axes count from the end in a compiled module too") {
  const NoGrad no_grad;
  const Tensor table = arange(0, 12).reshape({4, 3});
  const auto rows = [](const Tensor& x) { return x.select(1, 0); };
  const auto columns = [](const Tensor& x) { return x.select(1, 1); };
  for (const Function& function : std::vector<Function>{
           [&](const Tensor& x) { return gather_nd(table, x); },
           [&](const Tensor& x) {
             return index_get(table, {rows(x), columns(x)});
           },
           [&](const Tensor& x) {
             return index_put(table * 1, {rows(x), columns(x)}, 50);
           },
           [&](const Tensor& x) { return scatter_nd(table, x, ones({x.size(0)}), ScatterReduction::sum); }}) {
    Calls net(function);
    net.eval();
    Compiled fast = compile(net, zeros({2, 2}, DType::i64));
    const Tensor x = from_vector<std::int64_t>({3, 1, -1, -3, -2, 2}, {3, 2});
    CHECK(fast(x).to_vector<float>() == net(x).to_vector<float>());
    CHECK(fast.programs() == 1);
  }
}

TEST_CASE("graph: errors of a compiled module's arguments name the module's function") {
  const NoGrad no_grad;
  Calls net([](const Tensor& x) { return x.narrow(0, 0, 3) + 1; });
  net.eval();
  Compiled fast = compile(net, zeros({4, 3}));
  CHECK(fast(zeros({6, 3})).shape() == Shape{3, 3});
  const std::string text = text_of([&] { return fast(zeros({2, 3})); });
  CHECK(text == text_of([&] { return net(zeros({2, 3})); }));
  CHECK(text.find("[narrow]") == 0);
  CHECK(text_of([&] { return fast(zeros({5})); }) == text_of([&] { return net(zeros({5})); }));
}

TEST_CASE("graph: errors of a loaded model name the node of the file") {
  const NoGrad no_grad;
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/rows.onnx";
  const Tensor table = randn({7, 3});
  onnx::save(path, [&](const std::vector<Tensor>& in) { return std::vector<Tensor>{embedding(table, in[0])}; },
             {zeros({2}, DType::i64)}, {});
  onnx::Model model = onnx::load(path);
  CHECK(text_of([&] { return model(from_vector<std::int64_t>({2, 6})); }).empty());
  CHECK(text_of([&] { return model(from_vector<std::int64_t>({2, 7})); }).find("[Gather] ") == 0);
  const ModelFile product({node("MatMul", {"x", "w"}, {"y"})}, {weight("w", randn({3, 2}))});
  onnx::Model of_product = product.load();
  CHECK_MESSAGE(text_of([&] {
                  return of_product(zeros({2, 4}));
                }).find("[onnx] node") == 0,
                text_of([&] {
                  return of_product(zeros({2, 4}));
                }));
}
