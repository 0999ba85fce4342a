# Kernels.cmake -- the ISA builds of the SIMD kernels (src/base/cpu.h), one object library each.
#
#   LW_ISA   all: every build, chosen at run time: for packages and wheels that others use
#            native: what this machine takes, its widest build and fma (one lane, the bits of the wide ones), in a
#            third of the compile time. On a processor without fused multiply-add such a library has no kernels and
#            takes the generic code.
#   avx2     as native, with four lanes at most: measures a processor that has eight like one that has four
#
# Out: LW_OBJECTS, all objects of the library; LW_OBJECT_TARGETS, the object libraries by name.

set(LW_ISA all CACHE STRING "ISA builds of the kernels: all, native, avx2")
set_property(CACHE LW_ISA PROPERTY STRINGS all native avx2)
if(NOT LW_ISA MATCHES "^(all|native|avx2)$")
    message(FATAL_ERROR "LW_ISA is '${LW_ISA}'; expected all, native or avx2")
endif()

set(LW_ISA_BUILDS scalar) # with the kernels
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    set(LW_ISA_BUILDS scalar fma avx2 avx512)
    if(NOT LW_ISA STREQUAL "all")
        execute_process(COMMAND ${CMAKE_C_COMPILER} -march=native -dM -E -x c /dev/null
                        OUTPUT_VARIABLE LW_NATIVE ERROR_QUIET)
        if(LW_ISA STREQUAL "native" AND LW_NATIVE MATCHES "__AVX512F__" AND LW_NATIVE MATCHES "__AVX512VL__" AND LW_NATIVE MATCHES "__AVX512DQ__")
            set(LW_ISA_BUILDS fma avx512)
        elseif(LW_NATIVE MATCHES "__AVX2__" AND LW_NATIVE MATCHES "__FMA__")
            set(LW_ISA_BUILDS fma avx2)
        else()
            set(LW_ISA_BUILDS scalar)
        endif()
    endif()
endif()

set(LW_ISA_scalar 1)
set(LW_ISA_fma 1 -mavx2 -mfma)
set(LW_ISA_avx2 4 -mavx2 -mfma)
set(LW_ISA_avx512 8 -mfma -mavx512f -mavx512vl -mavx512dq)

# lw_isa_library(ISA source...) -- these sources for one ISA build, as the object library linkwork_<ISA>
set(LW_OBJECT_TARGETS linkwork_objects)
function(lw_isa_library isa)
    list(GET LW_ISA_${isa} 0 width)
    set(options ${LW_ISA_${isa}})
    list(REMOVE_AT options 0)
    add_library(linkwork_${isa} OBJECT ${ARGN})
    lw_c_target(linkwork_${isa})
    set_target_properties(linkwork_${isa} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    if(LW_HIDDEN)
        set_target_properties(linkwork_${isa} PROPERTIES C_VISIBILITY_PRESET hidden)
    endif()
    target_compile_definitions(linkwork_${isa} PRIVATE ISA=${isa} WIDEST=${width})
    target_compile_options(linkwork_${isa} PRIVATE -fno-semantic-interposition ${options})
    if(NOT LW_SANITIZE) # sanitizers report lines; else debug information is compile time only
        target_compile_options(linkwork_${isa} PRIVATE -g0)
    endif()
    target_include_directories(linkwork_${isa} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    set(LW_OBJECT_TARGETS ${LW_OBJECT_TARGETS} linkwork_${isa} PARENT_SCOPE)
endfunction()

if(LW_SANITIZE MATCHES "address,undefined" AND NOT LW_FUZZ)
    # Half of the compile time: checks by calls, and of the checks for undefined behaviour only that of array bounds,
    # as these calculate with numbers in arrays.  Options of sources come after -fsanitize.
    set_property(SOURCE ${LW_SIMD_SOURCES} ${LW_SIMD_LOOPS} APPEND PROPERTY COMPILE_OPTIONS
        -fno-sanitize-address-use-after-scope -fno-sanitize=undefined -fsanitize=bounds
        $<$<C_COMPILER_ID:GNU>:--param=asan-instrumentation-with-call-threshold=0>)
endif()
if(LW_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU") # it takes arrays that a function fills for uninitialised ones where the function is not inlined
    set_property(SOURCE ${LW_SIMD_SOURCES} ${LW_SIMD_LOOPS} APPEND PROPERTY COMPILE_OPTIONS -Wno-maybe-uninitialized)
endif()
foreach(isa ${LW_ISA_BUILDS})
    string(TOUPPER ${isa} name)
    set_property(SOURCE src/base/cpu.c src/kinematics/residuals.c src/tree/aba.c src/tree/kernel.c src/elimination/lanes.c
        src/methods/dca/segments/path.c src/methods/index3/lanes.c src/methods/rattle/lanes.c src/methods/rcr/clusters/evaluate.c src/methods/rcr/clusters/reactions.c
        src/integrate/batch_stepper.c src/tree/derivatives.c src/loops/row_factor.c
        APPEND PROPERTY COMPILE_DEFINITIONS LWI_HAVE_${name}=1)
    lw_isa_library(${isa} ${LW_SIMD_SOURCES} ${LW_SIMD_LOOPS})
endforeach()
if(NOT scalar IN_LIST LW_ISA_BUILDS) # these have no generic code to take instead
    set_property(SOURCE src/integrate/batch_stepper.c src/tree/derivatives.c src/loops/row_factor.c APPEND PROPERTY COMPILE_DEFINITIONS LWI_HAVE_SCALAR=1)
    lw_isa_library(scalar ${LW_SIMD_LOOPS})
endif()

set(LW_OBJECTS)
foreach(target ${LW_OBJECT_TARGETS})
    list(APPEND LW_OBJECTS $<TARGET_OBJECTS:${target}>)
endforeach()
