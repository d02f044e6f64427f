"""Computes a function with a kernel of its own in OpenCL C, with a gradient, and checks both."""

import argparse

import crisol

SOURCE = """
__kernel void forward(__global const float* x, __global float* y, float width) {
  const size_t i = get_global_id(0);
  y[i] = exp(-x[i] * x[i] / (width * width));
}
__kernel void backward(__global const float* x, __global const float* y, __global const float* dy,
                       __global float* dx, float width) {
  const size_t i = get_global_id(0);
  dx[i] = -2.0f * x[i] / (width * width) * y[i] * dy[i];
}
"""
forward = crisol.Kernel(SOURCE, "forward")
backward = crisol.Kernel(SOURCE, "backward")


class Bell(crisol.autograd.Function):
    """exp(-(x / width)²), for each element."""

    @staticmethod
    def forward(ctx, x, width):
        x = x.contiguous()
        y = crisol.empty(x.shape)
        forward(x.numel(), x, y, width)
        ctx.save_for_backward(x, y)
        ctx.width = width
        return y

    @staticmethod
    def backward(ctx, dy):
        x, y = ctx.saved_tensors
        dx = crisol.empty(x.shape)
        with crisol.no_grad():
            backward(x.numel(), x, y, dy.contiguous(), dx, ctx.width)
        return dx, None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, default=1_000_000, help="of the tensor (default: %(default)s)")
    parser.add_argument("--width", type=float, default=1.5, help="of the bell (default: %(default)s)")
    args = parser.parse_args()

    x = crisol.randn(args.elements).requires_grad_()
    y = Bell.apply(x, args.width)
    crisol.sum(y).backward()
    mine = x.grad.clone()
    (expected,) = crisol.autograd.grad(crisol.sum(crisol.exp(-crisol.square(x / args.width))), x)
    error = crisol.max(crisol.abs(mine - expected)).item()
    print(f"{args.elements:,} elements on {crisol.device()}: the largest error of the gradient is {error:.1e}")
    if error > 1e-5:
        raise SystemExit("the kernel is wrong")


if __name__ == "__main__":
    main()
