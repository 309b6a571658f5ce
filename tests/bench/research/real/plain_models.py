"""Architectures of torch.nn itself: recurrent networks, transformers, quantised ones."""

import torch
import torch.nn as nn

from model import Model


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(500, 64)
        self.lstm = nn.LSTM(64, 64, 2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(128, 32, batch_first=True)
        self.out = nn.Linear(32, 9)

    def forward(self, words):
        h, _ = self.lstm(self.embedding(words))
        h, _ = self.gru(h)
        return torch.log_softmax(self.out(h), -1)


class CellByCell(nn.Module):
    """A loop over time that a trace would unroll."""

    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(16, 32)
        self.out = nn.Linear(32, 4)

    def forward(self, x):
        h = torch.zeros(x.size(0), 32)
        c = torch.zeros(x.size(0), 32)
        results = []
        for step in x.unbind(1):
            h, c = self.cell(step, (h, c))
            results.append(self.out(h))
        return torch.stack(results, 1)


class Attention(nn.Module):
    def __init__(self, need_weights: bool):
        super().__init__()
        self.attention = nn.MultiheadAttention(64, 4, batch_first=True)
        self.need_weights = need_weights

    def forward(self, x):
        return self.attention(x, x, x, need_weights=self.need_weights)


class LinearsToQuantise(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.Tanh(), nn.Linear(64, 10))

    def forward(self, x):
        return self.layers(x)


class ConvolutionsToQuantise(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant = torch.ao.quantization.QuantStub()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, stride=2), nn.ReLU())
        self.add = torch.ao.nn.quantized.FloatFunctional()
        self.head = nn.Linear(16, 10)
        self.dequant = torch.ao.quantization.DeQuantStub()

    def forward(self, x):
        h = self.body(self.quant(x))
        h = self.add.add(h, h)
        return self.dequant(self.head(h.mean([2, 3])))


def quantised_dynamic(module, kinds, inputs, how="trace"):
    return Model(torch.ao.quantization.quantize_dynamic(module.eval(), kinds, dtype=torch.qint8), inputs, how)


def quantised_static(how):
    module = ConvolutionsToQuantise().eval()
    module.qconfig = torch.ao.quantization.get_default_qconfig("fbgemm")
    torch.ao.quantization.prepare(module, inplace=True)
    x = torch.randn(2, 3, 16, 16)
    module(x)
    return Model(torch.ao.quantization.convert(module), (x,), how)


def transformer(how):
    return Model(nn.Transformer(64, 4, 2, 2, 128, batch_first=True), (torch.randn(2, 9, 64), torch.randn(2, 7, 64)),
        how)


def encoder(how):
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, norm_first=True)
    return Model(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), (torch.randn(2, 9, 64),), how)


def words(batch=2, length=20):
    return (torch.randint(0, 500, (batch, length)),)


def models():
    return {
        "lstm_script": lambda: Model(Tagger(), words(), "script"),
        "transformer_script": lambda: transformer("script"),
        "lstm": lambda: Model(Tagger(), words()),
        "transformer": lambda: transformer("trace"),
        "encoder": lambda: encoder("trace"),
        "encoder_script": lambda: encoder("script"),
        "cell_by_cell_script": lambda: Model(CellByCell(), (torch.randn(2, 7, 16),), "script"),
        "attention_weights_script": lambda: Model(Attention(True), (torch.randn(2, 9, 64),), "script"),
        "attention_script": lambda: Model(Attention(False), (torch.randn(2, 9, 64),), "script"),
        "quantised_static": lambda: quantised_static("trace"),
        "quantised_static_script": lambda: quantised_static("script"),
        "quantised_dynamic": lambda: quantised_dynamic(LinearsToQuantise(), {nn.Linear}, (torch.randn(4, 64),)),
        "quantised_dynamic_script": lambda: quantised_dynamic(LinearsToQuantise(), {nn.Linear}, (torch.randn(4, 64),),
            "script"),
        "quantised_lstm": lambda: quantised_dynamic(Tagger(), {nn.LSTM, nn.GRU, nn.Linear}, words()),
        "quantised_lstm_script": lambda: quantised_dynamic(Tagger(), {nn.LSTM, nn.GRU, nn.Linear}, words(), "script"),
    }
