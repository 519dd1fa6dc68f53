//===- ArgLayout.h - kernel-argument structs described as data --------------===//
//
// A struct of nvfp4rt_args.h is its struct_size and, behind it, the kernel-argument
// segment; everything here speaks of the segment.
//
// The generator emits a kernel's arguments from this table, the manifest carries
// its hash, and the runtime compares that hash with its own when it opens a bundle.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_ARGS_ARGLAYOUT_H
#define NVFP4_RUNTIME_ARGS_ARGLAYOUT_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nvfp4rt {

/// What precedes the segment in a struct.
inline constexpr uint32_t kStructSizeBytes = sizeof(uint64_t);

/// The kernel-argument segment of the struct at `args`.
inline const void *argSegment(const void *args) {
  return static_cast<const char *>(args) + kStructSizeBytes;
}

enum class ArgType : uint8_t { Pointer, I64, I32, F32 };

struct ArgField {
  std::string_view name; ///< path of the member, e.g. "k_payload.page_stride"
  ArgType type;
  uint32_t offset; ///< bytes from the start of the segment
};

struct ArgLayout {
  std::string_view family;
  uint32_t size = 0; ///< bytes of the segment
  std::span<const ArgField> fields;
  std::optional<size_t> indexOf(std::string_view name) const;
  /// One line a field, "offset size type name\n", then "size N\n": the text that is hashed.
  std::string text() const;
};

uint32_t argTypeSize(ArgType type);
std::string_view argTypeName(ArgType type);

/// Layout of a family's struct; null for an unknown family.
const ArgLayout *argLayout(std::string_view family);

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_ARGS_ARGLAYOUT_H
