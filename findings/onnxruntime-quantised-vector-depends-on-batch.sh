#!/usr/bin/env bash
# Seen 2026-11-28 with Python 3.11, onnxruntime 1.32.0, onnx 1.23.2 and numpy 2.4.6.
# Behaviour: a model made smaller by quantize_dynamic rounds its inputs by one scale for the whole batch. What comes out
# for a row depends on the rows beside it: one row of large numbers coarsens all others. The model as it was does not.
# One would guess: rows of a batch do not touch one another, as quantising is said to cost a little accuracy only.
# Who meets it: whoever encodes texts with a quantised sentence encoder: similarities change with the size and the order
# of batches, and a vector tells something about its neighbours. Way out: batches of one, or the model in float32.
# Output seen:
#   float32: alone 0.3, beside a large row 0.3
#   quantised: alone 0.3, beside a large row 0.314
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6 2> log || { cat log >&2; exit 2; }
cat > try.py <<'PY'
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import quantize_dynamic

rows = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 2])
vectors = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 2])
weights = numpy_helper.from_array(np.eye(2, dtype=np.float32), "w")
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "graph", [rows], [vectors], [weights])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "float32.onnx")
quantize_dynamic("float32.onnx", "quantised.onnx")
row = [0.3, 0]
for name in ("float32", "quantised"):
    session = onnxruntime.InferenceSession(name + ".onnx", providers=["CPUExecutionProvider"])
    alone = session.run(None, {"x": np.array([row], np.float32)})[0]
    beside = session.run(None, {"x": np.array([row, [20, 0]], np.float32)})[0]
    print(f"{name}: alone {alone[0, 0]:.3g}, beside a large row {beside[0, 0]:.3g}")
PY
venv/bin/python try.py 2> log | tee seen
diff seen - <<'OUT'
float32: alone 0.3, beside a large row 0.3
quantised: alone 0.3, beside a large row 0.314
OUT
