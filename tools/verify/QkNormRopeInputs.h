//===- QkNormRopeInputs.h - packed rows for qk_norm_rope_store --------------===//
//
// Owns: the configuration of a qk_norm_rope_store variant as its request says it,
// and the inputs that it is tried with: heads of every kind that W2 has words for.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_QKNORMROPEINPUTS_H
#define NVFP4GEN_TOOLS_VERIFY_QKNORMROPEINPUTS_H

#include "tools/oracle/NormRope.h"
#include "tools/oracle/Random.h"
#include "tools/verify/KvStoreLaunch.h"
#include "tools/verify/KvStoreLayout.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace verify::norm_rope {

using kv_store::Order;

struct Config {
  nvfp4rt::Request request;
  oracle::NormRopeShape shape; ///< of a layer with index branch, Gemma norms
  int64_t rows = 0;
  std::vector<Order> orders; ///< both when the guard does not fix one
};
/// A field that the oracle needs and the request lacks, or a shape without rules, is an error.
nvfp4rt::Result<Config> readConfig(const nvfp4rt::Request &request);

/// Parts of a packed row, in their order.
enum class Part : size_t { Q, K, V, IndexQ, IndexK };
inline constexpr size_t kParts = 5;
inline constexpr std::string_view kPartNames[kParts] = {"q", "K", "V", "index_q", "index key"};

/// What a layer passes besides q.
struct Layer {
  bool indexBranch = true;
  bool slots = true;      ///< of K and V
  bool indexSlots = true; ///< of the index key
  bool gemma = true;
};

/// Everything that a launch reads but its slots.
struct Inputs {
  oracle::NormRopeShape shape; ///< of the launch: indexHeads 0 without branch; what it stores
  float eps = 1e-6f;
  std::vector<uint16_t> packed; ///< [rows][heads()][headDim]
  std::vector<int64_t> positions;
  std::vector<float> cosSin; ///< [positions][rotaryDim]
  /// q, K, index_q, index key; at their Part
  std::array<std::vector<uint16_t>, kParts> weights;

  int64_t rows() const { return static_cast<int64_t>(positions.size()); }
  int64_t headDim() const { return shape.store.headDim; }
  int64_t headsOf(Part part) const;
  int64_t firstHead(Part part) const; ///< in the packed row
  int64_t heads() const { return firstHead(Part::IndexK) + headsOf(Part::IndexK); }
  std::span<const uint16_t> head(int64_t row, Part part, int64_t head) const;
  std::span<uint16_t> head(int64_t row, Part part, int64_t head);
  /// W2 of a head, in float64.
  std::vector<oracle::NormRopeValue> normed(int64_t row, Part part, int64_t head) const;
};

/// The same launch with K's heads and weights in the place of the first q heads, and those of the
/// index key in the first index_q head. What it writes there is K and index key before they are
/// quantized, as both run through the same arithmetic.
Inputs showingKeys(Inputs inputs);

/// The rows of an input in reverse.
Inputs reversed(const Inputs &inputs);

/// Inputs, launch after launch.
class InputSource {
public:
  InputSource(const oracle::NormRopeShape &shape, uint64_t seed);

  /// Half of the heads are random; the other half takes every special kind in turn, each part by
  /// itself.
  Inputs make(int64_t rows, Layer layer);
  /// The same, with every head special, V from `groups`, and weights so large that results reach
  /// the end of the dtype.
  Inputs makeSpecial(int64_t rows, Layer layer, kv_store::GroupStream &groups, bool largeWeights);

  /// Kinds of heads besides random ones.
  static size_t kinds();

private:
  oracle::NormRopeShape shape;
  oracle::Random random;
  std::vector<kv_store::Bits16> groups; ///< random ones
  std::array<size_t, kParts> turn{};    ///< of the special kinds

  Inputs empty(int64_t rows, Layer layer, bool largeWeights);
  void fillRandom(std::span<uint16_t> head);
  void fillSpecial(Part part, std::span<uint16_t> head);
};

} // namespace verify::norm_rope

#endif // NVFP4GEN_TOOLS_VERIFY_QKNORMROPEINPUTS_H
