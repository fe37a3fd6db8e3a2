# SPDX-FileCopyrightText: hcasim contributors
# SPDX-License-Identifier: Apache-2.0
#
# cmake -D build=DIR -D source=DIR -D prefix=DIR -P install.cmake: installs the build, moves the copy
# to the prefix, and looks at what its users will get.
file(REMOVE_RECURSE ${prefix} ${prefix}.before)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${prefix}.before
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${prefix}.before ${prefix})

execute_process(COMMAND ${prefix}/bin/hcasim --version COMMAND_ERROR_IS_FATAL ANY)

file(GLOB_RECURSE package_files ${prefix}/*.cmake)
if(NOT package_files)
  message(FATAL_ERROR "no package was installed")
endif()
foreach(file IN LISTS package_files)
  file(READ ${file} text)
  # The one of HcasimRtl is Verilator's.
  if(NOT file MATCHES "HcasimRtl" AND text MATCHES "[\"; ](-W[^\"; ]*)")
    message(FATAL_ERROR "${file}: ${CMAKE_MATCH_1} would reach the users")
  endif()
  string(FIND "${text}" ${source} place)
  if(NOT place EQUAL -1)
    message(FATAL_ERROR "${file}: names ${source}, which users do not have")
  endif()
endforeach()
