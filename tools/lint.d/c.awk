# C rules of tools/lint: layers, sizes, banned calls. Reads sources, prints `file:line: rule: what to do`.

function say(line, rule, text) { print FILENAME ":" line ": " rule ": " text }

# A line without comments, with the insides of strings removed; in_comment carries over to the next line.
function code_of(s,    out, c, two, end) {
    out = ""
    while (s != "") {
        if (in_comment) {
            end = index(s, "*/")
            if (!end) return out
            s = substr(s, end + 2)
            in_comment = 0
            continue
        }
        if (!match(s, /["'\/]/)) return out s
        c = substr(s, RSTART, 1)
        two = substr(s, RSTART, 2)
        out = out substr(s, 1, RSTART - 1)
        s = substr(s, RSTART)
        if (two == "//") return out
        if (two == "/*") { in_comment = 1; s = substr(s, 3); continue }
        if (c == "/") { out = out c; s = substr(s, 2); continue }
        out = out c c
        if (c == "\"" && match(s, /^"([^"\\]|\\.)*"/)) s = substr(s, RLENGTH + 1)
        else if (c == "'" && match(s, /^'([^'\\]|\\.)*'/)) s = substr(s, RLENGTH + 1)
        else s = substr(s, 2)
    }
    return out
}

# Parameters of the function whose head is `head`; 0 for void.
function parameters(head,    i, c, depth, n, inside) {
    gsub(/__attribute__ *\(\([^)]*(\([^)]*\))?[^)]*\)\)/, "", head)
    gsub(/TF_PRINTF *\([^)]*\)/, "", head)
    i = index(head, "(")
    for (n = 0; i <= length(head); i++) {
        c = substr(head, i, 1)
        if (c == "(") depth++
        else if (c == ")" && --depth == 0) break
        else if (c == "," && depth == 1) n++
        else if (depth) inside = inside c
    }
    gsub(/ /, "", inside)
    return inside == "" || inside == "void" ? 0 : n + 1
}

function is_function_head(t) {
    if (t !~ /[A-Za-z0-9_]+ *\(/ || t ~ /=/ || t ~ /^ *(typedef|extern ""|_Static_assert)/) return 0
    return t ~ /^ *[A-Za-z_][A-Za-z0-9_ *]*[ *][A-Za-z_][A-Za-z0-9_]* *\(/
}

# Callbacks of libmicrohttpd have the parameters that it chose.
function check_head(t) {
    if (is_function_head(t) && parameters(t) > 7 && t !~ /struct MHD_Connection \*/)
        say(head_line, "parameters", "more than 7: pass a struct")
}

# Levels of nesting that the statement in front of a brace or semicolon opens; a brace of an initialiser opens none.
function controls(t,    n) {
    n = gsub(/(^|[^A-Za-z0-9_])(for|while|if|switch) *\(/, "&", t)
    return t ~ /(^|[^A-Za-z0-9_])(else|do) *$/ && !n ? 1 : n
}

function check_nesting(levels) {
    if (levels > 4 && !told) { say(FNR, "nesting", "deeper than 4: leave early or make a function"); told = 1 }
}

function open_brace(    opens) {
    depth++
    outer_parens[depth] = parens
    parens = 0
    if (depth == 1) {
        in_function = is_function_head(text)
        if (in_function) { function_line = head_line; levels = told = 0; check_head(text) }
        opened[depth] = 0
    } else if (in_function) {
        opens = controls(text)
        if (!opens && text ~ /^ *$|:[ ]*$|^ *[A-Z_]+ *\(.*\) *$/) opens = 1
        opened[depth] = opens
        levels += opens
        check_nesting(levels)
    }
    text = ""
}

function close_brace() {
    if (depth == 1 && in_function) {
        if (FNR - function_line + 1 > 100)
            say(function_line, "function-length", FNR - function_line + 1 " lines, at most 100: split it")
        in_function = 0
    } else if (in_function) levels -= opened[depth]
    parens = outer_parens[depth]
    if (depth > 0) depth--
    text = ""
}

function scan(s,    c) {
    while (match(s, /[(){};]/)) {
        if (text == "" || text ~ /^ *$/) head_line = FNR
        c = substr(s, RSTART, 1)
        text = text substr(s, 1, RSTART - 1)
        s = substr(s, RSTART + 1)
        if (c == "(") { parens++; text = text c }
        else if (c == ")") { parens--; text = text c }
        else if (c == "{") open_brace()
        else if (c == "}") close_brace()
        else if (parens > 0) text = text ";"
        else {
            if (depth == 0) check_head(text)
            else if (in_function) check_nesting(levels + controls(text))
            text = ""
        }
    }
    if (text ~ /^ *$/ && s !~ /^ *$/) head_line = FNR
    text = text s " "
}

function calls(code, names) { return code ~ ("(^|[^A-Za-z0-9_.>])(" names ") *\\(") }

function check_calls(code,    where) {
    if (calls(code, "strcpy|strcat|sprintf|vsprintf|strtok|atoi|atol|atof|gets|alloca|s?rand|setjmp|longjmp"))
        say(FNR, "banned-call", "unbounded or unchecked: use base/buf.h, base/checked.h or an error value")
    if (FILENAME !~ /^src\//) return
    if (FILENAME != "src/base/mem.c" && calls(code, "malloc|calloc|realloc|free|aligned_alloc|posix_memalign|strn?dup"))
        say(FNR, "raw-memory", "memory comes from base/mem.h, base/arena.h or base/buf.h")
    where = FILENAME ~ /^src\/cli\//
    if (!where && calls(code, "v?printf|v?fprintf|puts|fputs|putchar|putc|fputc|perror|_?exit|getenv"))
        say(FNR, "below-cli", "only src/cli prints, exits and reads the environment: return an error or use a callback")
    if (!where && FILENAME != "src/base/mem.c" && calls(code, "abort"))
        say(FNR, "below-cli", "only the memory guard may abort: return an error")
    if (where && calls(code, "getenv")) {
        if (getenv_file != "" && getenv_file != FILENAME)
            say(FNR, "getenv", "the environment is read in " getenv_file " only")
        getenv_file = FILENAME
    }
}

function check_include(    target, layer, n, i, prefix, ok) {
    if (FILENAME ~ /^src\/model\/families\/.*\.c$/ && $0 !~ /"model\/arch\.h"/) {
        say(FNR, "layers", "a family includes model/arch.h and nothing else")
        return
    }
    if (/<immintrin\.h>/ && FILENAME !~ /_avx(2|512)\.[ch]$/ && FILENAME !~ /^src\/base\//)
        say(FNR, "isa", "vector code lives in files ending in _avx2 or _avx512")
    if (!match($0, /"[^"]*"/)) return
    target = substr($0, RSTART + 1, RLENGTH - 2)
    if (target !~ /^[a-z0-9_]+\/[a-z0-9_\/]+\.(h|def|inc|cuh)$/) {
        say(FNR, "include-form", "write \"folder/file.h\" as seen from src/")
        return
    }
    if (FILENAME !~ /^src\//) return
    split(FILENAME, part, "/")
    n = split(may[part[2]], prefix, " ")
    for (i = 1; i <= n && !ok; i++) ok = index(target, prefix[i]) == 1
    if (!ok) say(FNR, "layers", part[2] " may include only: " may[part[2]])
}

function check_guard(    want) {
    want = "TF_" toupper(FILENAME) "_"
    sub(/^TF_SRC\//, "TF_", want)
    sub(/^TF_INCLUDE\//, "", want)
    gsub(/[^A-Z0-9_]/, "_", want)
    sub(/_$/, "", want)
    if (FILENAME ~ /\.h$/ && /^#ifndef / && $2 != want) say(FNR, "guard", "the include guard is " want)
    guard_seen = 1
}

BEGIN {
    while ((getline line < layers) > 0)
        if (line !~ /^#/ && (i = index(line, ":"))) may[substr(line, 1, i - 1)] = substr(line, i + 2)
}

FNR == 1 { depth = parens = in_comment = in_function = levels = told = in_directive = guard_seen = ifs = 0; text = "" }

{
    code = code_of($0)
    check_calls(code)
    if (code ~ /FP_CONTRACT|float_control|optimize *\(/) say(FNR, "flags", "arithmetic is set in mk/flags.mk only")
    if (in_directive) { in_directive = $0 ~ /\\$/; next }
    if (code ~ /^ *#/) {
        in_directive = $0 ~ /\\$/
        if (/^ *#ifndef/ && !guard_seen) check_guard()
        if (code ~ /^ *# *include/) check_include()
        # Each branch of a condition begins at the depth in front of it.
        if (code ~ /^ *# *if/) depth_at[++ifs] = depth
        else if (code ~ /^ *# *(else|elif)/ && ifs) depth = depth_at[ifs]
        else if (code ~ /^ *# *endif/ && ifs) ifs--
        next
    }
    scan(code)
}
