// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hcasim::testing_support {

/// While it lives, new (std::nothrow) works `left` more times and then has no memory; other forms
/// of new are not concerned.
class FailingNew {
 public:
  explicit FailingNew(int left);
  ~FailingNew();
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;
};

}  // namespace hcasim::testing_support
