//===- AttentionRuns.h - checked launches of sparse attention ---------------===//
//
// Owns: one step of attention on a target, the merge after it where the variant has a
// workspace, and the comparison of all that it may touch: with float64 the first time
// that a row is seen, from then on with the bits of that time (A4).
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_ATTENTIONRUNS_H
#define NVFP4GEN_TOOLS_VERIFY_ATTENTIONRUNS_H

#include "tools/verify/Arena.h"
#include "tools/verify/AttentionRows.h"

namespace verify::attention {

/// A variant of sparse_attention and a request that it serves.
struct Launchee {
  const nvfp4rt::Variant *variant = nullptr;
  Config config;
};

/// Variants of sparse_attention that differ from the job's in phase and bucket alone.
std::vector<Launchee> relatives(const Job &job, const Config &config);
/// The relative that serves this many requests in the config's phase.
std::optional<Launchee> relativeFor(const Job &job, const Config &config, int64_t requests);

/// A head's output elements in rows of a launch.
struct RowStrides {
  int64_t row = 0, head = 0; ///< bytes
  Arena::Margins margins;
  int64_t at(int64_t r, int64_t h) const { return r * row + h * head; }
};
/// q may be a part of a wider row; out may have its heads outside.
enum class RowsOf : uint8_t { Q, Out };
RowStrides rowStrides(const Config &config, RowsOf of, int64_t rows, Layout layout);

/// Results of rows, as a kernel gave them.
class Results {
public:
  explicit Results(Rows &rows) : rows(rows), known(rows.size()), parts(rows.size(), false) {}
  Rows &of() { return rows; }

  struct Known {
    std::vector<uint16_t> bits; ///< [qHead][headDim]; empty: not known yet
    std::string where;          ///< of the launch that it is from
  };
  Known &at(size_t row) { return known[row]; }
  /// Whether its partial results have been compared.
  std::vector<bool>::reference partsKnown(size_t row) { return parts[row]; }

private:
  Rows &rows;
  std::vector<Known> known;
  std::vector<bool> parts;
};

/// Rows of a launch in their order.
struct Batch {
  static constexpr int kPadding = -1;
  std::string name;
  std::vector<int> rows; ///< of a Results, or padding
  Layout layout = Layout::Dense;
};

/// Launch, merge if need be, compare. False after a fault, which is the job's.
bool runBatch(Job &job, const Launchee &launchee, PlacedCache &cache, Results &results,
              const Batch &batch);

} // namespace verify::attention

#endif // NVFP4GEN_TOOLS_VERIFY_ATTENTIONRUNS_H
