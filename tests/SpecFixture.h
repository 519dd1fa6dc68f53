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

/// Every variant of every family, or of the one named.
inline VariantList variantsOf(const Spec &spec, std::string_view family = {}) {
  std::vector<const Family *> chosen;
  for (const Family *candidate : families())
    if (family.empty() || candidate->name == family)
      chosen.push_back(candidate);
  llvm::Expected<VariantList> list = enumerateVariants(spec, chosen);
  if (!list) {
    ADD_FAILURE() << llvm::toString(list.takeError());
    return {};
  }
  return std::move(*list);
}

} // namespace nvfp4gen::test

#endif // NVFP4GEN_TESTS_SPECFIXTURE_H
