//===- Linker.cpp -----------------------------------------------------------===//

#include "compiler/bundle/Linker.h"

#include "compiler/support/AtomicFile.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <mutex>
#include <tuple>

LLD_HAS_DRIVER(elf)

namespace nvfp4gen {

namespace {
llvm::Error linkError(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "link: " + what);
}
} // namespace

llvm::Expected<std::string> linkObjects(llvm::ArrayRef<std::string> objects) {
  // lld reads and writes files.
  llvm::SmallString<128> folder;
  if (std::error_code code = llvm::sys::fs::createUniqueDirectory("nvfp4gen-link", folder)) {
    llvm::SmallString<128> place;
    llvm::sys::path::system_temp_directory(/*erasedOnReboot=*/true, place);
    return linkError("cannot create a temporary folder in '" + place +
                     "' (TMPDIR): " + code.message());
  }
  llvm::scope_exit cleanup(
      [&] { std::ignore = llvm::sys::fs::remove_directories(folder, /*IgnoreErrors=*/true); });
  auto inFolder = [&](const llvm::Twine &name) {
    llvm::SmallString<128> path = folder;
    llvm::sys::path::append(path, name);
    return std::string(path);
  };

  std::string output = inFolder("out.hsaco");
  std::vector<std::string> inputs;
  for (size_t i = 0; i < objects.size(); ++i) {
    inputs.push_back(inFolder(llvm::Twine(i) + ".o"));
    if (llvm::Error error = writeFileAtomically(inputs.back(), objects[i]))
      return std::move(error);
  }
  std::vector<const char *> arguments = {"ld.lld",          "-shared", "--threads=1",
                                         "--build-id=none", "-o",      output.c_str()};
  for (const std::string &input : inputs)
    arguments.push_back(input.c_str());

  static std::mutex oneAtATime;
  static bool canRunAgain = true; ///< after a fatal error in it lld's state is undefined
  std::lock_guard lock(oneAtATime);
  if (!canRunAgain)
    return linkError("lld failed beyond repair before, in this process");
  std::string messages;
  llvm::raw_string_ostream os(messages);
  lld::Result result = lld::lldMain(arguments, os, os, {{lld::Gnu, &lld::elf::link}});
  canRunAgain = result.canRunAgain;
  if (result.retCode != 0)
    return linkError("lld exit code " + llvm::Twine(result.retCode) + ": " + messages);
  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false, /*RequiresNull=*/false);
  if (!buffer)
    return linkError("cannot read lld's output: " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

llvm::Expected<std::string>
addSections(llvm::StringRef elf, llvm::ArrayRef<std::pair<std::string, std::string>> sections) {
  auto object = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(elf, "bundle"));
  if (!object)
    return object.takeError();
  llvm::objcopy::ConfigManager config;
  for (const auto &[name, contents] : sections)
    config.Common.AddSection.emplace_back(name,
                                          llvm::MemoryBuffer::getMemBufferCopy(contents, name));
  llvm::SmallVector<char, 0> out;
  llvm::raw_svector_ostream os(out);
  if (llvm::Error error = llvm::objcopy::executeObjcopyOnBinary(config, **object, os))
    return std::move(error);
  return std::string(out.begin(), out.end());
}

llvm::Expected<uint64_t> sectionOffset(llvm::StringRef elf, llvm::StringRef name) {
  auto object = llvm::object::ELFObjectFile<llvm::object::ELF64LE>::create(
      llvm::MemoryBufferRef(elf, "bundle"));
  if (!object)
    return object.takeError();
  for (const llvm::object::SectionRef &section : object->sections()) {
    llvm::Expected<llvm::StringRef> sectionName = section.getName();
    if (!sectionName)
      return sectionName.takeError();
    if (*sectionName == name)
      return object->getSection(section.getRawDataRefImpl())->sh_offset;
  }
  return linkError("no section '" + name + "'");
}

} // namespace nvfp4gen
