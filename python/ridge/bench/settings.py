"""Settings of a process that decide which kernel a library chooses and that no trace records. Tried in turn where a script runs another kernel than the
trace did. In the worker."""

import contextlib


def _cudnn_benchmark(torch):
    torch.backends.cudnn.benchmark = True


def _tf32(torch):
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True


def _no_tf32(torch):
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


def _deterministic(torch):
    torch.backends.cudnn.deterministic = True


def _full_precision_sums(torch):
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False


def _cublaslt(torch):
    torch.backends.cuda.preferred_blas_library("cublaslt")


# Words, what sets it, and in which ops (a part of the name) it can matter.
TRIED = (
    ("cudnn.benchmark", _cudnn_benchmark, ("conv", "cudnn", "batch_norm", "rnn")),
    ("tf32", _tf32, ("mm", "conv", "linear", "cudnn", "bmm", "matmul", "einsum")),
    ("no tf32", _no_tf32, ("mm", "conv", "linear", "cudnn", "bmm", "matmul", "einsum")),
    ("cudnn.deterministic", _deterministic, ("conv", "cudnn")),
    ("full precision reduction", _full_precision_sums, ("mm", "linear", "bmm", "matmul")),
    ("cublaslt", _cublaslt, ("mm", "linear", "bmm", "matmul")),
)


def for_op(op):
    return [(words, setter) for words, setter, parts in TRIED if any(part in (op or "") for part in parts)]


@contextlib.contextmanager
def kept(torch):
    """Whatever is set inside is as before outside."""
    cuda, cudnn = torch.backends.cuda, torch.backends.cudnn
    places = [
        (cudnn, "benchmark"),
        (cudnn, "deterministic"),
        (cudnn, "allow_tf32"),
        (cuda.matmul, "allow_tf32"),
        (cuda.matmul, "allow_bf16_reduced_precision_reduction"),
        (cuda.matmul, "allow_fp16_reduced_precision_reduction"),
    ]
    before = [(of, name, getattr(of, name)) for of, name in places if hasattr(of, name)]
    try:
        library = cuda.preferred_blas_library()
    except Exception:  # older than 2.3, or no GPU
        library = None
    try:
        yield
    finally:
        for of, name, value in before:
            setattr(of, name, value)
        if library is not None:
            cuda.preferred_blas_library(library)
