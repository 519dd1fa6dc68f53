//===- Control.cpp - control flow of independent work-items, on device and host ----===//
//
// Signature of each: (out, in, n); 4 dwords in and 8 dwords out a work-item.
//
//===------------------------------------------------------------------------===//

#include "Device.h"

#define NOINLINE __attribute__((noinline)) static

/// Branches within branches, loops left and continued at different times.
KERNEL diverge(u32 *out, const u32 *in, u32 n) {
  u32 i = globalId();
  if (i >= n)
    return;
  const u32 *p = in + 4 * (u64)i;
  u32 *o = out + 8 * (u64)i;
  u32 h = p[0], turns = 0, kept = 0;
  for (u32 k = 0; k < 40; ++k) {
    if (h & 1) {
      if (h & 2) {
        if (k > (p[1] & 31))
          break;
        h = h * 5 + 1;
      } else {
        h ^= p[2] >> (k & 15);
        if ((h & 0xf0) == 0x50)
          continue;
      }
    } else if (h & 4) {
      for (u32 j = 0; j < (h & 7); ++j) {
        if ((h >> j & 0x11) == 0x11)
          goto next;
        kept += h ^ j;
      }
      h += 0x9e3779b9;
    } else {
      do {
        h = h >> 1 ^ p[3];
        ++turns;
      } while (!(h & 0x10) && turns < 200);
    }
  next:
    ++turns;
    h = h * 0x01000193 + k;
  }
  o[0] = h;
  o[1] = turns;
  if (kept & 8)
    return; // the other dwords stay 0
  o[2] = kept;
  u64 c = p[0] & 0xffff;
  u32 steps = 0;
  while (c > 1) { // lanes wait for the longest
    c = c & 1 ? 3 * c + 1 : c / 2;
    if (++steps == 150)
      break;
  }
  o[3] = steps;
  o[4] = (u32)c;
}

/// A small machine: a switch in a loop.
KERNEL machine(u32 *out, const u32 *in, u32 n) {
  u32 i = globalId();
  if (i >= n)
    return;
  const u32 *p = in + 4 * (u64)i;
  u32 *o = out + 8 * (u64)i;
  u32 a = p[0], b = p[1];
  u64 program = (u64)p[3] << 32 | p[2];
  for (u32 k = 0; k < 32; ++k) {
    switch (program & 15) {
    case 0:
      a += b;
      break;
    case 1:
      a -= b;
      break;
    case 2:
      a *= b | 1;
      break;
    case 3:
      a ^= b >> 3;
      break;
    case 4:
      b = a;
      break;
    case 5:
      b += 77;
      [[fallthrough]];
    case 6:
      a = a << 7 | a >> 25;
      break;
    case 7:
      a = a > b ? a - b : b - a;
      break;
    case 8:
      b = __builtin_popcount(a) + b;
      break;
    case 9:
      a /= (b & 0xff) + 1;
      break;
    case 10:
      a = ~a;
      break;
    case 11:
      program ^= (u64)a << 8;
      break;
    case 12:
      k += 2;
      break;
    case 13:
      o[2 + (k & 3)] += a;
      break;
    default:
      b ^= a;
      break;
    }
    program = program >> 4 | program << 60;
  }
  o[0] = a;
  o[1] = b;
  o[7] = (u32)program;
}

NOINLINE u32 first(u32 x) { return x * 3 + 1; }
NOINLINE u32 second(u32 x) { return x ^ x >> 7; }
NOINLINE u32 third(u32 x) { return x % 1000003; }
NOINLINE u32 fourth(u32 x) { return first(x) - second(x); }

/// Calls through pointers that differ from lane to lane.
KERNEL pointers(u32 *out, const u32 *in, u32 n) {
  u32 i = globalId();
  if (i >= n)
    return;
  const u32 *p = in + 4 * (u64)i;
  u32 *o = out + 8 * (u64)i;
  u32 (*table[4])(u32) = {first, second, third, fourth};
  u32 v = p[0], which = p[1];
  for (u32 k = 0; k < 8; ++k) {
    v = table[which & 3](v);
    which >>= 2;
    o[k] = v;
  }
}

/// Quicksort of a list on the stack; recursion on both sides.
NOINLINE void sort(u32 *v, i32 low, i32 high) {
  if (low >= high)
    return;
  u32 pivot = v[(low + high) / 2];
  i32 i = low, j = high;
  while (i <= j) {
    while (v[i] < pivot)
      ++i;
    while (v[j] > pivot)
      --j;
    if (i <= j) {
      u32 t = v[i];
      v[i++] = v[j];
      v[j--] = t;
    }
  }
  sort(v, low, j);
  sort(v, i, high);
}

NOINLINE u32 odd(u32 x, u32 depth);
NOINLINE u32 even(u32 x, u32 depth) {
  return depth == 0 ? x : odd(x * 1664525 + 1013904223, depth - 1) + depth;
}
NOINLINE u32 odd(u32 x, u32 depth) {
  return depth == 0 ? ~x : even(x >> 1 ^ depth, depth - 1) ^ even(x + depth, depth / 3);
}

KERNEL recursion(u32 *out, const u32 *in, u32 n) {
  u32 i = globalId();
  if (i >= n)
    return;
  const u32 *p = in + 4 * (u64)i;
  u32 *o = out + 8 * (u64)i;
  u32 list[24];
  for (u32 k = 0; k < 24; ++k)
    list[k] = (p[k & 3] * (2 * k + 1)) >> (k & 7);
  sort(list, 0, 23);
  for (u32 k = 0; k < 7; ++k)
    o[k] = list[3 * k] ^ list[3 * k + 2] << 1;
  o[7] = even(p[1], p[0] & 15);
}

typedef u32 U32x16 __attribute__((ext_vector_type(16)));

/// Registers chosen by a subscript: uniform and per lane.
KERNEL arrays(u32 *out, const u32 *in, u32 n) {
  u32 i = globalId();
  if (i >= n)
    return;
  const u32 *p = in + 4 * (u64)i;
  u32 *o = out + 8 * (u64)i;
  U32x16 v;
  for (u32 k = 0; k < 16; ++k)
    v[k] = p[k & 3] + k * 0x01010101;
  for (u32 k = 0; k < 16; ++k) {
    u32 lane = (p[0] >> (k & 15)) & 15, uniform = in[k] & 15; // in[k]: one for all lanes
    u32 t = v[uniform];
    v[uniform] = v[lane] + k;
    v[lane] = t ^ p[3];
  }
  for (u32 k = 0; k < 8; ++k)
    o[k] = v[k] * 3 + v[(p[1] + k) & 15];
}
