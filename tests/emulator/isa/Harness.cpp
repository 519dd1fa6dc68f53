//===- Harness.cpp - run gfx950 snippets and compare the wave's state ------===//
#include "tests/emulator/isa/Harness.h"

#include "tests/emulator/isa/Assembler.h"
#include "tests/emulator/isa/Kernel.h"
#include "tools/gfx950emu/core/Emulator.h"

#include "fmt/format.h"
#include "gtest/gtest.h"

#include <cmath>

namespace isatest {
namespace {

struct PendingSuite {
  const char *name;
  void (*build)(Suite &);
};

std::vector<PendingSuite> &pendingSuites() {
  static std::vector<PendingSuite> suites;
  return suites;
}

std::set<std::string> &writtenOut() {
  static std::set<std::string> mnemonics;
  return mnemonics;
}

std::set<std::string> &executed() {
  static std::set<std::string> mnemonics;
  return mnemonics;
}

/// FNV-1a: each case draws the same operands wherever it stands in a table.
uint64_t hashOf(const std::string &text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : text)
    hash = (hash ^ c) * 0x100000001b3;
  return hash;
}

/// Memory of the emulated device, released with the object.
struct DeviceBuffer {
  DeviceBuffer(gfx950emu::MemoryMap &memory, size_t bytes)
      : memory(memory), data(static_cast<uint8_t *>(memory.allocate(bytes ? bytes : 4))) {}
  ~DeviceBuffer() { memory.release(data); }
  DeviceBuffer(const DeviceBuffer &) = delete;
  DeviceBuffer &operator=(const DeviceBuffer &) = delete;
  uint32_t *words() { return reinterpret_cast<uint32_t *>(data); }
  uint64_t address() const { return reinterpret_cast<uint64_t>(data); }

  gfx950emu::MemoryMap &memory;
  uint8_t *data;
};

Wave startState(const Case &c, unsigned index, Rng &rng) {
  Wave wave;
  wave.index = index;
  wave.mode = c.mode;
  wave.vgpr.resize(c.vgprs);
  for (auto &reg : wave.vgpr)
    for (uint32_t &lane : reg)
      lane = uint32_t(rng());
  for (uint32_t &reg : wave.sgpr)
    reg = uint32_t(rng());
  wave.exec = execPattern(index, rng);
  wave.vcc = rng();
  wave.scc = rng() & 1;
  wave.m0 = uint32_t(rng());
  wave.mem.resize(c.memBytes);
  for (uint8_t &byte : wave.mem)
    byte = uint8_t(rng());
  wave.lds.resize(c.ldsBytes);
  for (uint8_t &byte : wave.lds)
    byte = uint8_t(rng());
  if (c.fill)
    c.fill(wave, rng);
  wave.setS64(58, wave.exec);
  wave.setS64(60, wave.vcc);
  wave.s(62) = wave.scc;
  wave.s(63) = wave.m0;
  return wave;
}

double valueOfF16(uint32_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double magnitude =
      exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(double(mantissa), -24);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// Same-sign distance in units in the last place, of bit patterns of any float format.
bool withinUlps(uint64_t a, uint64_t b, uint64_t signBit, unsigned ulps) {
  if ((a ^ b) & signBit)
    return false;
  return (a > b ? a - b : b - a) <= ulps;
}

bool equalF16(uint32_t got, uint32_t want, const Compare &how) {
  if (got == want)
    return true;
  bool gotNan = (got & 0x7fff) > 0x7c00, wantNan = (want & 0x7fff) > 0x7c00;
  if (gotNan || wantNan)
    return gotNan && wantNan;
  return withinUlps(got, want, 0x8000, how.ulps) ||
         std::fabs(valueOfF16(got) - valueOfF16(want)) <= how.absolute;
}

bool equalBF16(uint32_t got, uint32_t want) {
  if (got == want)
    return true;
  return (got & 0x7fff) > 0x7f80 && (want & 0x7fff) > 0x7f80;
}

bool equalF32(uint32_t got, uint32_t want, const Compare &how) {
  if (got == want)
    return true;
  float g = __builtin_bit_cast(float, got), w = __builtin_bit_cast(float, want);
  if (std::isnan(g) || std::isnan(w))
    return std::isnan(g) && std::isnan(w);
  return withinUlps(got, want, 1u << 31, how.ulps) ||
         (how.absolute > 0 && std::fabs(double(g) - double(w)) <= how.absolute);
}

bool equalF64(uint64_t got, uint64_t want, const Compare &how) {
  if (got == want)
    return true;
  double g = __builtin_bit_cast(double, got), w = __builtin_bit_cast(double, want);
  if (std::isnan(g) || std::isnan(w))
    return std::isnan(g) && std::isnan(w);
  return withinUlps(got, want, 1ull << 63, how.ulps);
}

/// Collects the differences of a case, prints the first few of them.
class Differences {
public:
  explicit Differences(const Case &c) : c(c) {}
  ~Differences() {
    if (count)
      ADD_FAILURE() << c.text
                    << fmt::format("\n  (ieee {} denorm32 {} denorm16 {} round32 {})", c.mode.ieee,
                                   c.mode.denorm32, c.mode.denorm16, c.mode.round32)
                    << "\n  " << count << " differences:" << shown;
  }
  void add(const std::string &what) {
    constexpr unsigned Shown = 4;
    if (++count <= Shown)
      shown += "\n  " + what;
  }

private:
  const Case &c;
  unsigned count = 0;
  std::string shown;
};

/// The registers that table rows read, to make a difference reproducible.
std::string operands(const Wave &start, unsigned lane) {
  std::string text =
      fmt::format("exec {:#x} vcc {:#x} scc {} s32..s37", start.exec, start.vcc, start.scc);
  for (unsigned r = 32; r < 38; ++r)
    text += fmt::format(" {:#x}", start.s(r));
  text += " v8..v15";
  for (unsigned r = 0; r < 8 && r < start.vgpr.size(); ++r)
    text += fmt::format(" {:#x}", start.vgpr[r][lane]);
  return text;
}

void compareVgprs(const Case &c, const Wave &start, const Wave &want, const uint32_t *got,
                  Differences &differences) {
  for (unsigned r = 0; r < c.vgprs; ++r) {
    const unsigned reg = FirstVgpr + r;
    auto how = c.compare.find(reg);
    const Compare compare = how == c.compare.end() ? Compare() : how->second;
    for (unsigned lane = 0; lane < Lanes; ++lane) {
      uint32_t g = got[r * Lanes + lane], w = want.vgpr[r][lane];
      bool same = g == w;
      switch (compare.kind) {
      case Compare::Low16:
        same = (g & 0xffff) == (w & 0xffff);
        break;
      case Compare::Bits:
        break;
      case Compare::F32:
        same = equalF32(g, w, compare);
        break;
      case Compare::F16:
        same = equalF16(g & 0xffff, w & 0xffff, compare) && g >> 16 == w >> 16;
        break;
      case Compare::F16x2:
        same = equalF16(g & 0xffff, w & 0xffff, compare) && equalF16(g >> 16, w >> 16, compare);
        break;
      case Compare::BF16x2:
        same = equalBF16(g & 0xffff, w & 0xffff) && equalBF16(g >> 16, w >> 16);
        break;
      case Compare::F64: {
        uint64_t high = got[(r + 1) * Lanes + lane];
        same = equalF64(g | high << 32, want.v64(reg, lane), compare);
        break;
      }
      }
      // The high dword of an F64 was compared with the low one.
      auto before = c.compare.find(reg - 1);
      if (before != c.compare.end() && before->second.kind == Compare::F64)
        same = true;
      if (!same && !want.ignored.count({reg, lane}))
        differences.add(fmt::format("wave {} lane {} v{}: expected {:#x}, found {:#x}; {}",
                                    start.index, lane, reg, w, g, operands(start, lane)));
    }
  }
}

void compareScalars(const Wave &start, const Wave &want, const uint32_t *got,
                    Differences &differences) {
  auto check = [&](const std::string &name, uint64_t w, uint64_t g) {
    if (w != g)
      differences.add(fmt::format("wave {} {}: expected {:#x}, found {:#x}; {}", start.index, name,
                                  w, g, operands(start, 0)));
  };
  for (unsigned i = 0; i < NumSgprs; ++i) {
    auto ignored = want.ignoredSgprBits.find(FirstSgpr + i);
    const uint32_t mask = ignored == want.ignoredSgprBits.end() ? ~0u : ~ignored->second;
    check(fmt::format("s{}", FirstSgpr + i), want.sgpr[i] & mask, got[i] & mask);
  }
  const uint32_t *special = got + NumSgprs;
  const uint64_t vcc = special[0] | uint64_t(special[1]) << 32;
  check("vcc", want.vcc & ~want.ignoredVcc, vcc & ~want.ignoredVcc);
  check("exec", want.exec, special[2] | uint64_t(special[3]) << 32);
  check("m0", want.m0, special[4]);
  check("scc", want.scc, special[5]);
}

void compareBytes(const char *name, unsigned wave, const std::vector<uint8_t> &want,
                  const uint8_t *found, Differences &differences) {
  for (size_t i = 0; i < want.size(); ++i)
    if (found[i] != want[i])
      differences.add(fmt::format("wave {} {} byte {}: expected {:#x}, found {:#x}", wave, name, i,
                                  want[i], found[i]));
}

void runCase(const Case &c, const gfx950emu::CodeObject &object,
             const gfx950emu::KernelInfo &kernel, gfx950emu::MemoryMap &memory) {
  ASSERT_NE(c.text.find(c.mnemonic), std::string::npos) << c.mnemonic << " is not in its case";
  Rng rng(hashOf(c.text));
  std::vector<Wave> starts;
  for (unsigned w = 0; w < c.waves; ++w)
    starts.push_back(startState(c, w, rng));

  const size_t vgprWords = size_t(c.vgprs) * Lanes;
  DeviceBuffer vgprIn(memory, c.waves * vgprWords * 4), vgprOut(memory, c.waves * vgprWords * 4);
  DeviceBuffer sgprIn(memory, c.waves * NumSgprs * 4);
  DeviceBuffer scalarOut(memory, c.waves * ScalarOutDwords * 4);
  const size_t memoryBytes = c.memBytes + c.ldsBytes;
  DeviceBuffer global(memory, c.waves * memoryBytes);
  for (unsigned w = 0; w < c.waves; ++w) {
    for (unsigned r = 0; r < c.vgprs; ++r)
      std::copy(starts[w].vgpr[r].begin(), starts[w].vgpr[r].end(),
                vgprIn.words() + w * vgprWords + r * Lanes);
    std::copy(starts[w].sgpr.begin(), starts[w].sgpr.end(), sgprIn.words() + w * NumSgprs);
    std::copy(starts[w].mem.begin(), starts[w].mem.end(), global.data + w * memoryBytes);
    std::copy(starts[w].lds.begin(), starts[w].lds.end(),
              global.data + w * memoryBytes + c.memBytes);
  }

  const KernelArgs args{vgprIn.address(), vgprOut.address(), sgprIn.address(), scalarOut.address(),
                        global.address()};
  gfx950emu::Dispatch dispatch;
  dispatch.object = &object;
  dispatch.kernel = &kernel;
  dispatch.grid = {c.waves, 1, 1};
  dispatch.block = {Lanes, 1, 1};
  dispatch.kernarg = {reinterpret_cast<const uint8_t *>(&args), sizeof args};
  gfx950emu::RunOptions options;
  options.threads = 1;
  options.maxInstructions = 10'000'000;
  auto stats = gfx950emu::run(dispatch, memory, options);
  if (!stats) {
    ADD_FAILURE() << c.text << "\n  " << llvm::toString(stats.takeError());
    return;
  }
  executed().insert(c.mnemonic);

  Differences differences(c);
  for (unsigned w = 0; w < c.waves; ++w) {
    Wave want = starts[w];
    c.expect(want);
    compareVgprs(c, starts[w], want, vgprOut.words() + w * vgprWords, differences);
    compareScalars(starts[w], want, scalarOut.words() + w * ScalarOutDwords, differences);
    compareBytes("memory", w, want.mem, global.data + w * memoryBytes, differences);
    compareBytes("LDS", w, want.lds, global.data + w * memoryBytes + c.memBytes, differences);
  }
}

class SuiteTest : public testing::Test {
public:
  SuiteTest(std::string title, const std::vector<Case> &cases)
      : title(std::move(title)), cases(cases) {}
  void TestBody() override { runCases(title, cases); }

private:
  std::string title;
  const std::vector<Case> &cases;
};

} // namespace

WrittenOut::WrittenOut(std::initializer_list<const char *> mnemonics) {
  writtenOut().insert(mnemonics.begin(), mnemonics.end());
}

SuiteRegistrar::SuiteRegistrar(const char *name, void (*build)(Suite &)) {
  pendingSuites().push_back({name, build});
}

void runCases(const std::string &title, const std::vector<Case> &cases) {
  Assembled assembled = assemble(moduleText(cases));
  ASSERT_EQ(assembled.error, "") << title;
  gfx950emu::MemoryMap memory;
  auto object = gfx950emu::CodeObject::load(assembled.image, memory);
  if (!object) {
    FAIL() << title << ": " << llvm::toString(object.takeError());
  }
  for (unsigned i = 0; i < cases.size(); ++i) {
    const gfx950emu::KernelInfo *kernel = (*object)->find(kernelName(i));
    ASSERT_NE(kernel, nullptr) << title << ": kernel " << i << " is not in the code object";
    runCase(cases[i], **object, *kernel, memory);
  }
}

bool runRaw(RawKernel &kernel, const std::vector<std::string> &mnemonics) {
  Assembled assembled = assemble(rawModuleText(kernel.body, unsigned(kernel.buffers.size()),
                                               kernel.ldsBytes, kernel.scratchBytes));
  EXPECT_EQ(assembled.error, "");
  if (!assembled.error.empty())
    return false;
  gfx950emu::MemoryMap memory;
  auto object = gfx950emu::CodeObject::load(assembled.image, memory);
  if (!object) {
    ADD_FAILURE() << llvm::toString(object.takeError());
    return false;
  }
  std::vector<std::unique_ptr<DeviceBuffer>> buffers;
  std::vector<uint64_t> addresses;
  for (const std::vector<uint32_t> &words : kernel.buffers) {
    buffers.push_back(std::make_unique<DeviceBuffer>(memory, words.size() * 4));
    std::copy(words.begin(), words.end(), buffers.back()->words());
    addresses.push_back(buffers.back()->address());
  }
  gfx950emu::Dispatch dispatch;
  dispatch.object = object->get();
  dispatch.kernel = (*object)->find(kernelName(0));
  dispatch.grid = {kernel.grid, 1, 1};
  dispatch.block = {kernel.block, 1, 1};
  dispatch.kernarg = {reinterpret_cast<const uint8_t *>(addresses.data()), addresses.size() * 8};
  auto stats = gfx950emu::run(dispatch, memory, {});
  if (!stats) {
    ADD_FAILURE() << kernel.body << "\n  " << llvm::toString(stats.takeError());
    return false;
  }
  executed().insert(mnemonics.begin(), mnemonics.end());
  for (size_t i = 0; i < buffers.size(); ++i)
    std::copy_n(buffers[i]->words(), kernel.buffers[i].size(), kernel.buffers[i].begin());
  return true;
}

std::set<std::string> registerSuites() {
  static std::vector<std::unique_ptr<Suite>> suites;
  std::set<std::string> mnemonics = writtenOut();
  for (const PendingSuite &pending : pendingSuites()) {
    suites.push_back(std::make_unique<Suite>(pending.name));
    pending.build(*suites.back());
    for (const auto &[mnemonic, cases] : suites.back()->cases) {
      mnemonics.insert(mnemonic);
      std::string title = suites.back()->name + "." + mnemonic;
      testing::RegisterTest(
          pending.name, mnemonic.c_str(), nullptr, nullptr, __FILE__, __LINE__,
          [title, &cases = cases]() -> SuiteTest * { return new SuiteTest(title, cases); });
    }
  }
  return mnemonics;
}

const std::set<std::string> &executedMnemonics() { return executed(); }

uint64_t execPattern(unsigned wave, Rng &rng) {
  switch (wave % 8) {
  case 1:
    return 0xaaaaaaaaaaaaaaaa;
  case 2:
    return rng();
  case 3:
    return 1ull << (rng() & 63);
  case 4:
    return 0x0000ffffffff0000;
  case 6:
    return 0;
  default:
    return ~0ull;
  }
}

std::string hex(uint32_t value) { return fmt::format("{:#x}", value); }

} // namespace isatest
