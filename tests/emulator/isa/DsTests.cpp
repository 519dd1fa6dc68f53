//===- DsTests.cpp - LDS loads, stores, lane permutes ----------------------===//
//
// v8 = address, v10..v13 and v14..v17 data, v18..v21 result. The LDS image is
// 2 KiB; stores of a wave go to distinct addresses.
//
//===------------------------------------------------------------------------===//
#include "tests/emulator/isa/Harness.h"

#include "fmt/format.h"

namespace isatest {
namespace {

constexpr unsigned LdsBytes = 2048, Address = 8, Data0 = 10, Data1 = 14, Result = 18;

/// Distinct addresses, one for each lane, `stride` apart.
void scatter(Wave &w, Rng &rng, unsigned stride) {
  const unsigned turn = unsigned(rng() & 63), flip = unsigned(rng() & 63);
  for (unsigned lane = 0; lane < Lanes; ++lane)
    w.v(Address, lane) = ((lane ^ flip) + turn) % Lanes * stride;
}

Case make(const char *mnemonic, const std::string &operands, unsigned stride,
          std::function<void(Wave &, unsigned lane, uint32_t address)> effect) {
  Case c;
  c.mnemonic = mnemonic;
  c.text = std::string(mnemonic) + " " + operands + "\ns_waitcnt lgkmcnt(0)";
  c.ldsBytes = LdsBytes;
  c.fill = [stride](Wave &w, Rng &rng) { scatter(w, rng, stride); };
  c.expect = [effect](Wave &w) {
    for (unsigned lane = 0; lane < Lanes; ++lane)
      if (w.active(lane))
        effect(w, lane, w.v(Address, lane));
  };
  return c;
}

template <typename T> uint32_t extended(const Wave &w, size_t address) {
  return uint32_t(int32_t(loadAt<T>(w.lds, address)));
}

void addReads(Suite &suite) {
  for (unsigned offset : {0u, 4u, 800u}) {
    auto narrow = [&](const char *name, uint32_t (*load)(const Wave &, size_t)) {
      // Byte and halfword addresses need not be dword aligned.
      const unsigned stride = std::string(name).ends_with('8') ? 7 : 6;
      suite.add(make(name, fmt::format("v18, v8 offset:{}", offset), stride,
                     [=](Wave &w, unsigned lane, uint32_t address) {
                       w.v(Result, lane) = load(w, address + offset);
                     }));
    };
    narrow("ds_read_u8", extended<uint8_t>);
    narrow("ds_read_i8", extended<int8_t>);
    narrow("ds_read_u16", extended<uint16_t>);
    narrow("ds_read_i16", extended<int16_t>);
    auto wide = [&](const char *name, unsigned dwords, unsigned stride) {
      const std::string dst = dwords == 1 ? "v18" : fmt::format("v[18:{}]", 18 + dwords - 1);
      suite.add(make(name, fmt::format("{}, v8 offset:{}", dst, offset / 16 * 16), stride,
                     [=](Wave &w, unsigned lane, uint32_t address) {
                       for (unsigned i = 0; i < dwords; ++i)
                         w.v(Result + i, lane) =
                             loadAt<uint32_t>(w.lds, address + offset / 16 * 16 + 4 * i);
                     }));
    };
    wide("ds_read_b32", 1, 4);
    wide("ds_read_b64", 2, 8);
    wide("ds_read_b96", 3, 16);
    wide("ds_read_b128", 4, 16);
  }
  auto half = [&](const char *name, bool high, uint16_t (*load)(const Wave &, size_t)) {
    suite.add(make(name, "v18, v8 offset:3", 6, [=](Wave &w, unsigned lane, uint32_t address) {
      const uint32_t old = w.v(Result, lane), value = load(w, address + 3);
      w.v(Result, lane) = high ? (old & 0xffff) | value << 16 : (old & 0xffff0000) | value;
    }));
  };
  half("ds_read_u8_d16", false,
       [](const Wave &w, size_t a) { return uint16_t(loadAt<uint8_t>(w.lds, a)); });
  half("ds_read_u8_d16_hi", true,
       [](const Wave &w, size_t a) { return uint16_t(loadAt<uint8_t>(w.lds, a)); });
  half("ds_read_i8_d16", false,
       [](const Wave &w, size_t a) { return uint16_t(int16_t(loadAt<int8_t>(w.lds, a))); });
}

void addWrites(Suite &suite) {
  for (unsigned offset : {0u, 16u, 1008u}) {
    auto store = [&](const char *name, const char *data, unsigned stride,
                     void (*write)(Wave &, unsigned lane, size_t address)) {
      suite.add(make(
          name, fmt::format("v8, {} offset:{}", data, offset), stride,
          [=](Wave &w, unsigned lane, uint32_t address) { write(w, lane, address + offset); }));
    };
    store("ds_write_b8", "v10", 5, [](Wave &w, unsigned lane, size_t address) {
      storeAt(w.lds, address, uint8_t(w.v(Data0, lane)));
    });
    store("ds_write_b16", "v10", 6, [](Wave &w, unsigned lane, size_t address) {
      storeAt(w.lds, address, uint16_t(w.v(Data0, lane)));
    });
    store("ds_write_b16_d16_hi", "v10", 6, [](Wave &w, unsigned lane, size_t address) {
      storeAt(w.lds, address, uint16_t(w.v(Data0, lane) >> 16));
    });
    store("ds_write_b8_d16_hi", "v10", 5, [](Wave &w, unsigned lane, size_t address) {
      storeAt(w.lds, address, uint8_t(w.v(Data0, lane) >> 16));
    });
    store("ds_write_b32", "v10", 12, [](Wave &w, unsigned lane, size_t address) {
      storeAt(w.lds, address, w.v(Data0, lane));
    });
    store("ds_write_b64", "v[10:11]", 16, [](Wave &w, unsigned lane, size_t address) {
      storeAt(w.lds, address, w.v64(Data0, lane));
    });
    store("ds_write_b96", "v[10:12]", 16, [](Wave &w, unsigned lane, size_t address) {
      for (unsigned i = 0; i < 3; ++i)
        storeAt(w.lds, address + 4 * i, w.v(Data0 + i, lane));
    });
    store("ds_write_b128", "v[10:13]", 16, [](Wave &w, unsigned lane, size_t address) {
      for (unsigned i = 0; i < 4; ++i)
        storeAt(w.lds, address + 4 * i, w.v(Data0 + i, lane));
    });
  }
}

/// Two addresses: base + offsetN * element size, times 64 for the st64 forms.
void addPairs(Suite &suite) {
  struct Row {
    const char *read, *write;
    unsigned bytes, unit;
  };
  for (const Row &row : {Row{"ds_read2_b32", "ds_write2_b32", 4, 4},
                         {"ds_read2st64_b32", "ds_write2st64_b32", 4, 256},
                         {"ds_read2_b64", "ds_write2_b64", 8, 8},
                         {"ds_read2st64_b64", "ds_write2st64_b64", 8, 512}}) {
    struct Offsets {
      unsigned first, second;
    };
    const unsigned reach = (LdsBytes - Lanes * 8) / row.unit - 1;
    for (Offsets offsets : {Offsets{0, 1}, {2, 0}, {std::min(reach, 100u), 1}}) {
      const unsigned words = row.bytes / 4;
      suite.add(make(row.read,
                     fmt::format("v[18:{}], v8 offset0:{} offset1:{}", 18 + 2 * words - 1,
                                 offsets.first, offsets.second),
                     row.bytes, [=](Wave &w, unsigned lane, uint32_t address) {
                       for (unsigned i = 0; i < words; ++i) {
                         w.v(Result + i, lane) =
                             loadAt<uint32_t>(w.lds, address + offsets.first * row.unit + 4 * i);
                         w.v(Result + words + i, lane) =
                             loadAt<uint32_t>(w.lds, address + offsets.second * row.unit + 4 * i);
                       }
                     }));
      Case c = make(
          row.write,
          fmt::format("v8, {}, {} offset0:{} offset1:{}", words == 1 ? "v10" : "v[10:11]",
                      words == 1 ? "v14" : "v[14:15]", offsets.first, offsets.second),
          row.bytes, [=](Wave &w, unsigned lane, uint32_t address) {
            for (unsigned i = 0; i < words; ++i) {
              storeAt(w.lds, address + offsets.first * row.unit + 4 * i, w.v(Data0 + i, lane));
              storeAt(w.lds, address + offsets.second * row.unit + 4 * i, w.v(Data1 + i, lane));
            }
          });
      // No two stores of the wave may meet: lanes whose elements an earlier one has are off.
      c.fill = [=](Wave &w, Rng &rng) {
        scatter(w, rng, row.bytes);
        std::set<uint32_t> taken;
        for (unsigned lane = 0; lane < Lanes; ++lane) {
          const uint32_t first = w.v(Address, lane) + offsets.first * row.unit;
          const uint32_t second = w.v(Address, lane) + offsets.second * row.unit;
          if (taken.count(first) || taken.count(second))
            w.exec &= ~(1ull << lane);
          else if (w.active(lane))
            taken.insert({first, second});
        }
      };
      suite.add(c);
    }
  }
}

//===--- transposed reads ------------------------------------------------------===//

/// In each group of 16 lanes the elements that plain reads would give form a matrix of 16 columns,
/// row by row in lane order; lane c receives column c.
void addTransposed(Suite &suite, const char *mnemonic, unsigned bits, unsigned dwords) {
  Case c;
  c.mnemonic = mnemonic;
  c.ldsBytes = LdsBytes;
  c.text =
      fmt::format("{} v[18:{}], v8 offset:16\ns_waitcnt lgkmcnt(0)", mnemonic, 18 + dwords - 1);
  c.fill = [dwords](Wave &w, Rng &rng) {
    scatter(w, rng, 4 * dwords);
    w.exec = ~0ull;
  };
  c.expect = [=](Wave &w) {
    const unsigned perLane = 32 * dwords / bits;
    auto element = [&](unsigned lane, unsigned e) {
      uint32_t value = 0;
      for (unsigned bit = 0; bit < bits; ++bit) {
        const unsigned position = e * bits + bit;
        value |= uint32_t(w.lds.at(w.v(Address, lane) + 16 + position / 8) >> position % 8 & 1)
                 << bit;
      }
      return value;
    };
    for (unsigned lane = 0; lane < Lanes; ++lane) {
      for (unsigned i = 0; i < dwords; ++i)
        w.v(Result + i, lane) = 0;
      for (unsigned row = 0; row < perLane; ++row) {
        const unsigned n = row * 16 + lane % 16;
        const uint32_t value = element(lane / 16 * 16 + n / perLane, n % perLane);
        for (unsigned bit = 0; bit < bits; ++bit) {
          const unsigned position = row * bits + bit;
          w.v(Result + position / 32, lane) |= (value >> bit & 1) << position % 32;
        }
      }
    }
  };
  suite.add(c);
}

//===--- permutes ----------------------------------------------------------------===//

void addPermutes(Suite &suite) {
  for (unsigned offset : {0u, 8u, 252u}) {
    auto fill = [](Wave &w, Rng &rng) {
      for (unsigned lane = 0; lane < Lanes; ++lane)
        w.v(Address, lane) = uint32_t(rng() & 0x3ff);
    };
    Case pull;
    pull.mnemonic = "ds_bpermute_b32";
    pull.text = fmt::format("ds_bpermute_b32 v18, v8, v10 offset:{}\ns_waitcnt lgkmcnt(0)", offset);
    pull.fill = fill;
    pull.expect = [offset](Wave &w) {
      for (unsigned lane = 0; lane < Lanes; ++lane)
        if (w.active(lane)) {
          const unsigned source = (w.v(Address, lane) + offset) / 4 % 64;
          w.v(Result, lane) = w.active(source) ? w.v(Data0, source) : 0;
        }
    };
    suite.add(pull);
    Case push;
    push.mnemonic = "ds_permute_b32";
    push.text = fmt::format("ds_permute_b32 v18, v8, v10 offset:{}\ns_waitcnt lgkmcnt(0)", offset);
    push.fill = fill;
    push.expect = [offset](Wave &w) {
      uint32_t pushed[Lanes] = {};
      for (unsigned lane = 0; lane < Lanes; ++lane)
        if (w.active(lane)) // the highest lane wins
          pushed[(w.v(Address, lane) + offset) / 4 % 64] = w.v(Data0, lane);
      for (unsigned lane = 0; lane < Lanes; ++lane)
        if (w.active(lane))
          w.v(Result, lane) = pushed[lane];
    };
    suite.add(push);
  }
  auto swizzle = [&](const std::string &offset, auto source) {
    Case c;
    c.mnemonic = "ds_swizzle_b32";
    c.text = "ds_swizzle_b32 v18, v8 offset:" + offset + "\ns_waitcnt lgkmcnt(0)";
    c.expect = [source](Wave &w) {
      for (unsigned lane = 0; lane < Lanes; ++lane)
        if (w.active(lane)) {
          const unsigned from = source(lane);
          w.v(Result, lane) = w.active(from) ? w.v(8, from) : 0;
        }
    };
    suite.add(c);
  };
  for (unsigned code : {0x041fu, 0x081fu, 0x101fu, 0x201fu, 0x401fu, 0x7c1fu, 0x0000u, 0x0155u,
                        0x2a96u, 0x001eu, 0x03e0u})
    swizzle(fmt::format("{:#x}", code), [code](unsigned lane) {
      return (lane & 32) | ((((lane & 31) & (code & 31)) | (code >> 5 & 31)) ^ (code >> 10 & 31));
    });
  for (unsigned perm : {0xe4u, 0x1bu, 0xb1u, 0x00u, 0x4eu})
    swizzle(fmt::format("{:#x}", 0x8000 | perm),
            [perm](unsigned lane) { return (lane & ~3u) | (perm >> 2 * (lane & 3) & 3); });
  // Rotate mode: by offset[9:5], to the other side with offset[10]; offset[4:0] keeps bits.
  for (unsigned code : {0xc020u, 0xc460u, 0xc0a0u, 0xc021u})
    swizzle(fmt::format("{:#x}", code), [code](unsigned lane) {
      const unsigned mask = code & 31;
      const int rotate = code >> 10 & 1 ? -int(code >> 5 & 31) : int(code >> 5 & 31);
      return (((lane & mask) | ((lane + unsigned(rotate)) & ~mask)) & 31) | (lane & 32);
    });
}

const SuiteRegistrar registrar("Ds", [](Suite &suite) {
  addReads(suite);
  addWrites(suite);
  addPairs(suite);
  addTransposed(suite, "ds_read_b64_tr_b16", 16, 2);
  addTransposed(suite, "ds_read_b64_tr_b8", 8, 2);
  addTransposed(suite, "ds_read_b64_tr_b4", 4, 2);
  addTransposed(suite, "ds_read_b96_tr_b6", 6, 3);
  addPermutes(suite);
});

} // namespace
} // namespace isatest
