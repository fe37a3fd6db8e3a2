# SPDX-FileCopyrightText: hcasim contributors
# SPDX-License-Identifier: Apache-2.0
#
# Includes in OUTPUT all that Verilator wrote to FOLDER, and PLUGIN behind it. The number of files is
# not known before.
file(GLOB parts ${FOLDER}/*.cpp)
set(text "// What Verilator made of the RTL, in one piece.\n")
foreach(part IN LISTS parts)
  string(APPEND text "#include \"${part}\"\n")
endforeach()
string(APPEND text "#define HCASIM_RTL_CLASS ${CLASS}\n#include \"${PLUGIN}\"\n")
file(WRITE ${OUTPUT} "${text}")
