//===- ModelType.h - results in model dtype ---------------------------------===//

#ifndef NVFP4GEN_TEMPLATES_FRAGMENTS_MODELTYPE_H
#define NVFP4GEN_TEMPLATES_FRAGMENTS_MODELTYPE_H

#include "compiler/ir/KernelBuilder.h"

namespace nvfp4gen::fragments {

/// fp32 rounded to model dtype, RNE.
inline Val roundToModel(KernelBuilder &kb, DType dtype, Val value) {
  return dtype == DType::BF16 ? kb.toBF16(value) : kb.toF16(value);
}

} // namespace nvfp4gen::fragments

#endif // NVFP4GEN_TEMPLATES_FRAGMENTS_MODELTYPE_H
