//===- Table.h - aligned columns of text --------------------------------------===//
//
// Owns: the tables that reports print.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_SUPPORT_TABLE_H
#define NVFP4GEN_TOOLS_SUPPORT_TABLE_H

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace support {

/// Lines of cells under a head, each column as wide as its widest cell.
class Table {
public:
  /// Columns are right-aligned but for those in `left`.
  explicit Table(std::vector<std::string> head, std::set<size_t> left = {0})
      : lines{std::move(head)}, left(std::move(left)) {}
  /// As many cells as the head has.
  void add(std::vector<std::string> line) { lines.push_back(std::move(line)); }
  /// The head is underlined; no line ends in spaces.
  std::string text() const;

private:
  std::vector<std::vector<std::string>> lines;
  std::set<size_t> left;
};

} // namespace support

#endif // NVFP4GEN_TOOLS_SUPPORT_TABLE_H
