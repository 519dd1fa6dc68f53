//===- Layout.h - how tensors of a launch lie in memory ---------------------===//
//
// Owns: the kinds of layout that every family is tried with.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_LAYOUT_H
#define NVFP4GEN_TOOLS_VERIFY_LAYOUT_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace verify {

/// How planes and rows lie in memory.
enum class Layout : uint8_t {
  Dense,       ///< a buffer each, tight strides
  Gapped,      ///< a buffer each; unused bytes between heads, tokens, pages, rows; least alignment
  Interleaved, ///< one buffer: a block holds a page of every plane; rows as in a packed qkv row
};
inline constexpr std::string_view kLayoutNames[] = {"dense", "gapped", "interleaved"};

/// A stride that must be ignored (one head): large and aligned, so that using it shows.
inline constexpr int64_t kIgnoredStride = int64_t{1} << 40;

} // namespace verify

#endif // NVFP4GEN_TOOLS_VERIFY_LAYOUT_H
