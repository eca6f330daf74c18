/* Prints the table of options (src/program/options.def) as JSON, for what is made from it: the
 * man page's and docs' lists (tools/option_docs.py) and the command line's tests
 * (tests/cli/test_options.py). A list of objects, one for each row; columns that a row does not
 * have are null. */
#include "program/options.h"

#include <jansson.h>
#include <stdio.h>

static json_t *json_of(const prog_option *row)
{
    static const char *const types[] = {
        [PROG_TYPE_text] = "text",       [PROG_TYPE_number] = "number",
        [PROG_TYPE_flag] = "flag",       [PROG_TYPE_choice] = "choice",
        [PROG_TYPE_pattern] = "pattern", [PROG_TYPE_devices] = "devices",
        [PROG_TYPE_blocks] = "blocks",   [PROG_TYPE_probes] = "probes",
        [PROG_TYPE_budget] = "budget",   [PROG_TYPE_ranges] = "ranges"};
    char allowed[256], letter[2] = {row->letter, '\0'};
    prog_option_allowed(row, allowed, sizeof allowed);
    return json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:s?, s:s?, s:s?, s:s?, s:s, s:s?}", "field",
                     row->field, "type", types[row->type], "allowed", allowed, "name", row->name,
                     "letter", row->letter ? letter : NULL, "argument", row->argument, "variable",
                     row->variable, "initial", row->initial, "without", row->without, "help",
                     row->help, "more", row->more);
}

int main(void)
{
    json_t *list = json_array();
    for (prog_option_id id = 0; id < PROG_OPTIONS; id++)
        if (json_array_append_new(list, json_of(&prog_option_table[id])) != 0)
            return 1;
    int status = json_dumpf(list, stdout, JSON_INDENT(1));
    json_decref(list);
    putchar('\n');
    return status == 0 && fflush(stdout) == 0 ? 0 : 1;
}
