//===- DppSdwaTests.cpp - every DPP control and SDWA selection -------------===//
#include "tests/emulator/isa/DppSdwa.h"

#include "tests/emulator/isa/Harness.h"

#include "fmt/format.h"

namespace isatest {
namespace {

/// v14 <- op(v8 of the picked lane, v10)
Case dppCase(const char *name, bool binary, uint32_t (*op)(uint32_t a, uint32_t b),
             const DppControl &control) {
  Case c;
  c.mnemonic = name;
  c.text = fmt::format("{}_dpp v14, v8{} {}", name, binary ? ", v10" : "", control.text());
  c.expect = [op, control](Wave &w) {
    for (unsigned lane = 0; lane < Lanes; ++lane) {
      const DppRead read = dppRead(control, lane, w.exec);
      if (w.active(lane) && read.enabled)
        w.v(14, lane) = op(read.zero ? 0 : w.v(8, read.lane), w.v(10, lane));
    }
  };
  return c;
}

void addDpp(Suite &suite) {
  auto mov = [](uint32_t a, uint32_t) { return a; };
  auto add = [](uint32_t a, uint32_t b) { return a + b; };
  for (DppControl control : allDpp())
    for (bool boundCtrl : {false, true}) {
      control.boundCtrl = boundCtrl;
      suite.add(dppCase("v_mov_b32", false, mov, control));
      suite.add(dppCase("v_add_u32", true, add, control));
    }
  DppControl control = allDpp().front();
  for (unsigned mask = 0; mask < 16; ++mask) {
    control.rowMask = mask;
    control.bankMask = 0xf;
    suite.add(dppCase("v_mov_b32", false, mov, control));
    control.rowMask = 0xf;
    control.bankMask = mask;
    suite.add(dppCase("v_add_u32", true, add, control));
  }
  // Source and destination may be the same register: all lanes read before any writes.
  Case c;
  c.mnemonic = "v_mov_b32";
  c.text = "v_mov_b32_dpp v8, v8 row_ror:5 row_mask:0xf bank_mask:0xf";
  c.fill = [](Wave &w, Rng &) { w.exec = ~0ull; };
  c.expect = [](Wave &w) {
    const Wave before = w;
    for (unsigned lane = 0; lane < Lanes; ++lane)
      w.v(8, lane) = before.v(8, (lane & ~15u) | ((lane - 5) & 15));
  };
  suite.add(c);
  // 64-bit moves have row_newbcast only.
  for (unsigned n : {0u, 5u, 15u}) {
    c.mnemonic = "v_mov_b64";
    c.text = fmt::format("v_mov_b64_dpp v[14:15], v[8:9] row_newbcast:{} row_mask:0xf "
                         "bank_mask:0xf",
                         n);
    c.expect = [n](Wave &w) {
      for (unsigned lane = 0; lane < Lanes; ++lane)
        w.setV64(14, lane, w.v64(8, (lane & ~15u) | n));
    };
    suite.add(c);
  }
}

/// Every pair of source selections, every destination selection with every fill.
void addSdwa(Suite &suite) {
  constexpr Sel Sels[] = {Sel::Byte0, Sel::Byte1, Sel::Byte2, Sel::Byte3,
                          Sel::Word0, Sel::Word1, Sel::DWord};
  auto add = [&](const SdwaForm &form) {
    Case c;
    c.mnemonic = "v_add_u32";
    auto source = [&](unsigned i) {
      const std::string reg = i ? "v10" : "v8";
      return form.src[i].sext ? "sext(" + reg + ")" : reg;
    };
    c.text = "v_add_u32_sdwa v14, " + source(0) + ", " + source(1) + form.text(2, true);
    c.expect = [form](Wave &w) {
      for (unsigned lane = 0; lane < Lanes; ++lane)
        if (w.active(lane)) {
          const uint32_t sum = selectSource(w.v(8, lane), form.src[0].sel, form.src[0].sext) +
                               selectSource(w.v(10, lane), form.src[1].sel, form.src[1].sext);
          w.v(14, lane) = selectDestination(w.v(14, lane), sum, form.dst);
        }
    };
    suite.add(std::move(c));
  };
  for (Sel first : Sels)
    for (Sel second : Sels) {
      add({{{first}, {second}}, {Sel::DWord, Unused::Pad}});
      add({{{first, true}, {second, false}}, {Sel::DWord, Unused::Pad}});
    }
  for (Sel dst : Sels)
    for (Unused unused : {Unused::Pad, Unused::Sext, Unused::Preserve})
      add({{{Sel::Word0}, {Sel::DWord}}, {dst, unused}});
  // An SGPR operand.
  Case c;
  c.mnemonic = "v_sub_u32";
  c.text = "v_sub_u32_sdwa v14, s32, v10 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 "
           "src1_sel:BYTE_2";
  c.expect = [](Wave &w) {
    for (unsigned lane = 0; lane < Lanes; ++lane)
      if (w.active(lane))
        w.v(14, lane) = (w.s(32) >> 16) - (w.v(10, lane) >> 16 & 255);
  };
  suite.add(c);
}

const SuiteRegistrar registrar("DppSdwa", [](Suite &suite) {
  addDpp(suite);
  addSdwa(suite);
});

} // namespace
} // namespace isatest
