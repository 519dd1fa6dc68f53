//===- Operands.cpp - operand types and the values that tables walk through -===//
#include "tests/emulator/isa/Operands.h"

namespace isatest {
namespace {

std::vector<uint64_t> pairs(const std::vector<uint64_t> &values, unsigned shift) {
  std::vector<uint64_t> out;
  for (size_t i = 0; i < values.size(); ++i)
    out.push_back(values[i] | values[(i * 7 + 3) % values.size()] << shift);
  return out;
}

const std::vector<uint64_t> F32Edges{
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, // +-0, +-1
    0x00000001, 0x807fffff, 0x00800000, 0x80800001, // denormals, least normals
    0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, // inf, quiet NaN
    0x7f800001, 0x7f7fffff, 0xff7fffff, 0x3f000000, // signalling NaN, largest, 0.5
    0x3fc00000, 0x40200000, 0xc0600000, 0x4b000001, // 1.5, 2.5, -3.5, 2^23+1
    0x4f000000, 0xcf000000, 0x4f7fffff, 0x3f7fffff, // 2^31, -2^31, near 2^32, just below 1
    0x477fefff, 0x477ff000,                         // rounds to the largest f16, to infinity
};

const std::vector<uint64_t> F16Edges{
    0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x83ff, 0x0400, 0x8401, 0x7c00, 0xfc00, 0x7e00,
    0xfe01, 0x7d00, 0x7bff, 0xfbff, 0x3800, 0x3e00, 0x4100, 0xc300, 0x6401, 0x3bff,
};

const std::vector<uint64_t> BF16Edges{
    0x0000, 0x8000, 0x3f80, 0xbf80, 0x0001, 0x807f, 0x0080, 0x8081, 0x7f80,
    0xff80, 0x7fc0, 0x7f81, 0x7f7f, 0xff7f, 0x3f00, 0x3fc0, 0x4020,
};

const std::vector<uint64_t> B32Edges{
    0,          1,          2,          0xffffffff, 0xfffffffe, 0x80000000, 0x7fffffff,
    0x80000001, 0x0000ffff, 0xffff0000, 0x00ff00ff, 0xaaaaaaaa, 0x00010000, 0x00007fff,
    0xffff8000, 0x00800000, 0xff800000, 0x007fffff, 31,         32,         0x55555555,
};

const std::vector<uint64_t> B16Edges{0,      1,      2,      0xffff, 0xfffe, 0x8000,
                                     0x7fff, 0x8001, 0x00ff, 0xff00, 0x5555, 15};

const std::vector<uint64_t> B64Edges{
    0,
    1,
    2,
    0xffffffff,
    0x100000000,
    0xffffffffffffffff,
    0xfffffffffffffffe,
    0x8000000000000000,
    0x7fffffffffffffff,
    0x8000000000000001,
    0x80000000,
    0xffffffff00000000,
    0xaaaaaaaaaaaaaaaa,
    63,
};

const std::vector<uint64_t> ShiftEdges{0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 0x80000003, 0x00010010};

const std::vector<uint64_t> F64Edges{
    0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
    0x0000000000000001, 0x800fffffffffffff, 0x0010000000000000, 0x8010000000000001,
    0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000012345,
    0x7ff0000000000001, 0x7fefffffffffffff, 0xffefffffffffffff, 0x3fe0000000000000,
    0x3ff8000000000000, 0x4004000000000000, 0xc00c000000000000, 0x41e0000000000000,
    0xc1e0000000000000, 0x41efffffffe00000, 0x47efffffe0000000, 0x380fffffffffffff,
};

} // namespace

bool isWide(Type type) { return type == Type::B64 || type == Type::F64 || type == Type::F32x2; }

bool isFloat(Type type) { return type >= Type::F32; }

unsigned widthOf(Type type) {
  if (type == Type::B16 || type == Type::F16)
    return 16;
  return isWide(type) ? 64 : 32;
}

uint64_t signMask(Type type) {
  switch (type) {
  case Type::F32:
    return 1ull << 31;
  case Type::F64:
    return 1ull << 63;
  case Type::F16:
    return 1ull << 15;
  case Type::F16x2:
  case Type::BF16x2:
    return 0x80008000;
  case Type::F32x2:
    return 0x8000000080000000;
  default:
    return 0;
  }
}

const std::vector<uint64_t> &edges(Type type) {
  static const std::vector<uint64_t> b16x2 = pairs(B16Edges, 16), f16x2 = pairs(F16Edges, 16),
                                     bf16x2 = pairs(BF16Edges, 16), f32x2 = pairs(F32Edges, 32);
  switch (type) {
  case Type::B32:
    return B32Edges;
  case Type::B64:
    return B64Edges;
  case Type::B16:
    return B16Edges;
  case Type::B16x2:
    return b16x2;
  case Type::Shift:
    return ShiftEdges;
  case Type::F32:
    return F32Edges;
  case Type::F64:
    return F64Edges;
  case Type::F16:
    return F16Edges;
  case Type::F16x2:
    return f16x2;
  case Type::BF16x2:
    return bf16x2;
  case Type::F32x2:
    return f32x2;
  }
  return B32Edges;
}

uint64_t scalarValue(Type type, Rng &rng) {
  const std::vector<uint64_t> &pool = edges(type);
  const uint64_t random = rng();
  if (random & 1)
    return pool[(random >> 8) % pool.size()];
  // Floats that are neither huge nor tiny: results stay in range and round.
  if (type == Type::F32 && random & 2)
    return (rng() & 0x807fffff) | (100 + (random >> 8) % 56) << 23;
  if (type == Type::F64 && random & 2)
    return (rng() & 0x800fffffffffffff) | (990 + (random >> 8) % 64) << 52;
  return rng() & (isWide(type) ? ~0ull : 0xffffffffull);
}

uint64_t value(Type type, unsigned operand, unsigned index, Rng &rng) {
  const std::vector<uint64_t> &pool = edges(type);
  const uint64_t high = rng() << 16 & 0xffff0000; // the unread half of 16-bit operands
  const uint64_t extra = widthOf(type) == 16 ? high : 0;
  if (index < pool.size() * pool.size() && operand < 2)
    return pool[operand == 0 ? index % pool.size() : index / pool.size()] | extra;
  const uint64_t drawn = scalarValue(type, rng);
  return widthOf(type) == 16 ? (drawn & 0xffff) | extra : drawn;
}

const std::vector<Constant> &inlineConstants(Type type) {
  static const std::vector<Constant> integers{
      {"0", 0}, {"64", 64}, {"-1", 0xffffffff}, {"-16", 0xfffffff0}, {"17", 17}};
  static const std::vector<Constant> integers16{
      {"0", 0}, {"64", 64}, {"-1", 0xffff}, {"-16", 0xfff0}};
  static const std::vector<Constant> integers64{
      {"0", 0}, {"64", 64}, {"-1", ~0ull}, {"-16", ~0ull - 15}};
  static const std::vector<Constant> f32{{"1.0", 0x3f800000},
                                         {"-0.5", 0xbf000000},
                                         {"4.0", 0x40800000},
                                         {"-2.0", 0xc0000000},
                                         {"0.15915494", 0x3e22f983},
                                         {"0", 0},
                                         {"3", 3}};
  static const std::vector<Constant> f16{
      {"1.0", 0x3c00}, {"-0.5", 0xb800}, {"4.0", 0x4400}, {"0.15915494", 0x3118}, {"0", 0}};
  static const std::vector<Constant> f64{{"1.0", 0x3ff0000000000000},
                                         {"-0.5", 0xbfe0000000000000},
                                         {"0.15915494309189532", 0x3fc45f306dc9c882},
                                         {"0", 0}};
  static const std::vector<Constant> none;
  switch (type) {
  case Type::B32:
  case Type::Shift:
    return integers;
  case Type::B16:
    return integers16;
  case Type::B64:
    return integers64;
  case Type::F32:
    return f32;
  case Type::F16:
    return f16;
  case Type::F64:
    return f64;
  default:
    return none;
  }
}

const Constant *literal(Type type) {
  static const Constant b32{"0x12345678", 0x12345678}, b16{"0x1234", 0x1234},
      f32{"0x40490fdb", 0x40490fdb}, f16{"0x4248", 0x4248},
      f64{"0x40091eb8", 0x40091eb800000000}; // a literal is the high half
  switch (type) {
  case Type::B32:
  case Type::Shift:
    return &b32;
  case Type::B16:
    return &b16;
  case Type::F32:
    return &f32;
  case Type::F16:
    return &f16;
  case Type::F64:
    return &f64;
  default:
    return nullptr;
  }
}

} // namespace isatest
