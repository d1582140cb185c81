"""Trained networks for use elsewhere: as a file of C, or as an ONNX file."""

from companion.export.c import Costs as Costs
from companion.export.c import quantized as quantized
from companion.export.c import to_c as to_c
from companion.export.onnx import to_onnx as to_onnx
