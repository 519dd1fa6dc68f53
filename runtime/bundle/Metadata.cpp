//===- Metadata.cpp - AMDGPU notes and kernel descriptors -------------------===//
//
// See Metadata.h. Formats: LLVM's "User Guide for AMDGPU Backend", code object
// V5 metadata and kernel descriptor.
//
//===------------------------------------------------------------------------===//
#include "runtime/bundle/Metadata.h"

#include "runtime/bundle/NoteTree.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace nvfp4rt {
namespace {

using Kind = NoteValue::Kind;

constexpr std::string_view kNoteOwner = "AMDGPU";
constexpr uint32_t kNoteMetadata = 32; // NT_AMDGPU_METADATA
constexpr std::string_view kTarget = "amdgcn-amd-amdhsa--gfx950";

tl::unexpected<Error> badNote(std::string_view where, std::string_view expected,
                              std::string_view found) {
  return fail(NVFP4RT_ERROR_BAD_ELF,
              fmt::format("AMDGPU note: {}: expected {}, found {}", where, expected, found));
}

/// Typed access to one map; remembers the first error.
class MapReader {
public:
  MapReader(const NoteValue &map, std::string where) : map(map), where(std::move(where)) {}

  uint64_t number(const char *key) {
    const NoteValue *value = find(key, Kind::Unsigned, "a non-negative integer");
    return value ? value->number : 0;
  }
  /// Left out by the compiler when it has nothing to say.
  uint64_t numberOr(const char *key, uint64_t absent) {
    return map.find(key) ? number(key) : absent;
  }
  bool flagOr(const char *key, bool absent) {
    if (!map.find(key))
      return absent;
    const NoteValue *value = find(key, Kind::Boolean, "a boolean");
    return value && value->number != 0;
  }
  std::string text(const char *key) {
    const NoteValue *value = find(key, Kind::Text, "a string");
    return value ? value->text : std::string();
  }
  /// Empty after an error.
  std::span<const NoteValue> list(const char *key) {
    const NoteValue *value = find(key, Kind::List, "a list");
    return value ? std::span<const NoteValue>(value->items) : std::span<const NoteValue>();
  }
  Result<void> result() {
    if (error)
      return tl::unexpected(std::move(*error));
    return {};
  }

private:
  /// Null after an error.
  const NoteValue *find(const char *key, Kind kind, std::string_view expected) {
    const NoteValue *value = map.find(key);
    if (!value)
      reject(key, "this key", "none");
    else if (value->kind != kind)
      reject(key, expected, value->kindName());
    return error ? nullptr : value;
  }
  void reject(const char *key, std::string_view expected, std::string_view found) {
    if (!error)
      error = badNote(fmt::format("{}{}", where, key), expected, found).value();
  }

  const NoteValue &map;
  std::string where;
  std::optional<Error> error;
};

Result<KernelMetadata> readKernel(const NoteValue &value, size_t index) {
  std::string where = fmt::format("amdhsa.kernels[{}]", index);
  if (value.kind != Kind::Map)
    return badNote(where, "a map", value.kindName());
  MapReader reader(value, where);
  KernelMetadata kernel;
  kernel.name = reader.text(".name");
  kernel.descriptorSymbol = reader.text(".symbol");
  kernel.kernargBytes = reader.number(".kernarg_segment_size");
  kernel.ldsBytes = reader.number(".group_segment_fixed_size");
  kernel.scratchBytes = reader.number(".private_segment_fixed_size");
  kernel.vgprs = reader.number(".vgpr_count");
  kernel.agprs = reader.number(".agpr_count");
  kernel.sgprs = reader.number(".sgpr_count");
  kernel.vgprSpills = reader.numberOr(".vgpr_spill_count", 0);
  kernel.sgprSpills = reader.numberOr(".sgpr_spill_count", 0);
  kernel.wavefrontSize = reader.number(".wavefront_size");
  kernel.maxWorkgroup = reader.number(".max_flat_workgroup_size");
  kernel.dynamicStack = reader.flagOr(".uses_dynamic_stack", false);
  const std::span<const NoteValue> args = reader.list(".args");
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string argWhere = fmt::format("{}.args[{}]", where, i);
    if (args[i].kind != Kind::Map)
      return badNote(argWhere, "a map", args[i].kindName());
    MapReader argReader(args[i], argWhere);
    KernelMetadataArg arg;
    arg.offset = argReader.number(".offset");
    arg.size = argReader.number(".size");
    arg.valueKind = argReader.text(".value_kind");
    if (Result<void> ok = argReader.result(); !ok)
      return tl::unexpected(std::move(ok.error()));
    kernel.args.push_back(std::move(arg));
  }
  if (Result<void> ok = reader.result(); !ok)
    return tl::unexpected(std::move(ok.error()));
  return kernel;
}

Result<void> readNote(Bytes description, std::vector<KernelMetadata> &kernels) {
  const std::optional<NoteValue> root = parseNote(description);
  if (!root)
    return badNote("description", "a msgpack map", "bytes that are none");
  if (root->kind != Kind::Map)
    return badNote("description", "a msgpack map", root->kindName());
  MapReader reader(*root, "");
  const std::string target = reader.text("amdhsa.target");
  const std::span<const NoteValue> list = reader.list("amdhsa.kernels");
  if (Result<void> ok = reader.result(); !ok)
    return ok;
  // The target may go on with ":sramecc+" and the like, which e_flags also say.
  if (target.substr(0, target.find(':')) != kTarget)
    return badNote("amdhsa.target", fmt::format("\"{}\"", kTarget), fmt::format("\"{}\"", target));
  for (size_t i = 0; i < list.size(); ++i) {
    Result<KernelMetadata> kernel = readKernel(list[i], i);
    if (!kernel)
      return tl::unexpected(std::move(kernel.error()));
    kernels.push_back(std::move(*kernel));
  }
  return {};
}

template <typename T> T fieldAt(Bytes bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

} // namespace

Result<std::vector<KernelMetadata>> readMetadata(const ElfFile &elf) {
  std::vector<KernelMetadata> kernels;
  bool found = false;
  for (const ElfNote &note : elf.notes()) {
    if (note.owner != kNoteOwner || note.type != kNoteMetadata)
      continue;
    found = true;
    if (Result<void> ok = readNote(note.description, kernels); !ok)
      return tl::unexpected(std::move(ok.error()));
  }
  if (!found)
    return badNote("file", "a metadata note (type 32)", "none");
  std::ranges::sort(kernels, {}, &KernelMetadata::name);
  const auto twice = std::ranges::adjacent_find(kernels, {}, &KernelMetadata::name);
  if (twice != kernels.end())
    return badNote("amdhsa.kernels", "unique names", fmt::format("'{}' twice", twice->name));
  return kernels;
}

KernelDescriptor readDescriptor(Bytes bytes) {
  KernelDescriptor descriptor;
  descriptor.ldsBytes = fieldAt<uint32_t>(bytes, 0);
  descriptor.scratchBytes = fieldAt<uint32_t>(bytes, 4);
  descriptor.kernargBytes = fieldAt<uint32_t>(bytes, 8);
  descriptor.entryOffset = fieldAt<int64_t>(bytes, 16);
  const auto rsrc1 = fieldAt<uint32_t>(bytes, 48);
  const auto rsrc2 = fieldAt<uint32_t>(bytes, 52);
  const auto properties = fieldAt<uint16_t>(bytes, 56);
  descriptor.allocatedVgprs = ((rsrc1 & 0x3f) + 1) * 8;
  descriptor.scratchEnabled = rsrc2 & 1;
  descriptor.wave32 = properties >> 10 & 1;
  descriptor.dynamicStack = properties >> 11 & 1;
  return descriptor;
}

} // namespace nvfp4rt
