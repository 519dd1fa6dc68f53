//===- ControlTests.cpp - branches, calls, EXEC masks, MODE, scalar loads --===//
#include "tests/emulator/isa/Numeric.h"
#include "tests/emulator/isa/VectorTable.h"

#include "fmt/format.h"
#include "gtest/gtest.h"

namespace isatest {
namespace {

Case make(const char *mnemonic, std::string text, std::function<void(Wave &)> expect) {
  Case c;
  c.mnemonic = mnemonic;
  c.text = std::move(text);
  c.expect = std::move(expect);
  return c;
}

/// Labels are the module's: number them.
std::string label() {
  static unsigned next = 0;
  return fmt::format(".Llabel{}", next++);
}

void addBranches(Suite &suite) {
  struct Row {
    const char *name;
    bool (*taken)(const Wave &w);
  };
  const Row rows[] = {
      {"s_branch", [](const Wave &) { return true; }},
      {"s_cbranch_scc0", [](const Wave &w) { return !w.scc; }},
      {"s_cbranch_scc1", [](const Wave &w) { return w.scc; }},
      {"s_cbranch_vccz", [](const Wave &w) { return w.vcc == 0; }},
      {"s_cbranch_vccnz", [](const Wave &w) { return w.vcc != 0; }},
      {"s_cbranch_execz", [](const Wave &w) { return w.exec == 0; }},
      {"s_cbranch_execnz", [](const Wave &w) { return w.exec != 0; }},
  };
  for (const Row &row : rows) {
    auto fill = [](Wave &w, Rng &rng) {
      w.vcc = rng() & 1 ? 0 : 1ull << (rng() & 63);
      w.exec = rng() & 1 ? 0 : 1ull << (rng() & 63);
      w.s(40) = 0;
    };
    // Forward over an instruction.
    std::string end = label();
    Case forward = make(row.name, fmt::format("{} {}\ns_mov_b32 s40, 7\n{}:", row.name, end, end),
                        [row](Wave &w) { w.s(40) = row.taken(w) ? 0 : 7; });
    forward.fill = fill;
    forward.waves = 16;
    suite.add(forward);
    // Backward, once: s40 counts the passes.
    std::string top = label(), out = label(), enter = label();
    Case backward = make(row.name,
                         fmt::format("s_branch {2}\n{0}:\ns_mov_b32 s41, 9\ns_branch {1}\n{2}:\n"
                                     "{3} {0}\n{1}:",
                                     top, out, enter, row.name),
                         [row](Wave &w) {
                           if (row.taken(w))
                             w.s(41) = 9;
                         });
    backward.fill = fill;
    backward.waves = 16;
    suite.add(backward);
  }
  std::string top = label();
  suite.add(make("s_cbranch_scc1",
                 fmt::format("s_mov_b32 s40, 0\n{0}:\ns_add_u32 s40, s40, 3\n"
                             "s_cmp_lt_u32 s40, 100\ns_cbranch_scc1 {0}",
                             top),
                 [](Wave &w) {
                   w.s(40) = 102;
                   w.scc = false;
                 }));
}

void addCalls(Suite &suite) {
  std::string here = label(), target = label(), back = label();
  suite.add(make("s_getpc_b64",
                 "s_getpc_b64 s[14:15]\ns_nop 0\ns_getpc_b64 s[16:17]\ns_sub_u32 s40, s16, s14\n"
                 "s_cmp_lg_u32 s62, 0",
                 [](Wave &w) { w.s(40) = 8; }));
  suite.add(make("s_setpc_b64",
                 fmt::format("s_getpc_b64 s[14:15]\n{0}:\ns_add_u32 s14, s14, {1}-{0}\n"
                             "s_addc_u32 s15, s15, 0\ns_setpc_b64 s[14:15]\ns_mov_b32 s40, 1\n"
                             "{1}:\ns_cmp_lg_u32 s62, 0",
                             here, target),
                 [](Wave &) {}));
  here = label(), target = label(), back = label();
  // The callee leaves the return address's distance from the call site in s41.
  suite.add(make("s_swappc_b64",
                 fmt::format("s_getpc_b64 s[14:15]\n{0}:\ns_add_u32 s16, s14, {1}-{0}\n"
                             "s_addc_u32 s17, s15, 0\ns_swappc_b64 s[18:19], s[16:17]\n{2}:\n"
                             "s_mov_b32 s40, 5\ns_branch {1}_end\n{1}:\ns_sub_u32 s41, s18, s14\n"
                             "s_sub_u32 s41, s41, {2}-{0}\n"
                             "s_setpc_b64 s[18:19]\n{1}_end:\ns_cmp_lg_u32 s62, 0",
                             here, target, back),
                 [](Wave &w) {
                   w.s(40) = 5;
                   w.s(41) = 0;
                 }));
  target = label();
  suite.add(make("s_call_b64",
                 fmt::format("s_call_b64 s[18:19], {0}\ns_mov_b32 s40, 5\ns_branch {0}_end\n"
                             "{0}:\ns_mov_b32 s41, 6\ns_setpc_b64 s[18:19]\n{0}_end:",
                             target),
                 [](Wave &w) {
                   w.s(40) = 5;
                   w.s(41) = 6;
                 }));
}

void addSaveExec(Suite &suite) {
  struct Row {
    const char *name;
    uint64_t (*fn)(uint64_t s, uint64_t exec);
  };
  const Row rows[] = {
      {"s_and_saveexec_b64", [](uint64_t s, uint64_t e) { return s & e; }},
      {"s_or_saveexec_b64", [](uint64_t s, uint64_t e) { return s | e; }},
      {"s_xor_saveexec_b64", [](uint64_t s, uint64_t e) { return s ^ e; }},
      {"s_andn2_saveexec_b64", [](uint64_t s, uint64_t e) { return s & ~e; }},
      {"s_orn2_saveexec_b64", [](uint64_t s, uint64_t e) { return s | ~e; }},
      {"s_nand_saveexec_b64", [](uint64_t s, uint64_t e) { return ~(s & e); }},
      {"s_nor_saveexec_b64", [](uint64_t s, uint64_t e) { return ~(s | e); }},
      {"s_xnor_saveexec_b64", [](uint64_t s, uint64_t e) { return ~(s ^ e); }},
      {"s_andn1_saveexec_b64", [](uint64_t s, uint64_t e) { return ~s & e; }},
      {"s_orn1_saveexec_b64", [](uint64_t s, uint64_t e) { return ~s | e; }},
  };
  for (const Row &row : rows)
    for (bool vcc : {false, true}) {
      Case c = make(row.name, fmt::format("{} s[40:41], {}", row.name, vcc ? "vcc" : "s[32:33]"),
                    [row, vcc](Wave &w) {
                      w.setS64(40, w.exec);
                      w.exec = row.fn(vcc ? w.vcc : w.s64(32), w.exec);
                      w.scc = w.exec != 0;
                    });
      c.waves = 16;
      c.fill = [](Wave &w, Rng &rng) {
        if (rng() & 1)
          w.setS64(32, rng() & 1 ? w.exec : ~w.exec);
        w.vcc = rng() & 1 ? w.vcc : 0;
      };
      suite.add(c);
    }
  // The same register as source and destination.
  suite.add(make("s_and_saveexec_b64", "s_and_saveexec_b64 vcc, vcc", [](Wave &w) {
    std::swap(w.vcc, w.exec);
    w.exec &= w.vcc;
    w.scc = w.exec != 0;
  }));
}

/// Instructions with no effect on the state that a program sees.
void addIdle(Suite &suite) {
  for (auto [mnemonic, operand] : {std::pair{"s_nop", " 0"},
                                   {"s_nop", " 15"},
                                   {"s_sleep", " 2"},
                                   {"s_setprio", " 3"},
                                   {"s_waitcnt", " 0"},
                                   {"s_waitcnt", " vmcnt(3) lgkmcnt(2)"},
                                   {"s_barrier", ""},
                                   {"buffer_inv", " sc1"},
                                   {"buffer_inv", " sc0 sc1"},
                                   {"buffer_wbl2", " sc1"},
                                   {"buffer_wbl2", " sc0 sc1"},
                                   {"s_dcache_inv", ""}})
    suite.add(make(mnemonic, std::string(mnemonic) + operand, [](Wave &) {}));
  Case c = make("s_memtime",
                "s_memtime s[14:15]\ns_waitcnt lgkmcnt(0)\ns_memtime s[16:17]\n"
                "s_waitcnt lgkmcnt(0)\ns_sub_u32 s18, s16, s14\ns_subb_u32 s19, s17, s15\n"
                "s_lshr_b32 s40, s19, 31\ns_cmp_lg_u32 s62, 0",
                [](Wave &w) { w.s(40) = 0; }); // time does not run backwards
  suite.add(c);
}

void addMode(Suite &suite) {
  auto each = [](Wave &w, auto fn) {
    for (unsigned lane = 0; lane < Lanes; ++lane)
      if (w.active(lane))
        fn(lane);
  };
  auto fill = [](Wave &w, Rng &rng) {
    for (unsigned lane = 0; lane < Lanes; ++lane)
      for (unsigned i = 0; i < 2; ++i)
        w.v(8 + 2 * i, lane) = uint32_t(value(Type::F32, i, w.index * Lanes + lane, rng));
  };
  // MODE[5:4] is the denormal control of f32.
  Case denormals = make("s_setreg_imm32_b32",
                        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\n"
                        "v_mul_f32_e32 v14, 1.0, v8\n"
                        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3\n"
                        "v_mul_f32_e32 v15, 1.0, v8",
                        [each](Wave &w) {
                          each(w, [&](unsigned lane) {
                            w.v(14, lane) = uint32_t(flush32(w.v(8, lane)));
                            w.v(15, lane) = w.v(8, lane);
                          });
                        });
  denormals.fill = fill;
  denormals.compare[14] = denormals.compare[15] = {Compare::F32};
  suite.add(denormals);
  // MODE[1:0] is the rounding of f32.
  for (unsigned round = 0; round < 4; ++round) {
    Case rounding = make("s_setreg_imm32_b32",
                         fmt::format("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), {}\n"
                                     "v_add_f32_e32 v14, v8, v10\n"
                                     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0",
                                     round),
                         [each, round](Wave &w) {
                           HostRounding host(round);
                           each(w, [&](unsigned lane) {
                             volatile float a = asF32(w.v(8, lane)), b = asF32(w.v(10, lane));
                             volatile float sum = a + b;
                             w.v(14, lane) = uint32_t(bitsOf(float(sum)));
                           });
                         });
    rounding.fill = fill;
    rounding.compare[14] = {Compare::F32};
    suite.add(rounding);
  }
  // A field is read back as written; the fields beside it stay.
  suite.add(make("s_setreg_b32",
                 "s_mov_b32 s14, 5\ns_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s14\n"
                 "s_getreg_b32 s40, hwreg(HW_REG_MODE, 0, 8)\n"
                 "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0",
                 [](Wave &w) { w.s(40) = 0xf5; }));
  suite.add(make("s_getreg_b32", "s_getreg_b32 s40, hwreg(HW_REG_MODE, 4, 4)",
                 [](Wave &w) { w.s(40) = 15; }));
}

void addScalarLoads(Suite &suite) {
  auto load = [&](const char *mnemonic, unsigned dwords, const std::string &before,
                  const std::string &address, unsigned offset) {
    const std::string dst = dwords == 1 ? "s40" : fmt::format("s[40:{}]", 40 + dwords - 1);
    Case c = make(mnemonic,
                  fmt::format("{}{} {}, {}\ns_waitcnt lgkmcnt(0)", before, mnemonic, dst, address),
                  [dwords, offset](Wave &w) {
                    for (unsigned i = 0; i < dwords; ++i)
                      w.s(40 + i) = loadAt<uint32_t>(w.mem, offset + 4 * i);
                  });
    c.memBytes = 256;
    suite.add(c);
  };
  struct Row {
    const char *name;
    unsigned dwords;
  };
  for (const Row &row : {Row{"s_load_dword", 1},
                         {"s_load_dwordx2", 2},
                         {"s_load_dwordx4", 4},
                         {"s_load_dwordx8", 8},
                         {"s_load_dwordx16", 16}}) {
    load(row.name, row.dwords, "", "s[12:13], 0x0", 0);
    load(row.name, row.dwords, "", "s[12:13], 0x34", 0x34);
    load(row.name, row.dwords, "s_movk_i32 s14, 0x40\n", "s[12:13], s14", 0x40);
    load(row.name, row.dwords, "s_movk_i32 s14, 0x40\n", "s[12:13], s14 offset:0x10", 0x50);
    load(row.name, row.dwords,
         "s_add_u32 s14, s12, 0x80\ns_addc_u32 s15, s13, 0\n"
         "s_cmp_lg_u32 s62, 0\n",
         "s[14:15], -0x20", 0x60);
  }
}

const SuiteRegistrar registrar("Control", [](Suite &suite) {
  addBranches(suite);
  addCalls(suite);
  addSaveExec(suite);
  addIdle(suite);
  addMode(suite);
  addScalarLoads(suite);
});

//===--- workgroups of several waves ------------------------------------------===//

const WrittenOut endpgm{"s_endpgm"};

const char *const LaneAddress = "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
                                "  s_waitcnt lgkmcnt(0)\n"
                                "  v_lshlrev_b32_e32 v1, 2, v0\n";

TEST(Workgroup, s_barrier) {
  constexpr unsigned Threads = 512;
  RawKernel kernel;
  kernel.block = Threads;
  kernel.grid = 3;
  kernel.ldsBytes = Threads * 4;
  kernel.buffers = {std::vector<uint32_t>(Threads * 3), std::vector<uint32_t>(1)};
  // Rounds of: write own slot, wait, read the slot of the next wave, wait.
  kernel.body = std::string(LaneAddress) +
                "  v_add_u32_e32 v2, 0x100, v1\n  v_and_b32_e32 v2, 0x7ff, v2\n"
                "  v_mov_b32_e32 v3, v0\n  s_movk_i32 s8, 8\n.Lround:\n"
                "  ds_write_b32 v1, v3\n  s_waitcnt lgkmcnt(0)\n  s_barrier\n"
                "  ds_read_b32 v3, v2\n  s_waitcnt lgkmcnt(0)\n  s_barrier\n"
                "  v_add_u32_e32 v3, 1, v3\n"
                "  s_add_i32 s8, s8, -1\n  s_cmp_lg_u32 s8, 0\n  s_cbranch_scc1 .Lround\n"
                "  s_mul_i32 s9, s2, 0x800\n  v_add_u32_e32 v1, s9, v1\n"
                "  global_store_dword v1, v3, s[4:5]\n";
  ASSERT_TRUE(runRaw(kernel, {"s_barrier", "s_endpgm"}));
  // After 8 rounds of 8 waves every value is back home, plus 8.
  for (unsigned i = 0; i < Threads * 3; ++i)
    EXPECT_EQ(kernel.buffers[0][i], i % Threads + 8) << i;
}

TEST(Workgroup, EndedWavesCountAsArrived) {
  RawKernel kernel;
  kernel.block = 256;
  kernel.ldsBytes = 1024;
  kernel.buffers = {std::vector<uint32_t>(256), std::vector<uint32_t>(1)};
  kernel.body = std::string(LaneAddress) +
                "  v_readfirstlane_b32 s8, v0\n  s_cmp_lt_u32 s8, 64\n"
                "  s_cbranch_scc0 .Lstay\n  s_endpgm\n.Lstay:\n"
                "  ds_write_b32 v1, v0\n  s_waitcnt lgkmcnt(0)\n  s_barrier\n"
                "  v_xor_b32_e32 v2, 0x100, v1\n  ds_read_b32 v3, v1\n  s_waitcnt lgkmcnt(0)\n"
                "  global_store_dword v1, v3, s[4:5]\n";
  ASSERT_TRUE(runRaw(kernel, {"s_endpgm"}));
  for (unsigned i = 0; i < 256; ++i)
    EXPECT_EQ(kernel.buffers[0][i], i < 64 ? 0 : i) << i;
}

TEST(Workgroup, PartialLastWaveHasPartialExec) {
  RawKernel kernel;
  kernel.block = 100;
  kernel.buffers = {std::vector<uint32_t>(128, 0xabcdabcd), std::vector<uint32_t>(1)};
  kernel.body = std::string(LaneAddress) + "  global_store_dword v1, v0, s[4:5]\n";
  ASSERT_TRUE(runRaw(kernel, {"s_endpgm"}));
  for (unsigned i = 0; i < 128; ++i)
    EXPECT_EQ(kernel.buffers[0][i], i < 100 ? i : 0xabcdabcd) << i;
}

} // namespace
} // namespace isatest
