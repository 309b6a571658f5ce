"""Ten real architectures in plain torch.nn, narrow and shallow but whole: every block is the published one.

Each is a module in eval mode with random weights, and its inputs.
"""

import hashlib
import math
from dataclasses import dataclass
from typing import Callable

import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 7


# ResNet-18: basic blocks, four stages.


class BasicBlock(nn.Module):
    def __init__(self, inner, outer, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outer)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = nn.Identity()
        if stride != 1 or inner != outer:
            self.shortcut = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x):
        y = self.relu(self.norm1(self.conv1(x)))
        y = self.norm2(self.conv2(y))
        y += self.shortcut(x)
        return self.relu(y)


class ResNet(nn.Module):
    def __init__(self, width=16, classes=10):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 7, 2, 3, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, 1),
        )
        stages, inner = [], width
        for number, stride in enumerate((1, 2, 2, 2)):
            outer = width * 2**number
            stages += [BasicBlock(inner, outer, stride), BasicBlock(outer, outer, 1)]
            inner = outer
        self.stages = nn.Sequential(*stages)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(inner, classes)

    def forward(self, x):
        return self.head(torch.flatten(self.pool(self.stages(self.stem(x))), 1))


# MobileNetV3: inverted residuals with depthwise convolutions, squeeze and excitation, hardswish.


class SqueezeExcite(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.down = nn.Conv2d(channels, channels // 4, 1)
        self.up = nn.Conv2d(channels // 4, channels, 1)

    def forward(self, x):
        return x * F.hardsigmoid(self.up(F.relu(self.down(self.pool(x)))))


class InvertedResidual(nn.Module):
    def __init__(self, inner, expanded, outer, kernel, stride, excite, activation):
        super().__init__()
        layers = [nn.Conv2d(inner, expanded, 1, bias=False), nn.BatchNorm2d(expanded), activation()]
        layers += [nn.Conv2d(expanded, expanded, kernel, stride, kernel // 2, groups=expanded, bias=False)]
        layers += [nn.BatchNorm2d(expanded), activation()]
        layers += [SqueezeExcite(expanded)] if excite else []
        layers += [nn.Conv2d(expanded, outer, 1, bias=False), nn.BatchNorm2d(outer)]
        self.layers = nn.Sequential(*layers)
        self.residual = stride == 1 and inner == outer

    def forward(self, x):
        return x + self.layers(x) if self.residual else self.layers(x)


class MobileNet(nn.Module):
    BLOCKS = (
        (16, 16, 16, 3, 2, True, nn.ReLU),
        (16, 72, 24, 3, 2, False, nn.ReLU),
        (24, 88, 24, 3, 1, False, nn.ReLU),
        (24, 96, 40, 5, 2, True, nn.Hardswish),
        (40, 120, 40, 5, 1, True, nn.Hardswish),
    )

    def __init__(self, classes=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish())
        self.blocks = nn.Sequential(*(InvertedResidual(*block) for block in self.BLOCKS))
        self.last = nn.Sequential(nn.Conv2d(40, 120, 1, bias=False), nn.BatchNorm2d(120), nn.Hardswish())
        self.head = nn.Sequential(nn.Linear(120, 64), nn.Hardswish(), nn.Dropout(0.2), nn.Linear(64, classes))

    def forward(self, x):
        return self.head(self.last(self.blocks(self.stem(x))).mean([2, 3]))


# Transformers: ViT and BERT share an encoder layer's parts and differ in where they normalise, as published.


class Attention(nn.Module):
    """Multi-head self-attention, written out; `mask` is added to the scores."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.scale = (width // heads) ** -0.5
        self.to_qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, mask=None):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.to_qkv(x).chunk(3, -1))
        scores = torch.matmul(q, k.transpose(-2, -1)) * self.scale
        if mask is not None:
            scores = scores + mask
        return self.out(torch.matmul(scores.softmax(-1), v).transpose(1, 2).flatten(2))


class Mlp(nn.Module):
    def __init__(self, width, hidden, approximate="none"):
        super().__init__()
        self.up = nn.Linear(width, hidden)
        self.activation = nn.GELU(approximate)
        self.down = nn.Linear(hidden, width)

    def forward(self, x):
        return self.down(self.activation(self.up(x)))


class VitLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=1e-6)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, eps=1e-6)
        self.mlp = Mlp(width, 4 * width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Vit(nn.Module):
    def __init__(self, width=96, heads=3, layers=3, patch=8, image=32, classes=10):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.positions = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, width) * 0.02)
        self.layers = nn.Sequential(*(VitLayer(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.positions
        return self.head(self.norm(self.layers(x))[:, 0])


class BertLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = Attention(width, heads)
        self.norm1 = nn.LayerNorm(width, eps=1e-12)
        self.mlp = Mlp(width, 4 * width)
        self.norm2 = nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, mask):
        x = self.norm1(x + self.dropout(self.attention(x, mask)))
        return self.norm2(x + self.dropout(self.mlp(x)))


class Bert(nn.Module):
    def __init__(self, vocabulary=500, width=96, heads=4, layers=3, longest=32):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(longest, width)
        self.types = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(BertLayer(width, heads) for _ in range(layers))
        self.pooler = nn.Linear(width, width)

    def forward(self, tokens, types, present):
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.norm(self.words(tokens) + self.positions(positions) + self.types(types))
        mask = (1.0 - present[:, None, None, :].to(x.dtype)) * -10000.0
        for layer in self.layers:
            x = layer(x, mask)
        return x, torch.tanh(self.pooler(x[:, 0]))


# GPT-2: causal attention through scaled_dot_product_attention, the tanh approximation of gelu, tied weights.


class GptLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.to_qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = Mlp(width, 4 * width, "tanh")

    def forward(self, x):
        qkv = self.to_qkv(self.norm1(x)).split(x.shape[-1], 2)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in qkv)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self, vocabulary=300, width=96, heads=4, layers=3, longest=32):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(torch.randn(longest, width) * 0.02)
        self.layers = nn.Sequential(*(GptLayer(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        nn.init.normal_(self.words.weight, std=0.02)
        self.head.weight = self.words.weight

    def forward(self, tokens):
        x = self.words(tokens) + self.positions[: tokens.shape[1]]
        return self.head(self.norm(self.layers(x)))


# U-Net: two levels down, two up, with skips.


class DoubleConv(nn.Sequential):
    def __init__(self, inner, outer):
        layers = []
        for channels in (inner, outer):
            layers += [
                nn.Conv2d(channels, outer, 3, padding=1, bias=False),
                nn.BatchNorm2d(outer),
                nn.ReLU(inplace=True),
            ]
        super().__init__(*layers)


class UNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.down1 = DoubleConv(3, width)
        self.down2 = DoubleConv(width, 2 * width)
        self.middle = DoubleConv(2 * width, 4 * width)
        self.grow2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2)
        self.up2 = DoubleConv(4 * width, 2 * width)
        self.grow1 = nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.up1 = DoubleConv(2 * width, width)
        self.out = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        first = self.down1(x)
        second = self.down2(F.max_pool2d(first, 2))
        x = self.middle(F.max_pool2d(second, 2))
        x = self.up2(torch.cat([second, self.grow2(x)], 1))
        x = self.up1(torch.cat([first, self.grow1(x)], 1))
        return self.out(x)


# LSTM: a language model of two layers, its cells written out.


class LstmCell(nn.Module):
    def __init__(self, inner, hidden):
        super().__init__()
        self.from_input = nn.Linear(inner, 4 * hidden)
        self.from_hidden = nn.Linear(hidden, 4 * hidden)

    def forward(self, x, h, c):
        i, f, g, o = (self.from_input(x) + self.from_hidden(h)).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


class Lstm(nn.Module):
    def __init__(self, vocabulary=100, width=48, hidden=64, layers=2):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.cells = nn.ModuleList(LstmCell(width if not layer else hidden, hidden) for layer in range(layers))
        self.head = nn.Linear(hidden, vocabulary)

    def forward(self, tokens, hidden, cell):
        outputs = []
        state = [(hidden[layer], cell[layer]) for layer in range(len(self.cells))]
        for x in self.words(tokens).unbind(1):
            for layer, step in enumerate(self.cells):
                state[layer] = step(x, *state[layer])
                x = state[layer][0]
            outputs.append(x)
        return self.head(torch.stack(outputs, 1)), state[-1][0], state[-1][1]


# DLRM: dense features through a bottom MLP, embeddings of the sparse ones, their dot products, a top MLP.


class Dlrm(nn.Module):
    def __init__(self, dense=13, tables=(100, 50, 200, 30), width=16):
        super().__init__()
        self.bottom = nn.Sequential(nn.Linear(dense, 64), nn.ReLU(), nn.Linear(64, width), nn.ReLU())
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for rows in tables)
        features = len(tables) + 1
        rows, columns = torch.tril_indices(features, features, -1)
        self.register_buffer("rows", rows)
        self.register_buffer("columns", columns)
        self.top = nn.Sequential(nn.Linear(width + rows.numel(), 64), nn.ReLU(), nn.Linear(64, 1), nn.Sigmoid())

    def forward(self, dense, sparse):
        x = self.bottom(dense)
        # Several ids for each feature, pooled by their sum, as an embedding bag does.
        pooled = [table(sparse[:, number]).sum(1) for number, table in enumerate(self.tables)]
        features = torch.stack([x] + [value.to(x.dtype) for value in pooled], 1)
        products = torch.bmm(features, features.transpose(1, 2))
        return self.top(torch.cat([x, products[:, self.rows, self.columns]], 1)).squeeze(1)


# ConvNeXt: depthwise 7x7 convolution, layer norm over channels, gelu, layer scale.


class ConvNextBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.mlp = Mlp(width, 4 * width)
        self.scale = nn.Parameter(torch.full((width,), 0.1))

    def forward(self, x):
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        return x + (self.scale * self.mlp(y)).permute(0, 3, 1, 2)


class ChannelNorm(nn.LayerNorm):
    """A layer norm over the channels of an image."""

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvNext(nn.Module):
    def __init__(self, width=24, classes=10):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, width, 4, 4),
            ChannelNorm(width, eps=1e-6),
            ConvNextBlock(width),
            ConvNextBlock(width),
            ChannelNorm(width, eps=1e-6),
            nn.Conv2d(width, 2 * width, 2, 2),
            ConvNextBlock(2 * width),
            ConvNextBlock(2 * width),
        )
        self.norm = nn.LayerNorm(2 * width, eps=1e-6)
        self.head = nn.Linear(2 * width, classes)

    def forward(self, x):
        return self.head(self.norm(self.body(x).mean([-2, -1])))


# A block of a diffusion model's U-Net: residual convolutions told the time step, then attention over the pixels.


class DiffusionBlock(nn.Module):
    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads = heads
        frequencies = torch.exp(torch.arange(width // 2) * (-math.log(10000.0) / (width // 2)))
        self.register_buffer("frequencies", frequencies)
        self.time = nn.Sequential(nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, 4 * width))
        self.inward = nn.Conv2d(4, width, 3, padding=1)
        self.norm1 = nn.GroupNorm(8, width)
        self.conv1 = nn.Conv2d(width, width, 3, padding=1)
        self.shift = nn.Linear(4 * width, 2 * width)
        self.norm2 = nn.GroupNorm(8, width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)
        self.norm3 = nn.GroupNorm(8, width)
        self.to_qkv = nn.Conv1d(width, 3 * width, 1)
        self.out = nn.Conv1d(width, width, 1)
        self.last = nn.Conv2d(width, 4, 3, padding=1)

    def embedding(self, steps):
        angles = steps[:, None] * self.frequencies
        return self.time(torch.cat([torch.cos(angles), torch.sin(angles)], -1))

    def attend(self, x):
        q, k, v = (
            part.unflatten(1, (self.heads, -1)).transpose(2, 3)
            for part in self.to_qkv(self.norm3(x).flatten(2)).chunk(3, 1)
        )
        y = F.scaled_dot_product_attention(q, k, v).transpose(2, 3).flatten(1, 2)
        return x + self.out(y).reshape(x.shape)

    def forward(self, image, steps):
        time = self.embedding(steps)
        x = self.inward(image)
        y = self.conv1(F.silu(self.norm1(x)))
        scale, shift = self.shift(F.silu(time))[:, :, None, None].chunk(2, 1)
        y = self.conv2(F.silu(self.norm2(y) * (1 + scale) + shift))
        return self.last(self.attend(x + y))


def image(size, batch=1):
    return lambda: (torch.randn(batch, 3, size, size),)


def bert_inputs():
    present = torch.ones(2, 16)
    present[1, 11:] = 0
    return torch.randint(0, 500, (2, 16)), torch.randint(0, 2, (2, 16)), present


ARCHITECTURES = {
    "resnet": (ResNet, image(64)),
    "mobilenet": (MobileNet, image(64)),
    "vit": (Vit, image(32, 2)),
    "bert": (Bert, bert_inputs),
    "gpt": (Gpt, lambda: (torch.randint(0, 300, (2, 24)),)),
    "unet": (UNet, image(32)),
    "lstm": (Lstm, lambda: (torch.randint(0, 100, (3, 8)), torch.zeros(2, 3, 64), torch.zeros(2, 3, 64))),
    "dlrm": (Dlrm, lambda: (torch.randn(32, 13), torch.randint(0, 30, (32, 4, 3)))),
    "convnext": (ConvNext, image(64)),
    "diffusion": (DiffusionBlock, lambda: (torch.randn(2, 4, 16, 16), torch.tensor([10.0, 750.0]))),
}


def trained_look(module):
    """Batch norms as training leaves them: statistics that are not 0 and 1."""
    for part in module.modules():
        if isinstance(part, nn.BatchNorm2d):
            nn.init.normal_(part.running_mean, 0, 0.2)
            nn.init.uniform_(part.running_var, 0.5, 1.5)
            nn.init.uniform_(part.weight, 0.5, 1.5)
    return module


@dataclass(frozen=True)
class Architecture:
    name: str
    module: type
    inputs: Callable
    source: str

    @property
    def fingerprint(self):
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]

    def build(self, precision):
        """The module in eval mode, and its inputs: a tuple. Half precision is autocast's doing alone."""
        torch.manual_seed(SEED)
        module = trained_look(self.module()).eval().requires_grad_(False)
        inputs = self.inputs()
        if precision == "float64":
            return module.double(), tuple(value.double() if value.is_floating_point() else value for value in inputs)
        return module, inputs


def architectures():
    with open(__file__, encoding="utf-8") as file:
        source = file.read()
    return [Architecture(name, module, inputs, source) for name, (module, inputs) in ARCHITECTURES.items()]
