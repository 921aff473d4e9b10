// The statements' half of the parser.
#ifndef TF_TEXT_JINJA_PARSE_STATEMENT_H
#define TF_TEXT_JINJA_PARSE_STATEMENT_H

#include "text/jinja_parse.h"

// Parses everything up to the end of the template.
enum status jinja_parse_template(struct jinja_parser *p, struct jinja_nodes *out) TF_MUST_CHECK;

#endif
