// linkwork.h -- everything.
#ifndef LINKWORK_LINKWORK_H
#define LINKWORK_LINKWORK_H
#include <linkwork/assemble.h>
#include <linkwork/base.h>
#include <linkwork/batch.h>
#include <linkwork/codegen.h>
#include <linkwork/dynamics.h>
#include <linkwork/io.h>
#include <linkwork/model.h>
#include <linkwork/plot.h>
#include <linkwork/view.h>
#include <linkwork/result.h>
#include <linkwork/simulate.h>
#include <linkwork/spatial.h>
#endif
