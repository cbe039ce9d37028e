/* The kernels as a module of Python: sizes are checked, the interpreter's lock is released, buffers stay put.

   Only the stable ABI is used, so one build serves Python 3.11 and all later ones. A refusal is a ValueError that
   speaks of sizes alone. */

#include "module.h"

#include <errno.h>
#include <stdlib.h>

#ifndef _WIN32
#include <unistd.h>
#endif

#define CHUNK ((size_t)1 << 18) /* bytes read at a time: they stay in the processor's cache while counted */

/* Set groups and the part of the table that begins at `start`, or return 0 where sizes do not fit. */
static int fits(const Py_buffer *masks, const Py_buffer *counts, Py_ssize_t cells, Py_ssize_t stride,
                Py_ssize_t start, Py_ssize_t rows, groups *members, table *out)
{
    if (cells < 1 || stride < 1 || start < 0 || rows < 0 || masks->len % (8 * cells) || counts->len % (16 * cells))
        return 0;
    *members = (groups){masks->buf, (size_t)cells, (size_t)(masks->len / (8 * cells))};
    const Py_ssize_t width = counts->len / (16 * cells);
    if (start > width || rows > width - start || (size_t)stride > 8 * members->words || stride > INT32_MAX / 4)
        return 0;
    *out = (table){(int32_t *)counts->buf + start, (size_t)width};
    return 1;
}

PyDoc_STRVAR(count_doc, "count(packed, stride, masks, cells, counts, start, stop): count packed rows.");

static PyObject *count(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer packed, masks, counts;
    Py_ssize_t stride, cells, start, stop;
    if (!PyArg_ParseTuple(arguments, "y*ny*nw*nn", &packed, &stride, &masks, &cells, &counts, &start, &stop))
        return NULL;
    const Py_ssize_t rows = stop - start, size = product(rows, stride);
    groups members;
    table out;
    const int good = fits(&masks, &counts, cells, stride, start, rows, &members, &out) && size >= 0 &&
                     size <= packed.len;
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        count_genotypes(packed.buf, (size_t)rows, (size_t)stride, members, out);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&packed);
    PyBuffer_Release(&masks);
    PyBuffer_Release(&counts);
    return good ? Py_NewRef(Py_None) : refuse();
}

#ifndef _WIN32

/* Read `size` bytes from `offset` on; 0 where the file ends before, or cannot be read. */
static int read_all(int file, uint8_t *into, size_t size, off_t offset)
{
    while (size > 0) {
        const ssize_t got = pread(file, into, size, offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        into += got;
        offset += got;
        size -= (size_t)got;
    }
    return 1;
}

PyDoc_STRVAR(count_file_doc, "count_file(file, offset, stride, masks, cells, counts, start, stop): count rows of a "
                             "file; False where it cannot be read.");

static PyObject *count_file(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer masks, counts;
    int file;
    long long offset;
    Py_ssize_t stride, cells, start, stop;
    if (!PyArg_ParseTuple(arguments, "iLny*nw*nn", &file, &offset, &stride, &masks, &cells, &counts, &start, &stop))
        return NULL;
    groups members;
    table out;
    const int good = fits(&masks, &counts, cells, stride, start, stop - start, &members, &out) && offset >= 0;
    int whole = good;
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        const size_t most = CHUNK / (size_t)stride ? CHUNK / (size_t)stride : 1;
        uint8_t *buffer = malloc(most * (size_t)stride);
        size_t left = (size_t)(stop - start);
        whole = buffer != NULL;
        while (whole && left > 0) {
            const size_t rows = left < most ? left : most, size = rows * (size_t)stride;
            whole = read_all(file, buffer, size, (off_t)offset);
            if (whole)
                count_genotypes(buffer, rows, (size_t)stride, members, out);
            offset += (long long)size;
            out.at += rows;
            left -= rows;
        }
        free(buffer);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&masks);
    PyBuffer_Release(&counts);
    return good ? PyBool_FromLong(whole) : refuse();
}

#endif

PyDoc_STRVAR(dose_doc, "dose(packed, stride, weights, sums): sum weight * dose over packed rows.");

static PyObject *dose(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer packed, weights, sums;
    Py_ssize_t stride;
    if (!PyArg_ParseTuple(arguments, "y*ny*w*", &packed, &stride, &weights, &sums))
        return NULL;
    const Py_ssize_t rows = sums.len / 8, size = product(rows, stride), planes = product(16, stride);
    const int good = stride > 0 && size >= 0 && size <= packed.len && planes == weights.len;
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        sum_doses(packed.buf, (size_t)rows, (size_t)stride, weights.buf, sums.buf);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&packed);
    PyBuffer_Release(&weights);
    PyBuffer_Release(&sums);
    return good ? Py_NewRef(Py_None) : refuse();
}

PyDoc_STRVAR(sums_doc, "sums(values, itemsize, steps, rule, weights, cells, squared, sums): add a column's sums.");

static PyObject *sums(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer values, rule, weights, out;
    Py_ssize_t itemsize, cells;
    int steps, squared;
    if (!PyArg_ParseTuple(arguments, "y*npy*y*npw*", &values, &itemsize, &steps, &rule, &weights, &cells, &squared, &out))
        return NULL;
    const Py_ssize_t rows = itemsize == 4 || itemsize == 8 ? values.len / itemsize : -1;
    const Py_ssize_t weighed = product(cells, product(4, rows)), numbers = steps ? 2 : 4;
    const int good = rows >= 0 && cells > 0 && weighed == weights.len && rule.len == 8 * numbers &&
                     out.len == 8 * cells * (squared ? 2 : 1);
    if (good) {
        const column one = {values.buf, rule.buf, itemsize == 8, steps};
        const people everyone = {weights.buf, (size_t)cells, (size_t)rows, squared};
        Py_BEGIN_ALLOW_THREADS
        sum_column(&one, &everyone, out.buf);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&values);
    PyBuffer_Release(&rule);
    PyBuffer_Release(&weights);
    PyBuffer_Release(&out);
    return good ? Py_NewRef(Py_None) : refuse();
}

/* Set who is looked at, or return 0 where sizes do not fit: entries are [columns][people]. */
static int set_entries(const Py_buffer *values, int kind, Py_ssize_t columns, Py_ssize_t first, Py_ssize_t last,
                       entries *from)
{
    const Py_ssize_t width = product(columns, kind == 2 || kind == 4 || kind == 8 ? kind : -1);
    const Py_ssize_t people = width > 0 ? values->len / width : -1;
    if (people < 0 || product(people, width) != values->len || first < 0 || first > last || last > people)
        return 0;
    *from = (entries){values->buf, kind, (size_t)people, (size_t)first, (size_t)last, NULL, NULL};
    return 1;
}

/* Set the rules of columns for each group, if there are that many and none makes an entry larger than MOST. */
static int set_rules(const Py_buffer *rules, Py_ssize_t groups, Py_ssize_t columns, entries *from)
{
    if (from->kind == 2)
        return 1;
    if (product(groups * (Py_ssize_t)sizeof(column_rule), columns) != rules->len)
        return 0;
    from->rules = rules->buf;
    from->others = groups > 1 ? from->rules + columns : from->rules;
    for (Py_ssize_t j = 0; j < groups * columns; j++) {
        const column_rule *rule = from->rules + j;
        if (!(rule->low >= -MOST && rule->low <= MOST && rule->high >= -MOST && rule->high <= MOST &&
              rule->missing >= -MOST && rule->missing <= MOST))
            return 0;
    }
    return 1;
}

/* Whether all columns of a list are there. */
static int are_columns(const Py_buffer *places, Py_ssize_t columns)
{
    const int64_t *at = places->buf;
    for (Py_ssize_t k = 0; k < places->len / 8; k++)
        if (at[k] < 0 || at[k] >= columns)
            return 0;
    return places->len % 8 == 0;
}

PyDoc_STRVAR(whole_doc, "whole(values, kind, columns, rules, first, last, whole): make entries whole numbers.");

static PyObject *whole(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer values, rules, out;
    int kind;
    Py_ssize_t columns, first, last;
    if (!PyArg_ParseTuple(arguments, "y*iny*nnw*", &values, &kind, &columns, &rules, &first, &last, &out))
        return NULL;
    entries from;
    const int good = kind != 2 && set_entries(&values, kind, columns, first, last, &from) &&
                     set_rules(&rules, 1, columns, &from) && out.len == values.len / kind * 2;
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        make_whole(&from, (size_t)columns, out.buf);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&values);
    PyBuffer_Release(&rules);
    PyBuffer_Release(&out);
    return good ? Py_NewRef(Py_None) : refuse();
}

PyDoc_STRVAR(add_doc, "add(values, kind, columns, places, rules, first, last, group, signs, balls, clips, unit, sums, "
                      "squares, kept): make rows of some columns whole, clip them, add them up.");

static PyObject *add(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer values, places, rules, group, signs, balls, sums, squares, kept;
    int kind, clips;
    Py_ssize_t columns, first, last;
    double unit;
    if (!PyArg_ParseTuple(arguments, "y*iny*y*nny*y*y*pdw*w*w*", &values, &kind, &columns, &places, &rules, &first,
                          &last, &group, &signs, &balls, &clips, &unit, &sums, &squares, &kept))
        return NULL;
    const Py_ssize_t count = signs.len;
    entries from;
    const int good = count > 0 && set_entries(&values, kind, columns, first, last, &from) &&
                     are_columns(&places, columns) && places.len == product(8, count) &&
                     set_rules(&rules, 2, count, &from) && (size_t)group.len == from.people && balls.len == 64 &&
                     unit >= 0 && unit < MOST && product(16, count) == sums.len && sums.len == squares.len &&
                     kept.len == 32;
    void *memory = good ? malloc(strip_memory((size_t)count)) : NULL;
    const int enough = memory != NULL;
    if (enough) {
        const clipping how = {(size_t)count, places.buf, signs.buf, balls.buf, clips, unit};
        totals into = {sums.buf, squares.buf, kept.buf};
        Py_BEGIN_ALLOW_THREADS
        add_rows(&from, group.buf, &how, memory, &into);
        Py_END_ALLOW_THREADS
    }
    free(memory);
    PyBuffer_Release(&values);
    PyBuffer_Release(&places);
    PyBuffer_Release(&rules);
    PyBuffer_Release(&group);
    PyBuffer_Release(&signs);
    PyBuffer_Release(&balls);
    PyBuffer_Release(&sums);
    PyBuffer_Release(&squares);
    PyBuffer_Release(&kept);
    return !good ? refuse() : enough ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

PyDoc_STRVAR(lengths_doc, "lengths(values, kind, columns, places, rules, first, last, lengths): sum the squares of "
                          "each person's whole numbers in some columns.");

static PyObject *lengths_of(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer values, places, rules, out;
    int kind;
    Py_ssize_t columns, first, last;
    if (!PyArg_ParseTuple(arguments, "y*iny*y*nnw*", &values, &kind, &columns, &places, &rules, &first, &last, &out))
        return NULL;
    const Py_ssize_t count = places.len / 8;
    entries from;
    const int good = set_entries(&values, kind, columns, first, last, &from) && are_columns(&places, columns) &&
                     set_rules(&rules, 1, count, &from) && out.len == product(8, (Py_ssize_t)from.people);
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        add_lengths(&from, places.buf, (size_t)count, out.buf);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&values);
    PyBuffer_Release(&places);
    PyBuffer_Release(&rules);
    PyBuffer_Release(&out);
    return good ? Py_NewRef(Py_None) : refuse();
}

PyDoc_STRVAR(look_doc, "look(values, kind, columns, places, what, centre, window, first, last, out): look at columns.");

static PyObject *look(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer values, places, centre, window, out;
    int kind, what;
    Py_ssize_t columns, first, last;
    if (!PyArg_ParseTuple(arguments, "y*iny*iy*y*nnw*", &values, &kind, &columns, &places, &what, &centre, &window,
                          &first, &last, &out))
        return NULL;
    const Py_ssize_t count = places.len / 8;
    entries from;
    const int good = kind != 2 && set_entries(&values, kind, columns, 0, 0, &from) && are_columns(&places, columns) &&
                     what >= LOOK_SIZES && what <= LOOK_PLACES && centre.len == places.len &&
                     window.len == places.len && first >= 0 && first <= last && last <= count &&
                     out.len == product(8 * (Py_ssize_t)look_width(what), count);
    if (good) {
        const lens through = {what, (size_t)first, (size_t)last, centre.buf, window.buf};
        Py_BEGIN_ALLOW_THREADS
        look_at(&from, places.buf, &through, out.buf);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&values);
    PyBuffer_Release(&places);
    PyBuffer_Release(&centre);
    PyBuffer_Release(&window);
    PyBuffer_Release(&out);
    return good ? Py_NewRef(Py_None) : refuse();
}

PyDoc_STRVAR(lacking_doc, "lacking(values, kind, columns, places, first, last, group, norm, unit, sums): sum who has "
                          "no entry.");

static PyObject *lacking(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer values, places, group, sums;
    int kind;
    Py_ssize_t columns, first, last;
    double norm, unit;
    if (!PyArg_ParseTuple(arguments, "y*iny*nny*ddw*", &values, &kind, &columns, &places, &first, &last, &group, &norm,
                          &unit, &sums))
        return NULL;
    entries from;
    const int good = kind != 2 && set_entries(&values, kind, columns, first, last, &from) &&
                     are_columns(&places, columns) && (size_t)group.len == from.people && norm > 0 && unit >= 0 &&
                     unit <= MOST && sums.len == product(2, places.len);
    void *memory = good ? malloc(lacking_memory((size_t)places.len / 8)) : NULL;
    const int enough = memory != NULL;
    if (enough) {
        Py_BEGIN_ALLOW_THREADS
        sum_lacking(&from, places.buf, (size_t)places.len / 8, group.buf, norm, unit, memory, sums.buf);
        Py_END_ALLOW_THREADS
    }
    free(memory);
    PyBuffer_Release(&values);
    PyBuffer_Release(&places);
    PyBuffer_Release(&group);
    PyBuffer_Release(&sums);
    return !good ? refuse() : enough ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

int widest = 2;

PyDoc_STRVAR(limit_doc, "limit(level): use copies for processors up to this one; return the one in use. For tests.");

static PyObject *limit(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    if (!PyArg_ParseTuple(arguments, "i", &widest))
        return NULL;
    return PyLong_FromLong(HAS_VECTOR_POPCOUNT ? 2 : HAS_AVX2 ? 1 : 0);
}

#ifndef SOURCES
#define SOURCES 0 /* setup.py says the checksum; a build by other means is not told from one of other sources */
#endif

PyDoc_STRVAR(sources_doc, "sources(): the checksum of the sources that this was built from.");

static PyObject *sources(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    return PyLong_FromUnsignedLong(SOURCES);
}

static PyMethodDef functions[] = {
    {"sources", sources, METH_NOARGS, sources_doc},
    {"count", count, METH_VARARGS, count_doc},
#ifndef _WIN32
    {"count_file", count_file, METH_VARARGS, count_file_doc},
#endif
    {"limit", limit, METH_VARARGS, limit_doc},
    {"dose", dose, METH_VARARGS, dose_doc},
    {"sums", sums, METH_VARARGS, sums_doc},
    {"whole", whole, METH_VARARGS, whole_doc},
    {"add", add, METH_VARARGS, add_doc},
    {"lengths", lengths_of, METH_VARARGS, lengths_doc},
    {"look", look, METH_VARARGS, look_doc},
    {"lacking", lacking, METH_VARARGS, lacking_doc},
    {NULL, NULL, 0, NULL},
};

static int add_selection(PyObject *module)
{
    return PyModule_AddFunctions(module, selection_functions);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)add_selection}, {0, NULL}};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_compiled",
    .m_doc = "Loops in C, on buffers.",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__compiled(void)
{
    return PyModuleDef_Init(&definition);
}
