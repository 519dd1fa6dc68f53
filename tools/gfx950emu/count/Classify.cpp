//===- Classify.cpp -----------------------------------------------------------===//

#include "tools/gfx950emu/count/Classify.h"

#include "tools/gfx950emu/core/Observer.h"

using namespace llvm;

namespace gfx950emu::count {

namespace {

/// Names a scalar instruction by what it does to the flow of the wave.
InstClass classifyScalar(StringRef name) {
  if (name == "s_barrier")
    return InstClass::Barrier;
  if (name.starts_with("s_branch") || name.starts_with("s_cbranch") ||
      name.starts_with("s_setpc") || name.starts_with("s_swappc") || name.starts_with("s_call"))
    return InstClass::Branch;
  return InstClass::Salu;
}

bool isTranscendental(StringRef name) {
  for (StringRef prefix : {"v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"})
    if (name.starts_with(prefix))
      return true;
  return false;
}

bool isQuarterRate(StringRef name) {
  return name == "v_mul_lo_u32" || name == "v_mul_hi_u32" || name == "v_mul_hi_i32" ||
         name == "v_mad_u64_u32" || name == "v_mad_i64_i32";
}

} // namespace

StringRef className(InstClass kind) {
  static constexpr StringRef names[instClasses] = {
      "SALU",    "SMEM",      "VALU",       "VALU quarter rate", "transcendental", "MFMA",
      "LDS",     "VMEM load", "VMEM store", "VMEM atomic",       "scratch",        "branch",
      "barrier", "other"};
  return names[unsigned(kind)];
}

InstClass classify(const Inst &in) {
  if (!in.op)
    return InstClass::Other;
  StringRef name = in.op->mnemonic;
  switch (in.op->family) {
  case Family::Salu:
    return classifyScalar(name);
  case Family::Control: {
    InstClass flow = classifyScalar(name);
    return flow == InstClass::Salu ? InstClass::Other : flow;
  }
  case Family::Smem:
    return in.dst.present() ? InstClass::Smem : InstClass::Other; // else cache control
  case Family::Mfma:
    return InstClass::Mfma;
  case Family::Ds:
    return InstClass::Lds;
  case Family::Flat:
  case Family::Mubuf:
    if (name.starts_with("scratch_"))
      return InstClass::Scratch;
    if (name == "buffer_inv" || name == "buffer_wbl2")
      return InstClass::Other;
    switch (accessKind(in, Space::Global)) {
    case AccessKind::Read:
      return InstClass::VmemLoad;
    case AccessKind::Write:
      return InstClass::VmemStore;
    case AccessKind::Atomic:
      return InstClass::VmemAtomic;
    }
    return InstClass::Other;
  case Family::Valu:
  case Family::Lane:
    return isTranscendental(name) ? InstClass::Transcendental
           : isQuarterRate(name)  ? InstClass::QuarterRate
                                  : InstClass::Valu;
  }
  return InstClass::Other;
}

unsigned mfmaPasses(const Inst &in) {
  if (!in.op || in.op->family != Family::Mfma)
    return 0;
  StringRef name = in.op->mnemonic;
  if (name.contains("_f64_"))
    return name.contains("_16x16x") ? 16 : 4;
  if (name.contains("_4x4x"))
    return 2;
  bool large = name.contains("_32x32x");
  if (name.ends_with("f8f6f4")) {
    // cbsz and blgp below 2 are fp8 and bf8, which take twice the passes of fp6 and fp4.
    bool bytes = (in.extra & 7) < 2 || (in.extra >> 8 & 7) < 2;
    return (large ? 8 : 4) * (bytes ? 2 : 1);
  }
  // Several blocks, and f32, keep the rates of the first CDNA.
  bool slow = name.contains("_2b_") || name.contains("_4b_") || name.ends_with("_f32");
  return (large ? 8 : 4) * (slow ? 2 : 1);
}

} // namespace gfx950emu::count
