"""Trains nets of torchvision, timm, transformers and diffusers on the device and on the CPU, from the same weights.

    models.py [--steps 20] [--only TEXT,TEXT] [--double] [torchvision] [timm] [transformers] [diffusers]

Prints for each net the largest relative difference of a loss, and the ops that ran on the CPU. --double also compares
both with the CPU in float64, which shows how much rounding a net enlarges. A package that is not installed is left out.
"""

import argparse
import copy
import time
import warnings

import torch
import torch_crisol
from compare import DEVICE
from torch import nn


def classified(model, size, batch=4, classes=10):
    """A net that classifies images: the model, and a function of the device that returns a function of the step."""

    def loss(model, generator, device, dtype):
        x = torch.randn(batch, 3, size, size, generator=generator).to(device, dtype)
        labels = torch.randint(classes, (batch,), generator=generator).to(device)
        outputs = model(x)
        if isinstance(outputs, tuple):  # With auxiliary classifiers.
            outputs = sum(part for part in outputs if part is not None)
        return nn.functional.cross_entropy(outputs, labels)

    return model, loss


def torchvision_nets():
    from torchvision import models

    names = {
        "alexnet": 64, "vgg11": 32, "vgg11_bn": 32, "resnet18": 64, "resnext50_32x4d": 64, "wide_resnet50_2": 32,
        "squeezenet1_1": 64, "densenet121": 64, "inception_v3": 96, "googlenet": 64, "shufflenet_v2_x0_5": 64,
        "mobilenet_v2": 64, "mobilenet_v3_small": 64, "mnasnet0_5": 64, "efficientnet_b0": 64, "regnet_y_400mf": 64,
        "convnext_tiny": 64, "swin_t": 64,
    }  # fmt: skip
    for name, size in names.items():
        extra = {"init_weights": False} if name in ("inception_v3", "googlenet") else {}
        if name == "inception_v3":
            extra["aux_logits"] = False  # The auxiliary classifier needs larger images.
        yield (
            name,
            lambda name=name, size=size, extra=extra: classified(getattr(models, name)(num_classes=10, **extra), size),
        )
    yield "vit", lambda: classified(models.VisionTransformer(64, 16, 4, 4, 64, 128, num_classes=10), 64)


def timm_nets():
    import timm

    names = (
        "resnet10t efficientnet_lite0 mobilenetv3_small_050 mobilevit_xxs vit_tiny_patch16_224 deit_tiny_patch16_224 "
        "convnext_atto regnetx_002 rexnet_100 ghostnet_050 lcnet_035 tinynet_e levit_128s poolformer_s12 "
        "xcit_nano_12_p16_224 edgenext_xx_small mixer_s32_224 resmlp_12_224 gmlp_ti16_224 pvt_v2_b0 "
        "swin_s3_tiny_224 repvgg_a0 mobileone_s0 fastvit_t8 inception_next_atto"
    )
    flexible = ("vit", "deit", "xcit", "mixer", "resmlp", "gmlp")

    def make(name):
        if name.startswith(flexible):
            return classified(timm.create_model(name, num_classes=10, img_size=64), 64)
        fixed = name.startswith(("levit", "swin"))
        return classified(timm.create_model(name, num_classes=10), 224 if fixed else 64, 2 if fixed else 4)

    for name in names.split():
        yield name, lambda name=name: make(name)


def of_tokens(model, **more):
    def loss(model, generator, device, dtype):
        tokens = torch.randint(100, (2, 24), generator=generator).to(device)
        mask = torch.ones_like(tokens)
        mask[1, 20:] = 0
        return model(input_ids=tokens, attention_mask=mask, labels=tokens, **more).loss

    return model, loss


def transformers_nets():
    import transformers as t

    sizes = {"vocab_size": 100, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    bert = {**sizes, "intermediate_size": 128, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    yield "bert", lambda: of_tokens(t.BertForMaskedLM(t.BertConfig(**bert)))
    gpt = {
        "vocab_size": 100,
        "n_embd": 64,
        "n_layer": 2,
        "n_head": 4,
        "resid_pdrop": 0,
        "embd_pdrop": 0,
        "attn_pdrop": 0,
    }
    yield "gpt2", lambda: of_tokens(t.GPT2LMHeadModel(t.GPT2Config(**gpt)))
    llama = {**sizes, "intermediate_size": 128, "num_key_value_heads": 2}
    yield "llama", lambda: of_tokens(t.LlamaForCausalLM(t.LlamaConfig(**llama)))

    def vit():
        config = {**bert, "image_size": 32, "patch_size": 8, "num_labels": 10}
        model = t.ViTForImageClassification(t.ViTConfig(**config))

        def loss(model, generator, device, dtype):
            x = torch.randn(4, 3, 32, 32, generator=generator).to(device, dtype)
            return model(pixel_values=x, labels=torch.randint(10, (4,), generator=generator).to(device)).loss

        return model, loss

    def whisper():
        config = t.WhisperConfig(
            vocab_size=100, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
            decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128, num_mel_bins=16,
            max_source_positions=50, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
            dropout=0.0,
        )  # fmt: skip
        model = t.WhisperForConditionalGeneration(config)

        def loss(model, generator, device, dtype):
            features = torch.randn(2, 16, 100, generator=generator).to(device, dtype)
            labels = torch.randint(3, 100, (2, 12), generator=generator).to(device)
            return model(input_features=features, labels=labels).loss

        return model, loss

    yield "vit", vit
    yield "whisper", whisper


def diffusers_nets():
    import diffusers

    def unet():
        model = diffusers.UNet2DModel(
            sample_size=16, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(32, 64),
            down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
        )  # fmt: skip

        def loss(model, generator, device, dtype):
            x = torch.randn(2, 3, 16, 16, generator=generator).to(device, dtype)
            steps = torch.randint(1000, (2,), generator=generator).to(device)
            noise = torch.randn(2, 3, 16, 16, generator=generator).to(device, dtype)
            return nn.functional.mse_loss(model(x, steps).sample, noise)

        return model, loss

    yield "unet", unet


GROUPS = {
    "torchvision": torchvision_nets,
    "timm": timm_nets,
    "transformers": transformers_nets,
    "diffusers": diffusers_nets,
}


def losses(model, loss_of, device, steps, dtype=torch.float32):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    generator = torch.Generator().manual_seed(1)
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model, generator, device, dtype)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def difference(actual, expected):
    return max(abs(a - b) / abs(b) for a, b in zip(actual, expected, strict=True))


def check(make, options):
    torch.manual_seed(0)
    model, loss_of = make()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        if type(module).__name__ in ("StochasticDepth", "DropPath"):
            module.p = module.drop_prob = 0.0
        if isinstance(getattr(module, "drop_rate", None), float):  # timm calls functional.dropout with it.
            module.drop_rate = 0.0
    twin, third = copy.deepcopy(model).to(DEVICE), copy.deepcopy(model).double() if options.double else None
    expected = losses(model, loss_of, "cpu", options.steps)
    with torch_crisol.fallbacks() as notes:
        actual = losses(twin, loss_of, DEVICE, options.steps)
    text = f"{difference(actual, expected):.1e}, first {difference(actual[:1], expected[:1]):.1e}"
    if third is not None:
        best = losses(third, loss_of, "cpu", options.steps, torch.float64)
        text += (
            f" (against float64: the device {difference(actual, best):.1e}, the CPU {difference(expected, best):.1e})"
        )
    return text, notes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--double", action="store_true")
    parser.add_argument("groups", nargs="*")
    options = parser.parse_args()
    torch_crisol.set_fallback("silent")
    warnings.simplefilter("ignore")
    for group in options.groups or GROUPS:
        try:
            nets = list(GROUPS[group]())
        except ImportError as error:
            print(f"{group}: {error}")
            continue
        for name, make in nets:
            if not any(text in name for text in options.only.split(",")):
                continue
            start = time.monotonic()
            try:
                text, notes = check(make, options)
            except Exception as error:
                text, notes = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}", {}
            ops = ", ".join(f"{op.removeprefix('aten::')} {calls} ({why})" for op, (calls, why) in notes.items())
            print(f"{group} {name}: {text} [{time.monotonic() - start:.0f} s] {ops or 'native'}", flush=True)


if __name__ == "__main__":
    main()
