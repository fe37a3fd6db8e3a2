// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The part of a line behind its object: which arguments and flags may, must and cannot stand there.
#include <hcasim/sim/nearest.hpp>

#include "sim/trace/line_parser.hpp"

namespace hcasim::sim::trace {
namespace {

// "a=, b= or c=" for the errors of missing arguments.
std::string key_list(const KeySet& keys, std::string_view last) {
  std::vector<std::string_view> texts;
  keys.any([&](std::size_t key) {
    texts.push_back(key_rows()[key].text);
    return false;
  });
  std::string list;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i != 0) list += i + 1 == texts.size() ? last : ", ";
    (list += texts[i]) += '=';
  }
  return list;
}

std::vector<std::string_view> candidates(const KeySet& keys, std::uint32_t flags) {
  std::vector<std::string_view> words;
  keys.any([&](std::size_t key) {
    words.push_back(key_rows()[key].text);
    return false;
  });
  for (const WordRow& row : flag_words()) {
    if ((row.value & flags) != 0) words.push_back(row.word);
  }
  return words;
}

}  // namespace

void LineParser::read_arguments(const VerbRow& verb, const OpcodeRow* opcode,
                                Operation& operation) {
  KeySet allowed = verb.required | verb.optional | verb.one_of;
  std::uint32_t flags = verb.flags;
  std::string_view subject = verb.name;
  if (opcode != nullptr) {
    allowed = allowed | opcode->required | opcode->optional | opcode->one_of | opcode->either |
              opcode->or_all;
    flags |= opcode->flags;
    subject = opcode->name;
  }
  for (std::string_view token = word(); !token.empty(); token = word()) {
    const std::size_t equals = token.find('=');
    if (equals == std::string_view::npos) {
      read_flag(token, flags, subject, allowed, operation);
      continue;
    }
    const std::size_t key = find_key(token, token.substr(0, equals), allowed, subject, flags);
    seen_.insert(key);
    read_value(key_rows()[key], token.substr(equals + 1), operation);
  }
  need_all(verb.required, subject);
  need_one_of(verb.one_of, subject);
  if (opcode != nullptr) {
    need_all(opcode->required, subject);
    need_one_of(opcode->one_of, subject);
    need_either(*opcode);
  }
}

void LineParser::read_flag(std::string_view text, std::uint32_t allowed, std::string_view subject,
                           const KeySet& keys, Operation& operation) {
  for (const WordRow& row : flag_words()) {
    if (row.word != text || (row.value & allowed) == 0) continue;
    if ((row.value & operation.flags) != 0) fail(text, "each flag once");
    operation.flags |= static_cast<std::uint32_t>(row.value);
    return;
  }
  fail(text, "an argument or a flag of " + std::string(subject),
       nearest(text, candidates(keys, allowed)));
}

std::size_t LineParser::find_key(std::string_view token, std::string_view key,
                                 const KeySet& allowed, std::string_view subject,
                                 std::uint32_t flags) const {
  const std::span<const KeyRow> rows = key_rows();
  std::size_t found = kMaxKeys;
  allowed.any([&](std::size_t index) {
    if (rows[index].text != key) return false;
    found = index;
    return true;
  });
  if (found == kMaxKeys) {
    fail(key.empty() ? token : key, "an argument of " + std::string(subject),
         nearest(key, candidates(allowed, flags)));
  }
  if (seen_.contains(found)) fail(key, "each argument once");
  return found;
}

bool LineParser::has_all(const KeySet& keys) const {
  return !keys.any([&](std::size_t key) { return !seen_.contains(key); });
}

void LineParser::need_all(const KeySet& required, std::string_view subject) const {
  required.any([&](std::size_t key) {
    if (!seen_.contains(key)) {
      fail_end("argument " + std::string(key_rows()[key].text) + "= of " + std::string(subject));
    }
    return false;
  });
}

void LineParser::need_one_of(const KeySet& choice, std::string_view subject) const {
  if (choice.empty()) return;
  std::size_t count = 0;
  choice.any([&](std::size_t key) {
    count += seen_.contains(key) ? 1 : 0;
    return false;
  });
  if (count != 1) fail_end("one of " + key_list(choice, " or ") + " of " + std::string(subject));
}

void LineParser::need_either(const OpcodeRow& opcode) const {
  if (has_all(opcode.either) || has_all(opcode.or_all)) return;
  fail_end("arguments " + key_list(opcode.either, " and ") + " or " +
           key_list(opcode.or_all, " and ") + " of " + std::string(opcode.name));
}

}  // namespace hcasim::sim::trace
