//===- ArgLayout.h - kernel-argument structs described as data --------------===//
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

enum class ArgType : uint8_t { Pointer, I64, I32, F32 };

struct ArgField {
  std::string_view name; ///< path of the member, e.g. "k_payload.page_stride"
  ArgType type;
  uint32_t offset; ///< bytes from the start of the struct
};

struct ArgLayout {
  std::string_view family;
  uint32_t size = 0; ///< sizeof the struct
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
