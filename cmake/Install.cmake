# Install.cmake -- library, headers, program; found again by find_package(linkwork) and pkg-config.

include(CMakePackageConfigHelpers)
set(LW_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/linkwork)

install(TARGETS linkwork_lib EXPORT linkwork
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS linkwork RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/linkwork DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT linkwork NAMESPACE linkwork:: FILE linkworkConfig.cmake
        DESTINATION ${LW_PACKAGE_DIR})

write_basic_package_version_file(${PROJECT_BINARY_DIR}/linkworkConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion) # 0.x: a minor version may break
install(FILES ${PROJECT_BINARY_DIR}/linkworkConfigVersion.cmake DESTINATION ${LW_PACKAGE_DIR})

configure_file(cmake/linkwork.pc.in ${PROJECT_BINARY_DIR}/linkwork.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/linkwork.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
