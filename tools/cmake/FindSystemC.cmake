# SPDX-FileCopyrightText: hcasim contributors
# SPDX-License-Identifier: Apache-2.0
#
# Debian ships SystemC with pkg-config files only. Defines SystemC::systemc. The library was built
# as C++17 and checks that at link time; SC_CPLUSPLUS keeps the check happy under C++20.
find_path(SystemC_INCLUDE_DIR systemc)
find_library(SystemC_LIBRARY systemc)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SystemC REQUIRED_VARS SystemC_LIBRARY SystemC_INCLUDE_DIR)
if(SystemC_FOUND AND NOT TARGET SystemC::systemc)
  add_library(SystemC::systemc UNKNOWN IMPORTED)
  set_target_properties(SystemC::systemc PROPERTIES
    IMPORTED_LOCATION "${SystemC_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${SystemC_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS "SC_CPLUSPLUS=201703L;SC_DISABLE_API_VERSION_CHECK")
endif()
