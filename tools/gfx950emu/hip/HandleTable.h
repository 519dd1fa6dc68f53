//===- HandleTable.h - opaque handles that are looked up, never dereferenced ==//
//
// Owns the mapping from the opaque HIP handle types to objects. A handle value is
// never reused, so a stale one is always recognised, and it is a non-canonical
// address, so code that dereferences one faults at once.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_HIP_HANDLETABLE_H
#define GFX950EMU_HIP_HANDLETABLE_H

#include <bit>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace gfx950emu::hip {

/// Part of the handle value: a handle of one type is never valid as another.
enum class HandleKind : uint64_t { Stream = 1, Event, Module, Function, Graph, GraphExec, Node };

/// Not thread-safe: every access happens under the runtime's mutex.
template <typename Handle, typename Object> class HandleTable {
public:
  explicit HandleTable(HandleKind kind) : kind(kind) {}

  Handle insert(std::shared_ptr<Object> object) {
    uint64_t value = (uint64_t{0x8000} | static_cast<uint64_t>(kind)) << 48 | ++lastId << 4;
    objects.emplace(value, std::move(object));
    return std::bit_cast<Handle>(value);
  }
  /// Null for anything but a live handle of this table.
  std::shared_ptr<Object> find(Handle handle) const {
    auto it = objects.find(reinterpret_cast<uint64_t>(handle));
    return it == objects.end() ? nullptr : it->second;
  }
  /// Forget a handle; null when it was not live.
  std::shared_ptr<Object> erase(Handle handle) {
    auto it = objects.find(reinterpret_cast<uint64_t>(handle));
    if (it == objects.end())
      return nullptr;
    std::shared_ptr<Object> object = std::move(it->second);
    objects.erase(it);
    return object;
  }
  const std::unordered_map<uint64_t, std::shared_ptr<Object>> &all() const { return objects; }

private:
  HandleKind kind;
  uint64_t lastId = 0;
  std::unordered_map<uint64_t, std::shared_ptr<Object>> objects;
};

} // namespace gfx950emu::hip

#endif // GFX950EMU_HIP_HANDLETABLE_H
