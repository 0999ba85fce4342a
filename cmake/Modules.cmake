# Modules.cmake -- what calls HDF5 and cairo in separate files, which the shared library loads when they are first used
# (src/base/module.h): linked, they would be most of what starting the program costs.
#
#   LW_MODULES   OFF: the library is linked with HDF5 and cairo, as an archive and the Python extension are in any case

set_property(SOURCE src/base/module.c APPEND PROPERTY COMPILE_DEFINITIONS _GNU_SOURCE) # dladdr

# lw_module(NAME libraries source...) -- linkwork/NAME.so beside the library, of the sources and what they need of base
function(lw_module name libraries)
    add_library(linkwork_module_${name} MODULE ${ARGN}
        src/base/assert.c src/base/base.c src/base/digits.c src/base/file.c src/base/numbers.c)
    lw_c_target(linkwork_module_${name})
    set_target_properties(linkwork_module_${name} PROPERTIES
        OUTPUT_NAME ${name} PREFIX "" SUFFIX .so C_VISIBILITY_PRESET hidden
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/linkwork
        INSTALL_RPATH "$ORIGIN/..")
    target_compile_options(linkwork_module_${name} PRIVATE ${LW_COUNTERS})
    if(NOT LW_SANITIZE) # its functions are in the program
        target_link_options(linkwork_module_${name} PRIVATE LINKER:-z,defs)
    endif()
    target_include_directories(linkwork_module_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(linkwork_module_${name} PRIVATE linkwork_lib ${libraries} m)
    add_dependencies(linkwork_modules linkwork_module_${name})
    install(TARGETS linkwork_module_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/linkwork)
endfunction()

add_custom_target(linkwork_modules)
target_sources(linkwork_lib PRIVATE ${LW_LOADING_SOURCES})
target_include_directories(linkwork_lib PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(linkwork_lib PRIVATE $<BUILD_INTERFACE:${CMAKE_DL_LIBS}>)
lw_module(hdf5 linkwork_hdf5 ${LW_HDF5_MODULE} ${LW_HDF5_SOURCES})
if(LW_CAIRO)
    target_sources(linkwork_lib PRIVATE ${LW_LOADING_CAIRO})
    lw_module(cairo linkwork_cairo ${LW_CAIRO_MODULE} ${LW_CAIRO_SOURCES})
endif()
