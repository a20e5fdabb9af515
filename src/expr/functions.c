/* Finding rows of the registry by name and number of arguments. */
#include "expr/functions_tables.h"

const function_group *const function_groups[] = {
    &functions_math,        &functions_string,     &functions_regex,     &functions_datetime,
    &functions_conditional, &functions_collection, &functions_lambda,    &functions_json,
    &functions_aggregate,   &functions_window,     &functions_generator, &functions_misc,
};
const size_t function_group_count = ARRAY_LEN(function_groups);

static bool has_name(const function_row *row, str name) {
    if (str_eq_ascii_fold(name, str_of(row->name))) return true;
    str rest = str_of(row->aliases), alias;
    while (rest.len && str_next(&rest, ' ', &alias))
        if (str_eq_ascii_fold(name, alias)) return true;
    return false;
}

static bool takes(const function_row *row, size_t n) {
    size_t min, max;
    function_arity(row, &min, &max);
    return n >= min && n <= max;
}

/* SIZE_MAX arguments: any row of the name. */
const function_row *function_find(str name, size_t n_args, bool *out_known) {
    *out_known = false;
    for (size_t g = 0; g < function_group_count; g++) {
        for (size_t i = 0; i < function_groups[g]->count; i++) {
            const function_row *row = &function_groups[g]->rows[i];
            if (!has_name(row, name)) continue;
            *out_known = true;
            if (n_args == SIZE_MAX || takes(row, n_args)) return row;
        }
    }
    return NULL;
}

/* Overloads stand together in one group. */
const function_row *function_find_next(const function_row *row, str name, size_t n_args) {
    for (size_t g = 0; g < function_group_count; g++) {
        const function_row *first = function_groups[g]->rows, *end = first + function_groups[g]->count;
        if (row < first || row >= end) continue;
        for (row++; row < end; row++)
            if (has_name(row, name) && takes(row, n_args)) return row;
    }
    return NULL;
}
