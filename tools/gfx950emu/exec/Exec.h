//===- Exec.h - one source, several host instruction sets -------------------------===//
//
// Every file of exec/ that holds handlers is compiled once a SimdLevel, in a
// namespace of its own. The instruction set is an attribute of the functions
// between GFX950EMU_EXEC_BEGIN and _END, not a compiler flag, so that inline
// functions of other headers stay runnable on every x86-64.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_EXEC_EXEC_H
#define GFX950EMU_EXEC_EXEC_H

#include "tools/gfx950emu/core/OpTable.h"
#include "tools/gfx950emu/core/Wave.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#ifdef GFX950EMU_AVX2
// clang-format off
#define GFX950EMU_EXEC_BEGIN \
  _Pragma("clang attribute push(__attribute__((target(\"avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt\"))), apply_to = function)") \
  namespace gfx950emu::avx2 {
// clang-format on
#define GFX950EMU_EXEC_END                                                                         \
  }                                                                                                \
  _Pragma("clang attribute pop")
#else
#define GFX950EMU_EXEC_BEGIN namespace gfx950emu::baseline {
#define GFX950EMU_EXEC_END }
#endif

GFX950EMU_EXEC_BEGIN

// One function a file; each adds its rows.
void addSop(OpTable &table);
void addSopCompare(OpTable &table);
void addControl(OpTable &table);
void addSmem(OpTable &table);
void addVop1(OpTable &table);
void addVop2(OpTable &table);
void addVop3Integer(OpTable &table);
void addVop3Float(OpTable &table);
void addDivision(OpTable &table);
void addVopc(OpTable &table);
void addVop3p(OpTable &table);
void addDot(OpTable &table);
void addConvert(OpTable &table);
void addConvertScaled(OpTable &table);
void addLaneOps(OpTable &table);
void addMfma(OpTable &table);
void addMfmaF8f6f4(OpTable &table);
void addDs(OpTable &table);
void addDsAtomics(OpTable &table);
void addDsLanes(OpTable &table);
void addFlat(OpTable &table);
void addFlatAtomics(OpTable &table);
void addMubuf(OpTable &table);

GFX950EMU_EXEC_END

#endif // GFX950EMU_EXEC_EXEC_H
