// Values of the template language.
#ifndef TF_TEXT_JINJA_VALUE_H
#define TF_TEXT_JINJA_VALUE_H
struct jinja_value;
#endif
