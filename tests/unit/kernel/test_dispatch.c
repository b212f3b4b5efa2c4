/* test_dispatch.c - which tier runs. The choice is made once a process; each case has its own. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <paua/paua.h>

#include "kernel/kernel.h"

/* Whether a process with PAUA_TIER=wanted (NULL: unset) gets this table, from both functions. */
static bool chooses(const char *wanted, const struct kernels *table)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        bool set =
            wanted != NULL ? setenv("PAUA_TIER", wanted, 1) == 0 : unsetenv("PAUA_TIER") == 0;
        _exit(set && kernels_best() == table && strcmp(paua_tier(), table->tier) == 0 ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static size_t count_tiers(void)
{
    size_t n = 0;

    while (kernels_at(n) != NULL)
        n++;
    return n;
}

static void portable_is_the_last_tier_and_nothing_follows(void **state)
{
    size_t n = count_tiers();

    (void)state;
    require(n >= 1 && kernels_at(n - 1) == &kernels_portable, &kernels_portable, n);
    require(kernels_at(n + 1) == NULL && kernels_at(SIZE_MAX) == NULL, &kernels_portable, n);
}

static void tiers_have_different_names(void **state)
{
    (void)state;
    for (size_t i = 0; kernels_at(i) != NULL; i++)
        for (size_t j = 0; j < i; j++)
            require(strcmp(kernels_at(i)->tier, kernels_at(j)->tier) != 0, kernels_at(i), i);
}

static void the_best_tier_runs_unless_asked(void **state)
{
    (void)state;
    require(chooses(NULL, kernels_at(0)), kernels_at(0), 0);
}

static void paua_tier_picks_any_tier_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; kernels_at(i) != NULL; i++)
        require(chooses(kernels_at(i)->tier, kernels_at(i)), kernels_at(i), i);
}

static void a_name_that_no_tier_has_changes_nothing(void **state)
{
    static const char *const names[] = {"", "avx", "AVX2", "portable ", "altivec"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        require(chooses(names[i], kernels_at(0)), kernels_at(0), i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(portable_is_the_last_tier_and_nothing_follows),
        cmocka_unit_test(tiers_have_different_names),
        cmocka_unit_test(the_best_tier_runs_unless_asked),
        cmocka_unit_test(paua_tier_picks_any_tier_by_name),
        cmocka_unit_test(a_name_that_no_tier_has_changes_nothing),
    };

    return cmocka_run_group_tests_name("kernel/dispatch", tests, NULL, NULL);
}
