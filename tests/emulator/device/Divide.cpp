//===- Divide.cpp - division of every format that clang expands ---------------------===//
//
// Signature of each: (out, in, n); a numerator and a denominator in, the quotient and the
// reciprocal of the denominator out.
//
//===------------------------------------------------------------------------===//

#include "Device.h"

template <class T> static inline void divide(T *out, const T *in, u32 n) {
  u32 i = globalId();
  if (i >= n)
    return;
  T x = in[2 * (u64)i], y = in[2 * (u64)i + 1];
  out[2 * (u64)i] = x / y;
  out[2 * (u64)i + 1] = (T)1 / y;
}

KERNEL divide16(_Float16 *out, const _Float16 *in, u32 n) { divide(out, in, n); }
KERNEL divide32(float *out, const float *in, u32 n) { divide(out, in, n); }
KERNEL divide64(double *out, const double *in, u32 n) { divide(out, in, n); }
