# SPDX-FileCopyrightText: hcasim contributors
# SPDX-License-Identifier: Apache-2.0
#
# Receive-queue units from RTL, as plug-ins of `hcasim --rtl`. Used by this project and by those that
# found its package.

find_program(HCASIM_VERILATOR verilator)
find_program(HCASIM_YOSYS yosys)

# The parameters of the unit, with the values that one has unless it is told others.
set(HCASIM_RTL_PARAMETERS
  Queues=64 Takes=16 Prefetch=8 Tags=32 FetchBytes=512 Lines=64 Events=8
  QueueWidth=24 AddressWidth=64 IndexWidth=16 TakeTagWidth=32 DataWidth=512)

# hcasim_add_rtl(NAME
#   SOURCES file...         SystemVerilog, packages first
#   [TOP module]            receive_queue unless given
#   [PARAMETERS Name=value...]  set in the RTL: Queues, Takes, Prefetch, Tags, FetchBytes, Lines,
#                           Events, QueueWidth, AddressWidth, IndexWidth, TakeTagWidth, DataWidth
#   [FIXED Name=value...]   the same of an RTL that has no such parameter and this value built in
#   [BACKEND verilator|cxxrtl]  what simulates it; verilator unless given
#   [NO_ASSERTIONS]         leaves out the assertions of the RTL; else one that fails ends a run
#   [FLAGS flag...])        more arguments of verilator
#
# Makes the target NAME, a shared library NAME.so for `--rtl`, in CMAKE_LIBRARY_OUTPUT_DIRECTORY or
# the current folder. It is optimised and free of sanitizers in every configuration. Parameters that
# are not given have to be as in the list above.
function(hcasim_add_rtl name)
  cmake_parse_arguments(ARG "NO_ASSERTIONS" "TOP;BACKEND" "SOURCES;PARAMETERS;FIXED;FLAGS" ${ARGN})
  if(NOT ARG_SOURCES)
    message(FATAL_ERROR "hcasim_add_rtl(${name}): expected SOURCES")
  endif()
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "hcasim_add_rtl(${name}): '${ARG_UNPARSED_ARGUMENTS}' is not expected")
  endif()
  if(NOT ARG_TOP)
    set(ARG_TOP receive_queue)
  endif()
  if(NOT ARG_BACKEND)
    set(ARG_BACKEND verilator)
  endif()
  set(sources)
  foreach(source IN LISTS ARG_SOURCES)
    get_filename_component(source ${source} ABSOLUTE)
    list(APPEND sources ${source})
  endforeach()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.rtl)
  set(support ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/rtl)
  if(ARG_BACKEND STREQUAL verilator)
    _hcasim_verilate()
  elseif(ARG_BACKEND STREQUAL cxxrtl)
    _hcasim_cxxrtl()
  else()
    message(FATAL_ERROR "hcasim_add_rtl(${name}): expected BACKEND verilator or cxxrtl, "
      "found '${ARG_BACKEND}'")
  endif()
  _hcasim_rtl_build_header()
  _hcasim_rtl_module()
endfunction()

# The macros below see the variables of hcasim_add_rtl().

# What the plug-in is to know of its build.
macro(_hcasim_rtl_build_header)
  foreach(pair IN LISTS HCASIM_RTL_PARAMETERS ARG_FIXED ARG_PARAMETERS)
    if(NOT pair MATCHES "^([A-Za-z]+)=([0-9]+)$")
      message(FATAL_ERROR "hcasim_add_rtl(${name}): expected Name=number, found '${pair}'")
    endif()
    set(key ${CMAKE_MATCH_1})
    set(value_${key} ${CMAKE_MATCH_2})
    if(NOT ";${HCASIM_RTL_PARAMETERS}" MATCHES ";${key}=")
      message(FATAL_ERROR "hcasim_add_rtl(${name}): no parameter is called '${key}'")
    endif()
  endforeach()
  configure_file(${support}/receive_queue_build.hpp.in ${folder}/receive_queue_build.hpp @ONLY)
endmacro()

# Sets `code`, `class`, `tool_version` and what else has to be compiled.
macro(_hcasim_verilate)
  if(NOT HCASIM_VERILATOR)
    message(FATAL_ERROR "hcasim_add_rtl(${name}): verilator was not found")
  endif()
  execute_process(COMMAND ${HCASIM_VERILATOR} --getenv VERILATOR_ROOT
    OUTPUT_VARIABLE verilator_root OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${HCASIM_VERILATOR} --version
    OUTPUT_VARIABLE tool_version OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "^([A-Za-z]+ [0-9.]+).*" "\\1" tool_version "${tool_version}")
  string(MAKE_C_IDENTIFIER V${name} class)
  set(code ${folder}/verilated.cpp)
  list(TRANSFORM ARG_PARAMETERS PREPEND -G OUTPUT_VARIABLE settings)
  if(NOT ARG_NO_ASSERTIONS)
    list(PREPEND settings --assert)
  endif()
  add_custom_command(OUTPUT ${code}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder}/verilated
    COMMAND ${HCASIM_VERILATOR} --cc -O3 --x-initial unique --x-assign unique -Wno-fatal
      --prefix ${class} --top-module ${ARG_TOP} --Mdir ${folder}/verilated ${settings} ${ARG_FLAGS}
      ${sources}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder}/verilated -DOUTPUT=${code} -DCLASS=${class}
      -DPLUGIN=${support}/verilator_plugin.cpp -P ${support}/gather.cmake
    DEPENDS ${sources} ${support}/gather.cmake
    COMMENT "Verilating ${name}" VERBATIM)
  _hcasim_verilator_runtime()
  set(runtime $<TARGET_OBJECTS:hcasim_verilator_runtime>)
  set(includes ${folder}/verilated ${verilator_root}/include ${verilator_root}/include/vltstd)
  set(options -include ${support}/verilator_output.hpp)
endmacro()

# What all verilated libraries share, compiled once.
macro(_hcasim_verilator_runtime)
  if(NOT TARGET hcasim_verilator_runtime)
    add_library(hcasim_verilator_runtime OBJECT ${verilator_root}/include/verilated.cpp
      ${verilator_root}/include/verilated_threads.cpp)
    _hcasim_rtl_options(hcasim_verilator_runtime -include ${support}/verilator_output.hpp)
    target_include_directories(hcasim_verilator_runtime SYSTEM PRIVATE
      ${verilator_root}/include ${verilator_root}/include/vltstd)
  endif()
endmacro()

# Warnings and instrumentation of the project are not for generated code.
function(_hcasim_rtl_options target)
  set_target_properties(${target} PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON
    COMPILE_OPTIONS "-O2;-w;-fno-profile-arcs;-fno-test-coverage;${ARGN}")
endfunction()

macro(_hcasim_cxxrtl)
  if(NOT HCASIM_YOSYS)
    message(FATAL_ERROR "hcasim_add_rtl(${name}): yosys was not found")
  endif()
  execute_process(COMMAND ${HCASIM_YOSYS} -V OUTPUT_VARIABLE tool_version)
  string(REGEX REPLACE "^([A-Za-z]+ [0-9.]+).*" "CXXRTL of \\1" tool_version "${tool_version}")
  get_filename_component(yosys_bin ${HCASIM_YOSYS} DIRECTORY)
  set(code ${folder}/cxxrtl.cpp)
  set(settings)
  foreach(pair IN LISTS ARG_PARAMETERS)
    string(REGEX REPLACE "^(.*)=(.*)$" "chparam -set \\1 \\2 ${ARG_TOP}\n" pair "${pair}")
    string(APPEND settings "${pair}")
  endforeach()
  list(JOIN sources " " files)
  set(script "read_verilog -sv -DSYNTHESIS ${files}\n${settings}hierarchy -check -top ${ARG_TOP}\n"
    "rename -top ${ARG_TOP}\nwrite_cxxrtl -g0 ${folder}/design.cpp\n")
  string(CONCAT script ${script})
  file(CONFIGURE OUTPUT ${folder}/script.ys CONTENT "${script}" @ONLY)
  string(REPLACE _ __ class "${ARG_TOP}")
  set(class cxxrtl_design::p_${class})
  file(CONFIGURE OUTPUT ${code} @ONLY CONTENT
    "#include \"${folder}/design.cpp\"\n#define HCASIM_RTL_CLASS ${class}\n#include \"${support}/cxxrtl_plugin.cpp\"\n")
  add_custom_command(OUTPUT ${folder}/design.cpp
    COMMAND ${HCASIM_YOSYS} -q -s ${folder}/script.ys
    DEPENDS ${sources} ${folder}/script.ys
    COMMENT "CXXRTL of ${name}" VERBATIM)
  set_source_files_properties(${code} PROPERTIES OBJECT_DEPENDS ${folder}/design.cpp)
  # What is read beyond the end of a memory is 0, and no fault: hardware reads it and ignores it.
  set(options -DNDEBUG)
  set(runtime)
  set(includes ${yosys_bin}/../share/yosys/include)
endmacro()

macro(_hcasim_rtl_module)
  find_package(Threads REQUIRED)
  add_library(${name} MODULE ${code} ${runtime})
  if(TARGET hcasim_options)
    set(headers hcasim_options)
  else()
    set(headers hcasim::options)
  endif()
  _hcasim_rtl_options(${name} ${options})
  set_target_properties(${name} PROPERTIES PREFIX "")
  target_include_directories(${name} PRIVATE ${folder} ${support}
    $<TARGET_PROPERTY:${headers},INTERFACE_INCLUDE_DIRECTORIES>)
  target_include_directories(${name} SYSTEM PRIVATE ${includes})
  target_link_libraries(${name} PRIVATE Threads::Threads)
endmacro()
