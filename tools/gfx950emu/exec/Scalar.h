//===- Scalar.h - scalar-unit handlers from lambdas -----------------------------------===//
//
// Owns the templates behind SOP rows. A lambda takes the old SCC by reference and
// its sources; SCC stays as the lambda leaves it.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_EXEC_SCALAR_H
#define GFX950EMU_EXEC_SCALAR_H

#include "tools/gfx950emu/exec/Exec.h"

#include "llvm/ADT/StringExtras.h"

GFX950EMU_EXEC_BEGIN

template <class T> constexpr ValueType scalarType() {
  return sizeof(T) == 8 ? ValueType::B64 : ValueType::B32;
}
template <class T> T readScalar(const Wave &wave, Operand op) {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(wave.read64(op));
  else
    return std::bit_cast<T>(wave.read32(op));
}
template <class T> void writeScalar(Wave &wave, Operand op, T value) {
  if constexpr (sizeof(T) == 8)
    wave.setScalar64(op.index, std::bit_cast<uint64_t>(value));
  else
    wave.sgpr[op.index] = std::bit_cast<uint32_t>(value);
}

template <class F, class D, class... S> struct ScalarHandler {
  template <size_t... I> static void apply(Wave &wave, const Inst *in, std::index_sequence<I...>) {
    F f;
    bool scc = wave.scc();
    if constexpr (std::is_void_v<D>)
      f(scc, readScalar<S>(wave, in->src[I])...);
    else
      writeScalar<D>(wave, in->dst, f(scc, readScalar<S>(wave, in->src[I])...));
    wave.setScc(scc);
  }
  static const Inst *run(Wave &wave, const Inst *in) {
    apply(wave, in, std::index_sequence_for<S...>());
    return in + 1;
  }
};

template <class D, class... S> OpInfo scalarRow(llvm::StringRef name, Handler handler) {
  OpInfo info;
  info.mnemonic = name;
  info.family = Family::Salu;
  info.handler = handler;
  info.sources = sizeof...(S);
  if constexpr (!std::is_void_v<D>)
    info.dst = scalarType<D>();
  unsigned i = 0;
  ((info.src[i++] = scalarType<S>()), ...);
  return info;
}

/// D f(bool &scc, S...)
template <class D, class... S, class F> void salu(OpTable &table, llvm::StringRef name, F) {
  table.add(scalarRow<D, S...>(name, ScalarHandler<F, D, S...>::run));
}

/// A row whose handler does everything itself.
template <class D, class... S>
OpInfo &saluHandler(OpTable &table, llvm::StringRef name, Handler handler) {
  return table.add(scalarRow<D, S...>(name, handler));
}

/// Continue at `address` (s_setpc and friends), or fault.
inline const Inst *jumpTo(Wave &wave, const Inst *in, uint64_t address) {
  if (const Inst *target = wave.program->at(address))
    return target;
  return wave.fail(in, FaultKind::BadBranch, -1,
                   "target 0x" + llvm::utohexstr(address, true) +
                       " is no instruction of the code segment 0x" +
                       llvm::utohexstr(wave.program->codeBase(), true) + "+0x" +
                       llvm::utohexstr(wave.program->codeSize(), true));
}

/// Take a branch whose distance the decoder resolved.
inline const Inst *branch(Wave &wave, const Inst *in) {
  if (!in->extra) [[likely]]
    return in + in->imm;
  return jumpTo(wave, in, wave.program->address(in) + 4 + int64_t(in->imm) * 4);
}

GFX950EMU_EXEC_END

#endif // GFX950EMU_EXEC_SCALAR_H
