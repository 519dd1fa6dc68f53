//===- Kernel.cpp - a snippet wrapped as a kernel --------------------------===//
#include "tests/emulator/isa/Kernel.h"

#include "fmt/format.h"

#include <algorithm>

namespace isatest {
namespace {

struct Resources {
  Mode mode;
  unsigned vgprs, agprs, ldsBytes, scratchBytes, args;
};

std::string descriptor(const std::string &name, const Resources &r) {
  unsigned accumOffset = (r.vgprs + 3) / 4 * 4;
  return fmt::format(".section .rodata,\"a\",@progbits\n"
                     ".p2align 6\n"
                     ".amdhsa_kernel {}\n"
                     "  .amdhsa_group_segment_fixed_size {}\n"
                     "  .amdhsa_private_segment_fixed_size {}\n"
                     "  .amdhsa_enable_private_segment {}\n"
                     "  .amdhsa_kernarg_size {}\n"
                     "  .amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
                     "  .amdhsa_next_free_vgpr {}\n"
                     "  .amdhsa_next_free_sgpr 96\n"
                     "  .amdhsa_accum_offset {}\n"
                     "  .amdhsa_ieee_mode {}\n"
                     "  .amdhsa_dx10_clamp {}\n"
                     "  .amdhsa_fp16_overflow {}\n"
                     "  .amdhsa_float_round_mode_32 {}\n"
                     "  .amdhsa_float_round_mode_16_64 {}\n"
                     "  .amdhsa_float_denorm_mode_32 {}\n"
                     "  .amdhsa_float_denorm_mode_16_64 {}\n"
                     ".end_amdhsa_kernel\n",
                     name, r.ldsBytes, r.scratchBytes, unsigned(r.scratchBytes != 0), r.args * 8,
                     accumOffset + r.agprs, accumOffset, unsigned(r.mode.ieee),
                     unsigned(r.mode.dx10Clamp), unsigned(r.mode.fp16Overflow), r.mode.round32,
                     r.mode.round16, r.mode.denorm32, r.mode.denorm16);
}

std::string metadata(const std::string &name, const Resources &r) {
  std::string text = fmt::format(
      "  - .name: {0}\n    .symbol: {0}.kd\n    .kernarg_segment_size: {1}\n"
      "    .kernarg_segment_align: 8\n    .group_segment_fixed_size: {2}\n"
      "    .private_segment_fixed_size: {3}\n    .max_flat_workgroup_size: 1024\n"
      "    .wavefront_size: 64\n    .sgpr_count: 96\n    .vgpr_count: {4}\n"
      "    .agpr_count: {5}\n    .args:\n",
      name, r.args * 8, r.ldsBytes, r.scratchBytes, (r.vgprs + 3) / 4 * 4 + r.agprs, r.agprs);
  for (unsigned i = 0; i < r.args; ++i)
    text += fmt::format("      - {{ .offset: {}, .size: 8, .value_kind: global_buffer, "
                        ".address_space: global }}\n",
                        i * 8);
  return text;
}

std::string metadataSection(const std::string &kernels) {
  return ".amdgpu_metadata\namdhsa.version: [1, 2]\namdhsa.kernels:\n" + kernels +
         ".end_amdgpu_metadata\n";
}

std::string functionHead(const std::string &name) {
  return fmt::format(".text\n.globl {0}\n.p2align 8\n.type {0},@function\n{0}:\n", name);
}

std::string functionTail(const std::string &name) {
  return fmt::format("  s_endpgm\n.L{0}_end:\n.size {0}, .L{0}_end-{0}\n", name);
}

/// Loads or stores of v8.. with a 256-byte row for each register; the base moves on where the
/// 13-bit offset ends.
void registerRows(std::string &out, unsigned count, unsigned base, const char *format) {
  constexpr unsigned RowsInReach = 15;
  for (unsigned r = 0; r < count; ++r) {
    if (r != 0 && r % RowsInReach == 0)
      out += fmt::format("  s_add_u32 s{0}, s{0}, {2}\n  s_addc_u32 s{1}, s{1}, 0\n", base,
                         base + 1, RowsInReach * 256);
    out += fmt::format(fmt::runtime(format), FirstVgpr + r, r % RowsInReach * 256);
  }
}

/// Copies of the LDS image, 256 bytes a row; it lies behind the wave's global memory.
void ldsRows(std::string &out, const Case &c, const char *format) {
  if (c.ldsBytes == 0)
    return;
  out += fmt::format("  s_add_u32 s14, s12, {}\n  s_addc_u32 s15, s13, 0\n", c.memBytes);
  for (unsigned offset = 0; offset < c.ldsBytes; offset += 256)
    out += fmt::format(fmt::runtime(format), offset);
}

std::string body(const Case &c) {
  std::string out = "  s_load_dwordx8 s[4:11], s[0:1], 0x0\n"
                    "  s_load_dwordx2 s[12:13], s[0:1], 0x20\n"
                    "  v_lshlrev_b32_e32 v1, 2, v0\n"
                    "  s_waitcnt lgkmcnt(0)\n";
  auto advance = [&](unsigned base, unsigned bytes) {
    out += fmt::format("  s_mul_i32 s3, s2, {}\n  s_add_u32 s{}, s{}, s3\n"
                       "  s_addc_u32 s{}, s{}, 0\n",
                       bytes, base, base, base + 1, base + 1);
  };
  advance(4, c.vgprs * 256);
  advance(6, c.vgprs * 256);
  advance(8, NumSgprs * 4);
  advance(10, ScalarOutDwords * 4);
  advance(12, c.memBytes + c.ldsBytes);
  out += "  s_load_dwordx16 s[32:47], s[8:9], 0x0\n  s_load_dwordx16 s[48:63], s[8:9], 0x40\n";
  registerRows(out, c.vgprs, 4, "  global_load_dword v{}, v1, s[4:5] offset:{}\n");
  ldsRows(out, c,
          "  global_load_dword v2, v1, s[14:15] offset:{0}\n  s_waitcnt vmcnt(0)\n"
          "  ds_write_b32 v1, v2 offset:{0}\n");
  out += "  s_waitcnt vmcnt(0) lgkmcnt(0)\n"
         "  s_mov_b32 m0, s63\n"
         "  s_mov_b64 vcc, s[60:61]\n"
         "  s_cmp_lg_u32 s62, 0\n"
         "  s_mov_b64 exec, s[58:59]\n" +
         c.text +
         "\n  s_cselect_b32 s70, 1, 0\n"
         "  s_mov_b64 s[64:65], vcc\n"
         "  s_mov_b64 s[66:67], exec\n"
         "  s_mov_b32 s68, m0\n"
         "  s_mov_b64 exec, -1\n"
         "  s_waitcnt vmcnt(0) lgkmcnt(0)\n"
         "  s_nop 15\n  s_nop 15\n"; // MFMA results are not interlocked against stores
  registerRows(out, c.vgprs, 6, "  global_store_dword v1, v{}, s[6:7] offset:{}\n");
  ldsRows(out, c,
          "  ds_read_b32 v2, v1 offset:{0}\n  s_waitcnt lgkmcnt(0)\n"
          "  global_store_dword v1, v2, s[14:15] offset:{0}\n");
  out += "  s_mov_b64 exec, 1\n  v_mov_b32_e32 v3, 0\n";
  auto storeScalar = [&](unsigned slot, unsigned reg) {
    out += fmt::format("  v_mov_b32_e32 v2, s{}\n"
                       "  global_store_dword v3, v2, s[10:11] offset:{}\n",
                       reg, slot * 4);
  };
  for (unsigned i = 0; i < NumSgprs; ++i)
    storeScalar(i, FirstSgpr + i);
  for (unsigned i = 0; i < 5; ++i)
    storeScalar(NumSgprs + i, 64 + i);
  storeScalar(NumSgprs + 5, 70);
  return out;
}

} // namespace

std::string kernelName(unsigned index) { return fmt::format("k{}", index); }

std::string moduleText(const std::vector<Case> &cases) {
  std::string code, kernels;
  for (unsigned i = 0; i < cases.size(); ++i) {
    const Case &c = cases[i];
    const std::string name = kernelName(i);
    const Resources resources{c.mode,         std::max(FirstVgpr + c.vgprs, 40u),
                              c.agprs,        c.ldsBytes,
                              c.scratchBytes, sizeof(KernelArgs) / 8};
    code += functionHead(name) + body(c) + functionTail(name) + descriptor(name, resources);
    kernels += metadata(name, resources);
  }
  return ".amdgcn_target \"amdgcn-amd-amdhsa--gfx950\"\n" + code + metadataSection(kernels);
}

std::string rawModuleText(const std::string &body, unsigned args, unsigned ldsBytes,
                          unsigned scratchBytes) {
  const std::string name = kernelName(0);
  const Resources resources{Mode(), 40, 0, ldsBytes, scratchBytes, args};
  return ".amdgcn_target \"amdgcn-amd-amdhsa--gfx950\"\n" + functionHead(name) + body +
         functionTail(name) + descriptor(name, resources) +
         metadataSection(metadata(name, resources));
}

} // namespace isatest
