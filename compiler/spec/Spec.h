//===- Spec.h - the shape spec of a deployment ------------------------------===//
//
// What a TOML spec says, validated. Everything a template may be specialized for
// comes from here; nothing about a model is a constant in a template.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_SPEC_SPEC_H
#define NVFP4GEN_COMPILER_SPEC_SPEC_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nvfp4gen {

// Enumerator values equal the symbol values of runtime/guard/Fields.def.
enum class Phase : uint8_t { Decode, Verify, Prefill };
enum class DType : uint8_t { BF16, FP16 };
enum class CacheFormat : uint8_t { NVFP4, MXFP4, FP8E4M3 };
enum class PlaneOrder : uint8_t { NHD, HND };
/// Planes a cache holds.
enum class Plane : uint8_t { K, V, IndexK };

struct ModelSpec {
  int64_t qHeads = 0;
  int64_t kvHeads = 0;
  int64_t headDim = 0;
  int64_t indexHeads = 0;
  int64_t indexHeadDim = 0;
  int64_t topK = 0;
  int64_t initBlocks = 0;
  int64_t localBlocks = 0;
  int64_t blockSize = 0; ///< tokens
  DType dtype = DType::BF16;
  double normEps = 0;
  int64_t rotaryDim = 0;
  double qkScale = 0; ///< multiplies q.k before the softmax and in the index score
};

struct CacheSpec {
  CacheFormat kvFormat = CacheFormat::NVFP4;
  CacheFormat indexFormat = CacheFormat::NVFP4;
  int64_t pageSize = 0; ///< tokens
  PlaneOrder planeOrder = PlaneOrder::NHD;
  std::vector<Plane> planes; ///< what this deployment stores; sorted, unique, not empty
  // Only sizes depend on these (P6): all layers run the same kernels.
  int64_t layers = 1;      ///< layers with this cache
  int64_t draftLayers = 0; ///< draft layers with a K and V cache of draftFormat, no index key
  CacheFormat draftFormat = CacheFormat::FP8E4M3;
};

struct ServingSpec {
  std::vector<int64_t> requestBuckets; ///< sorted, unique; the last is the largest request count
  std::vector<int64_t> queryLens;      ///< sorted, unique; 1 is decode, more is verify
  int64_t maxContext = 0;              ///< tokens
  std::vector<Phase> phases;           ///< sorted, unique, not empty
};

struct TargetSpec {
  std::string arch; ///< "gfx950"
  int64_t codeObjectVersion = 5;
};

struct Spec {
  std::string name; ///< identifier of the deployment, e.g. "minimax_m3_1_tp4_bf16"
  ModelSpec model;
  CacheSpec cache;
  ServingSpec serving;
  TargetSpec target;
  std::string sha256; ///< hex digest of the TOML text

  bool hasPlane(Plane plane) const;
  int64_t maxBlocks() const; ///< ceil(maxContext / blockSize)
};

/// One fault of a spec file.
struct SpecDiagnostic {
  std::string path;
  unsigned line = 0, column = 0; ///< 1-based; 0 when the fault is the file itself
  std::string message;           ///< "model.kv_heads: expected ..., found ..."
};

/// All faults of a spec file at once.
class SpecError : public llvm::ErrorInfo<SpecError> {
public:
  static char ID;
  explicit SpecError(std::vector<SpecDiagnostic> diagnostics)
      : diagnostics(std::move(diagnostics)) {}
  /// One "path:line:column: error: message" line a diagnostic.
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;
  std::vector<SpecDiagnostic> diagnostics;
};

/// Longest spec text, in bytes.
inline constexpr uint64_t kMaxSpecBytes = 1 << 20;

/// Parse and validate. `path` is only quoted in diagnostics.
llvm::Expected<Spec> parseSpec(llvm::StringRef text, llvm::StringRef path);
/// Read and parse a file; a file that cannot be read is a SpecError too.
llvm::Expected<Spec> loadSpec(llvm::StringRef path);

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_SPEC_SPEC_H
