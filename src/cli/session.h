// An opened model: checkpoint, backend, model and engine as the flags ask for them.
#ifndef TF_CLI_SESSION_H
#define TF_CLI_SESSION_H

#include "backend/backend.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "checkpoint/checkpoint.h"
#include "cli/commands.h"
#include "engine/engine.h"
#include "model/load.h"

struct session {
    const char *path; // of the checkpoint; borrowed
    struct checkpoint *checkpoint;
    struct backend *backend;
    struct model *model;
    struct engine *engine;
    struct log log;
    struct clock clock;
    uint64_t opened_ns; // when session_open was called
};

// Opens the checkpoint and the backend. An unknown --isa is bad usage; one that the machine lacks is a failure.
enum status session_open(struct session *s, const struct options *o, const char *path,
                         struct command_error *e) TF_MUST_CHECK;

// Loads the model and makes the engine.
enum status session_load(struct session *s, const struct options *o, struct err *e) TF_MUST_CHECK;

void session_close(struct session *s); // whatever of it is open; a zeroed session too

// What the flags ask of the backend and of the model. An instruction set that the processor lacks is refused by name.
enum status session_isa(const struct options *o, enum isa *out, struct command_error *e) TF_MUST_CHECK;
enum status session_backend(const struct options *o, struct backend **out, struct command_error *e) TF_MUST_CHECK;
struct model_options session_model_options(const struct options *o);

// Refuses ids that the output matrix does not have, naming the first.
enum status session_check_ids(const struct session *s, const int32_t *ids, size_t n, struct err *e) TF_MUST_CHECK;

#endif
