//===- CacheBytes.h - bytes of one sparse block of cache (rule P6) ----------===//
#ifndef NVFP4GEN_COMPILER_BUNDLE_CACHEBYTES_H
#define NVFP4GEN_COMPILER_BUNDLE_CACHEBYTES_H

#include "compiler/spec/Spec.h"
#include "runtime/bundle/Manifest.h"

namespace nvfp4gen {

nvfp4rt::CacheBytes cacheBytes(const Spec &spec);

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_BUNDLE_CACHEBYTES_H
