# ---- The kernel: a generated or hand-written Triton kernel, from its source, with the grid and the options of the trace. ----


class Inputs:
    """The arguments of the kernel in the order of its signature, ready for run()."""

    def __init__(self, args):
        self.args = args
        self.kernel = None


def load_kernel():
    """The kernel as its source defines it: what Inductor wraps in an autotuner is that autotuner."""
    import importlib.util
    import tempfile

    folder = tempfile.mkdtemp(prefix="ridge_replay_")
    path = folder + "/kernel_source.py"
    with open(path, "w", encoding="utf-8") as file:
        file.write(SOURCE)
    spec = importlib.util.spec_from_file_location("kernel_source_" + folder.rpartition("_")[2], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, FUNCTION)


def make_inputs(device="cuda", seed=0):
    """The inputs of the kernel on a device. Equal seeds give equal values."""
    generator = None if str(device) == "meta" else torch.Generator(device=device).manual_seed(seed)
    args = []
    for argument in ARGUMENTS:
        if argument["kind"] == "tensor":
            dtype = dtype_of(argument["dtype"])
            integers = not dtype.is_floating_point and not dtype.is_complex and dtype != torch.bool
            kind = ("below", INDEX_LIMIT) if integers and INDEX_LIMIT else "zeros" if integers else "normal"
            args.append(make_tensor(argument["shape"], argument["strides"], argument["dtype"], device, generator, kind))
        else:
            args.append(ast.literal_eval(argument["value"]))
    return Inputs(args)


def jit_function(kernel):
    """The function under the autotuners that a source puts around it."""
    for _ in range(8):
        if not hasattr(kernel, "fn") or hasattr(kernel, "arg_names") and hasattr(kernel, "run") and not hasattr(kernel, "configs"):
            break
        kernel = kernel.fn
    return kernel


def constants_of(kernel, function):
    """The kernel's constants: those that the trace tells, else those that its source does."""
    meta = getattr(kernel, "triton_meta", None) or {}
    found = {name if isinstance(name, str) else function.arg_names[name]: value for name, value in meta.get("constants", {}).items()
             if isinstance(name, (str, int))}  # fmt: skip
    configs = getattr(kernel, "configs", None) or []
    if len(configs) == 1:
        found.update(configs[0].kwargs)
    found.update(CONSTANTS)
    wanted = [p.name for p in function.params if p.is_constexpr]
    missing = [p.name for p in function.params if p.is_constexpr and p.name not in found and not p.has_default]
    if missing:
        raise RuntimeError(f"the trace does not tell {', '.join(missing)} (kernel_kwargs, recorded by PyTorch 2.7 and newer)")
    return {name: value for name, value in found.items() if name in wanted}


def run(inputs):
    """The kernel once, and nothing else on the device. Without a GPU nothing is launched."""
    if all(arg.device.type != "cuda" for arg in inputs.args if isinstance(arg, torch.Tensor)):
        return [arg for arg in inputs.args if isinstance(arg, torch.Tensor)]
    if inputs.kernel is None:
        inputs.kernel = load_kernel()
    function = jit_function(inputs.kernel)
    meta = getattr(inputs.kernel, "triton_meta", None) or {}
    options = {name: True for name in ("launch_cooperative_grid", "launch_pdl") if meta.get(name)}
    function[tuple(CALL["grid"])](*inputs.args, **constants_of(inputs.kernel, function), **OPTIONS, **options)
    return [arg for arg in inputs.args if isinstance(arg, torch.Tensor)]


def set_modes():
    pass


def describe(inputs):
    return [f"{FUNCTION}[{tuple(CALL['grid'])}] {CONSTANTS} {OPTIONS}"] + [text_of(value) for value in inputs.args]
