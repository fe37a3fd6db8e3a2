// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Operations to text.
#include <bit>

#include "sim/cosim/stimulus_list.hpp"
#include "sim/cosim/stimulus_syntax.hpp"

namespace hcasim::sim::cosim {
namespace {

void append_bits(std::string& text, std::uint32_t pattern) {
  for (int bit = std::bit_width(pattern) - 2; bit >= 0; --bit) {
    text += (pattern >> static_cast<unsigned>(bit) & 1U) != 0 ? '1' : '0';
  }
}

void append(std::string& text, const Operation& operation) {
  const OperationForm& form = form_of(operation.kind);
  text += form.name;
  for (const Field& field : form.fields) {
    const std::uint32_t value = operation.*field.member;
    text += ' ';
    text += field.name;
    text += '=';
    switch (field.form) {
      case FieldForm::kNumber:
        text += std::to_string(value);
        break;
      case FieldForm::kWord:
        text += field.words[value];
        break;
      case FieldForm::kBits:
        append_bits(text, value);
        break;
    }
  }
}

}  // namespace

std::string to_text(const Operation& operation) {
  std::string text;
  append(text, operation);
  return text;
}

std::string to_text(const StimulusList& list, std::string_view remark) {
  std::string text(kFirstLine);
  text += '\n';
  while (!remark.empty()) {
    const std::size_t end = std::min(remark.find('\n'), remark.size());
    text += "# ";
    text += remark.substr(0, end);
    text += '\n';
    remark.remove_prefix(std::min(end + 1, remark.size()));
  }
  text += kParametersWord;
  for (const ParameterField& field : kParameterFields) {
    text += ' ';
    text += field.name;
    text += '=' + std::to_string(list.parameters.*field.member);
  }
  text += '\n';
  for (const Operation& operation : list.operations) {
    append(text, operation);
    text += '\n';
  }
  return text;
}

}  // namespace hcasim::sim::cosim
