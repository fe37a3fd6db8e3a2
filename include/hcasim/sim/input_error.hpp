// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hcasim::sim {

/// Where and why an input (trace, configuration, capture, command line) cannot be used. what() is
/// one line:
///
///     FILE:LINE:COL: expected X, found 'Y'; did you mean 'Z'?
///
/// LINE and COL are left out when the line is 0, the suggestion when it is empty. Bytes of the
/// input that cannot be printed are shown as `\xHH` and a long find is cut, so the line stays one
/// line.
class InputError : public std::runtime_error {
 public:
  /// One fault. `line` and `column` count from 1; 0 means the file as a whole. `found` and
  /// `suggestion` may be empty.
  InputError(std::string file, std::uint64_t line, std::uint64_t column, std::string expected,
             std::string found, std::string suggestion = {})
      : std::runtime_error(message(file, line, column, expected, found, suggestion)),
        file_(std::move(file)),
        line_(line),
        column_(column),
        expected_(std::move(expected)),
        found_(std::move(found)),
        suggestion_(std::move(suggestion)) {}

  /// Name of the input as the user gave it.
  const std::string& file() const { return file_; }
  /// Line from 1, or 0 when the fault is not in one line.
  std::uint64_t line() const { return line_; }
  /// Column in bytes from 1, or 0 when the fault is not in one line.
  std::uint64_t column() const { return column_; }
  /// What would have been right, without the word "expected".
  const std::string& expected() const { return expected_; }
  /// The text found in its place, as it stands in the input; may be empty.
  const std::string& found() const { return found_; }
  /// The nearest right spelling; empty when none is near.
  const std::string& suggestion() const { return suggestion_; }

 private:
  static std::string printable(std::string_view text) {
    constexpr std::size_t kLongest = 60;
    constexpr char kHex[] = "0123456789abcdef";
    std::string result;
    for (const char c : text.substr(0, kLongest)) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= 0x20 && byte < 0x7f) {
        result += c;
      } else {
        result += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
      }
    }
    if (text.size() > kLongest) result += "...";
    return result;
  }

  static std::string message(const std::string& file, std::uint64_t line, std::uint64_t column,
                             const std::string& expected, const std::string& found,
                             const std::string& suggestion) {
    std::string text = file;
    if (line != 0) text += ':' + std::to_string(line) + ':' + std::to_string(column);
    text += ": expected " + expected;
    if (!found.empty()) text += ", found '" + printable(found) + '\'';
    if (!suggestion.empty()) text += "; did you mean '" + printable(suggestion) + "'?";
    return text;
  }

  std::string file_;
  std::uint64_t line_;
  std::uint64_t column_;
  std::string expected_;
  std::string found_;
  std::string suggestion_;
};

/// An output file that could not be written (full disk, missing folder, no permission). what() is
/// one line: `FILE: cannot write: REASON`. Nothing half written is left at the file's name.
class OutputError : public std::runtime_error {
 public:
  /// `reason` in words, such as the text of errno.
  OutputError(const std::string& file, const std::string& reason)
      : std::runtime_error(file + ": cannot write: " + reason) {}
};

}  // namespace hcasim::sim
