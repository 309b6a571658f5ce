"""Declares torchvision's C++ operators; import it before anything that imports torchvision.

PyPI's torchvision is built beside a torch with CUDA, and its library does not load beside one without. The schemas are
enough for models that do not call the operators.
"""

import torch

LIBRARY = torch.library.Library("torchvision", "FRAGMENT")
BOXES = "Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width"
SIZES = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
SPACING = ", ".join(f"SymInt {name}_{axis}" for name in ("stride", "pad", "dilation") for axis in "hw")
DEFORMED = "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias"
GROUPS = "SymInt groups, SymInt offset_groups, bool use_mask"
BACK = BOXES.replace("input", "grad")
PLACES = BACK.replace("rois,", "rois, Tensor {},")
SCHEMAS = [
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    f"roi_align({BOXES}, int sampling_ratio, bool aligned) -> Tensor",
    f"_roi_align_backward({BACK}, {SIZES}, int sampling_ratio, bool aligned) -> Tensor",
    f"roi_pool({BOXES}) -> (Tensor, Tensor)",
    f"_roi_pool_backward({PLACES.format('argmax')}, {SIZES}) -> Tensor",
    f"ps_roi_align({BOXES}, int sampling_ratio) -> (Tensor, Tensor)",
    f"_ps_roi_align_backward({PLACES.format('channel_mapping')}, int sampling_ratio, {SIZES}) -> Tensor",
    f"ps_roi_pool({BOXES}) -> (Tensor, Tensor)",
    f"_ps_roi_pool_backward({PLACES.format('channel_mapping')}, {SIZES}) -> Tensor",
    f"deform_conv2d({DEFORMED}, {SPACING}, {GROUPS}) -> Tensor",
    f"_deform_conv2d_backward(Tensor grad, {DEFORMED}, {SPACING}, {GROUPS}) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor)",
]
for schema in SCHEMAS:
    LIBRARY.define(schema)
