"""Modules that Inductor generated, as `ridge bench` reads and times them. Nothing here needs PyTorch or a GPU."""

import pytest

from ridge.bench import cache_files, module_source, triton_calls


# Compiled modules.
MODULE = '''
# kernel path: /tmp/ind/ab/cabc.py
# Graph fragment:
#   %arg0_1 : Tensor "f32[8, 4][4, 1]cuda:0" = PlaceHolder[target=arg0_1]
#   %arg1_1 : Tensor "i64[8][1]cuda:0" = PlaceHolder[target=arg1_1]
triton_poi_fused_add_0 = async_compile.triton('triton_poi_fused_add_0', \'\'\'
import triton
\'\'\', device_str='cuda')

unnamed = async_compile.triton(name_of_it, source_of_it)
other = something.cuda('a', 'b')

class Runner:
    def call(self, args):
        arg0_1, arg1_1 = args
        args.clear()
        assert_size_stride(arg0_1, (8, 4), (4, 1))
        assert_size_stride(arg1_1, (8, ), (1, ))
'''


def test_kernels_of_a_module_have_names_and_files():
    (kernel,) = module_source.kernels(MODULE)
    assert (kernel.name, kernel.path, kernel.source) == ("triton_poi_fused_add_0", "/tmp/ind/ab/cabc.py", "\nimport triton\n")
    assert module_source.is_module(MODULE)


def test_a_kernel_of_a_module_is_told_as_a_trace_tells_it():
    class Tensor:
        def __init__(self, dtype):
            self.shape, self.dtype = (8, 4), dtype

        def stride(self):
            return (4, 1)

        def element_size(self):
            return 4

    def triton_poi_fused_add_0():
        pass

    call = triton_calls.Seen(triton_poi_fused_add_0, (Tensor("torch.float32"), Tensor("torch.bfloat16"), 32), {}).call()
    assert call["op"] == call["kernel"] == "triton_poi_fused_add_0"
    assert (call["shapes"], call["strides"], call["dtypes"]) == ([[8, 4]] * 2, [[4, 1]] * 2, ["float", "c10::BFloat16"])
    assert triton_calls.Seen(triton_poi_fused_add_0, (Tensor("torch.float4_e2m1fn_x2"),), {}).call()["dtypes"] is None


def test_inputs_of_a_module_without_its_own():
    assert module_source.inputs(MODULE) == [("arg0_1", (8, 4), (4, 1), "float32"), ("arg1_1", (8,), (1,), "int64")]
    with pytest.raises(module_source.NotAModule, match="arg1_1"):
        module_source.inputs(MODULE.replace("%arg1_1", "%other"))
    with pytest.raises(module_source.NotAModule, match="no call"):
        module_source.inputs("x = 1")


def test_the_wall_time_of_a_module_waits_for_each_run_until_it_settles(monkeypatch):
    """As the module's own -p: one wait a run. The first rounds of a process are slow and are not what is told, nor is a slow phase of the host."""
    from ridge.bench import module_run

    clock, waits, runs = [0], [], []
    cost = iter([each for each in (900, 500, 505, 400, 399, 400, 401, 402) for _ in range(100)])

    def once():
        clock[0] += next(cost)
        runs.append(clock[0])
        return "made"

    torch = type("torch", (), {"cuda": type("cuda", (), {"synchronize": staticmethod(lambda: waits.append(1))})})
    monkeypatch.setattr(module_run.time, "perf_counter_ns", lambda: clock[0])
    assert module_run._wall_ns(torch, once) == 399
    assert len(runs) == 800 and len(waits) == 880  # each run, and each begin of ten


def test_the_wall_time_of_a_long_module_ends_in_time():
    from ridge.bench import module_run

    clock, rounds = [0.0], iter(range(100, 0, -1))

    def one():
        clock[0] += 2.0
        return next(rounds)

    assert module_run.best_of_rounds(one, lambda: clock[0]) == 99  # always faster, and the second round ended after 4 s


def test_modules_of_a_cache_are_told_and_not_run(tmp_path):
    (tmp_path / "ab").mkdir()
    (tmp_path / "ab" / "cmod.py").write_text("raise SystemExit('run')\n" + MODULE)
    (tmp_path / "ab" / "cother.py").write_text("x = 1")
    (tmp_path / "ab" / "link.py").symlink_to(tmp_path / "nowhere")
    assert cache_files.modules_by_kernel(str(tmp_path)) == {"triton_poi_fused_add_0": str(tmp_path / "ab" / "cmod.py")}


@pytest.mark.parametrize("text", ["def f(:", "\0", "print('hello')"])
def test_what_is_no_module(text):
    try:
        assert not module_source.is_module(text)
    except module_source.NotAModule:
        pass
