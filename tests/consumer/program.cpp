// A program as a user of the installed library writes it. Prints the sum of squares of 1, 2, 3 and whether a gradient
// arrived.
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
    // Thrown in the library and caught here: the exception's type is the same on both sides.
    std::cout << "caught " << error.what() << '\n';
    return 0;
  }
  return 1;
}
