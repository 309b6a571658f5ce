"""Architectures of timm, the smallest of each family."""

import functools

import torch

import torchvision_operators  # noqa: F401, isort: skip  (timm imports torchvision)
import timm

from model import Model

TRACED = {
    "deit_tiny_patch16_224": 224, "poolformer_s12": 224, "mobilevitv2_050": 224, "hrnet_w18_small": 224,
        "repvgg_a0": 224,
    "mixer_s32_224": 224, "resmlp_12_224": 224, "coat_lite_tiny": 224, "levit_128s": 224, "xcit_nano_12_p16_224": 224,
    "ghostnet_050": 224, "edgenext_xx_small": 224, "pit_ti_224": 224, "gmlp_ti16_224": 224, "crossvit_tiny_240": 240,
    "cait_xxs24_224": 224, "efficientformer_l1": 224, "fastvit_t8": 224, "mobilenetv4_conv_small_050": 224,
    "tiny_vit_5m_224": 224, "visformer_tiny": 224, "resnest14d": 224, "res2net50_14w_8s": 224, "dla46_c": 224,
    "eca_nfnet_l0": 224, "efficientvit_m0": 224, "mobileone_s0": 224, "convmixer_768_32": 96, "focalnet_tiny_srf": 224,
    "pvt_v2_b0": 224, "tf_efficientnetv2_b0": 224, "volo_d1_224": 224, "nest_tiny": 224, "inception_next_atto": 224,
}  # fmt: skip
SCRIPTED = ["deit_tiny_patch16_224", "repvgg_a0", "ghostnet_050"]


def create(name, how):
    if how == "script":
        return Model(timm.create_model(name, pretrained=False, scriptable=True), (torch.randn(1, 3, 224, 224),), how)
    return Model(timm.create_model(name, pretrained=False), (torch.randn(1, 3, TRACED[name], TRACED[name]),))


def models():
    found = {f"timm_{name}": functools.partial(create, name, "trace") for name in TRACED}
    return found | {f"timm_{name}_script": functools.partial(create, name, "script") for name in SCRIPTED}
