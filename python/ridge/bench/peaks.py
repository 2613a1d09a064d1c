"""Peaks of this machine's GPU, for one that ridge's table lacks: what driver and PyTorch tell, and what products and a copy reach. In the worker."""

from . import samples

SIZE = 8192  # of the products; smaller where the device is slow
COPY_BYTES = 2 << 30
# Key of a device file, dtype, whether TF32 is allowed.
PRODUCTS = (
    ("torch.bfloat16_tflops", "bfloat16", False),
    ("torch.float16_tflops", "float16", False),
    ("torch.float32_tflops", "float32", False),
    ("torch.float32_tf32_tflops", "float32", True),
    ("torch.float64_tflops", "float64", False),
)


def measure(worker, request):
    torch = worker.torch
    properties = torch.cuda.get_device_properties(0)
    told = {
        "name": properties.name,
        "memory_gib": properties.total_memory / 2**30,
        "multiprocessors": properties.multi_processor_count,
        "source": "measured by ridge bench --save-device with PyTorch %s" % torch.__version__,
    }
    cache = int(getattr(properties, "L2_cache_size", 0))
    if cache:
        told["l2_mib"] = cache / 2**20
    if worker.clocks.max_mhz():
        told["boost_mhz"] = worker.clocks.max_mhz()
    bandwidth = _bandwidth(properties, worker.clocks.memory_mhz())
    if bandwidth is not None:
        told["bandwidth_gb_per_s"] = bandwidth
    else:
        told["copy_gbs"] = _copy_gb_per_s(worker)
    for key, dtype, tf32 in PRODUCTS:
        reached = _product_tflops(worker, getattr(torch, dtype), tf32)
        if reached is not None:
            told[key] = reached
    return {"status": "ok", "device": told}


def _bandwidth(properties, memory_mhz):
    """In GB/s, from the bus and the clock of the memory, which moves two bits a line and clock; None where they are not told."""
    bits = getattr(properties, "memory_bus_width", None)
    if not bits or not memory_mhz:
        return None
    return round(2 * memory_mhz * 1e6 * bits / 8 / 1e9, 1)


def _ns(worker, call):
    timed = worker.meter.time(call, None, seconds=2.0)
    return samples.median(timed.whole("warm")) or None


def _copy_gb_per_s(worker):
    torch = worker.torch
    count = min(COPY_BYTES, torch.cuda.get_device_properties(0).total_memory // 8)
    source, target = torch.empty(count, dtype=torch.uint8, device="cuda"), torch.empty(count, dtype=torch.uint8, device="cuda")
    source.zero_()
    # An op with a kernel: a plain copy may be a memcpy, which is no kernel.
    ns = _ns(worker, lambda: torch.bitwise_not(source, out=target))
    return None if ns is None else round(2 * count / ns, 1)


def _product_tflops(worker, dtype, tf32):
    torch = worker.torch
    size = SIZE // 4 if dtype == torch.float64 else SIZE // 2 if dtype == torch.float32 else SIZE
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = tf32
    try:
        a, b = (torch.randn(size, size, device="cuda", dtype=dtype) for _ in range(2))
        ns = _ns(worker, lambda: torch.mm(a, b))
        return None if ns is None else round(2 * size**3 / ns / 1e3, 1)
    except RuntimeError:  # a dtype that the device does not know
        return None
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
