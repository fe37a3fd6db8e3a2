// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A shared library that is no plug-in.
extern "C" int something_else() {
  return 0;
}
