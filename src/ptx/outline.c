/* The outline of a text: where its statements begin and end, and what they declare. */
#include "ptx/outline.h"

#include "ir/lookup.h"

#include <string.h>

static ir_linkage read_linkage(ptx_lexer *x)
{
    static const char *const words[] = {[IR_LINK_VISIBLE] = "visible",
                                        [IR_LINK_EXTERN] = "extern",
                                        [IR_LINK_WEAK] = "weak",
                                        [IR_LINK_COMMON] = "common"};
    for (int i = IR_LINK_VISIBLE; i <= IR_LINK_COMMON; i++)
        if (ptx_accept_dot(x, words[i]))
            return (ir_linkage)i;
    return IR_LINK_NONE;
}

static ptx_statement_kind statement_kind_of(const ptx_lexer *x)
{
    if (ptx_is_dot(x, "version") || ptx_is_dot(x, "target") || ptx_is_dot(x, "address_size"))
        return PTX_STATEMENT_HEAD;
    if (ptx_is_dot(x, "file"))
        return PTX_STATEMENT_SOURCE;
    if (ptx_is_dot(x, "section"))
        return PTX_STATEMENT_SECTION;
    if (ptx_is_dot(x, "func") || ptx_is_dot(x, "entry"))
        return PTX_STATEMENT_FUNCTION;
    if (ptx_is_dot(x, "pragma") || ptx_is_dot(x, "alias"))
        return PTX_STATEMENT_OTHER;
    return PTX_STATEMENT_VARIABLE;
}

static void take_token(ptx_lexer *x, ptx_statement *s)
{
    s->end = x->at;
    ptx_next(x);
}

/* ".version 8.0", ".target sm_90a, debug" and ".file 1 "a.cu", 1, 2" have no semicolon. */
static bool read_head_directive(ptx_lexer *x, ptx_statement *s)
{
    take_token(x, s);
    if (s->kind == PTX_STATEMENT_SOURCE)
        take_token(x, s);
    take_token(x, s);
    while (ptx_is(x, ',')) {
        take_token(x, s);
        take_token(x, s);
    }
    return !x->failed;
}

static bool declares_name(const ptx_statement *s)
{
    return s->kind == PTX_STATEMENT_VARIABLE || s->kind == PTX_STATEMENT_FUNCTION;
}

/* Notes the name on the way: after the results of a function, before the brackets of a variable. */
static bool read_to_end(ptx_lexer *x, ptx_statement *s)
{
    int braces = 0, parens = 0;
    while (x->tok.kind != TOK_EOF) {
        if (x->tok.kind == TOK_NAME && !parens && !braces && !s->name && declares_name(s)) {
            s->name = x->tok.text;
            s->name_length = x->tok.length;
        }
        parens += ptx_is(x, '(') - ptx_is(x, ')');
        s->initialised |= ptx_is(x, '=');
        braces += ptx_is(x, '{') - ptx_is(x, '}');
        bool semicolon = ptx_is(x, ';') && !braces;
        bool closed = ptx_is(x, '}') && !braces && !s->initialised;
        take_token(x, s);
        if (semicolon && s->kind == PTX_STATEMENT_FUNCTION)
            s->kind = PTX_STATEMENT_PROTOTYPE;
        if (semicolon || closed)
            return true;
    }
    ptx_fail_at(x, ptx_tok_pos(x), WL_PARSE, NULL, "a statement has no end: \"%.40s\"", s->text);
    return false;
}

bool ptx_next_statement(ptx_lexer *x, ptx_statement *out)
{
    if (x->tok.kind == TOK_EOF)
        return false;
    *out = (ptx_statement){.text = ptx_tok_start(x)};
    out->linkage = read_linkage(x);
    if (x->tok.kind != TOK_DOT) {
        ptx_fail_at(x, ptx_tok_pos(x), WL_PARSE, NULL, "no statement begins with \"%.20s\"",
                    x->tok.text);
        return false;
    }
    out->kind = statement_kind_of(x);
    out->entry = ptx_is_dot(x, "entry");
    out->space = ir_space_of_suffix(ir_find_suffix(x->tok.text, x->tok.length, x->tok.hash));
    bool head = out->kind == PTX_STATEMENT_HEAD || out->kind == PTX_STATEMENT_SOURCE;
    return head ? read_head_directive(x, out) : read_to_end(x, out);
}

bool ptx_is_named(const ptx_statement *s, const char *name)
{
    return s->name && strlen(name) == s->name_length && memcmp(s->name, name, s->name_length) == 0;
}
