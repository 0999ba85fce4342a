# Dependencies.cmake -- what Linkwork is built on, found without help from other packages' scripts.
#
# Required: SUNDIALS (integrators), libyaml (native files), expat (URDF).  Every one that is missing
# is named in one message, with the command that gets it.

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

if(LW_MISSING)
    message(FATAL_ERROR
        "Linkwork needs libraries that are not on this machine:${LW_MISSING}\n"
        "  Debian, Ubuntu:  tools/install-deps   (or: apt-get install libsundials-dev libyaml-dev "
        "libexpat1-dev)\n"
        "  elsewhere: SUNDIALS 6 or newer, libyaml, expat with their headers; paths by "
        "-DCMAKE_PREFIX_PATH=...")
endif()

# From version 7 on SUNDIALS keeps its context in a library of its own.
find_library(LW_sundials_core_LIBRARY sundials_core)
mark_as_advanced(LW_sundials_core_LIBRARY)
if(LW_sundials_core_LIBRARY)
    target_link_libraries(linkwork_sundials INTERFACE ${LW_sundials_core_LIBRARY})
    list(APPEND LW_SUNDIALS_LIBRARIES sundials_core)
endif()
set(LW_LIBRARIES ${LW_SUNDIALS_LIBRARIES} yaml expat)
list(TRANSFORM LW_LIBRARIES PREPEND -l OUTPUT_VARIABLE LW_PRIVATE_LIBS)
list(JOIN LW_PRIVATE_LIBS " " LW_PRIVATE_LIBS)
file(STRINGS ${LW_sundials_INCLUDE}/sundials/sundials_config.h LW_SUNDIALS_VERSION
     REGEX "define SUNDIALS_VERSION \"")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" LW_SUNDIALS_VERSION "${LW_SUNDIALS_VERSION}")
if(LW_SUNDIALS_VERSION VERSION_LESS 6)
    message(FATAL_ERROR "SUNDIALS ${LW_SUNDIALS_VERSION} is too old: 6.0 or newer is needed")
endif()
