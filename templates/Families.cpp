//===- Families.cpp - the registry as a list --------------------------------===//

#include "compiler/variants/Family.h"

namespace nvfp4gen {

#define NVFP4_FAMILY(name, Camel) extern const Family k##Camel##Family;
#include "templates/Families.def"

std::span<const Family *const> families() {
  static const Family *const kFamilies[] = {
#define NVFP4_FAMILY(name, Camel) &k##Camel##Family,
#include "templates/Families.def"
  };
  return kFamilies;
}

} // namespace nvfp4gen
