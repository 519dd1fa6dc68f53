//===- MinMax.h - the float minima and maxima of the ISA ----------------------------===//
//
// Owns the three flavours: v_min/v_max (IEEE-754-2008 with IEEE set), min3/max3/med3
// built from them, and minimum/maximum (IEEE-754-2019: NaNs propagate).
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_EXEC_MINMAX_H
#define GFX950EMU_EXEC_MINMAX_H

#include "tools/gfx950emu/exec/Float.h"

GFX950EMU_EXEC_BEGIN

/// With IEEE set a signalling NaN is the result, made quiet; otherwise a NaN loses against a
/// number. +0 is above -0. All selects: the lane loops vectorize.
template <class V> inline V maxNumber(V a, V b, bool ieee) {
  V larger = a > b ? a : b;
  V zeros = bitsOf(a) & bitsOf(b) ? b : V(0); // both -0 keeps -0
  V result = a == b ? (a == 0 ? zeros : a) : larger;
  result = a != a ? b : b != b ? a : result;
  V quieted = isSignallingNan(a) ? quiet(a) : quiet(b);
  bool signalling = ieee && (isSignallingNan(a) || isSignallingNan(b));
  return signalling ? quieted : result;
}
template <class V> inline V minNumber(V a, V b, bool ieee) {
  V smaller = a < b ? a : b;
  V zeros = bitsOf(a) | bitsOf(b) ? -V(0) : V(0);
  V result = a == b ? (a == 0 ? zeros : a) : smaller;
  result = a != a ? b : b != b ? a : result;
  V quieted = isSignallingNan(a) ? quiet(a) : quiet(b);
  bool signalling = ieee && (isSignallingNan(a) || isSignallingNan(b));
  return signalling ? quieted : result;
}

/// IEEE-754-2019 maximum and minimum.
template <class V> inline V maximum(V a, V b) {
  V result = maxNumber(a, b, false);
  return a != a ? quiet(a) : b != b ? quiet(b) : result;
}
template <class V> inline V minimum(V a, V b) {
  V result = minNumber(a, b, false);
  return a != a ? quiet(a) : b != b ? quiet(b) : result;
}

template <class V> inline V max3(V a, V b, V c, bool ieee) {
  return maxNumber(maxNumber(a, b, ieee), c, ieee);
}
template <class V> inline V min3(V a, V b, V c, bool ieee) {
  return minNumber(minNumber(a, b, ieee), c, ieee);
}
/// The median as the manual computes it: the larger of the two that are not the maximum (which
/// decides between zeros of different sign). With a NaN among the three, their minimum.
template <class V> inline V med3(V a, V b, V c, bool ieee) {
  V highest = max3(a, b, c, ieee);
  V x = highest == a ? b : a, y = highest == a || highest == b ? c : b;
  bool anyNan = a != a || b != b || c != c;
  return anyNan ? min3(a, b, c, ieee) : maxNumber(x, y, ieee);
}

GFX950EMU_EXEC_END

#endif // GFX950EMU_EXEC_MINMAX_H
