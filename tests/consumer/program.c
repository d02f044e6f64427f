/* A program as a C user of the installed library writes it. Prints the largest of three numbers, and a refusal. */
#include <crisol/c/crisol.h>
#include <stdio.h>

int main(void) {
  const float values[3] = {1, 3, 2};
  const int64_t sizes[1] = {3};
  crisol_tensor *x = NULL, *largest = NULL;
  double value = 0;
  crisol_status status = crisol_tensor_create(CRISOL_DEFAULT_DEVICE, CRISOL_F32, 1, sizes, values, &x);
  if (status == CRISOL_OK) status = crisol_reduce("max", x, 0, NULL, 0, 0, &largest);
  if (status == CRISOL_OK) status = crisol_tensor_item(largest, &value);
  if (status == CRISOL_OK) {
    printf("largest %g\n", value);
    if (crisol_reduce("nonsense", x, 0, NULL, 0, 0, &largest) == CRISOL_INVALID_ARGUMENT)
      printf("refused: %s\n", crisol_error_message());
  }
  crisol_tensor_destroy(largest);
  crisol_tensor_destroy(x);
  return status;
}
