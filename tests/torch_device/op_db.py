"""All entries of PyTorch's op_db on the device against the CPU: forward and gradient.

    op_db.py [--dtype float32] [--samples 8] [--variants] [NAME…]

Prints a line for each entry that is wrong, and at the end how many entries are native (no op runs on the CPU), run by
fallback, or are wrong. Entries that the CPU refuses for this dtype are left out. --variants runs the samples with
non-contiguous tensors, in place, and with out=, too.
"""

import argparse
import collections
import time

import torch
import torch_crisol
from compare import check_sample, quiet, variants
from torch.testing._internal.common_methods_invocations import op_db


def outcome(op, dtype, limit, with_variants):
    with quiet():
        try:
            with_gradient = op.supports_autograd and dtype.is_floating_point
            samples = list(op.sample_inputs("cpu", dtype, requires_grad=with_gradient))
        except Exception:
            return None, ""
    ran = 0
    with torch_crisol.fallbacks() as notes:
        for sample in samples[:: max(1, len(samples) // limit)]:
            form = "plain"
            try:
                ran += check_sample(op, sample, with_gradient)
                for form, other, function in variants(op, sample) if with_variants else ():
                    check_sample(op, other, with_gradient and function is op, function)
            except Exception as error:
                return "wrong", f"{form}: {type(error).__name__}: {error}"
    if not ran:
        return None, ""
    return ("fallback", ", ".join(sorted(notes))) if notes else ("native", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtype", default="float32", help="the dtype of the samples")
    parser.add_argument("--samples", type=int, default=8, help="about how many samples of each entry run")
    parser.add_argument("--variants", action="store_true", help="runs the samples in other forms too")
    parser.add_argument("--verbose", action="store_true", help="prints a line for each entry")
    parser.add_argument("names", nargs="*", help="the entries to run; all if there are none")
    options = parser.parse_args()
    torch_crisol.set_fallback("silent")
    dtype, counts, missing = (getattr(torch, options.dtype), collections.Counter(), collections.Counter())
    for op in op_db:
        if options.names and op.name not in options.names:
            continue
        if dtype not in op.dtypes:
            continue
        start = time.monotonic()
        result, text = outcome(op, dtype, options.samples, options.variants)
        if result is None:
            continue
        counts[result] += 1
        if result == "fallback":
            missing.update(text.split(", "))
        if result == "wrong" or options.verbose:
            name = f"{op.name} {op.variant_test_name}".strip()
            print(f"{result}: {name} ({time.monotonic() - start:.1f} s) {' '.join(text.split())[:400]}", flush=True)
    print("ops that ran on the CPU, and in how many entries:")
    print(", ".join(f"{name.removeprefix('aten::')} {count}" for name, count in missing.most_common()))
    print(f"{options.dtype}: {counts['native']} native, {counts['fallback']} by fallback, {counts['wrong']} wrong")


if __name__ == "__main__":
    main()
