//===- MemoryCases.cpp - addressing of global and flat instructions --------===//
#include "tests/emulator/isa/MemoryCases.h"

#include "fmt/format.h"

namespace isatest {
namespace {

/// v[24:25] = s[12:13] + v8
const char *const Address64 = "v_mov_b32_e32 v26, v8\nv_mov_b32_e32 v27, 0\n"
                              "v_lshl_add_u64 v[24:25], s[12:13], 0, v[26:27]\n";

std::string offsetText(int offset) {
  return offset ? fmt::format(" offset:{}", offset) : std::string();
}

} // namespace

std::vector<Addressing> globalAddressing() {
  std::vector<Addressing> modes;
  for (int offset : {0, 16, -16, -512, 1024}) {
    const std::string imm = offsetText(offset);
    modes.push_back({"", "v8, s[12:13]" + imm, "v8", ", s[12:13]" + imm, offset, false, ""});
    modes.push_back(
        {Address64, "v[24:25], off" + imm, "v[24:25]", ", off" + imm, offset, false, ""});
  }
  return modes;
}

std::vector<Addressing> flatAddressing() {
  std::vector<Addressing> modes;
  for (int offset : {0, 16, 1024}) {
    const std::string imm = offsetText(offset);
    modes.push_back({Address64, "v[24:25]" + imm, "v[24:25]", imm, offset, false, ""});
  }
  // LDS through its aperture.
  modes.push_back({"s_mov_b64 s[14:15], src_shared_base\nv_mov_b32_e32 v25, s15\n"
                   "v_mov_b32_e32 v24, v8\n",
                   "v[24:25] offset:32", "v[24:25]", " offset:32", 32, true, ""});
  return modes;
}

Case memoryCase(const std::string &mnemonic, const Addressing &mode, unsigned bytes) {
  Case c;
  c.mnemonic = mnemonic;
  (mode.lds ? c.ldsBytes : c.memBytes) = mode.lds ? 2048 : 4096;
  const unsigned align = bytes >= 4 ? 4 : bytes;
  c.fill = [align](Wave &w, Rng &rng) {
    const unsigned turn = unsigned(rng() & 63), flip = unsigned(rng() & 63);
    for (unsigned lane = 0; lane < Lanes; ++lane)
      w.v(8, lane) = 512 + ((lane ^ flip) + turn) % Lanes * 20 / align * align;
  };
  return c;
}

} // namespace isatest
