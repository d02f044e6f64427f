// What a user of the installed library writes. Prints the sum of squares of 1, 2, 3 and whether a gradient arrived.
#include <crisol/crisol.h>

#include <iostream>

int main() {
  using namespace crisol;
  try {
    Tensor x = from_vector<float>({1, 2, 3});
    x.requires_grad_();
    Tensor y = sum(x * x);
    y.backward();
    std::cout << "sum " << y.item() << ", gradient " << x.grad().to_vector<float>()[2] << '\n';
    relu(Tensor());
  } catch (const Error& error) {
    // Thrown in the library, caught here: the type is one across the border.
    std::cout << "caught " << error.what() << '\n';
    return 0;
  }
  return 1;
}
