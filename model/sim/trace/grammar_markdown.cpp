// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The grammar's tables as Markdown.
#include <hcasim/sim/trace.hpp>
#include "sim/trace/grammar.hpp"

namespace hcasim::sim {
namespace trace {
namespace {

std::string code(std::string_view text) {
  return "`" + std::string(text) + "`";
}

// `a= b=`, in code quotes, with an article of choice between.
std::string key_words(const KeySet& keys, std::string_view separator) {
  std::string text;
  keys.any([&](std::size_t key) {
    if (!text.empty()) text += separator;
    text += code(std::string(key_rows()[key].text) + "=");
    return false;
  });
  return text;
}

std::string flag_list(std::uint32_t flags) {
  std::string text;
  for (const WordRow& row : flag_words()) {
    if ((row.value & flags) != 0) (text += text.empty() ? "" : " ") += code(row.word);
  }
  return text;
}

std::string required_words(const KeySet& required, const KeySet& one_of) {
  std::string text = key_words(required, " ");
  if (one_of.empty()) return text;
  if (!text.empty()) text += ", ";
  return text + "one of " + key_words(one_of, " ");
}

void append_row(std::string& text, std::initializer_list<std::string> cells) {
  text += '|';
  for (const std::string& cell : cells) text += " " + cell + " |";
  text += '\n';
}

std::string verb_table() {
  std::string text = "| verb | object | required | optional | flags | meaning |\n";
  text += "|---|---|---|---|---|---|\n";
  constexpr std::string_view kRoles[] = {"new ", "", ""};
  for (const VerbRow& row : verb_rows()) {
    const std::string object = std::string(kRoles[static_cast<std::size_t>(row.role)]) +
                               std::string(kind_name(row.object));
    append_row(text, {code(row.name), row.verb == Verb::kConnect ? "two new QPs" : object,
                      required_words(row.required, row.one_of), key_words(row.optional, " "),
                      flag_list(row.flags), std::string(row.help)});
  }
  return text;
}

std::string opcode_table() {
  std::string text = "| opcode | required | optional | flags | meaning |\n|---|---|---|---|---|\n";
  for (const OpcodeRow& row : opcode_rows()) {
    std::string required = required_words(row.required, row.one_of);
    if (!row.either.empty()) {
      required += "; " + key_words(row.either, " ") + " or " + key_words(row.or_all, " and ");
    }
    append_row(text, {code(row.name), required, key_words(row.optional, " "), flag_list(row.flags),
                      std::string(row.help)});
  }
  return text;
}

// Arguments of the verbs that make something, as opposed to those that change it.
bool has_initial(std::size_t key) {
  for (const VerbRow& row : verb_rows()) {
    if (row.role == Role::kCreates && row.optional.contains(key)) return true;
  }
  return false;
}

std::string initial_text(const KeyRow& row) {
  if (!has_initial(key_index(row.id))) return "";
  switch (row.kind) {
    case Kind::kNumber:
    case Kind::kMtu:
      return std::to_string(row.initial);
    case Kind::kPsnPair:
      return "0,0";
    case Kind::kAccess:
      return code(word_of(access_words(), row.initial));
    case Kind::kServiceType:
      return code(word_of(service_types(), row.initial));
    default:
      return "";
  }
}

std::string key_table() {
  std::string text =
      "| argument | value | of a new object if absent | meaning |\n|---|---|---|---|\n";
  for (const KeyRow& row : key_rows()) {
    append_row(text, {code(std::string(row.text) + "="), describe_value(row), initial_text(row),
                      std::string(row.help)});
  }
  return text;
}

std::string word_table(std::string_view title, std::span<const WordRow> words) {
  std::string text = "| " + std::string(title) + " | meaning |\n|---|---|\n";
  for (const WordRow& row : words) append_row(text, {code(row.word), std::string(row.help)});
  return text;
}

}  // namespace
}  // namespace trace

std::string grammar_markdown() {
  return "### Verbs\n\n" + trace::verb_table() + "\n### Opcodes of `post_send`\n\n" +
         trace::opcode_table() + "\n### Arguments\n\n" + trace::key_table() + "\n### Rights\n\n" +
         trace::word_table("right", trace::access_words()) + "\n### Flags\n\n" +
         trace::word_table("flag", trace::flag_words());
}

}  // namespace hcasim::sim
