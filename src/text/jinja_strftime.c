// Times as text, in English and the same on every system: Python's strftime for a time without a zone.
#include "text/jinja_run.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const days[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                     "July",    "August",   "September", "October", "November", "December"};

// A number of a conversion: the least width, and the character that fills it up.
struct field {
    long long value;
    int width;
    char fill;
};

struct week {
    int year, number;
};

static bool is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

// Weeks of a year begin on the day of the week `first`; days before its first one are in week 0.
static int week_from(const struct tm *t, int first) { return (t->tm_yday + 7 - (t->tm_wday - first + 7) % 7) / 7; }

// ISO 8601: the week belongs to the year that its Thursday lies in.
static struct week iso_week(const struct tm *t) {
    int year = t->tm_year + 1900, thursday = t->tm_yday + 3 - (t->tm_wday + 6) % 7;
    if (thursday < 0) thursday += 365 + is_leap(--year);
    else if (thursday >= 365 + is_leap(year)) thursday -= 365 + is_leap(year++);
    return (struct week){year, thursday / 7 + 1};
}

// False when the conversion gives no number.
static bool number_of(char c, const struct tm *t, int64_t seconds, struct field *out) {
    int year = t->tm_year + 1900, hour12 = t->tm_hour % 12 ? t->tm_hour % 12 : 12;
    switch (c) {
    case 'C': *out = (struct field){year / 100, 2, '0'}; return true;
    case 'd': *out = (struct field){t->tm_mday, 2, '0'}; return true;
    case 'e': *out = (struct field){t->tm_mday, 2, ' '}; return true;
    case 'f': *out = (struct field){0, 6, '0'}; return true;
    case 'G': *out = (struct field){iso_week(t).year, 1, '0'}; return true;
    case 'g': *out = (struct field){iso_week(t).year % 100, 2, '0'}; return true;
    case 'H': *out = (struct field){t->tm_hour, 2, '0'}; return true;
    case 'I': *out = (struct field){hour12, 2, '0'}; return true;
    case 'j': *out = (struct field){t->tm_yday + 1, 3, '0'}; return true;
    case 'k': *out = (struct field){t->tm_hour, 2, ' '}; return true;
    case 'l': *out = (struct field){hour12, 2, ' '}; return true;
    case 'M': *out = (struct field){t->tm_min, 2, '0'}; return true;
    case 'm': *out = (struct field){t->tm_mon + 1, 2, '0'}; return true;
    case 'S': *out = (struct field){t->tm_sec, 2, '0'}; return true;
    case 's': *out = (struct field){seconds, 1, '0'}; return true;
    case 'U': *out = (struct field){week_from(t, 0), 2, '0'}; return true;
    case 'u': *out = (struct field){t->tm_wday ? t->tm_wday : 7, 1, '0'}; return true;
    case 'V': *out = (struct field){iso_week(t).number, 2, '0'}; return true;
    case 'W': *out = (struct field){week_from(t, 1), 2, '0'}; return true;
    case 'w': *out = (struct field){t->tm_wday, 1, '0'}; return true;
    case 'Y': *out = (struct field){year, 1, '0'}; return true;
    case 'y': *out = (struct field){year % 100, 2, '0'}; return true;
    default: return false;
    }
}

// Conversions that stand for a longer format; NULL for all others.
static const char *composed(char c) {
    switch (c) {
    case 'c': return "%a %b %e %H:%M:%S %Y";
    case 'D':
    case 'x': return "%m/%d/%y";
    case 'F': return "%Y-%m-%d";
    case 'R': return "%H:%M";
    case 'r': return "%I:%M:%S %p";
    case 'T':
    case 'X': return "%H:%M:%S";
    default: return NULL;
    }
}

// The text of a name, and how much of it; false when the conversion names nothing.
static bool name_of(char c, const struct tm *t, const char **out, int *n) {
    *n = c == 'a' || c == 'b' || c == 'h' ? 3 : 16;
    switch (c) {
    case 'a':
    case 'A': *out = days[t->tm_wday]; return true;
    case 'b':
    case 'h':
    case 'B': *out = months[t->tm_mon]; return true;
    case 'n': *out = "\n"; return true;
    case 'P': *out = t->tm_hour < 12 ? "am" : "pm"; return true;
    case 'p': *out = t->tm_hour < 12 ? "AM" : "PM"; return true;
    case 't': *out = "\t"; return true;
    case 'Z':
    case 'z': *out = ""; return true;
    case '%': *out = "%"; return true;
    default: return false;
    }
}

static void put_number(struct jinja_sink *k, struct field f, char flag) {
    char text[32];
    if (flag == '-') f.width = 1;
    if (flag == '_') f.fill = ' ';
    if (flag == '0') f.fill = '0';
    int n = snprintf(text, sizeof text, f.fill == '0' ? "%0*lld" : "%*lld", f.width, f.value);
    jinja_sink_add(k, text, (size_t)n, false);
}

static void put_name(struct jinja_sink *k, const char *name, int most, char flag) {
    char text[32];
    int n = snprintf(text, sizeof text, "%.*s", most, name);
    for (int i = 0; i < n && flag == '^'; i++) {
        if (text[i] >= 'a' && text[i] <= 'z') text[i] = (char)(text[i] - 'a' + 'A');
    }
    jinja_sink_add(k, text, (size_t)n, false);
}

static void print(struct jinja_sink *k, const char *format, size_t n, const struct tm *t, int64_t seconds) {
    for (size_t i = 0; i < n && k->failed == STATUS_OK; i++) {
        size_t from = i;
        if (format[i] != '%' || i + 1 == n) {
            jinja_sink_add(k, format + i, 1, false);
            continue;
        }
        char flag = format[i + 1] && strchr("-_0^", format[i + 1]) && i + 2 < n ? format[++i] : '\0', c = format[++i];
        const char *text = composed(c);
        struct field field;
        int most;
        if (text) print(k, text, strlen(text), t, seconds);
        else if (number_of(c, t, seconds, &field)) put_number(k, field, flag);
        else if (name_of(c, t, &text, &most)) put_name(k, text, most, flag);
        else jinja_sink_add(k, format + from, i + 1 - from, false);
    }
}

enum status jinja_strftime(struct jinja_run *r, const struct jinja_string *format, int64_t seconds,
                           struct jinja_value *out) {
    struct jinja_sink k;
    struct tm t;
    time_t time = (time_t)seconds;
    if (!gmtime_r(&time, &t)) return jinja_fail(r, "the time of strftime_now is out of range");
    TRY(jinja_steps(r, format->n));
    jinja_sink_init(&k, r->arena, r->output_limit);
    print(&k, format->text, format->n, &t, seconds);
    if (format->n_marks) jinja_sink_mark_all(&k);
    return jinja_sink_end(&k, out);
}
