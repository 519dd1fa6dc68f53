//===- Metadata.cpp - AMDGPU notes and kernel descriptors -------------------===//
//
// See Metadata.h. Formats: LLVM's "User Guide for AMDGPU Backend", code object
// V5 metadata and kernel descriptor.
//
//===------------------------------------------------------------------------===//
#include "runtime/bundle/Metadata.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace nvfp4rt {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kNoteOwner = "AMDGPU";
constexpr uint32_t kNoteMetadata = 32; // NT_AMDGPU_METADATA
constexpr std::string_view kTarget = "amdgcn-amd-amdhsa--gfx950";
/// Levels of the deepest list or map in real metadata: root, kernels, kernel, args, arg.
constexpr int kMaxDepth = 16;

tl::unexpected<Error> badNote(std::string_view where, std::string_view expected,
                              std::string_view found) {
  return fail(NVFP4RT_ERROR_BAD_ELF,
              fmt::format("AMDGPU note: {}: expected {}, found {}", where, expected, found));
}

/// Builds a tree like nlohmann's own handler, but stops at a depth: its msgpack reader recurses
/// once a level, and a level costs an attacker one byte.
class BoundedHandler : public nlohmann::detail::json_sax_dom_parser<Json> {
  using Base = nlohmann::detail::json_sax_dom_parser<Json>;

public:
  explicit BoundedHandler(Json &root) : Base(root, /*allow_exceptions=*/false) {}
  // NOLINTBEGIN(bugprone-derived-method-shadowing-base-method): sax_parse is a template.
  bool start_object(size_t size) { return ++depth <= kMaxDepth && Base::start_object(size); }
  bool start_array(size_t size) { return ++depth <= kMaxDepth && Base::start_array(size); }
  bool end_object() { return --depth, Base::end_object(); }
  bool end_array() { return --depth, Base::end_array(); }
  // NOLINTEND(bugprone-derived-method-shadowing-base-method)

private:
  int depth = 0;
};

Result<Json> parseMsgpack(Bytes bytes) {
  Json root;
  BoundedHandler handler(root);
  if (!Json::sax_parse(bytes.begin(), bytes.end(), &handler, Json::input_format_t::msgpack))
    return badNote("description", "a msgpack map", "bytes that are none");
  if (!root.is_object())
    return badNote("description", "a msgpack map", root.type_name());
  return root;
}

/// Typed access to one map; remembers the first error.
class MapReader {
public:
  MapReader(const Json &map, std::string where) : map(map), where(std::move(where)) {}

  uint64_t number(const char *key) {
    const Json *value = find(key);
    if (value && !value->is_number_unsigned())
      reject(key, "a non-negative integer", value->type_name());
    return !error && value ? value->get<uint64_t>() : 0;
  }
  /// Left out by the compiler when it has nothing to say.
  uint64_t numberOr(const char *key, uint64_t absent) {
    return map.contains(key) ? number(key) : absent;
  }
  bool flagOr(const char *key, bool absent) {
    if (!map.contains(key))
      return absent;
    const Json *value = find(key);
    if (value && !value->is_boolean())
      reject(key, "a boolean", value->type_name());
    return !error && value && value->get<bool>();
  }
  std::string text(const char *key) {
    const Json *value = find(key);
    if (value && !value->is_string())
      reject(key, "a string", value->type_name());
    return !error && value ? value->get<std::string>() : std::string();
  }
  /// Never null; an empty list after an error.
  const Json &list(const char *key) {
    static const Json empty = Json::array();
    const Json *value = find(key);
    if (value && !value->is_array())
      reject(key, "a list", value->type_name());
    return !error && value ? *value : empty;
  }
  Result<void> result() {
    if (error)
      return tl::unexpected(std::move(*error));
    return {};
  }

private:
  const Json *find(const char *key) {
    const auto found = map.find(key);
    if (found == map.end())
      reject(key, "this key", "none");
    return found == map.end() ? nullptr : &*found;
  }
  void reject(const char *key, std::string_view expected, std::string_view found) {
    if (!error)
      error = badNote(fmt::format("{}{}", where, key), expected, found).value();
  }

  const Json &map;
  std::string where;
  std::optional<Error> error;
};

Result<KernelMetadata> readKernel(const Json &json, size_t index) {
  std::string where = fmt::format("amdhsa.kernels[{}]", index);
  if (!json.is_object())
    return badNote(where, "a map", json.type_name());
  MapReader reader(json, where);
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
  const Json &args = reader.list(".args");
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string argWhere = fmt::format("{}.args[{}]", where, i);
    if (!args[i].is_object())
      return badNote(argWhere, "a map", args[i].type_name());
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
  const Result<Json> root = parseMsgpack(description);
  if (!root)
    return tl::unexpected(root.error());
  MapReader reader(*root, "");
  const std::string target = reader.text("amdhsa.target");
  const Json &list = reader.list("amdhsa.kernels");
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
