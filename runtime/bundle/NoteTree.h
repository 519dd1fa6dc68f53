//===- NoteTree.h - a msgpack value as a tree -------------------------------===//
//
// What the AMDGPU metadata note holds. A tree of its own because nlohmann's
// allocates in its destructor, which aborts where there is no memory.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_BUNDLE_NOTETREE_H
#define NVFP4_RUNTIME_BUNDLE_NOTETREE_H

#include "runtime/bundle/Elf.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nvfp4rt {

struct NoteValue {
  enum class Kind : uint8_t { Null, Boolean, Unsigned, Number, Text, Binary, List, Map };
  Kind kind = Kind::Null;
  uint64_t number = 0; ///< of Boolean and Unsigned
  std::string text;
  std::vector<NoteValue> items;  ///< of a list, and the values of a map
  std::vector<std::string> keys; ///< of a map, each once

  /// Null when a map has no such key.
  const NoteValue *find(std::string_view key) const;
  /// "string", "map", ...: for messages.
  std::string_view kindName() const;
};

/// Empty when the bytes are not one msgpack value, nest deeper than metadata does, or have a map
/// with a key twice.
std::optional<NoteValue> parseNote(Bytes bytes);

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_BUNDLE_NOTETREE_H
