# Install.cmake -- library, headers, program with its pages; found again by find_package(linkwork)
# and pkg-config, wherever the tree is moved.

include(CMakePackageConfigHelpers)
set(LW_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/linkwork)

install(TARGETS linkwork_lib EXPORT linkwork
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS linkwork RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(LW_MPI_FOUND)
    install(TARGETS linkwork_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY include/linkwork DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT linkwork NAMESPACE linkwork:: FILE linkworkConfig.cmake
        DESTINATION ${LW_PACKAGE_DIR})

write_basic_package_version_file(${PROJECT_BINARY_DIR}/linkworkConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion) # 0.x: a minor version may break
install(FILES ${PROJECT_BINARY_DIR}/linkworkConfigVersion.cmake DESTINATION ${LW_PACKAGE_DIR})

# The prefix is told from where the .pc file stands, so that a package may be unpacked anywhere.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
    set(LW_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
    set(LW_PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
    set(LW_PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
    file(RELATIVE_PATH LW_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    string(REGEX REPLACE "/$" "" LW_PC_PREFIX "\${pcfiledir}/${LW_PC_PREFIX}")
    set(LW_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    set(LW_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(cmake/linkwork.pc.in ${PROJECT_BINARY_DIR}/linkwork.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/linkwork.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# ------------------------------------------------------------------- pages of the manual, documents

# The program writes them from the tables of its --help.
if(NOT CMAKE_CROSSCOMPILING)
    set(LW_PAGES ${PROJECT_BINARY_DIR}/pages)
    add_custom_command(OUTPUT ${LW_PAGES}/linkwork.1
        COMMAND ${CMAKE_COMMAND} -E rm -rf ${LW_PAGES}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${LW_PAGES}
        COMMAND linkwork help --pages ${LW_PAGES}
        DEPENDS linkwork COMMENT "Writing the pages of the manual" VERBATIM)
    add_custom_target(pages ALL DEPENDS ${LW_PAGES}/linkwork.1)
    install(DIRECTORY ${LW_PAGES}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
            FILES_MATCHING PATTERN "*.1")
    install(FILES ${LW_PAGES}/linkwork.bash RENAME linkwork
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()

install(FILES LICENSE NOTICE README.md CONTRIBUTING.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES NOTICE RENAME copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}) # where Debian looks
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

# -------------------------------------------------------------------------- packages: tools/package

if(NOT PROJECT_IS_TOP_LEVEL)
    return()
endif()
set(CPACK_PACKAGE_NAME linkwork)
set(CPACK_PACKAGE_VENDOR "Linkwork")
set(CPACK_PACKAGE_CONTACT "${LW_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DESCRIPTION
    "Simulates mechanisms of rigid bodies and joints in three dimensions: a C library with its\n\
headers, and the program linkwork, which reads native YAML models and URDF robots.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
find_program(LW_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(LW_SHLIBDEPS)
set(CPACK_GENERATOR TGZ)
if(LW_SHLIBDEPS)
    set(CPACK_GENERATOR DEB)
    set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
    set(CPACK_DEBIAN_PACKAGE_SECTION science)
    # Depends: what the program and the library are linked with
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
    set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
endif()
include(CPack)
