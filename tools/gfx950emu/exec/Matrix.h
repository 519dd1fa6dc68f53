//===- Matrix.h - matrices in lanes ---------------------------------------------------------===//
//
// Owns the register layouts of MFMA operands and the product loops.
//
// A and B come as [k][row or column] arrays of floats. Lane l holds row (column) l % M of
// K group l / M (shapes of one block) or of block l / M (shapes of several blocks, which have
// one group); element e of a group is k = group * (K / groups) + e, packed from bit 0 up.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_EXEC_MATRIX_H
#define GFX950EMU_EXEC_MATRIX_H

#include "tools/gfx950emu/exec/Exec.h"
#include "tools/gfx950emu/exec/Float.h"

GFX950EMU_EXEC_BEGIN

typedef float F8 __attribute__((ext_vector_type(8)));

/// Row and column in a lane of accumulator register r; M x M results in `blocks` blocks.
template <unsigned M> constexpr unsigned accumulatorRegisters(unsigned blocks) {
  return M * M * blocks / waveSize;
}
template <unsigned M> struct AccumulatorIndex {
  unsigned block, row, column;
  constexpr AccumulatorIndex(unsigned lane, unsigned r) : block(0), row(0), column(lane % M) {
    constexpr unsigned perBlock = M == 32 ? 16 : 4;
    if constexpr (M == 4) {
      block = lane / 4;
      row = r;
    } else {
      block = r / perBlock;
      r %= perBlock;
      row = M == 32 ? 8 * (r / 4) + 4 * (lane / 32) + r % 4 : 4 * (lane / 16) + r;
    }
  }
};

template <unsigned M, unsigned Blocks, class T>
void loadAccumulator(const Wave &wave, Operand op, T (&acc)[Blocks][M][M]) {
  constexpr unsigned registers = accumulatorRegisters<M>(Blocks);
  if (op.bank == BankConstant || op.bank == BankScalar) {
    T value = std::bit_cast<T>(wave.read32(op));
    std::fill_n(&acc[0][0][0], Blocks * M * M, value);
    return;
  }
  const uint32_t *p = wave.lanes(op);
  for (unsigned r = 0; r < registers; ++r)
    for (unsigned first = 0; first < waveSize; first += M) {
      AccumulatorIndex<M> at(first, r);
      memcpy(&acc[at.block][at.row][0], p + r * waveSize + first, M * 4);
    }
}

template <unsigned M, unsigned Blocks, class T>
void storeAccumulator(const Wave &wave, Operand op, const T (&acc)[Blocks][M][M]) {
  constexpr unsigned registers = accumulatorRegisters<M>(Blocks);
  uint32_t *p = wave.lanes(op);
  for (unsigned r = 0; r < registers; ++r)
    for (unsigned first = 0; first < waveSize; first += M) {
      AccumulatorIndex<M> at(first, r);
      memcpy(p + r * waveSize + first, &acc[at.block][at.row][0], M * 4);
    }
}

/// acc[i][j] = fma(a[k][i], b[k][j], acc[i][j]) for k ascending.
template <unsigned M, unsigned K>
void multiply(const float (&a)[K][M], const float (&b)[K][M], float (&acc)[M][M]) {
  if constexpr (M % 8 == 0) {
    constexpr unsigned rows = 4, vectors = M / 8 < 2 ? 1 : 2;
    for (unsigned j0 = 0; j0 < M; j0 += 8 * vectors)
      for (unsigned i0 = 0; i0 < M; i0 += rows) {
        F8 sum[rows][vectors];
        for (unsigned i = 0; i < rows; ++i)
          for (unsigned v = 0; v < vectors; ++v)
            memcpy(&sum[i][v], &acc[i0 + i][j0 + 8 * v], sizeof(F8));
        for (unsigned k = 0; k < K; ++k) {
          F8 column[vectors];
          for (unsigned v = 0; v < vectors; ++v)
            memcpy(&column[v], &b[k][j0 + 8 * v], sizeof(F8));
          for (unsigned i = 0; i < rows; ++i)
            for (unsigned v = 0; v < vectors; ++v)
              sum[i][v] = __builtin_elementwise_fma(F8(a[k][i0 + i]), column[v], sum[i][v]);
        }
        for (unsigned i = 0; i < rows; ++i)
          for (unsigned v = 0; v < vectors; ++v)
            memcpy(&acc[i0 + i][j0 + 8 * v], &sum[i][v], sizeof(F8));
      }
  } else {
    for (unsigned i = 0; i < M; ++i)
      for (unsigned k = 0; k < K; ++k)
        for (unsigned j = 0; j < M; ++j)
          acc[i][j] = __builtin_fmaf(a[k][i], b[k][j], acc[i][j]);
  }
}

GFX950EMU_EXEC_END

#endif // GFX950EMU_EXEC_MATRIX_H
