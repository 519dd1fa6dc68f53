//===- RuleFilesTest.cpp - every rule with code that breaks and keeps it ----===//
//
// rules/<id>.s holds cases, each begun by a line
//   //! needs N   the line WAIT stands for wait states: N - 1 of them break the rule, N keep it
//   //! fails     breaks the rule
//   //! passes    has no error
//
//===------------------------------------------------------------------------===//

#include "tests/compiler/lint/Fixture.h"

#include "compiler/lint/HazardRules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <filesystem>
#include <set>

namespace nvfp4gen::lint {
namespace {

struct Case {
  std::string rule;
  std::string kind; ///< "needs", "fails" or "passes"
  unsigned needed = 0;
  std::string body;
  unsigned line = 0;
};

std::vector<Case> readCases(const std::filesystem::path &path) {
  std::vector<Case> cases;
  std::ifstream in(path);
  std::string text;
  for (unsigned line = 1; std::getline(in, text); ++line) {
    if (llvm::StringRef head = text; head.consume_front("//! ")) {
      auto [kind, number] = head.split(' ');
      Case &next = cases.emplace_back();
      next.rule = path.stem();
      next.kind = kind.str();
      next.line = line;
      if (!number.empty() && number.getAsInteger(10, next.needed))
        ADD_FAILURE() << path << ":" << line << ": expected a number, found " << number.str();
    } else if (!cases.empty()) {
      cases.back().body += text + "\n";
    }
  }
  return cases;
}

std::vector<std::filesystem::path> ruleFiles() {
  std::vector<std::filesystem::path> files;
  for (const auto &entry : std::filesystem::directory_iterator(LINT_RULES_DIR))
    files.push_back(entry.path());
  llvm::sort(files);
  return files;
}

std::string withWaits(std::string body, const std::string &waits) {
  size_t at = body.find("  WAIT\n");
  if (at == std::string::npos)
    ADD_FAILURE() << "a case that needs wait states has no line WAIT";
  else
    body.replace(at, 7, waits);
  return body;
}

std::vector<std::string> errors(const KernelLint &lint) {
  std::vector<std::string> texts;
  for (const Finding &finding : lint.findings)
    if (finding.rule->severity == Severity::Error)
      texts.push_back(describe(finding));
  return texts;
}

size_t count(const KernelLint &lint, const std::string &rule) {
  return size_t(llvm::count_if(lint.findings, [&](const auto &f) { return f.rule->id == rule; }));
}

void checkNeeds(const Case &c) {
  for (bool single : {false, true}) {
    KernelLint broken = lintBody(withWaits(c.body, waits(c.needed - 1, single)));
    EXPECT_EQ(errors(broken).size(), 1u) << llvm::join(errors(broken), "\n");
    for (const Finding &f : broken.findings)
      if (f.isHazard()) {
        EXPECT_EQ(f.rule->id, c.rule);
        EXPECT_EQ(f.needed, c.needed);
        EXPECT_EQ(f.found, c.needed - 1);
        EXPECT_EQ(f.source->pc, 0) << "the first instruction is the source";
      }
    KernelLint kept = lintBody(withWaits(c.body, waits(c.needed, single)));
    EXPECT_TRUE(errors(kept).empty()) << llvm::join(errors(kept), "\n");
  }
  // Nothing between the two is as far from enough as it can be.
  KernelLint adjacent = lintBody(withWaits(c.body, ""));
  EXPECT_EQ(count(adjacent, c.rule), 1u);
}

class RuleFiles : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(RuleFiles, BreaksAndKeepsTheRule) {
  std::set<std::string> kinds;
  for (const Case &c : readCases(GetParam())) {
    SCOPED_TRACE(GetParam().filename().string() + ":" + std::to_string(c.line));
    kinds.insert(c.kind);
    if (c.kind == "needs") {
      checkNeeds(c);
    } else if (c.kind == "fails") {
      EXPECT_GE(count(lintBody(c.body), c.rule), 1u);
    } else if (c.kind == "passes") {
      KernelLint lint = lintBody(c.body);
      EXPECT_TRUE(errors(lint).empty()) << llvm::join(errors(lint), "\n");
      EXPECT_EQ(count(lint, c.rule), 0u);
    } else {
      ADD_FAILURE() << "unknown kind " << c.kind;
    }
  }
  EXPECT_TRUE(kinds.count("needs") || kinds.count("fails")) << "no case breaks the rule";
  EXPECT_TRUE(kinds.count("passes")) << "no case keeps the rule";
}

INSTANTIATE_TEST_SUITE_P(Lint, RuleFiles, testing::ValuesIn(ruleFiles()), [](const auto &info) {
  std::string name = info.param.stem();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(RuleFiles, AreThereForEveryRuleOnCode) {
  std::set<std::string> expected, found;
  for (const HazardRule &rule : hazardRules())
    expected.insert(rule.rule.id.str());
  for (const Rule *rule :
       {&kPkFmaRule, &kScratchRule, &kNotDecodableRule, &kNotAnalysableRule, &kOpenSemanticsRule})
    expected.insert(rule->id.str());
  for (const auto &path : ruleFiles())
    found.insert(path.stem());
  EXPECT_EQ(found, expected);
}

TEST(HazardRules, NeedNoMoreThanTheyDeclare) {
  for (const auto &path : ruleFiles())
    for (const Case &c : readCases(path))
      for (const HazardRule &rule : hazardRules())
        if (rule.rule.id == c.rule) {
          EXPECT_LE(c.needed, rule.most) << c.rule << ":" << c.line;
        }
}

} // namespace
} // namespace nvfp4gen::lint
