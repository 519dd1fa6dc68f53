//===- Harness.h - run gfx950 snippets and compare the wave's state --------===//
//
// A Case is a few instructions, the wave state they start from and a model of
// what they do to it. The harness wraps the instructions as a kernel that loads
// the state, runs them and stores everything back; all the state that the model
// did not change must come back unchanged.
//
// Registers of a snippet:
//   v8..v(8+vgprs-1)  loaded before, stored and compared after
//   s32..s63          loaded before, stored and compared after; s[58:59], s[60:61], s62, s63 hold
//                     the initial EXEC, VCC, SCC and M0
//   v24..v39          free to use when `vgprs` is at most 16; not compared
//   s14..s31          free to use, not compared
//   s[12:13]          address of the wave's `memBytes` bytes of global memory (read and compared)
//   v0..v7, s0..s11, s64 and above belong to the harness (v0 = lane, s2 = wave)
//
//===------------------------------------------------------------------------===//
#ifndef TESTS_EMULATOR_ISA_HARNESS_H
#define TESTS_EMULATOR_ISA_HARNESS_H

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace isatest {

constexpr unsigned Lanes = 64, FirstVgpr = 8, FirstSgpr = 32, NumSgprs = 32;

using Rng = std::mt19937_64;

/// MODE as the kernel descriptor sets it.
struct Mode {
  bool ieee = true, dx10Clamp = true, fp16Overflow = false;
  unsigned round32 = 0, round16 = 0;   ///< 0 nearest even, 1 +inf, 2 -inf, 3 zero; 16 is 16_64
  unsigned denorm32 = 3, denorm16 = 3; ///< 0 flush, 3 keep; 16 is 16_64

  static Mode ftz() {
    Mode m;
    m.denorm32 = 0;
    return m;
  }
  static Mode noIeee() {
    Mode m;
    m.ieee = false;
    return m;
  }
};

/// Architectural state of a wave, before or after the snippet. Registers are named by their ISA
/// numbers.
struct Wave {
  unsigned index = 0;
  Mode mode;
  std::vector<std::array<uint32_t, Lanes>> vgpr; ///< vgpr[i] = v(8+i)
  std::array<uint32_t, NumSgprs> sgpr{};         ///< sgpr[i] = s(32+i)
  uint64_t exec = ~0ull, vcc = 0;
  bool scc = false;
  uint32_t m0 = 0;
  std::vector<uint8_t> mem, lds;
  std::set<std::pair<unsigned, unsigned>> ignored; ///< (vgpr, lane) with no expected value
  uint64_t ignoredVcc = 0;                         ///< bits with no expected value
  std::map<unsigned, uint32_t> ignoredSgprBits;    ///< by SGPR

  uint32_t &v(unsigned reg, unsigned lane) { return vgpr.at(reg - FirstVgpr).at(lane); }
  uint32_t v(unsigned reg, unsigned lane) const { return vgpr.at(reg - FirstVgpr).at(lane); }
  uint64_t v64(unsigned reg, unsigned lane) const {
    return v(reg, lane) | uint64_t(v(reg + 1, lane)) << 32;
  }
  void setV64(unsigned reg, unsigned lane, uint64_t value) {
    v(reg, lane) = uint32_t(value);
    v(reg + 1, lane) = uint32_t(value >> 32);
  }
  uint32_t &s(unsigned reg) { return sgpr.at(reg - FirstSgpr); }
  uint32_t s(unsigned reg) const { return sgpr.at(reg - FirstSgpr); }
  uint64_t s64(unsigned reg) const { return s(reg) | uint64_t(s(reg + 1)) << 32; }
  void setS64(unsigned reg, uint64_t value) {
    s(reg) = uint32_t(value);
    s(reg + 1) = uint32_t(value >> 32);
  }
  bool active(unsigned lane) const { return exec >> lane & 1; }
  void ignore(unsigned reg, unsigned lane) { ignored.insert({reg, lane}); }
};

/// Little-endian values in byte memory; out of range throws, which is an error of the test.
template <typename T> T loadAt(const std::vector<uint8_t> &bytes, size_t offset) {
  T value;
  __builtin_memcpy(&value, &bytes.at(offset + sizeof(T) - 1) - (sizeof(T) - 1), sizeof(T));
  return value;
}
template <typename T> void storeAt(std::vector<uint8_t> &bytes, size_t offset, T value) {
  __builtin_memcpy(&bytes.at(offset + sizeof(T) - 1) - (sizeof(T) - 1), &value, sizeof(T));
}

/// How a result register is compared. Floats: equal bits, or both NaN (payloads are not specified),
/// or both finite and within `ulps` or `absolute`.
struct Compare {
  enum Kind : uint8_t { Bits, Low16, F32, F64, F16, F16x2, BF16x2 } kind = Bits;
  unsigned ulps = 0;
  double absolute = 0;
};

struct Case {
  std::string mnemonic; ///< what the case counts for; the first word of one line of `text`
  std::string text;     ///< instructions, one a line
  Mode mode;
  unsigned vgprs = 16, agprs = 0, waves = 8;
  unsigned scratchBytes = 0; ///< per lane; not compared
  unsigned memBytes = 0;     ///< global memory at s[12:13]
  unsigned ldsBytes = 0;     ///< a multiple of 256, at most 3840; loaded before, compared after
  std::function<void(Wave &, Rng &)> fill; ///< start state; registers come filled with random bits
  std::function<void(Wave &)> expect;      ///< turns the start state into the expected end state
  std::map<unsigned, Compare> compare;     ///< by VGPR; the others compare as bits
};

/// Collects the cases of a file. One gtest test for each suite and mnemonic.
class Suite {
public:
  explicit Suite(std::string name) : name(std::move(name)) {}
  void add(Case c) { cases[c.mnemonic].push_back(std::move(c)); }

  std::string name;
  std::map<std::string, std::vector<Case>> cases;
};

/// Define one for each suite at namespace scope: main() calls `build` and registers its tests.
struct SuiteRegistrar {
  SuiteRegistrar(const char *name, void (*build)(Suite &));
};

/// A kernel that is all the test's own: kernarg pointer in s[0:1], workgroup in s2, `buffers`
/// addresses as arguments; each buffer is copied in, and back when the kernel ended.
struct RawKernel {
  std::string body; ///< up to s_endpgm
  unsigned ldsBytes = 0, scratchBytes = 0, grid = 1, block = Lanes;
  std::vector<std::vector<uint32_t>> buffers;
};
/// False, with a gtest failure, when it does not assemble or does not run to its end.
bool runRaw(RawKernel &kernel, const std::vector<std::string> &mnemonics);

/// Assemble the cases into one code object, run each, report every difference to gtest.
void runCases(const std::string &title, const std::vector<Case> &cases);

/// Build all suites and register their tests; the mnemonics they name.
std::set<std::string> registerSuites();

/// A mnemonic whose test is written out and not a case of a suite.
struct WrittenOut {
  WrittenOut(std::initializer_list<const char *> mnemonics);
};

/// Mnemonics of the cases that ran to their end.
const std::set<std::string> &executedMnemonics();

/// EXEC masks that the tables walk through: full, partial, single lanes.
uint64_t execPattern(unsigned wave, Rng &rng);

/// A 32-bit value as an assembly literal.
std::string hex(uint32_t value);

} // namespace isatest

#endif // TESTS_EMULATOR_ISA_HARNESS_H
