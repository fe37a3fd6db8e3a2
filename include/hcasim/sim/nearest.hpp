// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hcasim::sim {

/// Number of single-letter insertions, deletions, replacements and swaps of neighbours that turn
/// `left` into `right`; upper and lower case count as equal.
inline std::size_t edit_distance(std::string_view left, std::string_view right) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  const std::size_t width = right.size() + 1;
  std::vector<std::size_t> rows(3 * width);
  const auto cell = [&](std::size_t i, std::size_t j) -> std::size_t& {
    return rows[i % 3 * width + j];
  };
  for (std::size_t j = 0; j < width; ++j) cell(0, j) = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    cell(i, 0) = i;
    for (std::size_t j = 1; j < width; ++j) {
      const bool same = lower(left[i - 1]) == lower(right[j - 1]);
      cell(i, j) =
          std::min({cell(i - 1, j) + 1, cell(i, j - 1) + 1, cell(i - 1, j - 1) + (same ? 0U : 1U)});
      const bool swapped = i > 1 && j > 1 && lower(left[i - 1]) == lower(right[j - 2]) &&
                           lower(left[i - 2]) == lower(right[j - 1]);
      if (swapped) cell(i, j) = std::min(cell(i, j), cell(i - 2, j - 2) + 1);
    }
  }
  return cell(left.size(), right.size());
}

/// The word of `candidates` (any range of strings) that is nearest to `word`, or an empty string
/// when none is near: up to a third of the longer word, at least one letter, may differ. Of equally
/// near words the first is taken, so the answer does not depend on anything but the arguments.
template <typename Range>
std::string nearest(std::string_view word, const Range& candidates) {
  constexpr std::size_t kLongest = 64;
  std::string best;
  std::size_t best_distance = kLongest;
  if (word.empty() || word.size() > kLongest) return best;
  for (const auto& item : candidates) {
    const std::string_view candidate(item);
    const std::size_t longer = std::max(word.size(), candidate.size());
    const std::size_t distance = edit_distance(word, candidate);
    if (distance > std::max<std::size_t>(1, longer / 3) || distance >= best_distance) continue;
    // One letter that is wrong altogether suggests nothing.
    if (distance >= longer) continue;
    best = std::string(candidate);
    best_distance = distance;
  }
  return best;
}

}  // namespace hcasim::sim
