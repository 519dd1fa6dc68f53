//===- CodeObject.cpp ---------------------------------------------------------===//

#include "tools/gfx950emu/core/Emulator.h"
#include "tools/gfx950emu/core/Loader.h"
#include "tools/gfx950emu/core/Program.h"

using namespace llvm;

namespace gfx950emu {

struct CodeObject::Impl {
  LoadedImage image;
  std::unique_ptr<DecodedProgram> program;
  MemoryMap *memory = nullptr;

  uint64_t address(const LoadedImage::Segment &s) const {
    return reinterpret_cast<uint64_t>(image.mapping.data()) + s.offset;
  }
};

CodeObject::CodeObject() : impl(std::make_unique<Impl>()) {}

CodeObject::~CodeObject() {
  if (impl->memory)
    for (const LoadedImage::Segment &s : impl->image.segments)
      impl->memory->remove(impl->address(s));
}

Expected<std::unique_ptr<CodeObject>> CodeObject::load(ArrayRef<uint8_t> image, MemoryMap &memory) {
  Expected<LoadedImage> loaded = loadImage(image);
  if (!loaded)
    return loaded.takeError();
  std::unique_ptr<CodeObject> result(new CodeObject);
  Impl &i = *result->impl;
  i.image = std::move(*loaded);
  const LoadedImage::Segment &code = i.image.segments[i.image.codeSegment];
  uint64_t base = i.address(code);
  auto program = DecodedProgram::decode(
      ArrayRef(reinterpret_cast<const uint8_t *>(base), code.size & ~uint64_t(3)), base,
      i.image.functions, hostSimdLevel());
  if (!program)
    return program.takeError();
  i.program = std::move(*program);
  i.memory = &memory;
  for (const LoadedImage::Segment &s : i.image.segments)
    memory.add(i.address(s), s.size, s.writable);
  return result;
}

const std::vector<KernelInfo> &CodeObject::kernels() const { return impl->image.kernels; }

const KernelInfo *CodeObject::find(StringRef name) const {
  for (const KernelInfo &k : impl->image.kernels)
    if (k.name == name)
      return &k;
  return nullptr;
}

const DecodedProgram &CodeObject::program() const { return *impl->program; }

} // namespace gfx950emu
