# SPDX-FileCopyrightText: hcasim contributors
# SPDX-License-Identifier: Apache-2.0

# Our own strictness: of the folders of this project, so that it reaches none of its users.
add_compile_options(
  -Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  -Wcast-qual -Wunused -Woverloaded-virtual -Wno-missing-field-initializers)
# GCC 12 sees overlaps in std::string's own code (GCC bug 105329).
add_compile_options(-Wno-restrict)

# What everything that uses a library of the project needs, inside and outside.
add_library(hcasim_options INTERFACE)
set_property(GLOBAL APPEND PROPERTY HCASIM_LIBRARIES hcasim_options)
target_compile_features(hcasim_options INTERFACE cxx_std_20)
target_include_directories(hcasim_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/model>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/hcasim/model>)
if(HCASIM_SANITIZE)
  # SystemC's coroutines move the stack under the sanitizer's feet: its bookkeeping of scopes then
  # reports variables of the main stack that are alive.
  target_compile_options(hcasim_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-sanitize-address-use-after-scope)
  target_link_options(hcasim_options INTERFACE -fsanitize=address,undefined)
endif()

# hcasim_library(NAME [LINK lib...]): one static library a layer from the sources of the calling
# folder, so that the link order enforces that nothing includes upward.
function(hcasim_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  set_property(GLOBAL APPEND PROPERTY HCASIM_LIBRARIES ${name})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE hcasim_options ${ARG_LINK})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC hcasim_options ${ARG_LINK})
endfunction()

# hcasim_test(NAME [CONTEXTS] [LINK lib...]): one test program from the *_test.cpp of the calling
# folder; each test runs in a process of its own, since a SystemC process holds one simulation. With
# CONTEXTS each comes three times: NAME.*, method/NAME.* and handler/NAME.*, by where data verbs are
# called from.
function(hcasim_test name)
  cmake_parse_arguments(ARG "CONTEXTS" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE hcasim_options hcasim_testmain ${ARG_LINK})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/testbench)
  target_precompile_headers(${name} REUSE_FROM hcasim_testmain)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  gtest_discover_tests(${name} TEST_PREFIX ${name}. PROPERTIES TIMEOUT 60 DISCOVERY_TIMEOUT 60)
  if(NOT ARG_CONTEXTS)
    return()
  endif()
  foreach(context method handler)
    gtest_discover_tests(${name} TEST_PREFIX ${context}/${name}. TEST_LIST ${name}_${context}
      PROPERTIES TIMEOUT 60 ENVIRONMENT HCASIM_CALL_FROM=${context} DISCOVERY_TIMEOUT 60)
  endforeach()
endfunction()
