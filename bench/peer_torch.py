"""PyTorch's side of compare.py: the cases of `crisol bench` as a PyTorch user writes them, in f32 and NCHW. A case's
key `precision` has the meaning that it has for crisol: tf32 permits TF32, and fp16 and bf16 compute products under
autocast."""

import argparse

import torch
import torch.nn.functional as F

from sampling import Unsupported, serve


def numbers(keys, *names):
    return [int(keys[name]) for name in names]


def training(inputs, forward):
    """Forward and backward to all inputs. In every run the inputs are new leaves without gradients."""
    dy = torch.randn_like(forward(*inputs))

    def run():
        leaves = [x.detach().requires_grad_() if x is not None else None for x in inputs]
        forward(*leaves).backward(dy)

    return run


def without_grad(function):
    def run():
        with torch.no_grad():
            function()

    return run


def gemm(keys):
    m, n, k, batch = numbers(keys, "m", "n", "k", "batch")

    def matrix(rows, columns, transposed):
        shape = (columns, rows) if transposed else (rows, columns)
        stored = torch.randn((batch, *shape) if batch > 1 else shape)
        return stored.transpose(-2, -1) if transposed else stored

    a, b = matrix(m, k, keys["transa"] == "1"), matrix(k, n, keys["transb"] == "1")
    return without_grad(lambda: torch.matmul(a, b))


def attention(keys):
    batch, heads, rows, count, depth = numbers(keys, "batch", "heads", "rows", "keys", "depth")
    q, k, v = (torch.randn(batch, heads, n, depth) for n in (rows, count, count))

    def forward(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=keys["causal"] == "1")

    return training([q, k, v], forward) if keys["dir"] == "train" else without_grad(lambda: forward(q, k, v))


def conv2d(keys):
    n, c, h, w, k, r, s = numbers(keys, "n", "c", "h", "w", "k", "r", "s")
    stride, pad, dilation, groups = numbers(keys, "stride", "pad", "dilation", "groups")
    x, weight = torch.randn(n, c, h, w), torch.randn(k, c // groups, r, s)
    bias = torch.randn(k) if keys["bias"] == "1" else None

    def forward(x, weight, bias):
        return F.conv2d(x, weight, bias, stride, pad, dilation, groups)

    direction = keys["dir"]
    if direction == "fwd":
        return without_grad(lambda: forward(x, weight, bias))
    if direction == "train":
        return training([x, weight, bias], forward)
    dy = torch.randn_like(forward(x, weight, bias))
    wanted = [direction == "bwd_data", direction == "bwd_weights", False]
    backward = torch.ops.aten.convolution_backward
    return without_grad(
        lambda: backward(
            dy, x, weight, [0], [stride] * 2, [pad] * 2, [dilation] * 2, False, [0, 0], groups, wanted
        )
    )


def pool(keys):
    n, c, h, w, r, stride, pad = numbers(keys, "n", "c", "h", "w", "r", "stride", "pad")
    x = torch.randn(n, c, h, w)
    is_max = keys["kind"] == "max"

    def forward(x):
        # With indices: training needs them, and crisol keeps them too.
        return F.max_pool2d(x, r, stride, pad, return_indices=True)[0] if is_max else F.avg_pool2d(x, r, stride, pad)

    if keys["dir"] == "fwd":
        return without_grad(lambda: forward(x))
    if keys["dir"] == "train":
        return training([x], forward)
    dy = torch.randn_like(forward(x))
    if is_max:
        indices = F.max_pool2d(x, r, stride, pad, return_indices=True)[1]
        backward = torch.ops.aten.max_pool2d_with_indices_backward
        return without_grad(lambda: backward(dy, x, [r, r], [stride] * 2, [pad] * 2, [1, 1], False, indices))
    backward = torch.ops.aten.avg_pool2d_backward
    return without_grad(lambda: backward(dy, x, [r, r], [stride] * 2, [pad] * 2, False, True, None))


def norm(keys):
    if keys["kind"] == "batch":
        n, c, h, w = numbers(keys, "n", "c", "h", "w")
        x, weight, bias = torch.randn(n, c, h, w), torch.ones(c), torch.zeros(c)
        mean, var = torch.zeros(c), torch.ones(c)

        def forward(x, weight, bias):
            return F.batch_norm(x, mean, var, weight, bias, training=True)

        def statistics_of_forward():
            return torch.ops.aten.native_batch_norm(x, weight, bias, mean, var, True, 0.1, 1e-5)[1:]

        def backward(dy, statistics):
            return torch.ops.aten.native_batch_norm_backward(
                dy, x, weight, mean, var, *statistics, True, 1e-5, [True] * 3
            )
    else:
        rows, cols = numbers(keys, "rows", "cols")
        x, weight, bias = torch.randn(rows, cols), torch.ones(cols), torch.zeros(cols)

        def forward(x, weight, bias):
            return F.layer_norm(x, (cols,), weight, bias)

        def statistics_of_forward():
            return torch.ops.aten.native_layer_norm(x, [cols], weight, bias, 1e-5)[1:]

        def backward(dy, statistics):
            return torch.ops.aten.native_layer_norm_backward(dy, x, [cols], *statistics, weight, bias, [True] * 3)

    if keys["dir"] == "fwd":
        return without_grad(lambda: forward(x, weight, bias))
    if keys["dir"] == "train":
        return training([x, weight, bias], forward)
    dy, statistics = torch.randn_like(x), statistics_of_forward()
    return without_grad(lambda: backward(dy, statistics))


def softmax(keys):
    x = torch.randn(*numbers(keys, "rows", "cols"))
    log = keys["log"] == "1"
    forward = torch.log_softmax if log else torch.softmax
    if keys["dir"] == "fwd":
        return without_grad(lambda: forward(x, 1))
    y, dy = forward(x, 1), torch.randn_like(x)
    backward = torch.ops.aten._log_softmax_backward_data if log else torch.ops.aten._softmax_backward_data
    return without_grad(lambda: backward(dy, y, 1, torch.float32))


CHAINS = {
    "copy": lambda a: a.clone(),
    "add": lambda a, b: a + b,
    "exp": torch.exp,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "gelu": F.gelu,
    "gate": lambda a, b: torch.tanh(a * b + b) * torch.sigmoid(a),
    "chain6": lambda a, b: torch.relu(torch.exp(-(a * a)) * b + a),
    "bias_relu": lambda x, b: torch.relu(x + b),
}


def eltwise(keys):
    chain, wanted = CHAINS[keys["chain"]], int(keys["elements"])
    if keys["chain"] == "bias_relu":  # The shapes of crisol's case: (n, 64, 64, w).
        images = max(1, wanted // (64 * 4096))
        width = min(64, max(1, wanted // (images * 64 * 64)))
        inputs = [torch.randn(images, 64, 64, width), torch.randn(64, 1, 1)]
    else:
        inputs = [torch.randn(wanted) for _ in range(chain.__code__.co_argcount if hasattr(chain, "__code__") else 1)]
    if options.compile and keys["fused"] == "1":
        chain = torch.compile(chain, dynamic=False)
    return without_grad(lambda: chain(*inputs))


def reduce(keys):
    x = torch.randn(*numbers(keys, "rows", "cols"))
    axis = {"all": None, "rows": 0, "cols": 1}[keys["over"]]
    # amax and amin return no positions.
    special = {"max": torch.amax, "min": torch.amin, "norm": lambda x, axes=None: torch.linalg.vector_norm(x, dim=axes)}
    function = special.get(keys["op"]) or getattr(torch, keys["op"])
    axes = axis
    if axis is None:  # These functions need explicit axes; cumsum runs along rows.
        axes = {"max": (0, 1), "min": (0, 1), "logsumexp": (0, 1), "cumsum": 1}.get(keys["op"])
    return without_grad(lambda: function(x) if axes is None else function(x, axes))


def net_of(name):
    if name == "simplecnn":
        from torch import nn

        return nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(64 * 49, 128), nn.ReLU(), nn.Linear(128, 10),
        ), (1, 28, 28), 10  # fmt: skip
    try:
        import torchvision.models as models
    except ImportError as error:
        raise Unsupported("needs torchvision in the peer's venv") from error
    return getattr(models, name)(), (3, 224, 224), 1000


def net(keys):
    model, image, classes = net_of(keys["net"])
    batch = int(keys["batch"])
    x = torch.randn(batch, *image)
    if keys["mode"] == "infer":
        model.eval()
        return without_grad(lambda: model(x))
    labels = torch.arange(batch) % classes
    adam = torch.optim.Adam(model.parameters())

    def step():
        adam.zero_grad()
        F.cross_entropy(model(x), labels).backward()
        adam.step()

    return step


def rnn(keys):
    t, b, i, h, layers = numbers(keys, "t", "b", "i", "h", "layers")
    kind = {"rnn": torch.nn.RNN, "lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[keys["kind"]]
    model = kind(i, h, layers)
    x = torch.randn(t, b, i)
    if keys["dir"] == "fwd":
        return without_grad(lambda: model(x))
    dy = torch.randn(t, b, h)

    def train():
        model.zero_grad()
        model(x.detach().requires_grad_())[0].backward(dy)

    return train


CASES = {
    "gemm": gemm,
    "attention": attention,
    "conv2d": conv2d,
    "pool": pool,
    "norm": norm,
    "softmax": softmax,
    "eltwise": eltwise,
    "reduce": reduce,
    "net": net,
    "rnn": rnn,
}


HALF = {"fp16": torch.float16, "bf16": torch.bfloat16}


def prepare(case, keys):
    if case not in CASES:
        raise Unsupported(f"no {case}")
    precision = keys.get("precision", "fp32")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    if precision not in HALF:
        return CASES[case](keys)
    half = torch.autocast(options.device, HALF[precision], cache_enabled=False)
    with half:
        run = CASES[case](keys)

    def run_in_half():
        with half:
            run()

    return run_in_half


def resident(field):
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith(field))


def memory_growth(keys, steps=3):
    """Peak of resident memory during the steps, minus the resident memory before the network was made. Before that, a
    convolution, a linear layer and a step of Adam ran once, so that PyTorch's own code is loaded."""
    tiny = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.Flatten(), torch.nn.Linear(8 * 36, 4))
    adam = torch.optim.Adam(tiny.parameters())
    F.cross_entropy(tiny(torch.randn(2, 3, 8, 8)), torch.tensor([0, 1])).backward()
    adam.step()
    before = resident("VmRSS")
    with open("/proc/self/clear_refs", "w") as references:
        references.write("5")  # Resets the peak.
    step = net(keys)
    for _ in range(steps):
        step()
    return resident("VmHWM") - before


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--seconds", type=float, default=1)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--device", default="cpu", help="cpu or cuda")
parser.add_argument("--compile", action="store_true", help="use torch.compile for the chains that crisol fuses")
parser.add_argument("--memory", metavar="NET:BATCH:MODE", help="print the growth of resident memory instead of serving")
options = parser.parse_args()
torch.set_num_threads(options.threads)
torch.set_num_interop_threads(1)
torch.set_default_device(options.device)
torch.backends.cudnn.benchmark = True  # cuDNN measures its algorithms and takes the fastest.
if options.memory:
    print(memory_growth(dict(zip(("net", "batch", "mode"), options.memory.split(":")))))
else:
    on_gpu = options.device != "cpu"
    name = f"PyTorch {torch.__version__}" + (f" on {torch.cuda.get_device_name()}" if on_gpu else "")
    serve(prepare, options.seconds, {"peer": name}, torch.cuda.synchronize if on_gpu else lambda: None)
