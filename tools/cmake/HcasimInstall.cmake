# SPDX-FileCopyrightText: hcasim contributors
# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` makes of the project for others: its libraries, its headers and a package
# for find_package(hcasim). To be included when the libraries of the layers, and no others, are made.
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY HCASIM_LIBRARIES)

# Each library is hcasim::LAYER to its users; hcasim::hcasim is all of them.
add_library(hcasim_all INTERFACE)
target_link_libraries(hcasim_all INTERFACE ${libraries})
set_target_properties(hcasim_all PROPERTIES EXPORT_NAME hcasim)
foreach(library IN LISTS libraries)
  string(REPLACE "hcasim_" "" layer ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${layer})
endforeach()
install(TARGETS ${libraries} hcasim_all EXPORT hcasim)

# The headers of the layers have a root of their own, as they have here.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/hcasim TYPE INCLUDE FILES_MATCHING PATTERN *.hpp)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/model/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hcasim/model
  FILES_MATCHING PATTERN *.hpp PATTERN presets EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE TYPE DOC)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/hcasim)
install(EXPORT hcasim NAMESPACE hcasim:: FILE hcasimTargets.cmake DESTINATION ${package_folder})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/hcasimConfig.cmake.in hcasimConfig.cmake
  INSTALL_DESTINATION ${package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(hcasimConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hcasimConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/hcasimConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindSystemC.cmake
              ${CMAKE_CURRENT_LIST_DIR}/HcasimRtl.cmake
  DESTINATION ${package_folder})
install(DIRECTORY ${CMAKE_CURRENT_LIST_DIR}/rtl DESTINATION ${package_folder})
