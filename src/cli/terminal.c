// Line editing by libedit, bracketed paste, and SIGINT through a signalfd.
#include "cli/terminal.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HISTORY_LINES = 1000, PASTE_CHARACTERS_MAX = 1 << 20 };

#define PROMPT L"> "
#define PASTE_ON "\033[?2004h"
#define PASTE_OFF "\033[?2004l"
#define PASTE_END L"\033[201~"

struct terminal {
    EditLine *editor;
    HistoryW *history;
    const char *history_path; // NULL: not kept
    int signals;              // signalfd that receives SIGINT
    bool interrupted;         // the line being read was
    char bytes[4];            // of a character that is arriving
    size_t n_bytes;
};

static wchar_t *prompt(EditLine *el) {
    (void)el;
    return (wchar_t *)PROMPT; // libedit only reads it
}

bool terminal_interrupted(struct terminal *t) {
    struct signalfd_siginfo info;
    return read(t->signals, &info, sizeof info) == (ssize_t)sizeof info;
}

// Waits for one byte; 0 at the end of the input, -1 when Ctrl-C came first.
static int next_byte(struct terminal *t, char *out) {
    for (;;) {
        struct pollfd fds[] = {{.fd = t->signals, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
        if (poll(fds, 2, -1) < 0 && errno != EINTR) return 0;
        if (fds[0].revents && terminal_interrupted(t)) {
            t->interrupted = true;
            return -1;
        }
        if (!fds[1].revents) continue;
        ssize_t n = read(STDIN_FILENO, out, 1);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        return n == 1;
    }
}

// What libedit reads characters with: UTF-8 whatever the locale says; broken bytes become U+FFFD.
static int next_character(EditLine *el, wchar_t *out) {
    struct terminal *t;
    el_wget(el, EL_CLIENTDATA, &t);
    for (;;) {
        uint32_t code_point;
        bool bad;
        if (t->n_bytes && utf8_whole_prefix(t->bytes, t->n_bytes)) {
            size_t n = utf8_next(t->bytes, t->n_bytes, &code_point, &bad);
            t->n_bytes -= n;
            for (size_t i = 0; i < t->n_bytes; i++) t->bytes[i] = t->bytes[n + i];
            *out = (wchar_t)code_point;
            return 1;
        }
        int got = next_byte(t, &t->bytes[t->n_bytes]);
        if (got <= 0) return got;
        t->n_bytes++;
    }
}

// Reads a paste up to its closing mark. Returns its length without the mark and without newlines at its end, or -1 when
// the input ended or it is too long; then it was read to its end all the same, lest its rest be taken as typed.
static ssize_t read_paste(EditLine *el, wchar_t *text) {
    const size_t mark = wcslen(PASTE_END);
    size_t n = 0;
    bool too_long = false;
    for (wchar_t got; el_wgetc(el, &got) == 1;) {
        if (n == PASTE_CHARACTERS_MAX) {
            too_long = true;
            wmemmove(text, text + n - mark, mark);
            n = mark;
        }
        text[n++] = got == L'\r' ? L'\n' : got;
        if (n < mark || wmemcmp(text + n - mark, PASTE_END, mark) != 0) continue;
        n -= mark;
        while (n && text[n - 1] == L'\n') n--;
        return too_long ? -1 : (ssize_t)n;
    }
    return -1;
}

// Bound to the mark that begins a paste: everything in it is text, newlines too.
static unsigned char insert_paste(EditLine *el, int c) {
    (void)c;
    wchar_t *text = mem_new(PASTE_CHARACTERS_MAX + 1, sizeof *text);
    if (!text) return CC_ERROR;
    ssize_t n = read_paste(el, text);
    bool inserted = n == 0;
    if (n > 0) {
        text[n] = L'\0';
        inserted = el_winsertstr(el, text) == 0;
    }
    mem_free(text);
    return inserted ? CC_REFRESH : CC_ERROR;
}

static unsigned char insert_newline(EditLine *el, int c) {
    (void)c;
    return el_winsertstr(el, L"\n") ? CC_ERROR : CC_REFRESH;
}

// libedit prints through the C library's wide characters, which need a UTF-8 locale.
static void choose_locale(void) {
    if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1) setlocale(LC_CTYPE, "C.UTF-8");
}

static enum status open_editor(struct terminal *t, struct err *e) {
    HistEventW event;
    t->editor = el_init("tensorfold", stdin, stdout, stderr);
    t->history = history_winit();
    if (!t->editor || !t->history) return err_set(e, STATUS_NO_MEMORY, "the terminal cannot be used for editing");
    history_w(t->history, &event, H_SETSIZE, HISTORY_LINES);
    history_w(t->history, &event, H_SETUNIQUE, 1);
    if (t->history_path) history_w(t->history, &event, H_LOAD, t->history_path);
    el_wset(t->editor, EL_CLIENTDATA, t);
    el_wset(t->editor, EL_GETCFN, next_character);
    el_wset(t->editor, EL_PROMPT, prompt);
    el_wset(t->editor, EL_EDITOR, L"emacs");
    el_wset(t->editor, EL_SIGNAL, 1); // window size, stop and continue; SIGINT stays with the signalfd
    el_wset(t->editor, EL_HIST, history_w, t->history);
    el_wset(t->editor, EL_ADDFN, L"tf-paste", L"Insert pasted text", insert_paste);
    el_wset(t->editor, EL_ADDFN, L"tf-newline", L"Start a new line", insert_newline);
    el_wset(t->editor, EL_BIND, L"\033[200~", L"tf-paste", NULL);
    el_wset(t->editor, EL_BIND, L"\033\n", L"tf-newline", NULL);
    el_wset(t->editor, EL_BIND, L"\033\r", L"tf-newline", NULL);
    el_wset(t->editor, EL_BIND, L"^R", L"em-inc-search-prev", NULL);
    return STATUS_OK;
}

enum status terminal_open(const char *history, struct terminal **out, struct err *e) {
    struct terminal *t = mem_new(1, sizeof *t);
    if (!t) return err_set(e, STATUS_NO_MEMORY, "no memory for the terminal");
    *t = (struct terminal){.history_path = history};
    choose_locale();
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    t->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    enum status s = t->signals < 0 ? err_set(e, STATUS_IO, "signals cannot be received") : open_editor(t, e);
    if (s == STATUS_OK) {
        *out = t;
    } else {
        terminal_close(t);
    }
    return s;
}

void terminal_close(struct terminal *t) {
    HistEventW event;
    if (t->history && t->history_path) {
        mode_t mask = umask(077); // what people type is theirs alone
        history_w(t->history, &event, H_SAVE, t->history_path);
        umask(mask);
    }
    if (t->editor) el_end(t->editor);
    if (t->history) history_wend(t->history);
    if (t->signals >= 0) close(t->signals);
    mem_free(t);
}

static void append_utf8(const wchar_t *text, int n, struct buf *out) {
    for (int i = 0; i < n; i++) {
        char bytes[4];
        buf_append(out, bytes, utf8_put((uint32_t)text[i], bytes));
    }
}

enum terminal_input terminal_read(struct terminal *t, struct buf *text) {
    while (terminal_interrupted(t)) {}
    t->interrupted = false;
    fputs(PASTE_ON, stdout);
    fflush(stdout);
    int n = 0;
    // libedit itself does so only behind the prompt: a key pressed in between would be lost.
    el_wset(t->editor, EL_PREP_TERM, 1);
    const wchar_t *line = el_wgets(t->editor, &n);
    fputs(PASTE_OFF, stdout);
    if (t->interrupted || !line) fputc('\n', stdout);
    fflush(stdout);
    buf_reset(text);
    if (t->interrupted) {
        el_reset(t->editor);
        t->n_bytes = 0;
        return TERMINAL_INPUT_INTERRUPTED;
    }
    if (!line || n <= 0) return TERMINAL_INPUT_END;
    if (line[n - 1] == L'\n') n--;
    append_utf8(line, n, text);
    HistEventW event;
    if (n) history_w(t->history, &event, H_ENTER, line);
    return TERMINAL_INPUT_LINE;
}
