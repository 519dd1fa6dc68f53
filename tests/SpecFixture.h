//===- SpecFixture.h - shipped specs for tests of what comes after them -----===//
#ifndef NVFP4GEN_TESTS_SPECFIXTURE_H
#define NVFP4GEN_TESTS_SPECFIXTURE_H

#include "compiler/variants/Variants.h"

#include <gtest/gtest.h>
#include <string>

namespace nvfp4gen::test {

/// specs/<name>.toml; the binary defines SPECS_DIR.
inline Spec specOf(const std::string &name) {
  llvm::Expected<Spec> spec = loadSpec(SPECS_DIR "/" + name + ".toml");
  if (!spec) {
    ADD_FAILURE() << llvm::toString(spec.takeError());
    return {};
  }
  return *spec;
}

/// Every variant of every family.
inline VariantList variantsOf(const Spec &spec) {
  llvm::Expected<VariantList> list = enumerateVariants(spec, families());
  if (!list) {
    ADD_FAILURE() << llvm::toString(list.takeError());
    return {};
  }
  return std::move(*list);
}

} // namespace nvfp4gen::test

#endif // NVFP4GEN_TESTS_SPECFIXTURE_H
