//===- DppSdwa.h - what DPP and SDWA do to operands ------------------------===//
#ifndef TESTS_EMULATOR_ISA_DPPSDWA_H
#define TESTS_EMULATOR_ISA_DPPSDWA_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace isatest {

struct DppControl {
  std::string name; ///< as written: "row_shl:1", "quad_perm:[0,1,2,3]", ...
  /// Source lane of a lane, or nothing if it lies outside of the row or wave.
  std::optional<unsigned> (*source)(unsigned lane, unsigned argument);
  unsigned argument = 0;
  unsigned rowMask = 0xf, bankMask = 0xf;
  bool boundCtrl = false;

  std::string text() const;
};

struct DppRead {
  unsigned lane;
  bool zero;    ///< the source reads as 0
  bool enabled; ///< false: the lane keeps its old result
};

/// A source that is out of range or inactive in EXEC is invalid: it reads 0 with bound_ctrl, and
/// disables the lane without.
DppRead dppRead(const DppControl &control, unsigned lane, uint64_t exec);

/// Every control, with all masks on and bound_ctrl off.
std::vector<DppControl> allDpp();
/// Two controls with masks and bound_ctrl, for tables.
std::vector<DppControl> representativeDpp();

enum class Sel : uint8_t { Byte0, Byte1, Byte2, Byte3, Word0, Word1, DWord };
enum class Unused : uint8_t { Pad, Sext, Preserve };

const char *selName(Sel sel);
uint32_t selectSource(uint32_t bits, Sel sel, bool sext);

struct SdwaDst {
  Sel sel = Sel::DWord;
  Unused unused = Unused::Pad;
};
/// The destination register after `result` was written through the selection.
uint32_t selectDestination(uint32_t old, uint32_t result, SdwaDst dst);

struct SdwaForm {
  struct Source {
    Sel sel = Sel::DWord;
    bool sext = false, neg = false, abs = false;
  } src[2];
  SdwaDst dst;

  /// `dst_sel:.. dst_unused:.. src0_sel:.. src1_sel:..`
  std::string text(size_t sources, bool hasDst) const;
};
/// Selections for tables: words only for 16-bit operands, all of them for integers, whole registers
/// for f32.
std::vector<SdwaForm> representativeSdwa(bool narrow, bool isFloat);

} // namespace isatest

#endif // TESTS_EMULATOR_ISA_DPPSDWA_H
