/* What the files that speak to Python share. */

#ifndef DISCREET_MODULE_H
#define DISCREET_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "kernels.h"

/* Bytes in a product of sizes, or -1 where one is negative or the product is no size. */
static inline Py_ssize_t product(Py_ssize_t a, Py_ssize_t b)
{
    return a < 0 || b < 0 || (b > 0 && a > PY_SSIZE_T_MAX / b) ? -1 : a * b;
}

static inline PyObject *refuse(void)
{
    PyErr_SetString(PyExc_ValueError, "buffers of other sizes than the numbers say");
    return NULL;
}

/* The functions of selection.c. */
extern PyMethodDef selection_functions[];

#endif
