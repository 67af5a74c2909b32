/* A check that names what failed and ends the program, in release builds too. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                         \
    do {                                                                         \
        if (!(condition)) {                                                      \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

#define STATUS(expected, call)                                                          \
    do {                                                                                \
        AioliStatus given_ = (call);                                                    \
        if (given_ != (expected)) {                                                     \
            fprintf(stderr, "%s:%d: %s gave %s, not %s\n", __FILE__, __LINE__, #call,   \
                    aioli_status_name(given_), aioli_status_name(expected));            \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

#define OK(call) STATUS(AIOLI_STATUS_OK, call)

#endif
