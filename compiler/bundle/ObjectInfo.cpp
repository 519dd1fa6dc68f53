//===- ObjectInfo.cpp -------------------------------------------------------===//

#include "compiler/bundle/ObjectInfo.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/SHA256.h"

#include <algorithm>

namespace nvfp4gen {

namespace {

using llvm::object::ELF64LE;
using ElfFile = llvm::object::ELFFile<ELF64LE>;

llvm::Error objectError(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "code object: " + what);
}

/// A kernel's map in the note, with typed look-ups.
class NoteMap {
public:
  explicit NoteMap(llvm::msgpack::MapDocNode map) : map(map) {}

  llvm::Expected<uint64_t> integer(llvm::StringRef key) {
    auto it = map.find(key);
    if (it == map.end() || it->second.getKind() != llvm::msgpack::Type::UInt)
      return objectError("metadata note: expected an unsigned '" + key + "'");
    return it->second.getUInt();
  }
  llvm::Expected<std::string> string(llvm::StringRef key) {
    auto it = map.find(key);
    if (it == map.end() || !it->second.isString())
      return objectError("metadata note: expected a string '" + key + "'");
    return it->second.getString().str();
  }
  bool flag(llvm::StringRef key) {
    auto it = map.find(key);
    return it != map.end() && it->second.getKind() == llvm::msgpack::Type::Boolean &&
           it->second.getBool();
  }
  llvm::msgpack::MapDocNode map;
};

template <typename T> llvm::Error assign(T &to, llvm::Expected<uint64_t> value) {
  if (!value)
    return value.takeError();
  to = T(*value);
  return llvm::Error::success();
}

llvm::Error readArguments(NoteMap &note, KernelObject &kernel) {
  auto it = note.map.find(".args");
  if (it == note.map.end())
    return llvm::Error::success();
  for (llvm::msgpack::DocNode &node : it->second.getArray()) {
    NoteMap argument(node.getMap());
    llvm::Expected<std::string> kind = argument.string(".value_kind");
    if (!kind)
      return kind.takeError();
    KernelArgument &result = kernel.arguments.emplace_back();
    result.kind = *kind;
    if (llvm::Error error = assign(result.offset, argument.integer(".offset")))
      return error;
    if (llvm::Error error = assign(result.size, argument.integer(".size")))
      return error;
  }
  return llvm::Error::success();
}

llvm::Expected<KernelObject> readKernel(NoteMap note) {
  KernelObject kernel;
  llvm::Expected<std::string> name = note.string(".name");
  if (!name)
    return name.takeError();
  kernel.symbol = *name;
  nvfp4rt::Resources &r = kernel.resources;
  llvm::Error errors = llvm::Error::success();
  auto take = [&](auto &to, llvm::StringRef key) {
    errors = llvm::joinErrors(std::move(errors), assign(to, note.integer(key)));
  };
  take(r.vgprs, ".vgpr_count");
  take(r.agprs, ".agpr_count");
  take(r.sgprs, ".sgpr_count");
  take(r.ldsBytes, ".group_segment_fixed_size");
  take(r.scratchBytes, ".private_segment_fixed_size");
  take(kernel.kernargBytes, ".kernarg_segment_size");
  take(kernel.maxWorkgroup, ".max_flat_workgroup_size");
  take(kernel.sgprSpills, ".sgpr_spill_count");
  take(kernel.vgprSpills, ".vgpr_spill_count");
  kernel.dynamicStack = note.flag(".uses_dynamic_stack");
  errors = llvm::joinErrors(std::move(errors), readArguments(note, kernel));
  if (errors)
    return std::move(errors);
  return kernel;
}

/// Call `visit` with each kernel of each metadata note, and the note.
llvm::Error forEachKernelNote(const ElfFile &elf,
                              llvm::function_ref<llvm::Error(llvm::msgpack::Document &document,
                                                             llvm::msgpack::MapDocNode kernel)>
                                  visit) {
  auto sections = elf.sections();
  if (!sections)
    return sections.takeError();
  for (const auto &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    for (const auto &note : elf.notes(section, error)) {
      if (note.getName() != "AMDGPU" || note.getType() != llvm::ELF::NT_AMDGPU_METADATA)
        continue;
      llvm::msgpack::Document document;
      // LLVM writes notes with alignment 4.
      llvm::ArrayRef<uint8_t> desc = note.getDesc(4);
      llvm::StringRef text(reinterpret_cast<const char *>(desc.data()), desc.size());
      if (!document.readFromBlob(text, /*Multi=*/false) || !document.getRoot().isMap())
        return objectError("metadata note is not a msgpack map");
      auto root = document.getRoot().getMap();
      auto list = root.find("amdhsa.kernels");
      if (list == root.end() || !list->second.isArray())
        return objectError("metadata note has no list 'amdhsa.kernels'");
      for (llvm::msgpack::DocNode &node : list->second.getArray()) {
        if (!node.isMap())
          return objectError("metadata note: expected maps in 'amdhsa.kernels'");
        if (llvm::Error failed = visit(document, node.getMap()))
          return failed;
      }
    }
    if (error)
      return error;
  }
  return llvm::Error::success();
}

llvm::Expected<llvm::object::ELFObjectFile<ELF64LE>> openElf(llvm::StringRef bytes) {
  return llvm::object::ELFObjectFile<ELF64LE>::create(llvm::MemoryBufferRef(bytes, "object"));
}

/// Bytes of a symbol within its section.
llvm::Expected<SymbolContents> findSymbol(const llvm::object::ELFObjectFile<ELF64LE> &object,
                                          llvm::StringRef name) {
  for (const llvm::object::ELFSymbolRef symbol : object.symbols()) {
    llvm::Expected<llvm::StringRef> symbolName = symbol.getName();
    if (!symbolName)
      return symbolName.takeError();
    if (*symbolName != name)
      continue;
    auto section = symbol.getSection();
    if (!section)
      return section.takeError();
    if (*section == object.section_end())
      return objectError("symbol '" + name + "' is not defined");
    llvm::Expected<llvm::StringRef> contents = (*section)->getContents();
    llvm::Expected<uint64_t> address = symbol.getAddress();
    if (!contents || !address)
      return llvm::joinErrors(contents.takeError(), address.takeError());
    uint64_t offset = *address - (*section)->getAddress();
    if (offset > contents->size() || symbol.getSize() > contents->size() - offset)
      return objectError("symbol '" + name + "' lies outside its section");
    return SymbolContents{contents->substr(offset, symbol.getSize()), *address};
  }
  return objectError("no symbol '" + name + "'");
}

} // namespace

llvm::Expected<SymbolContents> symbolContents(llvm::StringRef elf, llvm::StringRef name) {
  auto object = openElf(elf);
  if (!object)
    return object.takeError();
  return findSymbol(*object, name);
}

llvm::Expected<std::string> kernelMetadata(llvm::StringRef elf, llvm::StringRef symbol) {
  auto object = openElf(elf);
  if (!object)
    return object.takeError();
  std::string blob;
  llvm::Error error = forEachKernelNote(
      object->getELFFile(),
      [&](llvm::msgpack::Document &document, llvm::msgpack::MapDocNode kernel) -> llvm::Error {
        llvm::Expected<std::string> name = NoteMap(kernel).string(".name");
        if (!name)
          return name.takeError();
        if (*name != symbol)
          return llvm::Error::success();
        llvm::msgpack::ArrayDocNode list = document.getArrayNode();
        list.push_back(kernel);
        // The walk goes on over the note's own list, which this leaves alone.
        auto root = document.getRoot().getMap();
        llvm::msgpack::DocNode whole = root["amdhsa.kernels"];
        root["amdhsa.kernels"] = list;
        document.writeToBlob(blob);
        root["amdhsa.kernels"] = whole;
        return llvm::Error::success();
      });
  if (error)
    return std::move(error);
  if (blob.empty())
    return objectError("no metadata of kernel '" + symbol + "'");
  return blob;
}

llvm::Expected<std::vector<KernelObject>> readKernels(llvm::StringRef bytes) {
  auto object = openElf(bytes);
  if (!object)
    return object.takeError();
  std::vector<KernelObject> kernels;
  llvm::Error error = forEachKernelNote(
      object->getELFFile(),
      [&](llvm::msgpack::Document &, llvm::msgpack::MapDocNode node) -> llvm::Error {
        llvm::Expected<KernelObject> kernel = readKernel(NoteMap(node));
        if (!kernel)
          return kernel.takeError();
        kernels.push_back(std::move(*kernel));
        return llvm::Error::success();
      });
  if (error)
    return std::move(error);
  for (KernelObject &kernel : kernels) {
    llvm::Expected<SymbolContents> code = findSymbol(*object, kernel.symbol);
    if (!code)
      return code.takeError();
    llvm::Expected<SymbolContents> descriptor = findSymbol(*object, kernel.symbol + ".kd");
    if (!descriptor)
      return descriptor.takeError();
    kernel.resources.codeBytes = uint32_t(code->bytes.size());
    llvm::SHA256 sha;
    sha.update(code->bytes);
    sha.update(descriptor->bytes);
    kernel.sha256 = llvm::toHex(sha.final(), /*LowerCase=*/true);
  }
  llvm::sort(kernels, [](const auto &a, const auto &b) { return a.symbol < b.symbol; });
  return kernels;
}

} // namespace nvfp4gen
