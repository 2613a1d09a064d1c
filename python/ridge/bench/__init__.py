"""Kernels of a trace alone on a GPU: `ridge bench TRACE`. A parent that never touches the GPU (parent.py) hands scripts of `ridge replay` to a worker
(worker.py), which is started again whenever a kernel takes it down. The standard library is all that the parent needs, PyTorch all that the worker does;
whatever is asked of a trace is asked of the command `ridge`."""
