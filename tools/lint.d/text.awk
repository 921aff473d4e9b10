# Rules of tools/lint for every text file: first line, widths, white space, invisible characters, words kept out.

function say(rule, text) { print FILENAME ":" FNR ": " rule ": " text }

function columns(s) { gsub(/[\200-\277]/, "", s); return length(s) }

function check_first_line(s,    opening) {
    if (is_prose) return
    sub(/ *"""$/, "", s)
    opening = is_c ? "^// " : is_python ? "^(# |\"\"\")" : "^# "
    if (length(s) >= 12 && s ~ /[.:]$/ && s ~ opening) return
    say("first-line", "begin with a comment of one sentence that says what the file is")
}

function check_words(    i) {
    for (i = 1; i <= n_words; i++)
        if (match($0, word[i])) say(word_rule[i], word_text[i])
}

# A comment that reads like a statement.
function check_dead_code(s) {
    if (is_c && sub(/^ *\/\/ ?/, "", s)) {
        if (s !~ /^(#include|#define|#if|return[ (].*;$)/ && s !~ /^(if|for|while) \(.*[;{]$/ && \
            s !~ /^[a-z_0-9>.-]+(\([^;:]*\)| = [^;:]*|\+\+);$/ && s !~ /^} *(else.*)?$/) return
    } else if (is_c || is_prose) return
    else if (s !~ /^ *# *(import [a-z_.]+$|from [a-z_.]+ import|def [a-z_]+\(.*:$|print\()/) return
    say("dead-code", "delete code that is commented out")
}

BEGIN {
    while ((getline line < words) > 0) {
        if (line ~ /^#/ || line == "") continue
        rule_end = index(line, ": ")
        text_at = index(line, " => ")
        word_rule[++n_words] = substr(line, 1, rule_end - 1)
        word[n_words] = substr(line, rule_end + 2, text_at - rule_end - 2)
        word_text[n_words] = substr(line, text_at + 4)
    }
    while ((getline line < ends) > 0) { split(line, field, " "); line_feeds[field[2]] = field[1] }
}

FNR == 1 {
    is_prose = FILENAME ~ /\.(md|txt)$/ || FILENAME ~ /(^|\/)(LICENSE|VERSION)$/
    is_c = FILENAME ~ /\.(c|h|cu|cuh|def|inc)$/
    is_python = FILENAME ~ /\.py$/ || /^#!.*python/
    is_make = FILENAME ~ /(\.mk|Makefile)$/
    is_own = FILENAME ~ /^(tools\/lint\.d|tests\/lint)\// # they spell out what they look for
    is_limited = FILENAME !~ /(unicode_tables\.c|LICENSE|\.md|lint\.d\/words)$/
    limit = FILENAME ~ /\.h$/ ? 250 : FILENAME ~ /(unicode_tables\.c|LICENSE|\.md)$/ ? 0 : 600
    first = 1
}
FNR == limit + 1 && limit { say("file-length", "more than " limit " lines: split it") }
FNR > line_feeds[FILENAME] { say("line-end", "end the last line with a line feed") }
FNR == 1 && /^#!/ { next }
first { first = 0; check_first_line($0) }
!is_own { check_words(); check_dead_code($0) }
is_limited && columns($0) > 120 { say("line-length", columns($0) " columns, at most 120") }
/[ \t]$/ { say("trailing-space", "delete the blanks at the end") }
/\r/ { say("line-end", "end lines with a line feed alone") }
/[^\t].*\t/ || (/\t/ && !is_make) { say("tab", "indent with spaces") }
# Zero width, direction marks, byte order mark, soft hyphen, no-break space, filler letters; then control characters.
/\342\200[\213-\217\252-\256]|\342\201[\240-\257]|\357\273\277|\302[\255\240]|\341\240\216|\343\205\244/ ||
/[\001-\010\013\014\016-\037\177]/ { say("invisible", "write such characters as escapes") }
