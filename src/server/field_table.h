// Every field that clients send to the generating routes, and what becomes of it: none is passed over in silence.
#ifndef TF_SERVER_FIELD_TABLE_H
#define TF_SERVER_FIELD_TABLE_H

#include "server/fields.h"

enum api_route { API_CHAT = 1, API_COMPLETION = 2 }; // bits

// Refuses, by name, fields that the route does not know (with the nearest that it does) and those that it knows but
// does not serve yet, unless their value asks for nothing. What is left is read by request.c or changes no reply.
enum status field_table_check(enum api_route route, const struct fields *f) TF_MUST_CHECK;

#endif
