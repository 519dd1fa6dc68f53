//===- ScalarInterpreter.cpp ---------------------------------------------------===//
//
// Compiled twice; BENCH_CREATE names the function that this compilation defines.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/bench/ScalarInterpreter.h"

#include "tools/gfx950emu/core/Program.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace llvm;

namespace gfx950emu::bench {

namespace {

enum class Op : uint8_t {
  LoadScalar2,
  MoveImmediate,
  ShiftLeft,
  Subtract,
  CompareNotEqual,
  BranchScc1,
  Nothing,
  End,
  VMove,
  VFma,
  VMulF,
  VAddF,
  VMaxF,
  VSubF,
  VAddU,
  VAdd3U,
  VShiftLeft,
  VXor,
  VAnd,
  VOr,
  VCompareGreaterU,
  VSelect,
  VExtract,
  VShiftLeftAdd,
  VToU32,
  Mfma,
  LoadDword,
  StoreDword,
  LdsRead,
  LdsWrite,
  Count,
};

class Interpreter : public ScalarInterpreter {
public:
  static Expected<std::unique_ptr<ScalarInterpreter>> create(const CodeObject &object,
                                                             const KernelInfo &kernel);
  uint64_t run(uint32_t workgroup, const void *kernarg) override;

private:
  uint32_t read(Operand op, unsigned lane) const;
  float readFloat(Operand op, unsigned lane) const;
  template <class F> void forEachLane(const Inst &in, F compute);
  uint64_t address(const Inst &in, unsigned lane) const;
  void matrix(const Inst &in);

  const DecodedProgram *program = nullptr;
  const Inst *entry = nullptr;
  std::vector<Op> ops; ///< by instruction index
  uint32_t sgpr[SgprFileSize] = {};
  uint32_t vgpr[32][waveSize] = {};
  uint8_t lds[1024] = {};
};

bool lookUp(StringRef mnemonic, Op &op) {
  op = StringSwitch<Op>(mnemonic)
           .Case("s_load_dwordx2", Op::LoadScalar2)
           .Case("s_movk_i32", Op::MoveImmediate)
           .Case("s_lshl_b32", Op::ShiftLeft)
           .Case("s_sub_u32", Op::Subtract)
           .Case("s_cmp_lg_u32", Op::CompareNotEqual)
           .Case("s_cbranch_scc1", Op::BranchScc1)
           .Case("s_waitcnt", Op::Nothing)
           .Case("s_nop", Op::Nothing)
           .Case("s_endpgm", Op::End)
           .Case("v_mov_b32", Op::VMove)
           .Case("v_fma_f32", Op::VFma)
           .Case("v_mul_f32", Op::VMulF)
           .Case("v_add_f32", Op::VAddF)
           .Case("v_max_f32", Op::VMaxF)
           .Case("v_sub_f32", Op::VSubF)
           .Case("v_add_u32", Op::VAddU)
           .Case("v_add3_u32", Op::VAdd3U)
           .Case("v_lshlrev_b32", Op::VShiftLeft)
           .Case("v_xor_b32", Op::VXor)
           .Case("v_and_b32", Op::VAnd)
           .Case("v_or_b32", Op::VOr)
           .Case("v_cmp_gt_u32", Op::VCompareGreaterU)
           .Case("v_cndmask_b32", Op::VSelect)
           .Case("v_bfe_u32", Op::VExtract)
           .Case("v_lshl_add_u32", Op::VShiftLeftAdd)
           .Case("v_cvt_u32_f32", Op::VToU32)
           .Case("v_mfma_f32_16x16x32_f16", Op::Mfma)
           .Case("global_load_dword", Op::LoadDword)
           .Case("global_store_dword", Op::StoreDword)
           .Case("ds_read_b32", Op::LdsRead)
           .Case("ds_write_b32", Op::LdsWrite)
           .Default(Op::Count);
  return op != Op::Count;
}

Expected<std::unique_ptr<ScalarInterpreter>> Interpreter::create(const CodeObject &object,
                                                                 const KernelInfo &kernel) {
  auto result = std::make_unique<Interpreter>();
  result->program = &object.program();
  result->entry = result->program->at(kernel.entry);
  for (const Inst &in : result->program->instructions()) {
    Op op = Op::Count;
    uint64_t offset = result->program->address(&in) - kernel.entry;
    if ((!in.op || in.form & (FormModifiers | FormSdwa | FormDpp) ||
         !lookUp(in.op->mnemonic, op)) &&
        offset < kernel.codeBytes)
      return createStringError("the scalar interpreter does not know '" +
                               result->program->text(&in) + "'");
    result->ops.push_back(op);
  }
  return std::unique_ptr<ScalarInterpreter>(std::move(result));
}

uint32_t Interpreter::read(Operand op, unsigned lane) const {
  switch (op.bank) {
  case BankVgpr:
    return vgpr[op.index][lane];
  case BankScalar:
    return sgpr[op.index];
  default:
    return program->constants()[size_t(op.index) * waveSize];
  }
}

float Interpreter::readFloat(Operand op, unsigned lane) const {
  return bit_cast<float>(read(op, lane));
}

template <class F> void Interpreter::forEachLane(const Inst &in, F compute) {
  for (unsigned lane = 0; lane < waveSize; ++lane)
    if (sgpr[SgprExec + lane / 32] >> lane % 32 & 1)
      vgpr[in.dst.index][lane] = compute(lane);
}

uint64_t Interpreter::address(const Inst &in, unsigned lane) const {
  return (sgpr[in.smask.index] | uint64_t(sgpr[in.smask.index + 1]) << 32) + read(in.src[0], lane) +
         uint64_t(int64_t(in.imm));
}

void Interpreter::matrix(const Inst &in) {
  // Lane l holds k = 8 * (l / 16) + e of row (column) l % 16, two elements a register.
  float a[16][32], b[16][32];
  for (unsigned lane = 0; lane < waveSize; ++lane)
    for (unsigned e = 0; e < 8; ++e) {
      auto half = [&](Operand op) {
        uint32_t pair = vgpr[op.index + e / 2][lane];
        return float(bit_cast<_Float16>(uint16_t(pair >> e % 2 * 16)));
      };
      a[lane % 16][lane / 16 * 8 + e] = half(in.src[0]);
      b[lane % 16][lane / 16 * 8 + e] = half(in.src[1]);
    }
  float result[4][waveSize];
  for (unsigned lane = 0; lane < waveSize; ++lane)
    for (unsigned r = 0; r < 4; ++r) {
      const float *row = a[4 * (lane / 16) + r], *column = b[lane % 16];
      float sum = bit_cast<float>(vgpr[in.src[2].index + r][lane]);
      for (unsigned k = 0; k < 32; ++k)
        sum = __builtin_fmaf(row[k], column[k], sum);
      result[r][lane] = sum;
    }
  for (unsigned r = 0; r < 4; ++r)
    for (unsigned lane = 0; lane < waveSize; ++lane)
      vgpr[in.dst.index + r][lane] = bit_cast<uint32_t>(result[r][lane]);
}

uint64_t Interpreter::run(uint32_t workgroup, const void *kernarg) {
  uint64_t executed = 0;
  uint64_t kernargAddress = reinterpret_cast<uint64_t>(kernarg);
  memcpy(sgpr, &kernargAddress, 8);
  sgpr[2] = workgroup;
  sgpr[SgprExec] = sgpr[SgprExec + 1] = ~0u;
  for (unsigned lane = 0; lane < waveSize; ++lane)
    vgpr[0][lane] = lane;
  const Inst *first = program->instructions().data();
  for (const Inst *at = entry;;) {
    const Inst &in = *at;
    const Operand *s = in.src;
    auto u = [&](unsigned i, unsigned lane) { return read(s[i], lane); };
    auto f = [&](unsigned i, unsigned lane) { return readFloat(s[i], lane); };
    auto bits = [](float v) { return bit_cast<uint32_t>(v); };
    ++executed;
    ++at;
    switch (ops[size_t(&in - first)]) {
    case Op::LoadScalar2: {
      uint64_t base = sgpr[s[0].index] | uint64_t(sgpr[s[0].index + 1]) << 32;
      memcpy(&sgpr[in.dst.index], reinterpret_cast<const void *>(base + uint64_t(in.imm)), 8);
      break;
    }
    case Op::MoveImmediate:
      sgpr[in.dst.index] = uint32_t(in.imm);
      break;
    case Op::ShiftLeft:
      sgpr[in.dst.index] = u(0, 0) << (u(1, 0) & 31);
      break;
    case Op::Subtract: {
      uint32_t a = u(0, 0), b = u(1, 0);
      sgpr[SgprScc] = a < b;
      sgpr[in.dst.index] = a - b;
      break;
    }
    case Op::CompareNotEqual:
      sgpr[SgprScc] = u(0, 0) != u(1, 0);
      break;
    case Op::BranchScc1:
      if (sgpr[SgprScc])
        at = &in + in.imm;
      break;
    case Op::Nothing:
      break;
    case Op::End:
      return executed;
    case Op::VMove:
      forEachLane(in, [&](unsigned l) { return u(0, l); });
      break;
    case Op::VFma:
      forEachLane(in, [&](unsigned l) { return bits(__builtin_fmaf(f(0, l), f(1, l), f(2, l))); });
      break;
    case Op::VMulF:
      forEachLane(in, [&](unsigned l) { return bits(f(0, l) * f(1, l)); });
      break;
    case Op::VAddF:
      forEachLane(in, [&](unsigned l) { return bits(f(0, l) + f(1, l)); });
      break;
    case Op::VMaxF:
      forEachLane(in, [&](unsigned l) { return bits(std::max(f(0, l), f(1, l))); });
      break;
    case Op::VSubF:
      forEachLane(in, [&](unsigned l) { return bits(f(0, l) - f(1, l)); });
      break;
    case Op::VAddU:
      forEachLane(in, [&](unsigned l) { return u(0, l) + u(1, l); });
      break;
    case Op::VAdd3U:
      forEachLane(in, [&](unsigned l) { return u(0, l) + u(1, l) + u(2, l); });
      break;
    case Op::VShiftLeft:
      forEachLane(in, [&](unsigned l) { return u(1, l) << (u(0, l) & 31); });
      break;
    case Op::VXor:
      forEachLane(in, [&](unsigned l) { return u(0, l) ^ u(1, l); });
      break;
    case Op::VAnd:
      forEachLane(in, [&](unsigned l) { return u(0, l) & u(1, l); });
      break;
    case Op::VOr:
      forEachLane(in, [&](unsigned l) { return u(0, l) | u(1, l); });
      break;
    case Op::VCompareGreaterU: {
      uint64_t mask = 0;
      for (unsigned l = 0; l < waveSize; ++l)
        if (sgpr[SgprExec + l / 32] >> l % 32 & 1)
          mask |= uint64_t(u(0, l) > u(1, l)) << l;
      memcpy(&sgpr[in.sdst.index], &mask, 8);
      break;
    }
    case Op::VSelect:
      forEachLane(in, [&](unsigned l) {
        return sgpr[in.smask.index + l / 32] >> l % 32 & 1 ? u(1, l) : u(0, l);
      });
      break;
    case Op::VExtract:
      forEachLane(in, [&](unsigned l) {
        uint32_t width = u(2, l) & 31;
        return u(0, l) >> (u(1, l) & 31) & ((1u << width) - 1);
      });
      break;
    case Op::VShiftLeftAdd:
      forEachLane(in, [&](unsigned l) { return (u(0, l) << (u(1, l) & 31)) + u(2, l); });
      break;
    case Op::VToU32:
      forEachLane(in, [&](unsigned l) { return uint32_t(f(0, l)); });
      break;
    case Op::Mfma:
      matrix(in);
      break;
    case Op::LoadDword:
      forEachLane(in, [&](unsigned l) {
        uint32_t value;
        memcpy(&value, reinterpret_cast<const void *>(address(in, l)), 4);
        return value;
      });
      break;
    case Op::StoreDword:
      for (unsigned l = 0; l < waveSize; ++l)
        if (sgpr[SgprExec + l / 32] >> l % 32 & 1)
          memcpy(reinterpret_cast<void *>(address(in, l)), &vgpr[s[1].index][l], 4);
      break;
    case Op::LdsRead:
      forEachLane(in, [&](unsigned l) {
        uint32_t value;
        memcpy(&value, lds + u(0, l) + uint32_t(in.imm), 4);
        return value;
      });
      break;
    case Op::LdsWrite:
      for (unsigned l = 0; l < waveSize; ++l)
        if (sgpr[SgprExec + l / 32] >> l % 32 & 1)
          memcpy(lds + u(0, l) + uint32_t(in.imm), &vgpr[s[1].index][l], 4);
      break;
    case Op::Count:
      return executed; // create() lets no such instruction in
    }
  }
}

} // namespace

Expected<std::unique_ptr<ScalarInterpreter>> BENCH_CREATE(const CodeObject &object,
                                                          const KernelInfo &kernel) {
  return Interpreter::create(object, kernel);
}

} // namespace gfx950emu::bench
