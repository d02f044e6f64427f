// The types of a unit: VALUE_TYPE, in which readers give elements, and SUM_TYPE, in which products are summed. Both are
// float unless the unit's header defines them anew.
#define VALUE_TYPE float
#define SUM_TYPE float

// Vectors of n values.
#define VALUES_(type, n) type##n
#define VALUES_OF(type, n) VALUES_(type, n)
#define VALUES(n) VALUES_OF(VALUE_TYPE, n)
