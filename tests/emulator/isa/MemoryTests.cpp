//===- MemoryTests.cpp - global, flat and scratch loads and stores ---------===//
//
// v8 = byte offset of the lane (distinct), v10..v13 data, v18..v21 result. Global
// memory of the wave: 4 KiB at s[12:13].
//
//===------------------------------------------------------------------------===//
#include "tests/emulator/isa/MemoryCases.h"

#include "fmt/format.h"

namespace isatest {
namespace {

enum class Extend : uint8_t { Zero, Sign, Low, High }; ///< Low, High: d16, keep the other half

struct Load {
  const char *name; ///< after the space's prefix
  unsigned bytes;
  Extend extend;
};
const Load Loads[] = {
    {"load_ubyte", 1, Extend::Zero},    {"load_sbyte", 1, Extend::Sign},
    {"load_ushort", 2, Extend::Zero},   {"load_sshort", 2, Extend::Sign},
    {"load_dword", 4, Extend::Zero},    {"load_dwordx2", 8, Extend::Zero},
    {"load_dwordx3", 12, Extend::Zero}, {"load_dwordx4", 16, Extend::Zero},
    {"load_short_d16", 2, Extend::Low}, {"load_short_d16_hi", 2, Extend::High},
    {"load_ubyte_d16", 1, Extend::Low}, {"load_ubyte_d16_hi", 1, Extend::High},
};

struct Store {
  const char *name;
  unsigned bytes;
  bool high; ///< of the data register's upper half
};
const Store Stores[] = {
    {"store_byte", 1, false},        {"store_short", 2, false},      {"store_dword", 4, false},
    {"store_dwordx2", 8, false},     {"store_dwordx3", 12, false},   {"store_dwordx4", 16, false},
    {"store_short_d16_hi", 2, true}, {"store_byte_d16_hi", 1, true},
};

void applyLoad(Wave &w, const Load &load, const std::vector<uint8_t> &bytes, unsigned lane,
               size_t address) {
  if (load.bytes >= 4) {
    for (unsigned i = 0; i < load.bytes / 4; ++i)
      w.v(18 + i, lane) = loadAt<uint32_t>(bytes, address + 4 * i);
    return;
  }
  const uint32_t zero =
      load.bytes == 1 ? loadAt<uint8_t>(bytes, address) : loadAt<uint16_t>(bytes, address);
  const uint32_t sign = load.bytes == 1 ? uint32_t(int32_t(loadAt<int8_t>(bytes, address)))
                                        : uint32_t(int32_t(loadAt<int16_t>(bytes, address)));
  uint32_t &result = w.v(18, lane);
  switch (load.extend) {
  case Extend::Zero:
    result = zero;
    break;
  case Extend::Sign:
    result = sign;
    break;
  case Extend::Low:
    result = (result & 0xffff0000) | zero;
    break;
  case Extend::High:
    result = (result & 0xffff) | zero << 16;
    break;
  }
}

void applyStore(const Wave &w, const Store &store, std::vector<uint8_t> &bytes, unsigned lane,
                size_t address) {
  const unsigned first = store.high ? 2 : 0;
  for (unsigned i = 0; i < store.bytes; ++i)
    bytes.at(address + i) = uint8_t(w.v(10 + (i + first) / 4, lane) >> 8 * ((i + first) % 4));
}

/// Registers from `first` that hold `bytes`.
std::string registers(unsigned first, unsigned bytes) {
  const unsigned count = bytes <= 4 ? 1 : bytes / 4;
  return count == 1 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + count - 1);
}

void addLoad(Suite &suite, const std::string &space, const Load &load, const Addressing &mode) {
  const std::string mnemonic = space + load.name;
  Case c = memoryCase(mnemonic, mode, load.bytes);
  c.text = mode.before + mnemonic + " " + registers(18, load.bytes) + ", " + mode.operands +
           "\ns_waitcnt vmcnt(0) lgkmcnt(0)" + mode.after;
  c.expect = [load, mode](Wave &w) {
    for (unsigned lane = 0; lane < Lanes; ++lane)
      if (w.active(lane))
        applyLoad(w, load, mode.lds ? w.lds : w.mem, lane,
                  size_t(int64_t(w.v(8, lane)) + mode.displacement));
  };
  suite.add(std::move(c));
}

void addStore(Suite &suite, const std::string &space, const Store &store, const Addressing &mode) {
  const std::string mnemonic = space + store.name;
  Case c = memoryCase(mnemonic, mode, store.bytes);
  c.text = mode.before + mnemonic + " " + mode.beforeData + ", " + registers(10, store.bytes) +
           mode.afterData + "\ns_waitcnt vmcnt(0) lgkmcnt(0)" + mode.after;
  c.expect = [store, mode](Wave &w) {
    for (unsigned lane = 0; lane < Lanes; ++lane)
      if (w.active(lane))
        applyStore(w, store, mode.lds ? w.lds : w.mem, lane,
                   size_t(int64_t(w.v(8, lane)) + mode.displacement));
  };
  suite.add(std::move(c));
}

//===--- scratch -----------------------------------------------------------------===//

/// A lane's scratch, written as dwords first so that every byte that is read was written.
void addScratch(Suite &suite) {
  struct Form {
    const char *vaddr, *saddr;
    unsigned imm;
    bool usesV, usesS;
  };
  const Form forms[] = {{"v8", "off", 4, true, false},
                        {"off", "s33", 8, false, true},
                        {"v8", "s33", 12, true, true},
                        {"off", "off", 64, false, false}};
  auto prologue = [] {
    std::string text;
    for (unsigned i = 0; i < 32; ++i)
      text += fmt::format("v_mov_b32_e32 v24, {:#x}\nscratch_store_dword off, v24, off offset:{}\n",
                          0x01010101 * i, 4 * i);
    return text;
  };
  auto image = [] {
    std::vector<uint8_t> bytes;
    for (unsigned i = 0; i < 128; ++i)
      bytes.push_back(uint8_t(i / 4));
    return bytes;
  };
  auto fill = [](Wave &w, Rng &rng) {
    for (unsigned lane = 0; lane < Lanes; ++lane)
      w.v(8, lane) = 4 * uint32_t(rng() % 8);
    w.s(33) = 4 * uint32_t(rng() % 8);
  };
  auto base = [](const Wave &w, const Form &form, unsigned lane) {
    return form.imm + (form.usesV ? w.v(8, lane) : 0) + (form.usesS ? w.s(33) : 0);
  };
  for (const Form &form : forms) {
    const std::string address = fmt::format("{}, {} offset:{}", form.vaddr, form.saddr, form.imm);
    for (const Load &load : Loads) {
      Case c;
      c.mnemonic = std::string("scratch_") + load.name;
      c.scratchBytes = 256;
      c.text = prologue() + c.mnemonic + " " + registers(18, load.bytes) + ", " + address +
               "\ns_waitcnt vmcnt(0)";
      c.fill = fill;
      c.expect = [=](Wave &w) {
        for (unsigned lane = 0; lane < Lanes; ++lane)
          if (w.active(lane))
            applyLoad(w, load, image(), lane, base(w, form, lane));
      };
      suite.add(c);
    }
    for (const Store &store : Stores) {
      Case c;
      c.mnemonic = std::string("scratch_") + store.name;
      c.scratchBytes = 256;
      c.text = prologue() +
               fmt::format("{} {}, {}, {} offset:{}\n", c.mnemonic, form.vaddr,
                           registers(10, store.bytes), form.saddr, form.imm) +
               fmt::format("scratch_load_dwordx4 v[18:21], {}\ns_waitcnt vmcnt(0)", address);
      c.fill = fill;
      c.expect = [=](Wave &w) {
        for (unsigned lane = 0; lane < Lanes; ++lane)
          if (w.active(lane)) {
            std::vector<uint8_t> bytes = image();
            applyStore(w, store, bytes, lane, base(w, form, lane));
            for (unsigned i = 0; i < 4; ++i)
              w.v(18 + i, lane) = loadAt<uint32_t>(bytes, base(w, form, lane) + 4 * i);
          }
      };
      suite.add(c);
    }
  }
  // The private aperture reaches the same bytes through flat instructions.
  Case c;
  c.mnemonic = "flat_load_dword";
  c.scratchBytes = 256;
  c.text = prologue() + "s_mov_b64 s[14:15], src_private_base\nv_mov_b32_e32 v25, s15\n"
                        "v_mov_b32_e32 v24, v8\nflat_load_dword v18, v[24:25] offset:16\n"
                        "s_waitcnt vmcnt(0) lgkmcnt(0)";
  c.fill = fill;
  c.expect = [=](Wave &w) {
    for (unsigned lane = 0; lane < Lanes; ++lane)
      if (w.active(lane))
        w.v(18, lane) = loadAt<uint32_t>(image(), w.v(8, lane) + 16);
  };
  suite.add(c);
}

const SuiteRegistrar registrar("Memory", [](Suite &suite) {
  for (const Load &load : Loads) {
    for (const Addressing &mode : globalAddressing())
      addLoad(suite, "global_", load, mode);
    for (const Addressing &mode : flatAddressing())
      addLoad(suite, "flat_", load, mode);
  }
  for (const Store &store : Stores) {
    for (const Addressing &mode : globalAddressing())
      addStore(suite, "global_", store, mode);
    for (const Addressing &mode : flatAddressing())
      addStore(suite, "flat_", store, mode);
  }
  addScratch(suite);
});

} // namespace
} // namespace isatest
