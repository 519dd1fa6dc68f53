//===- BuildIdentity.cpp ----------------------------------------------------===//

#include "compiler/support/BuildIdentity.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/TargetSelect.h"

#include <cstring>
#include <elf.h>
#include <link.h>

namespace nvfp4gen {

namespace {

struct Search {
  uintptr_t address;
  bool found = false;
  std::string name, id;
};

/// The build id in a note segment; empty when it has none.
std::string idInNotes(llvm::StringRef notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof(note));
    notes = notes.drop_front(sizeof(note));
    uint64_t nameSize = llvm::alignTo(note.n_namesz, 4), size = llvm::alignTo(note.n_descsz, 4);
    if (nameSize > notes.size() || size > notes.size() - nameSize)
      return {};
    if (note.n_type == NT_GNU_BUILD_ID &&
        notes.substr(0, note.n_namesz) == llvm::StringRef("GNU", 4))
      return llvm::toHex(notes.substr(nameSize, note.n_descsz), /*LowerCase=*/true);
    notes = notes.drop_front(nameSize + size);
  }
  return {};
}

int visit(dl_phdr_info *info, size_t, void *data) {
  Search &search = *static_cast<Search *>(data);
  llvm::ArrayRef<ElfW(Phdr)> segments(info->dlpi_phdr, info->dlpi_phnum);
  bool holds = llvm::any_of(segments, [&](const ElfW(Phdr) & segment) {
    return segment.p_type == PT_LOAD &&
           search.address - (info->dlpi_addr + segment.p_vaddr) < segment.p_memsz;
  });
  if (!holds)
    return 0;
  search.found = true;
  search.name = info->dlpi_name[0] ? info->dlpi_name : "this program";
  for (const ElfW(Phdr) &segment : segments)
    if (segment.p_type == PT_NOTE && search.id.empty()) {
      // The loader speaks of addresses as numbers. NOLINTNEXTLINE(performance-no-int-to-ptr)
      auto *notes = reinterpret_cast<const char *>(info->dlpi_addr + segment.p_vaddr);
      search.id = idInNotes({notes, segment.p_memsz});
    }
  return 1;
}

llvm::Expected<std::string> idOf(uintptr_t address) {
  Search search{address, false, {}, {}};
  ::dl_iterate_phdr(visit, &search);
  if (!search.id.empty())
    return search.id;
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 (search.found ? search.name : std::string("a binary")) +
                                     ": expected a build id (linked with --build-id), found none; "
                                     "without one no cache can be used");
}

} // namespace

llvm::Expected<BuildIdentity> buildIdentity() {
  BuildIdentity identity;
  llvm::Expected<std::string> self = idOf(reinterpret_cast<uintptr_t>(&buildIdentity));
  if (!self)
    return self.takeError();
  identity.generator = std::move(*self);
  // A function of each library; where it is linked in, that is the generator's id again.
  for (uintptr_t address : {reinterpret_cast<uintptr_t>(&LLVMInitializeAMDGPUTarget),
                            reinterpret_cast<uintptr_t>(&mlir::translateModuleToLLVMIR)}) {
    llvm::Expected<std::string> id = idOf(address);
    if (!id)
      return id.takeError();
    identity.toolchain += (identity.toolchain.empty() ? "" : " ") + *id;
  }
  return identity;
}

} // namespace nvfp4gen
