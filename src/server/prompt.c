// Prompts of both routes.
#include "server/prompt.h"

#include "server/chat_request.h"
#include "server/completion_request.h"

enum { ECHO_BYTES_MAX = 1 << 28 };

enum status prompt_make(const struct serving *s, const struct request *r, struct prompt *out, struct api_error *e) {
    *out = (struct prompt){0};
    buf_init(&out->echo, ECHO_BYTES_MAX);
    enum status status =
        r->route == API_CHAT ? chat_request_prompt(s, r, out, e) : completion_request_prompt(s, r, out, e);
    if (status != STATUS_OK) prompt_fini(out);
    return status;
}

void prompt_fini(struct prompt *p) {
    ids_fini(&p->ids);
    buf_fini(&p->echo);
}
