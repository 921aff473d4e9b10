// The layout of a round's rows: trees whose paths are too long to lay out are refused, not written past their array.
#include "model/loaded.h"
#include "tests/support/test.h"

#include <string.h>

enum { ROWS = 2048 };

// Row 1 hangs on row 0, and so does row 2 with all others in a chain behind it: half of 2,047 squared steps.
static void refuses_a_tree_with_too_long_paths(void) {
    static struct model_row rows[ROWS];
    static int32_t pages[ROWS / 64 + 1];
    const struct plan plan = {.rows_max = ROWS, .outputs_max = 1, .n_slots = 1};
    const struct model_geometry g = {.vocab = 1,
                                     .context = 2 * ROWS,
                                     .page_tokens = 64,
                                     .n_pages = 1,
                                     .n_slots = 1,
                                     .rows_max = ROWS,
                                     .outputs_max = 1};
    struct model_window w = {.kind = WINDOW_DECODE, .pages = pages};
    struct round_state r = {0};
    struct err e = {0};
    for (int32_t i = 0; i < ROWS; i++) {
        rows[i] = (struct model_row){.parent = i == 0 ? MODEL_NO_PARENT : i < 3 ? 0 : i - 1,
                                     .position = i < 2 ? i : i - 1};
    }
    CHECK_INT(STATUS_OK, round_init(&r, &plan, &e));
    for (uint32_t n = 1000; n <= ROWS; n += ROWS - 1000) {
        w.n_rows = n;
        const struct model_round round = {.rows = rows, .windows = &w, .n_rows = n, .n_windows = 1};
        e = (struct err){0};
        CHECK_INT(n == ROWS ? STATUS_INTERNAL : STATUS_OK, round_lay_out(&r, &g, &round, &e));
    }
    CHECK(strstr(e.message, "too long") != NULL);
    round_fini(&r);
}

static const struct test_case cases[] = {
    {"refuses a tree whose paths are too long", refuses_a_tree_with_too_long_paths},
};
TEST_MAIN("model/round_layout", cases)
