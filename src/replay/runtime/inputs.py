# ---- How tensors are made: sizes, strides and types as recorded; values are of our own, in ranges that the op takes. ----

DTYPES = {
    "float": "float32", "double": "float64", "c10::Half": "float16", "c10::BFloat16": "bfloat16",
    "long int": "int64", "long": "int64", "int": "int32", "short int": "int16", "short": "int16", "signed char": "int8",
    "char": "int8", "unsigned char": "uint8", "bool": "bool", "short unsigned int": "uint16", "unsigned short": "uint16",
    "unsigned int": "uint32", "long unsigned int": "uint64", "unsigned long": "uint64",
    "c10::complex<float>": "complex64", "c10::complex<double>": "complex128",
    "c10::Float8_e4m3fn": "float8_e4m3fn", "c10::Float8_e5m2": "float8_e5m2", "c10::Float8_e4m3fnuz": "float8_e4m3fnuz",
    "c10::Float8_e5m2fnuz": "float8_e5m2fnuz", "c10::Float8_e8m0fnu": "float8_e8m0fnu",
    "c10::Float4_e2m1fn_x2": "float4_e2m1fn_x2",
}  # fmt: skip


def dtype_of(name):
    """The torch.dtype that the profiler (or torch) calls so."""
    dtype = getattr(torch, DTYPES.get(name, name), None)
    if not isinstance(dtype, torch.dtype):
        raise NotImplementedError(f"element type {name!r} is not known to this torch")
    return dtype


def dense_strides(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return strides[::-1]


UNSIGNED = [getattr(torch, name) for name in ("uint16", "uint32", "uint64") if hasattr(torch, name)]  # without randint


def spread(count, chosen, device):
    """A mask with so many true values, evenly spread."""
    mask = torch.zeros(count, dtype=torch.bool, device=device)
    mask[torch.linspace(0, max(count - 1, 0), min(chosen, count), dtype=torch.float64, device=device).long()] = True
    return mask


def told(count, kind, device):
    """Values that the other arguments decide: (kind, ...) of values()."""
    kind, *numbers = kind
    place = torch.arange(count, device=device)
    if kind == "each":  # all the same
        return torch.full((count,), numbers[0], device=device)
    if kind == "sum":  # that add up to it, as even as can be
        return numbers[0] // max(count, 1) + (place < numbers[0] % max(count, 1)).long()
    if kind == "ends":  # of groups one behind the other; each but the last a multiple of 16
        return torch.where(place == count - 1, torch.full_like(place, numbers[0]), (place + 1) * numbers[0] // max(count, 1) // 16 * 16)
    if kind == "pivots":  # of rows that stay where they are, counted from 1
        return place % numbers[0] + 1
    if kind == "true":  # numbers[0] of numbers[1]
        return spread(count, count * numbers[0] // max(numbers[1], 1), device)
    # "boxes": rows of image 0, left, top, right, bottom; within numbers[0] x numbers[1]
    part = torch.tensor([0, 0.125 * numbers[0], 0.125 * numbers[1], 0.875 * numbers[0], 0.875 * numbers[1]], device=device)
    return part[place % 5]


def values(count, dtype, device, generator, kind):
    """`count` values of a kind: "normal", "positive", "share", "zeros", ("below", n), ("ascending", last), "steps"; told()."""
    if kind == "zeros" or dtype in UNSIGNED:
        return torch.zeros(count, dtype=torch.uint8, device=device).to(dtype)
    if isinstance(kind, tuple) and kind[0] == "below":
        return torch.randint(0, max(int(kind[1]), 1), (count,), generator=generator, device=device).to(dtype)
    if isinstance(kind, tuple) and kind[0] == "ascending":
        return torch.linspace(0, int(kind[1]), max(count, 1), device=device)[:count].to(dtype)
    if isinstance(kind, tuple):
        return told(count, kind, device).to(dtype)
    if kind == "steps":
        return torch.ones(count, dtype=dtype, device=device)
    if dtype == torch.bool:
        return torch.rand(count, generator=generator, device=device) < 0.5
    if dtype.is_complex:
        return torch.randn(count, dtype=dtype, generator=generator, device=device)
    if not dtype.is_floating_point:
        return torch.randint(0, 100, (count,), generator=generator, device=device).to(dtype)
    if dtype in (getattr(torch, "float4_e2m1fn_x2", None), getattr(torch, "float8_e8m0fnu", None)):
        return torch.randint(96, 128, (count,), generator=generator, device=device).to(torch.uint8).view(dtype)
    if kind == "positive":
        return (torch.rand(count, generator=generator, device=device) + 0.5).to(dtype)
    if kind == "share":  # probabilities
        return (0.98 * torch.rand(count, generator=generator, device=device) + 0.01).to(dtype)
    drawn = dtype if dtype in (torch.float64, torch.float16, torch.bfloat16) else torch.float32
    return torch.randn(count, dtype=drawn, generator=generator, device=device).to(dtype)


def make_tensor(shape, strides, dtype, device, generator, kind="normal"):
    """A tensor with exactly these strides. Where elements overlap (stride 0), they share their value."""
    dtype = dtype_of(dtype)
    if strides is None or len(strides) != len(shape):
        strides = dense_strides(shape)
    if str(device) == "meta":
        return torch.empty_strided(shape, strides, dtype=dtype, device=device)
    count = 0 if 0 in shape else 1 + sum((size - 1) * step for size, step in zip(shape, strides))
    return values(count, dtype, device, generator, kind).as_strided(shape, strides)
