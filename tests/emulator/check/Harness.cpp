//===- Harness.cpp ------------------------------------------------------------===//

#include "tests/emulator/check/Harness.h"

#include "tests/emulator/isa/Assembler.h"

#include "fmt/format.h"

namespace gfx950emu::check::test {

std::string moduleText(const std::string &snippet, const Setup &s) {
  return fmt::format(R"(.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.text
.globl checked
.p2align 8
.type checked,@function
checked:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
{}
  s_endpgm
.Lend:
.size checked, .Lend-checked
.section .rodata,"a",@progbits
.p2align 6
.amdhsa_kernel checked
  .amdhsa_group_segment_fixed_size {}
  .amdhsa_private_segment_fixed_size {}
  .amdhsa_enable_private_segment {}
  .amdhsa_kernarg_size 16
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 256
  .amdhsa_next_free_sgpr 96
  .amdhsa_accum_offset 128
.end_amdhsa_kernel
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: checked
    .symbol: checked.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {}
    .private_segment_fixed_size: {}
    .max_flat_workgroup_size: 1024
    .wavefront_size: 64
    .sgpr_count: 96
    .vgpr_count: 256
    .agpr_count: 128
    .args:
      - {{ .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }}
      - {{ .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }}
.end_amdgpu_metadata
)",
                     snippet, s.ldsBytes, s.scratchBytes, unsigned(s.scratchBytes != 0), s.ldsBytes,
                     s.scratchBytes);
}

std::string Outcome::text() const {
  if (!error.empty() && findings.empty())
    return error;
  if (findings.empty())
    return "silent";
  std::string all;
  for (const Finding &f : findings)
    all += (all.empty() ? "" : "\n") + f.message();
  return all;
}

Outcome check(const std::string &snippet, const Setup &setup) {
  Outcome outcome;
  isatest::Assembled assembled = isatest::assemble(moduleText(snippet, setup));
  if (!assembled.error.empty()) {
    outcome.error = assembled.error;
    return outcome;
  }
  MemoryMap memory;
  memory.trackDefined();
  auto fail = [&](llvm::Error e) { outcome.error = toString(std::move(e)); };
  auto object = CodeObject::load(assembled.image, memory);
  if (!object) {
    fail(object.takeError());
    return outcome;
  }
  constexpr uint32_t inputBytes = 4096, outputBytes = 16 * 16 * 4096;
  std::vector<uint64_t> constant(inputBytes / 8);
  void *input = constant.data();
  if (setup.inputWritable)
    input = memory.allocate(inputBytes);
  else
    memory.add(reinterpret_cast<uint64_t>(input), inputBytes, /*writable=*/false);
  if (setup.inputDefined)
    memory.markDefined(reinterpret_cast<uint64_t>(input), inputBytes);
  uint64_t args[2] = {reinterpret_cast<uint64_t>(input),
                      reinterpret_cast<uint64_t>(memory.allocate(outputBytes))};
  Dispatch d;
  d.object = object->get();
  d.kernel = (*object)->find("checked");
  d.grid = {setup.workgroups, 1, 1};
  d.block = {setup.waves * 64, 1, 1};
  d.kernarg = {reinterpret_cast<const uint8_t *>(args), sizeof args};
  Checker checker(setup.options);
  RunOptions options;
  options.threads = 1;
  options.maxInstructions = setup.maxInstructions;
  options.observer = &checker;
  if (auto stats = run(d, memory, options); !stats)
    fail(stats.takeError());
  outcome.findings = checker.findings();
  outcome.skippedRaceAccesses = checker.skippedRaceAccesses();
  return outcome;
}

} // namespace gfx950emu::check::test
