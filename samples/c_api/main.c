/* The library from C: a line fitted by gradient descent, and a digit classified by SimpleCNN.
 *
 *     c_api [--device DEVICE] [WEIGHTS]
 *
 * WEIGHTS is a file of `mnist train --weights`. Without it the network is untrained, and its answer is a guess. */
#include <crisol/c/crisol.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program with the library's error message when a call fails. */
static void check(crisol_status status) {
  if (status == CRISOL_OK) return;
  fprintf(stderr, "c_api: %s\n", crisol_error_message());
  exit(1);
}

static crisol_tensor* pointwise(const char* function, const crisol_tensor* a, const crisol_tensor* b) {
  const crisol_operand inputs[2] = {{a, 0}, {b, 0}};
  crisol_tensor* result = NULL;
  check(crisol_pointwise(function, 2, inputs, 0, NULL, &result));
  return result;
}

/* Fits y = 2 x - 1 to 8 points. Stochastic gradient descent finds slope and intercept. */
static void fit_line(void) {
  const float xs[8] = {-4, -3, -2, -1, 0, 1, 2, 3}, ys[8] = {-9, -7, -5, -3, -1, 1, 3, 5};
  const int64_t points = 8, one = 1;
  crisol_tensor *x, *y, *parameters[2];
  check(crisol_tensor_create(CRISOL_DEFAULT_DEVICE, CRISOL_F32, 1, &points, xs, &x));
  check(crisol_tensor_create(CRISOL_DEFAULT_DEVICE, CRISOL_F32, 1, &points, ys, &y));
  for (int i = 0; i < 2; ++i) {
    check(crisol_tensor_full(CRISOL_DEFAULT_DEVICE, CRISOL_F32, 1, &one, 0, &parameters[i]));
    check(crisol_set_requires_grad(parameters[i], 1));
  }
  crisol_optimizer* sgd;
  check(crisol_sgd(2, (const crisol_tensor* const*)parameters, 0.05, 0.5, 0, 0, &sgd));
  for (int step = 0; step < 100; ++step) {
    crisol_tensor* product = pointwise("mul", x, parameters[0]);
    crisol_tensor* line = pointwise("add", product, parameters[1]);
    crisol_tensor* loss;
    check(crisol_mse_loss(line, y, CRISOL_MEAN, &loss));
    check(crisol_optimizer_zero_grad(sgd));
    check(crisol_backward(loss, NULL, 0));
    check(crisol_optimizer_step(sgd));
    crisol_tensor_destroy(loss);
    crisol_tensor_destroy(line);
    crisol_tensor_destroy(product);
  }
  double slope, intercept;
  check(crisol_tensor_item(parameters[0], &slope));
  check(crisol_tensor_item(parameters[1], &intercept));
  printf("line: y = %.3f x %+.3f\n", slope, intercept);
  crisol_optimizer_destroy(sgd);
  crisol_tensor_destroy(parameters[0]);
  crisol_tensor_destroy(parameters[1]);
  crisol_tensor_destroy(x);
  crisol_tensor_destroy(y);
}

/* The digit 1, drawn as a stroke of three columns. Normalised as in `mnist train`: (pixel - 0.1307) / 0.3081. */
static crisol_tensor* picture_of_one(void) {
  const int64_t sizes[4] = {1, 1, 28, 28};
  float pixels[28 * 28];
  for (int row = 0; row < 28; ++row)
    for (int column = 0; column < 28; ++column) {
      const int inside = row >= 4 && row < 24 && column >= 13 && column < 16;
      pixels[row * 28 + column] = ((inside ? 1.0f : 0.0f) - 0.1307f) / 0.3081f;
    }
  crisol_tensor* picture;
  check(crisol_tensor_create(CRISOL_DEFAULT_DEVICE, CRISOL_F32, 4, sizes, pixels, &picture));
  return picture;
}

static void classify(const char* weights) {
  crisol_model* model;
  check(crisol_model_create("simple_cnn", 10, CRISOL_DEFAULT_DEVICE, &model));
  if (weights != NULL) check(crisol_model_load(model, weights));
  check(crisol_model_train(model, 0));
  crisol_set_grad_enabled(0);
  crisol_tensor *picture = picture_of_one(), *logits, *probabilities, *digit, *best;
  const int64_t axis = 1;
  check(crisol_model_forward(model, picture, &logits));
  check(crisol_softmax(logits, 1, &probabilities));
  check(crisol_reduce("argmax", probabilities, 1, &axis, 0, 0, &digit));
  check(crisol_reduce("max", probabilities, 1, &axis, 0, 0, &best));
  double its_digit, its_probability;
  check(crisol_tensor_item(digit, &its_digit));
  check(crisol_tensor_item(best, &its_probability));
  printf("digit: %d with probability %.3f%s\n", (int)its_digit, its_probability,
         weights == NULL ? " (untrained: give it weights)" : "");
  crisol_tensor_destroy(best);
  crisol_tensor_destroy(digit);
  crisol_tensor_destroy(probabilities);
  crisol_tensor_destroy(logits);
  crisol_tensor_destroy(picture);
  crisol_model_destroy(model);
}

int main(int argc, char** argv) {
  const char* weights = NULL;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
      crisol_device device;
      check(crisol_device_find(argv[++i], &device));
      check(crisol_set_default_device(device));
    } else if (argv[i][0] == '-' || weights != NULL) {
      fprintf(stderr, "usage: c_api [--device DEVICE] [WEIGHTS]\n");
      return 2;
    } else {
      weights = argv[i];
    }
  }
  const char* device;
  check(crisol_manual_seed(1));
  check(crisol_device_name(CRISOL_DEFAULT_DEVICE, &device));
  printf("crisol %s on %s\n", crisol_version(), device);
  fit_line();
  classify(weights);
  return 0;
}
