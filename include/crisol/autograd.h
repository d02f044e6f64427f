// Reverse-mode differentiation on tensors.
//
// A tensor with requires_grad_() is a leaf. The functions of crisol/functions/ and the operators record what they do
// when an input wants a gradient; backward() on the result walks the record in reverse and adds to the leaves' grad().
// The raw ops in crisol::ops never record. Gradients of gradients are not supported: backward() itself is not recorded.
//
//     Tensor w = crisol::randn({3, 4}).requires_grad_();
//     Tensor loss = crisol::mean(crisol::relu(crisol::matmul(x, w)));
//     loss.backward();
//     w.grad();
//
// A tensor that backward still needs must not be changed in place: backward() then throws. The record is freed as it is
// used; a second backward() over it throws unless the first one retained it.
#pragma once

#include "crisol/grad_mode.h"
#include "crisol/tensor.h"
