//===- Extract.cpp ----------------------------------------------------------===//
//
// A linked kernel goes back into a relocatable object of its own, which is linked
// again: the one place in it that depends on addresses is the descriptor's offset
// to the code.
//
//===------------------------------------------------------------------------===//
#include "compiler/bundle/Extract.h"

#include "compiler/bundle/BundleManifest.h"
#include "compiler/bundle/Linker.h"
#include "compiler/bundle/ObjectInfo.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/ObjectYAML/ELFYAML.h"
#include "llvm/ObjectYAML/yaml2obj.h"

namespace nvfp4gen {

namespace {

namespace yaml = llvm::ELFYAML;

/// In a kernel descriptor: offset of the code from the descriptor.
constexpr uint64_t kEntryOffset = 16;
constexpr uint64_t kDescriptorBytes = 64;

llvm::Error extractError(const nvfp4rt::Kernel &kernel, const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "extract '" + kernel.symbol + "': " + what);
}

/// Code can be carried to another file only when it refers to nothing outside of itself: the
/// loaded part of the bundle has to be code, descriptors and what a linker adds.
llvm::Error checkSelfContained(llvm::StringRef elf, const nvfp4rt::Manifest &whole,
                               const nvfp4rt::Kernel &kernel) {
  auto object =
      llvm::object::ELFObjectFile<llvm::object::ELF64LE>::create(llvm::MemoryBufferRef(elf, ""));
  if (!object)
    return object.takeError();
  for (const llvm::object::ELFSectionRef section : object->sections()) {
    llvm::Expected<llvm::StringRef> name = section.getName();
    if (!name)
      return name.takeError();
    bool data =
        (section.getFlags() & llvm::ELF::SHF_ALLOC) &&
        (section.getType() == llvm::ELF::SHT_PROGBITS || section.getType() == llvm::ELF::SHT_RELA);
    uint64_t descriptors = kDescriptorBytes * whole.kernels.size();
    if (data && *name != ".text" && !(*name == ".rodata" && section.getSize() == descriptors))
      return extractError(kernel,
                          "its code may refer to section " + *name + ", which stays behind");
  }
  return llvm::Error::success();
}

std::unique_ptr<yaml::RawContentSection> section(llvm::StringRef name, uint32_t type,
                                                 uint64_t flags, uint64_t alignment,
                                                 llvm::StringRef bytes) {
  auto result = std::make_unique<yaml::RawContentSection>();
  result->Name = name;
  result->Type = yaml::ELF_SHT(type);
  result->Flags = yaml::ELF_SHF(flags);
  result->AddressAlign = llvm::yaml::Hex64(alignment);
  result->Content =
      llvm::yaml::BinaryRef(llvm::ArrayRef<uint8_t>(bytes.bytes_begin(), bytes.size()));
  return result;
}

yaml::Symbol symbol(llvm::StringRef name, unsigned type, llvm::StringRef sectionName,
                    uint64_t size) {
  yaml::Symbol result{};
  result.Name = name;
  result.Type = yaml::ELF_STT(type);
  result.Section = sectionName;
  result.Binding = yaml::ELF_STB(llvm::ELF::STB_GLOBAL);
  result.Size = llvm::yaml::Hex64(size);
  result.Other = llvm::ELF::STV_PROTECTED;
  return result;
}

/// Name, type and contents of an ELF note.
std::string noteBytes(llvm::StringRef metadata) {
  constexpr llvm::StringLiteral kName = "AMDGPU"; // with its NUL, and padded to 8
  std::string note;
  auto word = [&](uint32_t value) {
    char bytes[4];
    llvm::support::endian::write32le(bytes, value);
    note.append(bytes, sizeof(bytes));
  };
  word(kName.size() + 1);
  word(uint32_t(metadata.size()));
  word(llvm::ELF::NT_AMDGPU_METADATA);
  note += kName;
  note.append(2, '\0');
  note += metadata;
  note.append(llvm::alignTo(note.size(), 4) - note.size(), '\0');
  return note;
}

llvm::Expected<std::string> makeObject(llvm::StringRef elf, const nvfp4rt::Kernel &kernel) {
  std::string descriptorName = kernel.symbol + ".kd";
  llvm::Expected<SymbolContents> code = symbolContents(elf, kernel.symbol);
  if (!code)
    return code.takeError();
  llvm::Expected<SymbolContents> descriptor = symbolContents(elf, descriptorName);
  if (!descriptor)
    return descriptor.takeError();
  llvm::Expected<std::string> metadata = kernelMetadata(elf, kernel.symbol);
  if (!metadata)
    return metadata.takeError();
  std::string note = noteBytes(*metadata);

  auto file = llvm::object::ELFFile<llvm::object::ELF64LE>::create(elf);
  if (!file)
    return file.takeError();
  const auto &header = file->getHeader();
  yaml::Object object;
  object.Header.Class = yaml::ELF_ELFCLASS(llvm::ELF::ELFCLASS64);
  object.Header.Data = yaml::ELF_ELFDATA(llvm::ELF::ELFDATA2LSB);
  object.Header.OSABI = yaml::ELF_ELFOSABI(header.e_ident[llvm::ELF::EI_OSABI]);
  object.Header.ABIVersion = llvm::yaml::Hex8(header.e_ident[llvm::ELF::EI_ABIVERSION]);
  object.Header.Type = yaml::ELF_ET(llvm::ELF::ET_REL);
  object.Header.Machine = yaml::ELF_EM(llvm::ELF::EM_AMDGPU);
  object.Header.Flags = yaml::ELF_EF(header.e_flags);

  using namespace llvm::ELF;
  object.Chunks.push_back(
      section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 256, code->bytes));
  object.Chunks.push_back(
      section(".rodata", SHT_PROGBITS, SHF_ALLOC, kDescriptorBytes, descriptor->bytes));
  object.Chunks.push_back(section(".note", SHT_NOTE, SHF_ALLOC, 4, note));
  auto relocations = std::make_unique<yaml::RelocationSection>();
  relocations->Name = ".rela.rodata";
  relocations->Type = yaml::ELF_SHT(SHT_RELA);
  relocations->AddressAlign = llvm::yaml::Hex64(8);
  relocations->RelocatableSec = ".rodata";
  relocations->Relocations.emplace();
  yaml::Relocation &entry = relocations->Relocations->emplace_back();
  entry.Offset = llvm::yaml::Hex64(kEntryOffset);
  entry.Addend = llvm::yaml::Hex64(kEntryOffset); // from the descriptor, not from this place in it
  entry.Type = yaml::ELF_REL(R_AMDGPU_REL64);
  entry.Symbol = kernel.symbol;
  object.Chunks.push_back(std::move(relocations));
  object.Symbols.emplace();
  object.Symbols->push_back(symbol(kernel.symbol, STT_FUNC, ".text", code->bytes.size()));
  object.Symbols->push_back(symbol(descriptorName, STT_OBJECT, ".rodata", kDescriptorBytes));

  std::string bytes, message;
  llvm::raw_string_ostream os(bytes);
  if (!llvm::yaml::yaml2elf(
          object, os, [&](const llvm::Twine &text) { message = text.str(); }, UINT64_MAX))
    return extractError(kernel, message);
  return bytes;
}

} // namespace

llvm::Expected<std::string> extractKernel(llvm::StringRef file, const nvfp4rt::Manifest &whole,
                                          const nvfp4rt::Kernel &kernel) {
  if (llvm::Error error = checkSelfContained(file, whole, kernel))
    return std::move(error);
  llvm::Expected<std::string> object = makeObject(file, kernel);
  if (!object)
    return object;
  llvm::Expected<std::string> code = linkObjects({*object});
  if (!code)
    return code;
  llvm::Expected<std::vector<KernelObject>> linked = readKernels(*code);
  if (!linked)
    return linked.takeError();

  nvfp4rt::Manifest part = whole;
  std::erase_if(part.kernels, [&](const auto &other) { return other.symbol != kernel.symbol; });
  std::erase_if(part.variants, [&](const auto &v) { return v.symbol != kernel.symbol; });
  addKernelFacts(part, *linked);
  llvm::Expected<std::string> bytes = addManifest(*code, part);
  if (!bytes)
    return bytes;
  if (llvm::Error error = checkOpens(*bytes, kernel.symbol))
    return std::move(error);
  return bytes;
}

} // namespace nvfp4gen
