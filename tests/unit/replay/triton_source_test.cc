// What a script takes of a source, and what it refuses: Triton calls Python functions that a kernel names, so a source that
// looks like a kernel can run anything.
#include "replay/triton_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace ridge {
namespace {

constexpr std::string_view kImports =
    "import triton\n"
    "import triton.language as tl\n"
    "from torch._inductor.runtime import triton_helpers, triton_heuristics\n"
    "from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math\n"
    "from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties\n"
    "triton_helpers.set_driver_to_gpu()\n";

std::string kernel(std::string_view line, std::string_view decorator = "@triton.jit", std::string_view before = "") {
  return std::string(kImports) + std::string(before) + "\n" + std::string(decorator) +
         "\ndef k(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):\n"
         "    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]\n"
         "    tmp0 = tl.load(in_ptr0 + (xindex), None)\n    " +
         std::string(line) + "\n    tl.store(out_ptr0 + (xindex), tmp0, None)\n";
}

Result<TritonSource> read(const std::string& text, SourceTrust trust = SourceTrust::parsed) {
  return find_triton_source(text, "k", "", trust);
}

TEST(TritonSource, TakesAKernelWithItsParametersAndBounds) {
  const auto source =
      read(kernel("tl.device_assert((0 <= tmp0) & (tmp0 < 50257), 'index out of bounds: 0 <= tmp0 < 50257')\n"
                  "    tmp0 = libdevice.rsqrt(tmp0) + tl_math.abs(tmp0)  # a comment\n"
                  "    tmp0 = triton_helpers.maximum(tmp0, tmp0).to(tl.float32)"));
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(source->function, "k");
  EXPECT_EQ(source->parameters, (std::vector<std::string>{"in_ptr0", "out_ptr0", "xnumel", "XBLOCK"}));
  EXPECT_EQ(source->constants, std::vector<std::string>{"XBLOCK"});
  EXPECT_EQ(source->index_limit, 50257);
  EXPECT_EQ(source->text.find('#'), std::string::npos) << source->text;
  // What was taken is taken again as it stands.
  const auto again = read(source->text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->text, source->text);
}

TEST(TritonSource, LeavesOutWhatDefinesNoKernel) {
  const auto source = read(kernel("pass", "@triton.jit",
                                  "import os\nfrom os import system\nos.system('touch /tmp/x')\n"
                                  "def call(args):\n    os.system('x')\nclass A:\n    x = open('/etc/passwd')\n"
                                  "if __name__ == '__main__':\n    call(1)\nx = eval('1')\n'''text'''\n"));
  ASSERT_TRUE(source) << source.error().message;
  for (const char* word : {"os", "system", "open", "eval", "call", "__main__", "class"})
    EXPECT_EQ(source->text.find(word), std::string::npos) << word << "\n" << source->text;
}

// Inductor keeps files beside the path that a decorator names.
TEST(TritonSource, APathInADecoratorIsTheScriptsOwn) {
  const auto source = read(kernel("pass",
                                  "@triton_heuristics.pointwise(size_hints={'x': 64}, filename='/etc/passwd', triton_meta={})\n"
                                  "@triton.jit",
                                  "from torch._inductor.runtime import triton_heuristics\n"));
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(source->text.find("/etc/passwd"), std::string::npos) << source->text;
  EXPECT_NE(source->text.find("filename=__file__"), std::string::npos) << source->text;
}

TEST(TritonSource, TakesFunctionsAndConstantsThatTheKernelNames) {
  const auto source = read(kernel("tmp0 = helper(tmp0) + SIZE", "@triton.jit",
                                  "SIZE: tl.constexpr = 64\nOTHER = 3\n@triton.jit\ndef helper(x):\n    return x * 2\n"
                                  "@triton.jit\ndef unused(x):\n    return x\n"));
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_NE(source->text.find("def helper"), std::string::npos);
  EXPECT_NE(source->text.find("SIZE"), std::string::npos);
  EXPECT_EQ(source->text.find("unused"), std::string::npos);
  EXPECT_EQ(source->text.find("OTHER"), std::string::npos);
}

TEST(TritonSource, RefusesBodiesThatReachBeyondTriton) {
  for (const char* line : {"triton.runtime.os.system('x')",
                           "tl.core.os.system('x')",
                           "x = tl.core",
                           "tl.__dict__['x']",
                           "libdevice.core.os",
                           "getattr(tl, 'core')",
                           "if False:\n        getattr = 1\n    x = getattr(tl, 'core')",
                           "__import__('os').system('x')",
                           "eval('1')",
                           "exec('1')",
                           "open('/etc/passwd')",
                           "x = (lambda: 1)()",
                           "import os",
                           "from os import system",
                           "globals()",
                           "f'{tmp0}'",
                           "tmp0.__class__",
                           "().__class__.__base__.__subclasses__()",
                           "tl.load.__globals__",
                           "tmp0 = b'x'",
                           "tmp0 = tmp0; import os",
                           "raise tmp0",
                           "with tmp0: pass",
                           "class A: pass",
                           "def f(): pass",
                           "global tmp0",
                           "tmp0 = \\x41",
                           "tmp0 = $",
                           "\u0435val('1')",
                           "tmp0 = os.system",
                           "tl.extra.cuda.libdevice",
                           "breakpoint()",
                           "tmp0 = [c for c in os]",
                           "libdevice._os.system('x')",
                           "tl_math.core.os",
                           "del tmp0",
                           "tmp0 = await tmp0",
                           "tmp0 = yield"}) {
    const auto source = read(kernel(line));
    EXPECT_FALSE(source) << line << "\n" << (source ? source->text : "");
    EXPECT_TRUE(read(kernel(line), SourceTrust::whole)) << line;
  }
}

TEST(TritonSource, RefusesDecoratorsThatDoMoreThanTell) {
  for (const char* decorator :
       {"@os.system\n@triton.jit", "@triton_heuristics.pointwise(size_hints=open('x'), filename=__file__)\n@triton.jit",
        "@triton_heuristics.pointwise(size_hints={'x': os})\n@triton.jit", "@triton_heuristics.pointwise(*x)\n@triton.jit",
        "@triton_heuristics.pointwise(x if y else z)\n@triton.jit", "@triton_heuristics.pointwise(a=lambda: 1)\n@triton.jit",
        "@triton_heuristics.cached_autotune(a=1)\n@triton.jit", "@triton.heuristics({'A': lambda a: 1})\n@triton.jit",
        "@triton_heuristics.pointwise(a=DeviceProperties.__init__)\n@triton.jit",
        "@triton_heuristics.pointwise(a=ReductionHint.__class__)\n@triton.jit",
        "@triton_heuristics.user_autotune(inductor_meta={'precomputed_grids': [{'python': ['open(1)']}]})\n@triton.jit",
        "@triton_heuristics.user_autotune(inductor_meta={'extra_launcher_args': ['a=x.y']})\n@triton.jit",
        "@triton_heuristics.user_autotune(inductor_meta={'extra_launcher_args': ['a, __import__']})\n@triton.jit",
        // The launcher's text is put together from a configuration's values.
        "@triton_heuristics.user_autotune(configs=[{'XBLOCK': 'open(1)'}])\n@triton.jit",
        "@triton_heuristics.user_autotune(configs=[{'XBLOCK': 'a\\nimport os'}])\n@triton.jit",
        "@triton_heuristics.user_autotune(configs=[{'XBLOCK': 'a; import os'}])\n@triton.jit"}) {
    EXPECT_FALSE(read(kernel("pass", decorator))) << decorator;
  }
  const auto plain = read(kernel(
      "pass",
      "@triton_heuristics.template(num_stages=3, num_warps=8,\n"
      "    triton_meta={'signature': {'a': '*fp32'}, 'device': DeviceProperties(type='cuda', index=0), 'x': -1},\n"
      "    inductor_meta={'extra_launcher_args': ['_grid_0', '_grid_1'], 'acc': 'tl.float32', 'h': {AutotuneHint.ONE}},\n"
      ")\n@triton.jit"));
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_TRUE(read(
      kernel("pass", "@triton.autotune(configs=[triton.Config({'XBLOCK': 64}, num_warps=4)], key=['xnumel'])\n@triton.jit")));
}

// Defaults and annotations are evaluated where the function is defined: a parameter's name is not yet its value there.
TEST(TritonSource, RefusesDefinitionsThatCall) {
  for (const char* parameters : {"help, x=help('os')", "quit, x=quit()", "x, y: x(1)", "x, y=open('x')"}) {
    const auto source = read(std::string(kImports) + "@triton.jit\ndef k(" + parameters + "):\n    pass\n");
    EXPECT_FALSE(source) << source->text;
  }
  EXPECT_TRUE(read(std::string(kImports) + "@triton.jit\ndef k(x, N: tl.constexpr = 4, M: 'tl.constexpr' = 8):\n    pass\n"));
}

// A comment on the first lines may name an encoding in which other comments are code.
TEST(TritonSource, BringsNoEncodingAlong) {
  const auto source = read("# -*- coding: raw_unicode_escape -*-\n# \\u000aimport os\n" + kernel("pass  # \\u000aimport os"));
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_TRUE(source->text.starts_with("import triton\n"));
  EXPECT_EQ(source->text.find("coding"), std::string::npos);
  EXPECT_EQ(source->text.find("u000a"), std::string::npos);
}

TEST(TritonSource, FindsAKernelInAGeneratedModule) {
  const std::string module =
      "import torch\nasync_compile = AsyncCompile()\n"
      "k = async_compile.triton('k', '''\n" +
      kernel("pass") +
      "''', device_str='cuda')\n"
      "j = async_compile.triton('j', '''\n@triton.jit\ndef j(a):\n    pass\n''', device_str='cuda')\n"
      "def call(args):\n    pass\n";
  const auto source = read(module);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(source->function, "k");
  EXPECT_FALSE(find_triton_source(module, "none", "", SourceTrust::parsed));
  EXPECT_FALSE(find_triton_source("", "k", "", SourceTrust::parsed));
  EXPECT_FALSE(find_triton_source("@triton.jit", "k", "", SourceTrust::parsed));
}

}  // namespace
}  // namespace ridge
