//===- SpecText.h - a valid spec to spoil -----------------------------------===//
//
// One valid text, edits of single lines of it, and what parsing it says.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TESTS_COMPILER_SPEC_SPECTEXT_H
#define NVFP4GEN_TESTS_COMPILER_SPEC_SPECTEXT_H

#include "compiler/spec/Spec.h"

#include "llvm/Support/Error.h"

#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace nvfp4gen::test {

// Line numbers are part of the tests; a value that follows "key = " starts in the column after it.
inline constexpr std::string_view kValidText = R"(schema = 1
name = "valid"
[model]
q_heads = 16
kv_heads = 2
head_dim = 128
index_heads = 2
index_head_dim = 128
top_k = 16
init_blocks = 1
local_blocks = 2
block_size = 128
dtype = "bf16"
norm_eps = 1e-6
rotary_dim = 64
qk_scale = 0.125
[cache]
kv_format = "nvfp4"
index_format = "nvfp4"
page_size = 64
plane_order = "hnd"
planes = ["v", "k"]
[serving]
request_buckets = [1, 4, 6]
query_lens = [1, 3, 8]
max_context = 1000
phases = ["verify", "decode"]
[target]
arch = "gfx950"
code_object_version = 6
)";

/// `text` with its only line that starts with `start` replaced; an empty `line` removes it.
inline std::string withLine(std::string text, std::string_view start, std::string_view line) {
  std::string lines = "\n" + text;
  size_t begin = lines.find("\n" + std::string(start));
  if (begin == std::string::npos) {
    ADD_FAILURE() << "no line starts with " << start;
    return text;
  }
  EXPECT_EQ(lines.find("\n" + std::string(start), begin + 1), std::string::npos)
      << "two lines start with " << start;
  size_t end = lines.find('\n', begin + 1);
  if (line.empty())
    lines.erase(begin, end - begin);
  else
    lines.replace(begin + 1, end - begin - 1, line);
  return lines.substr(1);
}

/// All diagnostics of `text` read as "s.toml", one a line; empty when it is valid.
inline std::string faultsOf(std::string_view text) {
  llvm::Expected<Spec> spec = parseSpec(text, "s.toml");
  if (spec)
    return "";
  llvm::Error error = spec.takeError();
  EXPECT_TRUE(error.isA<SpecError>());
  return llvm::toString(std::move(error));
}

} // namespace nvfp4gen::test

#endif // NVFP4GEN_TESTS_COMPILER_SPEC_SPECTEXT_H
