// The width of prompt passes, kept within a time a round.
#include "engine/width.h"

enum { FIRST_WIDTH = 64, SMALLEST_SAMPLE = 16 };
static const double decode_share = 4.0, decode_floor_ms = 150.0;

void width_init(struct width *w, uint32_t forced, uint32_t rows_max, double prompt_ms) {
    *w = (struct width){.forced = forced, .rows_max = rows_max, .prompt_ms = prompt_ms};
}

uint32_t width_choose(const struct width *w, int decoding) {
    double limit_ms = w->prompt_ms;
    if (decoding) {
        limit_ms = decode_share * w->decode_ms;
        if (limit_ms < decode_floor_ms) limit_ms = decode_floor_ms;
    }
    double rows = FIRST_WIDTH;
    if (w->row_ms > 0) rows = limit_ms / w->row_ms;
    if (w->forced) rows = w->forced;
    if (rows > w->rows_max) rows = w->rows_max;
    if (rows < 1) rows = 1;
    return (uint32_t)rows;
}

void width_record(struct width *w, uint32_t prompt_rows, uint32_t other_rows, double ms) {
    if (prompt_rows == 0) {
        w->decode_ms = w->decode_ms > 0 ? 0.75 * w->decode_ms + 0.25 * ms : ms;
        return;
    }
    // A handful of rows costs what one does, so it says little about a row of a wide pass.
    if (prompt_rows < SMALLEST_SAMPLE) return;
    double row_ms = ms / (prompt_rows + other_rows);
    w->row_ms = w->row_ms > 0 ? 0.5 * w->row_ms + 0.5 * row_ms : row_ms;
}
