//===- AtomicTests.cpp - atomics on global memory, buffers and LDS ---------===//
//
// v8 = address, v10.. data, v18.. returned old value. Forms that return the old
// value use one address for each lane; the others also let lanes meet where the
// order does not matter.
//
//===------------------------------------------------------------------------===//
#include "tests/emulator/isa/MemoryCases.h"
#include "tests/emulator/isa/Numeric.h"
#include "tests/emulator/isa/Operands.h"

#include "fmt/format.h"

namespace isatest {
namespace {

/// `data` and `data2` as the instruction has them; 32-bit values are zero-extended.
using Update = uint64_t (*)(uint64_t old, uint64_t data, uint64_t data2);

struct Atomic {
  const char *name; ///< after "global_atomic_"
  unsigned bytes;
  Update update;
  bool ordered; ///< lanes on one address would depend on their order
  Type type = Type::B32;
};

uint64_t add32(uint64_t old, uint64_t data, uint64_t) { return uint32_t(old + data); }
uint64_t addF32(uint64_t old, uint64_t data, uint64_t) {
  // Global f32 adds flush denormals.
  return flush32(bitsOf(asF32(flush32(old)) + asF32(flush32(data))));
}
template <const Format &F> uint64_t addPacked(uint64_t old, uint64_t data, uint64_t) {
  auto half = [&](unsigned shift) {
    return encode(F, decode(F, old >> shift & 0xffff) + decode(F, data >> shift & 0xffff));
  };
  return half(0) | half(16) << 16;
}

const Atomic Atomics[] = {
    {"swap", 4, [](uint64_t, uint64_t d, uint64_t) { return d; }, true},
    {"cmpswap", 4, [](uint64_t old, uint64_t d, uint64_t c) { return old == c ? d : old; }, true},
    {"add", 4, add32, false},
    {"sub", 4, [](uint64_t old, uint64_t d, uint64_t) { return uint64_t(uint32_t(old - d)); },
     false},
    {"smin", 4,
     [](uint64_t old, uint64_t d, uint64_t) { return int32_t(d) < int32_t(old) ? d : old; }, false},
    {"smax", 4,
     [](uint64_t old, uint64_t d, uint64_t) { return int32_t(d) > int32_t(old) ? d : old; }, false},
    {"umin", 4, [](uint64_t old, uint64_t d, uint64_t) { return std::min(old, d); }, false},
    {"umax", 4, [](uint64_t old, uint64_t d, uint64_t) { return std::max(old, d); }, false},
    {"and", 4, [](uint64_t old, uint64_t d, uint64_t) { return old & d; }, false},
    {"or", 4, [](uint64_t old, uint64_t d, uint64_t) { return old | d; }, false},
    {"xor", 4, [](uint64_t old, uint64_t d, uint64_t) { return old ^ d; }, false},
    {"inc", 4, [](uint64_t old, uint64_t d, uint64_t) { return old >= d ? 0 : old + 1; }, true},
    {"dec", 4, [](uint64_t old, uint64_t d, uint64_t) { return old == 0 || old > d ? d : old - 1; },
     true},
    {"swap_x2", 8, [](uint64_t, uint64_t d, uint64_t) { return d; }, true},
    {"cmpswap_x2", 8, [](uint64_t old, uint64_t d, uint64_t c) { return old == c ? d : old; },
     true},
    {"add_x2", 8, [](uint64_t old, uint64_t d, uint64_t) { return old + d; }, false},
    {"sub_x2", 8, [](uint64_t old, uint64_t d, uint64_t) { return old - d; }, false},
    {"smin_x2", 8,
     [](uint64_t old, uint64_t d, uint64_t) { return int64_t(d) < int64_t(old) ? d : old; }, false},
    {"smax_x2", 8,
     [](uint64_t old, uint64_t d, uint64_t) { return int64_t(d) > int64_t(old) ? d : old; }, false},
    {"umin_x2", 8, [](uint64_t old, uint64_t d, uint64_t) { return std::min(old, d); }, false},
    {"umax_x2", 8, [](uint64_t old, uint64_t d, uint64_t) { return std::max(old, d); }, false},
    {"and_x2", 8, [](uint64_t old, uint64_t d, uint64_t) { return old & d; }, false},
    {"or_x2", 8, [](uint64_t old, uint64_t d, uint64_t) { return old | d; }, false},
    {"xor_x2", 8, [](uint64_t old, uint64_t d, uint64_t) { return old ^ d; }, false},
    {"add_f32", 4, addF32, true, Type::F32},
    {"add_f64", 8, [](uint64_t old, uint64_t d, uint64_t) { return bitsOf(asF64(old) + asF64(d)); },
     true, Type::F64},
    {"pk_add_f16", 4, addPacked<F16Format>, true, Type::F16x2},
    {"pk_add_bf16", 4, addPacked<BF16Format>, true, Type::BF16x2},
};

/// NaN payloads of a sum are not specified: keep NaNs out of the operands.
uint64_t draw(Type type, Rng &rng) {
  for (;;) {
    const uint64_t bits = scalarValue(type, rng);
    const bool special =
        type == Type::F32      ? !std::isfinite(asF32(bits))
        : type == Type::F64    ? !std::isfinite(asF64(bits))
        : type == Type::F16x2  ? (bits & 0x7c00) == 0x7c00 || (bits >> 16 & 0x7c00) == 0x7c00
        : type == Type::BF16x2 ? (bits & 0x7f80) == 0x7f80 || (bits >> 16 & 0x7f80) == 0x7f80
                               : false;
    if (!special)
      return bits;
  }
}

uint64_t loadSized(const std::vector<uint8_t> &bytes, size_t address, unsigned size) {
  return size == 8 ? loadAt<uint64_t>(bytes, address) : loadAt<uint32_t>(bytes, address);
}
void storeSized(std::vector<uint8_t> &bytes, size_t address, unsigned size, uint64_t value) {
  if (size == 8)
    storeAt(bytes, address, value);
  else
    storeAt(bytes, address, uint32_t(value));
}

std::string range(unsigned first, unsigned dwords) {
  return dwords == 1 ? fmt::format("v{}", first)
                     : fmt::format("v[{}:{}]", first, first + dwords - 1);
}

/// Data and memory of an atomic's case; `meet`: all lanes on 4 addresses.
void fillAtomic(Case &c, const Atomic &a, unsigned displacement, bool meet, bool lds) {
  const Atomic row = a;
  c.fill = [=](Wave &w, Rng &rng) {
    std::vector<uint8_t> &bytes = lds ? w.lds : w.mem;
    for (unsigned lane = 0; lane < Lanes; ++lane) {
      const unsigned slot = meet ? unsigned(rng() % 4) : (lane * 37 + w.index) % Lanes;
      w.v(8, lane) = 512 + slot * row.bytes;
      const uint64_t data = draw(row.type, rng), data2 = draw(row.type, rng);
      const unsigned words = row.bytes / 4;
      for (unsigned i = 0; i < words; ++i) {
        w.v(10 + i, lane) = uint32_t(data >> 32 * i);
        w.v(10 + words + i, lane) = uint32_t(data2 >> 32 * i);
      }
      // Half of the compares succeed.
      const size_t address = w.v(8, lane) + displacement;
      storeSized(bytes, address, row.bytes, lane & 1 ? data2 : draw(row.type, rng));
    }
  };
}

Case globalAtomic(const Atomic &a, const Addressing &mode, bool returns, bool meet) {
  const std::string mnemonic = std::string("global_atomic_") + a.name;
  const bool compares = std::string(a.name).starts_with("cmpswap");
  Case c = memoryCase(mnemonic, mode, a.bytes);
  const unsigned words = a.bytes / 4;
  c.text = mode.before + mnemonic + " " + (returns ? range(18, words) + ", " : "") +
           mode.beforeData + ", " + range(10, compares ? 2 * words : words) + mode.afterData +
           (returns ? " sc0" : "") + "\ns_waitcnt vmcnt(0)" + (meet ? " ; lanes meet" : "");
  fillAtomic(c, a, unsigned(mode.displacement), meet, false);
  const Atomic row = a;
  c.expect = [=](Wave &w) {
    for (unsigned lane = 0; lane < Lanes; ++lane) {
      if (!w.active(lane))
        continue;
      const size_t address = size_t(int64_t(w.v(8, lane)) + mode.displacement);
      const uint64_t old = loadSized(w.mem, address, row.bytes);
      uint64_t data[2] = {w.v(10, lane), w.v(11, lane)};
      if (row.bytes == 8) {
        data[0] = w.v64(10, lane);
        data[1] = w.v64(12, lane);
      }
      storeSized(w.mem, address, row.bytes, row.update(old, data[0], data[1]));
      if (returns)
        for (unsigned i = 0; i < words; ++i)
          w.v(18 + i, lane) = uint32_t(old >> 32 * i);
    }
  };
  return c;
}

//===--- LDS ---------------------------------------------------------------------===//

struct DsAtomic {
  const char *name, *returning;
  unsigned bytes;
  Update update;
  bool ordered;
  Type type = Type::B32;
};

const DsAtomic DsAtomics[] = {
    {"ds_add_u32", "ds_add_rtn_u32", 4, add32, false},
    {"ds_sub_u32", "ds_sub_rtn_u32", 4,
     [](uint64_t o, uint64_t d, uint64_t) { return uint64_t(uint32_t(o - d)); }, false},
    {"ds_min_i32", "ds_min_rtn_i32", 4,
     [](uint64_t o, uint64_t d, uint64_t) { return int32_t(d) < int32_t(o) ? d : o; }, false},
    {"ds_max_i32", "ds_max_rtn_i32", 4,
     [](uint64_t o, uint64_t d, uint64_t) { return int32_t(d) > int32_t(o) ? d : o; }, false},
    {"ds_min_u32", "ds_min_rtn_u32", 4,
     [](uint64_t o, uint64_t d, uint64_t) { return std::min(o, d); }, false},
    {"ds_max_u32", "ds_max_rtn_u32", 4,
     [](uint64_t o, uint64_t d, uint64_t) { return std::max(o, d); }, false},
    {"ds_and_b32", "ds_and_rtn_b32", 4, [](uint64_t o, uint64_t d, uint64_t) { return o & d; },
     false},
    {"ds_or_b32", "ds_or_rtn_b32", 4, [](uint64_t o, uint64_t d, uint64_t) { return o | d; },
     false},
    {"ds_xor_b32", "ds_xor_rtn_b32", 4, [](uint64_t o, uint64_t d, uint64_t) { return o ^ d; },
     false},
    {nullptr, "ds_wrxchg_rtn_b32", 4, [](uint64_t, uint64_t d, uint64_t) { return d; }, true},
    {nullptr, "ds_wrxchg_rtn_b64", 8, [](uint64_t, uint64_t d, uint64_t) { return d; }, true},
    // Compare first, then the new value.
    {"ds_cmpst_b32", "ds_cmpst_rtn_b32", 4,
     [](uint64_t o, uint64_t compare, uint64_t d) { return o == compare ? d : o; }, true},
    {"ds_cmpst_b64", "ds_cmpst_rtn_b64", 8,
     [](uint64_t o, uint64_t compare, uint64_t d) { return o == compare ? d : o; }, true},
    {"ds_add_u64", "ds_add_rtn_u64", 8, [](uint64_t o, uint64_t d, uint64_t) { return o + d; },
     false},
    {"ds_max_u64", "ds_max_rtn_u64", 8,
     [](uint64_t o, uint64_t d, uint64_t) { return std::max(o, d); }, false},
    {"ds_min_i64", "ds_min_rtn_i64", 8,
     [](uint64_t o, uint64_t d, uint64_t) { return int64_t(d) < int64_t(o) ? d : o; }, false},
    // LDS adds follow MODE: denormals are kept here.
    {"ds_add_f32", "ds_add_rtn_f32", 4,
     [](uint64_t o, uint64_t d, uint64_t) { return bitsOf(asF32(o) + asF32(d)); }, true, Type::F32},
};

Case dsAtomic(const DsAtomic &a, bool returns, bool meet) {
  const std::string mnemonic = returns ? a.returning : a.name;
  const unsigned words = a.bytes / 4;
  const bool compares = mnemonic.find("cmpst") != std::string::npos;
  Case c;
  c.mnemonic = mnemonic;
  c.ldsBytes = 2048;
  c.text = mnemonic + " " + (returns ? range(18, words) + ", " : "") + "v8, " + range(10, words) +
           (compares ? ", " + range(10 + words, words) : "") + " offset:64\ns_waitcnt lgkmcnt(0)" +
           (meet ? " ; lanes meet" : "");
  const Atomic shape{a.name, a.bytes, a.update, a.ordered, a.type};
  fillAtomic(c, shape, 64, meet, true);
  if (compares)
    // The filled memory equals the second operand, the new value: make it the first for half.
    c.fill = [base = c.fill, words](Wave &w, Rng &rng) {
      base(w, rng);
      for (unsigned lane = 1; lane < Lanes; lane += 2)
        for (unsigned i = 0; i < words; ++i)
          std::swap(w.v(10 + i, lane), w.v(10 + words + i, lane));
    };
  c.expect = [=](Wave &w) {
    for (unsigned lane = 0; lane < Lanes; ++lane) {
      if (!w.active(lane))
        continue;
      const size_t address = w.v(8, lane) + 64;
      const uint64_t old = loadSized(w.lds, address, shape.bytes);
      const uint64_t data = words == 2 ? w.v64(10, lane) : w.v(10, lane);
      const uint64_t data2 = words == 2 ? w.v64(12, lane) : w.v(11, lane);
      storeSized(w.lds, address, shape.bytes, shape.update(old, data, data2));
      if (returns)
        for (unsigned i = 0; i < words; ++i)
          w.v(18 + i, lane) = uint32_t(old >> 32 * i);
    }
  };
  return c;
}

const SuiteRegistrar registrar("Atomic", [](Suite &suite) {
  for (const Atomic &a : Atomics)
    for (const Addressing &mode : globalAddressing())
      for (bool returns : {false, true}) {
        suite.add(globalAtomic(a, mode, returns, false));
        if (!returns && !a.ordered)
          suite.add(globalAtomic(a, mode, false, true));
      }
  for (const DsAtomic &a : DsAtomics) {
    suite.add(dsAtomic(a, true, false));
    if (!a.name)
      continue;
    suite.add(dsAtomic(a, false, false));
    if (!a.ordered)
      suite.add(dsAtomic(a, false, true));
  }
});

} // namespace
} // namespace isatest
