//===- Opcodes.cpp ----------------------------------------------------------===//

#include "compiler/lint/Opcodes.h"

#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

namespace nvfp4gen::lint {

namespace {

bool startsWithAny(StringRef text, std::initializer_list<StringRef> prefixes) {
  return llvm::any_of(prefixes, [&](StringRef prefix) { return text.starts_with(prefix); });
}

uint64_t scalarTraits(StringRef name) {
  if (startsWithAny(name, {"s_load_", "s_buffer_load_", "s_scratch_load_", "s_store_",
                           "s_buffer_store_", "s_scratch_store_", "s_atomic_", "s_buffer_atomic_",
                           "s_dcache_", "s_memtime", "s_memrealtime", "s_atc_probe"}))
    return Smem;
  uint64_t traits = Salu;
  if (name == "s_nop")
    traits |= Nop;
  if (name.starts_with("s_setreg_"))
    traits |= SetReg;
  if (name.starts_with("s_getreg_"))
    traits |= GetReg;
  if (name.starts_with("s_movrel"))
    traits |= ReadsM0 | MoveRelative;
  if (startsWithAny(name, {"s_sendmsg", "s_ttracedata"}))
    traits |= ReadsM0;
  if (startsWithAny(name, {"s_set_gpr_idx_on", "s_set_gpr_idx_mode"}))
    traits |= IndexMode;
  return traits;
}

bool isTranscendental(StringRef name) {
  if (!name.consume_front("v_") ||
      !(name.ends_with("_f16") || name.ends_with("_f32") || name.ends_with("_f64")))
    return false;
  StringRef function = name.drop_back(4);
  function.consume_back("_legacy");
  return llvm::is_contained({"exp", "log", "rcp", "rcp_iflag", "rsq", "sqrt", "sin", "cos"},
                            function);
}

uint64_t matrixTraits(StringRef name) {
  if (name.starts_with("v_mfma_f64_"))
    return Matrix | MatrixF64;
  return name.ends_with("_f32") ? Matrix | MatrixF32 : Matrix;
}

uint64_t vectorTraits(StringRef name, StringRef opcodeName) {
  if (startsWithAny(name, {"v_mfma_", "v_smfmac_"}))
    return matrixTraits(name);
  uint64_t traits = Valu;
  if (name.starts_with("v_dot"))
    traits |= Dot;
  if (isTranscendental(name))
    traits |= Trans;
  if (opcodeName.contains("_dpp"))
    traits |= Dpp;
  if (name.starts_with("v_permlane"))
    traits |= Permlane;
  if (startsWithAny(name, {"v_readlane_", "v_readfirstlane_"}))
    traits |= ReadLane;
  if (name.starts_with("v_writelane_"))
    traits |= WriteLane | LaneSelect;
  if (name.starts_with("v_readlane_"))
    traits |= LaneSelect;
  if (name.starts_with("v_div_fmas_"))
    traits |= DivFmas;
  if (name == "v_fma_f64" || name == "v_fmac_f64")
    traits |= FmaF64;
  if (name.starts_with("v_cmpx_"))
    traits |= CmpX;
  if (name == "v_pk_fma_f32")
    traits |= PkFmaF32;
  return traits;
}

uint64_t memoryTraits(StringRef name, StringRef opcodeName, bool mayStore) {
  uint64_t traits = mayStore ? Store : 0;
  if (name.starts_with("ds_")) {
    if (name.contains("_addtid_") || name.starts_with("ds_gws_"))
      traits |= ReadsM0;
    return traits | Ds;
  }
  if (!startsWithAny(name, {"global_", "flat_", "scratch_", "buffer_", "tbuffer_"}))
    return 0;
  traits |= Vmem;
  if (startsWithAny(name, {"buffer_", "tbuffer_"}))
    traits |= Buffer;
  if (name.starts_with("scratch_"))
    traits |= Scratch;
  if (opcodeName.contains("_LDS_"))
    traits |= ReadsM0;
  return traits;
}

Control controlOf(StringRef name) {
  if (name.starts_with("s_endpgm"))
    return Control::End;
  if (name == "s_branch")
    return Control::Branch;
  if (startsWithAny(name, {"s_cbranch_scc", "s_cbranch_vcc", "s_cbranch_exec", "s_cbranch_cdbg"}))
    return Control::Conditional;
  if (startsWithAny(name, {"s_swappc_", "s_call_"}))
    return Control::Call;
  if (startsWithAny(name, {"s_setpc_", "s_rfe_", "s_cbranch_"}))
    return Control::Indirect;
  return Control::Next;
}

} // namespace

OpcodeInfo describeOpcode(StringRef mnemonic, StringRef opcodeName, bool mayStore) {
  OpcodeInfo info;
  info.mnemonic = mnemonic.str();
  if (mnemonic.starts_with("s_"))
    info.traits = scalarTraits(mnemonic);
  else if (mnemonic.starts_with("v_"))
    info.traits = vectorTraits(mnemonic, opcodeName);
  else
    info.traits = memoryTraits(mnemonic, opcodeName, mayStore);
  info.control = controlOf(mnemonic);

  if (info.traits & Matrix) {
    info.passes = matrixPasses(mnemonic, opcodeName).value_or(0);
    info.matrixKind = info.mnemonic;
    if (mnemonic.ends_with("_f8f6f4"))
      info.matrixKind += opcodeName.split("F8F6F4").second.split("_gfx").first;
  }
  // op_sel of packed and matrix instructions selects sources only.
  bool narrow = mnemonic.contains("16") || mnemonic.contains("fp8") || mnemonic.contains("bf8") ||
                mnemonic.contains("fp4");
  info.maySelectDestination =
      info.traits & Valu &&
      (opcodeName.contains("_sdwa") ||
       (narrow && !opcodeName.contains("_e32") && !opcodeName.contains("_dpp") &&
        !mnemonic.starts_with("v_pk_") && !mnemonic.starts_with("v_dot") &&
        !mnemonic.starts_with("v_fma_mix")));
  return info;
}

} // namespace nvfp4gen::lint
