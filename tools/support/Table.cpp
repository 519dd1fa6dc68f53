//===- Table.cpp - aligned columns of text ------------------------------------===//
//
// Owns: what Table.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/support/Table.h"

#include <algorithm>

namespace support {

std::string Table::text() const {
  std::vector<size_t> width(lines[0].size());
  for (const std::vector<std::string> &line : lines)
    for (size_t i = 0; i < line.size(); ++i)
      width[i] = std::max(width[i], line[i].size());
  std::string text;
  for (const std::vector<std::string> &line : lines) {
    std::string row;
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string pad(width[i] - line[i].size(), ' ');
      row += i == 0 ? "" : "  ";
      row += left.contains(i) ? line[i] + pad : pad + line[i];
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
    if (&line == &lines[0])
      text += std::string(row.size(), '-') + "\n";
  }
  return text;
}

} // namespace support
