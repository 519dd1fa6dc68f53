//===- LoadedSpec.h - a spec file and its variants --------------------------===//
#ifndef NVFP4GEN_TOOLS_NVFP4GEN_LOADEDSPEC_H
#define NVFP4GEN_TOOLS_NVFP4GEN_LOADEDSPEC_H

#include "compiler/variants/Variants.h"

namespace nvfp4gen {

struct LoadedSpec {
  Spec spec;
  VariantList list;
};

/// Read a spec and enumerate every family's variants of it.
inline llvm::Expected<LoadedSpec> loadWithVariants(const std::string &path) {
  llvm::Expected<Spec> spec = loadSpec(path);
  if (!spec)
    return spec.takeError();
  llvm::Expected<VariantList> list = enumerateVariants(*spec, families());
  if (!list)
    return list.takeError();
  return LoadedSpec{std::move(*spec), std::move(*list)};
}

} // namespace nvfp4gen

#endif // NVFP4GEN_TOOLS_NVFP4GEN_LOADEDSPEC_H
