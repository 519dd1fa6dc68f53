//===- Comgr.h - ROCm's code object manager, by dlopen ----------------------===//
//
// Links through libamd_comgr, for stacks that want every code object to come
// from the ROCm they run on. No ROCm header: the few types and numbers are in
// ComgrApi.h.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_BUNDLE_COMGR_H
#define NVFP4GEN_COMPILER_BUNDLE_COMGR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace nvfp4gen {

struct ComgrApi;

class Comgr {
public:
  /// The file named by NVFP4GEN_COMGR_LIBRARY, else libamd_comgr.so.3 or .2; the error lists what
  /// was tried.
  static llvm::Expected<Comgr> load();
  Comgr(Comgr &&) noexcept;
  Comgr &operator=(Comgr &&) = delete;
  ~Comgr();

  /// An architecture that this comgr does not know is an error that names it and the way out.
  llvm::Error checkArch(llvm::StringRef arch) const;

  /// Link relocatable objects of architecture `arch`, which is checked, to a shared code object.
  llvm::Expected<std::string> link(llvm::ArrayRef<std::string> objects, llvm::StringRef arch) const;

  /// Names of the kernels in a code object, as comgr reads its metadata; sorted.
  llvm::Expected<std::vector<std::string>> kernelNames(llvm::StringRef codeObject) const;

  /// "comgr 2.4 (libamd_comgr.so.2)"
  std::string description() const;

private:
  explicit Comgr(std::unique_ptr<ComgrApi> api);
  std::unique_ptr<ComgrApi> api;
};

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_BUNDLE_COMGR_H
