//===- Audit.cpp --------------------------------------------------------------===//

#include "tools/gfx950emu/audit/Audit.h"

#include "tools/gfx950emu/core/Program.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/GlobPattern.h"

#include <iterator>
#include <map>
#include <utility>

using namespace llvm;

namespace gfx950emu::audit {

namespace {

constexpr OpenSemantic table[] = {
#define OPEN(Id, Pattern, Form, What, Guess) {Id, Pattern, Form, What, Guess},
#include "tools/gfx950emu/audit/OpenSemantics.def"
#undef OPEN
};

/// Of one pattern, once its braces are expanded.
constexpr size_t mostAlternatives = 64;

/// The patterns of the table, in its order.
const std::vector<GlobPattern> &patterns() {
  static const std::vector<GlobPattern> compiled = [] {
    std::vector<GlobPattern> result;
    result.reserve(std::size(table));
    transform(table, std::back_inserter(result), [](const OpenSemantic &row) {
      return cantFail(GlobPattern::create(row.pattern, mostAlternatives));
    });
    return result;
  }();
  return compiled;
}

/// Collects the uses of one kernel, by row and mnemonic.
class Collector {
public:
  explicit Collector(const DecodedProgram &program) : program(program) {}

  void add(const Inst &in) {
    std::string mnemonic = in.op ? in.op->mnemonic.str() : program.mnemonic(&in);
    if (!in.op) {
      if (mnemonic != "s_code_end") // padding
        count(std::size(table), mnemonic.empty() ? "<no instruction>" : mnemonic, in);
      return;
    }
    for (const OpenSemantic *row : openSemanticsOf(mnemonic, in.form))
      count(size_t(row - table), mnemonic, in);
  }

  std::vector<Use> take() {
    std::vector<Use> result;
    result.reserve(uses.size());
    for (auto &[key, use] : uses)
      result.push_back(std::move(use));
    uses.clear();
    return result;
  }

private:
  void count(size_t row, const std::string &mnemonic, const Inst &in) {
    Use &use = uses[{row, mnemonic}];
    if (use.count++ == 0) {
      use.open = row < std::size(table) ? &table[row] : nullptr;
      use.mnemonic = mnemonic;
      use.first = program.location(program.address(&in));
    }
  }

  const DecodedProgram &program;
  std::map<std::pair<size_t, std::string>, Use> uses;
};

std::string escaped(StringRef text) {
  std::string out;
  for (char c : text)
    out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

} // namespace

ArrayRef<OpenSemantic> openSemantics() { return table; }

std::vector<const OpenSemantic *> openSemanticsOf(StringRef mnemonic, uint8_t form) {
  std::vector<const OpenSemantic *> rows;
  for (size_t i = 0; i < std::size(table); ++i)
    if ((form & table[i].form) == table[i].form && patterns()[i].match(mnemonic))
      rows.push_back(&table[i]);
  return rows;
}

std::vector<KernelAudit> audit(const CodeObject &object) {
  const DecodedProgram &program = object.program();
  Collector outside(program);
  std::vector<Collector> inside(object.kernels().size(), Collector(program));
  for (const Inst &in : program.instructions()) {
    uint64_t address = program.address(&in);
    auto owner = find_if(object.kernels(),
                         [&](const KernelInfo &k) { return address - k.entry < k.codeBytes; });
    size_t index = size_t(owner - object.kernels().begin());
    (index < inside.size() ? inside[index] : outside).add(in);
  }
  std::vector<KernelAudit> result;
  result.reserve(inside.size() + 1);
  for (size_t i = 0; i < inside.size(); ++i)
    result.push_back({object.kernels()[i].name, inside[i].take()});
  if (std::vector<Use> rest = outside.take(); !rest.empty())
    result.push_back({"", std::move(rest)});
  return result;
}

void printAudit(ArrayRef<KernelAudit> kernels, raw_ostream &os) {
  for (const KernelAudit &k : kernels) {
    os << (k.kernel.empty() ? "(outside of the kernels)" : k.kernel) << ": ";
    if (k.uses.empty()) {
      os << "nothing open\n";
      continue;
    }
    os << k.uses.size() << " open\n";
    for (const Use &use : k.uses) {
      os << "  " << use.mnemonic << " (" << use.count << ", first at " << use.first << ")";
      if (use.open)
        os << " [" << use.open->id << "]\n    open:  " << use.open->what
           << "\n    guess: " << use.open->guess << '\n';
      else
        os << "\n    the emulator does not know this instruction\n";
    }
  }
}

json::Array toJson(ArrayRef<KernelAudit> kernels) {
  json::Array result;
  for (const KernelAudit &k : kernels) {
    json::Array uses;
    for (const Use &use : k.uses) {
      json::Object o{{"mnemonic", use.mnemonic},
                     {"count", use.count},
                     {"first", use.first},
                     {"known", use.open != nullptr}};
      if (use.open) {
        o["id"] = use.open->id;
        o["open"] = use.open->what;
        o["guess"] = use.open->guess;
      }
      uses.push_back(std::move(o));
    }
    result.push_back(json::Object{{"kernel", k.kernel}, {"uses", std::move(uses)}});
  }
  return result;
}

std::string markdown() {
  std::string text = "# Open semantics of gfx950\n\n"
                     "What public sources leave open, and the guess that the emulator takes. "
                     "`gfx950emu audit X.hsaco` lists\nthe rows that a code object meets; "
                     "`gfx950emu audit --table` prints this page.\n\n"
                     "| row | instructions | open | guess |\n|---|---|---|---|\n";
  for (const OpenSemantic &row : table)
    text += "| " + row.id.str() + " | `" + escaped(row.pattern) + "`" +
            (row.form ? " with DPP" : "") + " | " + escaped(row.what) + " | " + escaped(row.guess) +
            " |\n";
  return text;
}

} // namespace gfx950emu::audit
