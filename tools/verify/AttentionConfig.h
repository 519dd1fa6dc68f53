//===- AttentionConfig.h - what a guard says to sparse attention ------------===//
//
// Owns: the shape of a sparse_attention or sparse_attention_merge launch, read from a
// request, and the workspace of a variant.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_ATTENTIONCONFIG_H
#define NVFP4GEN_TOOLS_VERIFY_ATTENTIONCONFIG_H

#include "tools/oracle/Attention.h"
#include "tools/verify/FamilyChecks.h"
#include "tools/verify/KvStoreLayout.h"
#include "tools/verify/Requests.h"

#include <vector>

namespace verify::attention {

using kv_store::Order;

struct Config {
  nvfp4rt::Request request;
  int64_t queryLen = 1; ///< 0 in prefill
  int64_t requests = 0;
  oracle::AttentionShape shape;
  int64_t pageSize = 128;
  std::vector<Order> orders; ///< both when the guard does not fix one

  bool prefill() const { return queryLen == 0; }
  int64_t qHeads() const { return shape.kvHeads * shape.groupHeads; }
  /// Bytes of a (row, q head).
  int64_t headBytes() const { return 2 * shape.headDim; }
  /// Rows of a step of this request; a prefill may have any number, taken to be some.
  int64_t rows() const { return rowsOf(request); }
  /// Partial results of a (row, kv head), and their bytes.
  int64_t parts() const {
    return (shape.topK + NVFP4RT_ATTENTION_PART - 1) / NVFP4RT_ATTENTION_PART;
  }
  int64_t partFloats() const { return kPartHeads * (shape.headDim + 2); }
  int64_t partialBytes(int64_t rows) const {
    return rows * shape.kvHeads * parts() * partFloats() * static_cast<int64_t>(sizeof(float));
  }

  static constexpr int64_t kPartHeads = 16; ///< q heads that a part has room for
};

/// The merge reads no cache: what its guard does not say keeps its default. A field that is needed
/// and absent, or a value that no contract allows, is an error.
enum class Reader : uint8_t { Attention, Merge };
nvfp4rt::Result<Config> readConfig(const nvfp4rt::Request &request, Reader reader);

/// The configs of the guard's corner requests, the one with the most rows last. False, and a
/// fault, when one cannot be read.
bool cornerConfigs(Job &job, Reader reader, std::vector<Config> &configs);

/// Bytes that the runtime asks for; 0: the variant writes its output itself.
uint64_t workspaceBytes(const nvfp4rt::Variant &variant);

/// Most rows that a launch of a variant may have under a request.
int64_t capacityOf(const nvfp4rt::Variant &variant, const Config &config);

} // namespace verify::attention

#endif // NVFP4GEN_TOOLS_VERIFY_ATTENTIONCONFIG_H
