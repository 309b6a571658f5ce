"""Architectures of torchvision."""

import functools

import torch

import torchvision_operators  # noqa: F401, isort: skip  (before torchvision)
import torchvision

from model import Model

BOTH_WAYS = ["resnet18", "mobilenet_v3_small", "efficientnet_b0", "densenet121", "vit_b_16", "swin_t", "googlenet",
    "maxvit_t"]
TRACED = ["vgg11_bn"]
MORE_BOTH_WAYS = ["mobilenet_v2", "shufflenet_v2_x0_5", "squeezenet1_1", "mnasnet0_5", "regnet_y_400mf"]
MORE_TRACED = ["convnext_tiny", "swin_v2_t"]
SEGMENTATION = ["fcn_resnet50", "lraspp_mobilenet_v3_large", "deeplabv3_mobilenet_v3_large"]


def image(size=224):
    return (torch.randn(1, 3, size, size),)


def classifier(name, how, size=224):
    return Model(getattr(torchvision.models, name)(weights=None), image(size), how)


def segmentation(name):
    module = getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None)
    return Model(module, image(128), "script")


def inception(how):
    module = torchvision.models.inception_v3(weights=None, init_weights=False)
    return Model(module, image(299), how)


def video():
    return Model(torchvision.models.video.mc3_18(weights=None), (torch.randn(1, 3, 8, 56, 56),))


def optical_flow():
    module = torchvision.models.optical_flow.raft_small(weights=None)
    return Model(module, (torch.randn(1, 3, 128, 128), torch.randn(1, 3, 128, 128)))


def quantised(name):
    """Calibrated on noise, as its weights are."""
    module = getattr(torchvision.models.quantization, name)(weights=None, quantize=False).eval()
    module.fuse_model()
    module.qconfig = torch.ao.quantization.get_default_qconfig("fbgemm")
    torch.ao.quantization.prepare(module, inplace=True)
    module(*image())
    torch.ao.quantization.convert(module, inplace=True)
    return Model(module, image(), "script")


def models():
    found = {}
    for names, ways in ((BOTH_WAYS, ("trace", "script")), (TRACED, ("trace",))):
        for name in names:
            for how in ways:
                found[name + ("_script" if how == "script" else "")] = functools.partial(classifier, name, how)
    for name in SEGMENTATION[:2]:
        found[name + "_script"] = functools.partial(segmentation, name)
    for name in MORE_BOTH_WAYS:
        found[name] = functools.partial(classifier, name, "trace")
        found[name + "_script"] = functools.partial(classifier, name, "script")
    for name in MORE_TRACED:
        found[name] = functools.partial(classifier, name, "trace")
    found[SEGMENTATION[2] + "_script"] = functools.partial(segmentation, SEGMENTATION[2])
    found["inception_v3"] = functools.partial(inception, "trace")
    found["mc3_18"] = video
    found["raft_small"] = optical_flow
    for name in ("mobilenet_v2", "shufflenet_v2_x0_5", "resnet18"):
        found[f"quantised_{name}_script"] = functools.partial(quantised, name)
    return found
