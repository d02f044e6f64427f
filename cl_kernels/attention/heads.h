// Where the heads of attention's operands start.
#include "attention/parameters.h"
#include "common/inline.h"

INLINE long head_start(const HeadParameters* x, const AttentionParameters* p, long head) {
  return head / p->heads2 / p->heads1 * x->head0 + head / p->heads2 % p->heads1 * x->head1 + head % p->heads2 * x->head2;
}
