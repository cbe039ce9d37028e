/* What selection asks of the kernels, as functions of Python: the contest, and the joint choice. */

#include "module.h"

/* Set scores and words, if there are as many of both. */
static int set_contestants(const Py_buffer *scores, const Py_buffer *words, double scale, contestants *who)
{
    *who = (contestants){scores->buf, words->buf, (size_t)scores->len / 8, scale};
    return scores->len % 8 == 0 && words->len == scores->len / 4;
}

PyDoc_STRVAR(lower_ends_doc, "lower_ends(scores, words, scale, least, lower): add the least noise that words allow.");

static PyObject *lower_ends_of(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer scores, words, least, lower;
    double scale;
    if (!PyArg_ParseTuple(arguments, "y*y*dy*w*", &scores, &words, &scale, &least, &lower))
        return NULL;
    contestants who;
    const int good = set_contestants(&scores, &words, scale, &who) && least.len == 8 * CONTEST_WORDS &&
                     lower.len == scores.len;
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        lower_ends(&who, least.buf, lower.buf);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&scores);
    PyBuffer_Release(&words);
    PyBuffer_Release(&least);
    PyBuffer_Release(&lower);
    return good ? Py_NewRef(Py_None) : refuse();
}

PyDoc_STRVAR(reaching_doc, "reaching(lower, words, needed, places): find who reaches what is needed with their word; "
                           "return how many.");

static PyObject *reaching_of(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer lower, words, needed, places;
    if (!PyArg_ParseTuple(arguments, "y*y*y*w*", &lower, &words, &needed, &places))
        return NULL;
    const int good = lower.len % 8 == 0 && words.len == lower.len / 4 && needed.len == 8 * CONTEST_WORDS &&
                     places.len == lower.len;
    size_t found = 0;
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        found = reaching(lower.buf, words.buf, (size_t)lower.len / 8, needed.buf, places.buf);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&lower);
    PyBuffer_Release(&words);
    PyBuffer_Release(&needed);
    PyBuffer_Release(&places);
    return good ? PyLong_FromSize_t(found) : refuse();
}

PyDoc_STRVAR(noisy_doc, "noisy(scores, high, low, scale, gumbel, bounds): add noise of eighty bits, with bounds on it.");

static PyObject *noisy_of(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer scores, high, low, bounds;
    double scale;
    int gumbel;
    if (!PyArg_ParseTuple(arguments, "y*y*y*dpw*", &scores, &high, &low, &scale, &gumbel, &bounds))
        return NULL;
    contestants who;
    const int good = set_contestants(&scores, &high, scale, &who) && low.len == scores.len &&
                     bounds.len == product(3, scores.len);
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        noisy(&who, low.buf, gumbel, bounds.buf);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&scores);
    PyBuffer_Release(&high);
    PyBuffer_Release(&low);
    PyBuffer_Release(&bounds);
    return good ? Py_NewRef(Py_None) : refuse();
}

PyDoc_STRVAR(negated_doc, "negated(scores, limit, negative): change signs, clip, and put NaN at the limit.");

static PyObject *negated_of(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer scores, negative;
    double limit;
    if (!PyArg_ParseTuple(arguments, "y*dw*", &scores, &limit, &negative))
        return NULL;
    const int good = scores.len % 8 == 0 && negative.len == scores.len;
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        negated(scores.buf, (size_t)scores.len / 8, limit, negative.buf);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&scores);
    PyBuffer_Release(&negative);
    return good ? Py_NewRef(Py_None) : refuse();
}

PyDoc_STRVAR(joint_doc, "joint(negative, ranked, spread, epsilon, words, places): choose len(places) jointly; "
                        "0 where doubles do not suffice, -1 where more ranks are needed.");

static PyObject *joint(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer negative, ranked, words, places;
    double spread, epsilon;
    if (!PyArg_ParseTuple(arguments, "y*y*ddy*w*", &negative, &ranked, &spread, &epsilon, &words, &places))
        return NULL;
    const joint_question asked = {negative.buf, ranked.buf, (size_t)negative.len / 8, (size_t)ranked.len / 8,
                                  (size_t)places.len / 8, spread, epsilon, words.buf, (size_t)words.len / 8};
    const int good = asked.k >= 1 && asked.k <= JOINT_MOST && asked.k < asked.known && asked.known <= asked.m &&
                     asked.m < (size_t)1 << 30;
    int chosen = 0;
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        chosen = choose_joint(&asked, places.buf);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&negative);
    PyBuffer_Release(&ranked);
    PyBuffer_Release(&words);
    PyBuffer_Release(&places);
    return good ? PyLong_FromLong(chosen) : refuse();
}

PyMethodDef selection_functions[] = {
    {"lower_ends", lower_ends_of, METH_VARARGS, lower_ends_doc},
    {"reaching", reaching_of, METH_VARARGS, reaching_doc},
    {"noisy", noisy_of, METH_VARARGS, noisy_doc},
    {"negated", negated_of, METH_VARARGS, negated_doc},
    {"joint", joint, METH_VARARGS, joint_doc},
    {NULL, NULL, 0, NULL},
};
