// Sequences, lists and dictionaries of modules, and ready models.
#include "arguments.h"
#include "nn/module.h"

namespace crisol::python {

namespace {

using Child = std::shared_ptr<nn::Module>;

/// Makes functions public that the library reserves for derived classes.
template <class Container>
struct Opened : Container {
  static void add(Container& c, const std::string& name, const Child& value) {
    using Add = Child (nn::Module::*)(const std::string&, const Child&);
    (c.*static_cast<Add>(&Opened::template register_module<nn::Module>))(name, value);
  }
  static void replace(Container& c, const std::string& name, const Child& value) {
    (c.*(&Opened::replace_child))(name, nullptr, value, nullptr);
  }
};

Child child_of(nb::handle object) {
  if (nb::isinstance<nn::Module>(object)) return nb::cast<Child>(object);
  const bool is_list = PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
  PyErr_Format(PyExc_TypeError, "a %S is no module; %s", object.type().attr("__name__").ptr(),
               is_list ? "give its elements: Sequential(*layers)" : "a class below nn.Module can call it in forward()");
  throw nb::python_error();
}

/// The index of a child. A negative index counts from the end.
std::size_t place_of(const nn::Module& c, std::int64_t i) {
  const auto size = static_cast<std::int64_t>(c.named_children().size());
  if (i < -size || i >= size) raise("OutOfRangeError", "module " + std::to_string(i) + " of " + std::to_string(size));
  return static_cast<std::size_t>(i < 0 ? i + size : i);
}

template <class Container>
auto bind_numbered(nb::module_& m, const char* name, const char* text) {
  LayerClass<Container> c = make_class<Container>(m, name, text);
  using Open = Opened<Container>;
  c.def("__len__", [](const Container& self) { return self.size(); })
      .def(
          "append",
          [](nb::handle self, const Child& module) {
            auto& list = nb::cast<Container&>(self);
            Open::add(list, std::to_string(list.size()), module);
            return self;
          },
          "module"_a, nb::sig("def append(self, module: Module) -> typing.Self"),
          "Adds a module at the end. Returns this container.")
      .def("__setitem__", [](Container& self, std::int64_t i, const Child& module) {
        Open::replace(self, self.named_children()[place_of(self, i)].first, module);
      });
  c.def("_child",
        [](const Container& self, std::int64_t i) { return self.named_children()[place_of(self, i)].second; });
  return c;
}

void bind_lists(nb::module_& m) {
  bind_numbered<nn::Sequential>(m, "Sequential", "Modules that are called one after another.")
      .def(
          "__init__",
          [](nb::pointer_and_handle<nn::Sequential> self, const nb::args& modules) {
            construct(self);
            if (modules.size() == 1 && nb::isinstance<nb::dict>(modules[0])) {
              for (const auto& [name, module] : nb::cast<nb::dict>(modules[0]))
                Opened<nn::Sequential>::add(*self.p, nb::cast<std::string>(name), child_of(module));
              return;
            }
            for (const nb::handle module : modules)
              Opened<nn::Sequential>::add(*self.p, std::to_string(self.p->size()), child_of(module));
          },
          nb::sig("def __init__(self, *modules: Module | dict[str, Module]) -> None"))
      .def(
          "forward", [](nn::Sequential& self, const Tensor& x) { return self.Sequential::forward(x); }, "input"_a,
          Unlocked(), "Calls the modules one after another.");
  bind_numbered<nn::ModuleList>(m, "ModuleList", "Modules by number. Has no forward of its own.")
      .def(
          "__init__",
          [](nb::pointer_and_handle<nn::ModuleList> self, nb::object modules) {
            construct(self);
            if (modules.is_none()) return;
            for (const nb::handle module : modules)
              Opened<nn::ModuleList>::add(*self.p, std::to_string(self.p->size()), child_of(module));
          },
          "modules"_a = nb::none());
  make_class<nn::ModuleDict>(m, "ModuleDict", "Modules by name. Has no forward of its own.")
      .def(
          "__init__",
          [](nb::pointer_and_handle<nn::ModuleDict> self, const nb::dict& modules) {
            construct(self);
            for (const auto& [name, module] : modules)
              Opened<nn::ModuleDict>::add(*self.p, nb::cast<std::string>(name), child_of(module));
          },
          "modules"_a = nb::dict())
      .def("__len__", &nn::ModuleDict::size)
      .def("__contains__", &nn::ModuleDict::contains)
      .def("__setitem__", [](nn::ModuleDict& self, const std::string& name, const Child& module) {
        if (self.contains(name))
          Opened<nn::ModuleDict>::replace(self, name, module);
        else
          Opened<nn::ModuleDict>::add(self, name, module);
      });
}

/// Binds a member that is a module. Assigning a layer of the same class replaces it.
template <auto member, class Class>
void bind_child(Class& model, const char* name, const char* text) {
  using M = typename Class::Type;
  using Layer = std::decay_t<decltype(std::declval<M&>().*member)>;
  model.def_prop_rw(
      name,
      [name](const M& self) {
        for (const auto& [its_name, child] : self.named_children())
          if (its_name == name) return child;
        return Child();
      },
      [name](nb::handle self, nb::handle_t<Layer> layer) {
        M& m = nb::cast<M&>(self);
        m.replace_module(name, m.*member, nb::cast<const Layer&>(layer));
        nb::cast<nb::dict>(self.attr("__dict__"))[name] = layer;  // Stores the layer for pickles, because the
                                                                  // constructor makes another one.
      },
      text);
}

template <class M>
void bind_classifier(nb::module_& m, const char* name, double dropout, const char* text) {
  auto model = bind_layer<M>(m, name, text);
  model.def(
      "__init__", [](nb::pointer_and_handle<M> self, std::int64_t classes, double p) { construct(self, classes, p); },
      "num_classes"_a = 1000, "dropout"_a = dropout, kept_arguments);
  bind_child<&M::features>(model, "features", "The convolutions.");
  bind_child<&M::classifier>(model, "classifier", "The layers after them.");
  if constexpr (!std::is_same_v<M, nn::MobileNetV2>) bind_child<&M::avgpool>(model, "avgpool", "The pooling between.");
}

void bind_resnet(nb::module_& m) {
  auto resnet = bind_layer<nn::ResNet>(m, "ResNet",
                                       "The networks of He et al. 2016 with blocks of two 3×3 convolutions: images x "
                                       "(N, 3, H, W) give logits (N, num_classes). `layers` are the blocks per stage.");
  resnet.def(
      "__init__",
      [](nb::pointer_and_handle<nn::ResNet> self, const std::tuple<int, int, int, int>& layers, std::int64_t classes) {
        const auto [a, b, c, d] = layers;
        construct(self, std::array<int, 4>{a, b, c, d}, classes);
      },
      "layers"_a, "num_classes"_a = 1000, kept_arguments);
  bind_child<&nn::ResNet::conv1>(resnet, "conv1", "7×7.");
  bind_child<&nn::ResNet::bn1>(resnet, "bn1", "After conv1.");
  bind_child<&nn::ResNet::layer1>(resnet, "layer1", "The first stage.");
  bind_child<&nn::ResNet::layer2>(resnet, "layer2", "The second stage.");
  bind_child<&nn::ResNet::layer3>(resnet, "layer3", "The third stage.");
  bind_child<&nn::ResNet::layer4>(resnet, "layer4", "The last stage.");
  bind_child<&nn::ResNet::fc>(resnet, "fc", "Gives the logits. Another Linear changes the number of classes.");
}

}  // namespace

void bind_containers(nb::module_& m) { bind_lists(m); }

void bind_models(nb::module_& m) {
  bind_resnet(m);
  bind_classifier<nn::AlexNet>(m, "AlexNet", 0.5, "AlexNet, with torchvision's names: images x (N, 3, H, W).");
  bind_classifier<nn::MobileNetV2>(m, "MobileNetV2", 0.2,
                                   "MobileNetV2, with torchvision's names: images (N, 3, H, W).");
  auto vgg = bind_layer<nn::VGG>(m, "VGG",
                                 "The networks of Simonyan and Zisserman 2015, with torchvision's names. `layers` are "
                                 "the output channels of the convolutions in order, 0 means a max pooling.");
  vgg.def(
      "__init__",
      [](nb::pointer_and_handle<nn::VGG> self, const std::vector<int>& layers, std::int64_t classes, double dropout) {
        construct(self, layers, classes, dropout);
      },
      "layers"_a, "num_classes"_a = 1000, "dropout"_a = 0.5, kept_arguments);
  bind_child<&nn::VGG::features>(vgg, "features", "The convolutions.");
  bind_child<&nn::VGG::avgpool>(vgg, "avgpool", "The pooling between.");
  bind_child<&nn::VGG::classifier>(vgg, "classifier", "The layers after them.");
  auto cnn = bind_layer<nn::SimpleCNN>(m, "SimpleCNN", "A small network for images x (N, in_channels, 28, 28).");
  cnn.def(
      "__init__",
      [](nb::pointer_and_handle<nn::SimpleCNN> self, std::int64_t in_channels, std::int64_t classes) {
        construct(self, in_channels, classes);
      },
      "in_channels"_a = 1, "num_classes"_a = 10, kept_arguments);
  bind_child<&nn::SimpleCNN::conv1>(cnn, "conv1", "To 32 channels.");
  bind_child<&nn::SimpleCNN::conv2>(cnn, "conv2", "To 64 channels.");
  bind_child<&nn::SimpleCNN::fc1>(cnn, "fc1", "To 128 units.");
  bind_child<&nn::SimpleCNN::fc2>(cnn, "fc2", "To the logits.");
  auto rows = bind_layer<nn::RowLSTM>(m, "RowLSTM", "Reads images x (N, 1, rows, columns) row by row with an LSTM.");
  rows.def(
      "__init__",
      [](nb::pointer_and_handle<nn::RowLSTM> self, std::int64_t columns, std::int64_t hidden, std::int64_t classes) {
        construct(self, columns, hidden, classes);
      },
      "columns"_a = 28, "hidden"_a = 128, "num_classes"_a = 10, kept_arguments);
  bind_child<&nn::RowLSTM::lstm>(rows, "lstm", "Reads the rows.");
  bind_child<&nn::RowLSTM::fc>(rows, "fc", "Gives the logits.");
}

}  // namespace crisol::python
