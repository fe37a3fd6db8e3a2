// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "unit/driver/failing_new.hpp"

#include "support/replaced_new.hpp"

namespace hcasim::testing_support {
namespace {

int left_until_failure = 0;

bool fails(testing::NewForm form) {
  if (form == testing::NewForm::kThrows) return false;
  if (left_until_failure == 0) return true;
  --left_until_failure;
  return false;
}

}  // namespace

FailingNew::FailingNew(int left) {
  left_until_failure = left;
  testing::allocation_fails = fails;
}
FailingNew::~FailingNew() {
  testing::allocation_fails = nullptr;
}

}  // namespace hcasim::testing_support
