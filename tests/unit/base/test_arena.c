// Arenas and allocation: alignment, limits, overflow, failing on purpose.
#include "base/arena.h"
#include "base/checked.h"
#include "base/mem.h"
#include "tests/support/test.h"

static void pieces_are_aligned_zeroed_and_apart(void) {
    struct arena a;
    struct test_random r = {1};
    uint8_t *before = NULL;
    size_t n_before = 0;
    arena_init(&a, 1 << 20);
    for (int i = 0; i < 500; i++) {
        size_t n = test_random_below(&r, 900);
        uint8_t *p = arena_new(&a, n, 1);
        CHECK(p && (uintptr_t)p % 16 == 0);
        for (size_t j = 0; j < n; j++) CHECK(p[j] == 0);
        for (size_t j = 0; j < n; j++) p[j] = (uint8_t)i;
        for (size_t j = 0; j < n_before; j++) CHECK(before[j] == (uint8_t)(i - 1));
        before = p;
        n_before = n;
    }
    arena_fini(&a);
}

static void the_limit_and_overflow_give_null(void) {
    struct arena a;
    arena_init(&a, 100);
    CHECK(arena_new(&a, 96, 1) != NULL);
    CHECK(arena_new(&a, 16, 1) == NULL);
    CHECK(arena_new(&a, SIZE_MAX / 2, 4) == NULL);
    CHECK(arena_string(&a, "", SIZE_MAX) == NULL);
    arena_fini(&a);
}

static void a_string_is_copied_and_terminated(void) {
    struct arena a;
    arena_init(&a, 100);
    CHECK_TEXT("ab", arena_string(&a, "abc", 2));
    arena_fini(&a);
}

static void sizes_that_overflow_are_refused(void) {
    size_t n = 7;
    CHECK(!checked_mul(SIZE_MAX, 2, &n));
    CHECK(!checked_add(SIZE_MAX, 1, &n));
    CHECK(!checked_round_up(SIZE_MAX - 3, 64, &n));
    CHECK(checked_round_up(65, 64, &n));
    CHECK_INT(128, n);
    CHECK_INT(3, ceil_div(9, 4));
    CHECK(mem_new(SIZE_MAX, 8) == NULL);
    CHECK(mem_resize(NULL, SIZE_MAX, 8) == NULL);
}

static void the_nth_allocation_fails_when_told_to(void) {
    mem_fail_after(2);
    void *first = mem_new(1, 1), *second = mem_new(1, 1), *third = mem_new(1, 1);
    CHECK(first && !second && third);
    mem_free(first);
    mem_free(third);
    uint64_t count = mem_count();
    mem_free(mem_string("x", 1));
    CHECK_INT(count + 1, mem_count());
}

static const struct test_case cases[] = {
    {"pieces are aligned, zeroed and apart", pieces_are_aligned_zeroed_and_apart},
    {"the limit and overflow give NULL", the_limit_and_overflow_give_null},
    {"a string is copied and terminated", a_string_is_copied_and_terminated},
    {"sizes that overflow are refused", sizes_that_overflow_are_refused},
    {"the n-th allocation fails when told to", the_nth_allocation_fails_when_told_to},
};
TEST_MAIN("base/arena", cases)
