# ---- The command line. ----


def text_of(value):
    if isinstance(value, torch.Tensor):
        sizes = "x".join(map(str, value.shape)) or "()"
        return f"{str(value.dtype).removeprefix('torch.')}[{sizes}] strides {list(value.stride())} on {value.device.type}"
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], torch.Tensor):
        return f"{len(value)} tensors: {text_of(value[0])}, ..."
    return repr(value)


def kernel_times(inputs, times):
    """Kernels of the call by the device's own records: [(name, median ns, launches a call)], in order of first launch."""
    from torch.profiler import ProfilerActivity, profile

    for _ in range(3):
        run(inputs)
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as recorded:
        for _ in range(times):
            run(inputs)
        torch.cuda.synchronize()
    found = {}
    for event in recorded.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            found.setdefault(event.name, []).append(round(event.device_time_total * 1000))
    return [(name, sorted(all_ns)[len(all_ns) // 2], len(all_ns) / times) for name, all_ns in found.items()]


def show(line):
    """Names are those of the trace: none of them ends the line or moves a cursor."""
    print("".join(letter if letter.isprintable() else "?" for letter in line))


def main():
    parser = argparse.ArgumentParser(description="Runs one call of a trace alone: see CALL.")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "meta", help="cuda, cpu or meta (shapes only)")
    parser.add_argument("--times", type=int, default=20, help="calls to measure on the GPU")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    wishes = parser.parse_args()
    set_modes()
    inputs = make_inputs(wishes.device, wishes.seed)
    answer = {"kernel": CALL["kernel"], "op": CALL["op"], "device": wishes.device, "trace_ns": CALL["trace_ns"], "note": CALL["note"],
              "inputs": describe(inputs), "outputs": None, "kernels": None}  # fmt: skip
    if wishes.device.startswith("cuda"):
        answer["kernels"] = [{"name": n, "median_ns": ns, "launches": each} for n, ns, each in kernel_times(inputs, wishes.times)]
    else:
        made = run(inputs)
        answer["outputs"] = [text_of(one) for one in (made if isinstance(made, (list, tuple)) else [made])]
    if wishes.json:
        print(json.dumps(answer))
        return
    show(f"{CALL['op']}: kernel {CALL['kernel']}")
    if CALL["note"]:
        show(f"  note: {CALL['note']}")
    for line in answer["inputs"]:
        show(f"  {line}")
    if answer["kernels"] is None:
        show(f"  -> {', '.join(answer['outputs'])}")
        count = len(CALL["launches"])
        show(f"on {wishes.device}: shapes and arguments only; on a GPU this launches {count} {'kernel' if count == 1 else 'kernels'}")
    for kernel in answer["kernels"] or []:
        show(f"  {kernel['median_ns']:>10} ns x {kernel['launches']:g}  {kernel['name']}")
    show(f"in the trace: median {CALL['trace_ns']} ns over {CALL['count']} launches")


if __name__ == "__main__":
    main()
