# Dependencies.cmake -- what Linkwork is built on, found without help from other packages' scripts.
#
# Required: SUNDIALS (integrators), libyaml (native files), expat (URDF), HDF5 (results), zlib (pages).  Every one
# that is missing is named in one message, with the command that gets it.

# A thing to be carried elsewhere (the Python package) wants archives where there are any.
option(LW_STATIC_DEPENDENCIES "link libraries as archives where there are any" OFF)
mark_as_advanced(LW_STATIC_DEPENDENCIES)
set(LW_USUAL_SUFFIXES ${CMAKE_FIND_LIBRARY_SUFFIXES})
if(LW_STATIC_DEPENDENCIES)
    set(CMAKE_FIND_LIBRARY_SUFFIXES .a ${CMAKE_FIND_LIBRARY_SUFFIXES})
endif()

set(LW_MISSING "")

# lw_find(NAME header library... ) -- interface target linkwork_NAME with headers and libraries
function(lw_find name header)
    find_path(LW_${name}_INCLUDE ${header})
    mark_as_advanced(LW_${name}_INCLUDE)
    set(libraries "")
    set(missing "")
    if(NOT LW_${name}_INCLUDE)
        list(APPEND missing "${header}")
    endif()
    foreach(library IN LISTS ARGN)
        find_library(LW_${library}_LIBRARY ${library})
        mark_as_advanced(LW_${library}_LIBRARY)
        if(LW_${library}_LIBRARY)
            list(APPEND libraries ${LW_${library}_LIBRARY})
        else()
            list(APPEND missing "lib${library}")
        endif()
    endforeach()
    if(missing)
        list(JOIN missing ", " missing)
        set(LW_MISSING "${LW_MISSING}\n    ${name}: ${missing} not found" PARENT_SCOPE)
        return()
    endif()
    add_library(linkwork_${name} INTERFACE)
    target_include_directories(linkwork_${name} SYSTEM INTERFACE ${LW_${name}_INCLUDE})
    target_link_libraries(linkwork_${name} INTERFACE ${libraries})
endfunction()

set(LW_SUNDIALS_LIBRARIES
    sundials_arkode sundials_cvode sundials_nvecserial sundials_sunmatrixdense
    sundials_sunlinsoldense sundials_sunnonlinsolfixedpoint sundials_sunnonlinsolnewton)
lw_find(sundials arkode/arkode_erkstep.h ${LW_SUNDIALS_LIBRARIES})
lw_find(yaml yaml.h yaml)
lw_find(expat expat.h expat)
lw_find(zlib zlib.h z)
# Debian keeps the serial build apart from the parallel ones.
find_path(LW_hdf5_INCLUDE hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(LW_hdf5_LIBRARY NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)
lw_find(hdf5 hdf5.h hdf5)

set(LW_HDF5_STATIC OFF)
if(LW_hdf5_LIBRARY MATCHES "[.]a$") # compression, which a shared HDF5 brings by itself
    set(LW_HDF5_STATIC ON)
    foreach(library sz aec z)
        find_library(LW_${library}_LIBRARY ${library})
        mark_as_advanced(LW_${library}_LIBRARY)
        if(LW_${library}_LIBRARY)
            target_link_libraries(linkwork_hdf5 INTERFACE ${LW_${library}_LIBRARY})
        endif()
    endforeach()
endif()
set(CMAKE_FIND_LIBRARY_SUFFIXES ${LW_USUAL_SUFFIXES})

if(LW_MISSING)
    message(FATAL_ERROR
        "Linkwork needs libraries that are not on this machine:${LW_MISSING}\n"
        "  Debian, Ubuntu:  tools/install-deps   (or: apt-get install libsundials-dev libyaml-dev "
        "libexpat1-dev libhdf5-dev zlib1g-dev)\n"
        "  elsewhere: SUNDIALS 6 or newer, libyaml, expat, zlib, HDF5 1.10.2 or newer with their headers; "
        "paths by -DCMAKE_PREFIX_PATH=...")
endif()

# From version 7 on SUNDIALS keeps its context in a library of its own.
find_library(LW_sundials_core_LIBRARY sundials_core)
mark_as_advanced(LW_sundials_core_LIBRARY)
if(LW_sundials_core_LIBRARY)
    target_link_libraries(linkwork_sundials INTERFACE ${LW_sundials_core_LIBRARY})
    list(APPEND LW_SUNDIALS_LIBRARIES sundials_core)
endif()
get_filename_component(LW_HDF5_NAME ${LW_hdf5_LIBRARY} NAME_WE) # who links the archive needs it
string(REGEX REPLACE "^lib" "" LW_HDF5_NAME ${LW_HDF5_NAME})
set(LW_LIBRARIES ${LW_SUNDIALS_LIBRARIES} yaml expat ${LW_HDF5_NAME} z pthread)
list(TRANSFORM LW_LIBRARIES PREPEND -l OUTPUT_VARIABLE LW_PRIVATE_LIBS)
list(JOIN LW_PRIVATE_LIBS " " LW_PRIVATE_LIBS)
file(STRINGS ${LW_sundials_INCLUDE}/sundials/sundials_config.h LW_SUNDIALS_VERSION
     REGEX "define SUNDIALS_VERSION \"")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" LW_SUNDIALS_VERSION "${LW_SUNDIALS_VERSION}")
if(LW_SUNDIALS_VERSION VERSION_LESS 6)
    message(FATAL_ERROR "SUNDIALS ${LW_SUNDIALS_VERSION} is too old: 6.0 or newer is needed")
endif()

# From 1.10.2 on a file can be asked for in the format of 1.10, which readers follow while it grows.
file(STRINGS ${LW_hdf5_INCLUDE}/H5public.h LW_HDF5_VERSION REGEX "define H5_VERS_(MAJOR|MINOR|RELEASE)")
string(REGEX REPLACE "[^0-9;]*H5_VERS_[A-Z]*[^0-9;]*([0-9]+)[^;]*" "\\1" LW_HDF5_VERSION "${LW_HDF5_VERSION}")
string(REPLACE ";" "." LW_HDF5_VERSION "${LW_HDF5_VERSION}")
if(LW_HDF5_VERSION VERSION_LESS 1.10.2)
    message(FATAL_ERROR "HDF5 ${LW_HDF5_VERSION} is too old: 1.10.2 or newer is needed")
endif()

# Optional: MPI (Open MPI, MPICH), for one run by several processes: a file that the program loads when it is asked to.
set(LW_MPI AUTO CACHE STRING "one run by several processes with MPI: AUTO (where it is found), ON, OFF")
set_property(CACHE LW_MPI PROPERTY STRINGS AUTO ON OFF)
set(LW_MPI_FOUND OFF)
if(LW_MPI STREQUAL AUTO)
    find_package(MPI QUIET COMPONENTS C)
elseif(LW_MPI)
    find_package(MPI REQUIRED COMPONENTS C)
endif()
if(LW_MPI AND MPI_C_FOUND AND NOT LW_PYTHON)
    set(LW_MPI_FOUND ON)
endif()

# Optional: cairo (LGPL-2.1 or MPL-1.1, linked, not copied) draws PNG and PDF pictures; SVG needs nothing.
option(LW_WITH_CAIRO "write PNG and PDF pictures by cairo, where it is found" ON)
find_path(LW_cairo_INCLUDE cairo-pdf.h PATH_SUFFIXES cairo)
find_library(LW_cairo_LIBRARY cairo)
mark_as_advanced(LW_cairo_INCLUDE LW_cairo_LIBRARY)
set(LW_CAIRO OFF)
if(LW_WITH_CAIRO AND LW_cairo_INCLUDE AND LW_cairo_LIBRARY)
    set(LW_CAIRO ON)
    add_library(linkwork_cairo INTERFACE)
    target_include_directories(linkwork_cairo SYSTEM INTERFACE ${LW_cairo_INCLUDE})
    target_link_libraries(linkwork_cairo INTERFACE ${LW_cairo_LIBRARY})
    file(STRINGS ${LW_cairo_INCLUDE}/cairo-version.h LW_CAIRO_VERSION
         REGEX "define CAIRO_VERSION_(MAJOR|MINOR|MICRO)")
    string(REGEX REPLACE "[^;]*CAIRO_VERSION_[A-Z]*[^0-9;]*([0-9]+)[^;]*" "\\1"
           LW_CAIRO_VERSION "${LW_CAIRO_VERSION}")
    string(REPLACE ";" "." LW_CAIRO_VERSION "${LW_CAIRO_VERSION}")
    list(APPEND LW_LIBRARIES cairo)
    string(APPEND LW_PRIVATE_LIBS " -lcairo")
endif()

# Optional: NLopt (LGPL-2.1, linked by the program alone, not copied) minimises measures in `linkwork optimize`.
option(LW_WITH_NLOPT "minimise measures by NLopt, where it is found" ON)
find_path(LW_nlopt_INCLUDE nlopt.h)
find_library(LW_nlopt_LIBRARY nlopt)
mark_as_advanced(LW_nlopt_INCLUDE LW_nlopt_LIBRARY)
set(LW_NLOPT OFF)
if(LW_WITH_NLOPT AND LW_nlopt_INCLUDE AND LW_nlopt_LIBRARY)
    set(LW_NLOPT ON)
    add_library(linkwork_nlopt INTERFACE)
    target_include_directories(linkwork_nlopt SYSTEM INTERFACE ${LW_nlopt_INCLUDE})
    target_link_libraries(linkwork_nlopt INTERFACE ${LW_nlopt_LIBRARY})
endif()
