// The only file that includes <libpq-fe.h>, PostgreSQL's client library.
#ifndef MODELSTORE_CLIBPQ_SHIM_H
#define MODELSTORE_CLIBPQ_SHIM_H

#include <libpq-fe.h>

// Swift does not import constants of characters.
static const int clibpq_field_severity = PG_DIAG_SEVERITY_NONLOCALIZED;
static const int clibpq_field_sqlstate = PG_DIAG_SQLSTATE;
static const int clibpq_field_message = PG_DIAG_MESSAGE_PRIMARY;

#endif
