//===- LaneTests.cpp - instructions that move data between lanes -----------===//
#include "tests/emulator/isa/Harness.h"

#include "fmt/format.h"

#include <bit>

namespace isatest {
namespace {

Case make(const char *mnemonic, std::string text, std::function<void(Wave &)> expect) {
  Case c;
  c.mnemonic = mnemonic;
  c.text = std::move(text);
  c.expect = std::move(expect);
  return c;
}

void addReadWrite(Suite &suite) {
  // EXEC does not matter; the lane number is taken modulo 64.
  suite.add(make("v_readlane_b32", "v_readlane_b32 s40, v8, s32",
                 [](Wave &w) { w.s(40) = w.v(8, w.s(32) & 63); }));
  for (unsigned lane : {0u, 17u, 63u})
    suite.add(make("v_readlane_b32", fmt::format("v_readlane_b32 s40, v8, {}", lane),
                   [lane](Wave &w) { w.s(40) = w.v(8, lane); }));
  suite.add(make("v_readlane_b32", "v_readlane_b32 s40, v8, m0",
                 [](Wave &w) { w.s(40) = w.v(8, w.m0 & 63); }));

  auto first = [](const Wave &w) { return w.exec ? unsigned(std::countr_zero(w.exec)) : 0; };
  for (bool none : {false, true}) {
    Case c = make("v_readfirstlane_b32",
                  std::string("v_readfirstlane_b32 s40, v8") + (none ? " ; no lane" : ""),
                  [first](Wave &w) { w.s(40) = w.v(8, first(w)); });
    if (none)
      c.fill = [](Wave &w, Rng &) { w.exec = 0; };
    suite.add(c);
  }

  suite.add(make("v_writelane_b32", "v_writelane_b32 v14, s32, 5",
                 [](Wave &w) { w.v(14, 5) = w.s(32); }));
  suite.add(make("v_writelane_b32", "v_writelane_b32 v14, s32, m0",
                 [](Wave &w) { w.v(14, w.m0 & 63) = w.s(32); }));
  suite.add(make("v_writelane_b32", "v_writelane_b32 v14, -3, s33",
                 [](Wave &w) { w.v(14, w.s(33) & 63) = uint32_t(-3); }));
}

/// Partial EXEC is not specified for the swaps.
void addSwaps(Suite &suite) {
  auto whole = [](Case c) {
    c.fill = [](Wave &w, Rng &) { w.exec = ~0ull; };
    return c;
  };
  suite.add(whole(make("v_permlane32_swap_b32", "v_permlane32_swap_b32_e32 v8, v10", [](Wave &w) {
    for (unsigned lane = 0; lane < 32; ++lane)
      std::swap(w.v(10, lane), w.v(8, lane + 32));
  })));
  suite.add(whole(make("v_permlane16_swap_b32", "v_permlane16_swap_b32_e32 v8, v10", [](Wave &w) {
    for (unsigned half : {0u, 32u})
      for (unsigned lane = half; lane < half + 16; ++lane)
        std::swap(w.v(10, lane), w.v(8, lane + 16));
  })));
  for (const char *mnemonic : {"v_permlane32_swap_b32", "v_permlane16_swap_b32"})
    suite.add(whole(make(mnemonic, fmt::format("{}_e64 v8, v10", mnemonic),
                         [wide = mnemonic[10] == '3'](Wave &w) {
                           for (unsigned lane = 0; lane < 64; ++lane)
                             if (!(lane & (wide ? 32 : 16)))
                               std::swap(w.v(10, lane), w.v(8, lane + (wide ? 32 : 16)));
                         })));
  suite.add(make("v_swap_b32", "v_swap_b32 v8, v10", [](Wave &w) {
    for (unsigned lane = 0; lane < Lanes; ++lane)
      if (w.active(lane))
        std::swap(w.v(8, lane), w.v(10, lane));
  }));
}

/// Accumulation registers; inactive lanes keep what they had.
void addAccumulators(Suite &suite) {
  auto copyTo14 = [](Wave &w) {
    for (unsigned lane = 0; lane < Lanes; ++lane)
      if (w.active(lane))
        w.v(14, lane) = w.v(8, lane);
  };
  auto agprs = [](Case c) {
    c.agprs = 16;
    return c;
  };
  for (const char *mnemonic : {"v_accvgpr_write_b32", "v_accvgpr_read_b32"})
    suite.add(agprs(make(mnemonic,
                         fmt::format("v_accvgpr_write_b32 a5, v8\n"
                                     "v_accvgpr_write_b32 a6, v10\n"
                                     "v_accvgpr_read_b32 v14, a5 ; {}",
                                     mnemonic),
                         copyTo14)));
  suite.add(agprs(make("v_accvgpr_mov_b32",
                       "v_accvgpr_write_b32 a5, v8\nv_accvgpr_mov_b32 a9, a5\n"
                       "v_accvgpr_write_b32 a5, v10\nv_accvgpr_read_b32 v14, a9",
                       copyTo14)));
  suite.add(agprs(make("v_accvgpr_write_b32",
                       "v_accvgpr_write_b32 a15, -7\nv_accvgpr_read_b32 v14, a15", [](Wave &w) {
                         for (unsigned lane = 0; lane < Lanes; ++lane)
                           if (w.active(lane))
                             w.v(14, lane) = uint32_t(-7);
                       })));
}

/// s_set_gpr_idx_on adds M0[7:0] to the VGPR numbers that its mode bits name.
void addIndexing(Suite &suite) {
  struct Row {
    const char *mode;
    unsigned bits;
    const char *instruction;
    void (*effect)(Wave &w, unsigned index, unsigned lane);
  };
  const Row rows[] = {
      {"SRC0", 1, "v_mov_b32_e32 v16, v8",
       [](Wave &w, unsigned i, unsigned l) { w.v(16, l) = w.v(8 + i, l); }},
      {"DST", 8, "v_mov_b32_e32 v16, v8",
       [](Wave &w, unsigned i, unsigned l) { w.v(16 + i, l) = w.v(8, l); }},
      {"SRC0,DST", 9, "v_mov_b32_e32 v16, v8",
       [](Wave &w, unsigned i, unsigned l) { w.v(16 + i, l) = w.v(8 + i, l); }},
      {"SRC1", 2, "v_sub_u32_e32 v16, v8, v9",
       [](Wave &w, unsigned i, unsigned l) { w.v(16, l) = w.v(8, l) - w.v(9 + i, l); }},
      {"SRC0,SRC1", 3, "v_sub_u32_e32 v16, v8, v9",
       [](Wave &w, unsigned i, unsigned l) { w.v(16, l) = w.v(8 + i, l) - w.v(9 + i, l); }},
      {"SRC2", 4, "v_add3_u32 v16, v8, v9, v10",
       [](Wave &w, unsigned i, unsigned l) {
         w.v(16, l) = w.v(8, l) + w.v(9, l) + w.v(10 + i, l);
       }},
      // SGPR and constant operands are not indexed.
      {"SRC0,DST", 9, "v_mov_b32_e32 v16, s33",
       [](Wave &w, unsigned i, unsigned l) { w.v(16 + i, l) = w.s(33); }},
  };
  for (const char *mnemonic : {"s_set_gpr_idx_on", "s_set_gpr_idx_off"})
    for (const Row &row : rows) {
      Case c = make(mnemonic,
                    fmt::format("s_set_gpr_idx_on s32, gpr_idx({})\n{}\ns_set_gpr_idx_off\n"
                                "v_mov_b32_e32 v22, v20 ; {}",
                                row.mode, row.instruction, mnemonic),
                    [row](Wave &w) {
                      const unsigned index = w.s(32) & 0xff;
                      for (unsigned lane = 0; lane < Lanes; ++lane)
                        if (w.active(lane)) {
                          row.effect(w, index, lane);
                          w.v(22, lane) = w.v(20, lane);
                        }
                      w.m0 = (w.m0 & ~0xf0ffu) | index | row.bits << 12;
                    });
      c.fill = [](Wave &w, Rng &rng) { w.s(32) = (w.s(32) & ~0xffu) | uint32_t(rng() % 4); };
      suite.add(c);
    }
}

const SuiteRegistrar registrar("Lane", [](Suite &suite) {
  addReadWrite(suite);
  addSwaps(suite);
  addAccumulators(suite);
  addIndexing(suite);
});

} // namespace
} // namespace isatest
