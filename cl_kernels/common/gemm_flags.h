// What happens to a sum on its way to C, beside being stored.
#define ADD_TO_C 1
#define BIAS_PER_ROW 2
#define BIAS_PER_COLUMN 4
#define RELU 8
