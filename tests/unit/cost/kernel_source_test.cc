// Hashes, index expressions and texts of generated kernels.
#include "cost/triton/kernel_source.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "cost/triton/kernel_source_index.h"
#include "cost/triton/kernel_source_reader.h"
#include "engine/kernel_sources.h"

namespace ridge {
namespace {

// sha256("abc") = ba7816bf 8f01cfea 414140de 5dae2223 b00361a3 96177a9c b410ff61 f20015ad (FIPS 180-4), in base32.
TEST(KernelSource, HashIsBase32OfSha256) {
  EXPECT_EQ(kernel_source_hash("abc"), "cxj4bnp4pahh6uqkbidpf3lrceoyagyndsylxvhfucd7wd4qacww");
  EXPECT_EQ(kernel_source_hash("\n  abc \n\n"), kernel_source_hash("abc"));
  // sha256("") = e3b0c442 98fc1c14 ...
  EXPECT_EQ(kernel_source_hash("").substr(0, 9), "c4oymiquy");
  // A block's length and one either side of where the length no longer fits.
  for (const std::size_t n : {55U, 56U, 63U, 64U, 65U}) EXPECT_EQ(kernel_source_hash(std::string(n, 'a')).size(), 52U);
}

TEST(KernelSource, Match) {
  const std::string hash = kernel_source_hash("abc");
  EXPECT_EQ(match_source("abc", hash), SourceMatch::matches);
  EXPECT_EQ(match_source("abd", hash), SourceMatch::differs);
  EXPECT_EQ(match_source(std::nullopt, hash), SourceMatch::missing);
  EXPECT_EQ(match_source("abc", ""), SourceMatch::unknown);
  EXPECT_EQ(name_of(SourceMatch::differs), "differs");
}

IndexExpression variable(const std::string& name, double extent) { return {.terms = {{name, extent, 1}}, .constant = 0}; }

// Bytes of an index over x0 < 100, x1 < 1000 into a tensor of float32.
double reached(const std::string& index, double elements = 1e9, double steps = 1e5) {
  const IndexNames names = {{"x0", variable("x0", 100)}, {"x1", variable("x1", 1000)}, {"ks0", {.terms = {}, .constant = 128}}};
  return reached_bytes(parse_index(index, names), 4, elements, steps);
}

TEST(KernelSourceIndex, BytesThatAnIndexReaches) {
  EXPECT_EQ(reached("x0"), 400);
  EXPECT_EQ(reached("7"), 4);
  EXPECT_EQ(reached("x0 + 100*x1"), 400000);
  EXPECT_EQ(reached("(x1 + 1000*x0)"), 400000);
  EXPECT_EQ(reached("(-64) + x0 + ks0*x1"), 1000 * 448) << "rows of 400 bytes in 7 accesses of 64, 512 bytes apart";
  EXPECT_EQ(reached("2*x0"), 8 * 99 + 4) << "sectors hold both neighbours";
  EXPECT_EQ(reached("1024*x1"), 1000 * 64) << "one access each";
  EXPECT_EQ(reached("(x1 % 7)"), 28);
  EXPECT_EQ(reached("x1 // 10"), 400);
  EXPECT_EQ(reached("10*(x1 // 10) + (x1 % 10)"), 4000);
  EXPECT_EQ(reached("x0 + x1"), 4 * 1099) << "overlapping windows";
  EXPECT_EQ(reached("x0 + 100*x1", 500), 2000) << "never more than the tensor";
  EXPECT_EQ(reached("tl.broadcast_to(x0, [XBLOCK, 1])"), 400);
  EXPECT_EQ(reached("x0.to(tl.int64)[None, :] + 1"), 400);
}

TEST(KernelSourceIndex, LoadedIndicesDrawRows) {
  // 1000 draws of rows of 100 elements among 10000 of them: 10000 (1 - exp(-0.1)) = 951.6.
  EXPECT_NEAR(reached("x0 + 100*tmp4", 1e6, 1e5), 951.6 * 448, 50);
}

TEST(KernelSourceIndex, UnknownFormsMeanTheWholeTensor) {
  for (const char* text : {"x9", "x0*x1", "x0 ** 2", "(x0", "", "foo(x0)", "x0 / 2", "tl.where(x0, 1, 2)"})
    EXPECT_EQ(reached(text, 1000), 4000) << text;
}

// However deep or long: what is not understood means the whole tensor, and nothing reaches beyond it.
TEST(KernelSourceIndex, HostileTextStaysInTheTensor) {
  EXPECT_EQ(reached(std::string(100000, '('), 1000), 4000);
  EXPECT_EQ(reached(std::string(100000, '-'), 1000), 4000);
  std::string sum = "x0";
  for (int i = 0; i < 20000; ++i) sum += " + tmp" + std::to_string(i);
  for (const std::string& text : {sum, std::string("99999999999999999999999999999999999999 * x0")}) {
    EXPECT_GT(reached(text, 1000), 0);
    EXPECT_LE(reached(text, 1000), 4000);
  }
}

constexpr std::string_view kText = R"(
@triton.jit
def triton_red_fused_add_0(in_out_ptr0, in_ptr0, in_ptr1, out_ptr1, ks0, xnumel, r0_numel, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
    rnumel = r0_numel
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    x0 = xindex
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_1 = r0_index
        tmp0 = tl.load(in_ptr0 + (r0_1 + ks0*x0), r0_mask, other=0.0).to(tl.float32)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_1 = r0_index
        tmp9 = tl.load(in_ptr0 + (r0_1 + ks0*x0), r0_mask, other=0.0).to(tl.float32)
        tl.atomic_add(out_ptr1 + (tl.broadcast_to(r0_1, [XBLOCK, R0_BLOCK])), tmp9, r0_mask, sem='relaxed')
    tl.debug_barrier()
    tl.store(in_out_ptr0 + (x0), tmp25, None)


def get_args():
    tl.load(in_ptr1 + (x0))
)";

TEST(KernelSourceReader, RolesAndFootprints) {
  const std::optional<std::int64_t> scalars[] = {{}, {}, {}, {}, 512, 100, 512};
  const auto text = read_kernel_text(kText, "triton_red_fused_add_0", scalars);
  ASSERT_TRUE(text);
  ASSERT_EQ(text->parameters.size(), 9U);
  const SourceParameter& in_out = text->parameters[0];
  EXPECT_FALSE(in_out.read()) << "the result of the reduction is only stored";
  EXPECT_TRUE(in_out.written());
  EXPECT_EQ(reached_bytes(in_out.stores[0].index, 4, 1e9, 1), 400);
  const SourceParameter& in = text->parameters[1];
  ASSERT_EQ(in.loads.size(), 1U) << "both passes read the same";
  EXPECT_EQ(reached_bytes(in.loads[0].index, 4, 1e9, 1), 100 * 512 * 4);
  EXPECT_EQ(in.loads[0].steps, 100 * 512);
  EXPECT_FALSE(text->parameters[2].read()) << "another function's load";
  EXPECT_TRUE(text->parameters[3].read()) << "atomics read their target";
  EXPECT_TRUE(text->parameters[3].written());
  EXPECT_TRUE(text->parameters[7].constant);
}

TEST(KernelSourceReader, DerivedPointersOfUserKernels) {
  constexpr std::string_view user = R"(
@triton.jit
def scale_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x_ptrs = x_ptr + offsets
    value = tl.load(x_ptrs, mask=offsets < n)
    tl.store(y_ptr + offsets, value * 2, mask=offsets < n)
)";
  const std::optional<std::int64_t> scalars[] = {{}, {}, 4096};
  const auto text = read_kernel_text(user, "scale_kernel", scalars);
  ASSERT_TRUE(text);
  EXPECT_TRUE(text->parameters[0].read());
  EXPECT_FALSE(text->parameters[0].written());
  EXPECT_TRUE(text->parameters[1].written());
  EXPECT_FALSE(text->parameters[1].read());
}

TEST(KernelSourceReader, TextsWithoutAKernel) {
  EXPECT_FALSE(read_kernel_text("", "k", {}));
  EXPECT_FALSE(read_kernel_text("def k(", "k", {}));
  EXPECT_FALSE(read_kernel_text("import os\n", "k", {}));
  EXPECT_TRUE(read_kernel_text("def k()", "k", {}));
  EXPECT_TRUE(read_kernel_text("def k(a, , b):\n    tl.load(\n    tl.store(tl.\n    = 3", "k", {}));
}

class KernelSourceDisk : public testing::Test {
 protected:
  void SetUp() override {
    const auto stamp = std::chrono::steady_clock::now().time_since_epoch().count();
    folder_ = std::filesystem::temp_directory_path() / ("ridge_sources_" + std::to_string(stamp));
    std::filesystem::create_directories(folder_ / "cache/ab");
    write("cache/ab/cabc.py", "tail");
    write("cache/deep.py", "other");
    write("secret.py", "secret");
    write("cache/ab/text.txt", "text");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, std::string_view text) const { std::ofstream(folder_ / name) << text; }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

TEST_F(KernelSourceDisk, ByTailByBaseNameAndByPath) {
  const DiskKernelSources sources(at("cache"));
  EXPECT_EQ(sources.find("/tmp/torchinductor_user/ab/cabc.py"), "tail");
  EXPECT_EQ(sources.find("/elsewhere/xy/cabc.py"), "tail");
  EXPECT_EQ(sources.find("/tmp/torchinductor_user/xy/deep.py"), "other");
  EXPECT_EQ(sources.find("/tmp/torchinductor_user/xy/none.py"), std::nullopt);
  EXPECT_EQ(DiskKernelSources().find(at("cache/ab/cabc.py")), "tail");
  EXPECT_EQ(DiskKernelSources(at("no such folder")).find(at("cache/deep.py")), "other");
  EXPECT_EQ(DiskKernelSources().find("cache/deep.py"), std::nullopt) << "relative to nothing that we know";
}

TEST_F(KernelSourceDisk, OnlyPlainSourcesInsideTheFolder) {
  std::filesystem::create_symlink(at("secret.py"), at("cache/ab/link.py"));
  std::filesystem::create_directory(at("cache/folder.py"));
  const DiskKernelSources sources(at("cache"));
  EXPECT_EQ(sources.find("/x/ab/link.py"), std::nullopt) << "leads out of the folder";
  EXPECT_EQ(sources.find("/x/../secret.py"), std::nullopt);
  EXPECT_EQ(sources.find("../secret.py"), std::nullopt);
  EXPECT_EQ(sources.find("/x/folder.py"), std::nullopt);
  EXPECT_EQ(sources.find("/x/ab/text.txt"), std::nullopt);
  EXPECT_EQ(sources.find(at("cache/ab/text.txt")), std::nullopt);
  EXPECT_EQ(sources.find("/dev/zero"), std::nullopt);
  EXPECT_EQ(sources.find(""), std::nullopt);
  EXPECT_EQ(sources.find(std::string_view("/x/deep.py\0", 11)), std::nullopt);
  EXPECT_EQ(sources.find(std::string(10000, '/')), std::nullopt);
}

TEST_F(KernelSourceDisk, OversizedFilesAreNotRead) {
  write("cache/big.py", std::string((8 << 20) + 1, '#'));
  EXPECT_EQ(DiskKernelSources(at("cache")).find("/x/big.py"), std::nullopt);
}

// For scripts that run a source: only out of the folder that the user named, never at the path that a trace tells.
TEST_F(KernelSourceDisk, NamedSourcesAreThoseOfTheFolder) {
  write("cache/ab/ck.py", "own");
  write("cache/module.py", "k = async_compile.triton('k', \'\'\'...\'\'\')\nj = async_compile.triton('j', \'\'\'...\'\'\')\n");
  std::filesystem::create_symlink(at("secret.py"), at("cache/link.py"));
  const DiskKernelSources sources(at("cache"));
  EXPECT_EQ(sources.find_named("/tmp/torchinductor/ab/ck.py", "none"), std::vector<std::string>{"own"});
  EXPECT_EQ(sources.find_named(at("ck.py"), "none"), std::vector<std::string>{"own"}) << "by its base name";
  EXPECT_TRUE(sources.find_named("/x/link.py", "none").empty()) << "a link that leads outside";
  EXPECT_TRUE(sources.find_named(at("secret.py"), "none").empty());
  EXPECT_EQ(sources.find_named("", "k").size(), 1U) << "a module that holds it";
  EXPECT_EQ(sources.find_named("/x/ck.py", "j").size(), 2U) << "the file first, then the module";
  EXPECT_TRUE(DiskKernelSources().find_named(at("cache/ab/ck.py"), "k").empty()) << "nothing was named";
}

}  // namespace
}  // namespace ridge
