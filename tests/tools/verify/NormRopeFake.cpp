//===- NormRopeFake.cpp - a qk_norm_rope_store that is wrong on purpose -----===//
//
// Owns: what NormRopeFake.h declares.
//
//===------------------------------------------------------------------------===//
#include "tests/tools/verify/NormRopeFake.h"

#include "runtime/include/nvfp4rt_args.h"
#include "tools/oracle/Exact.h"
#include "tools/verify/QkNormRopeInputs.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace fake {

using nvfp4rt::Field;
using nvfp4rt::Relation;
using nvfp4rt::Result;
using oracle::DType;
using verify::norm_rope::Part;
using enum NormRopeFault;

namespace {

using Args = nvfp4rt_qk_norm_rope_store_args;

/// One launch.
class Kernel {
public:
  Kernel(NormRopeFault fault, const verify::norm_rope::Config &config, const Args &args,
         bool isSecond)
      : fault(fault), shape(config.shape), store(config.shape.store), args(args),
        isSecond(isSecond) {}

  void run() {
    uint32_t rows = args.rows;
    if (fault == LastRowDropped && rows > 1)
      --rows;
    for (uint32_t row = 0; row < rows; ++row)
      runRow(row);
    if (fault == NoRowsWriteOne && args.rows == 0)
      *static_cast<uint8_t *>(args.k_payload.base) ^= 1;
    if (fault == InputChanged && args.rows > 0)
      const_cast<uint8_t *>(at(0, shape.qHeads))[3] ^= 1;
  }

private:
  const NormRopeFault fault;
  const oracle::NormRopeShape &shape;
  const oracle::KvStoreShape &store;
  const Args &args;
  const bool isSecond;

  int64_t headBytes() const { return 2 * store.headDim; }
  int64_t firstHead(Part part) const {
    const int64_t index = shape.qHeads + 2 * store.kvHeads;
    return part == Part::Q        ? 0
           : part == Part::K      ? shape.qHeads
           : part == Part::V      ? shape.qHeads + store.kvHeads
           : part == Part::IndexQ ? index
                                  : index + shape.indexHeads;
  }
  /// A head of a packed row.
  const uint8_t *at(uint32_t row, int64_t head) const {
    const int64_t branch = args.index_branch ? shape.indexHeads + 1 : 0;
    const int64_t stride = fault == RowStrideIgnored
                               ? (firstHead(Part::IndexQ) + branch) * headBytes()
                               : args.packed_row_stride;
    int64_t offset = row * stride;
    if (fault == RowOffset32)
      offset = static_cast<uint32_t>(offset);
    return static_cast<const uint8_t *>(args.packed) + offset + head * headBytes();
  }

  float lift(uint16_t bits) const { return static_cast<float>(oracle::value(bits, store.dtype)); }
  std::vector<float> liftAll(const void *from) const {
    std::vector<uint16_t> bits(static_cast<size_t>(store.headDim));
    std::memcpy(bits.data(), from, bits.size() * 2);
    std::vector<float> values;
    for (uint16_t b : bits) {
      float x = lift(b);
      if (fault == SubnormalsFlushed && std::fabs(x) < 0x1p-126f)
        x = 0;
      if (fault == NaNSwallowed && std::isnan(x))
        x = 0;
      values.push_back(x);
    }
    return values;
  }

  uint16_t round(float value) const {
    uint16_t bits = oracle::roundBits(value, store.dtype);
    if (fault == Truncated && std::isfinite(value) && std::fabs(lift(bits)) > std::fabs(value))
      --bits;
    return bits;
  }

  /// rsqrt(mean(x^2) + eps)
  float factor(const std::vector<float> &x, bool isKey) const {
    double sum = 0;
    const size_t count = fault == MeanOfHalf ? x.size() / 2 : x.size();
    for (size_t d = 0; d < count; ++d)
      sum += double(x[d]) * x[d];
    if (fault == SquaresOverflow)
      sum = static_cast<float>(sum);
    const double mean = sum / double(count), eps = fault == EpsIgnored ? 0 : args.eps;
    double result =
        fault == EpsOutsideRoot ? 1 / (std::sqrt(mean) + eps) : 1 / std::sqrt(mean + eps);
    if ((fault == KeysNearlySame && isKey) || (fault == OtherKernel && isSecond))
      result *= 1 + (isSecond ? 0x1p-21 : 0x1p-22);
    return static_cast<float>(result);
  }

  /// W2 of a head, not rounded.
  std::vector<float> norm(const uint8_t *from, const void *weights, uint32_t row,
                          bool isKey) const {
    const std::vector<float> x = liftAll(from), w = liftAll(weights);
    const float by = factor(x, isKey);
    std::vector<float> y, raw;
    for (size_t d = 0; d < x.size(); ++d) {
      raw.push_back(x[d] * by);
      const float weight = w[d] + (fault == OffsetIgnored ? 0.0f : args.weight_offset);
      y.push_back(fault == InfinityKept && std::isinf(x[d]) ? x[d] : raw.back() * weight);
      if (fault == RoundedTwice)
        y.back() = lift(round(y.back()));
    }
    const auto half = static_cast<size_t>(shape.rotaryDim / 2);
    int64_t offset = (args.positions[row] + (fault == NextPosition ? 1 : 0)) * shape.rotaryDim * 4;
    if (fault == PositionOffset32)
      offset = static_cast<uint32_t>(offset);
    const auto *table =
        reinterpret_cast<const float *>(reinterpret_cast<const uint8_t *>(args.cos_sin) + offset);
    std::vector<float> turned = y;
    const size_t pairs = fault == TurnedPast ? x.size() / 2 : half;
    for (size_t i = 0; i < pairs && half > 0; ++i) {
      float cosine = table[i % half], sine = table[half + i % half];
      if (fault == SineFirst)
        std::swap(cosine, sine);
      if (fault == SineSign)
        sine = -sine;
      size_t one = i, two = i + half;
      if (fault == AdjacentPairs) {
        one = 2 * i;
        two = 2 * i + 1;
      }
      if (i >= half) { // TurnedPast
        one = half + i;
        two = 2 * half + i;
        if (two >= x.size())
          break;
      }
      const auto &partner = fault == RawPartner ? raw : y;
      turned[one] = y[one] * cosine - partner[two] * sine;
      turned[two] = y[two] * cosine + partner[one] * sine;
    }
    return turned;
  }

  std::vector<uint16_t> roundAll(const std::vector<float> &values) const {
    std::vector<uint16_t> bits;
    for (float value : values)
      bits.push_back(round(value));
    return bits;
  }

  bool isPadded(int64_t slot, int64_t pages) const {
    return slot < 0 || slot >= pages * store.pageSize;
  }

  void runRow(uint32_t row) {
    // All of a row is read before any of it is written: q may be in place.
    std::vector<std::vector<float>> q, k, v, indexQ, indexK;
    const bool storesK = args.slots && store.storesK, storesV = args.slots && store.storesV;
    const bool storesIndex = args.index_branch && args.index_slots && store.storesIndex;
    for (int64_t h = 0; h < shape.qHeads; ++h)
      q.push_back(norm(at(row, h), args.q_weight, row, false));
    for (int64_t h = 0; h < store.kvHeads; ++h) {
      if (storesK)
        k.push_back(norm(at(row, firstHead(Part::K) + h),
                         fault == WeightsOfQ ? args.q_weight : args.k_weight, row, true));
      if (storesV)
        v.push_back(fault == VNormed && storesK
                        ? norm(at(row, firstHead(Part::V) + h), args.k_weight, row, true)
                        : liftAll(at(row, firstHead(Part::V) + h)));
    }
    if (args.index_branch)
      for (int64_t h = 0; h < shape.indexHeads; ++h)
        indexQ.push_back(
            norm(at(row, firstHead(Part::IndexQ) + h), args.index_q_weight, row, false));
    if (storesIndex)
      indexK.push_back(norm(at(row, firstHead(Part::IndexK)),
                            fault == WeightsOfK && storesK ? args.k_weight : args.index_k_weight,
                            row, true));

    const bool padded = storesK && isPadded(args.slots[row], args.pages);
    const bool indexPadded = storesIndex && isPadded(args.index_slots[row], args.index_pages);
    if (!(fault == PadSkipsQ && padded))
      write(row, q, args.q_out, args.q_out_row_stride, args.q_out_head_stride);
    if (!(fault == PadSkipsIndexQ && indexPadded) &&
        !(fault == NoIndexSlotsNoIndexQ && !args.index_slots))
      write(row, indexQ, args.index_q_out, args.index_q_out_row_stride,
            args.index_q_out_head_stride);
    const int64_t *slots = fault == KAtIndex && storesIndex ? args.index_slots : args.slots;
    for (size_t h = 0; h < k.size(); ++h)
      storeHead(k[h], args.k_payload, args.k_scale, slots[row], args.pages, int64_t(h),
                fault == Unrounded);
    for (size_t h = 0; h < v.size(); ++h)
      storeHead(v[h], args.v_payload, args.v_scale, slots[row], args.pages, int64_t(h), false);
    if (storesIndex && !(fault == NoSlotsNoIndex && !args.slots))
      storeHead(indexK[0], args.index_payload, args.index_scale, args.index_slots[row],
                args.index_pages, 0, false);
  }

  void write(uint32_t row, const std::vector<std::vector<float>> &heads, void *out,
             int64_t rowStride, int64_t headStride) {
    for (size_t h = 0; h < heads.size(); ++h) {
      std::vector<uint16_t> bits = roundAll(heads[h]);
      if (fault == OneUlp && row == 0 && h == 1 && std::isfinite(lift(bits[77])))
        bits[77] ^= 1;
      int64_t offset =
          static_cast<int64_t>(h) * (fault == HeadStrideIgnored ? headBytes() : headStride);
      if (fault == HeadOffset32)
        offset = static_cast<uint32_t>(offset);
      auto *to = static_cast<uint8_t *>(out) + row * rowStride + offset;
      std::memcpy(to, bits.data(), bits.size() * 2);
      if (fault == NextHeadWritten && row == 0 && h + 1 == heads.size())
        to[headBytes()] ^= 1;
    }
  }

  oracle::Number number(float value) const {
    oracle::Number result;
    result.negative = std::signbit(value);
    if (std::isnan(value))
      result.kind = oracle::NumberClass::NaN;
    else if (std::isinf(value))
      result.kind = oracle::NumberClass::Infinity;
    else {
      int exponent;
      const float fraction = std::frexp(std::fabs(value), &exponent);
      result.magnitude = {static_cast<uint32_t>(std::ldexp(fraction, 24)), exponent - 24};
    }
    return result;
  }

  /// F4..F7 on fp32.
  oracle::Group quantizeFloats(std::span<const float> values) const {
    float most = 0;
    for (float value : values)
      most = std::fmax(most, std::fabs(value));
    oracle::Group group;
    group.scale = std::isinf(most) ? oracle::kMaxScale : oracle::scaleOf(number(most).magnitude);
    for (size_t i = 0; i < 16; ++i)
      group.payload[i / 2] |=
          static_cast<uint8_t>(oracle::codeUnder(number(values[i]), group.scale) << (i % 2 * 4));
    return group;
  }

  void storeHead(const std::vector<float> &values, const nvfp4rt_plane &payload,
                 const nvfp4rt_plane &scale, int64_t slot, int64_t pages, int64_t head,
                 bool unrounded) {
    const int64_t total = pages * store.pageSize;
    if (fault == PadWritten && slot == -1)
      slot = total - 1;
    if (fault == WrappedSlot && slot >= 0)
      slot %= total;
    if (isPadded(slot, pages))
      return;
    const std::vector<uint16_t> bits = roundAll(values);
    for (int64_t g = 0; g < store.headDim / 16; ++g) {
      const auto first = static_cast<size_t>(g * 16);
      const oracle::Group group =
          unrounded ? quantizeFloats(std::span(values).subspan(first, 16))
                    : oracle::quantize(std::span<const uint16_t, 16>(bits.data() + first, 16),
                                       store.dtype);
      auto place = [&](const nvfp4rt_plane &plane) {
        int64_t offset = slot / store.pageSize * plane.page_stride;
        if (fault == Offset32)
          offset = static_cast<uint32_t>(offset);
        return static_cast<uint8_t *>(plane.base) + offset +
               slot % store.pageSize * plane.token_stride + (head ? head * plane.head_stride : 0);
      };
      std::memcpy(place(payload) + g * 8, group.payload.data(), 8);
      place(scale)[g] = group.scale;
    }
  }
};

} // namespace

Result<void> NormRopeTarget::launch(const nvfp4rt::Variant &variant,
                                    const nvfp4rt::Request &request, const void *bytes,
                                    size_t size) {
  if (variant.family == "kv_store") {
    nvfp4rt_kv_store_args args;
    auto config = verify::kv_store::readConfig(request);
    if (!config || size != sizeof(args))
      return nvfp4rt::fail(NVFP4RT_ERROR_HIP, "fake kv_store failed");
    std::memcpy(&args, bytes, size);
    oracle::kvStore(config->shape, args);
    if (fault == KvStore && config->shape.storesV)
      for (uint32_t row = 0; row < args.rows; ++row)
        if (const int64_t slot = args.slots[row];
            slot >= 0 && slot < args.pages * config->shape.pageSize)
          static_cast<uint8_t *>(
              args.v_scale.base)[slot / config->shape.pageSize * args.v_scale.page_stride +
                                 slot % config->shape.pageSize * args.v_scale.token_stride] ^= 1;
    return {};
  }
  Args args;
  if (fault == LaunchFails || size != sizeof(args))
    return nvfp4rt::fail(NVFP4RT_ERROR_HIP, "fake launch failed");
  std::memcpy(&args, bytes, size);
  auto config = verify::norm_rope::readConfig(request);
  if (!config)
    return tl::unexpected(config.error());
  // Faults are planted in the model that stores all three.
  const bool planted = config->shape.store.storesV && config->shape.store.dtype == DType::BF16;
  Kernel(planted ? fault : None, *config, args, variant.symbol == "kernel_two").run();
  return {};
}

namespace {

struct Model {
  const char *dtype, *planes, *order;
  int64_t rotaryDim, kvHeads;
};

nvfp4rt::Variant variant(const char *family, std::string name, const char *kernel,
                         const char *phase, int64_t queryLen, int64_t low, int64_t high,
                         const Model &model) {
  nvfp4rt::Variant result;
  result.family = family;
  result.name = std::move(name);
  result.symbol = kernel;
  auto symbol = [&](Field field, std::string_view value) {
    result.guard.terms.push_back(
        {field, Relation::Equal, {nvfp4rt::symbolValue(field, value).value()}});
  };
  auto integer = [&](Field field, int64_t value) {
    result.guard.terms.push_back({field, Relation::Equal, {value}});
  };
  symbol(Field::phase, phase);
  integer(Field::query_len, queryLen);
  result.guard.terms.push_back({Field::requests, Relation::Range, {low, high}});
  symbol(Field::dtype, model.dtype);
  symbol(Field::kv_format, "nvfp4");
  symbol(Field::index_format, "nvfp4");
  integer(Field::kv_heads, model.kvHeads);
  integer(Field::head_dim, 128);
  integer(Field::index_head_dim, 128);
  symbol(Field::planes, model.planes);
  integer(Field::page_size, 16);
  symbol(Field::plane_order, model.order);
  if (result.family == "qk_norm_rope_store") {
    integer(Field::q_heads, 4);
    integer(Field::index_heads, 2);
    integer(Field::rotary_dim, model.rotaryDim);
  }
  return result;
}

} // namespace

nvfp4rt::Manifest normRopeManifest() {
  const Model bf16{"bf16", "kvi", "nhd", 64, 2}, fp16{"fp16", "kvi", "hnd", 128, 4},
      still{"bf16", "ki", "nhd", 0, 1};
  nvfp4rt::Manifest result;
  result.specName = "fake";
  result.arch = "gfx950";
  for (const char *name : {"kernel_one", "kernel_two", "kernel_fp16", "kernel_still", "stores"}) {
    nvfp4rt::Kernel kernel;
    kernel.symbol = name;
    kernel.family = name == std::string_view("stores") ? "kv_store" : "qk_norm_rope_store";
    result.kernels.push_back(kernel);
  }
  const char *family = "qk_norm_rope_store";
  result.variants = {
      variant(family, "decode_b1", "kernel_one", "decode", 1, 1, 1, bf16),
      variant(family, "decode_b4", "kernel_one", "decode", 1, 3, 4, bf16),
      variant(family, "prefill_b4", "kernel_two", "prefill", 0, 4, 4, bf16),
      variant(family, "fp16_verify_b4", "kernel_fp16", "verify", 4, 2, 4, fp16),
      variant(family, "still_decode_b4", "kernel_still", "decode", 1, 3, 4, still),
      variant("kv_store", "kv_decode_b1", "stores", "decode", 1, 1, 1, bf16),
      variant("kv_store", "kv_decode_b4", "stores", "decode", 1, 3, 4, bf16),
      variant("kv_store", "kv_prefill_b4", "stores", "prefill", 0, 4, 4, bf16),
      variant("kv_store", "kv_still_b4", "stores", "decode", 1, 3, 4, still),
  };
  return result;
}

} // namespace fake
