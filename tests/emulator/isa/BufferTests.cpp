//===- BufferTests.cpp - buffer instructions and loads into LDS ------------===//
//
// The resource in s[16:19] covers the wave's memory. v8 = byte offset or index,
// v10..v13 data, v18..v21 result.
//
//===------------------------------------------------------------------------===//
#include "tests/emulator/isa/Harness.h"
#include "tests/emulator/isa/Numeric.h"

#include "fmt/format.h"
#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"

namespace isatest {
namespace {

constexpr unsigned MemBytes = 4096;

/// s[16:19]: base s[12:13], stride in w1[29:16], size in w2.
std::string resource(unsigned records, unsigned stride = 0) {
  return fmt::format("s_mov_b32 s16, s12\ns_or_b32 s17, s13, {:#x}\ns_mov_b32 s18, {:#x}\n"
                     "s_mov_b32 s19, 0x27000\ns_cmp_lg_u32 s62, 0\n",
                     stride << 16, records);
}

struct Transfer {
  const char *name;
  unsigned bytes;
  bool store, sign;
};
const Transfer Transfers[] = {
    {"buffer_load_ubyte", 1, false, false},    {"buffer_load_sbyte", 1, false, true},
    {"buffer_load_ushort", 2, false, false},   {"buffer_load_sshort", 2, false, true},
    {"buffer_load_dword", 4, false, false},    {"buffer_load_dwordx2", 8, false, false},
    {"buffer_load_dwordx3", 12, false, false}, {"buffer_load_dwordx4", 16, false, false},
    {"buffer_store_byte", 1, true, false},     {"buffer_store_short", 2, true, false},
    {"buffer_store_dword", 4, true, false},    {"buffer_store_dwordx2", 8, true, false},
    {"buffer_store_dwordx3", 12, true, false}, {"buffer_store_dwordx4", 16, true, false},
};

struct Form {
  const char *operands; ///< after the data: vaddr, resource, soffset, flags
  unsigned imm;
  bool usesV, usesS;
};
const Form Forms[] = {
    {"v8, s[16:19], 0 offen", 0, true, false},
    {"v8, s[16:19], 0 offen offset:64", 64, true, false},
    {"v8, s[16:19], s33 offen offset:8", 8, true, true},
    {"off, s[16:19], s33 offset:128", 128, false, true},
};

/// In range, or each dword (or the narrow value) for itself 0 and not stored. `offset`, of the lane
/// and the immediate, wraps; what is added to it does not.
void applyTransfer(Wave &w, const Transfer &t, unsigned lane, uint32_t offset, uint32_t records,
                   uint64_t soffset) {
  const unsigned piece = std::min(t.bytes, 4u);
  for (unsigned i = 0; i < t.bytes; i += piece) {
    const size_t address = offset + soffset + i;
    const bool inRange = address + piece <= records;
    if (t.store) {
      for (unsigned b = 0; b < piece && inRange; ++b)
        w.mem.at(address + b) = uint8_t(w.v(10 + i / 4, lane) >> 8 * b);
      continue;
    }
    uint32_t value = 0;
    for (unsigned b = 0; b < piece && inRange; ++b)
      value |= uint32_t(w.mem.at(address + b)) << 8 * b;
    if (t.sign)
      value = uint32_t(int32_t(value << (32 - 8 * piece)) >> (32 - 8 * piece));
    w.v(18 + i / 4, lane) = value;
  }
}

std::string registers(unsigned first, unsigned bytes) {
  const unsigned count = bytes <= 4 ? 1 : bytes / 4;
  return count == 1 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + count - 1);
}

void addTransfers(Suite &suite) {
  for (const Transfer &t : Transfers)
    for (const Form &form : Forms)
      for (unsigned records : {MemBytes, 1100u, 0u}) {
        // All lanes of the last form store to one address: leave one lane.
        const bool oneLane = !form.usesV;
        Case c;
        c.mnemonic = t.name;
        c.memBytes = MemBytes;
        c.text = resource(records) + t.name + " " + registers(t.store ? 10 : 18, t.bytes) + ", " +
                 form.operands + "\ns_waitcnt vmcnt(0)";
        const unsigned align = std::min(t.bytes, 4u);
        c.fill = [=](Wave &w, Rng &rng) {
          for (unsigned lane = 0; lane < Lanes; ++lane)
            w.v(8, lane) = (lane * 29 + w.index) % Lanes * 20 / align * align;
          w.s(33) = uint32_t(rng() % 16) * 4;
          if (form.usesS && records != MemBytes && w.index % 4 == 3)
            w.s(33) = 0xfffffff0;
          if (oneLane)
            w.exec = 1ull << (rng() & 63);
          else if (records == MemBytes)
            return;
          else
            w.v(8, 7) = 0xfffffff0; // far out of range
        };
        c.expect = [=](Wave &w) {
          for (unsigned lane = 0; lane < Lanes; ++lane)
            if (w.active(lane))
              applyTransfer(w, t, lane, form.imm + (form.usesV ? w.v(8, lane) : 0), records,
                            form.usesS ? w.s(33) : 0);
        };
        suite.add(c);
      }
}

/// With a stride the index is checked against the number of records.
void addIndexed(Suite &suite) {
  for (bool offen : {false, true}) {
    Case c;
    c.mnemonic = "buffer_load_dword";
    c.memBytes = MemBytes;
    c.text = resource(/*records=*/48, /*stride=*/16) +
             (offen ? "v_mov_b32_e32 v24, v8\nv_mov_b32_e32 v25, 4\n"
                      "buffer_load_dword v18, v[24:25], s[16:19], 0 idxen offen offset:8"
                    : "buffer_load_dword v18, v8, s[16:19], 0 idxen offset:8") +
             "\ns_waitcnt vmcnt(0)";
    c.fill = [](Wave &w, Rng &rng) {
      for (unsigned lane = 0; lane < Lanes; ++lane)
        w.v(8, lane) = uint32_t(rng() % 64);
    };
    c.expect = [offen](Wave &w) {
      for (unsigned lane = 0; lane < Lanes; ++lane)
        if (w.active(lane))
          w.v(18, lane) = w.v(8, lane) < 48
                              ? loadAt<uint32_t>(w.mem, w.v(8, lane) * 16 + 8 + (offen ? 4 : 0))
                              : 0;
    };
    suite.add(c);
  }
}

TEST(BufferResource, ThatDependsOnTheLaneIsRefused) {
  for (const char *flags : {"s_bitset1_b32 s17, 31", "s_bitset1_b32 s19, 23"}) {
    Case c;
    c.mnemonic = "buffer_load_dword";
    c.memBytes = MemBytes;
    c.text = resource(MemBytes) + flags + "\nbuffer_load_dword v18, v8, s[16:19], 0 offen";
    c.expect = [](Wave &) {};
    const std::vector<Case> cases{c};
    EXPECT_NONFATAL_FAILURE(runCases("refused", cases), "swizzles or adds the lane");
  }
}

void addAtomics(Suite &suite) {
  struct Row {
    const char *name;
    uint32_t (*update)(uint32_t old, uint32_t data);
    bool isFloat;
  };
  for (const Row &row :
       {Row{"buffer_atomic_add", [](uint32_t o, uint32_t d) { return o + d; }, false},
        Row{"buffer_atomic_smax",
            [](uint32_t o, uint32_t d) { return int32_t(d) > int32_t(o) ? d : o; }, false},
        Row{"buffer_atomic_swap", [](uint32_t, uint32_t d) { return d; }, false},
        Row{"buffer_atomic_add_f32",
            [](uint32_t o, uint32_t d) {
              return uint32_t(flush32(bitsOf(asF32(flush32(o)) + asF32(flush32(d)))));
            },
            true}})
    for (bool returns : {false, true})
      for (unsigned records : {MemBytes, 700u}) {
        Case c;
        c.mnemonic = row.name;
        c.memBytes = MemBytes;
        c.text = resource(records) + row.name + " v10, v8, s[16:19], 0 offen offset:16" +
                 (returns ? " sc0" : "") + "\ns_waitcnt vmcnt(0)";
        c.fill = [row](Wave &w, Rng &rng) {
          for (unsigned lane = 0; lane < Lanes; ++lane) {
            w.v(8, lane) = (lane * 29 + w.index) % Lanes * 12;
            if (!row.isFloat)
              continue;
            w.v(10, lane) = uint32_t(bitsOf(float(int(rng() % 20001) - 10000) / 64));
            storeAt(w.mem, w.v(8, lane) + 16, float(int(rng() % 20001) - 10000) / 64);
          }
        };
        c.expect = [=](Wave &w) {
          for (unsigned lane = 0; lane < Lanes; ++lane) {
            if (!w.active(lane))
              continue;
            const size_t address = w.v(8, lane) + 16;
            const bool inRange = address + 4 <= records;
            const uint32_t old = inRange ? loadAt<uint32_t>(w.mem, address) : 0;
            if (inRange)
              storeAt(w.mem, address, row.update(old, w.v(10, lane)));
            if (returns)
              w.v(10, lane) = old;
          }
        };
        suite.add(c);
      }
}

/// LDS address = M0 + immediate + lane * size; narrow loads take a dword each. Inactive lanes leave
/// their slot.
void addLdsLoads(Suite &suite) {
  struct Row {
    const char *suffix;
    unsigned bytes;
    bool sign;
  };
  for (const Row &row : {Row{"dword", 4, false},
                         {"dwordx3", 12, false},
                         {"dwordx4", 16, false},
                         {"ubyte", 1, false},
                         {"sbyte", 1, true},
                         {"ushort", 2, false},
                         {"sshort", 2, true}})
    for (unsigned imm : {0u, 32u}) {
      const unsigned slot = std::max(row.bytes, 4u);
      auto expect = [=](Wave &w, uint64_t imm2) {
        const uint32_t base = 256;
        for (unsigned lane = 0; lane < Lanes; ++lane) {
          if (!w.active(lane))
            continue;
          const size_t from = w.v(8, lane) + imm2, to = base + imm2 + lane * slot;
          if (row.bytes >= 4) {
            for (unsigned i = 0; i < row.bytes; ++i)
              w.lds.at(to + i) = w.mem.at(from + i);
            continue;
          }
          uint32_t value = w.mem.at(from);
          if (row.bytes == 2)
            value |= uint32_t(w.mem.at(from + 1)) << 8;
          if (row.sign)
            value = row.bytes == 1 ? uint32_t(int32_t(int8_t(value)))
                                   : uint32_t(int32_t(int16_t(value)));
          storeAt(w.lds, to, value);
        }
        w.m0 = base;
      };
      auto make = [&](const std::string &mnemonic, const std::string &before,
                      const std::string &operands) {
        Case c;
        c.mnemonic = mnemonic;
        c.memBytes = 2048;
        c.ldsBytes = 2048;
        c.text = before + "s_movk_i32 m0, 0x100\n" + mnemonic + " " + operands +
                 (imm ? fmt::format(" offset:{}", imm) : "") + (mnemonic[0] == 'b' ? " lds" : "") +
                 "\ns_waitcnt vmcnt(0)";
        c.fill = [](Wave &w, Rng &rng) {
          for (unsigned lane = 0; lane < Lanes; ++lane)
            w.v(8, lane) = uint32_t(rng() % 400) * 4;
        };
        c.expect = [expect, imm](Wave &w) { expect(w, imm); };
        suite.add(c);
      };
      make(std::string("global_load_lds_") + row.suffix, "", "v8, s[12:13]");
      make(std::string("buffer_load_") + row.suffix, resource(2048), "v8, s[16:19], 0 offen");
    }
}

const SuiteRegistrar registrar("Buffer", [](Suite &suite) {
  addTransfers(suite);
  addIndexed(suite);
  addAtomics(suite);
  addLdsLoads(suite);
});

} // namespace
} // namespace isatest
